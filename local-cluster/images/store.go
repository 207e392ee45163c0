package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"kubeopera.io/local-cluster/cache"
)

// StoreCommand is the hidden command with which this program fills a store in namespaces of its own.
const StoreCommand = "__store"

// storeLimit is how long containerd may take to answer while a store is filled.
const storeLimit = 30 * time.Second

// Store returns containerd's data with the sets' images imported, made once for all nodes of all clusters; Clone gives each its own.
func Store(ctx context.Context, progress io.Writer, sets ...Set) (string, error) {
	version, err := exec.CommandContext(ctx, "containerd", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("containerd does not tell its version: %w", err)
	}
	key := cache.NewKey().Text(layout, string(version))
	var files []string
	for _, set := range sets {
		path, setKey, err := set.File(ctx, progress)
		if err != nil {
			return "", err
		}
		key.Text(set.Name, setKey)
		files = append(files, path)
	}
	return cache.Ensure(ctx, "containerd", key.String(), func(dir string) error {
		fmt.Fprintln(progress, "importing the images of nodes (once)")
		return fill(ctx, filepath.Join(dir, "store"), files)
	})
}

// order is what the hidden command is given.
type order struct {
	Store string
	Files []string
}

// fill runs the hidden command in process and mount namespaces of its own: when this process is killed it dies too, with containerd and
// every mount that containerd made.
func fill(ctx context.Context, store string, files []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argument, err := json.Marshal(order{store, files})
	if err != nil {
		return err
	}
	var output strings.Builder
	command := exec.CommandContext(ctx, self, StoreCommand, string(argument))
	command.Stdout, command.Stderr = &output, &output
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	// The signal is sent when the thread that started the process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := command.Run(); err != nil {
		return fmt.Errorf("the images of nodes cannot be imported: %w: %s", err, strings.TrimSpace(output.String()))
	}
	return nil
}

// Fill is the hidden command: it starts containerd on an empty store, imports the files and stops it again.
func Fill(argument string) error {
	var given order
	if err := json.Unmarshal([]byte(argument), &given); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	const config, socket = "/run/containerd.toml", "/run/containerd.sock"
	text := fmt.Sprintf("version = 2\nroot = %q\nstate = \"/run/containerd\"\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n", given.Store, socket)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	containerd := exec.Command("containerd", "--config", config, "--log-level", "error")
	containerd.Stdout, containerd.Stderr = os.Stdout, os.Stderr
	if err := containerd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(storeLimit); exec.Command("ctr", "--address", socket, "version").Run() != nil; {
		if time.Now().After(deadline) {
			return errors.New("containerd does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, file := range given.Files {
		output, err := exec.Command("ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", file, err, output)
		}
	}
	if err := containerd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return containerd.Wait()
}

// Clone gives a node a store of its own. What containerd never changes, the blobs and the files of layers, is shared by hard links where
// the two folders are on one file system; its databases are copied. The clone is there whole or not at all.
func Clone(store, to string) error {
	unfinished := to + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	source := filepath.Join(store, "store")
	if err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		return cloneEntry(path, filepath.Join(unfinished, relative), relative, entry)
	}); err != nil {
		return fmt.Errorf("the images cannot be given to a node: %w", err)
	}
	return os.Rename(unfinished, to)
}

func cloneEntry(from, to, relative string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case entry.IsDir():
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
		// The mode as it is, with the sticky bit of a layer's /tmp.
		return os.Chmod(to, info.Mode())
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !entry.Type().IsRegular():
		return nil
	}
	if unchanging(relative) {
		if err := os.Link(from, to); err == nil || !errors.Is(err, syscall.EXDEV) && !errors.Is(err, syscall.EMLINK) {
			return err
		}
	}
	return copyFile(from, to, info.Mode())
}

// unchanging says whether containerd only ever reads or removes the file: a blob, or a file in a layer.
func unchanging(relative string) bool {
	return strings.HasPrefix(relative, "io.containerd.content.v1.content/blobs/") ||
		strings.HasPrefix(relative, "io.containerd.snapshotter.v1.overlayfs/snapshots/")
}

func copyFile(from, to string, mode fs.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		_ = target.Close()
		return err
	}
	return target.Close()
}
