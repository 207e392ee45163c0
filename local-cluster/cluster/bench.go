package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/manifests"
)

// Figure is one thing that was measured, with what it is to be at most.
type Figure struct {
	What           string
	Measured, Goal float64
	Unit           string
}

// fluxLimit is how long Flux may take to be available in a measurement.
const fluxLimit = 120 * time.Second

// Bench starts a control plane alone and then a cluster with a node and Flux, measures both, and removes them again.
func Bench(ctx context.Context, out io.Writer) ([]Figure, error) {
	alone, err := benchControlPlane(ctx, out)
	if err != nil {
		return nil, err
	}
	whole, err := benchNode(ctx, out)
	return append(whole, alone), err
}

func benchControlPlane(ctx context.Context, out io.Writer) (figure Figure, err error) {
	name := fmt.Sprintf("bench-%d-control", os.Getpid())
	defer func() { err = firstError(err, Down(context.WithoutCancel(ctx), name, true, out)) }()
	c, _, err := Up(ctx, name, Spec{ControlPlaneOnly: true, Ephemeral: true}, out)
	if err != nil {
		return Figure{}, err
	}
	memory, err := c.Memory()
	return Figure{"memory, control plane only", gigabytes(memory), 0.75, "GB"}, err
}

func benchNode(ctx context.Context, out io.Writer) (figures []Figure, err error) {
	name := fmt.Sprintf("bench-%d-node", os.Getpid())
	manifest, _, err := manifests.Flux(ctx, out)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, Down(context.WithoutCancel(ctx), name, true, out)) }()
	c, times, err := Up(ctx, name, Spec{Nodes: 1, Ephemeral: true}, out)
	if err != nil {
		return nil, err
	}
	applied := time.Now()
	if err := c.applyFlux(ctx, manifest); err != nil {
		return nil, err
	}
	available := times.All + time.Since(applied)
	fmt.Fprintf(out, "%5.1f s  Flux available\n", available.Seconds())
	memory, err := c.Memory()
	return []Figure{
		{"API server ready", times.APIServer.Seconds(), 5, "s"},
		{"node ready", times.Nodes.Seconds(), 10, "s"},
		{"Flux available", available.Seconds(), 25, "s"},
		{"memory, with node and Flux", gigabytes(memory), 1.4, "GB"},
	}, err
}

// applyFlux installs Flux and waits until its four controllers are available.
func (c *Cluster) applyFlux(ctx context.Context, manifest string) error {
	if err := c.kubectl(ctx, nil, io.Discard, "apply", "--server-side", "--filename="+manifest); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	for _, controller := range build.Flux.Programs {
		if err := c.await(ctx, fluxLimit, controller+" is not available", []string{containerd, kubelet}, 0, func(ctx context.Context) error {
			return available(ctx, client, "flux-system", controller)
		}); err != nil {
			return err
		}
	}
	return nil
}

func gigabytes(bytes uint64) float64 { return float64(bytes) / 1e9 }

func firstError(errors ...error) error {
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}
