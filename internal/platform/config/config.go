// Package config reads the settings of the program from flags and environment
// variables. It owns their names, defaults and meaning, in one table; what is
// done with a setting is for those who receive the Config.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"carteira/internal/platform/secret"
)

// Config is the settings, checked.
type Config struct {
	Listen               string
	DatabaseURL          string
	DataDir              string
	PublicURL            string
	SecretKeys           []secret.Key // the first is current; empty: the key file
	RateLimit            int
	WebhookAllowNetworks []netip.Prefix
	WebhooksPerCompany   int
	WebhookRetryDelays   []time.Duration
	WebhookHistoryDays   int
	MessageAllowNetworks []netip.Prefix
	MessageHistoryDays   int
	AuditDays            int
	BackupDir            string // empty: the server makes no backups
	BackupDays           int
	TLSCert, TLSKey      string
	TLSDomains           []string // with certificates obtained by ACME
	ACME                 ACME
	TrustedProxies       []netip.Prefix
	MetricsToken         string
	SandboxGateway       Switch
	PixBankHosts         []string // servers that companies may name as their bank's
	Sandbox              bool     // the clock can be moved, and nothing real is reached
	Mail                 *url.URL // the mail server; nil: none
	MailFrom             string
	ShutdownDelay        time.Duration
	LogLevel             slog.Level
	LogFormat            string
}

// Embedded reports whether the database is SQLite.
func (c Config) Embedded() bool {
	return strings.HasPrefix(c.DatabaseURL, "sqlite:")
}

// HTTPS reports whether the program serves HTTPS itself.
func (c Config) HTTPS() bool { return c.TLSCert != "" || len(c.TLSDomains) > 0 }

// Switch is on, off, or left to the kind of installation.
type Switch string

// The positions of a Switch.
const (
	SwitchOn   Switch = "on"
	SwitchOff  Switch = "off"
	SwitchAuto Switch = "auto"
)

// On reports whether something for trials is on: by itself it is where the
// public address is not one of https, on which real people pay.
func (s Switch) On(publicURL string) bool {
	return s == SwitchOn || s != SwitchOff && !strings.HasPrefix(publicURL, "https://")
}

// Warnings are about settings that are valid but seldom intended.
func (c Config) Warnings() []string {
	var list []string
	if strings.HasPrefix(c.PublicURL, "https://") && !c.HTTPS() && len(c.TrustedProxies) == 0 {
		list = append(list, "the public URL is https and CARTEIRA_TRUSTED_PROXIES is empty: behind a proxy all visitors share its address, "+
			"and with it one limit of attempts to sign in; name the proxy's network")
	}
	return list
}

// Setting is one line of the table.
type Setting struct {
	Name    string // of the flag; "" where a flag would show a secret to everybody who lists processes
	Env     string
	Default string
	Help    string
	Serving bool   // only of use to a server
	Alone   string // what the flag means without a value; "": it needs one
	read    func(cfg *Config, value string) error
}

