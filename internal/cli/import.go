package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
)

func importCommand() *cobra.Command {
	customers := bare(command{
		use: "customers FILE.csv", short: "Create customers from a CSV file; - reads standard input",
		long: `Import creates a customer of every line of a CSV file: all of them or, when a line
is bad, none. It makes no events and no invoices unless it is told to; a due date
that has not passed is billed in time by the server. It may run while the server
does, and keeps nobody waiting.

The first line names the columns: any field that the API takes (name, whatsapp,
data_de_vencimento, plan_id, address.city, custom.MAC) or what it is called in
Brazil (nome, celular, vencimento, plano, valor, cidade). Plans and products may
be given by name. Without such a line, the values decide. The file may be UTF-8,
UTF-16 or Latin-1, with commas, semicolons or tabs; amounts may be R$ 1.234,56,
dates 31/12/2027. 10/11 without a year is the nearest such day where that is
clear, and 10 the next such day of a month; either is reported.

A line that has the phone, the CPF or CNPJ, or the name and due date of a
customer of the company or of an earlier line is reported before anything is
written. It is imported all the same, or passed over with --skip-duplicates.

Standard output gets one line of JSON: {"imported":N,"failed":N,"skipped":N,"duplicates":N}.
The exit code is 1 when a line failed.`,
		example: `  carteira import customers clientes.csv --company 1 --dry-run
  carteira import customers clientes.csv --company 1 --create-missing
  carteira import customers clientes.csv --company 1 --keep-going --errors bad-lines.csv`,
		args: cobra.ExactArgs(1),
		flags: `
			keep-going:bool       import the good lines of a file that has bad ones
			create-missing:bool   make plans (by the month, at the line's amount) and products that the company lacks
			leave-out:bool        leave out optional values that are wrong, with a warning
			skip-duplicates:bool  pass over lines that seem to be customers who are there already
			events:bool           record customer.created for every customer
			invoices:bool         bill every customer at once for its due date
			dry-run:bool          check the file and import nothing; --check is the same
			errors                write a CSV file of all that is wrong: line, column, value, reason` + companyFlag,
	}, importCustomers)
	customers.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "check" {
			name = "dry-run"
		}
		return pflag.NormalizedName(name)
	})
	return group("import", "Bulk load from files: customers", customers)
}

func importCustomers(cmd *cobra.Command, args []string) (err error) {
	file, err := openSheet(cmd.Context(), args[0], cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	header, err := file.header()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, warning := range header.Warnings() {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+warning)
	}
	return openFor(cmd, args, func(ctx context.Context, c call) (err error) {
		bad, err := newBadLines(cmd, header.Columns, file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, bad.close()) }()
		options := intake.ImportOptions{
			KeepGoing: flag(cmd, "keep-going"), CreateMissing: flag(cmd, "create-missing"), Events: flag(cmd, "events"),
			Invoices: flag(cmd, "invoices"), DryRun: flag(cmd, "dry-run"), LeaveOut: flag(cmd, "leave-out"),
			SkipDuplicates: flag(cmd, "skip-duplicates"),
		}
		progress := newProgress(cmd.ErrOrStderr(), file, c.DB.Now, options)
		options.Problem = func(problem intake.Problem) {
			progress.clear()
			bad.report(problem)
		}
		options.Warning = func(problem intake.Problem) {
			progress.clear()
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: line %d, %s %q: %s\n", problem.Line, problem.Field, problem.Value, problem.Reason)
		}
		shown := 0
		options.Duplicate = func(problem intake.Problem) {
			if shown++; shown <= maxShown {
				options.Warning(problem)
			}
		}
		done, err := c.Intake.Import(ctx, c.actor, progress.rows, options)
		progress.clear()
		bad.summarize()
		sayDuplicates(cmd, done, options.SkipDuplicates)
		if err := printJSON(cmd, done); err != nil {
			return err
		}
		return verdict(ctx, done, err)
	})
}

// sayDuplicates says what became of the lines that seem to be there already.
func sayDuplicates(cmd *cobra.Command, done intake.Imported, skipped bool) {
	fate := "they are imported all the same; --skip-duplicates passes over them"
	if skipped {
		fate = "they are passed over"
	}
	if done.Duplicates > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d lines seem to be there already; %s\n", done.Duplicates, fate)
	}
}

// verdict says what became of the import when not all of it went well.
func verdict(ctx context.Context, done intake.Imported, err error) error {
	stays := "nothing was imported"
	if done.Imported > 0 {
		stays = fmt.Sprintf("customers that were imported and stay: %d", done.Imported)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("stopped; " + stays)
	case err != nil:
		return fmt.Errorf("%w; %s", err, stays)
	case done.Failed > 0:
		return fmt.Errorf("%d of %d lines are bad; %s", done.Failed, done.Imported+done.Failed+done.Skipped, stays)
	}
	return nil
}

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

func newBadLines(cmd *cobra.Command, columns []sheet.Column, of *sheetFile) (_ *badLines, err error) {
	path := text(cmd, "errors")
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
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
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
		_ = b.csv.Write([]string{strconv.Itoa(problem.Line), column, problem.Value, problem.Reason}) // close reports it
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
