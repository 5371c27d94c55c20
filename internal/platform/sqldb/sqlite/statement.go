package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Query is a statement to run, with an argument for each placeholder.
type Query struct {
	Text string
	Args []any
	// Until ends the statement with ErrOverdue; zero does not.
	Until time.Time
}

// statement is a compiled text.
type statement struct {
	conn   *Conn
	handle uintptr
	params int
	kept   bool
	busy   bool // its rows are being read
	row    Row
	values []any   // arguments as SQLite takes them, reused
	memory uintptr // where the texts of the arguments are
	size   int     // of memory
	rows   int     // that it has come to
	share  []byte  // memory that texts of these rows share
}

// maxMemory is how much memory a statement keeps for its next use.
const maxMemory = 4 << 10

var errSeveral = errors.New("sqlite: the text has several statements; they take no arguments and return no rows")

// Each runs a statement and calls scan for every row. The row is valid until
// scan returns. scan may run other statements on the connection.
func (c *Conn) Each(ctx context.Context, query Query, scan func(*Row) error) error {
	before := c.watch
	defer func() { c.watch = before }()
	c.watch = newWatch(ctx, query.Until)
	s, rest, err := c.begin(query)
	if err != nil {
		return err
	}
	defer s.end()
	if rest != "" {
		return errSeveral
	}
	for {
		more, err := s.step()
		if err != nil || !more {
			return err
		}
		if err := scan(&s.row); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil { // SQLite does not ask while scan runs
			return err
		}
	}
}

// Exec runs a statement to its end, or several that have no arguments, and
// returns how many rows the last one that writes has changed.
func (c *Conn) Exec(ctx context.Context, query Query) (int64, error) {
	before := c.watch
	defer func() { c.watch = before }()
	c.watch = newWatch(ctx, query.Until)
	s, rest, err := c.begin(query)
	if err != nil {
		return 0, err
	}
	err = s.run()
	s.end()
	if err == nil && rest != "" {
		err = c.script(rest)
	}
	if err != nil {
		return 0, err
	}
	return sqlite3.Xsqlite3_changes64(c.tls, c.db), nil
}

// Script runs a text of any number of statements as it is.
func (c *Conn) Script(ctx context.Context, text string) error {
	before := c.watch
	defer func() { c.watch = before }()
	c.watch = newWatch(ctx, time.Time{})
	return c.script(text)
}

func (c *Conn) script(text string) error {
	for text != "" {
		s, rest, err := c.compile(text, 0)
		if err != nil {
			return err
		}
		if s.handle != 0 {
			err = s.run()
		}
		s.end()
		if err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// begin finds or compiles a statement and binds the arguments. rest is the text
// of further statements.
func (c *Conn) begin(query Query) (s *statement, rest string, err error) {
	if err := c.watch.over(); err != nil {
		return nil, "", err
	}
	if s, rest, err = c.find(query.Text); err != nil {
		return nil, "", err
	}
	if rest != "" && len(query.Args) > 0 {
		err = errSeveral
	} else {
		err = s.bind(query.Args)
	}
	if err != nil {
		s.end()
		return nil, "", err
	}
	return s, rest, nil
}

func (c *Conn) find(text string) (s *statement, rest string, err error) {
	s, known := c.kept[text]
	if known && !s.busy {
		s.busy = true
		return s, "", nil
	}
	keep := !known && len(c.kept) < c.options.MaxCompiled
	var flags uint32
	if keep {
		flags = sqlite3.SQLITE_PREPARE_PERSISTENT
	}
	if s, rest, err = c.compile(c.options.Rewrite(text), flags); err != nil {
		return nil, "", err
	}
	if s.handle == 0 {
		return nil, "", errors.New("sqlite: the text has no statement")
	}
	if keep && rest == "" {
		s.kept = true
		c.kept[text] = s
	}
	return s, rest, nil
}

// compile compiles the first statement of a text. Its handle is 0 when there is
// nothing but space and comments.
func (c *Conn) compile(text string, flags uint32) (s *statement, rest string, err error) {
	if strings.IndexByte(text, 0) >= 0 { // where SQLite would take the text to end
		return nil, "", errors.New("sqlite: the text has a zero byte")
	}
	start, err := c.newText(text)
	if err != nil {
		return nil, "", err
	}
	defer c.free(start)
	cells, err := c.alloc(2 * pointerSize)
	if err != nil {
		return nil, "", err
	}
	defer c.free(cells)
	tail := cells + uintptr(pointerSize)
	code := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, start, -1, flags, cells, tail)
	if code != sqlite3.SQLITE_OK {
		return nil, "", c.failure(code)
	}
	s = &statement{conn: c, handle: pointerAt(cells), busy: true}
	s.row.statement = s
	if s.handle != 0 {
		s.params = int(sqlite3.Xsqlite3_bind_parameter_count(c.tls, s.handle))
	}
	rest = strings.TrimLeft(text[pointerAt(tail)-start:], " \t\r\n;")
	return s, rest, nil
}

// step goes on to the next row, and reports whether there is one.
func (s *statement) step() (bool, error) {
	switch code := sqlite3.Xsqlite3_step(s.conn.tls, s.handle); code {
	case sqlite3.SQLITE_ROW:
		s.rows++
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.conn.failure(code)
	}
}

// run goes through all rows, of which a RETURNING may have some.
func (s *statement) run() error {
	for more := true; more; {
		var err error
		if more, err = s.step(); err != nil {
			return err
		}
	}
	return nil
}

// end makes the statement ready for its next use, or frees one that is not kept.
func (s *statement) end() {
	s.busy = false
	s.rows, s.share = 0, nil
	if !s.kept {
		s.finalize()
		return
	}
	sqlite3.Xsqlite3_reset(s.conn.tls, s.handle) // answers with the error of the last step
	if s.params > 0 {
		sqlite3.Xsqlite3_clear_bindings(s.conn.tls, s.handle)
	}
	if s.size > maxMemory {
		s.release()
	}
}

func (s *statement) finalize() {
	sqlite3.Xsqlite3_finalize(s.conn.tls, s.handle)
	s.release()
}

func (s *statement) release() {
	s.conn.free(s.memory)
	s.memory, s.size = 0, 0
}

func (s *statement) wrongCount(args int) error {
	return fmt.Errorf("sqlite: the statement has %d placeholders, and there are %d arguments", s.params, args)
}
