package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubeopera.io/local-cluster/network"
)

func example() *Cluster {
	return &Cluster{Name: "c", Number: 5, dir: "/state/c", out: &bytes.Buffer{}, Spec: Spec{
		Nodes: 2, ProviderID: "aws:///eu-north-1a/i-0abc", InstanceType: "m5.large", Zone: "eu-north-1a", Labels: map[string]string{"team": "a"},
	}}
}

func TestEachNodeHasAProviderIDOfItsOwn(t *testing.T) {
	c := example()
	if first, second := c.providerID(0), c.providerID(1); first != "aws:///eu-north-1a/i-0abc" || second != "aws:///eu-north-1a/i-0abc1" {
		t.Errorf("they are %s and %s", first, second)
	}
	c.Spec.ProviderID = ""
	if id := c.providerID(1); id != "" {
		t.Errorf("without one it is %s", id)
	}
}

func TestKubeletIsToldTheLabels(t *testing.T) {
	arguments := strings.Join(example().kubelet(1), " ")
	for _, want := range []string{
		"--node-labels=node.kubernetes.io/instance-type=m5.large,team=a,topology.kubernetes.io/zone=eu-north-1a",
		"--node-ip=10.201.5.11", "--hostname-override=c-1", "--kubeconfig=/state/c/kubelet-1.kubeconfig",
	} {
		if !strings.Contains(arguments, want) {
			t.Errorf("%s is not in %s", want, arguments)
		}
	}
}

func TestOnlyAnEphemeralClusterDoesNotWaitForTheDisk(t *testing.T) {
	c := example()
	if strings.Contains(strings.Join(c.etcd(0), " "), "fsync") {
		t.Error("a cluster that keeps its data does not wait for the disk")
	}
	c.Spec.Ephemeral = true
	if !strings.Contains(strings.Join(c.etcd(0), " "), "--unsafe-no-fsync") {
		t.Error("an ephemeral cluster waits for the disk")
	}
}

func TestConfigurationNamesWhatIsTheMachinesOwn(t *testing.T) {
	c := example()
	values := map[string]string{"PKI": "/p", "Certificate": "kubelet-1", "Group": "/klc5/1", "Shims": "/klc5/1/shims", "Dir": "/d", "ProviderID": `a"b`, "ResolvConf": "/r", "Pause": "pause:1", "PluginDir": "/cni", "PodSubnet": network.PodSubnet(1), "Mirror": "10.201.0.1:5000"}
	for file, wants := range map[string][]string{
		"kubelet.yaml":    {"cgroupRoot: /klc5/1\n", `providerID: "a\"b"`, "tlsCertFile: /p/kubelet-1.crt"},
		"containerd.toml": {`root = "/d/containerd"`, `ShimCgroup = "/klc5/1/shims"`, `sandbox_image = "pause:1"`, `bin_dir = "/cni"`},
		"cni.conflist":    {`"subnet": "10.244.1.0/24"`},
		"hosts.toml":      {`server = "http://10.201.0.1:5000"`},
	} {
		content, err := render(file, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s has no %s", file, want)
			}
		}
		if strings.Contains(string(content), "<no value>") {
			t.Errorf("%s has a value missing", file)
		}
	}
	if server := c.Server(); server != "https://10.201.5.10:6443" {
		t.Errorf("the API server is %s", server)
	}
}

func TestLoopbackNameServersAreLeftOut(t *testing.T) {
	var text bytes.Buffer
	if count := copyResolvers(&text, []byte("# x\nnameserver 127.0.0.53\nnameserver 192.0.2.7\noptions edns0\nnameserver ::1\n")); count != 1 {
		t.Errorf("%d are counted", count)
	}
	if text.String() != "nameserver 192.0.2.7\n" {
		t.Errorf("copied: %s", text.String())
	}
}

