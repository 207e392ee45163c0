// Package cache keeps what is expensive to make, outside the checkout, under the hash of what it was made from. An entry is
// complete or absent: it is made in a folder of its own and renamed into place, so a kill at any moment costs only the time spent.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"kubeopera.io/local-cluster/host"
)

// keep is how many entries of one kind stay: the one in use, the one before (a branch switched back) and one to spare.
const keep = 3

// Dir is the folder of the cache: KUBEOPERA_CACHE, or kubeopera in the user's cache folder, and local-cluster below it.
func Dir() (string, error) {
	base := os.Getenv("KUBEOPERA_CACHE")
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("there is no folder for the cache: %w; set KUBEOPERA_CACHE to one", err)
		}
		base = filepath.Join(user, "kubeopera")
	}
	return filepath.Join(base, "local-cluster"), nil
}

// Ensure returns the folder of the entry with this kind (a path such as "bin/flux") and key. When it is not there yet, fill is
// called with an empty folder to fill. Two processes that want one entry wait for each other; the second finds it made,
// or ends with its context.
func Ensure(ctx context.Context, kind, key string, fill func(dir string) error) (string, error) {
	root, err := Dir()
	if err != nil {
		return "", err
	}
	parent := filepath.Join(root, kind)
	entry := filepath.Join(parent, key)
	if _, err := os.Stat(entry); err == nil {
		now := time.Now()
		_ = os.Chtimes(entry, now, now) // the time of last use decides what is thrown away
		return entry, nil
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("the cache folder cannot be made: %w", err)
	}
	unlock, err := host.Lock(ctx, filepath.Join(parent, ".lock"), func() {
		fmt.Fprintf(os.Stderr, "another process fills %s: waiting for it\n", parent)
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(entry); err == nil {
		return entry, nil
	}
	unfinished := filepath.Join(parent, ".unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		return "", err
	}
	if err := os.Mkdir(unfinished, 0o755); err != nil {
		return "", err
	}
	if err := fill(unfinished); err != nil {
		_ = os.RemoveAll(unfinished)
		return "", explain(err, parent)
	}
	if err := os.Rename(unfinished, entry); err != nil {
		return "", err
	}
	prune(parent)
	return entry, nil
}

// explain says what to do about a full disk; every other error stays as it is.
func explain(err error, where string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is full at %s (%w): free some space, or set KUBEOPERA_CACHE to a folder on another disk", where, err)
	}
	return err
}

// prune removes the entries that were not used for longest. An entry in use by a running cluster may go: running programs keep
// their files open, and the next `up` makes the entry again.
func prune(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	type used struct {
		path string
		at   time.Time
	}
	var all []used
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && entry.Name()[0] != '.' {
			all = append(all, used{filepath.Join(parent, entry.Name()), info.ModTime()})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].at.After(all[j].at) })
	for i := keep; i < len(all); i++ {
		_ = os.RemoveAll(all[i].path)
	}
}

// Key is the hash of everything an entry is made from.
type Key struct{ sum hash.Hash }

// NewKey starts a key.
func NewKey() *Key { return &Key{sha256.New()} }

// Text adds words: versions, flags, names. Each is framed by its length, so that ("ab","c") and ("a","bc") differ.
func (k *Key) Text(words ...string) *Key {
	for _, word := range words {
		_, _ = fmt.Fprintf(k.sum, "text %d\n%s\n", len(word), word)
	}
	return k
}

// Tree adds every regular file below dir with its relative path and content. Names, not times, decide the order.
func (k *Key) Tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return k.file(path, relative)
	})
}

func (k *Key) file(path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(k.sum, "file %d %d\n%s\n", len(name), info.Size(), name)
	_, err = io.Copy(k.sum, file)
	return err
}

// String is the key in the form it has in paths: 24 hexadecimal digits.
func (k *Key) String() string { return hex.EncodeToString(k.sum.Sum(nil))[:24] }
