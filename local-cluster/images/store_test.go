package images

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestACloneSharesWhatNeverChangesAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		path := filepath.Join(dir, "from", "store", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	const blob, layer, database = "io.containerd.content.v1.content/blobs/sha256/abc", "io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/usr/bin/x", "io.containerd.metadata.v1.bolt/meta.db"
	for _, name := range []string{blob, layer, database} {
		put(name)
	}
	sticky := filepath.Join(dir, "from", "store", "io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/tmp")
	if err := os.Mkdir(sticky, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(sticky, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	// As a kill leaves it.
	if err := os.MkdirAll(filepath.Join(dir, "to.unfinished", "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Clone(filepath.Join(dir, "from"), filepath.Join(dir, "to")); err != nil {
		t.Fatal(err)
	}
	links := func(name string) uint64 {
		info, err := os.Stat(filepath.Join(dir, "to", name))
		if err != nil {
			t.Fatal(err)
		}
		return uint64(info.Sys().(*syscall.Stat_t).Nlink)
	}
	if links(blob) != 2 || links(layer) != 2 || links(database) != 1 {
		t.Errorf("the links are %d, %d and %d", links(blob), links(layer), links(database))
	}
	if content, err := os.ReadFile(filepath.Join(dir, "to", database)); err != nil || string(content) != database {
		t.Errorf("the database has %q: %v", content, err)
	}
	info, err := os.Stat(filepath.Join(dir, "to", "io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/tmp"))
	if err != nil || info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
		t.Errorf("the layer's /tmp has the mode %v: %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "to", "half")); err == nil {
		t.Error("what was left of another attempt is in the clone")
	}
}
