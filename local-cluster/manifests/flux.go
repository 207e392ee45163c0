package manifests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/cache"
)

// fluxLayout is raised when the manifest comes out differently from the same modules.
const fluxLayout = "1"

// Flux returns the path of Flux's install manifest and its SHA-256 in hexadecimal; what is missing is made. It has the same objects that
// `flux install --export` prints, put together from the same modules as Flux's own release, without a download from a release page.
func Flux(ctx context.Context, progress io.Writer) (path, sum string, err error) {
	source, err := build.Source()
	if err != nil {
		return "", "", err
	}
	module := filepath.Join(source, "components", "flux-manifest")
	key := cache.NewKey().Text(fluxLayout, build.FluxVersion)
	if err := key.Tree(module); err != nil {
		return "", "", err
	}
	entry, err := cache.Ensure(ctx, "flux-manifest", key.String(), func(dir string) error {
		fmt.Fprintf(progress, "putting Flux %s's install manifest together\n", build.FluxVersion)
		return assemble(ctx, module, dir, progress)
	})
	if err != nil {
		return "", "", err
	}
	return publish(filepath.Join(entry, "install.yaml"))
}

// publish puts the manifest and its sum where others look for them, whatever the key in the cache is.
func publish(made string) (path, sum string, err error) {
	content, err := os.ReadFile(made)
	if err != nil {
		return "", "", err
	}
	digest := sha256.Sum256(content)
	sum = hex.EncodeToString(digest[:])
	path = filepath.Join(filepath.Dir(filepath.Dir(made)), "install-"+build.FluxVersion+".yaml")
	for name, content := range map[string][]byte{path: content, path + ".sha256": []byte(sum + "  " + filepath.Base(path) + "\n")} {
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
			continue
		}
		unfinished := fmt.Sprintf("%s.%d", name, os.Getpid())
		if err := os.WriteFile(unfinished, content, 0o644); err != nil {
			return "", "", err
		}
		if err := os.Rename(unfinished, name); err != nil {
			return "", "", err
		}
	}
	return path, sum, nil
}

// assemble lays the pieces out as Flux's own release does and lets kustomize put them together.
func assemble(ctx context.Context, module, dir string, progress io.Writer) error {
	programs, err := build.Kubernetes.Ensure(ctx, progress)
	if err != nil {
		return err
	}
	work := filepath.Join(dir, "pieces")
	wanted := []string{"github.com/fluxcd/flux2/v2"}
	for _, controller := range build.Flux.Programs {
		wanted = append(wanted, "github.com/fluxcd/"+controller)
	}
	modules, err := build.Modules(ctx, module, wanted...)
	if err != nil {
		return err
	}
	release := filepath.Join(modules["github.com/fluxcd/flux2/v2"], "manifests")
	for _, part := range []string{"rbac", "policies"} {
		if err := os.CopyFS(filepath.Join(work, part), os.DirFS(filepath.Join(release, part))); err != nil {
			return err
		}
	}
	for _, controller := range build.Flux.Programs {
		base := filepath.Join(work, controller)
		own := filepath.Join(modules["github.com/fluxcd/"+controller], "config")
		if err := lay(base, filepath.Join(release, "bases", controller), own, controller); err != nil {
			return err
		}
	}
	if err := writeAll(work, map[string]string{
		"kustomization.yaml":       rootKustomization(),
		"namespace.yaml":           namespace,
		"labels.yaml":              labels(),
		"roles/kustomization.yaml": "resources: [../rbac]\nnameSuffix: -flux-system\n",
	}); err != nil {
		return err
	}
	manifest, err := kustomize(ctx, programs, work)
	if err != nil {
		return fmt.Errorf("Flux's manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "install.yaml"), manifest, 0o644); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// lay copies a controller's part of the release and its own CRDs and Deployment, and points the one at the other: the release names them
// by the addresses of files on a release page.
func lay(base, release, own, controller string) error {
	for from, to := range map[string]string{release: base, filepath.Join(own, "crd"): filepath.Join(base, "crd"), filepath.Join(own, "manager"): filepath.Join(base, "manager")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return err
		}
	}
	file := filepath.Join(base, "kustomization.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(content)
	page := fmt.Sprintf("https://github.com/fluxcd/%s/releases/download/%s/%s", controller, build.FluxControllers[controller], controller)
	for from, to := range map[string]string{page + ".crds.yaml": "crd", page + ".deployment.yaml": "manager"} {
		if !strings.Contains(text, from) {
			return fmt.Errorf("Flux %s does not consist of %s %s: the versions in the package build do not belong together", build.FluxVersion, controller, build.FluxControllers[controller])
		}
		text = strings.ReplaceAll(text, from, to)
	}
	if err := os.Remove(file); err != nil { // files of the module cache are copied as read-only
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

const namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
  labels: {pod-security.kubernetes.io/warn: restricted, pod-security.kubernetes.io/warn-version: latest}
`

func labels() string {
	return `apiVersion: builtin
kind: LabelTransformer
metadata: {name: labels}
labels: {app.kubernetes.io/instance: flux-system, app.kubernetes.io/part-of: flux, app.kubernetes.io/version: "` + build.FluxVersion + `"}
fieldSpecs:
- {path: metadata/labels, create: true}
- {kind: Deployment, path: spec/template/metadata/labels, create: true}
`
}

func rootKustomization() string {
	var text strings.Builder
	text.WriteString("namespace: flux-system\ntransformers: [labels.yaml]\nresources:\n- namespace.yaml\n- policies\n- roles\n")
	for _, controller := range build.Flux.Programs {
		fmt.Fprintf(&text, "- %s\n", controller)
	}
	text.WriteString("images:\n")
	for _, controller := range build.Flux.Programs {
		fmt.Fprintf(&text, "- {name: fluxcd/%s, newName: ghcr.io/fluxcd/%s}\n", controller, controller)
	}
	text.WriteString(`patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/nodeSelector, value: {kubernetes.io/os: linux}}
`)
	return text.String()
}
