package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Querier runs statements: a *DB on the read side, a *Tx inside a write.
type Querier interface {
	// Engine returns which database answers.
	Engine() Engine
	// run runs statements one after the other, in one flight to PostgreSQL and back,
	// under the deadline of a statement. Its errors are those of this package.
	run(ctx context.Context, statements ...Statement) error
}

// Row is the current row of a result.
type Row interface{ Scan(dest ...any) error }

// Each calls scan for every row. The rows are being read while scan runs, so
// scan must not use querier: PostgreSQL answers one statement after the other.
func Each(ctx context.Context, querier Querier, text string, args []any, scan func(Row) error) error {
	return querier.run(ctx, Statement{Text: text, Args: args, Scan: scan})
}

// All returns every row as scan reads it; an empty slice when there is none.
func All[T any](ctx context.Context, querier Querier, scan func(Row) (T, error), text string, args ...any) ([]T, error) {
	list := []T{}
	err := Each(ctx, querier, text, args, func(row Row) error {
		if len(list) == 0 {
			list = make([]T, 0, 16) // most statements that are asked in a transaction find nothing
		}
		v, err := scan(row)
		list = append(list, v)
		return err
	})
	return list, err
}

// One returns the first row, or ErrNotFound.
func One[T any](ctx context.Context, querier Querier, scan func(Row) (T, error), text string, args ...any) (T, error) {
	var value T
	found := false
	err := Each(ctx, querier, text, args, func(row Row) (err error) {
		if found {
			return nil
		}
		found = true
		value, err = scan(row)
		return err
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return value, err
}

// Find is One for a record that a caller has named: where there is none, the error
// is the fault that says so.
func Find[T any](
	ctx context.Context, querier Querier, what string, scan func(Row) (T, error), text string, args ...any,
) (T, error) {
	value, err := One(ctx, querier, scan, text, args...)
	return value, Found(err, what)
}

// Statement is one of several that are sent together.
type Statement struct {
	Text string
	Args []any
	Scan func(Row) error // reads each row that the statement returns; nil: it returns none

	changed *int64 // gets how many rows a statement without Scan has changed; nil: not asked
}

// failed names one of several statements in its error.
func (s Statement) failed(among []Statement, err error) error {
	if len(among) == 1 {
		return err
	}
	words := strings.Fields(s.Text)
	return fmt.Errorf("%s: %w", strings.Join(words[:min(3, len(words))], " "), err)
}

// Together runs statements that read, one after the other, on PostgreSQL in one
// flight to the server and back.
func Together(ctx context.Context, querier Querier, statements ...Statement) error {
	return querier.run(ctx, statements...)
}

// Listing is All for Together with other statements.
func Listing[T any](into *[]T, scan func(Row) (T, error), text string, args ...any) Statement {
	*into = []T{}
	return Statement{Text: text, Args: args, Scan: func(row Row) error {
		v, err := scan(row)
		*into = append(*into, v)
		return err
	}}
}

// InsertID runs an INSERT of one row and returns its id; 0 when ON CONFLICT has
// passed it over. SQLite knows the id without RETURNING, for which it would
// keep the pages that it changes and make a table for the answer.
func InsertID(ctx context.Context, tx *Tx, text string, args ...any) (int64, error) {
	if writer, ok := tx.txConn.(sqliteWriter); ok {
		n, err := tx.Exec(ctx, text, args...)
		if err != nil || n == 0 {
			return 0, err
		}
		return writer.conn.LastInsertID(), nil
	}
	id, err := Value[int64](ctx, tx, text+" RETURNING id", args...)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return id, err
}

// Values returns the single column of every row; an empty slice when there is
// none.
func Values[T any](ctx context.Context, querier Querier, text string, args ...any) ([]T, error) {
	return All(ctx, querier, scanValue[T], text, args...)
}

// Value returns the single column of the first row, or ErrNotFound.
func Value[T any](ctx context.Context, querier Querier, text string, args ...any) (T, error) {
	return One(ctx, querier, scanValue[T], text, args...)
}

func scanValue[T any](row Row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// Where collects optional conditions and their arguments.
type Where struct {
	conds []string
	Args  []any
}

// And adds a condition.
func (w *Where) And(cond string, args ...any) {
	w.conds = append(w.conds, cond)
	w.Args = append(w.Args, args...)
}

// If adds a condition that is wanted.
func (w *Where) If(wanted bool, cond string, args ...any) {
	if wanted {
		w.And(cond, args...)
	}
}

// Join adds the conditions of another Where.
func (w *Where) Join(other Where) {
	w.conds = append(w.conds, other.conds...)
	w.Args = append(w.Args, other.Args...)
}

// String is the WHERE clause, or nothing when there is no condition.
func (w *Where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

// DueLook finds whether one of some times, the column at of each text, has come.
// PostgreSQL is asked for the first, which is compared then: of "before now" it
// expects a third of a table, and would read all of it.
func DueLook(db *DB, times ...string) Statement {
	var look Statement
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

// Looks reports of each SELECT whether it finds a row. They are sent as one
// statement: an idle server pays for round trips and wakings, hardly for the
// looks themselves.
func Looks(ctx context.Context, querier Querier, looks []Statement) ([]bool, error) {
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
	err := Each(ctx, querier, "SELECT "+text.String(), args, func(row Row) error { return row.Scan(places...) })
	return found, err
}
