package cluster

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAClusterWhoseFolderIsGoneIsListedStoppedAndStartedAnew(t *testing.T) {
	spec := Spec{ControlPlaneOnly: true}
	name := real(t)
	first := up(t, name, spec)
	loses := func(c *Cluster) {
		t.Helper()
		if err := os.RemoveAll(c.dir); err != nil {
			t.Fatal(err)
		}
		lost, err := Lost(io.Discard)
		if err != nil || !slices.ContainsFunc(lost, func(l *Cluster) bool {
			return l.Name == name && l.Number == c.Number && l.State() == "lost" && strings.Contains(l.Options(), c.dir)
		}) {
			t.Fatalf("the lost clusters are %v: %v", lost, err)
		}
	}
	client, err := first.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	uid := systemUID(t, client)

	loses(first)
	second := up(t, name, spec)
	if second.State() != "running" {
		t.Errorf("the new cluster is %s", second.State())
	}
	again, err := second.client()
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if systemUID(t, again) == uid {
		t.Error("the new cluster is the old one, whose data was removed")
	}
	if first.Number != second.Number && len(first.traces(t)) > 0 {
		t.Errorf("of the first are left %v", first.traces(t))
	}

	loses(second)
	// Without the bridge, its processes tell whose they are.
	if output, err := exec.Command("ip", "link", "delete", second.network().Bridge()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	loses(second)
	// Whoever has another folder of clusters can stop it too.
	t.Setenv("KUBEOPERA_LOCAL_STATE", filepath.Join(t.TempDir(), "another"))
	var told bytes.Buffer
	if err := Down(t.Context(), name, false, &told); err != nil {
		t.Fatal(err)
	}
	if traces := second.traces(t); len(traces) > 0 || !strings.Contains(told.String(), second.dir) {
		t.Errorf("it told %q and left %v", told.String(), traces)
	}
}
