// Package cluster brings clusters up and takes them down. Everything is made sure of rather than made: `up` on a running cluster changes
// nothing, on a damaged one repairs it, and a kill at any line of this package leaves nothing that the next `up` or `down` does not see to.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/host"
	"kubeopera.io/local-cluster/machine"
	"kubeopera.io/local-cluster/network"
	"kubeopera.io/local-cluster/pki"
)

// Spec is what a cluster is asked to be.
type Spec struct {
	ControlPlaneOnly bool
	// Nodes are machines that run pods; at least one unless ControlPlaneOnly.
	Nodes int
	// KwokNodes are nodes that only exist in the API: kwok answers for their kubelets.
	KwokNodes int
	// Ephemeral data is thrown away when the cluster is stopped; in exchange it is not waited for until it is on the disk.
	Ephemeral bool
	// MetricsServer installs it; its image is there anyway.
	MetricsServer bool
	// LeaderElection makes scheduler and controller manager hold Leases, by which others see whether they work. A machine so
	// busy that a Lease runs out ends them, so that it is not the default.
	LeaderElection bool
	// ProviderID of the first node; the others get their number appended.
	ProviderID   string
	InstanceType string
	Region       string
	Zone         string
	Labels       map[string]string
}

// Equal says whether two clusters are asked to be the same.
func (s Spec) Equal(other Spec) bool {
	a, b := s, other
	a.Labels, b.Labels = nil, nil
	return maps.Equal(s.Labels, other.Labels) && fmt.Sprint(a) == fmt.Sprint(b)
}

// Cluster is one cluster on this machine.
type Cluster struct {
	Name string
	// Number gives it its network, names and control groups; 1 to 200.
	Number int
	Spec   Spec
	dir    string
	out    io.Writer
	// lost says that its folder is gone while it runs: only its number, name and folder are known.
	lost bool
	// programs are set when something of the cluster is to be started.
	programs programs
	// starting keeps two of this process's goroutines from starting one program twice; other processes are kept out by the lock.
	starting sync.Mutex
}

// record is what is written about a cluster.
type record struct {
	Number int
	Spec   Spec
}

