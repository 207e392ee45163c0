package main

import (
	"context"

	configuration "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	"github.com/cert-manager/cert-manager/internal/apis/config/cainjector/scheme"
	"github.com/cert-manager/cert-manager/internal/apis/config/cainjector/validation"
	"github.com/cert-manager/cert-manager/internal/kube"
	versioned "github.com/cert-manager/cert-manager/pkg/apis/config/cainjector/v1alpha1"
	configfile "github.com/cert-manager/cert-manager/pkg/cainjector/configfile"
	certmanager "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	injectors "github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/cli/flag"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// cainjector writes CA bundles into the webhooks, API services and CRDs that ask for them.
func cainjector(ctx context.Context, args []string) error {
	config, err := cainjectorDefaults()
	if err != nil {
		return err
	}
	if err := configure(args, config, cainjectorFlags, func(path string) (*configuration.CAInjectorConfiguration, error) {
		file := configfile.New()
		err := load(path, file)
		return file.Config, err
	}); err != nil {
		return err
	}
	if problems := validation.ValidateCAInjectorConfiguration(config, nil); len(problems) > 0 {
		return problems.ToAggregate()
	}
	if err := apply(config.FeatureGates, &config.Logging); err != nil {
		return err
	}
	return runInjectors(ctx, config)
}

func cainjectorDefaults() (*configuration.CAInjectorConfiguration, error) {
	types, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	defaults, config := &versioned.CAInjectorConfiguration{}, &configuration.CAInjectorConfiguration{}
	types.Default(defaults)
	return config, types.Convert(defaults, config, nil)
}

// cainjectorFlags are the flags the Helm chart can set; its config value reaches everything else.
func cainjectorFlags(flags *pflag.FlagSet, c *configuration.CAInjectorConfiguration) {
	flags.StringVar(&c.KubeConfig, "kubeconfig", c.KubeConfig, "kubeconfig to use outside a cluster")
	flags.StringVar(&c.Namespace, "namespace", c.Namespace, "the only namespace to watch")
	flags.StringVar(&c.LeaderElectionConfig.Namespace, "leader-election-namespace", c.LeaderElectionConfig.Namespace, "namespace of the leader's Lease")
	flags.BoolVar(&c.LeaderElectionConfig.Enabled, "leader-elect", c.LeaderElectionConfig.Enabled, "let one instance work at a time")
	flags.DurationVar(&c.LeaderElectionConfig.LeaseDuration, "leader-election-lease-duration", c.LeaderElectionConfig.LeaseDuration, "how long a silent leader stays leader")
	flags.DurationVar(&c.LeaderElectionConfig.RenewDeadline, "leader-election-renew-deadline", c.LeaderElectionConfig.RenewDeadline, "when a leader that cannot renew gives up")
	flags.DurationVar(&c.LeaderElectionConfig.RetryPeriod, "leader-election-retry-period", c.LeaderElectionConfig.RetryPeriod, "time between tries to lead")
	flags.StringVar(&c.MetricsListenAddress, "metrics-listen-address", c.MetricsListenAddress, "host:port of the metrics; 0 means none")
	flags.Var(flag.NewMapStringBool(&c.FeatureGates), "feature-gates", "feature=true or feature=false")
	logf.AddFlags(&c.Logging, flags)
}

func runInjectors(ctx context.Context, config *configuration.CAInjectorConfiguration) error {
	rest, err := kube.BuildClientConfig("", config.KubeConfig)
	if err != nil {
		return err
	}
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, certmanager.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(types); err != nil {
			return err
		}
	}
	ctrl.SetLogger(logf.FromContext(ctx))
	manager, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme:  types,
		Metrics: metricsserver.Options{BindAddress: config.MetricsListenAddress},
		// A cluster's Secrets may be many and large: read the few that are needed, do not hold them all.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		LeaderElection:                config.LeaderElectionConfig.Enabled,
		LeaderElectionID:              "cert-manager-cainjector-leader-election",
		LeaderElectionNamespace:       config.LeaderElectionConfig.Namespace,
		LeaderElectionResourceLock:    resourcelock.LeasesResourceLock,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &config.LeaderElectionConfig.LeaseDuration,
		RenewDeadline:                 &config.LeaderElectionConfig.RenewDeadline,
		RetryPeriod:                   &config.LeaderElectionConfig.RetryPeriod,
	})
	if err != nil {
		return err
	}
	if err := injectors.RegisterAllInjectors(ctx, manager, injectors.SetupOptions{
		Namespace:                    config.Namespace,
		EnableCertificatesDataSource: config.EnableDataSourceConfig.Certificates,
		EnabledReconcilersFor: map[string]bool{
			injectors.MutatingWebhookConfigurationName:   config.EnableInjectableConfig.MutatingWebhookConfigurations,
			injectors.ValidatingWebhookConfigurationName: config.EnableInjectableConfig.ValidatingWebhookConfigurations,
			injectors.APIServiceName:                     config.EnableInjectableConfig.APIServices,
			injectors.CustomResourceDefinitionName:       config.EnableInjectableConfig.CustomResourceDefinitions,
		},
	}); err != nil {
		return err
	}
	return manager.Start(ctx)
}
