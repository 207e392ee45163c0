package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/host"
	"kubeopera.io/local-cluster/images"
	"kubeopera.io/local-cluster/kubeapi"
)

// How long to wait for what, on a busy machine. Each is a multiple of what it takes on an idle one.
const (
	apiLimit  = 90 * time.Second
	nodeLimit = 90 * time.Second
	dnsLimit  = 120 * time.Second
	// metrics-server waits 20 s before it is asked the first time, and answers only when it has read every node.
	metricsLimit = 180 * time.Second
)

// room on the disk that a cluster needs at least: images, container layers and data.
const (
	roomPerNode      = 1500 << 20
	roomControlPlane = 300 << 20
)

// Times are how long after the start of Up something was so. What is built before does not count.
type Times struct {
	APIServer time.Duration
	Nodes     time.Duration
	All       time.Duration
}

// Up makes sure that the cluster runs as it is asked to, and returns when its nodes are ready and names are resolved in it.
func Up(ctx context.Context, name string, spec Spec, out io.Writer) (*Cluster, Times, error) {
	c, p, unlock, err := prepare(ctx, name, spec, out)
	if err != nil {
		return nil, Times{}, err
	}
	defer unlock()
	times, err := c.up(ctx, p)
	return c, times, err
}

// prepare checks the machine, builds, and finds or creates the cluster; it stays locked until unlock is called.
func prepare(ctx context.Context, name string, spec Spec, out io.Writer) (*Cluster, programs, func(), error) {
	p, err := ensureMeans(ctx, spec, out)
	if err != nil {
		return nil, p, nil, err
	}
	unlock, err := lock(ctx, name, out)
	if err != nil {
		return nil, p, nil, err
	}
	c, err := findOrCreate(ctx, name, spec, out)
	if err != nil {
		unlock()
	}
	return c, p, unlock, err
}

// ensureMeans checks that this machine has what a cluster needs, and builds the rest.
func ensureMeans(ctx context.Context, spec Spec, out io.Writer) (programs, error) {
	if err := spec.Check(); err != nil {
		return programs{}, err
	}
	if err := host.Check(!spec.ControlPlaneOnly); err != nil {
		return programs{}, err
	}
	return ensurePrograms(ctx, spec, out)
}

func findOrCreate(ctx context.Context, name string, spec Spec, out io.Writer) (*Cluster, error) {
	c, err := Find(name, out)
	switch {
	case errors.Is(err, ErrUnknown):
		if err := os.MkdirAll(StateDir(), 0o711); err != nil {
			return nil, fmt.Errorf("the folder for clusters cannot be made: %w", err)
		}
		if err := host.Room(StateDir(), uint64(roomControlPlane+roomPerNode*spec.Nodes)); err != nil {
			return nil, err
		}
		if err := c.sweep(); err != nil {
			return nil, err
		}
		return c, create(ctx, c, spec)
	case err != nil:
		return nil, err
	default:
		return c, c.adopt(spec)
	}
}

// adopt takes over what may change on a cluster that exists: more nodes. All else stays as it was made.
func (c *Cluster) adopt(spec Spec) error {
	wanted := spec
	wanted.Nodes, wanted.KwokNodes, wanted.MetricsServer = c.Spec.Nodes, c.Spec.KwokNodes, c.Spec.MetricsServer
	if !wanted.Equal(c.Spec) || spec.Nodes < c.Spec.Nodes || spec.KwokNodes < c.Spec.KwokNodes {
		return fmt.Errorf("the cluster %s exists and was made with other options (%s): use those, or remove it first with `local-cluster down %s --delete-data`", c.Name, c.Spec.Options(), c.Name)
	}
	c.Spec.Nodes, c.Spec.KwokNodes, c.Spec.MetricsServer = spec.Nodes, spec.KwokNodes, spec.MetricsServer || c.Spec.MetricsServer
	return c.save()
}

// lock lets one command at a time work on a cluster.
func lock(ctx context.Context, name string, out io.Writer) (func(), error) {
	return host.Lock(ctx, "cluster-"+strings.ReplaceAll(StateDir(), "/", "_")+"-"+name, func() {
		fmt.Fprintf(out, "another command works on the cluster %s: waiting for it\n", name)
	})
}

// ensurePrograms builds what the cluster consists of, or finds it built.
func ensurePrograms(ctx context.Context, spec Spec, out io.Writer) (programs, error) {
	var p programs
	var err error
	if p.kubernetes, err = build.Kubernetes.Ensure(ctx, out); err != nil {
		return p, err
	}
	if !spec.ControlPlaneOnly || spec.KwokNodes > 0 {
		if p.addons, err = build.Addons.Ensure(ctx, out); err != nil {
			return p, err
		}
	}
	return p, nil
}

