package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"kubeopera.io/local-cluster/charts"
	"kubeopera.io/local-cluster/image"
	"sigs.k8s.io/yaml"
)

// The media types of a chart in a registry, from Helm's documentation of OCI support, and of the manifest that ties them.
const (
	mediaChart       = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	mediaChartConfig = "application/vnd.cncf.helm.config.v1+json"
	mediaManifest    = "application/vnd.oci.image.manifest.v1+json"
)

// chart is a Helm chart's files, by their path in the chart.
type chart map[string][]byte

// readChart reads the parts of a chart that Helm uses; documentation and test data stay behind.
func readChart(files fs.FS) (chart, error) {
	read := chart{}
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json"} {
		content, err := fs.ReadFile(files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		read[name] = content
	}
	for _, dir := range []string{"templates", "crds"} {
		if err := read.add(files, dir); err != nil {
			return nil, err
		}
	}
	return read, nil
}

func (c chart) add(files fs.FS, dir string) error {
	return fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == dir {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		c[name], err = fs.ReadFile(files, name)
		return err
	})
}

// metadata is what Chart.yaml says. Only what is used here has a field; the rest goes into the artifact's config unread.
type metadata struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	AppVersion  string            `json:"appVersion"`
	Annotations map[string]string `json:"annotations"`
}

func (c chart) metadata() (metadata, error) {
	var read metadata
	if err := yaml.Unmarshal(c["Chart.yaml"], &read); err != nil {
		return metadata{}, fmt.Errorf("Chart.yaml: %w", err)
	}
	if read.Name == "" || read.Version == "" {
		return metadata{}, errors.New("Chart.yaml has no name or no version")
	}
	return read, nil
}

// release sets the versions of a chart whose sources carry only placeholders, as `helm package --version --app-version` does.
func (c chart) release(version, appVersion string) error {
	var content map[string]any
	if err := yaml.Unmarshal(c["Chart.yaml"], &content); err != nil {
		return fmt.Errorf("Chart.yaml: %w", err)
	}
	content["version"], content["appVersion"] = version, appVersion
	written, err := yaml.Marshal(content)
	c["Chart.yaml"] = written
	return err
}

// build makes the chart into the artifact `helm push` would upload. The same files give the same bytes.
func (c chart) build() (image.Built, error) {
	described, err := c.metadata()
	if err != nil {
		return image.Built{}, err
	}
	archive, err := c.archive(described.Name)
	if err != nil {
		return image.Built{}, err
	}
	config, err := yaml.YAMLToJSON(c["Chart.yaml"])
	if err != nil {
		return image.Built{}, err
	}
	built := image.Built{Config: blob(mediaChartConfig, config), Layer: blob(mediaChart, archive)}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     mediaManifest,
		"config":        built.Config.Descriptor,
		"layers":        []image.Descriptor{built.Layer.Descriptor},
		"annotations": map[string]string{
			"org.opencontainers.image.title":   described.Name,
			"org.opencontainers.image.version": described.Version,
		},
	})
	built.Manifest = blob(mediaManifest, manifest)
	return built, err
}

func (c chart) archive(name string) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	files := tar.NewWriter(compressed)
	for _, file := range slices.Sorted(maps.Keys(c)) {
		header := &tar.Header{Name: path.Join(name, file), Mode: 0o644, Size: int64(len(c[file]))}
		if err := files.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := files.Write(c[file]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(files.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func blob(mediaType string, data []byte) image.Blob {
	sum := sha256.Sum256(data)
	descriptor := image.Descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data))}
	return image.Blob{Descriptor: descriptor, Data: data}
}

// images are the images that a release with these values runs, by what the chart's own values and these say: every value with a
// repository in it, unless it belongs to a part that is switched off, with the tag charts fall back to, the application's version.
func (c chart) images(values map[string]any) ([]string, error) {
	described, err := c.metadata()
	if err != nil {
		return nil, err
	}
	var own map[string]any
	if err := yaml.Unmarshal(c["values.yaml"], &own); err != nil {
		return nil, fmt.Errorf("values.yaml: %w", err)
	}
	found := map[string]bool{}
	collectImages(merged(own, values), described.AppVersion, found)
	for _, further := range strings.Fields(described.Annotations[charts.FurtherImages]) {
		found[further] = true
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// merged lays values over base, object by object, as Helm does.
func merged(base, values map[string]any) map[string]any {
	result := maps.Clone(base)
	for key, value := range values {
		below, isObject := base[key].(map[string]any)
		if over, ok := value.(map[string]any); ok && isObject {
			value = merged(below, over)
		}
		if result == nil {
			result = map[string]any{}
		}
		result[key] = value
	}
	return result
}

func collectImages(values map[string]any, defaultTag string, found map[string]bool) {
	if enabled, ok := values["enabled"].(bool); ok && !enabled {
		return
	}
	if repository, _ := values["repository"].(string); repository != "" {
		tag, _ := values["tag"].(string)
		if tag == "" {
			tag = defaultTag
		}
		registry, _ := values["registry"].(string)
		found[strings.TrimPrefix(registry+"/"+repository, "/")+":"+tag] = true
	}
	for _, inner := range values {
		if object, ok := inner.(map[string]any); ok {
			collectImages(object, defaultTag, found)
		}
	}
}
