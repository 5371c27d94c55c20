// Package doctor checks what is around the program: its folder, key, database,
// disk, clock, addresses, certificates and backups. It changes nothing. What is
// inside the tables is checked by the rooms that own them, and which checks are
// made when is for app.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
