// Package machine runs one machine of a cluster on this one: process, mount, host name and network namespaces of its own, with a first
// process that holds them. Everything that runs on the machine ends with its first process, and every mount made on it goes with the last
// process: the kernel sees to both, so nothing can be left behind. It is what a container engine does for a node, without the engine.
package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubeopera.io/local-cluster/cgroup"
)

// bootLimit is how long the first process may take to set up its namespaces; it is done in milliseconds.
const bootLimit = 10 * time.Second

// Machine is one machine. The zero value is not useful.
type Machine struct {
	// Group is its control group, unique on this machine: "/klc1/0".
	Group string
	// Namespace is the name of its network namespace, which exists already.
	Namespace string
	Hostname  string
	// Dir keeps its data: what of /var/lib/kubelet, /var/log and the like must outlive a restart.
	Dir string
}

// Daemon is a program that runs on a machine until it is stopped.
type Daemon struct {
	// Name is unique on the machine; the log is named after it.
	Name string
	// Command is the program's absolute path and its arguments.
	Command []string
	// Env are variables to add, "NAME=value".
	Env []string
}

// parcel is what the hidden commands are given, as one JSON argument.
type parcel struct {
	Group    string
	Hostname string
	Dir      string
	Log      string
	Daemon   Daemon
}

func (m Machine) first() string             { return filepath.Join(m.Group, "first") }
func (m Machine) daemon(name string) string { return filepath.Join(m.Group, "daemons", name) }

// Shims is the control group in which containerd is to put its shims, so that they are not taken for containerd itself.
func (m Machine) Shims() string { return filepath.Join(m.Group, "shims") }

// LogFile is where a daemon's output goes.
func (m Machine) LogFile(daemon string) string { return filepath.Join(m.Dir, "logs", daemon+".log") }

// Boot makes sure that the machine runs. What is left of one whose first process was killed is ended before; fresh is called before a
// machine starts. It says whether the machine was started by this call.
func (m Machine) Boot(ctx context.Context, fresh func() error) (bool, error) {
	tree, err := cgroup.Mounted()
	if err != nil {
		return false, err
	}
	if m.inNamespace(tree) && m.awaitReady(ctx, tree) == nil {
		return false, nil
	}
	if err := m.Destroy(ctx); err != nil {
		return false, err
	}
	if err := fresh(); err != nil {
		return false, err
	}
	if err := tree.Make(m.Group); err != nil {
		return false, err
	}
	if err := tree.MakeLeaf(m.Shims()); err != nil {
		return false, err
	}
	if err := m.startFirst(); err != nil {
		return false, fmt.Errorf("the machine %s does not start: %w", m.Hostname, err)
	}
	return true, m.awaitReady(ctx, tree)
}

// startFirst starts the first process: `nsenter` joins the named network namespace and becomes this program's hidden command, already
// inside the new namespaces.
func (m Machine) startFirst() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argument, err := json.Marshal(parcel{Group: m.first(), Hostname: m.Hostname, Dir: m.Dir})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(m.Dir, "logs"), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(m.LogFile("machine"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command("nsenter", "--net=/run/netns/"+m.Namespace, "--", self, FirstCommand, string(argument))
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // so that it does not stay as a zombie when it ends before this program does
	return nil
}

// firstProcess is the id of the first process, 0 when there is none.
func (m Machine) firstProcess(tree cgroup.Tree) int {
	pids, err := tree.Processes(m.first())
	if err != nil || len(pids) == 0 || !tree.Runs(m.first()) {
		return 0
	}
	return pids[0]
}

// Dir is the folder of the machine whose first process is among these, "" when none is one. The kernel keeps it with the process, so it
// is known when the folder itself is gone.
func Dir(pids []int) string {
	for _, pid := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue
		}
		var given parcel
		words := strings.Split(strings.TrimRight(string(content), "\x00"), "\x00")
		if len(words) == 3 && words[1] == FirstCommand && json.Unmarshal([]byte(words[2]), &given) == nil {
			return given.Dir
		}
	}
	return ""
}

// inNamespace says whether the first process runs, in the network namespace that has its name: one that was deleted and made again is
// another.
func (m Machine) inNamespace(tree cgroup.Tree) bool {
	pid := m.firstProcess(tree)
	if pid == 0 {
		return false
	}
	own, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return false
	}
	named, err := os.Stat("/run/netns/" + m.Namespace)
	return err == nil && os.SameFile(own, named)
}

func (m Machine) awaitReady(ctx context.Context, tree cgroup.Tree) error {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	for {
		if pid := m.firstProcess(tree); pid != 0 {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", pid, readyFile)); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the machine %s did not come up: see %s", m.Hostname, m.LogFile("machine"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Alive says whether the first process runs.
func (m Machine) Alive() bool {
	tree, err := cgroup.Mounted()
	return err == nil && m.firstProcess(tree) != 0
}

// Start makes sure that the daemon runs, and says whether this call started it.
func (m Machine) Start(ctx context.Context, daemon Daemon) (bool, error) {
	if m.Running(daemon.Name) {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	argument, err := json.Marshal(parcel{Group: m.daemon(daemon.Name), Log: m.LogFile(daemon.Name), Daemon: daemon})
	if err != nil {
		return false, err
	}
	if output, err := m.Run(ctx, self, DaemonCommand, string(argument)); err != nil {
		return false, fmt.Errorf("%s does not start on %s: %w\n%s", daemon.Name, m.Hostname, err, output)
	}
	return true, nil
}

// Run runs a program on the machine to its end and returns what it printed.
func (m Machine) Run(ctx context.Context, command ...string) (string, error) {
	return m.RunWith(ctx, nil, command...)
}

// RunWith is Run with something to read on standard input: a file of this machine, say, that is not seen on the other.
func (m Machine) RunWith(ctx context.Context, input *os.File, command ...string) (string, error) {
	tree, err := cgroup.Mounted()
	if err != nil {
		return "", err
	}
	pid := m.firstProcess(tree)
	if pid == 0 {
		return "", fmt.Errorf("the machine %s does not run", m.Hostname)
	}
	enter := []string{"--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "--uts", "--ipc", "--"}
	var output bytes.Buffer
	entered := exec.CommandContext(ctx, "nsenter", append(enter, command...)...)
	entered.Stdout, entered.Stderr = &output, &output
	if input != nil {
		entered.Stdin = input
	}
	err = entered.Run()
	return strings.TrimSpace(output.String()), err
}

// Running says whether the daemon runs.
func (m Machine) Running(name string) bool {
	tree, err := cgroup.Mounted()
	return err == nil && tree.Runs(m.daemon(name))
}

// Stop ends the daemon: it is asked to, and killed when it does not within the grace.
func (m Machine) Stop(ctx context.Context, name string, grace time.Duration) error {
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := tree.Signal(m.daemon(name), syscall.SIGTERM); err != nil {
		return err
	}
	if ended, err := tree.WaitEmpty(ctx, m.daemon(name), grace); ended || err != nil {
		return err
	}
	return tree.Kill(ctx, m.daemon(name))
}

// Destroy ends the machine and everything on it. It is no error when it does not run.
func (m Machine) Destroy(ctx context.Context) error {
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := tree.Kill(ctx, m.Group); err != nil {
		return err
	}
	return tree.Remove(m.Group)
}
