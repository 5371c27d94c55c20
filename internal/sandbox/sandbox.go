// Package sandbox owns the clock of an installation on which things are tried
// out: a clock that can be moved forward, and the work of living through the
// time between, in the order in which things become due. It owns the row that
// makes a database a sandbox, for good. It does not know what becomes due: the
// program hands it the kinds of work, and the rooms count what has happened.
package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// The reasons for which an installation is not opened or served.
var (
	ErrReal = errors.New("this is a real installation, whose clock nobody moves: serve it without --sandbox, " +
		"or give --data-dir or --database-url of a fresh database")
	ErrSandbox = errors.New("this installation was made as a sandbox and stays one: serve it with --sandbox, " +
		"or give --data-dir or --database-url of a real one")
)

// Open returns the clock of a sandbox, or nil when the installation is a real
// one. With make a fresh database becomes a sandbox, and a real one is refused.
func Open(ctx context.Context, db *sqldb.DB, make bool) (*Clock, error) {
	found, err := rows.Some(ctx, db, `SELECT count(*) FROM sandbox_clock`)
	if err == nil && !found && make {
		err = db.Write(ctx, func(tx *sqldb.Tx) error { return create(ctx, tx) })
		found = err == nil
	}
	if err != nil || !found {
		return nil, err
	}
	clock := &Clock{db: db}
	if err := clock.Refresh(ctx); err != nil {
		return nil, err
	}
	db.Keep(clock)
	return clock, nil
}

// create makes a sandbox of an unused database.
func create(ctx context.Context, tx *sqldb.Tx) error {
	used, err := isUsed(ctx, tx)
	if err != nil {
		return err
	}
	if used {
		return ErrReal
	}
	return insertClock(ctx, tx)
}

// Service moves the clock.
type Service struct {
	Clock *Clock
	db    *sqldb.DB
	log   *slog.Logger
	works []Work
	wake  worker.Wake
	lease lease
}

// New makes the service of a sandbox. Works are run in the order in which they
// are given when several are due at one instant.
func New(clock *Clock, log *slog.Logger, works []Work) *Service {
	return &Service{
		Clock: clock, db: clock.db, log: log, works: works,
		wake: worker.NewWake(), lease: newLease(clock.db),
	}
}

// Advance is one move of the clock, as far as it has come.
type Advance struct {
	Now      time.Time
	From, To time.Time // zero: the clock was never moved
	Running  bool
	Happened []Kind
}

// Kind is how often something has happened during an advance, with the first
// few of its kind.
type Kind struct {
	Name   string
	Amount int64
	First  []Happening
}

// Happening is one thing that has happened.
type Happening struct {
	At time.Time
	ID string // of the event, message, charge, delivery or whatever was pruned
}

// State is what the clock shows, with the advance under way or the last one and
// what that has brought to a company; 0: to all of them.
func (s *Service) State(ctx context.Context, companyID int64) (Advance, error) {
	if err := s.Clock.Refresh(ctx); err != nil {
		return Advance{}, err
	}
	row := s.Clock.known()
	kinds, err := happened(ctx, s.db, companyID)
	return Advance{Now: s.db.Now(), From: row.from, To: row.to, Running: row.running(), Happened: kinds}, err
}

// longest bounds one advance.
const longest = 10 * 366 * 24 * time.Hour

// Begin stores the time to which the clock is to be moved. A process that drives
// the sandbox takes it there, whatever becomes of the one that was asked.
func (s *Service) Begin(ctx context.Context, actor account.Actor, target Target) error {
	err := actor.MoveClock(ctx, s.db, func(tx account.Tx) error {
		if s.Clock.known().running() {
			return fault.Conflict("the clock is being moved already; wait until that has ended")
		}
		to, err := target.After(tx.Now())
		if err != nil {
			return err
		}
		switch to = to.Truncate(time.Microsecond); {
		case !to.After(tx.Now()):
			return fault.Field(target.field(), "must lie ahead: the clock is never moved back")
		case to.Sub(tx.Now()) > longest:
			return fault.Field(target.field(), "must not lie more than ten years ahead")
		}
		if err := tx.Do(ctx, `DELETE FROM sandbox_happened /* every company_id */`); err != nil {
			return err
		}
		if err := beginAdvance(ctx, tx.Tx, to); err != nil {
			return err
		}
		return auditMove(ctx, tx, to)
	})
	if err != nil {
		return err
	}
	s.wake.Hint()
	return s.Clock.Refresh(ctx)
}

