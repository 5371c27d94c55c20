package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/app"
	"carteira/internal/platform/backup"
	"carteira/internal/platform/config"
	"carteira/internal/web/agent"
)

func serveCommand() *cobra.Command {
	cmd := bare(command{
		use: "serve", short: "Serve the panel, the API, its documentation and everything else",
		long: `Serve runs everything in one process. A fresh database is created and migrated
by itself; while there is no company, a link to make the first one is printed. Ctrl-C or SIGTERM finishes the requests in flight and stops.

These settings have no flag, since a flag can be read by everybody who lists
processes: ` + secretSettings(),
	}, func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, app.OpenToServe, func(ctx context.Context, program *app.App) error {
			return program.Serve(ctx, func(addr net.Addr) {
				program.Log.Info("serving", "address", addr.String(), "url", program.Config.PublicURL, "version", Version())
				hintFirstCompany(ctx, cmd, program, addr)
			})
		})
	})
	addSettings(cmd.Flags(), true)
	return cmd
}

func secretSettings() string {
	var out strings.Builder
	for _, setting := range config.Settings {
		if setting.Name == "" {
			out.WriteString("\n\n  " + setting.Env + "\n      " + setting.Help)
		}
	}
	return out.String()
}

// hintFirstCompany prints the link by which the first company is made.
func hintFirstCompany(ctx context.Context, cmd *cobra.Command, program *app.App, addr net.Addr) {
	link, err := program.Accounts.NewSetupLink(ctx)
	if err != nil {
		program.Log.Error("no set-up link could be made", "error", err)
		return
	}
	if link == "" {
		return
	}
	base := program.Config.PublicURL
	if strings.HasSuffix(base, ":0") { // a port was to be chosen, and has been
		base = "http://" + addr.String()
	}
	if program.Config.LogFormat == "json" { // a line like the others; whatever their level, this one is needed
		logger(program.Config, cmd.ErrOrStderr(), slog.LevelInfo).Info(
			"there is no company yet: open this link to make one; it works once, for a day",
			"url", base+"/setup/"+link,
		)
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), `
There is no company yet. Open this link to make one; it works once, for a day:

  %s/setup/%s

`, base, link)
}

func migrateCommand() *cobra.Command {
	return bare(command{
		use: "migrate", short: "Create the database or bring it up to date",
		long: `Migrate does what a server does when it starts, and nothing else. Servers of an
older version write nothing from then on: stop them first.`,
	}, func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, app.OpenToMigrate, func(context.Context, *app.App) error {
			fmt.Fprintln(cmd.ErrOrStderr(), "The database is up to date.")
			return nil
		})
	})
}

func backupCommand() *cobra.Command {
	return opened(command{
		use: "backup FILE", short: "Copy the embedded database to a new file, while it is in use",
		long: `Backup writes a consistent copy of the embedded database. The server may go on
working meanwhile. Keep the key file of the data folder with it: without the
key, stored secrets cannot be read.`,
		args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c call) error {
		if !c.Config.Embedded() {
			return errors.New("back PostgreSQL up with pg_dump (one file) or pg_basebackup with WAL archiving (any moment)")
		}
		if err := backup.Write(ctx, c.DB, c.args[0]); err != nil {
			return err
		}
		fmt.Fprintln(c.cmd.ErrOrStderr(), "The copy is complete: "+c.args[0])
		return nil
	})
}

func readyCommand() *cobra.Command {
	cmd := bare(command{
		use: "ready", short: "Ask the server on this machine whether it is ready",
		long: `Ready asks /readyz of the address that the server listens on, and prints the
answer. The exit code is 0 when it is ready: a health check for containers
that have no other program.`,
	}, func(cmd *cobra.Command, _ []string) error {
		cfg, err := settings(cmd)
		if err != nil {
			return err
		}
		return askReady(cmd, cfg)
	})
	addSettings(cmd.Flags(), true)
	return cmd
}

