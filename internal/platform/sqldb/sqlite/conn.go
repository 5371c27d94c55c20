// Package sqlite is one connection to a SQLite file, on zombiezen.com/go/sqlite:
// compiled statements, the binding of arguments, the scanning of rows with the
// conversions of database/sql, and the end of a statement when its context ends.
// It owns no pool and no transaction, and does not say what an error means:
// platform/sqldb does.
//
// A Conn belongs to one goroutine at a time. A statement runs to its end before
// the next one begins: scan must not use the connection.
package sqlite

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// Options say how a connection is opened and what it keeps.
type Options struct {
	// Immutable opens a file that is never written, for reading; nothing appears
	// next to it.
	Immutable bool
	// Pragmas are run in this order on the new connection: "busy_timeout(5000)".
	Pragmas []string
}

// MaxCompiled bounds the memory for statements that vary with the length of a
// list; past it a statement is compiled at every use. To keep one compiled takes
// about half off a point select.
const MaxCompiled = 400

// Conn is a connection to a database file.
type Conn struct {
	conn  *sqlite.Conn
	kept  map[string]*sqlite.Stmt
	ended chan struct{} // interrupts the running statement when it is closed
}

// patch corrects the library on linux/arm64 with pages of 64 KB, once, before the
// first connection.
var patch = sync.OnceFunc(lib.PatchIssue199)

// Open opens the file at path, and makes it unless it is immutable.
func Open(path string, options Options) (*Conn, error) {
	patch()
	address, flags := "file:"+(&url.URL{Path: path}).EscapedPath(), sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenURI
	if options.Immutable {
		address, flags = address+"?immutable=1", sqlite.OpenReadOnly|sqlite.OpenURI
	}
	opened, err := sqlite.OpenConn(address, flags)
	if err != nil {
		return nil, err
	}
	conn := &Conn{conn: opened, kept: map[string]*sqlite.Stmt{}}
	conn.watch()
	for _, pragma := range options.Pragmas {
		if err := conn.script("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// Close frees the compiled statements and closes the file. The last connection
// to close folds the write-ahead log into the database.
func (c *Conn) Close() error {
	for text, kept := range c.kept {
		_ = kept.Finalize() // which repeats the error of the last use
		delete(c.kept, text)
	}
	return c.conn.Close()
}

// Compiled is how many statements are kept compiled.
func (c *Conn) Compiled() int { return len(c.kept) }

// TotalChanges is how many rows the connection has changed since it was opened.
func (c *Conn) TotalChanges(ctx context.Context) (changes int64, err error) {
	err = c.Each(ctx, "SELECT total_changes()", nil, func(row *Row) error { return row.Scan(&changes) })
	return changes, err
}

// LastInsertID is the rowid of the row that the connection has inserted last.
func (c *Conn) LastInsertID() int64 { return c.conn.LastInsertRowID() }

// InTransaction reports whether a transaction is open. SQLite ends one by itself
// on some failures, a full disk for one.
func (c *Conn) InTransaction() bool { return !c.conn.AutocommitEnabled() }

// Code is the extended code of an error of SQLite's; 0 when it is none.
func Code(err error) sqlite.ResultCode {
	code := sqlite.ErrCode(err)
	if code == sqlite.ResultError {
		return 0 // also what other errors have
	}
	return code
}

var errSeveral = errors.New("sqlite: the text has several statements")

// Each runs a statement and calls scan for every row, which is valid until scan
// returns.
func (c *Conn) Each(ctx context.Context, text string, args []any, scan func(*Row) error) error {
	return c.within(ctx, func() error {
		statement, err := c.begin(text, args)
		if err != nil {
			return err
		}
		defer c.end(text, statement)
		return step(statement, func(row *Row) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return scan(row)
		})
	})
}

// Exec runs a statement to its end, and returns how many rows it has changed.
func (c *Conn) Exec(ctx context.Context, text string, args []any) (changed int64, err error) {
	if err := c.Each(ctx, text, args, ignore); err != nil {
		return 0, err
	}
	return int64(c.conn.Changes()), nil
}

// Script runs a text of any number of statements as it is.
func (c *Conn) Script(ctx context.Context, text string) error {
	return c.within(ctx, func() error { return c.script(text) })
}

func (c *Conn) script(text string) error {
	for text = skipBlank(text); text != ""; {
		statement, rest, err := c.compile(text)
		if err != nil {
			return err
		}
		err = step(statement, ignore)
		_ = statement.Finalize() // which repeats the error
		if err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// watch has the library interrupt statements once c.ended is closed. The library
// starts a goroutine for each such channel, so one serves many statements.
func (c *Conn) watch() {
	c.ended = make(chan struct{})
	c.conn.SetInterrupt(c.ended)
}

// within interrupts what use runs when ctx ends. The error is then the context's.
func (c *Conn) within(ctx context.Context, use func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { close(c.ended) })
		defer func() {
			if !stop() {
				<-c.ended
				c.watch()
			}
		}()
	}
	err := use()
	if Code(err).ToPrimary() == sqlite.ResultInterrupt && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// begin finds or compiles a statement and binds the arguments.
func (c *Conn) begin(text string, args []any) (*sqlite.Stmt, error) {
	statement := c.kept[text]
	if statement == nil {
		compiled, rest, err := c.compile(text)
		if err != nil {
			return nil, err
		}
		if rest != "" {
			_ = compiled.Finalize() // it has not run
			return nil, errSeveral
		}
		if statement = compiled; len(c.kept) < MaxCompiled {
			c.kept[text] = statement
		}
	}
	if err := bind(statement, args); err != nil {
		c.end(text, statement)
		return nil, err
	}
	return statement, nil
}

// compile compiles the first statement of a text.
func (c *Conn) compile(text string) (statement *sqlite.Stmt, rest string, err error) {
	if strings.IndexByte(text, 0) >= 0 { // where SQLite would take the text to end
		return nil, "", errors.New("sqlite: the text has a zero byte")
	}
	if skipBlank(text) == "" {
		return nil, "", errors.New("sqlite: the text has no statement")
	}
	statement, trailing, err := c.conn.PrepareTransient(text)
	if err != nil {
		return nil, "", err
	}
	return statement, skipBlank(text[len(text)-trailing:]), nil
}

// skipBlank is the text from its first statement on.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n;")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			return text
		}
	}
}

// step goes through all rows, of which a RETURNING may have some too.
func step(statement *sqlite.Stmt, scan func(*Row) error) error {
	row := &Row{statement}
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
}

func ignore(*Row) error { return nil }

// end makes the statement ready for its next use, or frees one that is not kept.
func (c *Conn) end(text string, statement *sqlite.Stmt) {
	if c.kept[text] != statement {
		_ = statement.Finalize() // which repeats the error of the last step
		return
	}
	_ = statement.Reset() // the same
	_ = statement.ClearBindings()
}
