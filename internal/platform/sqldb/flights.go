package sqldb

import (
	"context"
	"errors"
	"sync"
)

// Brief is One for a statement that finds a row or none by a key, which many ask
// at the same time, such as the token of a request. On PostgreSQL those who ask
// while maxFlights such statements are on their way share the next flight. It
// begins after they have asked, so that they see what was committed before. scan
// must not keep what it cannot scan again.
func Brief[T any](
	ctx context.Context,
	querier Querier,
	scan func(Row) (T, error),
	text string,
	args ...any,
) (T, error) {
	if db, outside := querier.(*DB); outside {
		if server, ok := db.backend.(*postgresDB); ok {
			return briefOn(ctx, server, scan, text, args)
		}
	}
	return One(ctx, querier, scan, text, args...)
}

func briefOn[T any](
	ctx context.Context,
	server *postgresDB,
	scan func(Row) (T, error),
	text string,
	args []any,
) (value T, err error) {
	found := false
	err = server.brief(ctx, Statement{Text: text, Args: args, Scan: func(row Row) (err error) {
		found = true
		value, err = scan(row)
		return err
	}})
	if err == nil && !found {
		err = ErrNotFound
	}
	return value, err
}

const (
	// maxFlights is how many flights of short statements are on their way before
	// others wait for the next.
	maxFlights = 4
	// maxCrew is how many statements share a flight.
	maxCrew = 16
)

// flights has short statements share flights to the server and back. Each flight
// is led by one of those whose statements it has, in the leader's goroutine.
type flights struct {
	mu      sync.Mutex
	waiting []*passenger
	running int
}

// passenger is a statement that waits for its flight.
type passenger struct {
	statement Statement
	crew      []*passenger // whom it is to lead; nil: another has led it
	landed    bool         // its result was read
	err       error        // the server's, which asking again would only repeat
	called    chan struct{}
}

// board returns whom the caller is to lead, itself first, once there is room for
// a flight; nil: another has led it.
func (f *flights) board(own *passenger) []*passenger {
	f.mu.Lock()
	if f.running < maxFlights {
		f.running++
		f.mu.Unlock()
		return []*passenger{own}
	}
	f.waiting = append(f.waiting, own)
	f.mu.Unlock()
	<-own.called
	return own.crew
}

// land ends a flight, and has those who wait begin theirs.
func (f *flights) land(crew []*passenger) {
	for _, passenger := range crew[1:] {
		close(passenger.called)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		f.running--
		return
	}
	size := min(maxCrew, len(f.waiting))
	next := f.waiting[:size:size]
	f.waiting = f.waiting[size:]
	next[0].crew = next
	close(next[0].called)
}

// brief runs a statement in a flight with others. One whose result could not be
// read, because of the statement of another, is run by itself.
func (db *postgresDB) brief(ctx context.Context, statement Statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	own := &passenger{statement: statement, called: make(chan struct{})}
	crew := db.flights.board(own)
	if len(crew) == 1 {
		defer db.flights.land(crew)
		return Each(ctx, db, statement.Text, statement.Args, statement.Scan)
	}
	if crew != nil {
		db.fly(ctx, crew)
	}
	if own.landed || own.err != nil {
		return own.err
	}
	return Each(ctx, db, statement.Text, statement.Args, statement.Scan)
}

// fly sends the statements of a crew together. The leader's caller may go away;
// the others must not suffer from it. A server that does not answer is nobody's
// own error, and is not asked again.
func (db *postgresDB) fly(ctx context.Context, crew []*passenger) {
	defer db.flights.land(crew)
	ctx, finish := db.bound(context.WithoutCancel(ctx))
	err := finish(postgresError(db.send(ctx, crew)))
	if !errors.Is(err, ErrUnavailable) {
		return
	}
	for _, passenger := range crew {
		if !passenger.landed {
			passenger.err = err
		}
	}
}

func (db *postgresDB) send(ctx context.Context, crew []*passenger) error {
	statements := make([]Statement, len(crew))
	for i, passenger := range crew {
		statements[i] = passenger.statement
	}
	results := db.on.SendBatch(ctx, db.batchOf(statements))
	for _, passenger := range crew {
		if err := passenger.statement.read(results); err != nil {
			_ = results.Close() // which repeats it
			return err
		}
		passenger.landed = true
	}
	return results.Close()
}
