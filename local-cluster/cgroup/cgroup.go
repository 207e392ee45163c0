// Package cgroup keeps every process of a cluster below one path of the kernel's control groups. That is how the processes are found
// again (a pid file can lie, the kernel cannot), how all of them are ended, and where kubelet puts its pods.
package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Tree is the control group file system as it is mounted on this machine.
type Tree struct {
	unified   bool
	mounts    []string // of every hierarchy
	processes string   // the mount point of the hierarchy in which processes are kept and looked for
	cpuset    string   // mount point of the version 1 cpuset hierarchy, "" when there is none
}

// Mounted reads how control groups are mounted: version 2, or version 1 with a hierarchy for each controller.
func Mounted() (Tree, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Tree{}, err
	}
	defer file.Close()
	return parse(file)
}

func parse(mountinfo io.Reader) (Tree, error) {
	var tree Tree
	var v2 string
	for lines := bufio.NewScanner(mountinfo); lines.Scan(); {
		// 36 35 98:0 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
		left, right, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if len(fields) < 5 || len(kind) < 3 || !strings.HasPrefix(kind[0], "cgroup") || !strings.HasPrefix(fields[4], "/sys/fs/cgroup") {
			continue
		}
		mount := fields[4]
		tree.mounts = append(tree.mounts, mount)
		if kind[0] == "cgroup2" {
			v2 = mount
			continue
		}
		for _, option := range strings.Split(kind[2], ",") {
			switch option {
			case "pids":
				tree.processes = mount
			case "cpuset":
				tree.cpuset = mount
			}
		}
	}
	if tree.processes == "" && v2 == "/sys/fs/cgroup" {
		tree.processes, tree.unified = v2, true
	}
	if tree.processes == "" {
		return Tree{}, errors.New("control groups with the pids controller are not mounted below /sys/fs/cgroup: " +
			"start a kernel with them, or run on a machine that is not inside a container")
	}
	return tree, nil
}

// Make makes the group in every hierarchy, so that kubelet may use it as its root. Processes belong in groups below it: version 2 takes
// none in a group whose controllers are given on.
func (t Tree) Make(group string) error {
	for _, mount := range t.mounts {
		if err := os.MkdirAll(filepath.Join(mount, group), 0o755); err != nil {
			return fmt.Errorf("the control group %s cannot be made: %w", group, err)
		}
	}
	if t.cpuset != "" {
		return t.inheritCPUs(group)
	}
	if t.unified {
		return t.delegate(group)
	}
	return nil
}

// MakeLeaf makes a group that only holds processes, for a program that puts them there itself.
func (t Tree) MakeLeaf(group string) error {
	if err := os.MkdirAll(filepath.Join(t.processes, group), 0o755); err != nil {
		return fmt.Errorf("the control group %s cannot be made: %w", group, err)
	}
	return nil
}

// inheritCPUs gives the group the processors and memory nodes of its parent: a new version 1 cpuset has none and takes no process.
func (t Tree) inheritCPUs(group string) error {
	dir := t.cpuset
	for _, part := range strings.Split(strings.Trim(group, "/"), "/") {
		parent := dir
		dir = filepath.Join(dir, part)
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			inherited, err := os.ReadFile(filepath.Join(parent, file))
			if err != nil {
				return err
			}
			own, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return err
			}
			if strings.TrimSpace(string(own)) != "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), inherited, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegate turns the controllers of version 2 on from the top down to the group.
func (t Tree) delegate(group string) error {
	dir := t.processes
	for _, part := range append([]string{""}, strings.Split(strings.Trim(group, "/"), "/")...) {
		dir = filepath.Join(dir, part)
		available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		if err != nil {
			return err
		}
		for _, controller := range strings.Fields(string(available)) {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
				return fmt.Errorf("the controller %s cannot be turned on in the control group %s: %w", controller, dir, err)
			}
		}
	}
	return nil
}

// Join moves the calling process into a group that only holds processes, and makes it.
func (t Tree) Join(group string) error {
	if err := t.MakeLeaf(group); err != nil {
		return err
	}
	// "0" stands for the writer, whatever its number is in the namespace it runs in.
	return os.WriteFile(filepath.Join(t.processes, group, "cgroup.procs"), []byte("0"), 0o644)
}

// Processes are the ids of the processes in the group and below it, as this process sees them.
func (t Tree) Processes(group string) ([]int, error) {
	var pids []int
	err := filepath.WalkDir(filepath.Join(t.processes, group), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
			return nil
		}
		for _, field := range strings.Fields(string(content)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return err
	})
	sort.Ints(pids)
	return pids, err
}

// Runs says whether the group has a process that is not about to end: one that was killed stays listed until the kernel has taken it
// apart, which for a large one takes a while.
func (t Tree) Runs(group string) bool {
	pids, err := t.Processes(group)
	return err == nil && slices.ContainsFunc(pids, func(pid int) bool { return !ending(pid) })
}

// ending says whether a process has ended, ends, or has SIGKILL waiting for it.
func ending(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return true
	}
	for _, line := range strings.Split(string(status), "\n") {
		switch name, value, _ := strings.Cut(line, ":\t"); name {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd":
			const sigkill = 1 << (int(syscall.SIGKILL) - 1)
			if pending, err := strconv.ParseUint(value, 16, 64); err == nil && pending&sigkill != 0 {
				return true
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The flags are the seventh field after the name in parentheses.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	const exiting = 4 // PF_EXITING
	if len(fields) < 7 {
		return true
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err != nil || flags&exiting != 0
}

// Signal sends a signal to every process of the group.
func (t Tree) Signal(group string, signal syscall.Signal) error {
	pids, err := t.Processes(group)
	for _, pid := range pids {
		if e := syscall.Kill(pid, signal); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = e
		}
	}
	return err
}

// Kill ends every process of the group and waits until none is left; those that start meanwhile are ended too.
func (t Tree) Kill(ctx context.Context, group string) error {
	for {
		if err := t.Signal(group, syscall.SIGKILL); err != nil {
			return err
		}
		if empty, err := t.waitEmpty(ctx, group, 100*time.Millisecond); empty || err != nil {
			return err
		}
	}
}

// WaitEmpty waits until the group has no process; false when the time is up.
func (t Tree) WaitEmpty(ctx context.Context, group string, limit time.Duration) (bool, error) {
	return t.waitEmpty(ctx, group, limit)
}

func (t Tree) waitEmpty(ctx context.Context, group string, limit time.Duration) (bool, error) {
	deadline := time.Now().Add(limit)
	for {
		pids, err := t.Processes(group)
		if err != nil || len(pids) == 0 {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("processes %v of the control group %s did not end: %w", pids, group, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Remove removes the group and those below it from every hierarchy. It must be empty.
func (t Tree) Remove(group string) error {
	for _, mount := range t.mounts {
		var dirs []string
		err := filepath.WalkDir(filepath.Join(mount, group), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return err
		})
		if err != nil {
			return err
		}
		for i := len(dirs) - 1; i >= 0; i-- {
			if err := removeGroup(dirs[i]); err != nil {
				return fmt.Errorf("the control group %s cannot be removed: %w", dirs[i], err)
			}
		}
	}
	return nil
}

// removeGroup waits for the kernel, which for a moment after its last process ended still holds a group busy.
func removeGroup(dir string) error {
	for attempt := 0; ; attempt++ {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || attempt == 200 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