// auditMove records who moves the clock, and from when to when. A move by the
// operator is recorded for every company.
func auditMove(ctx context.Context, tx account.Tx, to time.Time) error {
	entry := account.AuditEntry{
		Action: "sandbox.clock", Record: "sandbox",
		Before: account.AuditFields{"now": tx.Now().UTC().Format(time.RFC3339)},
		After:  account.AuditFields{"now": to.UTC().Format(time.RFC3339)},
	}
	if tx.Company.ID == 0 {
		return account.WriteAuditEverywhere(ctx, tx, entry)
	}
	return account.WriteAudit(ctx, tx, entry)
}

// Live moves the clock to an instant and does the due work itself, for a
// program that does not serve yet.
func (s *Service) Live(ctx context.Context, to time.Time) error {
	if err := s.Begin(ctx, account.System(account.Company{}, "live"), Target{At: to}); err != nil {
		return err
	}
	return s.drive(ctx)
}

// SetBack lets an unused sandbox begin in the past.
func (s *Service) SetBack(ctx context.Context, to time.Time) error {
	err := s.db.MoveClock(ctx, func(tx *sqldb.Tx) error {
		used, err := isUsed(ctx, tx)
		if err != nil {
			return err
		}
		if used {
			return fault.Conflict("the clock of a sandbox that is in use is never moved back")
		}
		return setBack(ctx, tx, to)
	})
	if err != nil {
		return err
	}
	return s.Clock.Refresh(ctx)
}

// waitPoll is how often Wait looks how far an advance has come.
const waitPoll = 20 * time.Millisecond

// Wait waits until the advance under way has ended, for at most so long, and
// calls progress, if there is one, as it goes on.
func (s *Service) Wait(ctx context.Context, most time.Duration, progress func(now time.Time)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		err := s.Clock.Refresh(ctx)
		if ctx.Err() != nil {
			return nil // the time to wait is over
		}
		if err != nil || !s.Clock.known().running() {
			return err
		}
		if progress != nil {
			progress(s.db.Now())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(waitPoll):
		}
	}
}

// Clock is the moved clock. The row in the database is the truth: each
// transaction reads it, and the clock cannot move while one runs. The copy in
// the process is for reading, and is refreshed with each request.
type Clock struct {
	db    *sqldb.DB
	state atomic.Pointer[clockRow]
}

// clockRow is the clock as the database has it.
type clockRow struct {
	ahead   time.Duration
	stopped time.Time // zero: the clock runs
	moves   int64
	from    time.Time
	to      time.Time
}

// running reports whether an advance is under way: the clock does not run between
// its steps.
func (r *clockRow) running() bool { return !r.stopped.IsZero() }

func (r *clockRow) at(real time.Time) time.Time {
	if r.running() {
		return r.stopped
	}
	return real.Add(r.ahead)
}

// At is the sandbox's time at a real instant, as far as this process has heard.
func (c *Clock) At(real time.Time) time.Time { return c.known().at(real) }

// Read is the sandbox's time as the database has it.
func (c *Clock) Read(ctx context.Context, querier sqldb.Querier, real time.Time) (time.Time, error) {
	row, err := readClock(ctx, querier)
	if err != nil {
		return time.Time{}, err
	}
	c.learn(row)
	return row.at(real), nil
}

// Refresh has this process hear of moves that others have made.
func (c *Clock) Refresh(ctx context.Context) error {
	row, err := readClock(ctx, c.db)
	if err == nil {
		c.learn(row)
	}
	return err
}

// learn keeps the newer of two states: a reading may end after a later one.
func (c *Clock) learn(row *clockRow) {
	for {
		known := c.state.Load()
		if known != nil && known.moves > row.moves || c.state.CompareAndSwap(known, row) {
			return
		}
	}
}

// Stands reports whether an advance is under way, as far as this process
// knows. The clock does not run between the steps of an advance.
func (c *Clock) Stands() bool { return c.known().running() }

// Arrived reports whether the advance under way has reached its end, where what is
// due then is still done.
func (c *Clock) Arrived() bool {
	row := c.known()
	return row.running() && !row.stopped.Before(row.to)
}

// From is where the advance under way, or the last one, has begun.
func (c *Clock) From() time.Time { return c.known().from }

func (c *Clock) known() *clockRow { return c.state.Load() }

// Count writes down that something has happened to a company, once for each id,
// in the transaction in which it does, while an advance is under way.
func (c *Clock) Count(ctx context.Context, tx *sqldb.Tx, companyID int64, kind string, ids ...string) error {
	if c == nil || !c.known().running() || len(ids) == 0 {
		return nil
	}
	return countHappening(ctx, tx, happening{companyID, kind, ids})
}
