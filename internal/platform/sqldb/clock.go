package sqldb

import (
	"context"
	"time"
)

// Two clocks are read through a database. Real is the machine's: leases,
// sessions, limits and whatever waits for another machine go by it. Now is the
// installation's: business time, by which a company's days pass. They are one
// clock, except in a sandbox, where a Timekeeper moves the second one.

// Timekeeper says what time it is in an installation with a moved clock.
type Timekeeper interface {
	// At is the time of the installation at a real instant, as far as this
	// process has heard.
	At(real time.Time) time.Time
	// Read is the same as the database says it, in a transaction.
	Read(ctx context.Context, querier Querier, real time.Time) (time.Time, error)
}

// Keep has the installation's time come from keeper from now on. It is called
// once, before the rooms begin to work.
func (db *DB) Keep(keeper Timekeeper) { db.keeper.Store(&keeper) }

func (db *DB) timekeeper() Timekeeper {
	if keeper := db.keeper.Load(); keeper != nil {
		return *keeper
	}
	return nil
}

// Now is the installation's time, in whole microseconds, which is what both
// engines store.
func (db *DB) Now() time.Time {
	if keeper := db.timekeeper(); keeper != nil {
		return keeper.At(db.Real()).Truncate(time.Microsecond)
	}
	return db.Real()
}

// Real is the time by the clock of the machine, in whole microseconds.
func (db *DB) Real() time.Time { return db.now().Truncate(time.Microsecond) }

// Clock is the argument of {clock ?} where processes agree on a real time, such
// as the end of a lease. They go by the clock of the database: theirs may
// differ. SQLite has no other clock than that of its process.
func (db *DB) Clock() Ref {
	if db.serverNow == nil {
		return Ref{}
	}
	return RefTo(db.serverNow().UnixMicro())
}

// DueClock is the argument of {clock ?} where something becomes due by the
// installation's time. Without a sandbox it is the clock of the database.
func (db *DB) DueClock() Ref {
	if db.timekeeper() == nil {
		return db.Clock()
	}
	return RefTo(db.Now().UnixMicro())
}

// Now is the instant of the transaction by the installation's clock, in whole
// microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// Real is the instant of the transaction by the machine's clock.
func (tx *Tx) Real() time.Time { return tx.real }

// Clock is the argument of {clock ?} for a real time in the transaction.
func (tx *Tx) Clock() Ref { return tx.clock }

// DueClock is the argument of {clock ?} for the installation's time.
func (tx *Tx) DueClock() Ref { return tx.due }

// begin reads both clocks for a transaction. In a sandbox its time is that of
// the database, and that clock cannot move until the transaction has ended.
func (db *DB) begin(ctx context.Context, conn txConn, lock clockLock) (*Tx, error) {
	tx := &Tx{txConn: conn, real: db.Real(), clock: db.Clock()}
	keeper := db.timekeeper()
	if keeper == nil {
		tx.now, tx.due = tx.real, tx.clock
		return tx, nil
	}
	if err := lock.take(ctx, conn); err != nil {
		return nil, err
	}
	now, err := keeper.Read(ctx, conn, tx.real)
	tx.now = now.Truncate(time.Microsecond)
	tx.due = RefTo(tx.now.UnixMicro())
	return tx, err
}

// clockLock keeps transactions and moves of the clock apart on PostgreSQL. A
// transaction that has read one time would otherwise commit it after others have
// written a later one. On SQLite there is one writer at a time.
type clockLock string

const (
	shared    clockLock = `SELECT pg_advisory_xact_lock_shared(1129337164, hashtext(current_schema()))`
	exclusive clockLock = `SELECT pg_advisory_xact_lock(1129337164, hashtext(current_schema()))`
)

func (l clockLock) take(ctx context.Context, conn Querier) error {
	if conn.Engine() == SQLite {
		return nil
	}
	return conn.run(ctx, Statement{Text: string(l)})
}

// MoveClock is Write for the transaction that moves the installation's clock: it
// waits for those that have read the clock, and those that come wait for it.
func (db *DB) MoveClock(ctx context.Context, fn func(tx *Tx) error) error {
	return db.writeWith(ctx, terms{lock: exclusive}, fn)
}
