// Package charts holds the stand-in charts: charts of our own with the name, version, values keys, object names and readiness of
// the upstream chart they stand in for, for components a local cluster cannot have as the real thing yet.
//
// A chart is a folder. Its Chart.yaml says where upstream is published (annotation kubeopera.io/stands-in-for), and every image its
// values.yaml names is made from components/standin, so that a new stand-in needs nothing but its folder.
package charts

import "embed"

// Files are the charts, each in the folder of its name, and standin.tpl, the templates all of them share.
//
//go:embed all:*
var Files embed.FS

// The annotations of a stand-in's Chart.yaml.
const (
	// Upstream says where the real chart is published: oci://host/path, or the https URL of its Helm repository.
	Upstream = "kubeopera.io/stands-in-for"
	// FurtherImages names images, with a space between them, that are asked for beside those of values.yaml.
	FurtherImages = "kubeopera.io/further-images"
)
