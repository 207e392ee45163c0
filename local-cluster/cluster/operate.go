package cluster

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubeopera.io/local-cluster/host"
)

// stopGrace is how long a program has to end by itself before it is killed.
const stopGrace = 10 * time.Second

// running finds the cluster and locks it; it is an error when it does not run.
func running(ctx context.Context, name string, out io.Writer) (*Cluster, func(), error) {
	if err := host.Root(); err != nil {
		return nil, nil, err
	}
	unlock, err := lock(ctx, name, out)
	if err != nil {
		return nil, nil, err
	}
	c, err := Find(name, out)
	if err == nil && !c.machine(0).Alive() {
		err = fmt.Errorf("the cluster %s does not run: start it with `local-cluster up %s %s`", name, name, c.Spec.Options())
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return c, unlock, nil
}

// component takes "kubelet/1" apart: the program, and the machine it runs on.
func (c *Cluster) component(what string) (string, int, error) {
	name, number, numbered := strings.Cut(what, "/")
	if !slices.Contains(Daemons, name) {
		return "", 0, fmt.Errorf("a cluster has no program %q: there are %s", name, strings.Join(Daemons, ", "))
	}
	if !numbered {
		return name, 0, nil
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= c.machines() || (i > 0 && !slices.Contains([]string{containerd, kubelet, kubeProxy}, name)) {
		return "", 0, fmt.Errorf("the cluster %s has no program %q: its machines are numbered 0 to %d, and the control plane is on machine 0", c.Name, what, c.machines()-1)
	}
	return name, i, nil
}

// StopDaemon ends one program of a running cluster, at once with kill; `up` or StartDaemon brings it back.
func StopDaemon(ctx context.Context, name, what string, kill bool, out io.Writer) error {
	c, unlock, err := running(ctx, name, out)
	if err != nil {
		return err
	}
	defer unlock()
	daemon, i, err := c.component(what)
	if err != nil {
		return err
	}
	grace := stopGrace
	if kill {
		grace = 0
	}
	if err := c.machine(i).Stop(ctx, daemon, grace); err != nil {
		return err
	}
	if err := writeConfig(c.stopped(daemon, i), nil); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s on %s is stopped\n", daemon, c.nodeName(i))
	return nil
}

// StartDaemon makes sure that one program of a running cluster runs; for the API server it waits until that is ready.
func StartDaemon(ctx context.Context, name, what string, out io.Writer) error {
	c, unlock, err := running(ctx, name, out)
	if err != nil {
		return err
	}
	defer unlock()
	daemon, i, err := c.component(what)
	if err != nil {
		return err
	}
	if c.programs, err = ensurePrograms(ctx, c.Spec, out); err != nil {
		return err
	}
	if daemon != apiServer {
		err = c.start(ctx, daemon, i)
	} else if err = c.startAPIServer(ctx); err == nil {
		err = c.startRest(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s on %s runs\n", daemon, c.nodeName(i))
	return nil
}

// stopped marks a program that was stopped on purpose. It is not in the machine's folder: what an ephemeral machine has goes with it.
func (c *Cluster) stopped(daemon string, i int) string {
	return c.file(fmt.Sprintf("stopped/%s-%d", daemon, i))
}

// LoadImages imports image files (as `docker save` or an OCI layout in a tar file) on every node of a running cluster.
func LoadImages(ctx context.Context, name string, paths []string, out io.Writer) error {
	c, unlock, err := running(ctx, name, out)
	if err != nil {
		return err
	}
	defer unlock()
	if c.Spec.Nodes == 0 {
		return fmt.Errorf("the cluster %s is a control plane alone and runs no images", name)
	}
	for _, path := range paths {
		for i := range c.Spec.Nodes {
			if err := c.importFile(ctx, i, path); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s is imported on %d node(s) of %s\n", path, c.Spec.Nodes, name)
	}
	return nil
}
