package account

import (
	"context"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/sqldb"
)

// Kept are the rows of a table that say something about one person, as that
// person may read them: every value as a text, instants as times.
type Kept struct {
	Table string              `json:"table"`
	Rows  []map[string]string `json:"rows"`
}

// KeptRows is how a room reads what it keeps about a person in one table.
type KeptRows struct {
	Table   string
	Columns string // names with spaces between them
	Text    string // a statement that selects TextColumns(Columns)
	Args    []any
}

// ReadKept reads what a room keeps, table by table. What is null or empty is left out.
func ReadKept(ctx context.Context, querier sqldb.Querier, tables ...KeptRows) ([]Kept, error) {
	kept := make([]Kept, len(tables))
	for n, table := range tables {
		names := strings.Fields(table.Columns)
		rows, err := sqldb.All(ctx, querier, func(row sqldb.Row) (map[string]string, error) { return keptRow(row, names) },
			table.Text, table.Args...)
		if err != nil {
			return nil, err
		}
		kept[n] = Kept{table.Table, rows}
	}
	return kept, nil
}

func keptRow(from sqldb.Row, names []string) (map[string]string, error) {
	values := make([]*string, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := from.Scan(targets...); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, value := range values {
		if value != nil && *value != "" {
			row[names[i]] = readable(names[i], *value)
		}
	}
	return row, nil
}

// TextColumns is what a statement selects so that ReadKept can read it.
func TextColumns(columns string) string {
	casts := strings.Fields(columns)
	for i, name := range casts {
		casts[i] = "CAST(" + name + " AS TEXT)"
	}
	return strings.Join(casts, ", ")
}

// readable turns microseconds of a column that ends in _at into a time.
func readable(column, value string) string {
	micros, err := strconv.ParseInt(value, 10, 64)
	if err != nil || !strings.HasSuffix(column, "_at") {
		return value
	}
	if micros == 0 {
		return ""
	}
	return time.UnixMicro(micros).UTC().Format(time.RFC3339)
}
