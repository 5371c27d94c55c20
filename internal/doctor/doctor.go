// Package doctor checks what is around the program: its folder, key, database,
// disk, clock, addresses, certificates and backups. It changes nothing. What is
// inside the tables is checked by the rooms that own them, and which checks are
// made when is for app.
package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"carteira/internal/platform/backup"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
)

// Surroundings are the checks that need no database.
func Surroundings(cfg config.Config, now func() time.Time) []checkup.Check {
	list := []checkup.Check{
		{Name: "data folder", Run: func(context.Context) (checkup.Finding, error) { return folder(cfg) }},
		{Name: "disk", Run: func(context.Context) (checkup.Finding, error) { return disk(cfg) }},
		{Name: "public address", Run: func(context.Context) (checkup.Finding, error) { return publicAddress(cfg), nil }},
		{Name: "settings", Run: func(context.Context) (checkup.Finding, error) { return settings(cfg), nil }},
		{Name: "backups", Run: func(context.Context) (checkup.Finding, error) {
			return backups(cfg, now())
		}},
	}
	if cfg.HTTPS() {
		list = append(list, checkup.Check{
			Name: "certificate",
			Run: func(context.Context) (checkup.Finding, error) {
				return certificate(cfg, now())
			},
		})
	}
	return list
}

// Database are the checks of a database as a whole.
func Database(cfg config.Config, db *sqldb.DB) []checkup.Check {
	return []checkup.Check{
		{Name: "clock", Run: func(ctx context.Context) (checkup.Finding, error) {
			return clock(ctx, db)
		}},
		{Name: "database", Run: func(ctx context.Context) (checkup.Finding, error) {
			return pages(ctx, cfg, db)
		}},
	}
}

// folder checks that others than the program cannot read what it keeps.
func folder(cfg config.Config) (checkup.Finding, error) {
	if !cfg.Embedded() && len(cfg.SecretKeys) > 0 {
		return checkup.Good("not needed: the data is in PostgreSQL and the key in the environment"), nil
	}
	info, err := os.Stat(cfg.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return checkup.Bad("is CARTEIRA_DATA_DIR right? `carteira serve` makes a new folder", "there is no folder %s",
			cfg.DataDir), nil
	}
	if err != nil {
		return checkup.Finding{}, err
	}
	if mode := info.Mode().Perm(); posix && mode&0o077 != 0 {
		return checkup.Warn("run: chmod 700 "+cfg.DataDir,
			"%s has mode %04o, so others on this machine may look into it", cfg.DataDir, mode), nil
	}
	return checkup.Good("%s is private", cfg.DataDir), nil
}

// Free space below these is a warning, and wrong.
const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func disk(cfg config.Config) (checkup.Finding, error) {
	places := []string{}
	if cfg.Embedded() {
		places = append(places, filepath.Dir(strings.TrimPrefix(cfg.DatabaseURL, "sqlite:")))
	}
	if cfg.BackupDir != "" {
		places = append(places, cfg.BackupDir)
	}
	said := []string{}
	for _, place := range places {
		free, err := freeBytes(existing(place))
		if err != nil {
			return checkup.Finding{}, err
		}
		said = append(said, fmt.Sprintf("%d MB are free for %s", free>>20, place))
		switch {
		case free < noSpace:
			return checkup.Bad("make room before the database cannot be written", "%s", said[len(said)-1]), nil
		case free < littleSpace:
			return checkup.Warn("make room: a backup needs as much again as the database", "%s", said[len(said)-1]), nil
		}
	}
	if len(said) == 0 {
		return checkup.Good("not needed: the data is in PostgreSQL"), nil
	}
	return checkup.Good("%s", strings.Join(said, ", ")), nil
}

