package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"carteira/internal/platform/config"
)

var variable = regexp.MustCompile(`CARTEIRA_[A-Z_]+`)

// A recipe that names a setting which does not exist would be followed in vain.
func TestRecipesNameSettingsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, s := range config.Settings {
		known[s.Env] = true
	}
	for _, name := range []string{"carteira.env", "carteira.service", "compose.yaml", "compose.evolution.yaml", "Caddyfile", "nginx.conf", "Dockerfile"} {
		text, err := os.ReadFile("../../packaging/" + name)
		must(t, err)
		for _, found := range variable.FindAllString(string(text), -1) {
			if !known[found] {
				t.Errorf("%s: there is no %s", name, found)
			}
		}
	}
}

// The settings that a package starts with must be good as they are.
func TestSettingsOfThePackageAreAccepted(t *testing.T) {
	values := readSettings(t, "../../packaging/carteira.env")
	lookup := func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
	c, err := config.Load(func(string) (string, bool) { return "", false }, lookup)
	if err != nil || c.DataDir != dataDir || c.BackupDir == "" {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestComposeHasHealthChecksAndTheVersion(t *testing.T) {
	text, err := os.ReadFile("../../packaging/compose.yaml")
	must(t, err)
	var file struct {
		Services map[string]struct {
			Image       string
			Healthcheck struct{ Test []string }
			DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		}
	}
	must(t, yaml.Unmarshal(text, &file))
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	must(t, err)
	version, err := newestVersion(string(changelog))
	must(t, err)
	program := file.Services["carteira"]
	if program.Image != "carteira:"+version || strings.Join(program.Healthcheck.Test, " ") != "CMD /carteira ready" ||
		program.DependsOn["database"].Condition != "service_healthy" {
		t.Errorf("%+v", program)
	}
	if !strings.HasPrefix(file.Services["database"].Image, "postgres:") || len(file.Services["database"].Healthcheck.Test) == 0 {
		t.Errorf("%+v", file.Services["database"])
	}
}

// The bridge is reached in its own network alone, and nothing of it from outside.
func TestComposeOfTheBridgeOpensOneNetwork(t *testing.T) {
	text, err := os.ReadFile("../../packaging/compose.evolution.yaml")
	must(t, err)
	var file struct {
		Services map[string]struct {
			Environment map[string]string
			Networks    []string
			Ports       []string
		}
		Networks map[string]struct {
			Ipam struct{ Config []struct{ Subnet string } }
		}
	}
	must(t, yaml.Unmarshal(text, &file))
	subnet := file.Networks["bridge"].Ipam.Config[0].Subnet
	if got := file.Services["carteira"].Environment["CARTEIRA_MESSAGE_ALLOW_NETWORKS"]; got != subnet {
		t.Errorf("%s is allowed, the bridge is in %s", got, subnet)
	}
	if slices.Contains(file.Services["evolution-database"].Networks, "bridge") || len(file.Services["evolution"].Ports) > 0 {
		t.Errorf("%+v", file.Services)
	}
}
