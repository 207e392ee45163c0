package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	configuration "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/scheme"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/validation"
	"github.com/cert-manager/cert-manager/pkg/acme/accounts"
	versioned "github.com/cert-manager/cert-manager/pkg/apis/config/controller/v1alpha1"
	controllers "github.com/cert-manager/cert-manager/pkg/controller"
	gateways "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/gateways"
	"github.com/cert-manager/cert-manager/pkg/controller/configfile"
	"github.com/cert-manager/cert-manager/pkg/healthz"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/util"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/metrics"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"

	// Each of these adds an issuer type or a controller to the registries that are walked below; the controllers of
	// certificates and of requests come with the configuration's defaults.
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/vault"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/venafi"
)

// controller runs the controllers of issuers, certificates and ACME orders, on one elected instance at a time.
func controller(ctx context.Context, args []string) error {
	config, err := controllerDefaults()
	if err != nil {
		return err
	}
	if err := configure(args, config, controllerFlags, func(path string) (*configuration.ControllerConfiguration, error) {
		file := configfile.New()
		err := load(path, file)
		return file.Config, err
	}); err != nil {
		return err
	}
	if problems := validation.ValidateControllerConfiguration(config, nil); len(problems) > 0 {
		return problems.ToAggregate()
	}
	if err := apply(config.FeatureGates, &config.Logging); err != nil {
		return err
	}
	return runControllers(ctx, config)
}

func controllerDefaults() (*configuration.ControllerConfiguration, error) {
	types, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	defaults, config := &versioned.ControllerConfiguration{}, &configuration.ControllerConfiguration{}
	types.Default(defaults)
	return config, types.Convert(defaults, config, nil)
}

// controllerFlags are the flags the Helm chart can set; its config value reaches everything else.
func controllerFlags(flags *pflag.FlagSet, c *configuration.ControllerConfiguration) {
	flags.StringVar(&c.KubeConfig, "kubeconfig", c.KubeConfig, "kubeconfig to use outside a cluster")
	flags.StringVar(&c.ClusterResourceNamespace, "cluster-resource-namespace", c.ClusterResourceNamespace, "namespace of what belongs to a ClusterIssuer")
	flags.StringVar(&c.LeaderElectionConfig.Namespace, "leader-election-namespace", c.LeaderElectionConfig.Namespace, "namespace of the leader's Lease")
	flags.BoolVar(&c.LeaderElectionConfig.Enabled, "leader-elect", c.LeaderElectionConfig.Enabled, "let one instance work at a time")
	flags.DurationVar(&c.LeaderElectionConfig.LeaseDuration, "leader-election-lease-duration", c.LeaderElectionConfig.LeaseDuration, "how long a silent leader stays leader")
	flags.DurationVar(&c.LeaderElectionConfig.RenewDeadline, "leader-election-renew-deadline", c.LeaderElectionConfig.RenewDeadline, "when a leader that cannot renew gives up")
	flags.DurationVar(&c.LeaderElectionConfig.RetryPeriod, "leader-election-retry-period", c.LeaderElectionConfig.RetryPeriod, "time between tries to lead")
	flags.StringSliceVar(&c.Controllers, "controllers", c.Controllers, "controllers to run: *, name or -name")
	flags.StringVar(&c.ACMEHTTP01Config.SolverImage, "acme-http01-solver-image", c.ACMEHTTP01Config.SolverImage, "image that answers HTTP-01 challenges")
	flags.StringSliceVar(&c.ACMEHTTP01Config.SolverNameservers, "acme-http01-solver-nameservers", c.ACMEHTTP01Config.SolverNameservers, "name servers for the self check of HTTP-01 challenges, host:port")
	flags.StringVar(&c.IngressShimConfig.DefaultIssuerName, "default-issuer-name", c.IngressShimConfig.DefaultIssuerName, "issuer of an Ingress that names none")
	flags.StringVar(&c.IngressShimConfig.DefaultIssuerKind, "default-issuer-kind", c.IngressShimConfig.DefaultIssuerKind, "kind of that issuer")
	flags.StringVar(&c.IngressShimConfig.DefaultIssuerGroup, "default-issuer-group", c.IngressShimConfig.DefaultIssuerGroup, "API group of that issuer")
	flags.IntVar(&c.MaxConcurrentChallenges, "max-concurrent-challenges", c.MaxConcurrentChallenges, "challenges that may be under way at once")
	flags.BoolVar(&c.EnableCertificateOwnerRef, "enable-certificate-owner-ref", c.EnableCertificateOwnerRef, "delete a Certificate's Secret with it")
	flags.BoolVar(&c.EnableGatewayAPI, "enable-gateway-api", c.EnableGatewayAPI, "serve Gateways too; their CRDs must exist")
	flags.BoolVar(&c.ACMEDNS01Config.RecursiveNameserversOnly, "dns01-recursive-nameservers-only", c.ACMEDNS01Config.RecursiveNameserversOnly, "never ask authoritative name servers")
	flags.StringSliceVar(&c.ACMEDNS01Config.RecursiveNameservers, "dns01-recursive-nameservers", c.ACMEDNS01Config.RecursiveNameservers, "name servers for the self check of DNS-01 challenges, host:port")
	flags.Var(flag.NewMapStringBool(&c.FeatureGates), "feature-gates", "feature=true or feature=false")
	logf.AddFlags(&c.Logging, flags)
}

