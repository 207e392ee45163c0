package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubeopera.io/local-cluster/cgroup"
	"kubeopera.io/local-cluster/host"
	"kubeopera.io/local-cluster/kubeapi"
)

// The hidden commands with which the test program runs an `up` or `down` that can be killed.
const (
	testUp   = "__test-up"
	testDown = "__test-down"
)

func TestMain(m *testing.M) {
	if handled, err := Hidden(os.Args[1:]); handled {
		exit(err)
	}
	if len(os.Args) == 3 && os.Args[1] == testUp {
		_, _, err := Up(context.Background(), os.Args[2], lasting, os.Stdout)
		exit(err)
	}
	if len(os.Args) == 3 && os.Args[1] == testDown {
		exit(Down(context.Background(), os.Args[2], false, os.Stdout))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// lasting is the cluster that the faults happen to.
var lasting = Spec{Nodes: 2, ProviderID: "aws:///eu-north-1a/i-0abc", Zone: "eu-north-1a"}

// real prepares a test that brings a real cluster up, with a state folder of its own, and makes sure that it is down afterwards.
func real(t *testing.T) (name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real cluster takes a while")
	}
	if err := host.Check(true); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEOPERA_LOCAL_STATE", filepath.Join(t.TempDir(), "state"))
	name = fmt.Sprintf("test-%d", os.Getpid())
	t.Cleanup(func() {
		if err := Down(context.Background(), name, true, io.Discard); err != nil {
			t.Errorf("it does not go down: %v", err)
		}
	})
	return name
}

func up(t *testing.T, name string, spec Spec) *Cluster {
	t.Helper()
	var out bytes.Buffer
	c, times, err := Up(t.Context(), name, spec, &out)
	if err != nil {
		t.Fatalf("it does not come up: %v\n%s", err, out.String())
	}
	t.Logf("up after %.1f s", times.All.Seconds())
	return c
}

func TestAClusterComesBackFromEveryKillAndLeavesNothing(t *testing.T) {
	name := real(t)
	c := up(t, name, lasting)
	client, err := c.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if traces := c.traces(t); len(traces) < 10 {
		t.Fatalf("a running cluster is seen by these traces only: %v", traces)
	}
	uid := systemUID(t, client)

	t.Run("its nodes have the provider IDs and labels", func(t *testing.T) {
		for i, want := range []string{"aws:///eu-north-1a/i-0abc", "aws:///eu-north-1a/i-0abc1"} {
			var node struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct{ ProviderID, PodCIDR string }
			}
			if err := client.Get(t.Context(), "/api/v1/nodes/"+c.nodeName(i), &node); err != nil {
				t.Fatal(err)
			}
			if node.Spec.ProviderID != want || node.Metadata.Labels["topology.kubernetes.io/zone"] != "eu-north-1a" || node.Spec.PodCIDR != fmt.Sprintf("10.244.%d.0/24", i) {
				t.Errorf("%s is %+v", c.nodeName(i), node)
			}
		}
	})
	t.Run("names are resolved on both machines, wherever DNS runs", func(t *testing.T) {
		for i := range 2 {
			if err := c.resolves(t.Context(), i); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a second up changes nothing", func(t *testing.T) {
		before := c.daemonProcesses(t)
		up(t, name, lasting)
		for daemon, pids := range c.daemonProcesses(t) {
			// The first is the daemon; kube-proxy has others for a moment.
			if len(pids) == 0 || len(before[daemon]) == 0 || pids[0] != before[daemon][0] {
				t.Errorf("the processes of %s were %v and are %v", daemon, before[daemon], pids)
			}
		}
	})
	t.Run("up repairs what was killed", func(t *testing.T) {
		before := c.daemonProcesses(t)
		for daemon, pids := range before {
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					t.Errorf("%s: %v", daemon, err)
				}
			}
		}
		killFirst(t, c.machine(0).Shims(), c.machine(1).Shims())
		up(t, name, lasting)
		for daemon, pids := range c.daemonProcesses(t) {
			if len(pids) == 0 || pids[0] == before[daemon][0] {
				t.Errorf("%s has the processes %v after %v", daemon, pids, before[daemon])
			}
		}
	})
	t.Run("up starts a machine again whose first process was killed", func(t *testing.T) {
		killFirst(t, c.machine(1).Group+"/first")
		up(t, name, lasting)
	})
	t.Run("up and down may be killed at any moment", func(t *testing.T) {
		for round := range 6 {
			command := testUp
			if round%3 == 2 {
				command = testDown
			}
			killedMeanwhile(t, command, name)
		}
		up(t, name, lasting)
	})
	t.Run("it is still the same cluster", func(t *testing.T) {
		if now := systemUID(t, client); now != uid {
			t.Errorf("kube-system was %s and is %s", uid, now)
		}
	})
	t.Run("down leaves nothing but the data", func(t *testing.T) {
		if err := Down(t.Context(), name, false, io.Discard); err != nil {
			t.Fatal(err)
		}
		if traces := c.traces(t); len(traces) > 0 {
			t.Errorf("left are %v", traces)
		}
		if _, err := Find(name, io.Discard); err != nil {
			t.Error(err)
		}
	})
	t.Run("with its data it is gone", func(t *testing.T) {
		if err := Down(t.Context(), name, true, io.Discard); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(name, io.Discard); !errors.Is(err, ErrUnknown) {
			t.Errorf("found: %v", err)
		}
	})
}

