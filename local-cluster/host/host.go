// Package host is what local-cluster needs of the machine it runs on: rights, programs, room, locks, and a few settings of the kernel that
// are given back.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// runDir holds locks and borrowed settings of all clusters on this machine; it does not survive a reboot, and neither do they.
const runDir = "/run/kubeopera-local-cluster"

// packages name the Debian package of each program.
var packages = map[string]string{
	"ip": "iproute2", "iptables": "iptables", "nsenter": "util-linux", "sysctl": "procps",
	"containerd": "containerd", "ctr": "containerd", "containerd-shim-runc-v2": "containerd", "runc": "runc",
}

// The programs that a cluster needs, and those that it needs besides when it has a node.
var (
	always   = []string{"ip", "iptables", "nsenter", "sysctl"}
	withNode = []string{"containerd", "ctr", "containerd-shim-runc-v2", "runc"}
	plugins  = []string{"ptp", "portmap", "host-local", "loopback"}
	folders  = []string{"/usr/lib/cni", "/opt/cni/bin"}
)

// Check says in one sentence what is missing on this machine for a cluster, with nodes or without.
func Check(nodes bool) error {
	if err := Root(); err != nil {
		return err
	}
	needed := always
	if nodes {
		needed = append(append([]string{}, always...), withNode...)
	}
	var missing, install []string
	add := func(program, from string) {
		missing = append(missing, program)
		if !strings.Contains(" "+strings.Join(install, " ")+" ", " "+from+" ") {
			install = append(install, from)
		}
	}
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			add(program, packages[program])
		}
	}
	if nodes && PluginDir() == "" {
		add("the CNI plugins "+strings.Join(plugins, ", "), "containernetworking-plugins")
	}
	if missing != nil {
		return fmt.Errorf("a local cluster needs %s, which this machine does not have: run `apt-get install %s`", strings.Join(missing, ", "), strings.Join(install, " "))
	}
	return nil
}

// Root says what to do when this process may not make namespaces.
func Root() error {
	if os.Geteuid() != 0 {
		return errors.New("a local cluster makes network namespaces, mounts and control groups and needs root for it: run this with sudo")
	}
	return nil
}

// PluginDir is the folder with the CNI plugins, "" when there is none with all that are needed.
func PluginDir() string {
	for _, dir := range folders {
		complete := true
		for _, plugin := range plugins {
			if _, err := os.Stat(filepath.Join(dir, plugin)); err != nil {
				complete = false
			}
		}
		if complete {
			return dir
		}
	}
	return ""
}

// Room checks that the disk of the folder has this many bytes free.
func Room(dir string, need uint64) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("the room left at %s cannot be told: %w", dir, err)
	}
	if free := stat.Bavail * uint64(stat.Bsize); free < need {
		return fmt.Errorf("the disk of %s has %d MB free and the cluster needs %d MB: free some space, or set KUBEOPERA_LOCAL_STATE to a folder on another disk", dir, free>>20, need>>20)
	}
	return nil
}

// LockNetwork is Lock for what all clusters of this machine share: the numbers from which their networks follow.
func LockNetwork(ctx context.Context) (func(), error) {
	return Lock(ctx, filepath.Join(runDir, "network.lock"), func() {})
}

// Lock waits until this process alone has the file locked, and tells through waiting (once) that it waits. The kernel lets go of it when
// the process ends, however it ends.
func Lock(ctx context.Context, path string, waiting func()) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("%s cannot be locked: %w", file.Name(), err)
		}
		if !told {
			waiting()
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// borrowed are the kernel's settings that a cluster changes for the whole machine: forwarding for its traffic, and what kubelet sets.
var borrowed = []string{
	forwarding,
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

const forwarding = "net/ipv4/ip_forward"

// otherBridges says whether there is a bridge on this machine; those of clusters are gone when it is asked.
func otherBridges() bool {
	bridges, err := filepath.Glob("/sys/class/net/*/bridge")
	return err != nil || len(bridges) > 0
}

func settingsFile() string { return filepath.Join(runDir, "settings.json") }

// BorrowSettings writes down the settings as they were before the first cluster, and turns forwarding on.
func BorrowSettings() error {
	if _, err := os.Stat(settingsFile()); errors.Is(err, os.ErrNotExist) {
		before := map[string]string{}
		for _, name := range borrowed {
			if value, err := os.ReadFile("/proc/sys/" + name); err == nil {
				before[name] = strings.TrimSpace(string(value))
			}
		}
		content, err := json.Marshal(before)
		if err != nil {
			return err
		}
		unfinished := settingsFile() + ".unfinished"
		if err := os.WriteFile(unfinished, content, 0o644); err != nil {
			return err
		}
		if err := os.Rename(unfinished, settingsFile()); err != nil {
			return err
		}
	}
	return os.WriteFile("/proc/sys/"+forwarding, []byte("1"), 0o644)
}

// ReturnSettings puts the settings back; it is called when the last cluster is gone.
func ReturnSettings() error {
	content, err := os.ReadFile(settingsFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var before map[string]string
	if err := json.Unmarshal(content, &before); err != nil {
		return fmt.Errorf("%s is not readable: %w", settingsFile(), err)
	}
	for name, value := range before {
		if now, err := os.ReadFile("/proc/sys/" + name); err != nil || strings.TrimSpace(string(now)) == value {
			continue
		}
		if name == forwarding && otherBridges() {
			continue // a container engine or hypervisor that came meanwhile needs it
		}
		if err := os.WriteFile("/proc/sys/"+name, []byte(value), 0o644); err != nil {
			return err
		}
	}
	return os.Remove(settingsFile())
}
