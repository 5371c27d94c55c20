package sqldb

import (
	"context"
	"strings"
)

// Look asks whether there is work: its text is a SELECT that finds a row if
// there is.
type Look struct {
	Text string
	Args []any
}

// DueLook finds whether one of some times, the column at of each text, has come.
// PostgreSQL is asked for the first, which is compared then: of "before now" it
// expects a third of a table, and would read all of it.
func DueLook(db *DB, times ...string) Look {
	var look Look
	for i, text := range times {
		if i > 0 {
			look.Text += " UNION ALL "
		}
		if db.Engine() == Postgres {
			text += " ORDER BY 1 LIMIT 1"
		}
		look.Text += "SELECT 1 FROM (" + text + ") AS first WHERE at <= ?"
		look.Args = append(look.Args, db.Now().UnixMicro())
	}
	return look
}

// Looks tells of each look whether it finds a row. They are one statement: a
// server that nobody asks anything pays for flights and wakings, hardly for the
// looks themselves.
func Looks(ctx context.Context, querier Querier, looks []Look) ([]bool, error) {
	var text strings.Builder
	var args []any
	found := make([]bool, len(looks))
	places := make([]any, len(looks))
	for i, look := range looks {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString("EXISTS (" + look.Text + ")")
		args = append(args, look.Args...)
		places[i] = &found[i]
	}
	_, err := One(ctx, querier, func(row Row) (struct{}, error) {
		return struct{}{}, row.Scan(places...)
	}, "SELECT "+text.String(), args...)
	return found, err
}
