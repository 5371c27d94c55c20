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
	set := g.flushAll
	if relaxed {
		set = g.flushLater
	}
	if err := set(ctx); err != nil {
		return err
	}
	g.flushing.relaxed = relaxed
	return nil
}

func (g *group) flushAll(ctx context.Context) error {
	return g.command(ctx, "PRAGMA synchronous(FULL)")
}

func (g *group) flushLater(ctx context.Context) error {
	return g.command(ctx, "PRAGMA synchronous(NORMAL)")
}
