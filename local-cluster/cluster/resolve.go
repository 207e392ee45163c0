package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"time"
)

// ResolveCommand is the hidden command with which this program asks the cluster's DNS from inside a machine.
const ResolveCommand = "__resolve"

// dnsAddress is the address of the service of cluster DNS.
const dnsAddress = "10.96.0.10"

// The service of the API server, with which the DNS is tried.
const (
	apiName    = "kubernetes.default.svc.cluster.local."
	apiAddress = "10.96.0.1"
)

// resolves asks the cluster's DNS for a name on the i-th machine, over the service address: when the answer is right, kube-proxy, the pod
// network and DNS work.
func (c *Cluster) resolves(ctx context.Context, i int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if output, err := c.machine(i).Run(ctx, self, ResolveCommand, apiName); err != nil {
		return fmt.Errorf("on %s: %w: %s", c.nodeName(i), err, output)
	}
	return nil
}

// Resolve is the hidden command. It asks for the API server's name: any other has another address.
func Resolve(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(dnsAddress, "53"))
	}}
	addresses, err := resolver.LookupHost(ctx, name)
	if err == nil && !slices.Equal(addresses, []string{apiAddress}) {
		err = fmt.Errorf("%s is %v and not %s", name, addresses, apiAddress)
	}
	return err
}
