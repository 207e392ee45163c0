// Package build makes the programs of a local cluster from Go modules. Each component is a module of its own below components/,
// because their pins conflict; what it is made into is cached by the hash of the module's files and the way it is built.
package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"kubeopera.io/local-cluster/cache"
)

// Component is one module and the programs made from it.
type Component struct {
	// Name is the folder below components/.
	Name string
	// Packages are what `go build` is given; "tool" stands for the module's tool lines.
	Packages []string
	// Versions are the -X settings that make the programs tell their version: "package.variable=value".
	Versions []string
	// Programs are the file names that come out. With a single program, its name is this one; otherwise Go names them.
	Programs []string
}

// The versions of what is built here. A cluster of another Kubernetes version cannot be had.
const (
	KubernetesVersion    = "v1.34.4"
	CoreDNSVersion       = "1.14.6"
	MetricsServerVersion = "v0.8.0"
	CertManagerVersion   = "v1.18.2"
	LocalPathVersion     = "v0.0.30" // the newest the module proxy serves
	FluxVersion          = "v2.9.4"
)

// FluxControllers are the versions of the controllers of FluxVersion.
var FluxControllers = map[string]string{
	"source-controller":       "v1.9.4",
	"kustomize-controller":    "v1.9.4",
	"helm-controller":         "v1.6.3",
	"notification-controller": "v1.9.3",
}

// The components of a local cluster.
var (
	Kubernetes = Component{
		Name:     "kubernetes",
		Packages: []string{"."},
		Programs: []string{"kubernetes"},
		Versions: []string{
			"k8s.io/component-base/version.gitVersion=" + KubernetesVersion,
			"k8s.io/component-base/version.gitMajor=1",
			"k8s.io/component-base/version.gitMinor=34",
			"k8s.io/component-base/version.gitTreeState=clean",
		},
	}
	Pause = Component{Name: "pause", Packages: []string{"."}, Programs: []string{"pause"}}
	Flux  = Component{
		Name:     "flux",
		Packages: []string{"tool"},
		Programs: []string{"source-controller", "kustomize-controller", "helm-controller", "notification-controller"},
	}
	Addons = Component{
		Name:     "addons",
		Packages: []string{"./coredns", "tool"},
		Programs: []string{"coredns", "kwok", "local-path-provisioner"},
		Versions: []string{"main.VERSION=" + LocalPathVersion},
	}
	MetricsServer = Component{
		Name:     "metrics-server",
		Packages: []string{"tool"},
		Programs: []string{"metrics-server"},
		Versions: []string{"sigs.k8s.io/metrics-server/pkg/version.gitVersion=" + MetricsServerVersion},
	}
)

// The components of the mirror that clusters without the internet pull from.
var (
	CertManager = Component{
		Name:     "cert-manager",
		Packages: []string{"."},
		Programs: []string{"cert-manager"},
		Versions: []string{"github.com/cert-manager/cert-manager/pkg/util.AppVersion=" + CertManagerVersion},
	}
	StandIn = Component{Name: "standin", Packages: []string{"."}, Programs: []string{"standin"}}
)

// All are the components in the order in which a first build makes them.
var All = []Component{Kubernetes, Pause, Addons, MetricsServer, Flux}

// Source is the folder of this module's sources, from which the components are built: KUBEOPERA_LOCAL_CLUSTER_SOURCE, or where this
// program itself was compiled.
func Source() (string, error) {
	dir := os.Getenv("KUBEOPERA_LOCAL_CLUSTER_SOURCE")
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Dir(filepath.Dir(file))
	}
	if _, err := os.Stat(filepath.Join(dir, "components")); err != nil {
		return "", fmt.Errorf("the sources of the cluster's programs are not in %s: set KUBEOPERA_LOCAL_CLUSTER_SOURCE to the folder local-cluster of the checkout", dir)
	}
	return dir, nil
}

// Dir is the folder of the component's module.
func (c Component) Dir() (string, error) {
	source, err := Source()
	return filepath.Join(source, "components", c.Name), err
}

// Key is the hash of everything the programs depend on: the module's files, the Go version, the flags and the processor.
func (c Component) Key() (string, error) {
	dir, err := c.Dir()
	if err != nil {
		return "", err
	}
	goVersion, err := goCommand(context.Background(), dir, "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("the Go toolchain does not answer (%w): install Go 1.26 or newer and put it on the PATH", err)
	}
	key := cache.NewKey().Text(string(goVersion), runtime.GOARCH).Text(c.arguments()...)
	if err := key.Tree(dir); err != nil {
		return "", err
	}
	return key.String(), nil
}

// Ensure returns the folder with the component's programs and builds them when they are not there, telling on progress how far it
// is. A cold build takes minutes, a cached one nothing.
func (c Component) Ensure(ctx context.Context, progress io.Writer) (string, error) {
	key, err := c.Key()
	if err != nil {
		return "", err
	}
	return cache.Ensure(ctx, filepath.Join("bin", c.Name), key, func(out string) error {
		return c.build(ctx, out, progress)
	})
}

func (c Component) arguments() []string {
	settings := []string{"-s", "-w"}
	for _, version := range c.Versions {
		settings = append(settings, "-X", version)
	}
	return append([]string{"-trimpath", "-ldflags", strings.Join(settings, " ")}, c.Packages...)
}

func (c Component) build(ctx context.Context, out string, progress io.Writer) error {
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	target := out + string(filepath.Separator)
	if len(c.Programs) == 1 {
		target = filepath.Join(out, c.Programs[0])
	}
	shown := newProgress(progress, c.Name)
	defer shown.finish()
	shown.total(countPackages(ctx, dir, c.Packages))
	command := goCommand(ctx, dir, append([]string{"build", "-v", "-o", target}, c.arguments()...)...)
	var complaint bytes.Buffer
	command.Stdout = io.Discard
	command.Stderr = io.MultiWriter(shown, &complaint)
	if err := command.Run(); err != nil {
		return fmt.Errorf("building %s failed: %w\n%s", c.Name, err, lastLines(complaint.String(), 20))
	}
	for _, program := range c.Programs {
		if _, err := os.Stat(filepath.Join(out, program)); err != nil {
			return fmt.Errorf("building %s gave no program %s: %w", c.Name, program, err)
		}
	}
	return nil
}

func goCommand(ctx context.Context, dir string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = dir
	// No cgo: the programs run in images with nothing else inside. GOFLAGS and workspaces of the caller must not change the result.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	return command
}

// countPackages is how many packages the build consists of, 0 when it cannot be told; it is only shown.
func countPackages(ctx context.Context, dir string, packages []string) int {
	list, err := goCommand(ctx, dir, append([]string{"list", "-deps"}, packages...)...).Output()
	if err != nil {
		return 0
	}
	return bytes.Count(list, []byte("\n"))
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
