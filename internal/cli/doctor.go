package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"carteira/internal/app"
	"carteira/internal/platform/checkup"
)

func doctorCommand() *cobra.Command {
	cmd := bare(command{
		use: "doctor", short: "Check everything that can be wrong, and change nothing",
		long: `Doctor looks at the data folder, the key, the disk, the clock, the public address,
certificates, backups, the database and what is in it, beside a running server
or without one, with the same settings. It prints a line for each, and says what
to do. The exit code is 1 when something is wrong; warnings leave it 0.

  ok       as it should be
  warning  it works, and you should know
  wrong    it does not, or will not for long`,
		flags: `
			online:bool  also ask payment gateways and our own public address, and look up message channels
			fix:bool     count anew what is counted, the only thing that doctor changes` + jsonFlag,
	}, runDoctor)
	addSettings(cmd.Flags(), true)
	return cmd
}

var errUnwell = errors.New("something is wrong")

func runDoctor(cmd *cobra.Command, _ []string) error {
	cfg, err := settings(cmd)
	if err != nil {
		return err
	}
	all, wrong, asJSON := []checkup.Finding{}, false, flag(cmd, "json")
	app.Examine(cmd.Context(), cfg, app.Examination{Online: flag(cmd, "online"), Fix: flag(cmd, "fix")}, func(finding checkup.Finding) {
		all = append(all, finding)
		wrong = wrong || finding.Verdict == checkup.Wrong
		if !asJSON {
			printFinding(cmd, finding)
		}
	})
	if asJSON {
		if err := printJSON(cmd, map[string]any{"ok": !wrong, "findings": all}); err != nil {
			return err
		}
	}
	if wrong {
		return errUnwell
	}
	return nil
}

func printFinding(cmd *cobra.Command, finding checkup.Finding) {
	fmt.Fprintf(cmd.OutOrStdout(), "%-8s %-16s %s\n", finding.Verdict, finding.Check, oneLine(finding.Text))
	if finding.Verdict != checkup.OK && finding.Advice != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "%-8s %-16s -> %s\n", "", "", finding.Advice)
	}
}

func restoreCommand() *cobra.Command {
	return bare(command{
		use: "restore FILE", short: "Put a backup into an empty data folder",
		long: `Restore checks a file that backup made, and its key, and puts it into the data
folder, which must have no database yet. Nothing is written unless both are
right. The key is that of --key, of CARTEIRA_SECRET_KEY, or the one that is in
the folder already. PostgreSQL is restored with its own tools.`,
		example: `  carteira restore carteira-2027-01-31.db --key secret.key --data-dir /var/lib/carteira`,
		args:    cobra.ExactArgs(1),
		flags:   "key key file that the backup was made with",
	}, func(cmd *cobra.Command, args []string) error {
		cfg, err := settings(cmd)
		if err != nil {
			return err
		}
		if err := app.Restore(cmd.Context(), cfg, args[0], text(cmd, "key")); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "Restored. Start the server with `carteira serve`.")
		return nil
	})
}

// version and commit are set by the linker when tools/release builds.
var version, commit string

// Version is which version this program is: that of its release, or what Go
// knows about the source that it was built from.
var Version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case version != "":
		return version
	case !ok:
		return "dev"
	}
	return versionOf(info)
})

func versionOf(info *debug.BuildInfo) string {
	if v := strings.TrimPrefix(info.Main.Version, "v"); v != "" && v != "(devel)" {
		return v
	}
	if at := recordedCommit(info); at != "" {
		return "dev-" + at
	}
	return "dev"
}

func recordedCommit(info *debug.BuildInfo) string {
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(len(setting.Value), 12)]
		}
	}
	return ""
}

// revision is the commit of the source: the linker's, or the one that Go recorded; "" where neither is known.
func revision() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return recordedCommit(info)
	}
	return ""
}

func versionLine() string {
	name := Version()
	if at := revision(); at != "" && !strings.Contains(name, at) {
		name += " (" + at + ")"
	}
	return fmt.Sprintf("carteira %s %s/%s %s\n", name, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func versionCommand() *cobra.Command {
	return bare(command{use: "version", short: "Print the version"}, func(cmd *cobra.Command, _ []string) error {
		fmt.Fprint(cmd.OutOrStdout(), versionLine())
		return nil
	})
}
