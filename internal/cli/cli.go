// Package cli is the command line: it turns flags into calls of use cases and
// prints what they return. Messages for people go to standard error; standard
// output carries only what a script would read.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carteira/internal/app"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/roots"
)

// Command is the command line as cobra knows it, for those who document it.
func Command() *cobra.Command { return newRoot() }

// Run runs one command and returns the exit code: 0, 1 when it failed, 2 when
// it was called wrongly.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot() //nolint:contextcheck // cobra hands each command the context of ExecuteContextC
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	roots.Await() // an image from scratch has no certificates of its own
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	explain(stderr, err)
	if _, usage := errors.AsType[usageError](err); usage {
		fmt.Fprintf(stderr, "Run '%s --help' for what it takes.\n", cmd.CommandPath())
		return 2
	}
	return 1
}

type usageError struct{ error }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "carteira",
		Short: "Customers, invoices, PIX payments, resellers and webhooks in one program",
		Long: `Carteira manages the customers of a company with recurring business: who they
are, what they bought, until when it is paid for.

  carteira demo     try it: a company with customers, in a temporary folder
  carteira serve    run it: API, documentation and everything else, one process

Every flag has an environment variable, shown in its help.`,
		Version:       Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	addSettings(root.PersistentFlags(), false)
	root.AddCommand(serveCommand(), demoCommand(), migrateCommand(), backupCommand(), restoreCommand(), doctorCommand(),
		readyCommand(), versionCommand(), companyCommand(), userCommand(), tokenCommand(), planCommand(),
		productCommand(), invoiceCommand(), gatewayCommand(), paymentCommand(), statementCommand(), resellerCommand(),
		subscriptionPlanCommand(), creditsCommand(), webhookCommand(), reminderCommand(), importCommand(),
		customerCommand(), sandboxCommand(), mcpCommand())
	strictArgs(root)
	return root
}

// strictArgs makes a wrong word, a wrong number of arguments and a missing flag
// usage errors too. A command that only groups others gets something to run:
// without it cobra answers a misspelt one with help and success.
func strictArgs(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(check(cmd, args), cmd.ValidateRequiredFlags()); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strictArgs(sub)
	}
}

// addSettings makes flags of the settings that are for serving, or of those
// that every command takes.
func addSettings(flags *pflag.FlagSet, serving bool) {
	for _, setting := range config.Settings {
		if setting.Name != "" && setting.Serving == serving {
			flags.String(setting.Name, setting.Default, setting.Help+" ["+setting.Env+"]")
			flags.Lookup(setting.Name).NoOptDefVal = setting.Alone
		}
	}
}

// settings loads the configuration of a command.
func settings(cmd *cobra.Command) (config.Config, error) {
	given := func(name string) (string, bool) {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			return "", false
		}
		return f.Value.String(), true
	}
	lookup, err := withEnvironmentFile(os.LookupEnv)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(given, lookup)
}

// makesDatabase are the commands with which an installation may begin. All others
// are about what a database has, and make none.
var makesDatabase = map[string]bool{
	"carteira serve": true, "carteira migrate": true, "carteira company create": true,
}

// withApp opens the program for a command, runs it and closes it.
func withApp(
	cmd *cobra.Command,
	open func(ctx context.Context, cfg config.Config, log *slog.Logger) (*app.App, error),
	run func(ctx context.Context, program *app.App) error,
) error {
	cfg, err := settings(cmd)
	if err != nil {
		return err
	}
	if !makesDatabase[cmd.CommandPath()] {
		if err := app.MissingDatabase(cfg); err != nil {
			return err
		}
	}
	program, err := open(cmd.Context(), cfg, logger(cfg, cmd.ErrOrStderr(), cfg.LogLevel))
	if err != nil {
		return err
	}
	return errors.Join(run(cmd.Context(), program), program.Close(cmd.Context()))
}

// explain prints an error as a person would want to read it: the fields that
// were wrong as flags, no stack of causes where a sentence will do.
func explain(w io.Writer, err error) {
	fields := fault.FieldsOf(err)
	if fields.Empty() {
		text := err.Error()
		if fault.KindOf(err) != fault.KindInternal {
			text = fault.Public(err)
		}
		fmt.Fprintln(w, "carteira: "+oneLine(text))
		return
	}
	for field, reasons := range fields.All() {
		for _, reason := range reasons {
			flag, option, _ := strings.Cut(field, " ") // what is given with a flag keeps its own name
			fmt.Fprintln(w, strings.TrimSpace("carteira: --"+strings.ReplaceAll(flag, "_", "-")+" "+option), reason)
		}
	}
}

// oneLine is for errors that libraries tell on several lines.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " ")
}

func logger(cfg config.Config, w io.Writer, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		options.ReplaceAttr = inMilliseconds
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// inMilliseconds names the unit of a duration, which JSON would have as bare nanoseconds.
func inMilliseconds(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		return slog.Float64(attr.Key+"_ms", float64(attr.Value.Duration())/float64(time.Millisecond))
	}
	return attr
}

// must is for what only a mistake in this package can make fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
