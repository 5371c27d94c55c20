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

// ReadKept reads rows of which the statement selects TextColumns(columns). What is null or empty is left out.
func ReadKept(ctx context.Context, querier sqldb.Querier, table, columns, text string, args ...any) (Kept, error) {
	names := strings.Fields(columns)
	rows, err := sqldb.All(ctx, querier, func(r sqldb.Row) (map[string]string, error) {
		values := make([]*string, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := r.Scan(targets...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, value := range values {
			if value != nil && *value != "" {
				row[names[i]] = readable(names[i], *value)
			}
		}
		return row, nil
	}, text, args...)
	return Kept{table, rows}, err
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
