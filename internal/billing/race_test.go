package billing

import (
	"slices"
	"sync"
	"testing"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// count returns how many events of a name were recorded after the first known.
func (w *world) count(t *testing.T, known int, name event.Name) int {
	t.Helper()
	return len(slices.DeleteFunc(w.recorded(t, known), func(n event.Name) bool { return n != name }))
}

func TestFiftyPaymentsAtOnceFireOneEventAndRenewOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		for _, processes := range [][]*world{{w}, {w, w.process(t)}} {
			invoice := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			known := len(w.bodies(t))
			var mu sync.Mutex
			changed, renewed := 0, 0
			for _, err := range atOnce(50, processes, func(world *world, n int) (err error) {
				var out Outcome
				if n%5 == 0 {
					out, err = world.payThrough(t, invoice.ID, "woovi")
				} else {
					out, err = world.SetStatus(t.Context(), w.actor, invoice.ID, ReadStatusChange(values("status", "Pago", "renew", "true")))
				}
				mu.Lock()
				defer mu.Unlock()
				if out.Changed {
					changed++
				}
				if out.Renewed {
					renewed++
				}
				return err
			}) {
				t.Error(err)
			}
			if changed != 1 || renewed != 1 || w.dueOn(t, invoice.Customer.ID) != "2026-02-28" {
				t.Errorf("%d changed, %d renewed, due on %s", changed, renewed, w.dueOn(t, invoice.Customer.ID))
			}
			w.wantEvents(t, known, event.InvoicePaid, event.CustomerRenewed)
			w.wantTrueBooks(t)
		}
	})
}

// In any order, each call sees what the one before left: as many events as
// payments that were made, and a due date that fits the last of them.
func TestChangesOfAllKindsAtOnceLeaveOneTruth(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		processes := []*world{w, w.process(t)}
		payments := 0
		for range 4 {
			invoice := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			known := len(w.bodies(t))
			var mu sync.Mutex
			var paid, renewed, back int
			refused := atOnce(50, processes, func(world *world, n int) error {
				out, err := world.SetStatus(t.Context(), w.actor, invoice.ID, ReadStatusChange(values("status", []Status{Paid, Open, Paid, Cancelled}[n/2%4].String())))
				mu.Lock()
				defer mu.Unlock()
				if out.Changed && out.Status == Paid {
					paid++
				}
				if out.Renewed {
					renewed++
				}
				if out.MovedBack {
					back++
				}
				return err
			})
			for _, err := range refused {
				wantField(t, err, "status")
			}
			want := map[bool]string{true: "2026-02-28", false: "2026-01-31"}[w.find(t, invoice.ID).Status == Paid]
			if got := w.dueOn(t, invoice.Customer.ID); got != want {
				t.Errorf("due on %s, want %s of an invoice that is %s", got, want, w.find(t, invoice.ID).Status)
			}
			if paid != renewed || w.count(t, known, event.InvoicePaid) != paid ||
				w.count(t, known, event.CustomerRenewed) != renewed || w.count(t, known, event.CustomerUpdated) != back {
				t.Errorf("%d paid, %d renewed, %d moved back; events %v", paid, renewed, back, w.recorded(t, known))
			}
			w.wantTrueBooks(t)
			payments += paid
		}
		if payments == 0 {
			t.Error("nobody ever came to pay")
		}
	})
}

// One operator renews by hand while another notes the payment: the customer
// gets one period for the payment and one for the renewal, or, if the renewal
// came first, the payment gives none.
func TestPaymentAndRenewalAtOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		processes := []*world{w, w.process(t)}
		for round := range 10 {
			invoice := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			var out Outcome
			for _, err := range atOnce(2, processes, func(world *world, n int) (err error) {
				if n == round%2 {
					out, err = world.SetStatus(t.Context(), w.actor, invoice.ID, ReadStatusChange(values("status", "Pago")))
				} else {
					_, err = world.customers.Renew(t.Context(), w.actor, invoice.Customer.ID)
				}
				return err
			}) {
				t.Error(err)
			}
			want := map[bool]string{true: "2026-03-31", false: "2026-02-28"}[out.Renewed]
			if got := w.dueOn(t, invoice.Customer.ID); got != want {
				t.Errorf("the payment renewed: %t; due on %s, want %s", out.Renewed, got, want)
			}
		}
	})
}