// existing is the path, or the nearest folder above it that there is.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// publicAddress checks that links lead somewhere, and that who calls is known.
func publicAddress(cfg config.Config) checkup.Finding {
	address, err := url.Parse(cfg.PublicURL)
	if err != nil {
		return checkup.Bad("set CARTEIRA_PUBLIC_URL", "%q is no address", cfg.PublicURL)
	}
	host := address.Hostname()
	local := host == "localhost" || isLoopback(host)
	switch {
	case host == "" || host == "0.0.0.0" || host == "::":
		return checkup.Bad("set CARTEIRA_PUBLIC_URL to what callers use", "links begin with %s, which leads nowhere",
			cfg.PublicURL)
	case address.Scheme == "https" && !cfg.HTTPS() && len(cfg.TrustedProxies) == 0:
		return checkup.Warn("name the proxy's network in CARTEIRA_TRUSTED_PROXIES",
			"%s is served through a proxy that is not trusted: every caller seems to be the proxy, to limits and logs",
			cfg.PublicURL)
	case local:
		return checkup.Warn("set CARTEIRA_PUBLIC_URL when customers and gateways are to reach it",
			"links begin with %s, which works on this machine only", cfg.PublicURL)
	case address.Scheme == "http":
		return checkup.Warn("use HTTPS: a proxy, CARTEIRA_TLS_DOMAIN, or CARTEIRA_TLS_CERT",
			"%s is not encrypted: passwords and tokens can be read on the way", cfg.PublicURL)
	}
	return checkup.Good("links begin with %s", cfg.PublicURL)
}

// settings checks for what is meant for trials.
func settings(cfg config.Config) checkup.Finding {
	var odd []string
	if len(cfg.WebhookAllowNetworks) > 0 {
		odd = append(odd, "webhooks may reach internal networks (CARTEIRA_WEBHOOK_ALLOW_NETWORKS)")
	}
	if cfg.RateLimit == 0 {
		odd = append(odd, "the rate limit is off (CARTEIRA_RATE_LIMIT)")
	}
	if len(cfg.SecretKeys) > 1 {
		odd = append(odd, "more than one secret key is given (CARTEIRA_SECRET_KEY), as while it is being changed")
	}
	if len(odd) > 0 {
		return checkup.Warn("fine for a trial or while it lasts", "%s", strings.Join(odd, "; "))
	}
	return checkup.Good("nothing is set that is meant for trials")
}

// lateBackup is how old the newest copy may be: a night, and a restart in it.
const lateBackup = 36 * time.Hour

func backups(cfg config.Config, now time.Time) (checkup.Finding, error) {
	if !cfg.Embedded() {
		return checkup.Good("PostgreSQL's own tools back it up; this program cannot see whether they do"), nil
	}
	if cfg.BackupDir == "" {
		return checkup.Warn("set CARTEIRA_BACKUP_DIR, on another disk, or call `carteira backup` every night",
			"the server makes no backups"), nil
	}
	list, err := backup.Folder{Path: cfg.BackupDir, Days: cfg.BackupDays}.List()
	if err != nil {
		return checkup.Finding{}, err
	}
	if len(list) == 0 {
		return checkup.Bad("the server makes one soon after it starts; see its log for \"back up the database\"",
			"%s has no backup", cfg.BackupDir), nil
	}
	newest := list[len(list)-1]
	if age := now.Sub(newest.Made); age > lateBackup {
		return checkup.Bad("see the server's log for \"back up the database\"",
			"the newest backup is %d hours old: %s", int(age.Hours()), newest.Path), nil
	}
	return checkup.Good("%d backups, the newest is %s", len(list), newest.Path), nil
}

// endsSoon is how long before its end a certificate should have been renewed.
const endsSoon = 14 * 24 * time.Hour

// certificate checks what is served to browsers.
func certificate(cfg config.Config, now time.Time) (checkup.Finding, error) {
	if len(cfg.TLSDomains) > 0 {
		return obtained(cfg, now)
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return checkup.Bad("correct CARTEIRA_TLS_CERT and CARTEIRA_TLS_KEY", "the certificate cannot be used: %v",
			err), nil
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return checkup.Finding{}, err
	}
	if host := hostOf(cfg.PublicURL); leaf.VerifyHostname(host) != nil {
		return checkup.Bad("obtain one for that name", "the certificate is not for %s", host), nil //nolint:nilerr // the error is the finding
	}
	return lasting(leaf, now), nil
}

func hostOf(address string) string {
	target, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return target.Hostname()
}

func lasting(leaf *x509.Certificate, now time.Time) checkup.Finding {
	day := leaf.NotAfter.Format(time.DateOnly)
	switch left := leaf.NotAfter.Sub(now); {
	case left <= 0:
		return checkup.Bad("renew it", "the certificate ended on %s", day)
	case left < min(endsSoon, leaf.NotAfter.Sub(leaf.NotBefore)/6):
		return checkup.Warn("see why it was not renewed", "the certificate ends on %s", day)
	}
	return checkup.Good("the certificate is good until %s", day)
}

