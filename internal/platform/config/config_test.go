package config_test

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/config"
)

func lookup(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

func load(t *testing.T, flags, env map[string]string) config.Config {
	t.Helper()
	cfg, err := config.Load(lookup(flags), lookup(env))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDefaultsAreTheContract(t *testing.T) {
	cfg := load(t, nil, nil)
	want := []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}
	switch {
	case cfg.Listen != "127.0.0.1:8080", cfg.PublicURL != "http://127.0.0.1:8080", cfg.DataDir != "./carteira-data",
		cfg.DatabaseURL != "sqlite:carteira-data/carteira.db", !cfg.Embedded(), cfg.HTTPS(), cfg.RateLimit != 60,
		cfg.WebhooksPerCompany != 2, cfg.WebhookHistoryDays != 30, cfg.AuditDays != 400, !slices.Equal(cfg.WebhookRetryDelays, want), cfg.LogLevel != slog.LevelInfo, cfg.LogFormat != "text":
		t.Errorf("%+v", cfg)
	}
}

func TestFlagBeatsEnvironmentBeatsDefault(t *testing.T) {
	env := map[string]string{"CARTEIRA_RATE_LIMIT": "10", "CARTEIRA_LISTEN": "127.0.0.1:1"}
	if cfg := load(t, map[string]string{"listen": "127.0.0.1:2"}, env); cfg.Listen != "127.0.0.1:2" || cfg.RateLimit != 10 {
		t.Errorf("%+v", cfg)
	}
	if cfg := load(t, nil, map[string]string{"CARTEIRA_RATE_LIMIT": ""}); cfg.RateLimit != 60 {
		t.Errorf("an empty variable is not a default: %+v", cfg)
	}
}

func TestPublicURLFollowsTheOthers(t *testing.T) {
	cases := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"CARTEIRA_LISTEN": "0.0.0.0:9"}, "http://0.0.0.0:9"},
		{map[string]string{"CARTEIRA_TLS_DOMAIN": "crm.example.com"}, "https://crm.example.com"},
		{map[string]string{"CARTEIRA_TLS_DOMAIN": " CRM.example.com, pay.example.com,"}, "https://crm.example.com"},
		{map[string]string{"CARTEIRA_TLS_CERT": "c", "CARTEIRA_TLS_KEY": "k"}, "https://127.0.0.1:8080"},
		{map[string]string{"CARTEIRA_PUBLIC_URL": "https://crm.example.com/x/"}, "https://crm.example.com/x"},
	}
	for _, c := range cases {
		if got := load(t, nil, c.env).PublicURL; got != c.want {
			t.Errorf("%v gives %s, want %s", c.env, got, c.want)
		}
	}
}

func TestNetworksTakeAddressesAndSpaces(t *testing.T) {
	cfg := load(t, nil, map[string]string{"CARTEIRA_TRUSTED_PROXIES": " 10.1.2.3/8 , 192.0.2.7,::1 "})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("::1/128")}
	if !slices.Equal(cfg.TrustedProxies, want) {
		t.Errorf("%v", cfg.TrustedProxies)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	wrong := map[string]string{
		"CARTEIRA_LISTEN":                 "8080",
		"CARTEIRA_DATABASE_URL":           "mysql://x",
		"CARTEIRA_PUBLIC_URL":             "crm.example.com",
		"CARTEIRA_SECRET_KEY":             "short",
		"CARTEIRA_RATE_LIMIT":             "-1",
		"CARTEIRA_WEBHOOK_ALLOW_NETWORKS": "localhost",
		"CARTEIRA_WEBHOOKS_PER_COMPANY":   "0",
		"CARTEIRA_WEBHOOK_RETRY_DELAYS":   "soon",
		"CARTEIRA_WEBHOOK_HISTORY_DAYS":   "3651",
		"CARTEIRA_BACKUP_DAYS":            "0",
		"CARTEIRA_TLS_DOMAIN":             "*.example.com",
		"CARTEIRA_ACME_DIRECTORY":         "http://ca.example.com",
		"CARTEIRA_ACME_EMAIL":             "Ana <ana@example.com>",
		"CARTEIRA_ACME_EAB":               "id:",
		"CARTEIRA_ACME_LISTEN":            ":443,80",
		"CARTEIRA_TRUSTED_PROXIES":        "10.0.0.0/99",
		"CARTEIRA_LOG_LEVEL":              "loud",
		"CARTEIRA_LOG_FORMAT":             "xml",
	}
	for name, value := range wrong {
		_, err := config.Load(lookup(nil), lookup(map[string]string{name: value}))
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	_, err := config.Load(lookup(nil), lookup(wrong))
	for name := range maps.Keys(wrong) {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("all at once, %s is not named: %v", name, err)
		}
	}
}

func TestSettingsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for _, env := range []map[string]string{
		{"CARTEIRA_TLS_CERT": "c"},
		{"CARTEIRA_TLS_KEY": "k"},
		{"CARTEIRA_TLS_CERT": "c", "CARTEIRA_TLS_KEY": "k", "CARTEIRA_TLS_DOMAIN": "d.example.com"},
		{"CARTEIRA_DATABASE_URL": "postgres://db/x"},
		{
			"CARTEIRA_DATABASE_URL": "postgres://db/x", "CARTEIRA_SECRET_KEY": strings.Repeat("ab", 32),
			"CARTEIRA_BACKUP_DIR": "/var/backups/carteira",
		},
	} {
		if _, err := config.Load(lookup(nil), lookup(env)); err == nil {
			t.Errorf("%v is accepted", env)
		}
	}
}

func TestErrorsDoNotShowSecrets(t *testing.T) {
	env := map[string]string{"CARTEIRA_DATABASE_URL": "postgres:/user:hunter2@", "CARTEIRA_SECRET_KEY": "hunter2", "CARTEIRA_ACME_EAB": "hunter2"}
	if _, err := config.Load(lookup(nil), lookup(env)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

func TestSecretsHaveNoFlag(t *testing.T) {
	for _, setting := range config.Settings {
		if secret := strings.Contains(setting.Env, "SECRET") || strings.Contains(setting.Env, "TOKEN") || strings.Contains(setting.Env, "EAB"); secret && setting.Name != "" {
			t.Errorf("--%s can be read by everybody who lists processes", setting.Name)
		}
	}
}

func TestSharedAddressOfAllVisitorsIsWarnedOf(t *testing.T) {
	proxy := netip.MustParsePrefix("10.0.0.0/8")
	for _, tt := range []struct {
		given config.Config
		warns bool
	}{
		{config.Config{PublicURL: "https://clientes.example.com"}, true},
		{config.Config{PublicURL: "https://clientes.example.com", TrustedProxies: []netip.Prefix{proxy}}, false},
		{config.Config{PublicURL: "https://clientes.example.com", TLSDomains: []string{"clientes.example.com"}}, false},
		{config.Config{PublicURL: "http://127.0.0.1:8080"}, false},
	} {
		if got := len(tt.given.Warnings()) > 0; got != tt.warns {
			t.Errorf("%+v warns: %t", tt.given, got)
		}
	}
}