// Settings is the table.
var Settings = []Setting{
	{
		Name: "listen", Env: "CARTEIRA_LISTEN", Default: "127.0.0.1:8080", Serving: true,
		Help: "address to serve on",
		read: readListen,
	},
	{
		Name: "database-url", Env: "CARTEIRA_DATABASE_URL",
		Help: "postgres://… or sqlite:FILE (default: a SQLite file in the data folder)",
		read: readDatabase,
	},
	{
		Name: "data-dir", Env: "CARTEIRA_DATA_DIR", Default: "./carteira-data",
		Help: "folder of the embedded database and the key file",
		read: text(func(cfg *Config) *string { return &cfg.DataDir }),
	},
	{
		Name: "public-url", Env: "CARTEIRA_PUBLIC_URL", Serving: true,
		Help: "what links in answers start with (default: http:// and the listen address)",
		read: readPublicURL,
	},
	{
		Env: "CARTEIRA_SECRET_KEY",
		Help: "32 bytes in base64 or hex that encrypt stored secrets; to change it: new,old " +
			"(default: a key file in the data folder; required with PostgreSQL)",
		read: readKeys,
	},
	{
		Name: "rate-limit", Env: "CARTEIRA_RATE_LIMIT", Default: "60", Serving: true,
		Help: "calls a minute per token; 0 switches the limit off",
		read: whole(func(cfg *Config) *int { return &cfg.RateLimit }, 0, 1_000_000),
	},
	{
		Name: "webhook-allow-networks", Env: "CARTEIRA_WEBHOOK_ALLOW_NETWORKS", Serving: true,
		Help: "internal networks that webhooks may reach, for trials, e.g. 127.0.0.0/8",
		read: networks(func(cfg *Config) *[]netip.Prefix { return &cfg.WebhookAllowNetworks }),
	},
	{
		Name: "webhooks-per-company", Env: "CARTEIRA_WEBHOOKS_PER_COMPANY", Default: "2", Serving: true,
		Help: "how many webhooks a company may have",
		read: whole(func(cfg *Config) *int { return &cfg.WebhooksPerCompany }, 1, 1000),
	},
	{
		Name: "webhook-retry-delays", Env: "CARTEIRA_WEBHOOK_RETRY_DELAYS", Default: "0s,1m,5m,30m,2h,6h", Serving: true,
		Help: "the wait before each of the six delivery attempts",
		read: readDelays,
	},
	{
		Name: "webhook-history-days", Env: "CARTEIRA_WEBHOOK_HISTORY_DAYS", Default: "30", Serving: true,
		Help: "how many days events and the history of deliveries are kept",
		read: whole(func(cfg *Config) *int { return &cfg.WebhookHistoryDays }, 1, 3650),
	},
	{
		Name: "message-allow-networks", Env: "CARTEIRA_MESSAGE_ALLOW_NETWORKS", Serving: true,
		Help: "internal networks where message channels may find a mail relay or a WhatsApp bridge, by http too, " +
			"e.g. 10.0.0.0/8",
		read: networks(func(cfg *Config) *[]netip.Prefix { return &cfg.MessageAllowNetworks }),
	},
	{
		Name: "message-history-days", Env: "CARTEIRA_MESSAGE_HISTORY_DAYS", Default: "365", Serving: true,
		Help: "how many days the log of messages is kept",
		read: whole(func(cfg *Config) *int { return &cfg.MessageHistoryDays }, 1, 3650),
	},
	{
		Name: "audit-days", Env: "CARTEIRA_AUDIT_DAYS", Default: "400", Serving: true,
		Help: "how many days the audit log is kept",
		read: whole(func(cfg *Config) *int { return &cfg.AuditDays }, 1, 3650),
	},
	{
		Name: "backup-dir", Env: "CARTEIRA_BACKUP_DIR", Serving: true,
		Help: "folder in which the server keeps a copy of the embedded database for each night (default: none)",
		read: text(func(cfg *Config) *string { return &cfg.BackupDir }),
	},
	{
		Name: "backup-days", Env: "CARTEIRA_BACKUP_DAYS", Default: "14", Serving: true,
		Help: "how many days the copies in --backup-dir are kept",
		read: whole(func(cfg *Config) *int { return &cfg.BackupDays }, 1, 3650),
	},
	{
		Name: "tls-cert", Env: "CARTEIRA_TLS_CERT", Serving: true,
		Help: "serve HTTPS with this certificate file, reread when it changes",
		read: text(func(cfg *Config) *string { return &cfg.TLSCert }),
	},
	{
		Name: "tls-key", Env: "CARTEIRA_TLS_KEY", Serving: true,
		Help: "key file of --tls-cert",
		read: text(func(cfg *Config) *string { return &cfg.TLSKey }),
	},
	{
		Name: "tls-domain", Env: "CARTEIRA_TLS_DOMAIN", Serving: true,
		Help: "serve HTTPS with certificates obtained by ACME for this domain, or for several with commas between them",
		read: domains(func(cfg *Config) *[]string { return &cfg.TLSDomains }),
	},
	{
		Name: "acme-directory", Env: "CARTEIRA_ACME_DIRECTORY", Default: "https://acme-v02.api.letsencrypt.org/directory", Serving: true,
		Help: "address of the certificate authority of --tls-domain",
		read: readDirectory,
	},
	{
		Name: "acme-email", Env: "CARTEIRA_ACME_EMAIL", Serving: true,
		Help: "where the certificate authority writes to when there is trouble",
		read: email(func(cfg *Config) *string { return &cfg.ACME.Email }),
	},
	{
		Env: "CARTEIRA_ACME_EAB", Serving: true,
		Help: "key id and base64url key, with a colon between them, for a certificate authority that asks for an external account binding",
		read: readBinding,
	},
	{
		Name: "acme-listen", Env: "CARTEIRA_ACME_LISTEN", Default: ":443,:80", Serving: true,
		Help: "with --tls-domain: the addresses of HTTPS and of HTTP, which redirects; the authority must reach them on ports 443 and 80",
		read: readACMEListen,
	},
	{
		Name: "trusted-proxies", Env: "CARTEIRA_TRUSTED_PROXIES", Serving: true,
		Help: "networks whose X-Forwarded-For and X-Forwarded-Proto are believed, e.g. 10.0.0.0/8",
		read: networks(func(cfg *Config) *[]netip.Prefix { return &cfg.TrustedProxies }),
	},
	{
		Env: "CARTEIRA_METRICS_TOKEN", Serving: true,
		Help: "bearer token for /metrics; without one it answers on a loopback address only",
		read: text(func(cfg *Config) *string { return &cfg.MetricsToken }),
	},
	{
		Env: "CARTEIRA_MAIL_URL", Serving: true,
		Help: "mail server for letters to users (forgotten passwords, addresses to confirm, what changed in an account): " +
			"smtp://user:password@host:587 with STARTTLS, smtps://…:465 with TLS; without one no mail is sent",
		read: readMail,
	},
	{
		Name: "mail-from", Env: "CARTEIRA_MAIL_FROM", Serving: true,
		Help: "the address that mails to users come from; required with CARTEIRA_MAIL_URL",
		read: email(func(cfg *Config) *string { return &cfg.MailFrom }),
	},
	{
		Name: "sandbox-gateway", Env: "CARTEIRA_SANDBOX_GATEWAY", Default: "auto", Serving: true,
		Help: "whether companies may choose the gateway that only pretends: on, off, or auto (off where the public URL is https)",
		read: readSandboxGateway,
	},
	{
		Name: "pix-bank-hosts", Env: "CARTEIRA_PIX_BANK_HOSTS",
		Help: "servers of banks outside of the table that companies may name for the gateway bacen, e.g. api.banco.com.br,auth.banco.com.br",
		read: domains(func(cfg *Config) *[]string { return &cfg.PixBankHosts }),
	},
	{
		Name: "sandbox", Env: "CARTEIRA_SANDBOX", Default: "off", Alone: "on", Serving: true,
		Help: "on: serve a sandbox, whose clock can be moved and which reaches nobody real; a fresh database becomes one for good",
		read: readSandbox,
	},
	{
		Name: "shutdown-delay", Env: "CARTEIRA_SHUTDOWN_DELAY", Default: "0s", Serving: true,
		Help: "how long to serve on after SIGTERM while /readyz is red, for a balancer to notice",
		read: readShutdownDelay,
	},
	{Name: "log-level", Env: "CARTEIRA_LOG_LEVEL", Default: "info", Help: "debug, info, warn or error", read: readLevel},
	{Name: "log-format", Env: "CARTEIRA_LOG_FORMAT", Default: "text", Help: "text or json", read: readFormat},
}

