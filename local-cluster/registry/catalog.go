package registry

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/charts"
	"kubeopera.io/local-cluster/image"
	"kubeopera.io/local-cluster/images"
)

// Kind tells what an entry of the mirror is.
type Kind string

// What an entry is: the real thing, built from upstream's Go module, or something that stands in for it.
const (
	RealImage    Kind = "image"
	StandInImage Kind = "stand-in image"
	RealChart    Kind = "chart"
	StandInChart Kind = "stand-in chart"
)

// Entry is one image or chart of the mirror.
type Entry struct {
	Kind Kind
	// Upstream is what a tree or manifest names: an image reference, or a chart's address with its version after a colon.
	Upstream string
	// Name is what it is called in the mirror.
	Name  Name
	build func(ctx context.Context, progress io.Writer) (image.Built, error)
}

// realChart is a chart that lies in the Go module of the program it installs.
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
		// The chart's release 3.13.0 came after the module's 0.8.0, which holds the same templates under the number before.
		{"https://kubernetes-sigs.github.io/metrics-server/", build.MetricsServer, "sigs.k8s.io/metrics-server", "3.13.0", "0.8.0",
			func(module fs.FS) (chart, error) { return subChart(module, "charts/metrics-server") }},
	}
}

// Catalog lists everything the mirror serves. Nothing is built before an entry is filled in.
func Catalog() ([]Entry, error) {
	var entries []Entry
	listed := map[string]bool{}
	for _, set := range images.Real {
		for _, reference := range set.References() {
			if listed[reference] {
				continue
			}
			listed[reference] = true
			entry, err := imageEntry(RealImage, reference, func(ctx context.Context, progress io.Writer) (image.Image, error) {
				return set.Image(ctx, reference, progress)
			})
			if err != nil {
				return nil, err
			}
			entries = append(entries, entry)
		}
	}
	for _, packed := range realCharts() {
		entry, err := realChartEntry(packed)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	standIns, err := standInEntries(listed)
	return append(entries, standIns...), err
}

func imageEntry(kind Kind, upstream string, made func(context.Context, io.Writer) (image.Image, error)) (Entry, error) {
	name, err := MirroredImage(upstream)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Kind: kind, Upstream: upstream, Name: name, build: func(ctx context.Context, progress io.Writer) (image.Built, error) {
		described, err := made(ctx, progress)
		if err != nil {
			return image.Built{}, err
		}
		return described.Build()
	}}, nil
}

func realChartEntry(packed realChart) (Entry, error) {
	chart := path.Base(packed.module)
	name, err := MirroredChart(packed.upstream, chart, packed.version)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Kind: RealChart, Upstream: chartAddress(packed.upstream, chart) + ":" + packed.version, Name: name,
		build: func(ctx context.Context, progress io.Writer) (image.Built, error) {
			dir, err := packed.component.Dir()
			if err != nil {
				return image.Built{}, err
			}
			modules, err := build.Modules(ctx, dir, packed.module)
			if err != nil {
				return image.Built{}, err
			}
			files, err := packed.assemble(os.DirFS(modules[packed.module]))
			if err != nil {
				return image.Built{}, fmt.Errorf("the chart in %s: %w", packed.module, err)
			}
			if err := files.release(packed.version, packed.appVersion); err != nil {
				return image.Built{}, err
			}
			return files.build()
		}}, nil
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
	chart, err := subChart(module, dir)
	if err != nil {
		return nil, err
	}
	if chart["Chart.yaml"], err = fs.ReadFile(module, dir+"/Chart.template.yaml"); err != nil {
		return nil, err
	}
	definitions, err := fs.Glob(module, "deploy/crds/crd-*.yaml")
	if err != nil {
		return nil, err
	}
	if len(definitions) == 0 {
		return nil, fmt.Errorf("the module has no CRDs below deploy/crds")
	}
	var all []byte
	for _, definition := range definitions {
		content, err := fs.ReadFile(module, definition)
		if err != nil {
			return nil, err
		}
		all = append(append(all, "\n---\n"...), content...)
	}
	chart["templates/crds.yaml"] = all
	return chart, nil
}

// standInEntries are the charts of package charts and the images their values name, except those that are listed as real.
func standInEntries(listed map[string]bool) ([]Entry, error) {
	standIns, err := standInCharts()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, standIn := range standIns {
		described, err := standIn.metadata()
		if err != nil {
			return nil, err
		}
		upstream := described.Annotations[charts.Upstream]
		name, err := MirroredChart(upstream, described.Name, described.Version)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Kind: StandInChart, Upstream: chartAddress(upstream, described.Name) + ":" + described.Version, Name: name,
			build: func(context.Context, io.Writer) (image.Built, error) { return standIn.build() }})
		references, err := standIn.images(nil)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", described.Name, err)
		}
		for _, reference := range references {
			if listed[reference] {
				continue
			}
			listed[reference] = true
			entry, err := imageEntry(StandInImage, reference, func(ctx context.Context, progress io.Writer) (image.Image, error) {
				return standInImage(ctx, reference, progress)
			})
			if err != nil {
				return nil, err
			}
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

func standInCharts() ([]chart, error) {
	shared, err := fs.ReadFile(charts.Files, "standin.tpl")
	if err != nil {
		return nil, err
	}
	folders, err := fs.ReadDir(charts.Files, ".")
	if err != nil {
		return nil, err
	}
	var found []chart
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		chart, err := subChart(charts.Files, folder.Name())
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", folder.Name(), err)
		}
		chart["templates/_standin.tpl"] = shared
		found = append(found, chart)
	}
	return found, nil
}

func standInImage(ctx context.Context, reference string, progress io.Writer) (image.Image, error) {
	dir, err := build.StandIn.Ensure(ctx, progress)
	return image.Image{
		Reference:  reference,
		Files:      []image.File{image.Program(filepath.Join(dir, "standin"), "standin")},
		Entrypoint: []string{"/usr/local/bin/standin"},
	}, err
}
