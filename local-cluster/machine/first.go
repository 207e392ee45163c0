package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"kubeopera.io/local-cluster/cgroup"
)

// The hidden commands with which this program calls itself inside a machine.
const (
	FirstCommand  = "__first"
	DaemonCommand = "__daemon"
)

// readyFile is made when a machine's mounts are in place.
const readyFile = "/run/machine-ready"

// kept are the folders of a machine whose content is its own and outlives a restart, because some program has the path built in. The
// empty folders they are mounted on are made on the host where they are missing.
var kept = []string{"/var/lib/kubelet", "/var/lib/cni", "/var/log", "/opt/local-path-provisioner"}

// First is the first process of a machine: it sets up the mounts and then reaps what is orphaned. It returns only on an error.
func First(argument string) error {
	var given parcel
	if err := json.Unmarshal([]byte(argument), &given); err != nil {
		return err
	}
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := tree.Join(given.Group); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	if err := syscall.Sethostname([]byte(given.Hostname)); err != nil {
		return fmt.Errorf("the host name cannot be set: %w", err)
	}
	if err := mounts(given.Dir); err != nil {
		return err
	}
	if err := os.WriteFile(readyFile, nil, 0o644); err != nil {
		return err
	}
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			<-children
		}
	}
}

func mounts(dir string) error {
	// Nothing that is mounted from here on is seen outside, while what is unmounted outside goes here too.
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return err
	}
	if err := mount("tmpfs", "/run", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=755"); err != nil {
		return err
	}
	if err := mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := remountSys(); err != nil {
		return err
	}
	for _, path := range kept {
		own := filepath.Join(dir, "root", path)
		for _, folder := range []string{own, path} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := mount(own, path, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	// kubelet's mounts must reach the pods' namespaces. Only now: what is unmounted above would be unmounted in its copies too.
	return mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "")
}

// remountSys shows the machine's own network devices in /sys and keeps the control groups that are mounted there.
func remountSys() error {
	const aside = "/run/cgroup"
	if err := os.Mkdir(aside, 0o755); err != nil {
		return err
	}
	if err := mount("/sys/fs/cgroup", aside, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	if err := mount("sysfs", "/sys", "sysfs", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := mount(aside, "/sys/fs/cgroup", "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	if err := syscall.Unmount(aside, syscall.MNT_DETACH); err != nil {
		return err
	}
	return os.Remove(aside)
}

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", source, target, err)
	}
	return nil
}

// StartDaemon starts a daemon in its own session and control group. It runs inside the machine and ends at once, so that the daemon
// becomes a child of the machine's first process.
func StartDaemon(argument string) error {
	var given parcel
	if err := json.Unmarshal([]byte(argument), &given); err != nil {
		return err
	}
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := tree.Join(given.Group); err != nil {
		return err
	}
	log, err := os.OpenFile(given.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	command := exec.Command(given.Daemon.Command[0], given.Daemon.Command[1:]...)
	command.Stdout, command.Stderr = log, log
	command.Dir = "/"
	command.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}, given.Daemon.Env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command.Start()
}
