// Package observability checks what KubeOpera ships for Prometheus and Grafana with Prometheus' own parsers and its own
// engine: what promtool does with rules, and more, without the many clouds that promtool can look for targets in.
package observability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// sample returns what KubeOpera answered at /metrics when the sample was taken: samples by name, and the type of each family.
func sample(t *testing.T) (samples map[string]int, types map[string]model.MetricType) {
	text, err := os.ReadFile("metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	parse, err := textparse.New(text, "text/plain; version=0.0.4; charset=utf-8", "", false, false, labels.NewSymbolTable())
	if err != nil {
		t.Fatal(err)
	}
	samples, types = map[string]int{}, map[string]model.MetricType{}
	for {
		entry, err := parse.Next()
		if errors.Is(err, io.EOF) {
			return samples, types
		}
		if err != nil {
			t.Fatal(err)
		}
		switch entry {
		case textparse.EntryType:
			name, kind := parse.Type()
			types[string(name)] = kind
		case textparse.EntrySeries:
			var of labels.Labels
			parse.Labels(&of)
			samples[of.Get(labels.MetricName)]++
		}
	}
}

func TestPrometheusReadsTheMetricsAndKnowsTheTypeOfEach(t *testing.T) {
	samples, types := sample(t)
	if len(samples) < 20 {
		t.Fatalf("the sample has only %d metrics", len(samples))
	}
	for name := range samples {
		kind, is_known := types[name]
		if !is_known || kind == model.MetricTypeUnknown {
			t.Errorf("%s has no type", name)
		}
		if is_counter := strings.HasSuffix(name, "_total"); is_counter != (kind == model.MetricTypeCounter) {
			t.Errorf("%s is a %s", name, kind)
		}
		if !regexp.MustCompile(`^(kubeopera|process)_[a-z_]+$`).MatchString(name) {
			t.Errorf("%s is named unlike the others", name)
		}
	}
}

// metrics returns the names of the metrics in an expression.
func metrics(t *testing.T, expression string) []string {
	parsed, err := parser.ParseExpr(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, is_one := node.(*parser.VectorSelector); is_one {
			names = append(names, selector.Name)
		}
		return nil
	})
	return names
}

func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	samples, _ := sample(t)
	text, err := os.ReadFile("grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard any
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions := strings_of(dashboard, "expr")
	if len(expressions) < 10 {
		t.Fatalf("the dashboard has only %d expressions", len(expressions))
	}
	for _, expression := range expressions {
		// Grafana puts its variables in before it asks.
		asked := regexp.MustCompile(`\$(__)?[a-z_]+`).ReplaceAllString(expression, "5m")
		for _, name := range metrics(t, asked) {
			if samples[name] == 0 {
				t.Errorf("%s: there is no %s", expression, name)
			}
		}
	}
}

// strings_of returns the texts under a key, wherever in a document.
func strings_of(document any, key string) []string {
	var found []string
	switch document := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(document)) {
			if text, is_text := document[name].(string); is_text && name == key {
				found = append(found, text)
			}
			found = append(found, strings_of(document[name], key)...)
		}
	case []any:
		for _, each := range document {
			found = append(found, strings_of(each, key)...)
		}
	}
	return found
}

func rules(t *testing.T) []rulefmt.Rule {
	groups, faults := rulefmt.ParseFile("alerts.yaml", false)
	if len(faults) > 0 {
		t.Fatal(errors.Join(faults...))
	}
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

func TestRulesAreGoodAndAskForWhatThereIs(t *testing.T) {
	samples, _ := sample(t)
	for _, rule := range rules(t) {
		for _, name := range metrics(t, rule.Expr) {
			if samples[name] == 0 {
				t.Errorf("%s: there is no %s", rule.Alert, name)
			}
		}
		if rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" || rule.For == 0 {
			t.Errorf("%s lacks a summary, a severity or how long it has to last", rule.Alert)
		}
	}
}

