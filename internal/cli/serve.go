package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"carteira/internal/app"
	"carteira/internal/platform/config"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the panel, the API, its documentation and everything else",
		Long: `Serve runs everything in one process. A fresh database is created and migrated
by itself; while there is no company, a link to make the first one is printed. Ctrl-C or SIGTERM finishes the requests in flight and stops.

These settings have no flag, since a flag can be read by everybody who lists
processes: ` + secretSettings(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAppOf(cmd, app.OpenToServe, func(ctx context.Context, program *app.App) error {
				return program.Serve(ctx, func(addr net.Addr) {
					program.Log.Info(
						"serving",
						"address",
						addr.String(),
						"url",
						program.Config.PublicURL,
						"version",
						Version(),
					)
					hintFirstCompany(ctx, cmd, program, addr)
				})
			})
		},
	}
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
	fmt.Fprintf(cmd.ErrOrStderr(), `
There is no company yet. Open this link to make one; it works once, for a day:

  %s/setup/%s

`, base, link)
}

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Create the database or bring it up to date",
		Long:  "Migrate does what every other command does before its work, and nothing else. It may be run at any time.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, func(context.Context, *app.App) error {
				fmt.Fprintln(cmd.ErrOrStderr(), "The database is up to date.")
				return nil
			})
		},
	}
}

func backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the embedded database to a new file, while it is in use",
		Long: `Backup writes a consistent copy of the embedded database. The server may go on
working meanwhile. Keep the key file of the data folder with it: without the
key, stored secrets cannot be read.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, func(ctx context.Context, program *app.App) error {
				if !program.Config.Embedded() {
					return errors.New("back PostgreSQL up with pg_dump (one file) or pg_basebackup with WAL archiving (any moment)")
				}
				if err := program.DB.Backup(ctx, args[0]); err != nil {
					return err
				}
				fmt.Fprintln(cmd.ErrOrStderr(), "The copy is complete: "+args[0])
				return nil
			})
		},
	}
}
