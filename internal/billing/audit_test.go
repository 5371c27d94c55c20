package billing

import (
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
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
		for _, c := range line.Changes {
			if c.Field == "data_de_vencimento" {
				got = append(got, c)
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
		w := newWorld(t, engine)
		w.actor = account.Operator(w.actor.Company)
		w.plan(t, "1month", "35.00")
		c := w.customer(t, 1, "2026-11-15")
		i := w.only(t, c.ID)
		w.set(t, i.ID, Paid)
		w.set(t, i.ID, Open)
		const field = "data_de_vencimento"
		w.wantMoves(t, c.ID, account.FieldChange{Field: field, After: "2026-11-15"},
			account.FieldChange{Field: field, Before: "2026-11-15", After: "2026-12-15"},
			account.FieldChange{Field: field, Before: "2026-12-15", After: "2026-11-15"})
	})
}
