package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kubeopera.io/local-cluster/images"
	"kubeopera.io/local-cluster/kubeapi"
	"kubeopera.io/local-cluster/manifests"
	"kubeopera.io/local-cluster/network"
)

// nodeSets are the images that every node has from the start.
var nodeSets = []images.Set{images.Base, images.Metrics, images.Flux}

// startNodes starts containerd on every node in the background; each channel gives an error, or nil.
func (c *Cluster) startNodes(ctx context.Context) []chan error {
	all := make([]chan error, c.Spec.Nodes)
	for i := range all {
		all[i] = make(chan error, 1)
		go func() { all[i] <- c.startContainerd(ctx, i) }()
	}
	return all
}

func (c *Cluster) startContainerd(ctx context.Context, i int) error {
	if err := c.configure(i); err != nil {
		return err
	}
	if err := c.giveImages(i); err != nil {
		return err
	}
	if err := c.start(ctx, containerd, i); err != nil {
		return err
	}
	if err := c.await(ctx, nodeLimit, "containerd does not answer", []string{containerd}, i, func(ctx context.Context) error {
		output, err := c.machine(i).Run(ctx, "ctr", "version")
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	}); err != nil {
		return err
	}
	return c.renewImages(ctx, i)
}

// storeMark tells which store the node's images are from.
func (c *Cluster) storeMark(i int) string { return filepath.Join(c.machine(i).Dir, "images") }

// giveImages gives a new node its images.
func (c *Cluster) giveImages(i int) error {
	data := filepath.Join(c.machine(i).Dir, "containerd")
	if _, err := os.Stat(data); err == nil {
		return nil
	}
	if err := images.Clone(c.programs.images, data); err != nil {
		return err
	}
	return writeConfig(c.storeMark(i), []byte(filepath.Base(c.programs.images)))
}

// renewImages imports what is built differently since the node got its images.
func (c *Cluster) renewImages(ctx context.Context, i int) error {
	if mark, err := os.ReadFile(c.storeMark(i)); err == nil && string(mark) == filepath.Base(c.programs.images) {
		return nil
	}
	for _, set := range nodeSets {
		path, _, err := set.File(ctx, c.out)
		if err != nil {
			return err
		}
		if err := c.importFile(ctx, i, path); err != nil {
			return err
		}
	}
	return writeConfig(c.storeMark(i), []byte(filepath.Base(c.programs.images)))
}

func (c *Cluster) importFile(ctx context.Context, i int, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if output, err := c.machine(i).RunWith(ctx, file, "ctr", "--namespace", "k8s.io", "images", "import", "-"); err != nil {
		return fmt.Errorf("the images in %s cannot be imported on %s: %w: %s", path, c.nodeName(i), err, output)
	}
	return nil
}

// awaitNodes starts the nodes' programs as soon as their first images are there, and waits until pods can run and resolve names.
func (c *Cluster) awaitNodes(ctx context.Context, say *clock, started []chan error) error {
	if len(started) == 0 {
		return nil
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := c.applyManifests(ctx); err != nil {
		return err
	}
	since := make([]time.Time, len(started))
	for i := range started {
		if err := <-started[i]; err != nil {
			return err
		}
		if err := c.start(ctx, kubeProxy, i); err != nil {
			return err
		}
		if new, err := c.startNew(ctx, kubelet, i); err != nil {
			return err
		} else if new {
			since[i] = time.Now().Truncate(time.Second)
		}
	}
	for i := range started {
		if err := c.await(ctx, nodeLimit, "the node "+c.nodeName(i)+" is not ready", []string{containerd, kubelet}, i, func(ctx context.Context) error {
			return c.nodeReady(ctx, client, i, since[i])
		}); err != nil {
			return err
		}
		say.say("node %s ready", c.nodeName(i))
	}
	say.times.Nodes = time.Since(say.started)
	if err := c.await(ctx, dnsLimit, "cluster DNS is not available", []string{containerd, kubelet}, 0, func(ctx context.Context) error {
		if err := available(ctx, client, "kube-system", "coredns"); err != nil {
			return err
		}
		for i := range started {
			if err := c.resolves(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	say.say("cluster DNS available")
	if c.Spec.MetricsServer {
		if err := c.await(ctx, metricsLimit, "metrics-server is not available", []string{containerd, kubelet}, 0, func(ctx context.Context) error {
			return available(ctx, client, "kube-system", "metrics-server")
		}); err != nil {
			return err
		}
		say.say("metrics-server available")
	}
	return nil
}

// nodeReady asks whether the node is ready, and sees to what kubelet cannot say about itself: its pod network. What the node said before
// its kubelet was started does not count.
func (c *Cluster) nodeReady(ctx context.Context, client *kubeapi.Client, i int, since time.Time) error {
	path := "/api/v1/nodes/" + c.nodeName(i)
	var node struct {
		Spec struct {
			PodCIDR string `json:"podCIDR"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type, Status, Message string
				LastHeartbeatTime     time.Time
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := client.Get(ctx, path, &node); err != nil {
		return err
	}
	if node.Spec.PodCIDR == "" {
		subnet := network.PodSubnet(i)
		if err := client.Patch(ctx, path, fmt.Sprintf(`{"spec":{"podCIDR":%q,"podCIDRs":[%q]}}`, subnet, subnet)); err != nil {
			return err
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && !condition.LastHeartbeatTime.Before(since) {
			if condition.Status == "True" {
				return nil
			}
			return errors.New(condition.Message)
		}
	}
	return errors.New("it has not reported yet")
}

// available asks whether a Deployment has all its replicas.
func available(ctx context.Context, client *kubeapi.Client, namespace, name string) error {
	var deployment struct {
		Status struct {
			ObservedGeneration int                                      `json:"observedGeneration"`
			Conditions         []struct{ Type, Status, Message string } `json:"conditions"`
		} `json:"status"`
	}
	if err := client.Get(ctx, "/apis/apps/v1/namespaces/"+namespace+"/deployments/"+name, &deployment); err != nil {
		return err
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == "Available" {
			if condition.Status == "True" {
				return nil
			}
			return errors.New(condition.Message)
		}
	}
	return errors.New("it has no status yet")
}

func (c *Cluster) applyManifests(ctx context.Context) error {
	manifest, err := render("coredns.yaml", map[string]string{"CoreDNS": images.CoreDNS})
	if err != nil {
		return err
	}
	if c.Spec.MetricsServer {
		metrics, err := manifests.MetricsServer(ctx, c.out)
		if err != nil {
			return err
		}
		manifest = slices.Concat(manifest, []byte("---\n"), metrics)
	}
	return c.kubectl(ctx, bytes.NewReader(manifest), io.Discard, "apply", "--server-side", "--force-conflicts", "--filename=-")
}

// kubectl runs the kubectl that was built with the cluster, as its administrator.
func (c *Cluster) kubectl(ctx context.Context, in io.Reader, out io.Writer, arguments ...string) error {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(c.programs.kubernetes, "kubernetes"), append([]string{"kubectl", "--kubeconfig=" + c.Kubeconfig()}, arguments...)...)
	command.Stdin, command.Stdout, command.Stderr = in, out, &complaint
	if err := command.Run(); err != nil {
		return fmt.Errorf("kubectl %s failed: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(complaint.String()))
	}
	return nil
}
