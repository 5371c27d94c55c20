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
	"carteira/internal/platform/sqldb/sqldbtest"
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

func verdicts(t *testing.T, c config.Config, now time.Time) map[string]checkup.Finding {
	t.Helper()
	found := map[string]checkup.Finding{}
	for _, check := range doctor.Surroundings(c, func() time.Time { return now }) {
		found[check.Name] = check.Do(t.Context())
	}
	return found
}

func TestSoundSurroundingsHaveNoFindings(t *testing.T) {
	for name, f := range verdicts(t, sound(t), time.Now()) {
		if f.Verdict != checkup.OK {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestSurroundingsThatAreWrongAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(c *config.Config)
		check   string
		verdict checkup.Verdict
		says    string
	}{
		"no folder":   {func(c *config.Config) { c.DataDir += "/none" }, "data folder", checkup.Wrong, "there is no folder"},
		"open folder": {func(c *config.Config) { _ = os.Chmod(c.DataDir, 0o755) }, "data folder", checkup.Warning, "mode 0755"},
		"https without a proxy": {
			func(c *config.Config) { c.TrustedProxies = nil }, "public address", checkup.Warning, "not trusted",
		},
		"plain http": {
			func(c *config.Config) { c.PublicURL = "http://clientes.example.com" }, "public address", checkup.Warning, "not encrypted",
		},
		"every address": {func(c *config.Config) { c.PublicURL = "http://0.0.0.0:80" }, "public address", checkup.Wrong, "nowhere"},
		"this machine":  {func(c *config.Config) { c.PublicURL = "http://127.0.0.1:8080" }, "public address", checkup.Warning, "this machine"},
		"no limit":      {func(c *config.Config) { c.RateLimit = 0 }, "settings", checkup.Warning, "rate limit"},
		"inner networks": {func(c *config.Config) {
			c.WebhookAllowNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		}, "settings", checkup.Warning, "internal networks"},
		"no backups":   {func(c *config.Config) { c.BackupDir = "" }, "backups", checkup.Warning, "no backups"},
		"empty folder": {func(c *config.Config) { c.BackupDir = c.DataDir }, "backups", checkup.Wrong, "no backup"},
		"no such certificate": {
			func(c *config.Config) { c.TLSCert, c.TLSKey = "none.pem", "none.pem" }, "certificate", checkup.Wrong, "cannot be used",
		},
		"none obtained": {
			func(c *config.Config) { c.TLSDomains = []string{"a.example.com"} }, "certificate", checkup.Wrong, "no certificate for a.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			settings := sound(t)
			c.change(&settings)
			f := verdicts(t, settings, time.Now())[c.check]
			if f.Verdict != c.verdict || !strings.Contains(f.Text, c.says) || f.Advice == "" {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestOldBackupIsWrong(t *testing.T) {
	f := verdicts(t, sound(t), time.Now().Add(37*time.Hour))["backups"]
	if f.Verdict != checkup.Wrong || !strings.Contains(f.Text, "hours old") {
		t.Errorf("%+v", f)
	}
}

func TestDatabaseIsChecked(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := config.Config{DatabaseURL: string(db.Engine()) + ":x"}
		if f, current := doctor.Schema(t.Context(), db); !current || f.Verdict != checkup.OK {
			t.Errorf("%+v", f)
		}
		for _, check := range doctor.Database(c, db) {
			f := check.Do(t.Context())
			// The PostgreSQL of tests does not wait for its disk, which is found.
			if f.Verdict != checkup.OK && !strings.Contains(f.Text, "= off") {
				t.Errorf("%+v", f)
			}
		}
	})
}

func TestSchemaOfAnotherVersionIsNamed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, step := range [][2]string{
			{`DELETE FROM schema_migrations WHERE version >= 14`, "still to be run"},
			{`UPDATE schema_migrations SET version = 9999 WHERE version = 13`, "newer"},
			{`UPDATE schema_migrations SET hash = 'another', version = 13 WHERE version = 9999`, "not this one"},
			{`DROP TABLE schema_migrations`, "cannot be read"},
		} {
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), step[0])
				return err
			}); err != nil {
				t.Fatal(err)
			}
			f, current := doctor.Schema(t.Context(), db)
			if current || f.Verdict == checkup.OK || !strings.Contains(f.Text, step[1]) {
				t.Errorf("%s: %+v", step[0], f)
			}
		}
	})
}