// clock says what was done and how long it took since the start.
type clock struct {
	out     io.Writer
	started time.Time
	mu      sync.Mutex
	times   Times
}

func (t *clock) say(format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%5.1f s  %s\n", time.Since(t.started).Seconds(), fmt.Sprintf(format, values...))
}

func (c *Cluster) up(ctx context.Context, p programs) (Times, error) {
	say := &clock{out: c.out, started: time.Now()}
	if err := host.BorrowSettings(); err != nil {
		return say.times, err
	}
	if err := c.ensureNetwork(ctx); err != nil {
		return say.times, err
	}
	for i := range c.machines() {
		started, err := c.machine(i).Boot(ctx, func() error { return c.fresh(i) })
		if err != nil {
			return say.times, err
		}
		if started {
			say.say("machine %s started at %s", c.nodeName(i), c.network().Address(i))
		}
	}
	if err := c.certificates(); err != nil {
		return say.times, err
	}
	// Images are imported while the control plane starts: each waits for what the other does not need.
	background, cancel := context.WithCancel(ctx)
	defer cancel()
	imported := c.startNodes(background, p, say)
	if err := c.startControlPlane(ctx, p, say); err != nil {
		return say.times, err
	}
	if err := c.startKwok(ctx, p, say); err != nil {
		return say.times, err
	}
	if err := c.awaitNodes(ctx, p, say, imported); err != nil {
		return say.times, err
	}
	say.say("the cluster %s runs; kubeconfig: %s", c.Name, c.Kubeconfig())
	say.times.All = time.Since(say.started)
	return say.times, nil
}

func (c *Cluster) ensureNetwork(ctx context.Context) error {
	n := c.network()
	if owner := n.Owner(); owner != "" && owner != c.dir {
		return fmt.Errorf("the network %s of the cluster %s is used by the cluster in %s: stop that one first", n.Subnet(), c.Name, owner)
	}
	if taken, err := n.Taken(ctx); err != nil || taken != "" {
		if err == nil {
			err = fmt.Errorf("the network %s of the cluster %s overlaps with this machine's address %s: change that address, or make the cluster anew with `local-cluster down %s --delete-data`", n.Subnet(), c.Name, taken, c.Name)
		}
		return err
	}
	return n.Ensure(ctx, c.dir, c.machines())
}

// fresh prepares the folder of a machine that starts: what an ephemeral one left is thrown away.
func (c *Cluster) fresh(i int) error {
	dir := c.machine(i).Dir
	if c.Spec.Ephemeral {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o711)
}

// start makes sure that a program runs on the i-th machine.
func (c *Cluster) start(ctx context.Context, name string, i int, p programs) error {
	_, err := c.machine(i).Start(ctx, c.daemon(name, i, p))
	return err
}

func (c *Cluster) startControlPlane(ctx context.Context, p programs, say *clock) error {
	for _, name := range []string{etcd, apiServer} {
		if err := c.start(ctx, name, 0, p); err != nil {
			return err
		}
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := c.await(ctx, apiLimit, "the API server is not ready", []string{etcd, apiServer}, 0, client.Ready); err != nil {
		return err
	}
	say.times.APIServer = time.Since(say.started)
	say.say("API server ready at %s", c.Server())
	for _, name := range []string{controllerManager, scheduler} {
		if err := c.start(ctx, name, 0, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) client() (*kubeapi.Client, error) {
	pki := func(name string) string { return filepath.Join(c.dir, "pki", name) }
	return kubeapi.New(c.Server(), pki("ca.crt"), pki("admin.crt"), pki("admin.key"))
}

// await asks again and again until there is no error. When a program it depends on ends meanwhile, or the time is up, the error says so
// with the end of that program's log.
func (c *Cluster) await(ctx context.Context, limit time.Duration, trouble string, daemons []string, i int, ask func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		for _, name := range daemons {
			if !c.machine(i).Running(name) {
				return fmt.Errorf("%s: %s on %s ended; the end of its log %s:\n%s", trouble, name, c.nodeName(i), c.machine(i).LogFile(name), tail(c.machine(i).LogFile(name)))
			}
		}
		if time.Now().After(deadline) {
			last := daemons[len(daemons)-1]
			return fmt.Errorf("%s after %s: %w; the end of the log %s:\n%s", trouble, limit, err, c.machine(i).LogFile(last), tail(c.machine(i).LogFile(last)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail is the end of a log file.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 8192 {
		_, _ = file.Seek(-8192, io.SeekEnd)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// nodeSets are the images that every node has.
var nodeSets = []images.Set{images.Base, images.Metrics, images.Flux}
