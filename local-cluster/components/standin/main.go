// Command standin is the program inside every stand-in image: it takes the place of a program whose real build a
// local cluster does not have yet. It answers probes and scrapes and stops when it is told to, so that workloads
// become ready, are restarted and are drained as the real ones are; it does no other work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", ":8080", "address to serve HTTP on")
	name := flag.String("name", "standin", "the workload this process stands in for")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx, *listen, *name); err != nil {
		fmt.Fprintf(os.Stderr, "%s (stand-in) cannot serve on %s: %v\n", *name, *listen, err)
		os.Exit(1)
	}
}

// serve answers on listen until ctx ends, then finishes the requests under way.
func serve(ctx context.Context, listen, name string) error {
	server := &http.Server{
		Addr:              listen,
		Handler:           handler(ctx, name),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	finish, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(finish); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// handler serves /healthz, /readyz and /metrics; every other path names the workload. Readiness ends with ctx, before
// the listener does, so that a Service stops sending requests to a process that is about to go.
func handler(ctx context.Context, name string) http.Handler {
	started := time.Now()
	var requests atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintf(w, "# TYPE standin_requests_total counter\nstandin_requests_total{workload=%q} %d\n", name, requests.Load())
		fmt.Fprintf(w, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", started.Unix())
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprintf(w, "%s (stand-in)\n", name)
	})
	return mux
}