// obtained checks that ACME has brought a certificate for every domain.
func obtained(cfg config.Config, now time.Time) (checkup.Finding, error) {
	found := checkup.Good("no domains")
	for _, domain := range cfg.TLSDomains {
		// autocert keeps key and chain in one file.
		text, err := os.ReadFile(filepath.Join(cfg.DataDir, "acme", domain))
		if err != nil {
			return checkup.Bad(
				"see the server's log for \"certificate not obtained\"; the authority must reach ports 443 and 80",
				"there is no certificate for %s: %v", domain, err), nil
		}
		pair, err := tls.X509KeyPair(text, text)
		if err != nil {
			return checkup.Bad("move the file away and restart the server", "the certificate of %s cannot be used: %v",
				domain, err), nil
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return checkup.Finding{}, err
		}
		if found = lasting(leaf, now); found.Verdict != checkup.OK {
			found.Text = domain + ": " + found.Text
			return found, nil
		}
	}
	return found, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// Schema reports whether the database is one of this program. current is
// whether the rooms can read it.
func Schema(ctx context.Context, db *sqldb.DB) (finding checkup.Finding, current bool) {
	pending, err := db.Pending(ctx)
	switch {
	case errors.Is(err, sqldb.ErrNewer), errors.Is(err, sqldb.ErrAltered), errors.Is(err, sqldb.ErrOlder):
		finding = checkup.Bad("run the program that made it, or restore a backup", "%v", err)
	case err != nil:
		finding = checkup.Bad("is CARTEIRA_DATABASE_URL right? `carteira migrate` makes the tables of a new database",
			"the tables cannot be read: %v", err)
	case pending > 0:
		finding = checkup.Warn("run `carteira migrate`, or start the server; back it up first",
			"%d migrations are still to be run", pending)
	default:
		finding, current = checkup.Good("the tables are those of this version"), true
	}
	finding.Check = "schema"
	return finding, current
}

// skewLimit is by how much the clocks of this machine and of PostgreSQL may
// differ.
const skewLimit = 5 * time.Second

// clock compares the time of this machine with that of the database: of its
// server, or of what was last written.
func clock(ctx context.Context, db *sqldb.DB) (checkup.Finding, error) {
	if db.Engine() == sqldb.SQLite {
		last, err := sqldb.Value[int64](ctx, db, `SELECT COALESCE(MAX(probed_at), 0) FROM schema_migrations`)
		if err != nil {
			return checkup.Finding{}, err
		}
		if ahead := time.UnixMicro(last).Sub(db.Real()); ahead > time.Minute {
			return checkup.Bad("set the clock of this machine, with NTP",
				"this machine's clock is %s behind what was last written", ahead.Round(time.Second)), nil
		}
		return checkup.Good("this machine's clock is not behind what was written"), nil
	}
	before := db.Real()
	server, err := sqldb.Value[int64](ctx, db, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)
	if err != nil {
		return checkup.Finding{}, err
	}
	skew := time.UnixMicro(server).Sub(before)
	if skew.Abs() > skewLimit {
		return checkup.Bad("set both clocks with NTP", "the clock of PostgreSQL differs by %s from this machine's",
			skew.Round(time.Millisecond)), nil
	}
	return checkup.Good("the clocks of PostgreSQL and this machine agree"), nil
}

// pages looks for damage, and on PostgreSQL for settings that lose data.
func pages(ctx context.Context, cfg config.Config, db *sqldb.DB) (checkup.Finding, error) {
	if !cfg.Embedded() {
		return postgres(ctx, db)
	}
	if err := db.CheckPages(ctx); err != nil {
		return checkup.Bad("stop the server and restore a backup", "%v", err), nil
	}
	orphans, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), db, `SELECT count(*) FROM pragma_foreign_key_check`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if orphans > 0 {
		return checkup.Bad("stop the server and restore a backup", "%d rows refer to rows that are not there",
			orphans), nil
	}
	return checkup.Good("every page is sound"), nil
}

func postgres(ctx context.Context, db *sqldb.DB) (checkup.Finding, error) {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		value, err := sqldb.Value[string](ctx, db, `SELECT setting FROM pg_settings WHERE name = ?`, name)
		if err != nil {
			return checkup.Finding{}, err
		}
		if value == "off" {
			return checkup.Bad("switch it on in postgresql.conf",
				"PostgreSQL has %s = off: what was acknowledged is lost in a power cut", name), nil
		}
	}
	return checkup.Good("PostgreSQL answers, and writes durably"), nil
}
