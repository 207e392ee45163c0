// Package image writes container images without a container engine: an OCI image layout in a tar file, as `ctr images import` reads
// it and a registry takes it. The same input gives the same bytes.
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sort"
	"strings"
)

// Image is one image: a single layer of a few files, usually one static program.
type Image struct {
	// Reference is the full name, with registry and tag: "ghcr.io/fluxcd/source-controller:v1.9.4".
	Reference string
	Files     []File
	// Entrypoint is the program and its first arguments, Command what a pod's args replace.
	Entrypoint []string
	Command    []string
	// User as in a Dockerfile, "65534:65534" when empty. "0" is root.
	User string
	// WorkingDir is "/" when empty.
	WorkingDir string
	// Env are further variables, "NAME=value"; PATH is set.
	Env []string
}

// File is one file of an image, or a symbolic link when Link is set.
type File struct {
	// Target is the absolute path in the image. A Target that ends in "/" is an empty folder.
	Target string
	// Source is the file it is copied from; Data is used when it is empty.
	Source string
	Data   []byte
	Link   string
	// Mode is 0644 when zero, 0755 for folders. A program needs 0755.
	Mode int64
}

// Program is a static program in an image, at /usr/local/bin.
func Program(source, name string) File {
	return File{Target: "/usr/local/bin/" + name, Source: source, Mode: 0o755}
}

// Certificates are this machine's certificate authorities, where programs made with Go look for them.
func Certificates() File {
	return File{Target: "/etc/ssl/certs/ca-certificates.crt", Source: "/etc/ssl/certs/ca-certificates.crt"}
}

const (
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
)

// Descriptor points at a blob, as the OCI image specification defines it.
type Descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Blob is one blob of an image: its content is in Data, or in the files a layer is written from.
type Blob struct {
	Descriptor
	Data  []byte
	files []File
}

// WriteTo writes the blob's content.
func (b Blob) WriteTo(out io.Writer) (int64, error) {
	counted := &counter{out: out}
	if b.files == nil {
		_, err := counted.Write(b.Data)
		return counted.n, err
	}
	err := writeLayer(counted, b.files)
	return counted.n, err
}

// Built is an image taken apart into what a registry wants: the manifest, and the blobs it names.
type Built struct {
	Reference string
	Manifest  Blob
	Config    Blob
	Layer     Blob
}

// Build computes an image. Layers are not compressed: they are read back on the same machine, where time matters more than space.
func (i Image) Build() (Built, error) {
	digest := sha256.New()
	counted := &counter{out: digest}
	if err := writeLayer(counted, i.Files); err != nil {
		return Built{}, fmt.Errorf("image %s: %w", i.Reference, err)
	}
	layer := Blob{Descriptor: Descriptor{MediaType: mediaLayer, Digest: "sha256:" + hex.EncodeToString(digest.Sum(nil)), Size: counted.n}, files: i.Files}
	config, err := blob(mediaConfig, i.config(layer.Digest))
	if err != nil {
		return Built{}, err
	}
	manifest, err := blob(mediaManifest, struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        Descriptor   `json:"config"`
		Layers        []Descriptor `json:"layers"`
	}{2, mediaManifest, config.Descriptor, []Descriptor{layer.Descriptor}})
	return Built{Reference: i.Reference, Manifest: manifest, Config: config, Layer: layer}, err
}

func (i Image) config(layer string) any {
	type runConfig struct {
		User       string   `json:"User"`
		Env        []string `json:"Env"`
		Entrypoint []string `json:"Entrypoint,omitempty"`
		Cmd        []string `json:"Cmd,omitempty"`
		WorkingDir string   `json:"WorkingDir"`
	}
	type rootfs struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	return struct {
		Created      string    `json:"created"`
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		Config       runConfig `json:"config"`
		RootFS       rootfs    `json:"rootfs"`
	}{
		"1970-01-01T00:00:00Z", runtime.GOARCH, "linux",
		runConfig{
			orDefault(i.User, "65534:65534"),
			append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, i.Env...),
			i.Entrypoint, i.Command, orDefault(i.WorkingDir, "/"),
		},
		rootfs{"layers", []string{layer}},
	}
}

