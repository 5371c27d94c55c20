package documents

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"carteira/internal/platform/config"
)

var asked = regexp.MustCompile(`\bcarteira_[a-z_]+`)

// knownMetrics are those of the table in docs/operating.md.
func knownMetrics(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(carteira_[a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// wantMetrics demands that an expression asks for metrics that there are.
func wantMetrics(t *testing.T, known []string, expression string) {
	t.Helper()
	for _, name := range asked.FindAllString(expression, -1) {
		if !slices.Contains(known, strings.TrimSuffix(name, "_bucket")) {
			t.Errorf("%s: there is no metric %s", expression, name)
		}
	}
}

func TestAlertsAskForMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../packaging/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	known, seen := knownMetrics(t), map[string]bool{}
	for _, rule := range rules.Groups[0].Rules {
		if seen[rule.Alert] || rule.Expr == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("rule %+v", rule)
		}
		seen[rule.Alert] = true
		wantMetrics(t, known, rule.Expr)
	}
}

func TestPrometheusAcceptsTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("promtool is not installed; `make test` installs it where it may")
	}
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "../../packaging/alerts.yaml").CombinedOutput()
	if err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// What works every few seconds is missed after ten minutes, what works every hour after an hour.
const workThatStands = `
rule_files: [alerts.yaml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'carteira_worker_last_success_timestamp_seconds{task="deliver webhooks"}', values: "0x90"}
      - {series: 'carteira_worker_last_success_timestamp_seconds{task="check the data"}', values: "0x90"}
      - {series: 'carteira_worker_last_success_timestamp_seconds{task="prune history"}', values: "0x90"}
    promql_expr_test:
      - {expr: 'count(ALERTS{alertname="CarteiraWorkStands"}) or vector(0)', eval_time: 8m, exp_samples: [{value: 0}]}
      - {expr: 'count(ALERTS{alertname="CarteiraWorkStands",alertstate="firing"})', eval_time: 20m, exp_samples: [{value: 1}]}
      - {expr: 'count(ALERTS{alertname="CarteiraWorkStands",alertstate="firing"})', eval_time: 59m, exp_samples: [{value: 1}]}
      - {expr: 'count(ALERTS{alertname="CarteiraWorkStands",alertstate="firing"})', eval_time: 70m, exp_samples: [{value: 3}]}
`

func TestWorkThatStandsIsMissedInTime(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("promtool is not installed; `make test` installs it where it may")
	}
	rules, err := filepath.Abs("../../packaging/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(workThatStands, "alerts.yaml", rules, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput()
	if err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

func TestDashboardAsksForMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../packaging/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("panel %+v", panel)
		}
		for _, target := range panel.Targets {
			wantMetrics(t, knownMetrics(t), target.Expr)
		}
	}
}

func TestManifestSetsWhatThereIs(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "packaging", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var kinds []string
	decoder := yaml.NewDecoder(file)
	for {
		var object struct{ Kind string }
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind)
	}
	if want := []string{"Secret", "Deployment", "Service", "Ingress"}; !slices.Equal(kinds, want) {
		t.Errorf("it has %v, want %v", kinds, want)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	report(t, "kubernetes.yaml", checkVariables(string(text), config.Settings))
}
