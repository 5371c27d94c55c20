// Package webhooktest gives tests a company with webhooks on a real database, a
// clock that they set, and receivers with configured answers. Only tests import
// it.
package webhooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/tlstest"
)

// patience bounds what must end by itself; no test waits for it to pass.
const patience = 4 * time.Minute

// Morning is nine o'clock of 31 January 2026 in São Paulo.
var Morning = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// Schedule is that of the contract.
var Schedule = []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// World is a company and the service.
type World struct {
	*webhook.Service
	T      *testing.T
	DB     *sqldb.DB
	Clock  *sqldbtest.Clock
	Events *event.Log
	Actor  account.Actor
	Log    *slog.Logger

	url string
	box *secret.Box
}

// Each runs a test on both databases.
func Each(t *testing.T, test func(t *testing.T, world *World)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		test(t, NewWorld(t, engine))
	})
}

// NewWorld makes a company on a clock that the test sets.
func NewWorld(t *testing.T, engine sqldb.Engine) *World {
	t.Helper()
	world := &World{
		T: t, Clock: sqldbtest.NewClock(Morning), Log: slog.New(slog.DiscardHandler),
		url: sqldbtest.URL(t, engine), box: secret.NewBox(secret.NewKey()),
	}
	world = world.Another()
	company, _, err := account.New(world.DB, account.Config{}).CreateCompany(t.Context(), account.NewCompany{
		Name: "Rede Clara", Email: "paula@example.com", OwnerName: "Paula Ramos",
	})
	Must(t, err)
	world.Actor = account.System(company, "test")
	return world
}

// Another is the same world seen by another process.
func (w *World) Another() *World { return w.AnotherBy(sqldbtest.WithClock(w.Clock)) }

// AnotherBy is the same world seen by another process, which opens the database
// with options.
func (w *World) AnotherBy(options ...sqldbtest.Option) *World {
	w.T.Helper()
	other := *w
	other.DB = sqldbtest.Open(w.T, w.url, options...)
	gate := outbound.NewGate([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)
	client := outbound.NewClient(gate, outbound.Options{
		Timeout: webhook.Timeout, BodyTime: webhook.BodyTime, RootCAs: tlstest.Roots(), UserAgent: "Carteira/1.0",
	})
	other.Events = &event.Log{}
	other.Service = webhook.New(other.DB, other.Events, w.box, gate, client, webhook.Options{PerCompany: 100, Delays: Schedule, Log: w.Log})
	return &other
}

// Must ends the test if something failed.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Subscribe makes a webhook and returns its id and secret.
func (w *World) Subscribe(url string, names ...event.Name) (int64, string) {
	w.T.Helper()
	list, err := json.Marshal(names)
	Must(w.T, err)
	in, err := input.FromJSON(fmt.Appendf(nil, `{"url":%q,"events":%s}`, url, list))
	Must(w.T, err)
	made, plain, err := w.Create(w.T.Context(), w.Actor, webhook.ReadNew(in))
	Must(w.T, err)
	return made.ID, plain
}

// Put changes a webhook.
func (w *World) Put(id int64, fields string) webhook.Webhook {
	w.T.Helper()
	in, err := input.FromJSON([]byte(fields))
	Must(w.T, err)
	changed, err := w.Update(w.T.Context(), w.Actor, id, webhook.ReadChanges(in))
	Must(w.T, err)
	return changed
}

// Webhook reads a webhook.
func (w *World) Webhook(id int64) webhook.Webhook {
	w.T.Helper()
	found, err := w.Find(w.T.Context(), w.Actor, id)
	Must(w.T, err)
	return found
}

// Happen records events in one transaction and returns their ids.
func (w *World) Happen(n int, name event.Name) (ids []string) {
	w.T.Helper()
	Must(w.T, w.DB.Write(w.T.Context(), func(tx *sqldb.Tx) error {
		ids = nil
		for range n {
			recorded, err := w.Events.RecordEvent(w.T.Context(), tx, w.Actor.Source(), name, map[string]any{"n": 1})
			if err != nil {
				return err
			}
			ids = append(ids, recorded.ID)
		}
		return nil
	}))
	return ids
}

// Round claims what is due, sends it and returns how many there were.
func (w *World) Round() int {
	w.T.Helper()
	n, err := w.Sender().SendDue(w.T.Context())
	Must(w.T, err)
	return n
}

// Rounds goes on until nothing is due.
func (w *World) Rounds() (all int) {
	w.T.Helper()
	for range 5000 {
		n := w.Round()
		if n == 0 {
			return all
		}
		all += n
	}
	w.T.Fatal("there is always more")
	return 0
}

// Start runs the sender until the test stops it.
func (w *World) Start() (stop func()) {
	ctx, cancel := context.WithCancel(w.T.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Run(ctx); err != nil {
			w.T.Errorf("the sender ended: %v", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// History is the deliveries of a webhook, oldest first.
func (w *World) History(id int64) []webhook.Delivery {
	w.T.Helper()
	list, _, err := w.Deliveries(w.T.Context(), w.Actor, id, webhook.DeliveryFilter{}, input.Page{Number: 1, Size: 10_000})
	Must(w.T, err)
	slices.Reverse(list)
	return list
}

// Count is how many deliveries of a webhook have each status.
func (w *World) Count(id int64) map[webhook.Status]int {
	w.T.Helper()
	n := map[webhook.Status]int{}
	for _, delivery := range w.History(id) {
		n[delivery.Status]++
	}
	return n
}

// Exec runs a statement in a transaction of its own.
func (w *World) Exec(text string, args ...any) {
	w.T.Helper()
	Must(w.T, w.DB.Write(w.T.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(w.T.Context(), text, args...)
		return err
	}))
}

// Eventually waits until a condition holds.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	late := time.After(patience)
	for !condition() {
		select {
		case <-late:
			t.Fatalf("still not so: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
