package sqldb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"carteira/internal/platform/fault"
)

// Errors that an engine's own ones are translated into. The engine's error
// stays wrapped with them for the log.
var (
	ErrNotFound    = errors.New("no such row")
	ErrUnique      = errors.New("already exists")
	ErrForeignKey  = errors.New("refers to a row that does not exist")
	errCheck       = errors.New("breaks a rule of the table")
	ErrBusy        = errors.New("database busy")
	ErrUnavailable = errors.New("database unavailable")
	errClosed      = fmt.Errorf("%w: closed", ErrUnavailable)
)

// errText says that PostgreSQL can neither store nor compare a text: it has a
// NUL or is no UTF-8. Edges refuse such texts in words of their own; where one
// forgets to, the caller is still the one at fault.
var errText = fault.New(fault.KindInvalid, "a text contains characters that cannot be stored")

// meant puts what an engine's error means in front of it; nil: itself.
func meant(meaning, err error) error {
	if meaning == nil {
		return err
	}
	return fmt.Errorf("%w: %w", meaning, err)
}

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

// Trouble names what keeps a database from working, as metrics and /readyz do. It
// is an error that only an operator or time can mend, so each is ErrUnavailable
// too. The engine's own error stays wrapped with it.
type Trouble string

const (
	errMoved     Trouble = "moved"
	errDamaged   Trouble = "damaged"
	errFull      Trouble = "full"
	errReadOnly  Trouble = "read_only"
	errDisk      Trouble = "disk"
	errOpenFiles Trouble = "open_files"
	errNewer     Trouble = "newer_schema"
	errAway      Trouble = "away"
)

var troubleTexts = map[Trouble]string{
	errMoved:     "its file was removed or replaced while it was in use",
	errDamaged:   "it is damaged",
	errFull:      "the disk is full",
	errReadOnly:  "it is read-only",
	errDisk:      "the disk fails",
	errOpenFiles: "too many open files",
	errNewer:     "its schema is newer than this program",
	errAway:      "it does not answer",
}

// Error says what is the matter.
func (t Trouble) Error() string { return ErrUnavailable.Error() + ": " + troubleTexts[t] }

// Is holds for ErrUnavailable, which every trouble is.
func (t Trouble) Is(target error) bool { return target == ErrUnavailable }

// NeedsOperator holds for trouble that does not pass by itself.
func (t Trouble) NeedsOperator() bool { return t == errMoved || t == errDamaged || t == errNewer }

// TroubleOf says what trouble an error is of; "" when it is none.
func TroubleOf(err error) (trouble Trouble) {
	switch {
	case errors.As(err, &trouble):
	case errors.Is(err, ErrNewer):
		trouble = errNewer
	case errors.Is(err, ErrUnavailable):
		trouble = errAway
	}
	return trouble
}

// troubleLog counts troubles and logs each kind at most once in a while.
type troubleLog struct {
	log *slog.Logger
	mu  sync.Mutex
	of  map[Trouble]*troubleCount

	held    error // what a request has met; nil: nothing
	byWrite bool
	until   time.Time
}

type troubleCount struct {
	n      int64
	logged time.Time
}

// quiet is how long a trouble that was logged is only counted.
const quiet = time.Minute

func newTroubleLog(log *slog.Logger) *troubleLog {
	return &troubleLog{log: log, of: map[Trouble]*troubleCount{}}
}

// damageTime and troubleTime are for how long a trouble is held against the
// database after a request has last met it. Damage does not pass by itself.
const (
	damageTime  = 10 * time.Minute
	troubleTime = 30 * time.Second
)

// met is note for the outcome of what a request asked. Trouble that an operator
// has to mend is held against the database for a while, whatever a probe says, or
// until a write of a request succeeds: a probe is small, so that it finds room on
// a full disk, and reads none of the pages that are damaged.
func (l *troubleLog) met(write bool, err error) error {
	hold := troubleTime
	switch {
	case errors.Is(err, errDamaged):
		hold = damageTime
	case !errors.Is(err, errFull) && !errors.Is(err, errDisk):
		return l.note(err)
	}
	l.mu.Lock()
	l.held, l.byWrite, l.until = err, write, time.Now().Add(hold)
	l.mu.Unlock()
	return l.note(err)
}

// writeSucceeded forgets a trouble that a write has met.
func (l *troubleLog) writeSucceeded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byWrite && !errors.Is(l.held, errDamaged) {
		l.held = nil
	}
}

// holding is the trouble that is held against the database.
func (l *troubleLog) holding() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil || time.Now().After(l.until) {
		return nil
	}
	return fmt.Errorf("a request has met it: %w", l.held)
}

// note counts err if it is trouble, and returns it.
func (l *troubleLog) note(err error) error {
	if err == nil {
		return nil
	}
	name := TroubleOf(err)
	if name == "" || errors.Is(err, errClosed) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	count := l.of[name]
	if count == nil {
		count = &troubleCount{}
		l.of[name] = count
	}
	count.n++
	if now := time.Now(); now.Sub(count.logged) > quiet {
		count.logged = now
		l.log.Error("database trouble", "trouble", string(name), "error", err, "so_far", count.n)
	}
	return err
}

// Troubles counts, by each kind there is, the operations that failed because of
// trouble.
func (db *DB) Troubles() map[Trouble]int64 {
	db.troubles.mu.Lock()
	defer db.troubles.mu.Unlock()
	counts := map[Trouble]int64{}
	for name := range troubleTexts {
		counts[name] = 0
	}
	for name, count := range db.troubles.of {
		counts[name] = count.n
	}
	return counts
}

// noDescriptors reports whether this process can open no more files, which
// SQLite does not say.
func noDescriptors() bool {
	file, err := os.Open(os.DevNull)
	if err == nil {
		_ = file.Close()
	}
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
