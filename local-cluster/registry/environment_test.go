package registry

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/host"
)

// The environment KubeOpera generates for a cluster without the internet, as the scaffolder's tests keep it, goes up on a real cluster
// from the mirror alone: real Flux, cert-manager, metrics-server and volumes, stand-ins for the rest.
func TestAWholeEnvironmentComesFromTheMirror(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a real cluster, which takes a minute")
	}
	if err := host.Check(true); err != nil {
		t.Fatal(err)
	}
	// Apart from the clusters of people and of other checkouts.
	t.Setenv("KUBEOPERA_LOCAL_STATE", filepath.Join(t.TempDir(), "state"))
	kubectl := clusterWithFlux(t, fmt.Sprintf("mirror-%d", os.Getpid()))
	tree := filepath.Join("..", "..", "services", "gitops-scaffolder", "tree", "tests", "cases", "host-local-mirrored", "tree")
	// The tree's pull Secret is brought by the controller; the mirror asks for no credential.
	kubectl.run("--namespace=flux-system", "create", "secret", "docker-registry", "hostcluster-3f0c2d4e-registry-pull",
		"--docker-server="+Address, "--docker-username=anybody", "--docker-password=nothing")

	kubectl.apply(tree, "infrastructure/crds", "infrastructure/controllers")
	kubectl.wait("helmrelease", "--all", "--namespace=flux-system", "--for=condition=Ready")
	kubectl.wait("deployment", "local-path-provisioner", "--namespace=local-path-storage", "--for=condition=Available")
	kubectl.apply(tree, "infrastructure/configs", "infrastructure/database", "infrastructure/monitoring", "apps/kubeopera")
	kubectl.wait("helmrelease", "--all", "--namespace=flux-system", "--for=condition=Ready")

	t.Run("cert-manager issues a certificate from the cluster's own authority", func(t *testing.T) {
		kubectl := kubectl.in(t)
		kubectl.input(`apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: app, namespace: default}
spec:
  secretName: app-tls
  dnsNames: [app.example.com]
  issuerRef: {kind: ClusterIssuer, name: kubeopera}
`, "apply", "--filename=-")
		kubectl.wait("certificate", "app", "--namespace=default", "--for=condition=Ready")
		if secret := kubectl.run("--namespace=default", "get", "secret", "app-tls", "--output=jsonpath={.data.tls\\.crt}"); secret == "" {
			t.Error("the Secret has no certificate")
		}
	})
	t.Run("cert-manager's webhook refuses a certificate for nothing", func(t *testing.T) {
		kubectl := kubectl.in(t)
		output, err := kubectl.command("apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: nothing, namespace: default}\n"+
			"spec: {secretName: x, issuerRef: {name: x}}\n", "apply", "--filename=-")
		if err == nil || !strings.Contains(output, "denied the request") {
			t.Errorf("it says %s (%v)", output, err)
		}
	})
	t.Run("metrics-server tells what the node uses", func(t *testing.T) {
		kubectl := kubectl.in(t)
		kubectl.until(func() bool {
			output, err := kubectl.command("", "top", "nodes", "--no-headers")
			fields := strings.Fields(output)
			return err == nil && len(fields) == 5 && strings.HasSuffix(fields[1], "m") && strings.HasSuffix(fields[3], "Mi")
		}, "kubectl top nodes gives no usage")
	})
	t.Run("Prometheus' volume is a folder of the node", func(t *testing.T) {
		kubectl := kubectl.in(t)
		kubectl.wait("persistentvolumeclaim", "--all", "--namespace=kubeopera-monitoring", "--for=jsonpath={.status.phase}=Bound")
		if class := kubectl.run("get", "persistentvolume", "--output=jsonpath={.items[0].spec.storageClassName}"); class != "local-path" {
			t.Errorf("the storage class is %q", class)
		}
	})
	t.Run("every image comes from the mirror", func(t *testing.T) {
		kubectl := kubectl.in(t)
		running := kubectl.run("get", "pods", "--all-namespaces", "--output=jsonpath={range .items[*]}{.metadata.namespace} {.spec.containers[*].image}{\"\\n\"}{end}")
		for line := range strings.SplitSeq(strings.TrimSpace(running), "\n") {
			namespace, images, _ := strings.Cut(line, " ")
			// Flux and the cluster's DNS are in the nodes before there is an environment.
			if namespace != "flux-system" && !strings.Contains(images, "coredns") && !strings.HasPrefix(images, Address+"/") {
				t.Errorf("in %s, %s runs", namespace, images)
			}
		}
	})
	t.Run("nobody pushes to the mirror", func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+Address+"/v2/ghcr.io/fluxcd/source-controller/blobs/uploads/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a push gives %s", response.Status)
		}
	})
	t.Run("the charts for AWS go up as well", func(t *testing.T) {
		kubectl := kubectl.in(t)
		kubectl.input(releases(t, "aws-ebs-csi-driver", "aws-cloud-controller-manager", "cilium"), "apply", "--server-side", "--filename=-")
		kubectl.wait("helmrelease", "--all", "--namespace=flux-system", "--for=condition=Ready")
	})
}

