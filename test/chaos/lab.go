//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"carteira/tools/pgserver"
)

// lab is one installation under trial.
type lab struct {
	ctx      context.Context // a trial is one call
	house    *house
	dir      string // of the trial; the data folder is in it
	data     string
	url      string // empty: embedded
	env      []string
	company  string
	token    string
	primary  *pgserver.Server
	receiver *receiver
	load     *load
	pulse    *pulse
	cleanup  []func()
	hurtAt   time.Time
	measured string // what the goal is about, where it is none of the usual three
	value    time.Duration
	ended    []string // processes that ended unexpectedly
	gone     bool     // the database can no longer be asked
	lost     int      // then the trial counts by itself
	eager    bool     // callers do not rest between writes

	mu    sync.Mutex
	procs []*proc
}

func newLab(ctx context.Context, house *house, trial trial) (l *lab, err error) {
	l = &lab{ctx: ctx, house: house, receiver: newReceiver()}
	l.later(l.receiver.Close)
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.dir, err = os.MkdirTemp(house.dir, "trial-"); err != nil {
		return l, err
	}
	l.data = filepath.Join(l.dir, "data")
	if trial.database == postgres {
		if l.primary, err = pgserver.Start(ctx, pgserver.Options{Durable: true}); err != nil {
			return l, err
		}
		l.later(l.primary.Stop)
		l.url = l.primary.URL()
	}
	return l, l.setUp(trial)
}

// setUp makes a company with a token and a webhook.
func (l *lab) setUp(trial trial) error {
	trust, err := l.receiver.env(l.dir)
	if err != nil {
		return err
	}
	l.env = append(trust, "CARTEIRA_DATA_DIR="+l.data, "CARTEIRA_RATE_LIMIT=0", "CARTEIRA_LOG_FORMAT=json",
		"CARTEIRA_SECRET_KEY="+strings.Repeat("00", 32), "CARTEIRA_WEBHOOKS_PER_COMPANY=1000")
	if trial.prepare != nil {
		if err := trial.prepare(l); err != nil {
			return err
		}
	}
	made, err := l.command("company", "create", "--name", "Ana Internet", "--email", "ana@example.com")
	if err != nil {
		return err
	}
	var company struct {
		ID int64 `json:"company_id"`
	}
	if err := json.Unmarshal([]byte(made), &company); err != nil {
		return err
	}
	l.company = fmt.Sprint(company.ID)
	l.token, err = l.command("token", "create", "--company", l.company, "--name", "chaos")
	return err
}

// settings are the environment of a process with a database at url.
func (l *lab) settings(url string) []string {
	if url == "" {
		return l.env
	}
	return append(l.env[:len(l.env):len(l.env)], "CARTEIRA_DATABASE_URL="+url)
}

// command runs a command of the program to its end.
func (l *lab) command(args ...string) (string, error) {
	cmd := exec.CommandContext(l.ctx, l.house.binary, args...)
	cmd.Env = append(os.Environ(), l.settings(l.url)...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("carteira %s: %w\n%s", args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// serve starts one more process on the database at url.
func (l *lab) serve(url string, more ...string) (*proc, error) {
	return l.serveWith([]string{l.house.binary, "serve"}, url, more...)
}

func (l *lab) serveWith(argv []string, url string, more ...string) (*proc, error) {
	proc, err := launch(l.ctx, l.dir, argv, append(l.settings(url), more...))
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.procs = append(l.procs, proc)
	l.mu.Unlock()
	return proc, nil
}

// address is where a caller's next try goes: to each process in turn.
func (l *lab) address(try int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.procs[try%len(l.procs)].addr
}

// replace puts a process in the place of one that was killed.
func (l *lab) replace(old, fresh *proc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, proc := range l.procs {
		if proc == old {
			l.procs[i] = fresh
			l.procs = l.procs[:len(l.procs)-1] // serve had put it at the end
			return
		}
	}
}

func (l *lab) processes() []*proc {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*proc(nil), l.procs...)
}

// webhook subscribes an address to every customer.
func (l *lab) webhook(url string) error {
	status, err := l.api(http.MethodPost, "/webhooks", map[string]any{"url": url, "events": []string{"customer.created"}}, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("webhook: %d", status)
	}
	return err
}

// begin starts the callers, and returns when everything runs.
func (l *lab) begin() error {
	for i := range webhooks {
		if err := l.webhook(l.receiver.URL + path(i)); err != nil {
			return err
		}
	}
	l.load, l.pulse = startLoad(l.ctx, l), startPulse(l.ctx, l)
	pause(l.ctx, 2*time.Second)
	return l.ctx.Err()
}

// later runs f when the trial is over.
func (l *lab) later(f func()) { l.cleanup = append(l.cleanup, f) }

func (l *lab) close() {
	if l.load != nil {
		l.load.end()
		l.pulse.end()
	}
	for _, proc := range l.procs {
		proc.kill()
	}
	for i := len(l.cleanup) - 1; i >= 0; i-- {
		l.cleanup[i]()
	}
}