func runControllers(ctx context.Context, config *configuration.ControllerConfiguration) error {
	factory, err := contextFactory(ctx, config)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	health := healthz.NewServer(config.LeaderElectionConfig.HealthzTimeout)
	group, ctx := errgroup.WithContext(ctx)
	if err := listen(ctx, config.HealthzListenAddress, func(l net.Listener) { group.Go(func() error { return health.Start(ctx, l) }) }); err != nil {
		return err
	}
	if err := listen(ctx, config.MetricsListenAddress, func(l net.Listener) { serveMetrics(ctx, group, shared.Metrics.NewServer(l), l) }); err != nil {
		return err
	}
	if config.LeaderElectionConfig.Enabled {
		if err := lead(ctx, group, config, shared, health.LeaderHealthzAdaptor); err != nil {
			return errors.Join(err, group.Wait())
		}
	}
	if ctx.Err() == nil {
		if err := startEnabled(ctx, group, config, factory); err != nil {
			return err
		}
		shared.SharedInformerFactory.Start(ctx.Done())
		shared.KubeSharedInformerFactory.Start(ctx.Done())
		shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
		if config.EnableGatewayAPI {
			shared.GWShared.Start(ctx.Done())
		}
	}
	return group.Wait()
}

func listen(ctx context.Context, address string, serve func(net.Listener)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	serve(listener)
	return nil
}

func serveMetrics(ctx context.Context, group *errgroup.Group, server *http.Server, listener net.Listener) {
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
}

// lead returns when this instance leads or ctx is over. Losing the lead later fails the group: the process ends, and
// its pod starts anew as a candidate.
func lead(ctx context.Context, group *errgroup.Group, config *configuration.ControllerConfiguration, shared *controllers.Context, watchdog *leaderelection.HealthzAdaptor) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, config.LeaderElectionConfig.Namespace, "cert-manager-controller",
		shared.Client.CoreV1(), shared.Client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: host, EventRecorder: shared.Recorder})
	if err != nil {
		return err
	}
	elected := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   config.LeaderElectionConfig.LeaseDuration,
		RenewDeadline:   config.LeaderElectionConfig.RenewDeadline,
		RetryPeriod:     config.LeaderElectionConfig.RetryPeriod,
		ReleaseOnCancel: true,
		WatchDog:        watchdog,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(elected) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	group.Go(func() error {
		elector.Run(ctx)
		if ctx.Err() == nil {
			return errors.New("another instance became leader")
		}
		return nil
	})
	select {
	case <-elected:
	case <-ctx.Done():
	}
	return nil
}

