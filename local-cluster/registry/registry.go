// Package registry is the mirror an air-gapped local cluster pulls from: Debian's docker-registry, filled with the images and charts
// of the components KubeOpera installs. What can be built from Go modules is there as the real thing, the rest as stand-ins.
//
// An image or chart keeps its upstream name below the mirror's address: quay.io/jetstack/cert-manager-controller:v1.18.2 is
// 10.201.0.1:5000/quay.io/jetstack/cert-manager-controller:v1.18.2. One mirror serves all clusters of the machine.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubeopera.io/local-cluster/host"
)

// Address is where the mirror answers, with plain HTTP. It is an address of the host's loopback interface, which the nodes and pods
// of every local cluster reach through their gateway.
const Address = "10.201.0.1:5000"

const (
	program = "docker-registry"
	// patience is how long the registry may take to answer, or to end.
	patience = 15 * time.Second
	// discardLimit is for looking through the whole content on a slow disk; a usual one takes a second.
	discardLimit = 5 * time.Minute
)

// Registry is one docker-registry process and its data. The process is found by its command line, which names its configuration
// file; nothing has to be written down about it that a kill could leave wrong.
type Registry struct {
	// Dir holds configuration, log and content.
	Dir string
	// Address is host:port to listen on. A host that this machine does not have is added to its loopback interface.
	Address string
}

// Mirror is the registry of this machine's local clusters, with its data in KUBEOPERA_REGISTRY_STATE or /var/lib/kubeopera/registry.
func Mirror() Registry {
	dir := os.Getenv("KUBEOPERA_REGISTRY_STATE")
	if dir == "" {
		dir = "/var/lib/kubeopera/registry"
	}
	return Registry{Dir: dir, Address: Address}
}

// Up starts the registry and returns when it answers. It does nothing when it already does.
func (r Registry) Up(ctx context.Context) error {
	if r.runs(ctx) {
		return nil
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if r.runs(ctx) {
		return nil
	}
	binary, err := find()
	if err != nil {
		return err
	}
	if err := r.stop(ctx); err != nil {
		return err
	}
	if err := r.addAddress(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(r.configuration(), r.served(), 0o644); err != nil {
		return err
	}
	r.discardReplaced(ctx, binary)
	ended, err := r.start(binary)
	if err != nil {
		return err
	}
	return r.await(ctx, client, ended, r.log())
}

// runs says whether the registry answers, with the configuration it is to have.
func (r Registry) runs(ctx context.Context) bool {
	content, err := os.ReadFile(r.configuration())
	return err == nil && bytes.Equal(content, r.served()) && len(r.processes()) == 1 && r.answers(ctx, client) == nil
}

// Down stops the registry and takes its address from the loopback interface. Its content stays.
func (r Registry) Down(ctx context.Context) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.stop(ctx); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil || net.ParseIP(host).IsLoopback() || !hasAddress(host) {
		return err
	}
	return ip(ctx, "address", "delete", host+"/32", "dev", "lo")
}

func (r Registry) configuration() string { return filepath.Join(r.Dir, "config.yml") }
func (r Registry) log() string           { return filepath.Join(r.Dir, "registry.log") }

func (r Registry) served() []byte { return r.content("tcp", r.Address, true) }

// content is the configuration of a process that serves the registry's content.
func (r Registry) content(network, address string, readOnly bool) []byte {
	return fmt.Appendf(nil, `version: 0.1
log:
  level: warn
  accesslog:
    disabled: true
storage:
  filesystem:
    rootdirectory: %s
  cache:
    blobdescriptor: inmemory
  maintenance:
    readonly:
      enabled: %t
http:
  net: %s
  addr: %s
`, filepath.Join(r.Dir, "content"), readOnly, network, address)
}

// lock lets one process at a time start, stop or fill the registry.
func (r Registry) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = host.Lock(ctx, filepath.Join(r.Dir, "lock"), func() {
		fmt.Fprintf(os.Stderr, "another command works on the registry in %s: waiting for it\n", r.Dir)
	})
	if err != nil {
		return nil, fmt.Errorf("the registry in %s cannot be worked on: %w", r.Dir, err)
	}
	return unlock, nil
}

// discardReplaced removes what no name stands for any more since a fill replaced it: the images of programs that were built anew. It
// must not run while something is uploaded, so it runs before a start. What it leaves behind by failing costs space and nothing else.
func (r Registry) discardReplaced(ctx context.Context, binary string) {
	ctx, cancel := context.WithTimeout(ctx, discardLimit)
	defer cancel()
	if _, err := os.Stat(filepath.Join(r.Dir, "content", "docker")); err != nil {
		return // nothing was ever put there
	}
	if output, err := exec.CommandContext(ctx, binary, "garbage-collect", "--delete-untagged", r.configuration()).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "what was replaced in the registry still takes room in %s: %v: %s\n", r.Dir, err, bytes.TrimSpace(output))
	}
}

// start leaves the process running when this one ends, in a session of its own. The channel closes when it ends before.
func (r Registry) start(binary string) (<-chan struct{}, error) {
	output, err := os.Create(r.log())
	if err != nil {
		return nil, err
	}
	defer output.Close()
	command := serve(binary, r.configuration())
	command.Dir, command.Stdout, command.Stderr = r.Dir, output, output
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return run(command)
}

func (r Registry) answers(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address+"/v2/", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("http://%s/v2/ answers %s", r.Address, response.Status)
	}
	return nil
}

// processes are the running registries with this configuration file: none or one, unless something went wrong.
func (r Registry) processes() []int {
	wanted := "\x00serve\x00" + r.configuration() + "\x00"
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	var found []int
	for _, line := range lines {
		content, err := os.ReadFile(line)
		if err != nil || !strings.HasSuffix(string(content), wanted) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(line))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// stop ends the registry, with force when it does not go within five seconds, and returns when it is gone.
func (r Registry) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	for {
		pids := r.processes()
		if len(pids) == 0 {
			return nil
		}
		signal := syscall.SIGTERM
		if time.Since(began) > 5*time.Second {
			signal = syscall.SIGKILL
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("the registry (process %d) cannot be stopped: %w", pid, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the registry (process %d) does not end", pids[0])
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r Registry) addAddress(ctx context.Context) error {
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil {
		return err
	}
	if net.ParseIP(host).IsLoopback() || hasAddress(host) {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("the registry needs the address %s on the loopback interface, which only root can add: run this as root", host)
	}
	return ip(ctx, "address", "replace", host+"/32", "dev", "lo")
}

func hasAddress(host string) bool {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.String() == host {
			return true
		}
	}
	return false
}

func ip(ctx context.Context, arguments ...string) error {
	if output, err := exec.CommandContext(ctx, "ip", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(arguments, " "), err, bytes.TrimSpace(output))
	}
	return nil
}
