package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// command is what the help of a command says, and its flags, as addFlags reads them.
type command struct {
	use, short, long, example string
	flags                     string
	args                      cobra.PositionalArgs // none unless it says so
}

// call is a command that was given: the program that it opened, its arguments, and a
// form of its flags.
type call struct {
	*app.App
	cmd   *cobra.Command
	args  []string
	actor account.Actor // of the company of --company
	in    *input.Form
}

// id is that of the record of --id.
func (c call) id() int64 { return c.in.ID("id").Value }

// done is what a command prints that did something to the record of --id.
func (c call) done(what string, err error) (any, error) {
	return map[string]any{"id": c.id(), what: true}, err
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	cmd.AddCommand(commands...)
	return cmd
}

// bare makes a command that opens nothing by itself.
func bare(d command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: d.use, Short: d.short, Long: d.long, Example: d.example, Args: d.args, RunE: run}
	if d.args == nil {
		cmd.Args = cobra.NoArgs
	}
	return addFlags(cmd, d.flags)
}

// opened makes a command for which the program is opened.
func opened(d command, run func(ctx context.Context, c call) error) *cobra.Command {
	return bare(d, func(cmd *cobra.Command, args []string) error { return open(cmd, args, run) })
}

func open(cmd *cobra.Command, args []string, run func(ctx context.Context, c call) error) error {
	return withApp(cmd, app.Open, func(ctx context.Context, program *app.App) error {
		return run(ctx, call{App: program, cmd: cmd, args: args, in: form(cmd)})
	})
}

const companyFlag = "\ncompany!:int id of the company"

// forCompany makes a command that acts for the company of --company.
func forCompany(d command, run func(ctx context.Context, c call) error) *cobra.Command {
	d.flags += companyFlag
	return bare(d, func(cmd *cobra.Command, args []string) error { return openFor(cmd, args, run) })
}

func openFor(cmd *cobra.Command, args []string, run func(ctx context.Context, c call) error) error {
	return open(cmd, args, func(ctx context.Context, c call) error {
		id, err := cmd.Flags().GetInt64("company")
		if err != nil {
			return err
		}
		c.actor, err = c.Accounts.Actor(ctx, id)
		if fault.KindOf(err) == fault.KindNotFound {
			return fmt.Errorf("there is no company %d; `carteira company list` shows them", id)
		}
		if err != nil {
			return err
		}
		return run(ctx, c)
	})
}

// act makes a command that calls a use case for the company of --company, and prints
// what it returns.
func act(d command, do func(ctx context.Context, c call) (any, error)) *cobra.Command {
	return forCompany(d, func(ctx context.Context, c call) error {
		value, err := do(ctx, c)
		if err != nil {
			return err
		}
		return printJSON(c.cmd, value)
	})
}

const jsonFlag = "\njson:bool print JSON instead of a table"

// list makes a command that prints what the company of --company has. The names of
// the columns have commas between them.
func list[T any](
	d command, columns string, find func(ctx context.Context, c call) ([]T, error), row func(c call, record T) []any,
) *cobra.Command {
	d.flags += jsonFlag
	if d.use == "" {
		d.use = "list"
	}
	return forCompany(d, func(ctx context.Context, c call) error {
		records, err := find(ctx, c)
		if err != nil {
			return err
		}
		return printList(c.cmd, records, columns, func(record T) []any { return row(c, record) })
	})
}

// listOf is list with the columns of the table of the records.
func listOf[T, D any](
	d command, fields account.Table[T, D], find func(ctx context.Context, c call) ([]T, error),
) *cobra.Command {
	return list(d, columns(fields), find, func(c call, record T) []any { return row(c, fields, &record) })
}

// columns are those of a table, as list takes them.
func columns[T, D any](fields account.Table[T, D]) string {
	var names []string
	for name := range fields.In(account.InLists, new(T)) {
		names = append(names, strings.ToUpper(strings.ReplaceAll(name, "_", " ")))
	}
	return strings.Join(names, ",")
}

func row[T, D any](c call, fields account.Table[T, D], record *T) (values []any) {
	for _, value := range fields.In(account.InLists, record) {
		if at, ok := value.(time.Time); ok {
			value = when(at, c.actor.Company.Zone)
		}
		values = append(values, value)
	}
	return values
}

