//go:build linux

package main

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// driver answers with the product's statements run straight on database/sql and
// pgx, prepared, with the product's pool. It reads every column and answers with
// the bytes that the product gave.
type driver struct {
	db       *sql.DB
	prepared map[string]*sql.Stmt // by text
}

func openDriver(ctx context.Context, databaseURL string) (*driver, error) {
	const conns = 16
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	d := &driver{db, map[string]*sql.Stmt{}}
	return d, d.prepare(ctx, tokenSQL, totalSQL, skipSQL, nearSQL, pageSQL, pageBelowSQL, oneSQL,
		planSQL, insertSQL, invoiceSQL, rulesSQL, auditSQL, eventsSQL, debtorSQL, linkSQL, deltasSQL, deliverySQL, queueSQL)
}

// prepare compiles statements, which live as long as the process.
func (d *driver) prepare(ctx context.Context, texts ...string) (err error) {
	for _, text := range texts {
		d.prepared[text], err = d.db.PrepareContext(ctx, numbered(text))
		if err != nil {
			return err
		}
	}
	return nil
}

// numbered turns the placeholders of a statement into $1, $2, ….
func numbered(text string) string {
	parts := strings.Split(text, "?")
	for i := range parts[1:] {
		parts[i+1] = "$" + strconv.Itoa(i+1) + parts[i+1]
	}
	return strings.Join(parts, "")
}

func (d *driver) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return d.prepared[text].QueryContext(ctx, args...)
}

func (d *driver) row(ctx context.Context, text string, args ...any) *sql.Row {
	return d.prepared[text].QueryRowContext(ctx, args...)
}

// slots are places for the columns of a row, by a letter each: i is a number, s
// a text, b a truth value, n a text or number that may be missing.
func slots(kinds string) []any {
	places := make([]any, len(kinds))
	for i, kind := range kinds {
		switch kind {
		case 'i':
			places[i] = new(int64)
		case 'b':
			places[i] = new(bool)
		case 'n':
			places[i] = new(sql.NullString)
		default:
			places[i] = new(string)
		}
	}
	return places
}

func (d *driver) close() { _ = d.db.Close() }
