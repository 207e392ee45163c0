package cgroup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersion1IsReadWithEachHierarchy(t *testing.T) {
	tree, err := parse(strings.NewReader(`25 1 0:23 / /sys/fs/cgroup rw - tmpfs tmpfs rw
26 25 0:24 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset
27 25 0:25 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
28 25 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
29 25 0:27 / /elsewhere rw,relatime - cgroup cgroup rw,memory
`))
	if err != nil {
		t.Fatal(err)
	}
	if tree.unified || tree.processes != "/sys/fs/cgroup/pids" || tree.cpuset != "/sys/fs/cgroup/cpuset" || len(tree.mounts) != 3 {
		t.Errorf("read as %+v", tree)
	}
}

func TestVersion2IsReadAsOneHierarchy(t *testing.T) {
	tree, err := parse(strings.NewReader("30 1 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !tree.unified || tree.processes != "/sys/fs/cgroup" || len(tree.mounts) != 1 {
		t.Errorf("read as %+v", tree)
	}
}

func TestAMachineWithoutControlGroupsIsToldSo(t *testing.T) {
	if _, err := parse(strings.NewReader("22 1 0:20 / /proc rw - proc proc rw\n")); err == nil || !strings.Contains(err.Error(), "not mounted") {
		t.Errorf("the error is %v", err)
	}
}

func TestProcessesOfAGroupAreFoundEndedAndTheGroupRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("making control groups needs root")
	}
	tree, err := Mounted()
	if err != nil {
		t.Fatal(err)
	}
	group := "/klc-test-" + filepath.Base(t.TempDir())
	t.Cleanup(func() {
		_ = tree.Kill(context.Background(), group)
		_ = tree.Remove(group)
	})
	if err := tree.Make(group); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sh", "-c", "echo 0 > "+filepath.Join(tree.processes, group, "cgroup.procs")+"; sleep 1000 & exec sleep 1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = sleeper.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		pids, err := tree.Processes(group)
		if err != nil {
			t.Fatal(err)
		}
		if len(pids) == 2 {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the group has the processes %v", pids)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := tree.Kill(ctx, group); err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove(group); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tree.processes, group)); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}
