package doctor_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carteira/internal/doctor"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// sound is an installation in which nothing is wrong.
func sound(t *testing.T) config.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	backups := t.TempDir()
	if err := os.WriteFile(filepath.Join(backups, "carteira-2027-01-31.db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Config{
		DataDir: dir, DatabaseURL: "sqlite:" + filepath.Join(dir, "carteira.db"), BackupDir: backups, RateLimit: 60,
		PublicURL: "https://clientes.example.com", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}
}

func verdicts(t *testing.T, cfg config.Config, now time.Time) map[string]checkup.Finding {
	t.Helper()
	found := map[string]checkup.Finding{}
	for _, check := range doctor.Surroundings(cfg, func() time.Time { return now }) {
		found[check.Name] = check.Do(t.Context())
	}
	return found
}

func TestSoundSurroundingsHaveNoFindings(t *testing.T) {
	for name, verdict := range verdicts(t, sound(t), time.Now()) {
		if verdict.Verdict != checkup.OK {
			t.Errorf("%s: %+v", name, verdict)
		}
	}
}

func TestSurroundingsThatAreWrongAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(cfg *config.Config)
		check   string
		verdict checkup.Verdict
		says    string
	}{
		"no folder":   {func(cfg *config.Config) { cfg.DataDir += "/none" }, "data folder", checkup.Wrong, "there is no folder"},
		"open folder": {func(cfg *config.Config) { _ = os.Chmod(cfg.DataDir, 0o755) }, "data folder", checkup.Warning, "mode 0755"},
		"https without a proxy": {
			func(cfg *config.Config) { cfg.TrustedProxies = nil }, "public address", checkup.Warning, "not trusted",
		},
		"plain http": {
			func(cfg *config.Config) { cfg.PublicURL = "http://clientes.example.com" }, "public address", checkup.Warning, "not encrypted",
		},
		"every address": {func(cfg *config.Config) { cfg.PublicURL = "http://0.0.0.0:80" }, "public address", checkup.Wrong, "nowhere"},
		"this machine":  {func(cfg *config.Config) { cfg.PublicURL = "http://127.0.0.1:8080" }, "public address", checkup.Warning, "this machine"},
		"no limit":      {func(cfg *config.Config) { cfg.RateLimit = 0 }, "settings", checkup.Warning, "rate limit"},
		"inner networks": {func(cfg *config.Config) {
			cfg.WebhookAllowNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		}, "settings", checkup.Warning, "internal networks"},
		"no backups":   {func(cfg *config.Config) { cfg.BackupDir = "" }, "backups", checkup.Warning, "no backups"},
		"empty folder": {func(cfg *config.Config) { cfg.BackupDir = cfg.DataDir }, "backups", checkup.Wrong, "no backup"},
		"no such certificate": {
			func(cfg *config.Config) { cfg.TLSCert, cfg.TLSKey = "none.pem", "none.pem" }, "certificate", checkup.Wrong, "cannot be used",
		},
		"none obtained": {
			func(cfg *config.Config) { cfg.TLSDomains = []string{"a.example.com"} }, "certificate", checkup.Wrong, "no certificate for a.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			settings := sound(t)
			c.change(&settings)
			finding := verdicts(t, settings, time.Now())[c.check]
			if finding.Verdict != c.verdict || !strings.Contains(finding.Text, c.says) || finding.Advice == "" {
				t.Errorf("%+v", finding)
			}
		})
	}
}

func TestOldBackupIsWrong(t *testing.T) {
	finding := verdicts(t, sound(t), time.Now().Add(37*time.Hour))["backups"]
	if finding.Verdict != checkup.Wrong || !strings.Contains(finding.Text, "hours old") {
		t.Errorf("%+v", finding)
	}
}

func TestDatabaseIsChecked(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		cfg := config.Config{DatabaseURL: string(db.Engine()) + ":x"}
		if finding, current := doctor.Schema(t.Context(), db); !current || finding.Verdict != checkup.OK {
			t.Errorf("%+v", finding)
		}
		for _, check := range doctor.Database(cfg, db) {
			finding := check.Do(t.Context())
			// The PostgreSQL of tests does not wait for its disk, which is found.
			if finding.Verdict != checkup.OK && !strings.Contains(finding.Text, "= off") {
				t.Errorf("%+v", finding)
			}
		}
	})
}

func TestSchemaOfAnotherVersionIsNamed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, step := range [][2]string{
			{`INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'later', 0)`, "newer"},
			{`DELETE FROM schema_migrations WHERE version = 9999`, ""},
			{`UPDATE schema_migrations SET hash = 'another'`, "not this one"},
			{`UPDATE schema_migrations SET name = '0001_foundation.sql'`, "before version 1.0"},
			{`DELETE FROM schema_migrations`, "still to be run"},
			{`DROP TABLE schema_migrations`, "cannot be read"},
		} {
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), step[0])
				return err
			}); err != nil {
				t.Fatal(err)
			}
			finding, current := doctor.Schema(t.Context(), db)
			if sound := step[1] == ""; current != sound || (finding.Verdict == checkup.OK) != sound || !strings.Contains(finding.Text, step[1]) {
				t.Errorf("%s: %+v", step[0], finding)
			}
		}
	})
}
