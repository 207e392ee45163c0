package main

import (
	"context"

	configuration "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/apis/config/webhook/validation"
	server "github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/configfile"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

// webhook serves admission of cert-manager's resources, with a certificate from a CA of its own.
func webhook(ctx context.Context, args []string) error {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	file := configfile.New()
	if err := configure(args, config, options.AddConfigFlags, func(path string) (*configuration.WebhookConfiguration, error) {
		err := load(path, file)
		return file.Config, err
	}); err != nil {
		return err
	}
	if problems := validation.ValidateWebhookConfiguration(config, nil); len(problems) > 0 {
		return problems.ToAggregate()
	}
	if err := apply(config.FeatureGates, &config.Logging); err != nil {
		return err
	}
	serving, err := server.NewCertManagerWebhookServer(logf.FromContext(ctx), *config)
	if err != nil {
		return err
	}
	return serving.Run(ctx)
}
