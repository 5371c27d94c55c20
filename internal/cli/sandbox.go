package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/sandbox"
)

func sandboxCommand() *cobra.Command {
	return group("sandbox", "Move the clock of a sandbox",
		inSandbox(command{
			use: "advance PERIOD", short: "Move the clock forward, and live through the time between",
			long: `Advance moves the clock of a sandbox: by a period such as "1 month", "3 days" or
"12 hours", or with --to to a date or a date and time. Everything that time
brings happens in its order. A server that is running does it; without one this
command does, and goes on with what another has begun.`,
			example: "  carteira sandbox advance 1 month\n  carteira sandbox advance --to 2027-03-01",
			args:    cobra.ArbitraryArgs,
			flags:   "to date (its beginning, here) or date and time to move the clock to",
		}, advanceSandbox),
		inSandbox(command{use: "clock", short: "Print what time it is in the sandbox"}, func(ctx context.Context, c call) error {
			state, err := c.Sandbox.State(ctx, 0)
			if err == nil {
				fmt.Fprintln(c.cmd.OutOrStdout(), state.Now.In(time.Local).Format(time.RFC3339))
			}
			return err
		}))
}

// inSandbox makes a command that a real installation refuses.
func inSandbox(d command, run func(ctx context.Context, c call) error) *cobra.Command {
	return opened(d, func(ctx context.Context, c call) error {
		if c.Sandbox == nil {
			return errors.New("this is a real installation: only the clock of a sandbox can be moved")
		}
		return run(ctx, c)
	})
}

// longestAdvance bounds how long the command waits.
const longestAdvance = 24 * time.Hour

func advanceSandbox(ctx context.Context, c call) error {
	if len(c.args) > 0 {
		c.in.Set("advance", strings.Join(c.args, " "))
	}
	target := sandbox.ReadTarget(c.in, time.Local)
	if err := c.Sandbox.Begin(ctx, account.Operator(account.Company{}), target); err != nil {
		return err
	}
	stop := c.DriveSandbox(ctx)
	defer stop()
	begun, err := c.Sandbox.State(ctx, 0)
	if err != nil {
		return err
	}
	err = c.Sandbox.Wait(ctx, longestAdvance, showAdvance(c.cmd, begun))
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	state, err := c.Sandbox.State(ctx, 0)
	if err != nil {
		return err
	}
	printAdvance(c.cmd, state)
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
