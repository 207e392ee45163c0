package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestAKeyDependsOnEveryWordAndEveryFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	key := func(words ...string) string {
		k := NewKey().Text(words...)
		if err := k.Tree(dir); err != nil {
			t.Fatal(err)
		}
		return k.String()
	}
	write("a", "one")
	first := key("x")
	if again := key("x"); again != first {
		t.Errorf("the same input has the keys %s and %s", first, again)
	}
	if key("ab", "c") == key("a", "bc") {
		t.Error("words run into each other")
	}
	write("a", "two")
	if key("x") == first {
		t.Error("another content has the same key")
	}
	write("a", "one")
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if key("x") == first {
		t.Error("another file name has the same key")
	}
}

func TestAnEntryIsMadeOnceHoweverManyAskForIt(t *testing.T) {
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	made := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			dir, err := Ensure(t.Context(), "bin/x", "key", func(dir string) error {
				made++ // Ensure itself keeps two from being here at once
				return os.WriteFile(filepath.Join(dir, "program"), nil, 0o755)
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "program")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("it was made %d times", made)
	}
}

func TestWaitingForAnotherProcessEndsWhenItIsNoLongerWanted(t *testing.T) {
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Ensure(t.Context(), "bin", "key", func(string) error {
		cancel()
		_, err := Ensure(ctx, "bin", "key", func(string) error { return nil })
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatFailedOrWasInterruptedIsMadeAnew(t *testing.T) {
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	broken := errors.New("broken")
	if _, err := Ensure(t.Context(), "bin", "key", func(dir string) error {
		_ = os.WriteFile(filepath.Join(dir, "half"), nil, 0o644)
		return broken
	}); !errors.Is(err, broken) {
		t.Fatalf("the error is %v", err)
	}
	root, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	// A kill leaves the unfinished folder.
	if err := os.MkdirAll(filepath.Join(root, "bin", ".unfinished", "rest"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := Ensure(t.Context(), "bin", "key", func(dir string) error {
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) > 0 {
			t.Errorf("the folder to fill has %v", entries)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(dir) != "key" {
		t.Errorf("the entry is %s", dir)
	}
}

func TestOldEntriesGoAndTheNewestStay(t *testing.T) {
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	var last string
	for i := range keep + 2 {
		var err error
		if last, err = Ensure(t.Context(), "bin", strconv.Itoa(i), func(string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(last), "[0-9]*"))
	if err != nil || len(left) != keep {
		t.Errorf("%d entries are left: %v (%v)", len(left), left, err)
	}
	if _, err := os.Stat(last); err != nil {
		t.Errorf("the newest is gone: %v", err)
	}
}

func TestAFullDiskIsExplained(t *testing.T) {
	t.Setenv("KUBEOPERA_CACHE", t.TempDir())
	_, err := Ensure(t.Context(), "bin", "key", func(string) error { return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} })
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("the error is %v", err)
	}
}
