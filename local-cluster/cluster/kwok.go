package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"kubeopera.io/local-cluster/manifests"
)

// kwokLimit is how long kwok may take to answer for one fake node, and kwokMore for each further hundred.
const (
	kwokLimit = 60 * time.Second
	kwokMore  = 10 * time.Second
)

// startKwok makes the nodes that only exist in the API and starts kwok, which answers for them and for the pods on them. They carry kwok's
// usual taint, so that no pod lands on one that does not ask for it.
func (c *Cluster) startKwok(ctx context.Context, say *clock) error {
	if c.Spec.KwokNodes == 0 {
		return nil
	}
	stages, err := manifests.KwokStages(ctx, c.out)
	if err != nil {
		return err
	}
	if err := writeConfig(c.file("kwok.yaml"), stages); err != nil {
		return err
	}
	if err := c.start(ctx, kwok, 0); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if there, err := c.countFakeNodes(ctx, client.Get, false); err != nil {
		return err
	} else if there < c.Spec.KwokNodes {
		if err := c.kubectl(ctx, bytes.NewReader(c.fakeNodes()), io.Discard, "apply", "--server-side", "--filename=-"); err != nil {
			return err
		}
	}
	limit := kwokLimit + kwokMore*time.Duration(c.Spec.KwokNodes/100)
	if err := c.await(ctx, limit, "the nodes of kwok are not ready", []string{kwok}, 0, func(ctx context.Context) error {
		ready, err := c.countFakeNodes(ctx, client.Get, true)
		if err == nil && ready < c.Spec.KwokNodes {
			err = fmt.Errorf("%d of %d are", ready, c.Spec.KwokNodes)
		}
		return err
	}); err != nil {
		return err
	}
	say.say("%d nodes of kwok ready", c.Spec.KwokNodes)
	return nil
}

// countFakeNodes counts the fake nodes, all or the ready ones.
func (c *Cluster) countFakeNodes(ctx context.Context, get func(context.Context, string, any) error, ready bool) (int, error) {
	var nodes struct {
		Items []struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
	}
	if err := get(ctx, "/api/v1/nodes?labelSelector=type%3Dkwok", &nodes); err != nil {
		return 0, err
	}
	if !ready {
		return len(nodes.Items), nil
	}
	count := 0
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == "Ready" && condition.Status == "True" {
				count++
			}
		}
	}
	return count, nil
}

// fakeNodes are the nodes as YAML: 32 processors, 256 GiB and 110 pods each, with the provider ID and labels that all nodes have.
func (c *Cluster) fakeNodes() []byte {
	var text bytes.Buffer
	for j := range c.Spec.KwokNodes {
		name := fmt.Sprintf("%s-kwok-%d", c.Name, j)
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  annotations: {kwok.x-k8s.io/node: fake, node.alpha.kubernetes.io/ttl: \"0\"}\n  labels:\n", name)
		labels := c.Spec.labels()
		maps.Copy(labels, map[string]string{
			"type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/role": "agent",
		})
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			fmt.Fprintf(&text, "    %q: %q\n", key, labels[key])
		}
		text.WriteString("spec:\n  taints: [{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}]\n")
		if c.Spec.ProviderID != "" {
			fmt.Fprintf(&text, "  providerID: %q\n", c.providerID(max(1, c.Spec.Nodes)+j))
		}
		text.WriteString("status:\n  allocatable: &room {cpu: \"32\", memory: 256Gi, pods: \"110\"}\n  capacity: *room\n")
	}
	return text.Bytes()
}