// startEnabled starts the controllers that config names; "*" stands for the ones cert-manager enables by default.
func startEnabled(ctx context.Context, group *errgroup.Group, config *configuration.ControllerConfiguration, factory *controllers.ContextFactory) error {
	enabled := slices.DeleteFunc(slices.Clone(config.Controllers), func(name string) bool { return strings.HasPrefix(name, "-") })
	if len(enabled) == 0 || slices.Contains(enabled, "*") {
		enabled = append(enabled, v1alpha1.DefaultEnabledControllers...)
	}
	if config.EnableGatewayAPI {
		enabled = append(enabled, gateways.ControllerName)
	}
	for name, build := range controllers.Known() {
		disabled := slices.Contains(config.Controllers, "-"+name) ||
			config.Namespace != "" && slices.Contains(v1alpha1.ClusterScopedControllers, name)
		if disabled || !slices.Contains(enabled, name) {
			continue
		}
		built, err := build(factory)
		if err != nil {
			return fmt.Errorf("cannot start the controller %s: %w", name, err)
		}
		group.Go(func() error { return built.Run(config.NumberOfConcurrentWorkers, ctx) })
	}
	return nil
}

func contextFactory(ctx context.Context, config *configuration.ControllerConfiguration) (*controllers.ContextFactory, error) {
	solver, nameservers := config.ACMEHTTP01Config, config.ACMEDNS01Config.RecursiveNameservers
	if len(nameservers) == 0 {
		nameservers = util.RecursiveNameservers
	}
	quantities := map[string]resource.Quantity{}
	for _, text := range []string{solver.SolverResourceRequestCPU, solver.SolverResourceRequestMemory, solver.SolverResourceLimitsCPU, solver.SolverResourceLimitsMemory} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("the HTTP-01 solver's resources: %q is no quantity: %w", text, err)
		}
		quantities[text] = quantity
	}
	return controllers.NewContextFactory(ctx, controllers.ContextOptions{
		Kubeconfig:         config.KubeConfig,
		APIServerHost:      config.APIServerHost,
		KubernetesAPIQPS:   config.KubernetesAPIQPS,
		KubernetesAPIBurst: config.KubernetesAPIBurst,
		Namespace:          config.Namespace,
		Clock:              clock.RealClock{},
		Metrics:            metrics.New(logf.FromContext(ctx), clock.RealClock{}),
		ACMEOptions: controllers.ACMEOptions{
			HTTP01SolverImage:                 solver.SolverImage,
			HTTP01SolverNameservers:           solver.SolverNameservers,
			HTTP01SolverResourceRequestCPU:    quantities[solver.SolverResourceRequestCPU],
			HTTP01SolverResourceRequestMemory: quantities[solver.SolverResourceRequestMemory],
			HTTP01SolverResourceLimitsCPU:     quantities[solver.SolverResourceLimitsCPU],
			HTTP01SolverResourceLimitsMemory:  quantities[solver.SolverResourceLimitsMemory],
			ACMEHTTP01SolverRunAsNonRoot:      solver.SolverRunAsNonRoot,
			DNS01Nameservers:                  nameservers,
			DNS01CheckRetryPeriod:             config.ACMEDNS01Config.CheckRetryPeriod,
			DNS01CheckAuthoritative:           !config.ACMEDNS01Config.RecursiveNameserversOnly,
			AccountRegistry:                   accounts.NewDefaultRegistry(),
		},
		IssuerOptions: controllers.IssuerOptions{
			ClusterResourceNamespace:        config.ClusterResourceNamespace,
			ClusterIssuerAmbientCredentials: config.ClusterIssuerAmbientCredentials,
			IssuerAmbientCredentials:        config.IssuerAmbientCredentials,
		},
		IngressShimOptions: controllers.IngressShimOptions{
			DefaultIssuerName:                 config.IngressShimConfig.DefaultIssuerName,
			DefaultIssuerKind:                 config.IngressShimConfig.DefaultIssuerKind,
			DefaultIssuerGroup:                config.IngressShimConfig.DefaultIssuerGroup,
			DefaultAutoCertificateAnnotations: config.IngressShimConfig.DefaultAutoCertificateAnnotations,
			ExtraCertificateAnnotations:       config.IngressShimConfig.ExtraCertificateAnnotations,
		},
		CertificateOptions: controllers.CertificateOptions{
			EnableOwnerRef:           config.EnableCertificateOwnerRef,
			CopiedAnnotationPrefixes: config.CopiedAnnotationPrefixes,
		},
		SchedulerOptions: controllers.SchedulerOptions{MaxConcurrentChallenges: config.MaxConcurrentChallenges},
		ConfigOptions:    controllers.ConfigOptions{EnableGatewayAPI: config.EnableGatewayAPI},
	})
}
