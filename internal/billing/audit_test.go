package billing

import (
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// history is what the audit log has about a record, oldest first, as action
// and changed fields.
func (w *world) history(t *testing.T, record string, id int64) (lines []account.AuditLine) {
	t.Helper()
	lines, _, err := w.accounts.Audit(t.Context(), w.actor, account.AuditFilter{Record: record, ID: id}, input.Page{Number: 1, Size: 50})
	must(t, err)
	slices.Reverse(lines)
	return lines
}

func (w *world) wantMoves(t *testing.T, customerID int64, want ...account.FieldChange) {
	t.Helper()
	var got []account.FieldChange
	for _, line := range w.history(t, "customer", customerID) {
		for _, change := range line.Changes {
			if change.Field == "data_de_vencimento" {
				got = append(got, change)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has the due dates %q, want %q", got, want)
	}
}

// A person who undoes a payment moves the due date back: the customer's history
// must not contradict its record.
func TestUndoneRenewalLeavesItsLineInTheAuditLog(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.actor = account.Operator(world.actor.Company)
		world.plan(t, "1month", "35.00")
		customer := world.customer(t, 1, "2026-11-15")
		invoice := world.only(t, customer.ID)
		world.set(t, invoice.ID, Paid)
		world.set(t, invoice.ID, Open)
		const field = "data_de_vencimento"
		world.wantMoves(t, customer.ID, account.FieldChange{Field: field, After: "2026-11-15"},
			account.FieldChange{Field: field, Before: "2026-11-15", After: "2026-12-15"},
			account.FieldChange{Field: field, Before: "2026-12-15", After: "2026-11-15"})
	})
}

// Every change that a person makes has its line; what due dates bring has none.
func TestWhatPeopleDoToInvoicesIsAudited(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.actor = account.Operator(world.actor.Company)
		world.plan(t, "1month", "35.00")
		customer := world.customer(t, 1, "2026-02-10")
		generated := world.only(t, customer.ID)
		world.wantHistory(t, generated.ID)
		world.set(t, generated.ID, Paid, "note", "in cash", "paid_at", "2026-01-30")
		world.set(t, generated.ID, Open)
		world.set(t, generated.ID, Cancelled)
		world.wantHistory(t, generated.ID,
			"invoice.updated: amount_received 0.00 → 35.00, note → in cash, paid_on → 2026-01-30, paid_via → manual, status Em aberto → Pago",
			"invoice.updated: amount_received 35.00 → 0.00, paid_on 2026-01-30 → , paid_via manual → , status Pago → Em aberto",
			"invoice.updated: status Em aberto → Cancelado")
		extra, err := world.CreateExtra(t.Context(), world.actor, customer.ID, ReadExtra(values("amount", "10.00", "description", "Visita")))
		must(t, err)
		world.wantHistory(t, extra.ID, "invoice.created: description → Visita, due_date → 2026-01-31, plan → Plano 1month, product → Produto 1month, status → Em aberto, total_amount 0.00 → 10.00")
	})
}

func (w *world) wantHistory(t *testing.T, invoiceID int64, want ...string) {
	t.Helper()
	var got []string
	for _, line := range w.history(t, "invoice", invoiceID) {
		changes := make([]string, len(line.Changes))
		for n, change := range line.Changes {
			changes[n] = strings.TrimSpace(change.Field+" "+change.Before) + " → " + change.After
		}
		got = append(got, line.Action+": "+strings.Join(changes, ", "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
