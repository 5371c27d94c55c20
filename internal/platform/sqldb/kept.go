package sqldb

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Kept are the rows of a table that say something about one person, as that
// person may read them: every value as a text, instants as times.
type Kept struct {
	Table string              `json:"table"`
	Rows  []map[string]string `json:"rows"`
}

// ReadKept reads rows whose columns are all texts (CAST AS TEXT), in the order of
// their names. What is null or empty is left out.
func ReadKept(ctx context.Context, querier Querier, table string, columns []string, text string, args ...any) (Kept, error) {
	rows, err := All(ctx, querier, func(r Row) (map[string]string, error) {
		values := make([]*string, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := r.Scan(targets...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, value := range values {
			if value != nil && *value != "" {
				row[columns[i]] = readable(columns[i], *value)
			}
		}
		return row, nil
	}, text, args...)
	return Kept{table, rows}, err
}

// Columns lists the names of columns as ReadKept and TextColumns want them.
func Columns(names string) []string { return strings.Fields(names) }

// TextColumns is what a statement selects so that ReadKept can read it.
func TextColumns(columns []string) string {
	casts := make([]string, len(columns))
	for i, name := range columns {
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
