package sqldb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"carteira/internal/platform/fault"
)

// Errors that an engine's own ones are translated into. The engine's error
// stays wrapped beside them for the log.
var (
	ErrNotFound    = errors.New("no such row")
	ErrUnique      = errors.New("already exists")
	ErrForeignKey  = errors.New("refers to a row that does not exist")
	ErrCheck       = errors.New("breaks a rule of the table")
	ErrBusy        = errors.New("database busy")
	ErrUnavailable = errors.New("database unavailable")
	ErrClosed      = fmt.Errorf("%w: closed", ErrUnavailable)
)

// ErrText says that PostgreSQL can neither store nor compare a text: it has a
// NUL or is no UTF-8. Edges refuse such texts in words of their own; where one
// forgets to, the caller is still the one at fault.
var ErrText = fault.New(fault.KindInvalid, "a text contains characters that cannot be stored")

// Found turns ErrNotFound into the fault that callers are shown.
func Found(err error, what string) error {
	if errors.Is(err, ErrNotFound) {
		return fault.NotFound(what)
	}
	return err
}

// retries bounds how often a transaction is run again; with the pauses below
// that is a few seconds, longer than any transaction of ours holds a row.
const retries = 12

// retry runs attempt until it succeeds, fails for good, or ctx ends. A
// transaction that lost against another is run again from its beginning,
// which is why it may hold no side effect but SQL.
//
// A unique violation is tried once more: our transactions look before they
// write, so a violation means that another committed in between, and the
// second run sees its row and says so in words.
func retry(ctx context.Context, attempt func() error) error {
	for n := 1; ; n++ {
		err := attempt()
		again := errors.Is(err, ErrBusy) && n < retries || errors.Is(err, ErrUnique) && n == 1
		if !again {
			return err
		}
		limit := min(5<<n, 500)
		pause := time.Duration(1+rand.IntN(limit)) * time.Millisecond //nolint:gosec // jitter needs no secrecy
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
	}
}