func askReady(cmd *cobra.Command, cfg config.Config) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, readyURL(cfg), nil)
	if err != nil {
		return err
	}
	tlsConfig := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // it is this machine; the certificate is for another name
	if len(cfg.TLSDomains) > 0 {
		tlsConfig.ServerName = cfg.TLSDomains[0]
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	fmt.Fprint(cmd.OutOrStdout(), string(text))
	return nil
}

// readyURL is where the server of these settings listens, as seen from its own
// machine.
func readyURL(cfg config.Config) string {
	scheme, address := "http", cfg.Listen
	if cfg.HTTPS() {
		scheme = "https"
	}
	if len(cfg.TLSDomains) > 0 {
		address = cfg.ACME.Listen
	}
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/readyz"
}

// AgentVariables are those in which carteira mcp finds the address of the installation
// and its token. The token is no flag: other users of the machine can read the
// arguments of a process.
var AgentVariables = [2]string{"CARTEIRA_API_URL", "CARTEIRA_API_TOKEN"}

func mcpCommand() *cobra.Command {
	return bare(command{
		use: "mcp", short: "Serve the API to a model, over standard input and output (Model Context Protocol)",
		long: `Serves every operation of the API as a tool of the Model Context Protocol, over
standard input and output, for programs such as Claude Desktop that start their
servers themselves. It calls an installation over the network, as any other client,
with the token in ` + AgentVariables[1] + `. A token for reading has only the tools that read.

Programs that can call a server over HTTP need no command: every installation serves
the same at /mcp, with the token as bearer.`,
		flags: "url=http://127.0.0.1:8080 address of the installation [" + AgentVariables[0] + "]",
	}, serveModel)
}

func serveModel(cmd *cobra.Command, _ []string) (err error) {
	to := agent.Installation{
		Token:     os.Getenv(AgentVariables[1]),
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment},
	}
	if to.Token == "" {
		return errors.New("set " + AgentVariables[1] + " to a token of the API (carteira token create)")
	}
	address := text(cmd, "url")
	if given := os.Getenv(AgentVariables[0]); given != "" && !cmd.Flags().Changed("url") {
		address = given
	}
	if to.Address, err = url.Parse(address); err != nil || to.Address.Host == "" {
		return usageError{fmt.Errorf("%s is no address such as https://clientes.example.com", address)}
	}
	return agent.Serve(cmd.Context(), to, io.NopCloser(cmd.InOrStdin()), unclosed{cmd.OutOrStdout()})
}

// unclosed keeps standard output open for what the program may have to say last.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// An installed package has its settings in environmentFile, which systemd reads
// for the service. The installed program reads it for its commands too: they
// would otherwise look for the service's database in another folder.
var (
	environmentFile  = "/etc/carteira/carteira.env"
	installedProgram = "/usr/bin/carteira"
)

// withEnvironmentFile looks a variable up in the environment, and else in the
// file of the installed package.
func withEnvironmentFile(environment func(string) (string, bool)) (func(string) (string, bool), error) {
	program, err := os.Executable()
	if err != nil || filepath.Clean(program) != installedProgram {
		return environment, nil //nolint:nilerr // not what the package installed
	}
	text, err := os.ReadFile(environmentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return environment, nil
	}
	if _, given := environment("CARTEIRA_DATA_DIR"); err != nil && given {
		return environment, nil // all that a command needs
	}
	if err != nil {
		return nil, fmt.Errorf("the settings of the service cannot be read; run the command as its user, "+
			"`sudo -u carteira carteira …`, or give CARTEIRA_DATA_DIR: %w", err)
	}
	settings := parseEnvironment(string(text))
	return func(name string) (string, bool) {
		if value, given := environment(name); given {
			return value, true
		}
		value, given := settings[name]
		return value, given
	}, nil
}

// parseEnvironment reads lines NAME=VALUE as systemd does: comments begin with #
// or ;, and quotes around a value are not part of it.
func parseEnvironment(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		settings[strings.TrimSpace(name)] = value
	}
	return settings
}
