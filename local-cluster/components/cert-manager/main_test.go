package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	cainjectorconfig "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	controllerconfig "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	webhookconfig "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/pkg/controller/configfile"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
	"github.com/spf13/pflag"
)

func TestAProgramThatDoesNotExistIsAnsweredWithThoseThatDo(t *testing.T) {
	for _, arguments := range [][]string{nil, {"ctl"}} {
		err := run(t.Context(), arguments)
		if err == nil || !strings.Contains(err.Error(), "acmesolver, cainjector, controller, startupapicheck, webhook") {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestTheCommandLineWinsOverTheFileAndTheFileOverTheDefaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	content := "apiVersion: controller.config.cert-manager.io/v1alpha1\nkind: ControllerConfiguration\n" +
		"maxConcurrentChallenges: 7\nnumberOfConcurrentWorkers: 3\ncontrollers: [issuers]\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := controllerDefaults()
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"--config=" + file, "--max-concurrent-challenges=9", "--controllers=*", "--controllers=-clusterissuers"}
	if err := configure(arguments, config, controllerFlags, func(path string) (*controllerconfig.ControllerConfiguration, error) {
		read := configfile.New()
		err := load(path, read)
		return read.Config, err
	}); err != nil {
		t.Fatal(err)
	}
	if config.MaxConcurrentChallenges != 9 || config.NumberOfConcurrentWorkers != 3 || config.HealthzListenAddress == "" {
		t.Errorf("%d challenges, %d workers, health at %q", config.MaxConcurrentChallenges, config.NumberOfConcurrentWorkers, config.HealthzListenAddress)
	}
	if strings.Join(config.Controllers, " ") != "* -clusterissuers" {
		t.Errorf("the controllers are %v", config.Controllers)
	}
}

func TestAFieldTheFileMayNotHaveIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	content := "apiVersion: controller.config.cert-manager.io/v1alpha1\nkind: ControllerConfiguration\nmaxChallenges: 7\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := load(file, configfile.New()); err == nil || !strings.Contains(err.Error(), "maxChallenges") {
		t.Errorf("it says %v", err)
	}
}

// A newer chart may pass flags that start-up code written for an older one does not know: its pods would end at once.
func TestEveryFlagOfTheChartIsKnown(t *testing.T) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	templates := filepath.Join(strings.TrimSpace(string(output)), "deploy", "charts", "cert-manager", "templates")
	for template, register := range map[string]func(*pflag.FlagSet){
		"deployment.yaml":            func(flags *pflag.FlagSet) { controllerFlags(flags, &controllerconfig.ControllerConfiguration{}) },
		"cainjector-deployment.yaml": func(flags *pflag.FlagSet) { cainjectorFlags(flags, &cainjectorconfig.CAInjectorConfiguration{}) },
		"webhook-deployment.yaml":    func(flags *pflag.FlagSet) { options.AddConfigFlags(flags, &webhookconfig.WebhookConfiguration{}) },
	} {
		content, err := os.ReadFile(filepath.Join(templates, template))
		if err != nil {
			t.Fatal(err)
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		register(flags)
		flags.String("config", "", "")
		named := regexp.MustCompile(`(?m)^\s*- --([a-z0-9-]+)`).FindAllStringSubmatch(string(content), -1)
		if len(named) < 3 {
			t.Errorf("%s names only the flags %v", template, named)
		}
		for _, flag := range named {
			if flags.Lookup(flag[1]) == nil {
				t.Errorf("%s passes --%s, which is not known", template, flag[1])
			}
		}
	}
}
