package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	roomPerNode      = 1000 << 20
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
	if err := spec.Check(); err != nil {
		return nil, Times{}, err
	}
	if err := host.Check(!spec.ControlPlaneOnly); err != nil {
		return nil, Times{}, err
	}
	built, err := ensurePrograms(ctx, spec, out)
	if err != nil {
		return nil, Times{}, err
	}
	unlock, err := lock(ctx, name, out)
	if err != nil {
		return nil, Times{}, err
	}
	defer unlock()
	c, err := findOrCreate(ctx, name, spec, out)
	if err != nil {
		return nil, Times{}, err
	}
	c.programs = built
	times, err := c.up(ctx)
	return c, times, err
}

func findOrCreate(ctx context.Context, name string, spec Spec, out io.Writer) (*Cluster, error) {
	if _, err := stopLost(ctx, name, false, out); err != nil {
		return nil, err
	}
	c, err := Find(name, out)
	if !errors.Is(err, ErrUnknown) {
		if err == nil {
			err = c.adopt(spec)
		}
		return c, err
	}
	if err := host.Room(StateDir(), uint64(roomControlPlane+roomPerNode*spec.Nodes)); err != nil {
		return nil, err
	}
	if err := c.sweep(); err != nil {
		return nil, err
	}
	return c, create(ctx, c, spec)
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
	if !nameRule.MatchString(name) {
		return nil, badName(name)
	}
	return host.Lock(ctx, filepath.Join(StateDir(), ".locks", name), func() {
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
	if spec.Nodes > 0 {
		if p.images, err = images.Store(ctx, out, nodeSets...); err != nil {
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

func (c *Cluster) up(ctx context.Context) (Times, error) {
	say := &clock{out: c.out, started: time.Now()}
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
	background, cancel := context.WithCancel(ctx)
	defer cancel()
	containers := c.startNodes(background)
	if err := c.startControlPlane(ctx, say); err != nil {
		return say.times, err
	}
	if err := c.startKwok(ctx, say); err != nil {
		return say.times, err
	}
	if err := c.awaitNodes(ctx, say, containers); err != nil {
		return say.times, err
	}
	if err := c.startRest(ctx); err != nil {
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
	// The last `down` of another cluster gives the settings back when it sees no bridge: not between these two steps.
	unlock, err := host.LockNetwork(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := host.BorrowSettings(); err != nil {
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
func (c *Cluster) start(ctx context.Context, name string, i int) error {
	_, err := c.startNew(ctx, name, i)
	return err
}

// startRest starts what ended meanwhile, apart from what was stopped on purpose.
func (c *Cluster) startRest(ctx context.Context) error {
	for i := range c.machines() {
		for _, name := range c.programsOf(i) {
			if _, err := os.Stat(c.stopped(name, i)); err == nil {
				continue
			}
			if err := c.start(ctx, name, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// startNew is start and says whether the program was started by it.
func (c *Cluster) startNew(ctx context.Context, name string, i int) (bool, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := os.RemoveAll(c.stopped(name, i)); err != nil {
		return false, err
	}
	return c.machine(i).Start(ctx, c.daemon(name, i))
}

func (c *Cluster) startControlPlane(ctx context.Context, say *clock) error {
	if err := c.start(ctx, etcd, 0); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	say.times.APIServer = time.Since(say.started)
	say.say("API server ready at %s", c.Server())
	for _, name := range []string{controllerManager, scheduler} {
		if err := c.start(ctx, name, 0); err != nil {
			return err
		}
	}
	return nil
}

// startAPIServer makes sure that the API server runs and waits until it is ready. When it was away, its clients are ended, for their
// caller to start again: after a minute without it they would only ask again up to a minute later.
func (c *Cluster) startAPIServer(ctx context.Context) error {
	started, err := c.startNew(ctx, apiServer, 0)
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := c.await(ctx, apiLimit, "the API server is not ready", []string{etcd, apiServer}, 0, client.Ready); err != nil || !started {
		return err
	}
	for i := range c.machines() {
		for _, name := range c.programsOf(i) {
			if !slices.Contains(apiClients, name) {
				continue
			}
			if err := c.machine(i).Stop(ctx, name, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) client() (*kubeapi.Client, error) {
	pki := func(name string) string { return filepath.Join(c.dir, "pki", name) }
	return kubeapi.New(c.Server(), pki("ca.crt"), pki("admin.crt"), pki("admin.key"))
}

// restarts is how often a program that ends while it is waited for is started again.
const restarts = 2

// await asks again and again until there is no error. A program it depends on that ends meanwhile is started again; when it ends once
// more, or the time is up, the error says so with the end of that program's log.
func (c *Cluster) await(ctx context.Context, limit time.Duration, trouble string, daemons []string, i int, ask func(context.Context) error) error {
	deadline := time.Now().Add(limit)
	ended := map[string]int{}
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		for _, name := range daemons {
			started, failure := c.startNew(ctx, name, i)
			if failure != nil {
				return failure
			}
			if started {
				ended[name]++
			}
			if ended[name] > restarts {
				return fmt.Errorf("%s: %s on %s ends again and again; %s", trouble, name, c.nodeName(i), c.logEnd(name, i))
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s after %s: %w; %s", trouble, limit, err, c.logEnd(daemons[len(daemons)-1], i))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// logEnd is the end of a program's log, with the place of the rest.
func (c *Cluster) logEnd(daemon string, i int) string {
	path := c.machine(i).LogFile(daemon)
	return fmt.Sprintf("the end of its log %s:\n%s", path, tail(path))
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
