package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// version is set by the linker when a release is built.
var version string

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
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && setting.Value != "" {
			return "dev-" + setting.Value[:min(len(setting.Value), 12)]
		}
	}
	return "dev"
}

func versionLine() string {
	return fmt.Sprintf(
		"carteira %s %s/%s %s\n",
		Version(),
		runtime.GOOS,
		runtime.GOARCH,
		runtime.Version(),
	)
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
