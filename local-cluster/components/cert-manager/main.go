// Command cert-manager is cert-manager's controller, webhook, cainjector, startupapicheck and acmesolver in one
// program: the first argument says which. cert-manager publishes its packages as a Go module, but keeps its five
// commands in modules that no module proxy serves; so their start-up is written here, and everything they do comes
// from the published module. One program instead of five is also one image layer instead of five.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/configfile"
	utilfeature "github.com/cert-manager/cert-manager/pkg/util/feature"
	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// programs takes the arguments after the program's name.
var programs = map[string]func(ctx context.Context, args []string) error{
	"controller":      controller,
	"webhook":         webhook,
	"cainjector":      cainjector,
	"startupapicheck": startupAPICheck,
	"acmesolver":      acmeSolver,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || programs[args[0]] == nil {
		names := slices.Sorted(maps.Keys(programs))
		return fmt.Errorf("the first argument must be one of %s", strings.Join(names, ", "))
	}
	logf.InitLogs()
	defer logf.FlushLogs()
	if err := programs[args[0]](logf.NewContext(ctx, logf.Log, args[0]), args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// configure fills config from the file that --config names, if there is one, and from the other flags, which win.
func configure[C any](args []string, config *C, register func(*pflag.FlagSet, *C), read func(path string) (*C, error)) error {
	var path string
	parse := func() error {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.StringVar(&path, "config", "", "file with this program's configuration resource")
		register(flags, config)
		return flags.Parse(args)
	}
	if err := parse(); err != nil || path == "" {
		return err
	}
	fromFile, err := read(path)
	if err != nil {
		return fmt.Errorf("cannot read the configuration file %s: %w", path, err)
	}
	*config = *fromFile
	return parse()
}

// load decodes path into file, with the defaults and the strict checks of file's type.
func load(path string, file configfile.ConfigFile) error {
	loader, err := configfile.NewConfigurationFSLoader(nil, path)
	if err != nil {
		return err
	}
	return loader.Load(file)
}

// apply makes the two process-wide settings every configuration carries take effect.
func apply(features map[string]bool, logging *logsapi.LoggingConfiguration) error {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(features); err != nil {
		return fmt.Errorf("cannot set the feature gates: %w", err)
	}
	return logf.ValidateAndApply(logging)
}
