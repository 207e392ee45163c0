// Command local-cluster runs real Kubernetes clusters on one machine, built from Go modules.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"kubeopera.io/local-cluster/cluster"
)

func main() {
	if handled, err := cluster.Hidden(os.Args[1:]); handled {
		fail(err)
		return
	}
	keepToItself()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fail(root().ExecuteContext(ctx))
}

// keepToItself sees to it that what the caller has open, such as a lock, is not kept open by the programs that stay.
func keepToItself() {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		if descriptor, err := strconv.Atoi(entry.Name()); err == nil && descriptor > 2 {
			syscall.CloseOnExec(descriptor)
		}
	}
}

func fail(err error) {
	if err == nil {
		return
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "interrupted; the same command continues where this one stopped")
		os.Exit(130)
	}
	advice := ""
	// Programs that were called only print it, so it is looked for in the text.
	if strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		advice = "\nA disk is full: free some space, or set KUBEOPERA_LOCAL_STATE and KUBEOPERA_CACHE to folders on another disk; the same command then continues."
	}
	fmt.Fprintf(os.Stderr, "local-cluster: %v%s\n", err, advice)
	os.Exit(1)
}