// shown prints a record by its table.
func shown[T, D any](fields account.Table[T, D]) func(T, error) (any, error) {
	return func(record T, err error) (any, error) {
		return maps.Collect(fields.In(account.InRecord, &record)), err
	}
}

// addFlags makes a flag of each line: its name, with ! where it must be given, :int,
// :bool or :list where it is no text, =value where it has a default, and its help.
func addFlags(cmd *cobra.Command, lines string) *cobra.Command {
	for line := range strings.Lines(lines) {
		flag, help, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		flag, value, _ := strings.Cut(flag, "=")
		flag, kind, _ := strings.Cut(flag, ":")
		name, required := strings.CutSuffix(flag, "!")
		help = strings.TrimSpace(help)
		switch kind {
		case "int":
			number, _ := strconv.ParseInt(value, 10, 64) // 0 without a default
			cmd.Flags().Int64(name, number, help)
		case "bool":
			cmd.Flags().Bool(name, value == "true", help)
		case "list":
			cmd.Flags().StringArray(name, nil, help)
		default:
			cmd.Flags().String(name, value, help)
		}
		if required {
			must(cmd.MarkFlagRequired(name))
		}
	}
	return cmd
}

// flag is whether a flag is on.
func flag(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	must(err)
	return on
}

// text is the value of a flag.
func text(cmd *cobra.Command, name string) string {
	value, err := cmd.Flags().GetString(name)
	must(err)
	return value
}

// form makes a Form of the flags that were given. Flags are named like fields,
// with hyphens.
func form(cmd *cobra.Command) *input.Form {
	values := map[string]string{}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			values[strings.ReplaceAll(f.Name, "-", "_")] = f.Value.String()
		}
	})
	return input.FromStrings(values)
}

// printJSON prints a value in the dialect of the API: what is not there is null.
func printJSON(cmd *cobra.Command, v any) error {
	return json.NewEncoder(cmd.OutOrStdout()).Encode(apiValue(v))
}

// apiValue is a value with null for the empty texts and dates in its objects.
func apiValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, field := range v {
			object[name] = apiValue(field)
		}
		return object
	case []map[string]any:
		list := make([]any, len(v))
		for n := range v {
			list[n] = apiValue(v[n])
		}
		return list
	case string:
		if v == "" {
			return nil
		}
	case interface{ IsZero() bool }: // a date or a time
		if v.IsZero() {
			return nil
		}
	}
	return v
}

// object is a row of a list as JSON has it.
func object(columns string, row []any) map[string]any {
	fields := make(map[string]any, len(row))
	for i, name := range strings.Split(columns, ",") {
		fields[strings.ToLower(strings.ReplaceAll(name, " ", "_"))] = row[i]
	}
	return fields
}

// printList prints records as a table, or as JSON when --json is given.
func printList[T any](cmd *cobra.Command, records []T, columns string, row func(T) []any) error {
	if flag(cmd, "json") {
		objects := make([]map[string]any, len(records))
		for i, record := range records {
			objects[i] = object(columns, row(record))
		}
		return printJSON(cmd, objects)
	}
	writer := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(writer, strings.ReplaceAll(columns, ",", "\t"))
	for _, record := range records {
		var cells []string
		for _, v := range row(record) {
			cells = append(cells, fmt.Sprint(v))
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	return writer.Flush()
}

// reference is the id of another record in a list, "" where there is none.
func reference(id int64) any {
	if id == 0 {
		return ""
	}
	return id
}

// moment is a time in a list: for people in a table, as the API writes it in JSON.
type moment struct{ at time.Time }

func when(at time.Time, zone *time.Location) moment {
	if at.IsZero() {
		return moment{}
	}
	return moment{at.In(zone)}
}

// String is the time for people, "" for never.
func (m moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.Format("2006-01-02 15:04:05 -07:00")
}

// MarshalJSON implements json.Marshaler; never is null.
func (m moment) MarshalJSON() ([]byte, error) {
	if m.at.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(civil.Timestamp(m.at, m.at.Location()))
}
