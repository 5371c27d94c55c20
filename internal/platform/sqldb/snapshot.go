package sqldb

import (
	"context"
	"sync"
	"time"

	"carteira/internal/platform/sqldb/sqlite"
)

// snapshot is one read transaction of SQLite for several statements of one
// request. The beginning and the end of a read transaction, locks and the look
// at the schema, cost as much as a statement that reads one row.
type snapshot struct {
	reads *sqliteReads

	mu   sync.Mutex
	conn *sqlite.Conn // nil: it has not begun
	over bool
}

type snapshotKey struct{}

// Snapshot returns a context under which reads see the database as it is at the
// first of them, until end is called or Write is. It is for a request that
// reads and answers: one that waits for what others write would wait in vain.
// On PostgreSQL it changes nothing.
func (db *DB) Snapshot(ctx context.Context) (within context.Context, end func()) {
	backend, ok := db.backend.(*sqliteDB)
	if !ok {
		return ctx, func() {}
	}
	s := &snapshot{reads: backend.sqliteReads}
	return context.WithValue(ctx, snapshotKey{}, s), s.end
}

// snapshotOf is the snapshot that reads under a context share; nil: none.
func snapshotOf(ctx context.Context) *snapshot {
	s, _ := ctx.Value(snapshotKey{}).(*snapshot)
	return s
}

// lend runs a read in the snapshot, and reports whether it could: after its end,
// and beside another read of the request, a read has a connection of its own.
func (s *snapshot) lend(ctx context.Context, until time.Time, run func(*sqlite.Conn) error) (lent bool, err error) {
	if s == nil || !s.mu.TryLock() {
		return false, nil
	}
	defer s.mu.Unlock()
	if s.over {
		return false, nil
	}
	if s.conn == nil {
		if err := s.begin(ctx, until); err != nil {
			return true, err
		}
	}
	return true, run(s.conn)
}

func (s *snapshot) begin(ctx context.Context, until time.Time) error {
	conn, err := s.reads.readers.lend(ctx, until)
	if err != nil {
		return err
	}
	if err := conn.Hold(ctx, until); err != nil {
		s.reads.readers.takeBack(conn)
		return err
	}
	s.conn = conn
	return nil
}

// end gives the connection back. The reads that follow see what is newest.
func (s *snapshot) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	conn := s.conn
	s.over, s.conn = true, nil
	if conn != nil {
		conn.Release()
		s.reads.readers.takeBack(conn)
	}
}
