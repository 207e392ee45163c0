// Command local-cluster runs real Kubernetes clusters on one machine, built from Go modules.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

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
	fmt.Fprintf(os.Stderr, "local-cluster: %v\n", err)
	os.Exit(1)
}