// releases are a source and a release for each of the charts, with the images rewritten to the mirror.
func releases(t *testing.T, names ...string) string {
	t.Helper()
	var images, objects strings.Builder
	entries := everything(t)
	for _, entry := range entries {
		if entry.Kind == StandInImage {
			fmt.Fprintf(&images, "        - {name: %s, newName: %s}\n", entry.Name.Path, Address+"/"+entry.Name.Path)
		}
	}
	for _, entry := range entries {
		name := path.Base(entry.Name.Path)
		if entry.Kind != StandInChart || !slices.Contains(names, name) {
			continue
		}
		fmt.Fprintf(&objects, `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  url: oci://%[2]s
  insecure: true
  ref: {tag: "%[3]s"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  releaseName: %[1]s
  targetNamespace: kube-system
  chartRef: {kind: OCIRepository, name: %[1]s}
  postRenderers:
  - kustomize:
      images:
%[4]s`, name, Address+"/"+entry.Name.Path, entry.Name.Tag, images.String())
	}
	return objects.String()
}

// clusterWithFlux fills the mirror and starts a cluster with Flux, with this module's own command. The cluster goes with the test; the
// mirror, which is the machine's, is left as it was found.
func clusterWithFlux(t *testing.T, name string) kubectl {
	t.Helper()
	command := filepath.Join(t.TempDir(), "local-cluster")
	output(t, "go", "build", "-o", command, "..")
	if len(Mirror().processes()) == 0 {
		t.Cleanup(func() { _ = Mirror().Down(context.Background()) })
	}
	output(t, command, "registry", "fill")
	t.Cleanup(func() {
		// Not with the test's context, which is over by now.
		if told, err := exec.Command(command, "down", name, "--delete-data").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, told)
		}
	})
	output(t, command, "up", name, "--ephemeral")
	flux, _, _ := strings.Cut(output(t, command, "flux-manifest"), "\n")
	programs, err := build.Kubernetes.Ensure(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := strings.TrimSpace(output(t, command, "kubeconfig", name, "--path"))
	kubectl := kubectl{t, filepath.Join(programs, "kubernetes"), kubeconfig}
	kubectl.run("apply", "--server-side", "--filename="+flux)
	kubectl.wait("deployment", "--all", "--namespace=flux-system", "--for=condition=Available")
	return kubectl
}

// output runs a program and gives what it writes to its standard output; what it tells on the way is logged.
func output(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Stderr = t.Output()
	written, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, written)
	}
	return string(written)
}

// kubectl is the one that is built with the cluster's programs.
type kubectl struct {
	t                    *testing.T
	programs, kubeconfig string
}

func (k kubectl) in(t *testing.T) kubectl { return kubectl{t, k.programs, k.kubeconfig} }

func (k kubectl) command(input string, arguments ...string) (string, error) {
	command := exec.CommandContext(k.t.Context(), k.programs, append([]string{"kubectl", "--kubeconfig=" + k.kubeconfig}, arguments...)...)
	var output bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &output, &output
	err := command.Run()
	return output.String(), err
}

func (k kubectl) input(input string, arguments ...string) string {
	k.t.Helper()
	output, err := k.command(input, arguments...)
	if err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

func (k kubectl) run(arguments ...string) string {
	k.t.Helper()
	return k.input("", arguments...)
}

func (k kubectl) apply(tree string, folders ...string) {
	k.t.Helper()
	for _, folder := range folders {
		k.run("apply", "--server-side", "--kustomize="+filepath.Join(tree, folder))
	}
}

// wait waits for a condition for three minutes; what hangs is shown when it does not come.
func (k kubectl) wait(arguments ...string) {
	k.t.Helper()
	output, err := k.command("", append([]string{"wait", "--timeout=180s"}, arguments...)...)
	if err != nil {
		pods, _ := k.command("", "get", "helmreleases,ocirepositories,pods", "--all-namespaces")
		k.t.Fatalf("kubectl wait %s: %v\n%s\n%s", strings.Join(arguments, " "), err, output, pods)
	}
}

func (k kubectl) until(is func() bool, otherwise string) {
	k.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			k.t.Fatal(otherwise)
		}
	}
}
