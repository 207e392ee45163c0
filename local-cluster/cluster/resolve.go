package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

// ResolveCommand is the hidden command with which this program asks the cluster's DNS from inside a machine.
const ResolveCommand = "__resolve"

// dnsAddress is the address of the service of cluster DNS.
const dnsAddress = "10.96.0.10"

// resolves asks the cluster's DNS for a name, over the service address: when there is an answer, kube-proxy, the pod network and DNS work.
func (c *Cluster) resolves(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if output, err := c.machine(0).Run(ctx, self, ResolveCommand, "kubernetes.default.svc.cluster.local."); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// Resolve is the hidden command.
func Resolve(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(dnsAddress, "53"))
	}}
	_, err := resolver.LookupHost(ctx, name)
	return err
}
