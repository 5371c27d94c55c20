package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

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
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), versionLine())
			return nil
		},
	}
}
