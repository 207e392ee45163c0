package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"kubeopera.io/local-cluster/cgroup"
	"kubeopera.io/local-cluster/host"
)

// downLimit is how long the kernel may take to end a cluster's processes.
const downLimit = 60 * time.Second

// Down ends the cluster: no process, mount, link, namespace, control group or rule of it is left. Its data stays unless it is ephemeral or
// the data is to be deleted. One whose folder is gone is known by its bridge and
// processes. A cluster that is not there is no error.
func Down(ctx context.Context, name string, deleteData bool, out io.Writer) error {
	if err := host.Root(); err != nil {
		return err
	}
	unlock, err := lock(ctx, name, out)
	if err != nil {
		return err
	}
	defer unlock()
	lost, err := stopLost(ctx, name, true, out)
	if err != nil {
		return err
	}
	c, err := Find(name, out)
	if errors.Is(err, ErrUnknown) {
		if lost == 0 {
			fmt.Fprintf(out, "there is no cluster %s on this machine: nothing to do\n", name)
		}
		return c.sweep()
	}
	if err != nil {
		return err
	}
	if err := c.stopOwn(ctx); err != nil {
		return err
	}
	if deleteData || c.Spec.Ephemeral {
		return c.deleteData()
	}
	fmt.Fprintf(out, "the cluster %s is down; its data stays in %s\n", c.Name, c.dir)
	return nil
}

// stopOwn is stop, unless another cluster has the number by now: one that was made after a reboot, with another folder of clusters.
func (c *Cluster) stopOwn(ctx context.Context) error {
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if owner, err := c.owner(tree); err != nil || owner != "" && owner != c.dir {
		return err
	}
	return c.stop(ctx)
}

func (c *Cluster) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, downLimit)
	defer cancel()
	tree, err := cgroup.Mounted()
	if err != nil {
		return err
	}
	if err := tree.Kill(ctx, c.group()); err != nil {
		return err
	}
	if err := tree.Remove(c.group()); err != nil {
		return err
	}
	unlock, err := host.LockNetwork(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.network().Remove(ctx); err != nil {
		return err
	}
	if last, err := lastOne(); err != nil || !last {
		return err
	}
	return host.ReturnSettings()
}

// lastOne says whether no cluster's bridge is left on this machine.
func lastOne() (bool, error) {
	bridges, err := filepath.Glob("/sys/class/net/klc*")
	return len(bridges) == 0, err
}

// deleteData removes the cluster's folder. It is moved away first, so that a kill meanwhile does not leave half a cluster.
func (c *Cluster) deleteData() error {
	if err := c.sweep(); err != nil {
		return err
	}
	if err := os.Rename(c.dir, c.removed()); err != nil {
		return err
	}
	if err := c.sweep(); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "the cluster %s and its data are gone\n", c.Name)
	return nil
}

func (c *Cluster) removed() string { return filepath.Join(StateDir(), ".removed-"+c.Name) }

// sweep removes what an interrupted deleteData left.
func (c *Cluster) sweep() error {
	if err := os.RemoveAll(c.removed()); err != nil {
		return fmt.Errorf("the data of the cluster %s cannot be removed: %w", c.Name, err)
	}
	return nil
}
