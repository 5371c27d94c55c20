package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/spf13/cobra"
)

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{DBConnect: connect, HideStartBanner: true})
	app.RootCmd.AddCommand(seedCommand(app))
	if err := app.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

// connect opens PocketBase's databases as it does itself, except that a commit
// of the data is on the disk when it returns, as a commit of the product is. The
// log of requests keeps PocketBase's own setting.
func connect(path string) (*dbx.DB, error) {
	if filepath.Base(path) != "data.db" {
		return core.DefaultDBConnect(path)
	}
	return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"+
		"&_pragma=journal_size_limit(200000000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)"+
		"&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
}

// seedCommand ends the program itself when it fails: PocketBase's own Execute
// does not hand the error of a command on.
func seedCommand(app core.App) *cobra.Command {
	return &cobra.Command{
		Use:   "seed",
		Short: "make the collections and fill them from the standard input",
		Run: func(*cobra.Command, []string) {
			if err := seed(app, os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, "seed:", err)
				os.Exit(1)
			}
		},
	}
}
