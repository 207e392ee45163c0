// Package images is the list of container images that are made here, under the names upstream gives them, so that manifests stay as
// upstream ships them. Each set is one file that containerd imports.
package images

import (
	"context"
	"io"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/cache"
	"kubeopera.io/local-cluster/image"
)

// Names that configuration and manifests of a cluster refer to.
const (
	Pause         = "registry.k8s.io/pause:3.10.1"
	CoreDNS       = "registry.k8s.io/coredns/coredns:v" + build.CoreDNSVersion
	MetricsServer = "registry.k8s.io/metrics-server/metrics-server:" + build.MetricsServerVersion
)

// layout is raised when the images come out differently from the same programs.
const layout = "1"

// Set is some images that are imported together.
type Set struct {
	// Name is what the set is asked for by.
	Name       string
	components []build.Component
	images     func(programs map[string]string) []image.Image
}

// The sets: what every node needs, Flux's controllers, metrics-server, and what `kubeadm config images list` names.
var (
	Base    = Set{"base", []build.Component{build.Pause, build.Addons}, base}
	Flux    = Set{"flux", []build.Component{build.Flux}, flux}
	Metrics = Set{"metrics-server", []build.Component{build.MetricsServer}, metricsServer}
	Kubeadm = Set{"kubeadm", []build.Component{build.Kubernetes, build.Pause, build.Addons}, kubeadm}
)

// All are the sets by which images can be asked for.
var All = []Set{Base, Flux, Metrics, Kubeadm}

// File is the path of the set's image file, and the key under which its content is known. What is missing is built.
func (s Set) File(ctx context.Context, progress io.Writer) (path, key string, err error) {
	programs := map[string]string{}
	hash := cache.NewKey().Text(layout, s.Name)
	for _, component := range s.components {
		dir, err := component.Ensure(ctx, progress)
		if err != nil {
			return "", "", err
		}
		hash.Text(component.Name, filepath.Base(dir))
		for _, program := range component.Programs {
			programs[program] = filepath.Join(dir, program)
		}
	}
	key = hash.String()
	dir, err := cache.Ensure(ctx, filepath.Join("images", s.Name), key, func(dir string) error {
		return image.Write(filepath.Join(dir, "images.tar"), s.images(programs)...)
	})
	return filepath.Join(dir, "images.tar"), key, err
}

func base(programs map[string]string) []image.Image {
	return []image.Image{pause(programs), coreDNS(programs, CoreDNS)}
}

func pause(programs map[string]string) image.Image {
	return image.Image{Reference: Pause, Files: []image.File{image.Program(programs["pause"], "pause")}, Entrypoint: []string{"/usr/local/bin/pause"}}
}

func coreDNS(programs map[string]string, reference string) image.Image {
	return image.Image{
		Reference:  reference,
		User:       "0", // it binds port 53
		Files:      []image.File{image.Program(programs["coredns"], "coredns"), {Target: "/coredns", Link: "/usr/local/bin/coredns"}, image.Certificates()},
		Entrypoint: []string{"/coredns"},
	}
}

func flux(programs map[string]string) []image.Image {
	var all []image.Image
	for _, name := range build.Flux.Programs {
		all = append(all, image.Image{
			Reference:  "ghcr.io/fluxcd/" + name + ":" + build.FluxControllers[name],
			Files:      []image.File{image.Program(programs[name], name), image.Certificates()},
			Entrypoint: []string{"/usr/local/bin/" + name},
		})
	}
	return all
}

func metricsServer(programs map[string]string) []image.Image {
	return []image.Image{{
		Reference:  MetricsServer,
		Files:      []image.File{image.Program(programs["metrics-server"], "metrics-server"), {Target: "/metrics-server", Link: "/usr/local/bin/metrics-server"}, image.Certificates()},
		Entrypoint: []string{"/metrics-server"},
	}}
}

// kubeadm has the control plane's programs as one layer that its images share. The tags of etcd and CoreDNS are those this kubeadm asks
// for; the programs are the newer ones built here.
func kubeadm(programs map[string]string) []image.Image {
	var all []image.Image
	add := func(reference, program string) {
		files := []image.File{image.Program(programs["kubernetes"], "kubernetes"), image.Certificates()}
		for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd"} {
			files = append(files, image.File{Target: "/usr/local/bin/" + name, Link: "kubernetes"})
		}
		all = append(all, image.Image{Reference: reference, User: "0", Files: files, Command: []string{program}})
	}
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		add("registry.k8s.io/"+program+":"+build.KubernetesVersion, program)
	}
	add("registry.k8s.io/etcd:3.6.5-0", "etcd")
	return append(all, pause(programs), coreDNS(programs, "registry.k8s.io/coredns/coredns:v1.12.1"))
}
