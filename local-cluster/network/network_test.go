package network

import (
	"strings"
	"testing"
)

func TestEveryNameAndAddressFollowsFromTheNumber(t *testing.T) {
	n := Network{Number: 7}
	for got, want := range map[string]string{
		n.Bridge(): "klc7", n.Namespace(2): "klc7-2", n.Subnet().String(): "10.201.7.0/24", n.Gateway(): "10.201.7.1",
		n.Address(0): "10.201.7.10", n.Address(2): "10.201.7.12", PodSubnet(2): "10.244.2.0/24",
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestTheLongestNameOfALinkFitsTheKernel(t *testing.T) {
	if name := (Network{Number: LastNumber}).Namespace(MaxMachines - 1); len(name) > 15 {
		t.Errorf("%s has %d characters", name, len(name))
	}
}

func TestAddressesOfTheLastMachineAreInTheSubnet(t *testing.T) {
	n := Network{Number: LastNumber}
	if address := n.Address(MaxMachines - 1); address != "10.201.200.109" {
		t.Errorf("the address is %s", address)
	}
}

func TestRulesOfOneClusterAreNotTakenForAnothers(t *testing.T) {
	for _, rule := range (Network{Number: 1}).rules() {
		text := strings.Join(rule.match, " ")
		if !strings.HasSuffix(text, "kubeopera local-cluster klc1") {
			t.Errorf("the rule %q is not marked", text)
		}
	}
}

func TestAnAddressOfThisMachineInTheClustersNetworkIsSeen(t *testing.T) {
	n := Network{Number: 3}
	for _, c := range []struct{ link, address, want string }{
		{"eth0", `"local":"10.201.3.77","prefixlen":32`, "10.201.3.77/32 on eth0"},
		{"wg0", `"local":"10.1.2.3","prefixlen":8`, "10.1.2.3/8 on wg0"},
		{"eth0", `"local":"10.201.4.1","prefixlen":24`, ""},
		{"klc3", `"local":"10.201.3.1","prefixlen":24`, ""},
	} {
		taken, err := n.overlap([]byte(`[{"ifname":"` + c.link + `","addr_info":[{` + c.address + `}]}]`))
		if err != nil || taken != c.want {
			t.Errorf("%s on %s: %q, %v", c.address, c.link, taken, err)
		}
	}
}
