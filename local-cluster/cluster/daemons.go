package cluster

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kubeopera.io/local-cluster/machine"
	"kubeopera.io/local-cluster/network"
)

// The programs of the control plane, in the order in which they start. They run on the first machine.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwok              = "kwok"
)

// The programs of a node.
const (
	containerd = "containerd"
	kubelet    = "kubelet"
	kubeProxy  = "kube-proxy"
)

// Daemons are the names by which the programs of a cluster can be stopped and started; "NAME/2" means the one of the third node.
var Daemons = []string{etcd, apiServer, controllerManager, scheduler, kwok, containerd, kubelet, kubeProxy}

// apiClients are the programs that watch the API server all the time.
var apiClients = []string{controllerManager, scheduler, kwok, kubelet, kubeProxy}

// programsOf are the programs that are to run on the i-th machine.
func (c *Cluster) programsOf(i int) []string {
	var all []string
	if i == 0 {
		all = append(all, etcd, apiServer, controllerManager, scheduler)
		if c.Spec.KwokNodes > 0 {
			all = append(all, kwok)
		}
	}
	if i < c.Spec.Nodes {
		all = append(all, containerd, kubelet, kubeProxy)
	}
	return all
}

const serviceCIDR = "10.96.0.0/16"

// programs are the folders with what is built: the programs, and containerd's store with the images.
type programs struct{ kubernetes, addons, images string }

// daemon is how the program runs on the i-th machine.
func (c *Cluster) daemon(name string, i int) machine.Daemon {
	var arguments []string
	switch name {
	case etcd:
		arguments = c.etcd(i)
	case apiServer:
		arguments = c.apiServer()
	case controllerManager:
		arguments = c.controllerManager()
	case scheduler:
		arguments = []string{"--kubeconfig=" + c.file("scheduler.kubeconfig"), c.leaderElection(), "--profiling=false"}
	case kubelet:
		arguments = c.kubelet(i)
	case kubeProxy:
		arguments = []string{
			"--kubeconfig=" + c.file("kube-proxy.kubeconfig"), "--hostname-override=" + c.nodeName(i), "--proxy-mode=iptables",
			"--cluster-cidr=" + network.PodCIDR,
			// These settings of connection tracking are the whole machine's, not the namespace's.
			"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s",
			"--healthz-bind-address=127.0.0.1:10256",
		}
	case kwok:
		return machine.Daemon{Name: kwok, Command: []string{
			filepath.Join(c.programs.addons, "kwok"), "--kubeconfig=" + c.file("kwok.kubeconfig"), "--config=" + c.file("kwok.yaml"),
			"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-ip=" + c.network().Address(0),
		}}
	case containerd:
		return machine.Daemon{Name: containerd, Command: []string{"containerd", "--config", filepath.Join(c.machine(i).Dir, "containerd.toml"), "--log-level", "warn"}}
	}
	return machine.Daemon{Name: name, Command: append([]string{filepath.Join(c.programs.kubernetes, "kubernetes"), name}, arguments...)}
}

func (c *Cluster) etcd(i int) []string {
	arguments := []string{
		"--data-dir=" + filepath.Join(c.machine(i).Dir, "etcd"), "--name=default", "--log-level=warn",
		"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
		"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
		"--initial-cluster=default=http://127.0.0.1:2380",
		"--auto-compaction-mode=periodic", "--auto-compaction-retention=10m",
	}
	if c.Spec.Ephemeral {
		arguments = append(arguments, "--unsafe-no-fsync")
	}
	return arguments
}

func (c *Cluster) apiServer() []string {
	pki := func(name string) string { return filepath.Join(c.dir, "pki", name) }
	return []string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--secure-port=6443", "--advertise-address=" + c.network().Address(0), "--external-hostname=" + c.network().Address(0),
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"), "--client-ca-file=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("apiserver-kubelet.crt"), "--kubelet-client-key=" + pki("apiserver-kubelet.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki("sa.pub"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--service-cluster-ip-range=" + serviceCIDR,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--requestheader-client-ca-file=" + pki("ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy.crt"), "--proxy-client-key-file=" + pki("front-proxy.key"),
		"--enable-aggregator-routing=true", "--profiling=false",
		"--endpoint-reconciler-type=lease",
	}
}

func (c *Cluster) controllerManager() []string {
	pki := func(name string) string { return filepath.Join(c.dir, "pki", name) }
	config := c.file("controller-manager.kubeconfig")
	return []string{
		"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
		"--service-account-private-key-file=" + pki("sa.key"), "--root-ca-file=" + pki("ca.crt"),
		"--cluster-signing-cert-file=" + pki("ca.crt"), "--cluster-signing-key-file=" + pki("ca.key"),
		"--use-service-account-credentials=true", c.leaderElection(), "--profiling=false",
		"--service-cluster-ip-range=" + serviceCIDR,
		// At the usual 20 requests a second its controllers take some seconds to start.
		"--kube-api-qps=200", "--kube-api-burst=400", "--node-monitor-period=1s",
		// Each machine has its own pod network from the start; no controller hands them out.
		"--allocate-node-cidrs=false",
	}
}

func (c *Cluster) leaderElection() string {
	return fmt.Sprintf("--leader-elect=%t", c.Spec.LeaderElection)
}

func (c *Cluster) kubelet(i int) []string {
	arguments := []string{
		"--config=" + filepath.Join(c.machine(i).Dir, "kubelet.yaml"),
		"--kubeconfig=" + c.file(fmt.Sprintf("kubelet-%d.kubeconfig", i)),
		"--hostname-override=" + c.nodeName(i), "--node-ip=" + c.network().Address(i),
	}
	var pairs []string
	for key, value := range c.Spec.labels() {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	if pairs != nil {
		arguments = append(arguments, "--node-labels="+strings.Join(pairs, ","))
	}
	return arguments
}
