package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kubeopera.io/local-cluster/cgroup"
	"kubeopera.io/local-cluster/machine"
	"kubeopera.io/local-cluster/network"
)

// Lost are the clusters that run, or of which something is left, though their folder is gone or tells of another: somebody removed it
// before `down`, or the disk was lost. The bridge names the folder they had; without a bridge, the processes do.
func Lost(out io.Writer) ([]*Cluster, error) {
	tree, err := cgroup.Mounted()
	if err != nil {
		return nil, err
	}
	var lost []*Cluster
	for number := network.FirstNumber; number <= network.LastNumber; number++ {
		c := &Cluster{Number: number, out: out, lost: true}
		if c.dir, err = c.owner(tree); err != nil {
			return nil, err
		}
		c.Name = filepath.Base(c.dir)
		// Without a good name, a bridge of this name is not one of ours. A record that cannot be read may tell of this cluster.
		if !nameRule.MatchString(c.Name) || !filepath.IsAbs(c.dir) || c.recorded() {
			continue
		}
		lost = append(lost, c)
	}
	return lost, nil
}

// owner is the folder of the cluster that has the number, "" when there is no sign of one.
func (c *Cluster) owner(tree cgroup.Tree) (string, error) {
	if owner := c.network().Owner(); owner != "" {
		return owner, nil
	}
	pids, err := tree.Processes(c.group())
	if err != nil {
		return "", err
	}
	if dir := machine.Dir(pids); dir != "" {
		return filepath.Dir(filepath.Dir(dir)), nil
	}
	return "", nil
}

// recorded says whether the cluster's folder tells of it, or cannot be read.
func (c *Cluster) recorded() bool {
	content, err := os.ReadFile(c.file("cluster.json"))
	if err != nil {
		return !os.IsNotExist(err)
	}
	var written record
	return json.Unmarshal(content, &written) != nil || written.Number == c.Number
}

// stopLost ends what is left of lost clusters with this name, in this folder of clusters or, when anywhere, in any other. It says how many
// there were.
func stopLost(ctx context.Context, name string, anywhere bool, out io.Writer) (int, error) {
	all, err := Lost(out)
	if err != nil {
		return 0, err
	}
	stopped := 0
	for _, c := range all {
		if c.Name != name || !anywhere && filepath.Dir(c.dir) != StateDir() {
			continue
		}
		if err := c.stop(ctx); err != nil {
			return stopped, err
		}
		fmt.Fprintf(out, "what was left of the cluster %s, whose folder %s is gone, is stopped\n", name, c.dir)
		stopped++
	}
	return stopped, nil
}
