package cluster

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"kubeopera.io/local-cluster/host"
	"kubeopera.io/local-cluster/images"
	"kubeopera.io/local-cluster/network"
	"kubeopera.io/local-cluster/pki"
	"kubeopera.io/local-cluster/registry"
)

//go:embed files
var files embed.FS

var templates = template.Must(template.ParseFS(files, "files/*"))

// render fills one of the embedded files.
func render(name string, values any) ([]byte, error) {
	var text bytes.Buffer
	err := templates.ExecuteTemplate(&text, name, values)
	return text.Bytes(), err
}

// certificates makes sure of everything that is signed, and of the kubeconfigs.
func (c *Cluster) certificates() error {
	authority, err := pki.Open(c.file("pki"))
	if err != nil {
		return err
	}
	address := c.network().Address(0)
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", c.nodeName(0)}
	if err := authority.Server("apiserver", "kube-apiserver", nil, names, []string{address, apiAddress, "127.0.0.1"}); err != nil {
		return err
	}
	if err := authority.Client("apiserver-kubelet", "kube-apiserver-kubelet-client", "system:masters"); err != nil {
		return err
	}
	if err := authority.Client("front-proxy", "front-proxy-client"); err != nil {
		return err
	}
	for _, config := range []struct {
		file, user string
		groups     []string
	}{
		{"controller-manager", "system:kube-controller-manager", nil},
		{"scheduler", "system:kube-scheduler", nil},
		{"kube-proxy", "system:kube-proxy", nil},
		{"kwok", "kwok", []string{"system:masters"}},
	} {
		if err := authority.Kubeconfig(c.file(config.file+".kubeconfig"), c.Name, c.Server(), config.file, config.user, config.groups...); err != nil {
			return err
		}
	}
	for i := range c.Spec.Nodes {
		name := fmt.Sprintf("kubelet-%d", i)
		if err := authority.Server(name, "system:node:"+c.nodeName(i), []string{"system:nodes"}, []string{c.nodeName(i)}, []string{c.network().Address(i)}); err != nil {
			return err
		}
		if err := authority.Kubeconfig(c.file(name+".kubeconfig"), c.Name, c.Server(), name, "system:node:"+c.nodeName(i), "system:nodes"); err != nil {
			return err
		}
	}
	return authority.Kubeconfig(c.Kubeconfig(), "local-"+c.Name, c.Server(), "admin", "local-"+c.Name, "system:masters")
}

// configure writes the configuration of the programs of a node.
func (c *Cluster) configure(i int) error {
	dir := c.machine(i).Dir
	values := map[string]string{
		"PKI":         c.file("pki"),
		"Certificate": fmt.Sprintf("kubelet-%d", i),
		"Group":       c.machine(i).Group,
		"Shims":       c.machine(i).Shims(),
		"Dir":         dir,
		"ProviderID":  c.providerID(i),
		"ResolvConf":  filepath.Join(dir, "resolv.conf"),
		"Pause":       images.Pause,
		"PluginDir":   host.PluginDir(),
		"PodSubnet":   network.PodSubnet(i),
		"Mirror":      registry.Address,
	}
	for from, to := range map[string]string{
		"kubelet.yaml":    "kubelet.yaml",
		"containerd.toml": "containerd.toml",
		"cni.conflist":    "cni/10-local-cluster.conflist",
		"hosts.toml":      "registries/" + registry.Address + "/hosts.toml",
	} {
		content, err := render(from, values)
		if err != nil {
			return err
		}
		if err := writeConfig(filepath.Join(dir, to), content); err != nil {
			return err
		}
	}
	resolvers, err := resolvConf()
	if err != nil {
		return err
	}
	if len(resolvers) == 0 {
		// CoreDNS does not start without one. Where nothing listens, names of the world outside are answered with an error.
		resolvers = []byte("nameserver " + c.network().Gateway() + "\n")
	}
	return writeConfig(filepath.Join(dir, "resolv.conf"), resolvers)
}

func writeConfig(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return pki.Replace(path, content, 0o644)
}

// resolvConf is this machine's resolver configuration without the name servers that listen on loopback: from a node's network namespace
// those are not reached. systemd-resolved keeps the real ones in a file of its own.
func resolvConf() ([]byte, error) {
	var text bytes.Buffer
	for _, path := range []string{"/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"} {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		text.Reset()
		if copyResolvers(&text, content) > 0 {
			break
		}
	}
	return text.Bytes(), nil
}

// copyResolvers copies the name servers that can be reached from elsewhere and says how many there are.
func copyResolvers(to *bytes.Buffer, content []byte) int {
	count := 0
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(fields[1]); err == nil && !address.IsLoopback() {
			fmt.Fprintf(to, "nameserver %s\n", address)
			count++
		}
	}
	return count
}
