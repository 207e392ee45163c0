package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func example(t *testing.T, reference string) Image {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("\x7fELF"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Image{
		Reference:  reference,
		Files:      []File{Program(program, "x"), {Target: "/etc/config", Data: []byte("a: 1\n")}, {Target: "/x", Link: "/usr/local/bin/x"}, {Target: "/data/"}},
		Entrypoint: []string{"/x"},
	}
}

// blobs reads an image file.
func blobs(t *testing.T, path string) map[string][]byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string][]byte{}
	for archive := tar.NewReader(file); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := all[header.Name]; twice {
			t.Errorf("%s is there twice", header.Name)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = content
	}
}

func TestTheSameImageHasTheSameBytes(t *testing.T) {
	var files [2][]byte
	for i := range files {
		path := filepath.Join(t.TempDir(), "image.tar")
		if err := Write(path, example(t, "example.org/a:1")); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = content
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the two files differ")
	}
}

func TestAnImageFileIsAnOCILayoutWhoseDigestsAreTrue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := Write(path, example(t, "example.org/a:1"), example(t, "example.org/b:2")); err != nil {
		t.Fatal(err)
	}
	content := blobs(t, path)
	for name, data := range content {
		if digest, isBlob := strings.CutPrefix(name, "blobs/sha256/"); isBlob {
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
				t.Errorf("the digest of %s is not true", name)
			}
		}
	}
	// Both images are of the same files: one layer, one configuration, one manifest.
	if len(content) != 2+3 {
		t.Errorf("there are %d files", len(content))
	}
	var index struct{ Manifests []Descriptor }
	if err := json.Unmarshal(content["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, manifest := range index.Manifests {
		names = append(names, manifest.Annotations["io.containerd.image.name"])
		if data := content["blobs/sha256/"+strings.TrimPrefix(manifest.Digest, "sha256:")]; int64(len(data)) != manifest.Size {
			t.Errorf("the manifest of %v has %d bytes and says %d", manifest.Annotations, len(data), manifest.Size)
		}
	}
	if strings.Join(names, " ") != "example.org/a:1 example.org/b:2" {
		t.Errorf("the names are %v", names)
	}
}

func TestALayerHasTheFilesWithTheirFoldersAndModes(t *testing.T) {
	built, err := example(t, "example.org/a:1").Build()
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	if n, err := built.Layer.WriteTo(&layer); err != nil || n != built.Layer.Size {
		t.Fatalf("%d bytes of %d were written: %v", n, built.Layer.Size, err)
	}
	found := map[string]int64{}
	var order []string
	for archive := tar.NewReader(&layer); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = header.Mode
		order = append(order, header.Name)
	}
	want := map[string]int64{
		"data/": 0o755, "etc/": 0o755, "etc/config": 0o644, "tmp/": 0o1777, "usr/": 0o755, "usr/local/": 0o755, "usr/local/bin/": 0o755, "usr/local/bin/x": 0o755, "x": 0o777,
	}
	if len(found) != len(want) {
		t.Errorf("the layer has %v", order)
	}
	for name, mode := range want {
		if found[name] != mode {
			t.Errorf("%s has mode %o, not %o", name, found[name], mode)
		}
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	err := Write(filepath.Join(t.TempDir(), "image.tar"), Image{Reference: "example.org/a:1", Files: []File{Program("/does/not/exist", "x")}})
	if err == nil || !strings.Contains(err.Error(), "/does/not/exist") || !strings.Contains(err.Error(), "example.org/a:1") {
		t.Errorf("the error is %v", err)
	}
}
