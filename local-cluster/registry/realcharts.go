package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"kubeopera.io/local-cluster/build"
)

// realChart is a chart that lies in the Go module of the program it installs. It is packed from the module and kept nowhere else.
type realChart struct {
	upstream   string
	component  build.Component
	module     string
	version    string
	appVersion string
	assemble   func(module fs.FS) (chart, error)
}

func realCharts() []realChart {
	return []realChart{
		{"oci://quay.io/jetstack/charts/cert-manager", build.CertManager, "github.com/cert-manager/cert-manager",
			build.CertManagerVersion, build.CertManagerVersion, certManagerChart},
		// A chart is released after the program it installs, so the module of 0.8.0 holds what became 3.13.0 under its number before.
		{"https://kubernetes-sigs.github.io/metrics-server/", build.MetricsServer, "sigs.k8s.io/metrics-server", "3.13.0", "0.8.0",
			func(module fs.FS) (chart, error) { return subChart(module, "charts/metrics-server") }},
	}
}

// name is that of the module and of the chart in it.
func (r realChart) name() string { return path.Base(r.module) }

func (r realChart) chart(ctx context.Context) (chart, error) {
	dir, err := r.component.Dir()
	if err != nil {
		return nil, err
	}
	modules, err := build.Modules(ctx, dir, r.module)
	if err != nil {
		return nil, err
	}
	files, err := r.assemble(os.DirFS(modules[r.module]))
	if err != nil {
		return nil, fmt.Errorf("the chart in %s: %w", r.module, err)
	}
	return files, files.release(r.version, r.appVersion)
}

func subChart(module fs.FS, dir string) (chart, error) {
	files, err := fs.Sub(module, dir)
	if err != nil {
		return nil, err
	}
	return readChart(files)
}

// certManagerChart assembles the chart as cert-manager's own release does: its Chart.yaml is a template, and its CRDs, which lie
// elsewhere in the module, become one of its templates.
func certManagerChart(module fs.FS) (chart, error) {
	const dir = "deploy/charts/cert-manager"
	files, err := subChart(module, dir)
	if err != nil {
		return nil, err
	}
	if files["Chart.yaml"], err = fs.ReadFile(module, dir+"/Chart.template.yaml"); err != nil {
		return nil, err
	}
	definitions, err := fs.Glob(module, "deploy/crds/crd-*.yaml")
	if err != nil {
		return nil, err
	}
	if len(definitions) == 0 {
		return nil, errors.New("the module has no CRDs below deploy/crds")
	}
	var all []byte
	for _, definition := range definitions {
		content, err := fs.ReadFile(module, definition)
		if err != nil {
			return nil, err
		}
		all = append(append(all, "\n---\n"...), content...)
	}
	files["templates/crds.yaml"] = all
	return files, nil
}
