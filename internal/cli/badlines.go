package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
)

// badLines reports what is wrong with the lines of a file: the first to people,
// all to the file of --errors.
type badLines struct {
	out     io.Writer
	columns []sheet.Column
	shown   int
	hidden  int
	path    string
	file    *os.File
	csv     *csv.Writer
}

// maxShown is how much a person reads before looking at the file instead.
const maxShown = 100

func newBadLines(cmd *cobra.Command, columns []sheet.Column, of *sheetFile) (*badLines, error) {
	path, err := cmd.Flags().GetString("errors")
	if err != nil {
		return nil, err
	}
	lines := &badLines{out: cmd.ErrOrStderr(), columns: columns, path: path}
	if path == "" {
		return lines, nil
	}
	if same(path, of) {
		return nil, fmt.Errorf("--errors %s is the file to import, and would be written over", path)
	}
	if lines.file, err = createPrivate(filepath.Clean(path)); err != nil {
		return nil, err
	}
	lines.csv = csv.NewWriter(lines.file)
	return lines, lines.csv.Write([]string{"line", "column", "value", "reason"})
}

// createPrivate makes a file that its owner alone may read, also where there is
// one already: what it gets are values of customers.
func createPrivate(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the person at the command line says where
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := file.Chmod(0o600); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

func same(path string, of *sheetFile) bool {
	one, err := os.Stat(path)
	if err != nil {
		return false
	}
	other, err := of.Stat()
	return err == nil && os.SameFile(one, other)
}

func (b *badLines) report(problem intake.Problem) {
	column := b.heading(problem.Field)
	if b.csv != nil {
		_ = b.csv.Write([]string{strconv.Itoa(problem.Line), column, problem.Value, problem.Reason}) // close tells
	}
	if b.shown == maxShown {
		b.hidden++
		return
	}
	b.shown++
	if column != "" {
		column += ": "
	}
	fmt.Fprintf(b.out, "line %d: %s%s\n", problem.Line, column, problem.Reason)
}

// heading is what the file calls a field.
func (b *badLines) heading(field string) string {
	for _, column := range b.columns {
		if column.Field == field && field != "" {
			return strings.Map(printable, column.Heading)
		}
	}
	return field
}

// printable keeps a hostile heading from steering the terminal.
func printable(r rune) rune {
	if !strconv.IsPrint(r) {
		return -1
	}
	return r
}

func (b *badLines) summarize() {
	switch {
	case b.path != "" && b.shown > 0:
		fmt.Fprintf(b.out, "%d in all, in %s.\n", b.shown+b.hidden, b.path)
	case b.hidden > 0:
		fmt.Fprintf(b.out, "%d more are not shown; --errors FILE writes all of them.\n", b.hidden)
	}
}

func (b *badLines) close() error {
	if b.file == nil {
		return nil
	}
	b.csv.Flush()
	return errors.Join(b.csv.Error(), b.file.Close())
}
