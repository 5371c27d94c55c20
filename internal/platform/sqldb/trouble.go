package sqldb

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"
)

// Troubles of a database that an operator has to see. The engines' own errors
// stay wrapped beside them.
var (
	ErrFull      = fmt.Errorf("%w: the disk is full", ErrUnavailable)
	ErrReadOnly  = fmt.Errorf("%w: it is read-only", ErrUnavailable)
	ErrDisk      = fmt.Errorf("%w: the disk fails", ErrUnavailable)
	ErrOpenFiles = fmt.Errorf("%w: too many open files", ErrUnavailable)
	ErrDamaged   = fmt.Errorf("%w: it is damaged", ErrUnavailable)
	ErrMoved     = fmt.Errorf("%w: its file was removed or replaced while it was in use", ErrUnavailable)
)

// Trouble names what keeps a database from working, as metrics and /readyz do.
type Trouble string

// troubles are looked for in this order: the last is what all the others are too.
var troubles = []struct {
	err  error
	name Trouble
}{
	{ErrMoved, "moved"},
	{ErrDamaged, "damaged"},
	{ErrFull, "full"},
	{ErrReadOnly, "read_only"},
	{ErrDisk, "disk"},
	{ErrOpenFiles, "open_files"},
	{ErrNewer, "newer_schema"},
	{ErrUnavailable, "away"},
}

// TroubleOf says what trouble an error is of; "" when it is none.
func TroubleOf(err error) Trouble {
	for _, trouble := range troubles {
		if errors.Is(err, trouble.err) {
			return trouble.name
		}
	}
	return ""
}

// Troubles are all there are.
func Troubles() []Trouble {
	names := make([]Trouble, len(troubles))
	for i, trouble := range troubles {
		names[i] = trouble.name
	}
	return names
}

// NeedsOperator holds for trouble that does not pass by itself.
func NeedsOperator(err error) bool {
	return errors.Is(err, ErrMoved) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer)
}

// troubleLog counts troubles and logs each kind at most once in a while.
type troubleLog struct {
	log *slog.Logger
	mu  sync.Mutex
	of  map[Trouble]*troubleCount
	met met
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

// noteRead is note for the error of a read outside of transactions.
func (l *troubleLog) noteRead(err error) error {
	if l != nil {
		l.met.note(err, false)
	}
	return l.note(err)
}

// note counts err if it is trouble, and returns it.
func (l *troubleLog) note(err error) error {
	if err == nil || l == nil {
		return err
	}
	name := TroubleOf(err)
	if name == "" || errors.Is(err, ErrClosed) {
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

// Troubles counts, by kind, the operations that failed because of trouble.
func (db *DB) Troubles() map[Trouble]int64 {
	db.troubles.mu.Lock()
	defer db.troubles.mu.Unlock()
	counts := map[Trouble]int64{}
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
