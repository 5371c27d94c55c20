package cli

import "github.com/spf13/cobra"

func importCommand() *cobra.Command {
	return &cobra.Command{Use: "import", Short: "Bulk load from files", Args: cobra.NoArgs}
}
