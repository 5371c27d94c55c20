package billing

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// full is an invoice with every field filled.
func full() Invoice {
	return Invoice{
		ID: 7, Customer: Customer{1, "uuid", "Ana Lima", "5511987654321", "ana@example.com", "crm-1"}, Generated: true, Status: Paid, Amount: 3500, Description: "Fibra 300",
		DueOn: day("2026-02-10"), Plan: customer.Plan{ID: 1, Name: "Mensal", Value: 3500}, Product: customer.Product{ID: 1, Name: "Fibra"},
		PaidAt: noon.Add(time.Hour), PaidOn: day("2026-01-30"), PaidVia: "woovi", Note: "in cash", CreatedAt: noon, UpdatedAt: noon,
		Received: 3560, LateFee: 70, LateInterest: 1, Discount: 2, Forgiven: 9, Settled: 3570, Given: 4, WrittenOff: 5, WrittenOffOn: day("2026-01-30"), TakenOff: 8,
		IssuedFor: day("2026-02-09"), OwnDiscount: OwnDiscount{250, true}, Edited: true, Superseded: true, Withdrawn: withdrawnMoved,
		Period:  civil.Period{Unit: civil.Month, Count: 1},
		renewal: renewal{day("2026-02-10"), day("2026-03-10"), 10, day("2026-01-30")},
	}
}

// notAudited are the fields that no change of an invoice sets, each with a
// reason.
var notAudited = map[string]string{
	"ID":        "the database gives it",
	"Customer":  "an invoice is its customer's for good; the line bears its name",
	"Generated": "decided when it is issued, by what issues it",
	"PaidAt":    "paid_on has the day; the line has its own instant",
	"CreatedAt": "the instant of the creation",
	"UpdatedAt": "the instant of the last change",

	"Settled":      "amount_received has it when the invoice is paid",
	"Given":        "forgiven has it",
	"WrittenOff":   "forgiven or the status has it, and the note says why",
	"WrittenOffOn": "paid_on has it, or the line its own instant",
	"TakenOff":     "total_amount has what it lowered",
}

// notInEvents are the fields that invoice.created does not carry.
var notInEvents = map[string]string{
	"Period":       "the contract's event has none; GET /invoices/{id} shows it",
	"Generated":    "the contract's event does not tell them apart",
	"Description":  "the contract's event has none; GET /invoices/{id} shows it",
	"Plan":         "the contract's event has none; GET /invoices/{id} shows it",
	"Product":      "the contract's event has none; GET /invoices/{id} shows it",
	"PaidOn":       "paid_at is the instant",
	"LateFee":      "the contract's event has none; GET /invoices/{id} shows it",
	"LateInterest": "the contract's event has none; GET /invoices/{id} shows it",
	"Discount":     "the contract's event has none; GET /invoices/{id} shows it",
	"Forgiven":     "the contract's event has none; the audit log shows it",
	"Settled":      "the company's own",
	"Given":        "the company's own",
	"WrittenOff":   "the company's own",
	"WrittenOffOn": "the company's own",
	"TakenOff":     "total_amount is what is left",
	"Note":         "the company's own",
	"IssuedFor":    "due_date is the contract's",
	"OwnDiscount":  "the contract's event has none; GET /invoices/{id} shows what it comes to",
	"Edited":       "the company's own",
	"Superseded":   "the company's own",
	"Withdrawn":    "the company's own",
	"CreatedAt":    "occurred_at is the instant",
	"UpdatedAt":    "occurred_at is the instant",
}

func TestEveryFieldIsAudited(t *testing.T) {
	empty := fmt.Sprint(auditFields(Invoice{}))
	housetest.EachField(t, full(), notAudited, func(invoice Invoice) bool {
		return fmt.Sprint(auditFields(invoice)) != empty
	}, "is missing in the table of fields.go, so the audit log does not show its change")
}

func TestEveryFieldIsInEvents(t *testing.T) {
	data := func(invoice Invoice) string {
		data, err := new(Service).eventData(t.Context(), account.Actor{Company: account.Company{Zone: time.UTC}}.In(nil), Change{After: invoice})
		must(t, err)
		return asJSON(t, data)
	}
	housetest.EachField(t, full(), notInEvents, func(invoice Invoice) bool {
		return data(invoice) != data(Invoice{})
	}, "is missing in the events' data (events.go)")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func TestEveryFieldIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		record := world.customer(t, 1, "2026-05-10")
		want := full()
		want.Customer = ownedBy(record)
		want.Plan, want.Product = record.Plan, record.Product
		want.ID = world.apply1(t, Change{Action: ActionCreated, After: want})
		if got := world.find(t, want.ID); plainly(got) != plainly(want) {
			t.Errorf("inserted %+v, read %+v", want, got)
		}
		changed := want
		changed.Status, changed.Amount, changed.Description, changed.DueOn = Cancelled, 1, "other", day("2026-02-11")
		changed.PaidAt, changed.PaidOn, changed.PaidVia, changed.Note = noon, day("2026-01-29"), "efi", "other"
		changed.Received, changed.LateFee, changed.LateInterest, changed.Discount, changed.Forgiven = 5, 4, 3, 1, 6
		changed.Settled, changed.Given, changed.WrittenOff, changed.WrittenOffOn, changed.TakenOff = 7, 8, 9, day("2026-01-29"), 10
		changed.renewal = renewal{day("2026-02-11"), day("2026-03-11"), 11, day("2026-01-29")}
		changed.IssuedFor = day("2026-02-12")
		changed.OwnDiscount, changed.Edited, changed.Superseded, changed.Withdrawn = OwnDiscount{}, false, false, ""
		world.plan(t, "2years", "70.00")
		changed.Plan, changed.Product = world.customer(t, 2, "2026-05-10").Plan, world.customer(t, 2, "2026-05-10").Product
		changed.Period = civil.Period{Unit: civil.Year, Count: 2}
		world.clock.Advance(time.Hour)
		changed.UpdatedAt = world.db.Now()
		world.apply1(t, Change{Action: ActionUpdated, Before: want, After: changed})
		if got := world.find(t, want.ID); plainly(got) != plainly(changed) {
			t.Errorf("updated to %+v, read %+v", changed, got)
		}
		for n, field := range fields {
			if rows.ValueAt(field.at(&want)) == rows.ValueAt(field.at(&changed)) {
				t.Errorf("%s (field %d) was not changed: the test above must", field.name, n)
			}
		}
	})
}

// apply1 applies a change and returns the id of its invoice.
func (w *world) apply1(t *testing.T, change Change) int64 {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.apply(t.Context(), w.actor.In(tx), &change) }))
	return change.After.ID
}
