package manifests

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/cache"
)

// addonsLayout is raised when the manifests come out differently from the same modules.
const addonsLayout = "1"

// MetricsServer returns the manifest of metrics-server, as its module has it; what is missing is made.
func MetricsServer(ctx context.Context, progress io.Writer) ([]byte, error) {
	return addon(ctx, progress, build.MetricsServer, "metrics-server", "sigs.k8s.io/metrics-server", "manifests", `resources: [pieces/base]
images:
- {name: gcr.io/k8s-staging-metrics-server/metrics-server, newName: registry.k8s.io/metrics-server/metrics-server, newTag: `+build.MetricsServerVersion+`}
`)
}

// KwokStages returns the configuration with which kwok plays nodes and pods that are ready at once.
func KwokStages(ctx context.Context, progress io.Writer) ([]byte, error) {
	return addon(ctx, progress, build.Addons, "kwok-stages", "sigs.k8s.io/kwok", "kustomize/stage", "resources: [pieces/fast]\n")
}

// addon lets kustomize put together what is in a folder of one of the modules a component is built from; the kustomization finds it under pieces.
func addon(ctx context.Context, progress io.Writer, component build.Component, name, module, folder, kustomization string) ([]byte, error) {
	dir, err := component.Dir()
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	programs, err := build.Kubernetes.Ensure(ctx, progress)
	if err != nil {
		return nil, err
	}
	key := cache.NewKey().Text(addonsLayout, kustomization, string(sums)).String()
	entry, err := cache.Ensure(ctx, filepath.Join("manifests", name), key, func(out string) error {
		modules, err := build.Modules(ctx, dir, module)
		if err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(out, "pieces"), os.DirFS(filepath.Join(modules[module], folder))); err != nil {
			return err
		}
		if err := writeAll(out, map[string]string{"kustomization.yaml": kustomization}); err != nil {
			return err
		}
		manifest, err := kustomize(ctx, programs, out)
		if err != nil {
			return fmt.Errorf("the manifest %s: %w", name, err)
		}
		return os.WriteFile(filepath.Join(out, "manifest.yaml"), manifest, 0o644)
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(entry, "manifest.yaml"))
}
