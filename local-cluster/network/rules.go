package network

import (
	"context"
	"fmt"
)

// mirrorSubnet is cluster number 0's, which is no cluster's: the mirror's address is in it.
const mirrorSubnet = "10.201.0.0/24"

// rule is one rule of iptables, in the form in which it can be looked for, added and deleted.
type rule struct {
	table, chain string
	match        []string
}

// rules are what this machine needs for the cluster's traffic: out into the world under this machine's address, and allowed through where
// the default is to drop what is forwarded (a machine with Docker). Each carries the bridge's name as its comment.
func (n Network) rules() []rule {
	comment := []string{"-m", "comment", "--comment", "kubeopera local-cluster " + n.Bridge()}
	subnet := n.Subnet().String()
	return []rule{
		{"nat", "POSTROUTING", append([]string{"-s", subnet, "!", "-d", subnet, "-j", "MASQUERADE"}, comment...)},
		{"filter", "FORWARD", append([]string{"-i", n.Bridge(), "-j", "ACCEPT"}, comment...)},
		{"filter", "FORWARD", append([]string{"-o", n.Bridge(), "-j", "ACCEPT"}, comment...)},
		// While the mirror is down its address is nobody's here, and a request for it must not reach another network's. The last
		// rule is inserted on top.
		{"filter", "FORWARD", append([]string{"-i", n.Bridge(), "-d", mirrorSubnet, "-j", "REJECT"}, comment...)},
	}
}

func (n Network) ensureRules(ctx context.Context) error {
	for _, rule := range n.rules() {
		if err := ensureRule(ctx, nil, rule); err != nil {
			return err
		}
	}
	return nil
}

// ensureRule adds the rule when it is not there. With `within` ("netns exec NAME") it does so in a namespace.
func ensureRule(ctx context.Context, within []string, r rule) error {
	if iptables(ctx, within, "-C", r) == nil {
		return nil
	}
	return iptables(ctx, within, "-I", r)
}

// removeRule deletes the rule as often as it is there.
func removeRule(ctx context.Context, r rule) error {
	for range 100 {
		if iptables(ctx, nil, "-C", r) != nil {
			return nil
		}
		if err := iptables(ctx, nil, "-D", r); err != nil {
			return err
		}
	}
	return fmt.Errorf("the iptables rule %v of chain %s is there again and again: something else adds it", r.match, r.chain)
}

func iptables(ctx context.Context, within []string, action string, r rule) error {
	arguments := append([]string{"-w", "10", "-t", r.table, action, r.chain}, r.match...)
	if within == nil {
		return run(ctx, "iptables", arguments...)
	}
	return ip(ctx, append(append([]string{}, within...), append([]string{"iptables"}, arguments...)...)...)
}
