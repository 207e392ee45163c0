// Package network gives a cluster its addresses: a bridge on this machine and, for each of the cluster's machines, a named network
// namespace joined to it. All names and addresses follow from the cluster's number, so everything can be made sure of and taken away
// again without a record.
package network

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Numbers that clusters may have.
const (
	FirstNumber = 1
	LastNumber  = 200
)

// PodCIDR holds the pods of every cluster; they never meet, because each cluster routes them in its own namespaces.
const PodCIDR = "10.244.0.0/16"

// MaxMachines is how many machines a cluster may have.
const MaxMachines = 100

// Network is the network of one cluster.
type Network struct{ Number int }

// Bridge is the name of the bridge on this machine.
func (n Network) Bridge() string { return fmt.Sprintf("klc%d", n.Number) }

// Namespace is the name of a machine's network namespace, and of this machine's end of the cable to it.
func (n Network) Namespace(machine int) string { return fmt.Sprintf("klc%d-%d", n.Number, machine) }

// Subnet is the network of the cluster's machines.
func (n Network) Subnet() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 201, byte(n.Number), 0}), 24)
}

// Gateway is this machine's address in the cluster's network: pods reach this machine there.
func (n Network) Gateway() string { return fmt.Sprintf("10.201.%d.1", n.Number) }

// Address is a machine's address.
func (n Network) Address(machine int) string {
	return fmt.Sprintf("10.201.%d.%d", n.Number, 10+machine)
}

// PodSubnet is the network of the pods on a machine.
func PodSubnet(machine int) string { return fmt.Sprintf("10.244.%d.0/24", machine) }

// Ensure makes the bridge and the first machines' namespaces, or repairs what is missing of them. Owner is written at the bridge, for
// people and for InUse.
func (n Network) Ensure(ctx context.Context, owner string, machines int) error {
	bridge := n.Bridge()
	if !linkExists(bridge) {
		if err := ip(ctx, "link", "add", bridge, "type", "bridge"); err != nil {
			return err
		}
	}
	for _, step := range [][]string{
		{"link", "set", bridge, "alias", owner},
		{"addr", "replace", n.Gateway() + "/24", "dev", bridge},
		{"link", "set", bridge, "up"},
	} {
		if err := ip(ctx, step...); err != nil {
			return err
		}
	}
	if err := n.ensureRules(ctx); err != nil {
		return err
	}
	for machine := range machines {
		if err := n.ensureMachine(ctx, machine, machines); err != nil {
			return err
		}
	}
	return nil
}

func (n Network) ensureMachine(ctx context.Context, machine, machines int) error {
	namespace := n.Namespace(machine)
	// `ip netns exec` fails when a killed `ip netns add` left an empty file behind.
	if ip(ctx, "netns", "exec", namespace, "true") != nil {
		_ = ip(ctx, "netns", "delete", namespace)
		if err := ip(ctx, "netns", "add", namespace); err != nil {
			return err
		}
	}
	if !linkExists(namespace) || ip(ctx, "-n", namespace, "link", "show", "eth0") != nil {
		_ = ip(ctx, "link", "delete", namespace)
		if err := ip(ctx, "link", "add", namespace, "type", "veth", "peer", "name", "eth0", "netns", namespace); err != nil {
			return err
		}
	}
	steps := [][]string{
		{"link", "set", namespace, "master", n.Bridge(), "up"},
		{"-n", namespace, "link", "set", "lo", "up"},
		{"-n", namespace, "addr", "replace", n.Address(machine) + "/24", "dev", "eth0"},
		{"-n", namespace, "link", "set", "eth0", "up"},
		{"-n", namespace, "route", "replace", "default", "via", n.Gateway()},
		{"netns", "exec", namespace, "sysctl", "-qw", "net.ipv4.ip_forward=1"},
	}
	for other := range machines {
		if other != machine {
			steps = append(steps, []string{"-n", namespace, "route", "replace", PodSubnet(other), "via", n.Address(other)})
		}
	}
	for _, step := range steps {
		if err := ip(ctx, step...); err != nil {
			return err
		}
	}
	return ensureRule(ctx, []string{"netns", "exec", namespace}, rule{"nat", "POSTROUTING", []string{"-s", PodCIDR, "!", "-d", PodCIDR, "-j", "MASQUERADE"}})
}

// Remove takes everything away, also of machines that are no longer known.
func (n Network) Remove(ctx context.Context) error {
	for _, rule := range n.rules() {
		if err := removeRule(ctx, rule); err != nil {
			return err
		}
	}
	namespaces, err := os.ReadDir("/run/netns")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, namespace := range namespaces {
		if strings.HasPrefix(namespace.Name(), n.Bridge()+"-") {
			if linkExists(namespace.Name()) {
				// Deleting one end deletes the other, also when a process still holds the namespace.
				if err := ip(ctx, "link", "delete", namespace.Name()); err != nil && linkExists(namespace.Name()) {
					return err
				}
			}
			if err := ip(ctx, "netns", "delete", namespace.Name()); err != nil {
				return err
			}
		}
	}
	if linkExists(n.Bridge()) {
		if err := ip(ctx, "link", "delete", n.Bridge()); err != nil {
			return err
		}
	}
	unmountNamespaces()
	return nil
}

// unmountNamespaces takes away the mount that the first `ip netns add` makes, once no namespace is left. When somebody makes one at this
// moment, the mount is busy and stays.
func unmountNamespaces() {
	if left, err := os.ReadDir("/run/netns"); err == nil && len(left) == 0 {
		_ = syscall.Unmount("/run/netns", 0)
	}
}

// Owner is what Ensure wrote at the bridge: "" when there is no bridge.
func (n Network) Owner() string {
	alias, err := os.ReadFile("/sys/class/net/" + n.Bridge() + "/ifalias")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(alias))
}

// Exists says whether the bridge is there.
func (n Network) Exists() bool { return linkExists(n.Bridge()) }

// Taken says which address of this machine overlaps with the cluster's network, other than on the cluster's own bridge.
func (n Network) Taken(ctx context.Context) (string, error) {
	output, err := exec.CommandContext(ctx, "ip", "-json", "-4", "addr", "show").Output()
	if err != nil {
		return "", fmt.Errorf("the addresses of this machine cannot be listed: %w", err)
	}
	return n.overlap(output)
}

// overlap looks for such an address in what `ip -json addr` prints.
func (n Network) overlap(output []byte) (string, error) {
	var links []struct {
		Name      string `json:"ifname"`
		Addresses []struct {
			Local  string `json:"local"`
			Length int    `json:"prefixlen"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal(output, &links); err != nil {
		return "", fmt.Errorf("the list of this machine's addresses is not understood: %w", err)
	}
	for _, link := range links {
		if link.Name == n.Bridge() {
			continue
		}
		for _, address := range link.Addresses {
			local, err := netip.ParseAddr(address.Local)
			if err == nil && netip.PrefixFrom(local, address.Length).Masked().Overlaps(n.Subnet()) {
				return fmt.Sprintf("%s/%d on %s", address.Local, address.Length, link.Name), nil
			}
		}
	}
	return "", nil
}

func linkExists(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name)
	return err == nil
}

func ip(ctx context.Context, arguments ...string) error { return run(ctx, "ip", arguments...) }

func run(ctx context.Context, program string, arguments ...string) error {
	var output bytes.Buffer
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("`%s %s` failed: %w: %s", program, strings.Join(arguments, " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}
