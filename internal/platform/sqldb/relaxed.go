package sqldb

import "context"

// flushing is whether SQLite flushes a commit before it is acknowledged. A group
// whose first turn is relaxed takes no other kind in: its commit costs no flush, so
// those who need one hardly wait for it. What it wrote is flushed with the next
// group that is not relaxed, of whose log it is the beginning.
type flushing struct {
	never   bool // whatever is asked for
	relaxed bool // how the connection is set at the moment
}

// relax sets the connection for a group. SQLite takes no such change inside a
// transaction.
func (g *group) relax(ctx context.Context, relaxed bool) error {
	if g.flushing.never || g.flushing.relaxed == relaxed {
		return nil
	}
	text := "PRAGMA synchronous(FULL)"
	if relaxed {
		text = "PRAGMA synchronous(NORMAL)"
	}
	if err := g.command(ctx, text); err != nil {
		return err
	}
	g.flushing.relaxed = relaxed
	return nil
}