func TestNamesThatCannotBeHostNamesAreRefused(t *testing.T) {
	t.Setenv("KUBEOPERA_LOCAL_STATE", t.TempDir())
	for _, name := range []string{"", "-a", "a-", "A", "a_b", "../x", "a.b", strings.Repeat("a", 31)} {
		if _, err := Find(name, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "cannot be the name") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Find("good-1", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no such cluster") {
		t.Errorf("good-1: %v", err)
	}
}

func TestAClusterMayGrowButNotChange(t *testing.T) {
	t.Setenv("KUBEOPERA_LOCAL_STATE", t.TempDir())
	c := &Cluster{Name: "c", Number: 1, dir: filepath.Join(StateDir(), "c"), Spec: Spec{Nodes: 1, KwokNodes: 2, Labels: map[string]string{"a": "b"}}}
	for _, changed := range []Spec{
		{Nodes: 1, KwokNodes: 2},
		{Nodes: 1, KwokNodes: 1, Labels: map[string]string{"a": "b"}},
		{Nodes: 1, KwokNodes: 2, Labels: map[string]string{"a": "b"}, Ephemeral: true},
		{ControlPlaneOnly: true, KwokNodes: 2, Labels: map[string]string{"a": "b"}},
	} {
		if err := c.adopt(changed); err == nil || !strings.Contains(err.Error(), "--nodes 1 --kwok-nodes 2 --node-label a=b") {
			t.Errorf("%s: %v", changed.Options(), err)
		}
	}
	grown := Spec{Nodes: 3, KwokNodes: 5, MetricsServer: true, Labels: map[string]string{"a": "b"}}
	if err := c.adopt(grown); err != nil {
		t.Fatal(err)
	}
	found, err := Find("c", &bytes.Buffer{})
	if err != nil || !found.Spec.Equal(grown) {
		t.Errorf("written down is %s: %v", found.Spec.Options(), err)
	}
}

func TestWhatDoesNotFitTogetherIsToldBeforeAnythingIsDone(t *testing.T) {
	for _, spec := range []Spec{
		{}, {Nodes: -1}, {Nodes: network.MaxMachines + 1}, {ControlPlaneOnly: true, Nodes: 1}, {ControlPlaneOnly: true, MetricsServer: true}, {Nodes: 1, KwokNodes: -1},
	} {
		if _, _, err := Up(context.Background(), "never-made", spec, &bytes.Buffer{}); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}

func TestAnotherVersionIsRefusedWithTheOneThereIs(t *testing.T) {
	for _, version := range []string{"", "1.34.4", "v1.34.4"} {
		if err := CheckVersion(version); err != nil {
			t.Errorf("%q: %v", version, err)
		}
	}
	if err := CheckVersion("1.33.1"); err == nil || !strings.Contains(err.Error(), "1.34.4") {
		t.Errorf("1.33.1: %v", err)
	}
}

func TestProgramsAreFoundByNameAndMachine(t *testing.T) {
	c := example()
	if name, i, err := c.component("kubelet/1"); err != nil || name != kubelet || i != 1 {
		t.Errorf("kubelet/1 is %s on %d: %v", name, i, err)
	}
	if name, i, err := c.component("etcd"); err != nil || name != etcd || i != 0 {
		t.Errorf("etcd is %s on %d: %v", name, i, err)
	}
	for _, wrong := range []string{"etcd/1", "kubelet/2", "kubelet/-1", "kubelet/x", "dockerd"} {
		if _, _, err := c.component(wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

func TestWhatAKilledRemovalLeftIsSweptAway(t *testing.T) {
	t.Setenv("KUBEOPERA_LOCAL_STATE", t.TempDir())
	c := &Cluster{Name: "c", Number: 1, dir: filepath.Join(StateDir(), "c"), out: &bytes.Buffer{}}
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(c.removed(), "machines")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.deleteData(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(StateDir()); err != nil || len(entries) > 0 {
		t.Errorf("left are %v: %v", entries, err)
	}
}

func TestFakeNodesCarryTheLabelsAndTheTaint(t *testing.T) {
	c := example()
	c.Spec.KwokNodes = 2
	text := string(c.fakeNodes())
	for _, want := range []string{"name: c-kwok-1", `"topology.kubernetes.io/zone": "eu-north-1a"`, `"team": "a"`, `providerID: "aws:///eu-north-1a/i-0abc2"`, `providerID: "aws:///eu-north-1a/i-0abc3"`, "key: kwok.x-k8s.io/node"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
