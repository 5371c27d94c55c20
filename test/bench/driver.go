//go:build linux

package main

import (
	"context"
	"database/sql"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// driver answers with the product's statements run straight on database/sql,
// prepared, with the product's pools and pragmas. It reads every column and
// answers with the bytes that the product gave.
type driver struct {
	kind     string
	reader   *sql.DB
	writer   *sql.DB
	numbered bool                 // placeholders are $1, $2
	prepared map[string]*sql.Stmt // by text
	index    []string             // run before a commit
}

func openDriver(ctx context.Context, kind, databaseURL string) (*driver, error) {
	d := &driver{kind: kind, prepared: map[string]*sql.Stmt{}}
	var err error
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		err = d.openSQLite(path)
	} else {
		err = d.openPostgres(databaseURL)
	}
	if err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, d.reader, tokenSQL, totalSQL, countSQL, skipSQL, pageSQL, pageBelowSQL, oneSQL); err != nil {
		return nil, err
	}
	if !d.numbered {
		d.index = indexSQL
	}
	return d, d.prepare(ctx, d.writer, append([]string{planSQL, insertSQL, deltaSQL, eventSQL, invoiceSQL}, d.index...)...)
}

func (d *driver) openSQLite(path string) (err error) {
	pragmas := func(more ...string) string {
		return "file:" + path + "?" + url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"temp_store(MEMORY)", "journal_size_limit(67108864)",
		}, more...)}.Encode()
	}
	if d.writer, err = sql.Open("sqlite", pragmas("cache_size(-16000)")); err != nil {
		return err
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = sql.Open("sqlite", pragmas("cache_size(-4000)", "query_only(1)")); err != nil {
		return err
	}
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	d.reader.SetMaxOpenConns(readers)
	d.reader.SetMaxIdleConns(readers)
	return nil
}

func (d *driver) openPostgres(databaseURL string) (err error) {
	const conns = 16
	if d.reader, err = sql.Open("pgx", databaseURL); err != nil {
		return err
	}
	d.reader.SetMaxOpenConns(conns)
	d.reader.SetMaxIdleConns(conns)
	d.writer, d.numbered = d.reader, true
	return nil
}

// prepare compiles statements, which live as long as the process.
func (d *driver) prepare(ctx context.Context, on *sql.DB, texts ...string) (err error) {
	for _, text := range texts {
		d.prepared[text], err = on.PrepareContext(ctx, d.marked(text)) //nolint:sqlclosecheck // closed with its pool
		if err != nil {
			return err
		}
	}
	return nil
}

// marked numbers the placeholders for PostgreSQL.
func (d *driver) marked(text string) string {
	if !d.numbered {
		return text
	}
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

func (d *driver) close() {
	_ = d.reader.Close()
	_ = d.writer.Close()
}
