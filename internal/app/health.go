package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
	"carteira/internal/web"
)

const (
	// probeAge is how old a write or a trouble may be that /readyz goes by, so that
	// any number of questions cost one small write a second. It always reads.
	probeAge = time.Second
	// watchEvery is how often a server probes itself, so that trouble is in
	// the log even without requests to /readyz.
	watchEvery = 2 * time.Second
	// watchWrite is how long a server that writes nothing goes without proof that
	// it could.
	watchWrite = 10 * time.Second
)

// health is whether this process can do its work.
type health struct {
	db       *sqldb.DB
	log      *slog.Logger
	stopping atomic.Bool
	asked    chan struct{} // closed: /readyz has answered that the process is ready
	once     sync.Once

	mu      sync.Mutex
	probed  time.Time
	trouble error // of the last probe
}

// sentences are what /readyz says of each trouble.
var sentences = map[sqldb.Trouble]string{
	"moved":        "the database's files were removed or replaced while they were in use",
	"damaged":      "the database is damaged",
	"full":         "the database's disk is full",
	"read_only":    "the database is read-only",
	"disk":         "the database's disk fails",
	"open_files":   "too many open files",
	"newer_schema": "the database was migrated by a newer version of carteira",
	"away":         "the database is unavailable",
}

// check probes the database, unless that has failed a moment ago.
func (h *health) check(ctx context.Context, fresh time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trouble != nil && time.Since(h.probed) < probeAge {
		return h.trouble
	}
	err := h.db.Probe(ctx, fresh)
	if ctx.Err() != nil {
		return err // the caller has gone, which says nothing about the database
	}
	switch {
	case err != nil && h.trouble == nil:
		h.log.ErrorContext(ctx, "not ready", "trouble", string(sqldb.TroubleOf(err)), "error", err)
	case err == nil && h.trouble != nil:
		h.log.InfoContext(ctx, "ready again")
	}
	h.trouble = err
	h.probed = time.Now()
	return err
}

// watch probes until ctx ends.
func (h *health) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = h.check(ctx, watchWrite) // which logs
		}
	}
}

// awaitAsked waits until /readyz has answered that the process is ready, for a
// limited time.
func (h *health) awaitAsked(ctx context.Context, most time.Duration) {
	select {
	case <-h.asked:
	case <-ctx.Done():
	case <-time.After(most):
	}
}

// ServeHTTP is /readyz: red while this process should get no requests, and
// green again by itself.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.stopping.Load() {
		plain(w, http.StatusServiceUnavailable, "not ready: stopping\n")
		return
	}
	if err := h.check(r.Context(), probeAge); err != nil {
		web.ExchangeOf(r.Context()).Err = err
		sentence, ok := sentences[sqldb.TroubleOf(err)]
		if !ok {
			sentence = "the database does not do what it should; see the log"
		}
		plain(w, http.StatusServiceUnavailable, "not ready: "+sentence+"\n")
		return
	}
	plain(w, http.StatusOK, "ready\n")
	h.once.Do(func() { close(h.asked) })
}

// lookEvery is how soon what another process has left to do is seen, and what
// time alone makes due.
const lookEvery = time.Second

// lookout looks for work in the database for all tasks together, in one
// statement, and wakes those that have some. What waking costs is most of what a
// quiet server costs.
type lookout struct {
	db    *sqldb.DB
	posts []post
}

// post is one look, and the task to wake when it finds something.
type post struct {
	look func() sqldb.Statement
	wake func()
}

func (l *lookout) watch(look func() sqldb.Statement, wake func()) {
	l.posts = append(l.posts, post{look, wake})
}

// wake is for a job that sleeps until a look finds something.
func (l *lookout) wake(look func() sqldb.Statement) worker.Wake {
	wake := worker.NewWake()
	l.watch(look, wake.Hint)
	return wake
}

func (l *lookout) job() worker.Job {
	return worker.Job{Name: "look for work", Every: lookEvery, Run: l.run}
}

func (l *lookout) run(ctx context.Context) error {
	looks := make([]sqldb.Statement, len(l.posts))
	for i, post := range l.posts {
		looks[i] = post.look()
	}
	found, err := sqldb.Looks(ctx, l.db, looks)
	if err != nil {
		return err
	}
	for i, post := range l.posts {
		if found[i] {
			post.wake()
		}
	}
	return nil
}