func TestAControlPlaneAloneHasFakeNodesAndSurvivesItsAPIServer(t *testing.T) {
	spec := Spec{ControlPlaneOnly: true, KwokNodes: 3, Ephemeral: true, Region: "eu-north-1"}
	name := real(t)
	// Two at once: the second waits for the first and finds everything there.
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, _, err := Up(t.Context(), name, spec, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	c, err := Find(name, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	client, err := c.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if count, err := c.countFakeNodes(t.Context(), client.Get, true); err != nil || count != 3 {
		t.Errorf("%d fake nodes are ready: %v", count, err)
	}
	if err := StopDaemon(t.Context(), name, apiServer, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(t.Context()); err == nil {
		t.Error("the API server answers though it is stopped")
	}
	if err := StopDaemon(t.Context(), name, scheduler, true, io.Discard); err != nil {
		t.Fatal(err)
	}
	if state := c.State(); !strings.Contains(state, "without kube-apiserver/0") {
		t.Errorf("the state is %q", state)
	}
	if err := StartDaemon(t.Context(), name, apiServer, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	// What ended without the API server runs again; what was stopped on purpose stays so until it is started.
	if state := c.State(); state != "without kube-scheduler/0" {
		t.Errorf("the state is %q", state)
	}
	up(t, name, spec)
	if state := c.State(); state != "running" {
		t.Errorf("the state is %q", state)
	}
	if memory, err := c.Memory(); err != nil || memory < 50<<20 || memory > 2<<30 {
		t.Errorf("it takes %d bytes: %v", memory, err)
	}
	if err := Down(t.Context(), name, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if traces := c.traces(t); len(traces) > 0 {
		t.Errorf("left are %v", traces)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an ephemeral cluster left its data: %v", err)
	}
}

func systemUID(t *testing.T, client *kubeapi.Client) string {
	t.Helper()
	var namespace struct{ Metadata struct{ UID string } }
	if err := client.Get(t.Context(), "/api/v1/namespaces/kube-system", &namespace); err != nil || namespace.Metadata.UID == "" {
		t.Fatalf("kube-system has the UID %q: %v", namespace.Metadata.UID, err)
	}
	return namespace.Metadata.UID
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// killFirst kills one process of the groups, the first there is.
func killFirst(t *testing.T, groups ...string) {
	t.Helper()
	tree, err := cgroup.Mounted()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, group := range groups {
		more, err := tree.Processes(group)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, more...)
	}
	if len(pids) == 0 {
		t.Fatalf("the groups %v have no processes", groups)
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// killedMeanwhile runs one of the hidden commands and kills it at a random moment.
func killedMeanwhile(t *testing.T, command, name string) {
	t.Helper()
	after := time.Duration(rand.Int64N(int64(4 * time.Second)))
	if command == testDown {
		after /= 20
	}
	started := exec.Command(self(t), command, name)
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = started.Process.Kill() })
	defer timer.Stop()
	t.Logf("%s killed after %s: %v", command, after.Round(time.Millisecond), started.Wait())
}

// daemonProcesses are the processes of each daemon.
func (c *Cluster) daemonProcesses(t *testing.T) map[string][]int {
	t.Helper()
	tree, err := cgroup.Mounted()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]int{}
	for i := range c.machines() {
		for _, name := range c.programsOf(i) {
			pids, err := tree.Processes(fmt.Sprintf("%s/daemons/%s", c.machine(i).Group, name))
			if err != nil {
				t.Fatal(err)
			}
			all[fmt.Sprintf("%s/%d", name, i)] = pids
		}
	}
	return all
}

// traces are all signs of the cluster on this machine, outside its own folder: processes in its control groups, the groups, mounts, links,
// namespaces and rules. They are looked for without the package's own means.
func (c *Cluster) traces(t *testing.T) []string {
	t.Helper()
	mark := fmt.Sprintf("klc%d", c.Number)
	var found []string
	commands, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), "/"+mark+"/") {
			found = append(found, path)
		}
	}
	groups, err := exec.Command("find", "/sys/fs/cgroup", "-maxdepth", "2", "-name", mark).Output()
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, strings.Fields(string(groups))...)
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := exec.Command("iptables-save").Output()
	if err != nil {
		t.Fatal(err)
	}
	links, err := exec.Command("ip", "-brief", "link").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mounts)+string(rules)+string(links), "\n") {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \"/@-", r) })
		if slices.Contains(words, mark) || strings.Contains(line, c.dir) {
			found = append(found, line)
		}
	}
	return found
}
