package registry

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// Name is the name and tag something has in a registry, without the registry's address.
type Name struct {
	Path string
	Tag  string
}

// In is the full reference of the name in the registry at address.
func (n Name) In(address string) string { return address + "/" + n.Path + ":" + n.Tag }

// MirroredImage is the name an image has in the mirror: its upstream name with the upstream registry's host in front. Short names
// are those of docker.io, as container runtimes read them.
func MirroredImage(upstream string) (Name, error) {
	named, err := reference.ParseDockerRef(upstream)
	if err != nil {
		return Name{}, fmt.Errorf("%q is no image reference: %w", upstream, err)
	}
	tagged, ok := named.(reference.Tagged)
	if !ok {
		return Name{}, fmt.Errorf("%q has no tag; the mirror serves tags only", upstream)
	}
	return Name{Path: named.Name(), Tag: tagged.Tag()}, nil
}

// MirroredChart is the name a chart has in the mirror, for its upstream address as chartAddress takes it. A tag cannot hold the + a
// version may hold; Helm writes _ for it.
func MirroredChart(upstream, chart, version string) (Name, error) {
	address := chartAddress(upstream, chart)
	_, path, found := strings.Cut(address, "://")
	if !found || !strings.HasSuffix(path, "/"+chart) {
		return Name{}, fmt.Errorf("the chart %s comes from %q, which is neither oci://host/path/%s nor the https URL of a Helm repository", chart, upstream, chart)
	}
	return Name{Path: path, Tag: strings.ReplaceAll(version, "+", "_")}, nil
}

// chartAddress is one address for a chart of either kind: oci://host/path, which ends in the chart's name already, or the https URL of
// a Helm repository with the chart's name added.
func chartAddress(upstream, chart string) string {
	if strings.HasPrefix(upstream, "https://") {
		return strings.TrimSuffix(upstream, "/") + "/" + chart
	}
	return upstream
}
