package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cert-manager/cert-manager/internal/kube"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/cmapichecker"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// startupAPICheck is the job the chart runs after an install, as `check api`: it succeeds when the API server accepts
// cert-manager's resources through the webhook.
func startupAPICheck(ctx context.Context, args []string) error {
	var patience, interval time.Duration
	logging := logsapi.NewLoggingConfiguration()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.DurationVar(&patience, "wait", 0, "how long to go on checking; 0 checks once")
	flags.DurationVar(&interval, "interval", 5*time.Second, "time between checks")
	verbose := flags.BoolP("verbose", "v", false, "tell why the API is not ready yet")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if command := flags.Args(); len(command) != 2 || command[0] != "check" || command[1] != "api" {
		return errors.New("the arguments must be: check api")
	}
	if *verbose {
		logging.Verbosity = 2
	}
	if err := logf.ValidateAndApply(logging); err != nil {
		return err
	}
	rest, err := kube.BuildClientConfig("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	checker, err := cmapichecker.New(rest, os.Getenv("POD_NAMESPACE"))
	if err != nil {
		return err
	}
	var last error
	deadline := time.Now().Add(patience)
	err = wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
		if last = checker.Check(ctx); last == nil {
			return true, nil
		}
		logf.FromContext(ctx).V(2).Info("the API is not ready", "reason", last.Error())
		if time.Now().After(deadline) {
			return false, last
		}
		return false, nil
	})
	return err
}
