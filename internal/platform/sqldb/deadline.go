package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// timeouts bound how long the program waits for a database that says nothing.
type timeouts struct {
	// Statement bounds a statement, and the beginning and end of a transaction;
	// 20 seconds. A context's own deadline may be nearer.
	Statement time.Duration
	// Connect bounds the making of a connection to one host; 5 seconds. What the
	// database's URL says comes before it.
	Connect time.Duration
	// Ping bounds the question whether an idle connection still answers; 1.5
	// seconds, less than a probe has: so a probe finds out.
	Ping time.Duration
}

// A host that vanished is so found out, and gone on without, within 35 seconds:
// a statement's deadline, and the connecting to what took its place.
var defaultTimeouts = timeouts{
	Statement: 20 * time.Second,
	Connect:   5 * time.Second,
	Ping:      1500 * time.Millisecond,
}

type withoutDeadlineKey struct{}

// WithoutDeadline is for work in which one statement may take minutes, such as
// a migration: under the returned context they have no deadline but the
// context's own.
func WithoutDeadline(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutDeadlineKey{}, true)
}

// errNoAnswer is the cause of a context that ended because the server did not
// answer in time.
var errNoAnswer = errors.New("the database did not answer in time")

// guard bounds what waits for a PostgreSQL server, and condemns connections when
// one of them turns out to be dead: those as old as it most likely died with it,
// and would cost a statement each the whole of its deadline.
type guard struct {
	timeouts  timeouts
	condemned atomic.Int64 // how often connections were condemned
}

// within gives what do asks of the server its deadline, and says of its error what
// it means.
func (g *guard) within(ctx context.Context, do func(context.Context) error) error {
	return g.judge(within(ctx, g.timeouts.Statement, func(ctx context.Context) error { return postgresError(do(ctx)) }))
}

// within bounds do, and marks an error that came of that and not of the caller's
// own deadline. A limit of 0 is none.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	if limit == 0 || ctx.Value(withoutDeadlineKey{}) != nil {
		return do(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer)
	defer cancel()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
		err = fmt.Errorf("%w: %w: %w", ErrUnavailable, errNoAnswer, err)
	}
	return err
}

// judge condemns the connections that are open when err says that one is dead,
// or that its server is no longer the one that takes writes.
func (g *guard) judge(err error) error {
	if errors.Is(err, errNoAnswer) || timedOut(err) || errors.Is(err, errReadOnly) {
		g.condemned.Add(1)
	}
	return err
}
