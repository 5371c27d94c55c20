// Package sqlite calls the SQLite library, which modernc.org/sqlite/lib has
// translated to Go, without database/sql in between. It owns a connection with
// its compiled statements, the binding of arguments, the scanning of rows, and
// the end of a statement whose context has ended. It owns no pool and no
// transaction, and does not say what an error means: platform/sqldb does.
//
// A Conn belongs to one goroutine at a time, and so does without SQLite's lock
// around every call. No other goroutine touches it, not even to interrupt it:
// SQLite itself asks, every so many steps, whether to go on (watch.go). So no
// interrupt can reach a connection after it has gone to somebody else.
package sqlite

import (
	"errors"
	"fmt"
	"net/url"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Options say how a connection is opened and what it keeps.
type Options struct {
	// Immutable opens a file that nobody writes, for reading; nothing appears
	// beside it.
	Immutable bool
	// Pragmas are run in this order on the new connection: "busy_timeout(5000)".
	Pragmas []string
	// Rewrite turns the text of a statement into SQLite's; nil leaves it.
	Rewrite func(text string) string
	// MaxCompiled bounds the statements that stay compiled, by their texts. Past
	// it a statement is compiled at every use.
	MaxCompiled int
}

// Conn is a connection to a database file.
type Conn struct {
	tls     *libc.TLS
	db      uintptr
	key     uintptr // by which the progress handler finds the connection
	options Options
	kept    map[string]*statement
	watch   watch

	held    *statement  // by which the connection stays at one version of the file; nil: it does not
	version int64       // of the file when it was held last
	known   map[any]any // what was read of that version
}

// prepare is done once, before the first connection. The library wants its patch
// to be called; it does something on linux/arm64 alone.
var prepare = sync.OnceFunc(func() {
	sqlite3.PatchIssue199()
	separatePages()
})

// Open opens the file at path, and makes it unless it is immutable.
func Open(path string, options Options) (*Conn, error) {
	prepare()
	if options.Rewrite == nil {
		options.Rewrite = func(text string) string { return text }
	}
	conn := &Conn{tls: libc.NewTLS(), options: options, kept: map[string]*statement{}, known: map[any]any{}}
	if err := conn.open(path); err != nil {
		conn.tls.Close()
		return nil, err
	}
	conn.startWatch()
	if err := conn.addIDList(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	for _, pragma := range options.Pragmas {
		if err := conn.script("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

func (c *Conn) open(path string) error {
	address := "file:" + (&url.URL{Path: path}).EscapedPath()
	flags := int32(sqlite3.SQLITE_OPEN_URI | sqlite3.SQLITE_OPEN_NOMUTEX)
	if c.options.Immutable {
		address += "?immutable=1"
		flags |= sqlite3.SQLITE_OPEN_READONLY
	} else {
		flags |= sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
	}
	name, err := c.newText(address)
	if err != nil {
		return err
	}
	defer c.free(name)
	cell, err := c.alloc(pointerSize)
	if err != nil {
		return err
	}
	defer c.free(cell)
	code := sqlite3.Xsqlite3_open_v2(c.tls, name, cell, flags, 0)
	c.db = pointerAt(cell)
	if code == sqlite3.SQLITE_OK {
		code = sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	}
	if code == sqlite3.SQLITE_OK {
		return nil
	}
	err = c.failure(code)
	sqlite3.Xsqlite3_close(c.tls, c.db) // a failed opening leaves a handle that holds its message
	return err
}

// Close frees the compiled statements and closes the file. The last connection
// of a process to close folds the write-ahead log into the database.
func (c *Conn) Close() error {
	for text, kept := range c.kept {
		kept.finalize()
		delete(c.kept, text)
	}
	if code := sqlite3.Xsqlite3_close(c.tls, c.db); code != sqlite3.SQLITE_OK {
		return c.failure(code)
	}
	c.stopWatch()
	c.tls.Close()
	return nil
}

// Compiled is how many statements are kept compiled.
func (c *Conn) Compiled() int { return len(c.kept) }

// TotalChanges is how many rows the connection has changed since it was opened.
func (c *Conn) TotalChanges() int64 { return sqlite3.Xsqlite3_total_changes64(c.tls, c.db) }

// LastInsertID is the rowid of the row that the connection has inserted last.
func (c *Conn) LastInsertID() int64 { return sqlite3.Xsqlite3_last_insert_rowid(c.tls, c.db) }

// InTransaction reports whether a transaction is open. SQLite ends one by itself
// on some failures, a full disk for one.
func (c *Conn) InTransaction() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Error is what SQLite answered.
type Error struct {
	Code    int // the extended one
	message string
}

// Error is SQLite's message with the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.message, e.Code) }

// failure is the error of a call that answered with code, or the end of the
// watch that had the call interrupted.
func (c *Conn) failure(code int32) error {
	if code&0xff == sqlite3.SQLITE_INTERRUPT {
		if err := c.watch.over(); err != nil {
			return err
		}
	}
	message := libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, code))
	if c.db == 0 {
		return &Error{int(code), message}
	}
	if detail := libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)); detail != message {
		message += ": " + detail
	}
	return &Error{int(code), message}
}
