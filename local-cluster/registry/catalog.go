package registry

import (
	"context"
	"io"

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

// Catalog lists everything the mirror serves. Nothing is built before an entry is filled in.
func Catalog() ([]Entry, error) {
	var list catalog
	for _, set := range images.Real {
		for _, reference := range set.References() {
			list.image(RealImage, reference, func(ctx context.Context, progress io.Writer) (image.Image, error) {
				return set.Image(ctx, reference, progress)
			})
		}
	}
	for _, packed := range realCharts() {
		list.chart(RealChart, packed.upstream, packed.name(), packed.version, packed.chart)
	}
	standIns, err := standInCharts()
	if err != nil {
		return nil, err
	}
	for _, standIn := range standIns {
		list.chart(StandInChart, standIn.upstream, standIn.name, standIn.version, func(context.Context) (chart, error) { return standIn.files, nil })
		for _, reference := range standIn.images {
			list.image(StandInImage, reference, func(ctx context.Context, progress io.Writer) (image.Image, error) {
				return standInImage(ctx, reference, progress)
			})
		}
	}
	return list.entries, list.err
}

// catalog is a list under construction. The first of several entries with one name stays, so that the real thing goes before a
// stand-in. After an error nothing is added any more.
type catalog struct {
	entries []Entry
	listed  map[Name]bool
	err     error
}

func (c *catalog) image(kind Kind, upstream string, describe func(context.Context, io.Writer) (image.Image, error)) {
	name, err := MirroredImage(upstream)
	c.add(err, Entry{kind, upstream, name, func(ctx context.Context, progress io.Writer) (image.Built, error) {
		described, err := describe(ctx, progress)
		if err != nil {
			return image.Built{}, err
		}
		return described.Build()
	}})
}

func (c *catalog) chart(kind Kind, upstream, name, version string, read func(context.Context) (chart, error)) {
	mirrored, err := MirroredChart(upstream, name, version)
	c.add(err, Entry{kind, chartAddress(upstream, name) + ":" + version, mirrored, func(ctx context.Context, _ io.Writer) (image.Built, error) {
		files, err := read(ctx)
		if err != nil {
			return image.Built{}, err
		}
		return files.build()
	}})
}

func (c *catalog) add(err error, entry Entry) {
	if c.err != nil || c.listed[entry.Name] {
		return
	}
	if c.err = err; err != nil {
		return
	}
	if c.listed == nil {
		c.listed = map[Name]bool{}
	}
	c.listed[entry.Name] = true
	c.entries = append(c.entries, entry)
}
