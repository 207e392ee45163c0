package images

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubeopera.io/local-cluster/build"
)

// built is the folder of a component's programs; they are built when they are not, which takes minutes.
func built(t *testing.T, component build.Component) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs programs that take minutes to build")
	}
	dir, err := component.Ensure(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func references(set Set) []string {
	var all []string
	for _, image := range set.images(map[string]string{}) {
		all = append(all, image.Reference)
	}
	slices.Sort(all)
	return all
}

func TestTheSetOfKubeadmIsWhatKubeadmAsksFor(t *testing.T) {
	command := exec.Command(filepath.Join(built(t, build.Kubernetes), "kubernetes"), "kubeadm", "config", "images", "list", "--kubernetes-version", build.KubernetesVersion)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	asked := strings.Fields(string(output))
	slices.Sort(asked)
	if offered := references(Kubeadm); !slices.Equal(asked, offered) {
		t.Errorf("asked for are\n%v\noffered are\n%v", asked, offered)
	}
}

func TestProgramsTellTheVersionTheyAreNamedAfter(t *testing.T) {
	dir := built(t, build.Kubernetes)
	for _, program := range []string{"kube-apiserver", "kubelet", "kube-proxy", "kube-scheduler", "kube-controller-manager"} {
		output, err := exec.Command(filepath.Join(dir, "kubernetes"), program, "--version").Output()
		if err != nil || strings.TrimSpace(string(output)) != "Kubernetes "+build.KubernetesVersion {
			t.Errorf("%s is %q: %v", program, output, err)
		}
	}
}

func TestFluxImagesHaveUpstreamsNames(t *testing.T) {
	want := []string{
		"ghcr.io/fluxcd/helm-controller:v1.6.3", "ghcr.io/fluxcd/kustomize-controller:v1.9.4",
		"ghcr.io/fluxcd/notification-controller:v1.9.3", "ghcr.io/fluxcd/source-controller:v1.9.4",
	}
	if names := references(Flux); !slices.Equal(names, want) {
		t.Errorf("they are %v", names)
	}
}
