package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubeopera.io/local-cluster/image"
)

// fresh is an empty registry on a free port of the loopback address; it is stopped when the test ends.
func fresh(t *testing.T) Registry {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a real registry")
	}
	if _, err := find(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	registry := Registry{Dir: filepath.Join(t.TempDir(), "registry"), Address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registry.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return registry
}

func up(t *testing.T, registry Registry) int {
	t.Helper()
	if err := registry.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	pids := registry.processes()
	if len(pids) != 1 {
		t.Fatalf("the registry runs as processes %v", pids)
	}
	return pids[0]
}

func TestARegistryIsStartedOnce(t *testing.T) {
	registry := fresh(t)
	if first, second := up(t, registry), up(t, registry); first != second {
		t.Errorf("process %d was replaced by %d", first, second)
	}
}

func TestStartsAtTheSameTimeGiveOneRegistry(t *testing.T) {
	registry := fresh(t)
	results := make(chan error)
	for range 4 {
		go func() { results <- registry.Up(t.Context()) }()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if pids := registry.processes(); len(pids) != 1 {
		t.Errorf("the registry runs as processes %v", pids)
	}
}

func TestWhatAFillReplacedIsGoneAfterTheNextStart(t *testing.T) {
	registry := fresh(t)
	up(t, registry)
	old, replacement := made(t, "example.org/thing:v1", strings.Repeat("old", 1000)), made(t, "example.org/thing:v1", strings.Repeat("new", 1000))
	for _, entry := range []Entry{old, replacement} {
		if _, err := registry.Fill(t.Context(), []Entry{entry}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	up(t, registry)
	for _, test := range []struct {
		entry  Entry
		wanted bool
	}{{old, false}, {replacement, true}} {
		built, err := test.entry.build(t.Context(), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		layer := filepath.Join(registry.Dir, "content/docker/registry/v2/blobs/sha256", built.Layer.Digest[7:9], built.Layer.Digest[7:], "data")
		if _, err := os.Stat(layer); (err == nil) != test.wanted {
			t.Errorf("the layer %s: %v, wanted there: %v", layer, err, test.wanted)
		}
	}
	if filled, err := registry.Fill(t.Context(), []Entry{replacement}, io.Discard); err != nil || filled.Added != 0 {
		t.Errorf("what was kept is uploaded again: %+v (%v)", filled, err)
	}
}

func TestAKilledRegistryIsStartedAgainWithItsContent(t *testing.T) {
	registry := fresh(t)
	pid := up(t, registry)
	entry := made(t, "example.org/thing:v1", "content")
	if _, err := registry.Fill(t.Context(), []Entry{entry}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if again := up(t, registry); again == pid {
		t.Errorf("process %d survived", pid)
	}
	if has, err := registry.Has(t.Context(), entry.Name); err != nil || !has {
		t.Errorf("the content is gone (%v)", err)
	}
}

// suspend stops a process and waits until each of its threads stands still: until then it may answer.
func suspend(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		runs := slices.ContainsFunc(threads, func(thread string) bool {
			content, err := os.ReadFile(thread)
			// The state follows the name, which is in parentheses.
			return err == nil && !bytes.Contains(content, []byte(") T "))
		})
		if len(threads) > 0 && !runs {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d does not stand still", pid)
		}
	}
}

func TestARegistryThatDoesNotAnswerIsReplaced(t *testing.T) {
	registry := fresh(t)
	pid := up(t, registry)
	suspend(t, pid)
	if again := up(t, registry); again == pid {
		t.Errorf("process %d is stopped and still the registry", pid)
	}
}

func TestOnlyTheMachinesOwnerWrites(t *testing.T) {
	registry := fresh(t)
	up(t, registry)
	entry := made(t, "example.org/thing:v1", "content")
	built, err := entry.build(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	// While it is filled, too.
	if err := registry.writing(t.Context(), func(owner *http.Client) error {
		if err := registry.put(t.Context(), client, entry.Name, built); err == nil || !strings.Contains(err.Error(), "405") {
			t.Errorf("pushing where clusters pull: %v", err)
		}
		info, err := os.Stat(registry.socket())
		if err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("others may write to %v: %v", info, err)
		}
		return registry.put(t.Context(), owner, entry.Name, built)
	}); err != nil {
		t.Fatal(err)
	}
	if has, err := registry.Has(t.Context(), entry.Name); err != nil || !has {
		t.Errorf("what the owner wrote is not there: %v", err)
	}
	for path, method := range map[string]string{"blobs/uploads/": http.MethodPost, "manifests/v1": http.MethodDelete} {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+registry.Address+"/v2/example.org/thing/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s of %s gives %s", method, path, response.Status)
		}
	}
}

func TestARegistryOfAnotherConfigurationIsReplaced(t *testing.T) {
	registry := fresh(t)
	pid := up(t, registry)
	if err := os.WriteFile(registry.configuration(), registry.content("tcp", registry.Address, false), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := up(t, registry); again == pid {
		t.Errorf("process %d takes pushes from anybody", pid)
	}
}

func TestWaitingForTheRegistrysLockEndsWhenItIsNoLongerWanted(t *testing.T) {
	registry := fresh(t)
	unlock, err := registry.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := registry.Up(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

func TestDownLeavesNothingRunningAndMayBeSaidTwice(t *testing.T) {
	registry := fresh(t)
	up(t, registry)
	for range 2 {
		if err := registry.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pids := registry.processes(); len(pids) > 0 {
			t.Fatalf("processes %v are left", pids)
		}
	}
}

func TestATakenPortIsNamedWithWhatToDo(t *testing.T) {
	registry := fresh(t)
	listener, err := net.Listen("tcp", registry.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_ = connection.Close()
		}
	}()
	err = registry.Up(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another program listens on port") {
		t.Errorf("it says %v", err)
	}
}

func TestASecondFillUploadsNothing(t *testing.T) {
	registry := fresh(t)
	up(t, registry)
	entries := []Entry{made(t, "example.org/thing:v1", "one"), made(t, "example.org/other:v1", "two")}
	for _, wanted := range []Filled{{Added: 2}, {Unchanged: 2}} {
		filled, err := registry.Fill(t.Context(), entries, io.Discard)
		if err != nil || filled != wanted {
			t.Fatalf("filled %+v (%v), not %+v", filled, err, wanted)
		}
	}
	var told bytes.Buffer
	entries[1] = made(t, "example.org/other:v1", "three")
	filled, err := registry.Fill(t.Context(), entries, &told)
	if err != nil || filled != (Filled{Added: 1, Unchanged: 1}) {
		t.Errorf("after a change it filled %+v (%v)", filled, err)
	}
	if !strings.Contains(told.String(), "/example.org/other:v1") || strings.Contains(told.String(), "thing") {
		t.Errorf("it told %q", told.String())
	}
}

func TestAProgramThatCannotBeReadIsNamed(t *testing.T) {
	registry := fresh(t)
	up(t, registry)
	var list catalog
	list.image(RealImage, "example.org/thing:v1", func(context.Context, io.Writer) (image.Image, error) {
		return image.Image{Files: []image.File{image.Program("/nowhere/thing", "thing")}}, nil
	})
	if _, err := registry.Fill(t.Context(), list.entries, io.Discard); err == nil || !strings.Contains(err.Error(), "example.org/thing:v1") {
		t.Errorf("it says %v", err)
	}
}

// made is an entry whose image holds one file with the content.
func made(t *testing.T, upstream, content string) Entry {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	var list catalog
	list.image(RealImage, upstream, func(context.Context, io.Writer) (image.Image, error) {
		return image.Image{Files: []image.File{image.Program(file, "program")}}, nil
	})
	if list.err != nil {
		t.Fatal(list.err)
	}
	return list.entries[0]
}
