package sqlite

import (
	"context"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// versionText reads the number by which SQLite itself knows whether the pages that
// the connection has in memory are still those of the file: it is another one after
// a commit of whoever wrote, in this process or another.
const versionText = "PRAGMA data_version"

// maxKnown bounds what is remembered.
const maxKnown = 256

// Hold has the statements that follow see the file as it is now, until Release. It
// begins to read the version and does not end, so that it costs one statement, where
// BEGIN and ROLLBACK are two.
func (c *Conn) Hold(ctx context.Context, until time.Time) error {
	before := c.watch
	defer func() { c.watch = before }()
	c.watch = newWatch(ctx, until)
	s, _, err := c.begin(Query{Text: versionText})
	if err != nil {
		return err
	}
	if _, err := s.step(); err != nil {
		s.end()
		return err
	}
	version := sqlite3.Xsqlite3_column_int64(c.tls, s.handle, 0)
	if version != c.version || len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.held, c.version = s, version
	return nil
}

// Release ends what Hold began.
func (c *Conn) Release() {
	if c.held != nil {
		c.held.end()
		c.held = nil
	}
}

// Recall is what Remember was told under a key, if the file has not changed since.
// Both are for the time between Hold and Release.
func (c *Conn) Recall(key any) (value any, known bool) {
	value, known = c.known[key]
	return value, known
}

// Remember keeps what was read of the file as it is.
func (c *Conn) Remember(key, value any) { c.known[key] = value }
