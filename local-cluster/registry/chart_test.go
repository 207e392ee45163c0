package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"
	"testing"
	"testing/fstest"
)

func example(t *testing.T) chart {
	t.Helper()
	read, err := readChart(fstest.MapFS{
		"Chart.yaml":              {Data: []byte("apiVersion: v2\nname: example\nversion: 1.2.3\nappVersion: v9\n")},
		"values.yaml":             {Data: []byte("image: {repository: example}\n")},
		"templates/_helpers.tpl":  {Data: []byte("{{/* shared */}}")},
		"templates/tests/it.yaml": {Data: []byte("a: b\n")},
		"README.md":               {Data: []byte("for people")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestAChartIsPackedAsHelmPacksIt(t *testing.T) {
	built, err := example(t).build()
	if err != nil {
		t.Fatal(err)
	}
	uncompressed, err := gzip.NewReader(bytes.NewReader(built.Layer.Data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
	wanted := []string{"example/Chart.yaml", "example/templates/_helpers.tpl", "example/templates/tests/it.yaml", "example/values.yaml"}
	if !slices.Equal(names, wanted) {
		t.Errorf("the archive has %v, not %v", names, wanted)
	}
	var manifest struct {
		Config struct{ MediaType, Digest string }
		Layers []struct{ MediaType, Digest string }
	}
	if err := json.Unmarshal(built.Manifest.Data, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || manifest.Config.Digest != built.Config.Digest {
		t.Errorf("the config is %v", manifest.Config)
	}
	if len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" ||
		manifest.Layers[0].Digest != built.Layer.Digest {
		t.Errorf("the layers are %v", manifest.Layers)
	}
	var config struct{ Name, Version string }
	if err := json.Unmarshal(built.Config.Data, &config); err != nil || config.Name != "example" || config.Version != "1.2.3" {
		t.Errorf("the config says %v (%v)", config, err)
	}
}

func TestTheSameChartGivesTheSameBytes(t *testing.T) {
	first, err := example(t).build()
	if err != nil {
		t.Fatal(err)
	}
	second, err := example(t).build()
	if err != nil {
		t.Fatal(err)
	}
	if first.Manifest.Digest != second.Manifest.Digest {
		t.Error("two builds differ")
	}
	changed := example(t)
	changed["values.yaml"] = []byte("image: {repository: other}\n")
	third, err := changed.build()
	if err != nil {
		t.Fatal(err)
	}
	if first.Manifest.Digest == third.Manifest.Digest {
		t.Error("other values give the same chart")
	}
}

func TestAReleaseGetsItsVersions(t *testing.T) {
	released := example(t)
	if err := released.release("v2.0.0", "v10"); err != nil {
		t.Fatal(err)
	}
	described, err := released.metadata()
	if err != nil || described.Version != "v2.0.0" || described.AppVersion != "v10" || described.Name != "example" {
		t.Errorf("the chart says %+v (%v)", described, err)
	}
}

func TestTheImagesOfAReleaseFollowItsValues(t *testing.T) {
	files := example(t)
	files["values.yaml"] = []byte(`
image: {registry: docker.io, repository: example}
helper: {enabled: false, image: {repository: quay.io/helper, tag: v1}}
sidecar: {image: {repository: quay.io/sidecar, tag: v2}}
`)
	for _, test := range []struct {
		values map[string]any
		wanted []string
	}{
		{nil, []string{"docker.io/example:v9", "quay.io/sidecar:v2"}},
		{map[string]any{"helper": map[string]any{"enabled": true}}, []string{"docker.io/example:v9", "quay.io/helper:v1", "quay.io/sidecar:v2"}},
		{map[string]any{"image": map[string]any{"tag": "v8"}, "sidecar": map[string]any{"enabled": false}}, []string{"docker.io/example:v8"}},
	} {
		found, err := files.images(test.values)
		if err != nil || !slices.Equal(found, test.wanted) {
			t.Errorf("with %v it runs %v (%v), not %v", test.values, found, err, test.wanted)
		}
	}
}
