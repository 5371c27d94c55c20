// Command metrics measures the shape of Go source, so that a change of the house
// can be shown in numbers:
//
//	go run ./tools/metrics [folder…]
//
// It prints a Markdown table with a column for each folder, the current one
// unless others are named. What it measures is the program: tests, test kits and
// nested modules count in the rows that say so, and nowhere else. It parses and
// does not compile, so any tree of Go files will do.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

func run(folders []string) error {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	columns := make([][]row, len(folders))
	for i, folder := range folders {
		metrics, err := measure(os.DirFS(folder))
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		columns[i] = metrics.rows()
	}
	fmt.Println("| | " + strings.Join(titles(folders), " | ") + " |\n|---" + strings.Repeat(
		"|---",
		len(folders),
	) + "|")
	for n, first := range columns[0] {
		cells := []string{first.name}
		for _, column := range columns {
			cells = append(cells, column[n].value)
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
	return nil
}

// titles are the names of the folders, without what leads to them.
func titles(folders []string) []string {
	names := make([]string, len(folders))
	for i, folder := range folders {
		names[i] = folder
		if full, err := filepath.Abs(folder); err == nil {
			names[i] = filepath.Base(full)
		}
	}
	return names
}