// Load reads every setting: the flag if given, else the environment, else the
// default. flag and env return what was given and whether anything was.
func Load(flag, env func(name string) (string, bool)) (Config, error) {
	var cfg Config
	var wrong []error
	for _, setting := range Settings {
		value, from := setting.Default, setting.Env
		if v, ok := env(setting.Env); ok && v != "" {
			value = v
		}
		if v, ok := flag(setting.Name); ok && setting.Name != "" {
			value, from = v, "--"+setting.Name
		}
		if err := setting.read(&cfg, strings.TrimSpace(value)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", from, err))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return cfg, err
	}
	return cfg, cfg.complete()
}

// complete fills in what follows from other settings, and refuses those that
// do not go together.
func (c *Config) complete() error {
	if c.DatabaseURL == "" {
		c.DatabaseURL = "sqlite:" + filepath.Join(c.DataDir, "carteira.db")
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("CARTEIRA_TLS_CERT and CARTEIRA_TLS_KEY go together: give both or neither")
	case c.TLSCert != "" && len(c.TLSDomains) > 0:
		return errors.New("CARTEIRA_TLS_DOMAIN obtains its own certificate: leave CARTEIRA_TLS_CERT out")
	case (c.Mail == nil) != (c.MailFrom == ""):
		return errors.New("CARTEIRA_MAIL_URL and CARTEIRA_MAIL_FROM go together: give both or neither")
	case c.BackupDir != "" && !c.Embedded():
		return errors.New("CARTEIRA_BACKUP_DIR is for the embedded database; PostgreSQL is backed up with pg_dump (one file, from cron) " +
			"or pg_basebackup with WAL archiving (any moment)")
	case !c.Embedded() && len(c.SecretKeys) == 0:
		return errors.New("CARTEIRA_SECRET_KEY is required with PostgreSQL, the same for all processes; `openssl rand -base64 32` makes one")
	}
	if c.PublicURL == "" {
		c.PublicURL = c.defaultPublicURL()
	}
	return nil
}

func (c *Config) defaultPublicURL() string {
	switch {
	case len(c.TLSDomains) > 0:
		return "https://" + c.TLSDomains[0]
	case c.TLSCert != "":
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}
