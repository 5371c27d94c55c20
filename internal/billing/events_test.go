package billing

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/goldentest"
	"carteira/test/kit/openapitest"
	"carteira/test/kit/sqldbtest"
)

func TestEventsAreAsIntegratorsKnowThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		record, err := world.customers.Create(t.Context(), world.actor, customer.ReadNew(values("name", "<João> & filhos", "plan_id", "1")))
		must(t, err)
		world.wantEvent(t, 1, "created")
		world.clock.Advance(90 * time.Minute)
		world.set(t, world.only(t, record.ID).ID, Paid, "paid_at", "2026-01-30")
		world.wantEvent(t, 2, "paid")
		world.set(t, world.only(t, record.ID).ID, Open)
		world.wantEvent(t, 4, "moved-back")
		extra, err := world.CreateExtra(t.Context(), world.actor, record.ID, ReadExtra(values("amount", "99999999.99", "due", "2027-12-31")))
		must(t, err)
		world.wantEvent(t, 5, "created-extra")
		_, err = world.payThrough(t, extra.ID, "woovi")
		must(t, err)
		world.wantEvent(t, 6, "paid-extra")
	})
}

// What an accountant's program adds up: a part, the rest, what went back, and what
// was registered by mistake.
func TestMoneyIsInTheEvents(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		record := world.customer(t, 1, "2026-02-28")
		invoice := world.only(t, record.ID)
		known := len(world.names(t))
		want := func(what string, names ...string) {
			t.Helper()
			all := world.names(t)
			if got := all[known:]; !slices.Equal(got, names) {
				t.Errorf("%s: %v, want %v", what, got, names)
			}
			known = len(all)
			world.wantTrueBooks(t)
		}
		world.set(t, invoice.ID, Paid, "amount", "20.00", "difference", "partial")
		want("a part", "payment.received 20.00", "invoice.updated")
		world.set(t, invoice.ID, Paid)
		want("the rest", "payment.received 15.00", "invoice.paid", "customer.renewed")
		world.set(t, invoice.ID, Open)
		want("undone", "payment.undone -15.00", "invoice.updated", "customer.updated")
		list, err := world.payments(t, invoice.ID)
		must(t, err)
		_, err = world.RefundPayment(t.Context(), world.actor, list[0].ID, ReadRefund(values("amount", "5.00")))
		must(t, err)
		want("given back", "payment.refunded -5.00", "invoice.updated")
		world.set(t, invoice.ID, Cancelled, "money", "refund")
		want("cancelled", "payment.refunded -15.00", "invoice.cancelled")
		for _, body := range texts(t, world.db, `SELECT body FROM events ORDER BY id`) {
			openapitest.New(t).Event([]byte(body))
		}
	})
}

// names are the events, with their amounts of money.
func (w *world) names(t *testing.T) (names []string) {
	t.Helper()
	for _, body := range texts(t, w.db, `SELECT body FROM events ORDER BY id`) {
		var e struct {
			Event string
			Data  struct{ Payment struct{ Amount string } }
		}
		must(t, json.Unmarshal([]byte(body), &e))
		names = append(names, strings.TrimSpace(e.Event+" "+e.Data.Payment.Amount))
	}
	return names
}

// wantEvent compares an event with its golden file.
func (w *world) wantEvent(t *testing.T, n int, name string) {
	t.Helper()
	body := w.bodies(t)[n]
	openapitest.New(t).Event([]byte(body))
	goldentest.Want(t, name, body, goldentest.IDs)
}
