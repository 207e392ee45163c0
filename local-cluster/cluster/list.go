package cluster

import (
	"fmt"
	"sort"
	"strings"

	"kubeopera.io/local-cluster/cgroup"
)

// Options are the spec as the options of `up`.
func (s Spec) Options() string {
	var options []string
	add := func(set bool, format string, values ...any) {
		if set {
			options = append(options, fmt.Sprintf(format, values...))
		}
	}
	add(s.ControlPlaneOnly, "--control-plane-only")
	add(!s.ControlPlaneOnly, "--nodes %d", s.Nodes)
	add(s.KwokNodes > 0, "--kwok-nodes %d", s.KwokNodes)
	add(s.Ephemeral, "--ephemeral")
	add(s.MetricsServer, "--metrics-server")
	add(s.LeaderElection, "--leader-election")
	add(s.ProviderID != "", "--provider-id %s", s.ProviderID)
	add(s.InstanceType != "", "--instance-type %s", s.InstanceType)
	add(s.Region != "", "--region %s", s.Region)
	add(s.Zone != "", "--zone %s", s.Zone)
	var labels []string
	for key, value := range s.Labels {
		labels = append(labels, fmt.Sprintf("--node-label %s=%s", key, value))
	}
	sort.Strings(labels)
	return strings.Join(append(options, labels...), " ")
}

// Options are those of `up` with which the cluster was made, or what to do with one that has lost them.
func (c *Cluster) Options() string {
	if c.lost {
		return fmt.Sprintf("its folder %s is gone: `local-cluster down %s` stops it", c.dir, c.Name)
	}
	return c.Spec.Options()
}

// State says in a word or two whether the cluster runs: "running", "stopped", "lost", or which of its programs are missing.
func (c *Cluster) State() string {
	if c.lost {
		return "lost"
	}
	alive := 0
	var missing []string
	for i := range c.machines() {
		m := c.machine(i)
		if m.Alive() {
			alive++
		}
		for _, name := range c.programsOf(i) {
			if !m.Running(name) {
				missing = append(missing, fmt.Sprintf("%s/%d", name, i))
			}
		}
	}
	switch {
	case alive == 0:
		return "stopped"
	case len(missing) > 0:
		return "without " + strings.Join(missing, ",")
	default:
		return "running"
	}
}

// Memory is what the cluster's processes take of this machine's memory, in bytes: pages that several share are counted once.
func (c *Cluster) Memory() (uint64, error) {
	tree, err := cgroup.Mounted()
	if err != nil {
		return 0, err
	}
	pids, err := tree.Processes(c.group())
	if err != nil {
		return 0, err
	}
	var sum uint64
	for _, pid := range pids {
		sum += proportionalSize(pid)
	}
	return sum, nil
}
