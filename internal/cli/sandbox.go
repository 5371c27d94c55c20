package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/input"
	"carteira/internal/sandbox"
)

func sandboxCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sandbox", Short: "Move the clock of a sandbox"}
	cmd.AddCommand(sandboxAdvanceCommand(), sandboxClockCommand())
	return cmd
}

func sandboxClockCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clock", Short: "Print what time it is in the sandbox", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withSandbox(cmd, func(ctx context.Context, program *app.App) error {
				state, err := program.Sandbox.State(ctx, 0)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), state.Now.In(time.Local).Format(time.RFC3339))
				}
				return err
			})
		},
	}
}

func sandboxAdvanceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advance PERIOD",
		Short: "Move the clock forward, and live through the time between",
		Long: `Advance moves the clock of a sandbox: by a period such as "1 month", "3 days" or
"12 hours", or with --to to a date or a date and time. Everything that time
brings happens in its order. A server that is running does it; without one this
command does, and goes on with what another has begun.`,
		Example: "  carteira sandbox advance 1 month\n  carteira sandbox advance --to 2027-03-01",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSandbox(cmd, func(ctx context.Context, program *app.App) error {
				return advanceSandbox(ctx, cmd, program, strings.Join(args, " "))
			})
		},
	}
	cmd.Flags().String("to", "", "date (its beginning, here) or date and time to move the clock to")
	return cmd
}

func withSandbox(cmd *cobra.Command, run func(ctx context.Context, program *app.App) error) error {
	return withApp(cmd, func(ctx context.Context, program *app.App) error {
		if program.Sandbox == nil {
			return errors.New("this is a real installation: only the clock of a sandbox can be moved")
		}
		return run(ctx, program)
	})
}

// longestAdvance bounds how long the command waits.
const longestAdvance = 24 * time.Hour

func advanceSandbox(ctx context.Context, cmd *cobra.Command, program *app.App, period string) error {
	given := form(cmd)
	if period != "" {
		values := map[string]string{"advance": period}
		if to, err := cmd.Flags().GetString("to"); err == nil && to != "" {
			values["to"] = to
		}
		given = input.FromStrings(values)
	}
	target := sandbox.ReadTarget(given, time.Local)
	if err := program.Sandbox.Begin(ctx, account.Operator(account.Company{}), target); err != nil {
		return err
	}
	stop := program.DriveSandbox(ctx)
	defer stop()
	begun, err := program.Sandbox.State(ctx, 0)
	if err != nil {
		return err
	}
	err = program.Sandbox.Wait(ctx, longestAdvance, showAdvance(cmd, begun))
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	state, err := program.Sandbox.State(ctx, 0)
	if err != nil {
		return err
	}
	printAdvance(cmd, state)
	return nil
}

// showAdvance prints how far an advance has come, on a new line each month.
func showAdvance(cmd *cobra.Command, begun sandbox.Advance) func(now time.Time) {
	shown := begun.From.In(time.Local).Format("2006-01")
	return func(now time.Time) {
		month := now.In(time.Local).Format("2006-01")
		if month == shown {
			return
		}
		shown = month
		percent := 100 * now.Sub(begun.From) / max(begun.To.Sub(begun.From), 1)
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (%d%%)\n", now.In(time.Local).Format(time.DateOnly), percent)
	}
}

func printAdvance(cmd *cobra.Command, state sandbox.Advance) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "From %s to %s\n",
		state.From.In(time.Local).Format(time.RFC3339), state.To.In(time.Local).Format(time.RFC3339))
	for _, kind := range state.Happened {
		fmt.Fprintf(out, "%8d  %s\n", kind.Amount, kind.Name)
	}
}
