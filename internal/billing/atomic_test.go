package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// tables are all that a change of a customer or an invoice writes to.
var tables = map[string]string{
	"customers":        "id, due_on, own_day, plan_id, expiry_on, expired, updated_at",
	"invoices":         "id, customer_id, status, due_on, amount_cents, paid_at, paid_on, paid_via, note, renewed_from, renewed_to, updated_at",
	"invoice_schedule": "customer_id, due_on",
	"events":           "id, body",
	"tally_deltas":     "id, book, day, state, n, cents",
	"tally_sums":       "book, day, state, n, cents",
}

// snapshot is every row of the tables, in order.
func (w *world) snapshot(t *testing.T) []string {
	t.Helper()
	var all []string
	for table, columns := range tables {
		list := strings.Split(columns, ", ")
		rows, err := sqldb.All(t.Context(), w.db, func(row sqldb.Row) (string, error) {
			values, into := make([]any, len(list)), make([]any, len(list))
			for i := range values {
				into[i] = &values[i]
			}
			err := row.Scan(into...)
			return fmt.Sprint(table, values), err
		}, `SELECT `+columns+` FROM `+table)
		must(t, err)
		all = append(all, rows...)
	}
	slices.Sort(all)
	return all
}

func (w *world) wantSnapshot(t *testing.T, want []string) {
	t.Helper()
	got := w.snapshot(t)
	for _, row := range got {
		if !slices.Contains(want, row) {
			t.Errorf("new: %s", row)
		}
	}
	for _, row := range want {
		if !slices.Contains(got, row) {
			t.Errorf("gone: %s", row)
		}
	}
}

// fail is how a step in the middle of a transaction ends it.
type fail func() error

var fails = map[string]fail{
	"error": func() error { return errUnlucky },
	"panic": func() error { panic(errUnlucky) },
}

// broken is a process in which everything works but one step.
func (w *world) broken(t *testing.T, step string, fail fail) *world {
	t.Helper()
	world := w.process(t)
	world.events.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
		if step == string(recorded.Name) {
			return fail()
		}
		return nil
	})
	world.customers.Watch(func(_ context.Context, _ *sqldb.Tx, changed customer.Changes) error { // after billing's own
		for _, change := range changed.List {
			if step == "watch "+string(change.Action) {
				return fail()
			}
		}
		return nil
	})
	return world
}

// unlucky runs change and wants it to have ended at the broken step.
func unlucky(t *testing.T, what string, change func() error) {
	t.Helper()
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err, _ = p.(error)
			}
		}()
		return change()
	}()
	if !errors.Is(err, errUnlucky) {
		t.Errorf("%s: %v, want it to end at the broken step", what, err)
	}
}

// Between any two steps of a payment, of taking it back, of a creation and of a
// deletion the process may fail: then nothing has happened, and the next try
// does it all.
func TestFailureInTheMiddleLeavesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for how, fail := range fails {
			w := newWorld(t, engine)
			w.plan(t, "1month", "35.00")
			open := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			paid := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			w.set(t, paid.ID, Paid)
			expired := w.customer(t, 1, "2026-01-30")
			before := w.snapshot(t)
			status := func(world *world, id int64, to Status) error {
				_, err := world.SetStatus(t.Context(), w.actor, id, ReadStatusChange(values("status", to.String())))
				return err
			}
			for _, c := range []struct {
				what  string
				steps []string
				do    func(p *world) error
			}{
				{"pay", []string{"invoice.paid", "watch customer.renewed", "customer.renewed"}, func(world *world) error { return status(world, open.ID, Paid) }},
				{"pay through a gateway", []string{"invoice.paid", "watch customer.renewed", "customer.renewed"}, func(world *world) error {
					_, err := world.payThrough(t, open.ID, "woovi")
					return err
				}},
				{"reopen", []string{"watch customer.updated", "customer.updated"}, func(world *world) error { return status(world, paid.ID, Open) }},
				{"create", []string{"customer.created", "invoice.created", "watch customer.created"}, func(world *world) error {
					_, err := world.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", "Bia", "plan_id", "1")))
					return err
				}},
				{"delete", []string{"watch customer.deleted", "customer.deleted"}, func(world *world) error {
					return world.customers.Delete(t.Context(), w.actor, paid.Customer.ID)
				}},
				{"expire", []string{"customer.expired"}, func(world *world) error {
					_, err := world.customers.Expire(t.Context(), w.actor)
					return err
				}},
			} {
				for _, step := range c.steps {
					unlucky(t, how+" at "+step+" of "+c.what, func() error { return c.do(w.broken(t, step, fail)) })
					w.wantSnapshot(t, before)
				}
			}
			w.wantTrueBooks(t)

			w.set(t, open.ID, Paid)
			w.set(t, paid.ID, Open)
			must(t, w.customers.Delete(t.Context(), w.actor, expired.ID))
			w.wantTrueBooks(t)
		}
	})
}

// Deleting a customer and paying its invoice wait for each other, in either
// order: there is a payment with all that belongs to it, and then a deletion,
// or there was nothing to pay any more.
func TestCustomerDeletedWhileItsInvoiceIsBeingPaid(t *testing.T) {
	const rounds = 25
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		processes := []*world{w, w.process(t), w.process(t)}
		paidFirst := 0
		for round := range rounds {
			invoice := w.only(t, w.customer(t, 1, "2026-01-31").ID)
			w.redate(t, invoice.Customer.ID, "2026-01-30") // so that there is one to issue, too
			known := len(w.bodies(t))
			var payment, deletion, issue error
			var out Outcome
			atOnce(3, processes, func(world *world, n int) error {
				switch n {
				case round % 3:
					out, payment = world.SetStatus(t.Context(), w.actor, invoice.ID, ReadStatusChange(values("status", "Pago")))
				case (round + 1) % 3:
					deletion = world.customers.Delete(t.Context(), w.actor, invoice.Customer.ID)
				default:
					_, issue = world.Issue(t.Context(), w.actor)
				}
				return nil
			})
			must(t, deletion)
			must(t, issue)
			events := slices.DeleteFunc(w.recorded(t, known), func(name event.Name) bool { return name == event.InvoiceCreated })
			switch payment {
			case nil:
				paidFirst++
				if want := []event.Name{event.InvoicePaid, event.CustomerRenewed, event.CustomerDeleted}; !slices.Equal(events, want) || !out.Renewed {
					t.Errorf("paid first: events %v, renewed %t", events, out.Renewed)
				}
			default:
				wantNotFound(t, payment)
				if !slices.Equal(events, []event.Name{event.CustomerDeleted}) {
					t.Errorf("deleted first: events %v", events)
				}
			}
			for _, table := range []string{"customers", "invoices", "invoice_schedule"} {
				if left := texts(t, w.db, `SELECT due_on FROM `+table); len(left) > 0 {
					t.Fatalf("%s: %v is left", table, left)
				}
			}
			w.wantTrueBooks(t)
		}
		t.Logf("paid first in %d of %d rounds", paidFirst, rounds)
	})
}
