package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// timeouts bound how long the program waits for a database that says nothing.
// Zero means the default.
type timeouts struct {
	// Statement bounds a statement, and the beginning and end of a transaction;
	// 20 seconds. A context's own deadline may be nearer.
	Statement time.Duration
	// Connect bounds the making of a connection to one host; 5 seconds.
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

func (t timeouts) orDefaults() timeouts {
	return timeouts{
		Statement: cmp.Or(t.Statement, defaultTimeouts.Statement),
		Connect:   cmp.Or(t.Connect, defaultTimeouts.Connect),
		Ping:      cmp.Or(t.Ping, defaultTimeouts.Ping),
	}
}

type withoutDeadlineKey struct{}

// WithoutDeadline is for work in which one statement may take minutes, such as
// a migration: under the returned context they have no deadline but the
// context's own.
func WithoutDeadline(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutDeadlineKey{}, true)
}

func hasDeadline(ctx context.Context) bool {
	return ctx.Value(withoutDeadlineKey{}) == nil
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

// bound gives one statement its deadline. finish ends it, and says of its error
// what it means.
func (g *guard) bound(ctx context.Context) (bounded context.Context, finish func(error) error) {
	if !hasDeadline(ctx) {
		return ctx, g.judge
	}
	bounded, cancel := context.WithTimeoutCause(ctx, g.timeouts.Statement, errNoAnswer)
	return bounded, func(err error) error {
		err = unanswered(bounded, err)
		cancel()
		return g.judge(err)
	}
}

// unanswered marks an error that came of our own deadline, not the caller's.
func unanswered(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errNoAnswer) {
		return err
	}
	return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNoAnswer, err)
}

// judge condemns the connections that are open when err says that one is dead,
// or that its server is no longer the one that takes writes.
func (g *guard) judge(err error) error {
	if errors.Is(err, errNoAnswer) || timedOut(err) || errors.Is(err, errReadOnly) {
		g.condemned.Add(1)
	}
	return err
}

// steps are the beginning and the end of a transaction, each under a deadline of
// its own: how long the statements between them take is not their business.
type steps struct {
	guard  *guard
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (g *guard) steps(ctx context.Context) steps {
	s := steps{guard: g}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

func (s steps) within(step func() error) error {
	if hasDeadline(s.ctx) {
		timer := time.AfterFunc(s.guard.timeouts.Statement, func() { s.cancel(errNoAnswer) })
		defer timer.Stop()
	}
	return s.guard.judge(unanswered(s.ctx, postgresError(step())))
}