// Write writes the images into one tar file at file; a layer that several of them have is written once.
func Write(file string, images ...Image) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := write(out, images); err != nil {
		_ = out.Close()
		return fmt.Errorf("writing the image file %s: %w", file, err)
	}
	return out.Close()
}

func write(out io.Writer, images []Image) error {
	archive := tar.NewWriter(out)
	var manifests []Descriptor
	blobs := map[string]Blob{}
	for _, image := range images {
		built, err := image.Build()
		if err != nil {
			return err
		}
		for _, blob := range []Blob{built.Layer, built.Config, built.Manifest} {
			blobs[blob.Digest] = blob
		}
		named := built.Manifest.Descriptor
		named.Annotations = map[string]string{
			"io.containerd.image.name":          image.Reference,
			"org.opencontainers.image.ref.name": image.Reference[strings.LastIndex(image.Reference, ":")+1:],
		}
		manifests = append(manifests, named)
	}
	index, err := blob(mediaIndex, struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []Descriptor `json:"manifests"`
	}{2, mediaIndex, manifests})
	if err != nil {
		return err
	}
	if err := entry(archive, "oci-layout", Blob{Data: []byte(`{"imageLayoutVersion":"1.0.0"}`)}); err != nil {
		return err
	}
	if err := entry(archive, "index.json", index); err != nil {
		return err
	}
	digests := make([]string, 0, len(blobs))
	for digest := range blobs {
		digests = append(digests, digest)
	}
	sort.Strings(digests)
	for _, digest := range digests {
		if err := entry(archive, "blobs/sha256/"+strings.TrimPrefix(digest, "sha256:"), blobs[digest]); err != nil {
			return err
		}
	}
	return archive.Close()
}

func entry(archive *tar.Writer, name string, content Blob) error {
	size := content.Size
	if content.files == nil {
		size = int64(len(content.Data))
	}
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err := content.WriteTo(archive)
	return err
}

func blob(mediaType string, content any) (Blob, error) {
	data, err := json.Marshal(content)
	sum := sha256.Sum256(data)
	return Blob{Descriptor: Descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data))}, Data: data}, err
}

// writeLayer writes the files as a layer, with the folders above them and a /tmp anybody may write to. Times are zero and the order is
// that of the names.
func writeLayer(out io.Writer, files []File) error {
	sorted := append([]File{{Target: "/tmp/", Mode: 0o1777}}, files...)
	sort.SliceStable(sorted, func(a, b int) bool { return sorted[a].Target < sorted[b].Target })
	archive := tar.NewWriter(out)
	seen := map[string]bool{".": true}
	for _, file := range sorted {
		name := strings.Trim(path.Clean(file.Target), "/")
		if err := folders(archive, seen, path.Dir(name)); err != nil {
			return err
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if err := layerFile(archive, name, file); err != nil {
			return fmt.Errorf("file %s: %w", file.Target, err)
		}
	}
	return archive.Close()
}

func folders(archive *tar.Writer, seen map[string]bool, dir string) error {
	if seen[dir] {
		return nil
	}
	if err := folders(archive, seen, path.Dir(dir)); err != nil {
		return err
	}
	seen[dir] = true
	return archive.WriteHeader(&tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755})
}

func layerFile(archive *tar.Writer, name string, file File) error {
	header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: file.Mode}
	switch {
	case file.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, file.Link, 0o777
		return archive.WriteHeader(header)
	case strings.HasSuffix(file.Target, "/"):
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, name+"/", orDefault(file.Mode, 0o755)
		return archive.WriteHeader(header)
	}
	header.Mode = orDefault(file.Mode, 0o644)
	content := io.Reader(bytes.NewReader(file.Data))
	header.Size = int64(len(file.Data))
	if file.Source != "" {
		opened, err := os.Open(file.Source)
		if err != nil {
			return err
		}
		defer opened.Close()
		info, err := opened.Stat()
		if err != nil {
			return err
		}
		content, header.Size = opened, info.Size()
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

type counter struct {
	out io.Writer
	n   int64
}

func (c *counter) Write(data []byte) (int, error) {
	n, err := c.out.Write(data)
	c.n += int64(n)
	return n, err
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
