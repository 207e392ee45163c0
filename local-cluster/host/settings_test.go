package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inside is set for the test program in namespaces of its own, where other files are mounted over the kernel's settings: the machine's
// belong to the clusters that run.
const inside = "LOCAL_CLUSTER_TEST_INSIDE"

func TestTheLastClusterGivesTheKernelsSettingsBack(t *testing.T) {
	if os.Getenv(inside) == "" {
		if testing.Short() {
			t.Skip("making namespaces needs root")
		}
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), inside+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
		if output, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		return
	}
	mount := func(source, target, kind string, flags uintptr) {
		t.Helper()
		if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
			t.Fatalf("mounting %s: %v", target, err)
		}
	}
	set := func(name, value string) {
		t.Helper()
		path := filepath.Join("/proc/sys", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(runDir, 0o755); err != nil {
		t.Fatal(err)
	}
	mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE)
	mount("sysfs", "/sys", "sysfs", 0) // without the machine's bridges
	mount("tmpfs", runDir, "tmpfs", 0)
	mount("tmpfs", "/proc/sys", "tmpfs", 0)
	for _, name := range borrowed {
		set(name, "0")
	}

	if err := BorrowSettings(); err != nil {
		t.Fatal(err)
	}
	if value, err := os.ReadFile("/proc/sys/" + forwarding); err != nil || string(value) != "1" {
		t.Errorf("forwarding is %q: %v", value, err)
	}
	for _, name := range borrowed {
		set(name, "7") // as kubelet does
	}
	// A second cluster must not take the first one's settings for the machine's.
	if err := BorrowSettings(); err != nil {
		t.Fatal(err)
	}
	// The last `down` may be killed in between and said again.
	for range 2 {
		if err := ReturnSettings(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range borrowed {
		if value, err := os.ReadFile("/proc/sys/" + name); err != nil || strings.TrimSpace(string(value)) != "0" {
			t.Errorf("%s is %q: %v", name, value, err)
		}
	}
	if left, err := os.ReadDir(runDir); err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
}
