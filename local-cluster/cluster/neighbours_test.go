package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kubeopera.io/local-cluster/image"
)

func TestTwoClustersRunSideBySideAndPodsComeBackWithTheData(t *testing.T) {
	first := real(t)
	second := first + "-b"
	t.Cleanup(func() {
		if err := Down(context.Background(), second, true, io.Discard); err != nil {
			t.Errorf("it does not go down: %v", err)
		}
	})
	cloud := Spec{Nodes: 1, ProviderID: "gce://project/europe-west1-b/node", InstanceType: "e2-standard-4", Region: "europe-west1", Zone: "europe-west1-b"}
	heard := listen(t)
	file := reporterImage(t)

	clusters := map[string]*Cluster{}
	var both sync.WaitGroup
	var mu sync.Mutex
	for name, spec := range map[string]Spec{first: cloud, second: {Nodes: 1, Ephemeral: true}} {
		both.Go(func() {
			c, _, err := Up(t.Context(), name, spec, io.Discard)
			if err != nil {
				t.Errorf("%s does not come up: %v", name, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			clusters[name] = c
		})
	}
	both.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for name, c := range clusters {
		if err := LoadImages(t.Context(), name, []string{file}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := c.kubectl(t.Context(), strings.NewReader(heard.pod(c)), io.Discard, "create", "--filename=-"); err != nil {
			t.Fatal(err)
		}
	}
	for name := range clusters {
		heard.from(t, name)
	}
	if nodeOf := node(t, clusters[first]); nodeOf != "gce://project/europe-west1-b/node e2-standard-4 europe-west1 europe-west1-b" {
		t.Errorf("the node is %q", nodeOf)
	}
	uid := podUID(t, clusters[first])

	before := clusters[second].daemonProcesses(t)
	if err := Down(t.Context(), first, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if traces := clusters[first].traces(t); len(traces) > 0 {
		t.Errorf("left of the first are %v", traces)
	}
	heard.from(t, second)
	for daemon, pids := range clusters[second].daemonProcesses(t) {
		if len(pids) == 0 || pids[0] != before[daemon][0] {
			t.Errorf("%s of the second had the processes %v and has %v", daemon, before[daemon], pids)
		}
	}

	again := up(t, first, cloud)
	heard.from(t, first)
	if now := podUID(t, again); now != uid {
		t.Errorf("the pod was %s and is %s", uid, now)
	}
	heard.from(t, second)
}

// reporterImage is an image file with the program that pods run.
func reporterImage(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reporter")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/reporter")
	command.Env = append(command.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	file := program + ".tar"
	if err := image.Write(file, image.Image{
		Reference:  "example.org/reporter:v1",
		Files:      []image.File{image.Program(program, "reporter")},
		Entrypoint: []string{"/usr/local/bin/reporter"},
	}); err != nil {
		t.Fatal(err)
	}
	return file
}

// ear hears what pods report: who did, and what the API server's name is for them.
type ear struct {
	port     string
	mu       sync.Mutex
	resolved map[string]string
}

func listen(t *testing.T) *ear {
	t.Helper()
	listener, err := net.Listen("tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	heard := &ear{port: port, resolved: map[string]string{}}
	server := &http.Server{ReadTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		heard.mu.Lock()
		defer heard.mu.Unlock()
		heard.resolved[request.FormValue("cluster")] = request.FormValue("resolved")
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return heard
}

// pod reports to this machine at its address in the cluster's network.
func (e *ear) pod(c *Cluster) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: reporter, namespace: default}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: reporter
    image: example.org/reporter:v1
    env:
    - {name: HOST, value: "http://%s:%s"}
    - {name: CLUSTER, value: %s}
`, c.network().Gateway(), e.port, c.Name)
}

// from waits for a report that a pod of the cluster makes from now on, with the right answer of the cluster's DNS.
func (e *ear) from(t *testing.T, name string) {
	t.Helper()
	e.mu.Lock()
	delete(e.resolved, name)
	e.mu.Unlock()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		e.mu.Lock()
		resolved := e.resolved[name]
		e.mu.Unlock()
		if resolved == apiAddress {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the pod of %s reports %q", name, resolved)
		}
	}
}

// node is what the first node tells of the cloud it is said to be in.
func node(t *testing.T, c *Cluster) string {
	t.Helper()
	return query(t, c, "get", "node", c.nodeName(0), `--output=jsonpath={.spec.providerID} {.metadata.labels.node\.kubernetes\.io/instance-type} `+
		`{.metadata.labels.topology\.kubernetes\.io/region} {.metadata.labels.topology\.kubernetes\.io/zone}`)
}

func podUID(t *testing.T, c *Cluster) string {
	t.Helper()
	return query(t, c, "get", "pod", "reporter", "--namespace=default", "--output=jsonpath={.metadata.uid}")
}

func query(t *testing.T, c *Cluster, arguments ...string) string {
	t.Helper()
	var output strings.Builder
	if err := c.kubectl(t.Context(), nil, &output, arguments...); err != nil {
		t.Fatal(err)
	}
	return output.String()
}
