package sqldb

import (
	"context"

	"carteira/internal/platform/sqldb/sqlite"
)

// Recall is what Remember was told under a key when the file was as it is in the
// snapshot of ctx. SQLite keeps the pages of a file by the same rule: a commit, of
// this process or another, ends it for every snapshot that begins after. Without a
// snapshot, and on PostgreSQL, nothing is known. What is recalled is shared, and must
// not be changed. The key has a type of its room's own.
func Recall[T any](ctx context.Context, key any) (value T, known bool) {
	snapshotOf(ctx).with(ctx, func(conn *sqlite.Conn) {
		if found, ok := conn.Recall(key); ok {
			value, known = found.(T)
		}
	})
	return value, known
}

// Remember keeps what was read under ctx for those who ask as long as the file does
// not change. It is for what many requests of a company read, and little of it.
func Remember(ctx context.Context, key, value any) {
	snapshotOf(ctx).with(ctx, func(conn *sqlite.Conn) { conn.Remember(key, value) })
}

// with lends the connection of the snapshot for what takes no time, if it can.
func (s *snapshot) with(ctx context.Context, use func(*sqlite.Conn)) {
	if s == nil {
		return
	}
	_, _ = s.lend(ctx, s.reads.until(ctx), func(conn *sqlite.Conn) error { // who reads meets the error again
		use(conn)
		return nil
	})
}
