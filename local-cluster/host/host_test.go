package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestASecondLockWaitsForTheFirstAndSaysSoOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "a")
	unlock, err := Lock(t.Context(), path, func() { t.Error("the first waits") })
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{}, 10)
	got := make(chan error)
	go func() {
		unlock, err := Lock(t.Context(), path, func() { waiting <- struct{}{} })
		if err == nil {
			unlock()
		}
		got <- err
	}()
	<-waiting
	select {
	case <-got:
		t.Fatal("the second did not wait")
	case <-time.After(120 * time.Millisecond): // more than one look of the second
	}
	unlock()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if len(waiting) > 0 {
		t.Error("it was said more than once")
	}
}

func TestWaitingForALockEndsWhenItIsNoLongerWanted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	unlock, err := Lock(t.Context(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Lock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestMissingProgramsAreNamedWithTheirPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("only root is told about programs")
	}
	t.Setenv("PATH", t.TempDir())
	err := Check(false)
	if err == nil || !strings.Contains(err.Error(), "apt-get install iproute2 iptables util-linux procps") {
		t.Errorf("without any program the error is %v", err)
	}
}

func TestTooLittleRoomIsToldInMegabytes(t *testing.T) {
	if err := Room(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	if err := Room(t.TempDir(), 1<<62); err == nil || !strings.Contains(err.Error(), "KUBEOPERA_LOCAL_STATE") {
		t.Errorf("the error is %v", err)
	}
}
