package registry

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"kubeopera.io/local-cluster/build"
	"kubeopera.io/local-cluster/charts"
	"kubeopera.io/local-cluster/image"
)

// standInChart is a chart of package charts.
type standInChart struct {
	upstream, name, version string
	// images are what its values name.
	images []string
	files  chart
}

func standInCharts() ([]standInChart, error) {
	shared, err := fs.ReadFile(charts.Files, "standin.tpl")
	if err != nil {
		return nil, err
	}
	folders, err := fs.ReadDir(charts.Files, ".")
	if err != nil {
		return nil, err
	}
	var found []standInChart
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		one, err := readStandIn(folder.Name(), shared)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", folder.Name(), err)
		}
		found = append(found, one)
	}
	return found, nil
}

func readStandIn(folder string, shared []byte) (standInChart, error) {
	files, err := subChart(charts.Files, folder)
	if err != nil {
		return standInChart{}, err
	}
	files["templates/_standin.tpl"] = shared
	described, err := files.metadata()
	if err != nil {
		return standInChart{}, err
	}
	images, err := files.images(nil)
	return standInChart{described.Annotations[charts.Upstream], described.Name, described.Version, images, files}, err
}

func standInImage(ctx context.Context, reference string, progress io.Writer) (image.Image, error) {
	dir, err := build.StandIn.Ensure(ctx, progress)
	return image.Image{
		Reference:  reference,
		Files:      []image.File{image.Program(filepath.Join(dir, "standin"), "standin")},
		Entrypoint: []string{"/usr/local/bin/standin"},
	}, err
}
