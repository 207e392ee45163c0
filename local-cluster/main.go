// Command local-cluster runs real Kubernetes clusters on one machine, built from Go modules.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"kubeopera.io/local-cluster/cluster"
	"kubeopera.io/local-cluster/machine"
)

func main() {
	if len(os.Args) == 3 {
		// This program calls itself inside the machines that it makes.
		switch os.Args[1] {
		case machine.FirstCommand:
			fail(machine.First(os.Args[2]))
		case machine.DaemonCommand:
			fail(machine.StartDaemon(os.Args[2]))
			return
		case cluster.ResolveCommand:
			fail(cluster.Resolve(os.Args[2]))
			return
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fail(root().ExecuteContext(ctx))
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
