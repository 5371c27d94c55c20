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
	primary  server
	receiver *receiver
	load     *load
	bank     *bank
	plan     int64  // of the customers who pay
	callback string // path where the bank calls
	imported int    // customers that a file must have brought
	cleanup  []func()
	hurtAt   time.Time
	measured string // what the goal is about, where it is none of the usual three
	value    time.Duration
	ended    []string // processes that ended unexpectedly
	gone     bool     // the database can no longer be asked
	lost     int      // then the trial counts by itself
	wrong    []string
	eager    bool // callers do not rest between writes

	mu    sync.Mutex
	procs []*proc
}

func newLab(ctx context.Context, house *house, trial trial) (l *lab, err error) {
	l = &lab{ctx: ctx, house: house, receiver: newReceiver(), bank: newBank()}
	l.later(l.receiver.Close)
	l.later(l.bank.Close)
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
		if l.primary, err = house.server(ctx); err != nil {
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
	l.env = append(append(trust, l.house.env...), "CARTEIRA_DATA_DIR="+l.data, "CARTEIRA_RATE_LIMIT=0", "CARTEIRA_LOG_FORMAT=json",
		"CARTEIRA_SECRET_KEY="+strings.Repeat("00", 32), "CARTEIRA_WEBHOOKS_PER_COMPANY=1000", "CARTEIRA_FAKE_GATEWAY="+l.bank.URL)
	if trial.prepare != nil {
		if err := trial.prepare(l); err != nil {
			return err
		}
	}
	var company struct {
		ID int64 `json:"company_id"`
	}
	if err := l.make(&company, "company", "create", "--name", "Ana Internet", "--email", "ana@example.com"); err != nil {
		return err
	}
	l.company = fmt.Sprint(company.ID)
	if l.token, err = l.command("token", "create", "--company", l.company, "--name", "chaos"); err != nil {
		return err
	}
	return l.openTill()
}

// openTill makes a plan, and has the company paid at the bank of the trial.
func (l *lab) openTill() error {
	var plan struct{ ID int64 }
	err := l.make(&plan, "plan", "create", "--company", l.company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	if err != nil {
		return err
	}
	l.plan = plan.ID
	args := []string{"gateway", "set", "--company", l.company, "--provider", "mercadopago"}
	for option, text := range map[string]string{"access_token": bankToken, "webhook_secret": bankSecret} {
		file := filepath.Join(l.dir, option)
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			return err
		}
		args = append(args, "--option", option+"=@"+file)
	}
	var gateway struct {
		Callback string `json:"callback_url"`
	}
	if err := l.make(&gateway, args...); err != nil {
		return err
	}
	at := strings.Index(gateway.Callback, "/gateways/")
	if at < 0 {
		return fmt.Errorf("gateway set printed no address for the bank: %q", gateway.Callback)
	}
	l.callback = gateway.Callback[at:]
	return nil
}

// make runs a command that prints what it made.
func (l *lab) make(into any, args ...string) error {
	made, err := l.command(args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(made), into); err != nil {
		return fmt.Errorf("%s: %w", made, err)
	}
	return nil
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
	cmd.Env = environment(l.settings(l.url))
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

// webhook subscribes an address to events.
func (l *lab) webhook(url string, events ...string) error {
	status, err := l.api(http.MethodPost, "/webhooks", map[string]any{"url": url, "events": events}, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("webhook: %d", status)
	}
	return err
}

// begin starts the callers, and returns when everything runs.
func (l *lab) begin() error {
	for i := range webhooks {
		if err := l.webhook(l.receiver.URL+path(i), counted...); err != nil {
			return err
		}
	}
	l.load = startLoad(l.ctx, l)
	pause(l.ctx, l.span(2*time.Second))
	return l.ctx.Err()
}

// span is how long a trial takes over something, less in a test of the trials.
func (l *lab) span(real time.Duration) time.Duration {
	return time.Duration(float64(real) * l.house.pace)
}

// later runs f when the trial is over.
func (l *lab) later(f func()) { l.cleanup = append(l.cleanup, f) }

func (l *lab) close() {
	if l.load != nil {
		l.load.close()
	}
	for _, proc := range l.procs {
		proc.kill()
	}
	for i := len(l.cleanup) - 1; i >= 0; i-- {
		l.cleanup[i]()
	}
}