var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$`)

// StateDir is the folder of all clusters: KUBEOPERA_LOCAL_STATE or /var/lib/kubeopera/local-cluster.
func StateDir() string {
	if dir := os.Getenv("KUBEOPERA_LOCAL_STATE"); dir != "" {
		return filepath.Clean(dir)
	}
	return "/var/lib/kubeopera/local-cluster"
}

func badName(name string) error {
	return fmt.Errorf("%q cannot be the name of a cluster: use at most 30 small letters, digits and dashes, with a letter or digit at both ends", name)
}

// ErrUnknown is returned for a cluster that is not on this machine.
var ErrUnknown = errors.New("there is no such cluster on this machine: `local-cluster list` shows those there are")

// Find reads what is written about a cluster.
func Find(name string, out io.Writer) (*Cluster, error) {
	if !nameRule.MatchString(name) {
		return nil, badName(name)
	}
	c := &Cluster{Name: name, dir: filepath.Join(StateDir(), name), out: out}
	content, err := os.ReadFile(c.file("cluster.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	if err != nil {
		return nil, err
	}
	var written record
	if err := json.Unmarshal(content, &written); err != nil {
		return nil, fmt.Errorf("%s is not readable: %w; remove the folder %s; `local-cluster up` then starts the cluster anew, and `local-cluster down` stops what is left of it", c.file("cluster.json"), err, c.dir)
	}
	c.Number, c.Spec = written.Number, written.Spec
	return c, nil
}

// FindAll are the clusters on this machine, running or stopped, by name.
func FindAll(out io.Writer) ([]*Cluster, error) {
	entries, err := os.ReadDir(StateDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []*Cluster
	for _, entry := range entries {
		if c, err := Find(entry.Name(), out); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// create gives a new cluster its number and writes both down. The machine-wide lock keeps two clusters from taking one number.
func create(ctx context.Context, c *Cluster, spec Spec) error {
	unlock, err := host.LockNetwork(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	taken := map[int]bool{}
	all, err := FindAll(io.Discard)
	if err != nil {
		return err
	}
	for _, other := range all {
		taken[other.Number] = true
	}
	var reason string
	for number := network.FirstNumber; number <= network.LastNumber; number++ {
		candidate := network.Network{Number: number}
		if taken[number] || candidate.Exists() {
			continue
		}
		if reason, err = candidate.Taken(ctx); err != nil {
			return err
		}
		if reason != "" {
			continue
		}
		c.Number, c.Spec = number, spec
		if err := c.save(); err != nil {
			return err
		}
		// The bridge reserves the number against clusters whose state is in another folder.
		return candidate.Ensure(ctx, c.dir, 0)
	}
	if reason != "" {
		return fmt.Errorf("no network 10.201.1.0/24 to 10.201.200.0/24 is free: this machine has the address %s; give it another one", reason)
	}
	return errors.New("all 200 numbers for clusters are taken: remove some with `local-cluster down NAME --delete-data`")
}

func (c *Cluster) save() error {
	if err := os.MkdirAll(c.dir, 0o711); err != nil {
		return fmt.Errorf("the folder of the cluster cannot be made: %w", err)
	}
	content, err := json.MarshalIndent(record{c.Number, c.Spec}, "", "  ")
	if err != nil {
		return err
	}
	return pki.Replace(c.file("cluster.json"), append(content, '\n'), 0o644)
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.file("kubeconfig") }

// Server is the address of the API server, reached from this machine and from every pod.
func (c *Cluster) Server() string { return "https://" + c.network().Address(0) + ":6443" }

func (c *Cluster) network() network.Network { return network.Network{Number: c.Number} }

// group is the control group of the whole cluster.
func (c *Cluster) group() string { return "/" + c.network().Bridge() }

// machines is how many machines there are: a control plane alone needs one too.
func (c *Cluster) machines() int { return max(1, c.Spec.Nodes) }

func (c *Cluster) machine(i int) machine.Machine {
	return machine.Machine{
		Group:     fmt.Sprintf("%s/%d", c.group(), i),
		Namespace: c.network().Namespace(i),
		Hostname:  c.nodeName(i),
		Dir:       filepath.Join(c.dir, "machines", fmt.Sprint(i)),
	}
}

func (c *Cluster) nodeName(i int) string { return fmt.Sprintf("%s-%d", c.Name, i) }

// providerID of a node: the given one for the first, with the node's number appended for the others.
func (c *Cluster) providerID(i int) string {
	if i == 0 || c.Spec.ProviderID == "" {
		return c.Spec.ProviderID
	}
	return fmt.Sprintf("%s%d", c.Spec.ProviderID, i)
}

// labels that every node has besides those of Kubernetes itself.
func (s Spec) labels() map[string]string {
	all := map[string]string{}
	maps.Copy(all, s.Labels)
	for key, value := range map[string]string{
		"node.kubernetes.io/instance-type": s.InstanceType,
		"topology.kubernetes.io/region":    s.Region,
		"topology.kubernetes.io/zone":      s.Zone,
	} {
		if value != "" {
			all[key] = value
		}
	}
	return all
}

// Check says what does not fit together in what is asked for.
func (s Spec) Check() error {
	switch {
	case s.Nodes < 0 || s.Nodes > network.MaxMachines:
		return fmt.Errorf("a cluster has 1 to %d nodes", network.MaxMachines)
	case s.ControlPlaneOnly && s.Nodes > 0:
		return errors.New("a control plane alone has no nodes: leave out --nodes or --control-plane-only")
	case !s.ControlPlaneOnly && s.Nodes == 0:
		return errors.New("a cluster without nodes is asked for with --control-plane-only")
	case s.ControlPlaneOnly && s.MetricsServer:
		return errors.New("metrics-server needs a node: leave out --metrics-server or --control-plane-only")
	case s.KwokNodes < 0:
		return errors.New("the number of kwok's nodes cannot be negative")
	}
	return nil
}

// CheckVersion says which versions there are when another is asked for.
func CheckVersion(version string) error {
	if version == "" || "v"+strings.TrimPrefix(version, "v") == build.KubernetesVersion {
		return nil
	}
	return fmt.Errorf("Kubernetes %s cannot be had here: the only version that is built is %s", version, strings.TrimPrefix(build.KubernetesVersion, "v"))
}