// well is what Prometheus has of a KubeOpera and a cluster without trouble, over an hour and a half.
var well = map[string]string{
	`kubeopera_build_info{version="1"}`:                 "1",
	`kubeopera_kubernetes_api_up`:                       "1",
	`kubeopera_leader`:                                  "1",
	`kubeopera_cluster_up{cluster="shop"}`:              "1",
	`kubeopera_cluster_health_score{cluster="shop"}`:    "80",
	`kubeopera_cluster_nodes{cluster="shop"}`:           "3",
	`kubeopera_cluster_nodes_ready{cluster="shop"}`:     "3",
	`kubeopera_cluster_nodes_measured{cluster="shop"}`:  "3",
	`kubeopera_cluster_not_priced{cluster="shop"}`:      "0",
	`kubeopera_cluster_cost_usd_per_month{cluster="a"}`: "100",
}

// firing returns the alerts whose expression holds when these series are unlike those of a cluster without trouble; an empty
// value is a series that is not there.
func firing(t *testing.T, unlike map[string]string) []string {
	series := maps.Clone(well)
	maps.Copy(series, unlike)
	load := "load 1m\n"
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if value := series[name]; value != "" {
			load += fmt.Sprintf("  %s %sx90\n", name, value)
		}
	}
	storage := promqltest.LoadedStorage(t, load)
	defer storage.Close()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 100_000, Timeout: time.Minute})
	defer engine.Close()
	var alerts []string
	for _, rule := range rules(t) {
		query, err := engine.NewInstantQuery(context.Background(), storage, nil, rule.Expr, time.Unix(3600, 0))
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(context.Background())
		vector, err := result.Vector()
		if err != nil {
			t.Fatal(err)
		}
		if len(vector) > 0 {
			alerts = append(alerts, rule.Alert)
		}
		query.Close()
	}
	return alerts
}

func TestEachAlertIsForItsOwnTroubleAlone(t *testing.T) {
	if alerts := firing(t, nil); len(alerts) > 0 {
		t.Errorf("all is well, and there are %v", alerts)
	}
	heard := map[string]bool{}
	for _, each := range []struct {
		alert  string
		unlike map[string]string
	}{
		// While a cluster does not answer there is nothing else of it.
		{"KubeOperaClusterUnreachable", map[string]string{
			`kubeopera_cluster_up{cluster="shop"}`:             "0",
			`kubeopera_cluster_health_score{cluster="shop"}`:   "",
			`kubeopera_cluster_nodes{cluster="shop"}`:          "",
			`kubeopera_cluster_nodes_ready{cluster="shop"}`:    "",
			`kubeopera_cluster_nodes_measured{cluster="shop"}`: "",
		}},
		{"KubeOperaClusterRed", map[string]string{`kubeopera_cluster_health_score{cluster="shop"}`: "59.5"}},
		{"KubeOperaClusterAmber", map[string]string{`kubeopera_cluster_health_score{cluster="shop"}`: "79.5"}},
		{"KubeOperaClusterAmber", map[string]string{`kubeopera_cluster_health_score{cluster="shop"}`: "60"}},
		{"KubeOperaNodesNotReady", map[string]string{`kubeopera_cluster_nodes_ready{cluster="shop"}`: "2"}},
		{"KubeOperaClusterNotMeasured", map[string]string{`kubeopera_cluster_nodes_measured{cluster="shop"}`: "2"}},
		{"KubeOperaCannotReadResources", map[string]string{`kubeopera_kubernetes_api_up`: "0"}},
		{"KubeOperaLeaderless", map[string]string{`kubeopera_leader`: "0"}},
		{"KubeOperaDown", map[string]string{`kubeopera_build_info{version="1"}`: ""}},
	} {
		if alerts := firing(t, each.unlike); !slices.Equal(alerts, []string{each.alert}) {
			t.Errorf("expected %s alone, there are %v", each.alert, alerts)
		}
		heard[each.alert] = true
	}
	for _, rule := range rules(t) {
		if !heard[rule.Alert] {
			t.Errorf("nothing here makes %s fire", rule.Alert)
		}
	}
}
