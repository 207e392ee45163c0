package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cert-manager/cert-manager/pkg/issuer/acme/http/solver"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/spf13/pflag"
)

// acmeSolver answers the HTTP-01 challenge of one domain until it is stopped.
func acmeSolver(ctx context.Context, args []string) error {
	challenge := &solver.HTTP01Solver{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.IntVar(&challenge.ListenPort, "listen-port", 8089, "port to answer on")
	flags.StringVar(&challenge.Domain, "domain", "", "domain of the challenge")
	flags.StringVar(&challenge.Token, "token", "", "token of the challenge")
	flags.StringVar(&challenge.Key, "key", "", "answer to the challenge")
	if err := flags.Parse(args); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- challenge.Listen(logf.FromContext(ctx)) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	finish, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := challenge.Shutdown(finish); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
