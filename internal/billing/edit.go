package billing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
)

// Edit is what a person changes of an open invoice.
type Edit struct {
	Amount      input.Opt[money.Cents]
	DueOn       input.Opt[civil.Date]
	Description input.Opt[string]
	Discount    input.Opt[money.Cents] // until the due date; null: the company's

	off    money.Cents // a discount that counts now; 0: none
	reason string      // of off

	Problems input.Problems // what the form had wrong
}

// ReadEdit reads a change from the fields total_amount, due_date, description and
// discount. Amount and due are other names for the first two.
func ReadEdit(in *input.Form) Edit {
	in.Alias("amount", "total_amount")
	in.Alias("due", "due_date")
	in.MustNotClear("total_amount")
	in.MustNotClear("due_date")
	edit := Edit{
		Amount:      in.Money("total_amount"),
		DueOn:       in.Date("due_date"),
		Description: in.Line("description", maxDescription),
		Discount:    in.Money("discount"),
	}
	in.Ignore(ReadOnly...)
	in.Ignore("status")
	edit.Problems = in.Problems()
	return edit
}

// maxReason is how long the reason of a discount may be.
const maxReason = 200

// ReadEditOff is ReadEdit for a form that can also give a discount that counts at
// once, on an overdue invoice too: off, an amount, for the reason off_reason.
func ReadEditOff(in *input.Form) Edit {
	off, reason := in.Money("off"), in.Line("off_reason", maxReason)
	edit := ReadEdit(in)
	edit.off, edit.reason = off.Value, strings.TrimSpace(reason.Value)
	return edit
}

// takeOff lowers the amount. The description, which the payer reads, says by how
// much; the note, which the company reads, says why. The same form sent twice writes
// one note.
func (i *Invoice) takeOff(off money.Cents, reason string) {
	i.Amount, i.TakenOff, i.Edited = i.Amount-off, i.TakenOff+off, true
	i.Description = strings.TrimSpace(i.Description + " (desconto de " + off.BR() + ")")
	if line := "Desconto de " + off.BR() + ": " + reason; !strings.HasSuffix(i.Note, line) {
		i.Note = strings.TrimSpace(i.Note + "\n" + line)
	}
}

// Edit changes an open invoice by hand. From then on it no longer follows its
// customer, unless only its description changes. The due date that its payment
// renews stays what it was. Nothing is recorded when nothing changes.
func (s *Service) Edit(ctx context.Context, caller account.Actor, invoiceID int64, edit Edit) (Invoice, error) {
	var change Change
	err := caller.Write(ctx, s.db, func(tx account.Tx) error {
		before, _, err := lock(ctx, tx, invoiceID)
		if err != nil {
			return err
		}
		actor, err := caller.Refreshed(ctx, tx.Tx) // its terms decide which discount is shown
		if err != nil {
			return err
		}
		change = Change{Action: ActionUpdated, Before: before, After: before}
		// The discounts that the record shows: today, and until the due date, for who has read it by
		// then and sends it back after midnight.
		edit.to(&change.After, []money.Cents{
			before.PayableOn(actor.Company, actor.Today(tx.Now())).Discount,
			before.PayableOn(actor.Company, before.DueOn).Discount,
		})
		err = edit.Problems.With(edit.refused(change)).Err()
		if err != nil || change.After == before {
			return err
		}
		return s.apply(ctx, tx, &change)
	})
	return change.After, err
}

// to sets what the edit says. A discount that is one of those shown, as in a
// record that was read and is sent back, says nothing.
func (e Edit) to(invoice *Invoice, shown []money.Cents) {
	before := *invoice
	e.Amount.To(&invoice.Amount)
	e.DueOn.To(&invoice.DueOn)
	switch {
	case e.Discount.HasValue() && !slices.Contains(shown, e.Discount.Value):
		invoice.OwnDiscount = OwnDiscount{e.Discount.Value, true}
	case e.Discount.IsNull():
		invoice.OwnDiscount = OwnDiscount{}
	}
	if *invoice != before {
		invoice.Edited = true
	}
	e.Description.To(&invoice.Description)
	if e.off > 0 {
		invoice.takeOff(e.off, e.reason)
	}
}

// refused says what cannot be. What the form has refused keeps its old value, and
// is not refused again.
func (e Edit) refused(change Change) (refused fault.Fields) {
	invoice := change.After
	if change.Before.Status != Open {
		refused.Add("status",
			fmt.Sprintf("this invoice is %s; only one that is %s can be changed", change.Before.Status, Open))
		return refused
	}
	e.refuseOff(invoice, &refused)
	switch {
	case len(refused.Get("off")) > 0:
	case invoice.Amount <= 0:
		refused.Add("total_amount", "must be more than zero")
	case invoice.Amount != change.Before.Amount && invoice.Amount <= invoice.Received:
		refused.Add("total_amount", fmt.Sprintf("must be more than the %s that came for it", invoice.Received))
	}
	if invoice.OwnDiscount.Given && invoice.OwnDiscount.Amount >= max(1, invoice.Amount) {
		refused.Add("discount", "must be less than the amount of the invoice")
	}
	return refused
}

// refuseOff says what is wrong with a discount that counts now.
func (e Edit) refuseOff(invoice Invoice, refused *fault.Fields) {
	switch {
	case e.off == 0:
		return
	case e.off < 0:
		refused.Add("off", "must be more than zero")
	case invoice.Amount <= invoice.Received:
		refused.Add("off", "must be less than what is left of the invoice")
	}
	if e.reason == "" {
		refused.Add("off_reason", "is required")
	}
	if utf8.RuneCountInString(invoice.Description) > maxDescription {
		refused.Add("description", fmt.Sprintf("must have at most %d characters", maxDescription))
	}
	if utf8.RuneCountInString(invoice.Note) > MaxNote {
		refused.Add("off_reason", "the note of the invoice has no room for it")
	}
}

// field is a field of the record that a change can set. The table below is
// what the columns and the audit log are made of.
type field struct {
	name   string             // as the audit log has it; "": it has not
	column string             // that stores it as it is; "": sql.go writes it
	at     func(*Invoice) any // where the record has it
	shown  func(*Invoice) any // what the audit log shows, if not the value
}

// amount is a field with money.
func amount(name, column string, at func(*Invoice) *money.Cents) field {
	return field{
		name: name, column: column,
		at:    func(invoice *Invoice) any { return (*int64)(at(invoice)) },
		shown: func(invoice *Invoice) any { return *at(invoice) },
	}
}

var fields = []field{
	{
		name:   "status",
		column: "status",
		at:     func(invoice *Invoice) any { return (*string)(&invoice.Status) },
		shown:  func(invoice *Invoice) any { return invoice.Status },
	},
	amount("total_amount", "amount_cents", func(invoice *Invoice) *money.Cents { return &invoice.Amount }),
	{name: "description", column: "description", at: func(invoice *Invoice) any { return &invoice.Description }},
	{name: "due_date", column: "due_on", at: func(invoice *Invoice) any { return &invoice.DueOn }},
	{name: "issued_for", column: "issued_for", at: func(invoice *Invoice) any { return &invoice.IssuedFor }},
	{name: "paid_on", column: "paid_on", at: func(invoice *Invoice) any { return &invoice.PaidOn }},
	{name: "paid_via", column: "paid_via", at: func(invoice *Invoice) any { return &invoice.PaidVia }},
	amount("amount_received", "received_cents", func(invoice *Invoice) *money.Cents { return &invoice.Received }),
	amount("late_fee", "late_fee_cents", func(invoice *Invoice) *money.Cents { return &invoice.LateFee }),
	amount("late_interest", "late_interest_cents", func(invoice *Invoice) *money.Cents { return &invoice.LateInterest }),
	amount("discount", "discount_cents", func(invoice *Invoice) *money.Cents { return &invoice.Discount }),
	amount("forgiven", "forgiven_cents", func(invoice *Invoice) *money.Cents { return &invoice.Forgiven }),
	amount("", "settled_cents", func(invoice *Invoice) *money.Cents { return &invoice.Settled }),
	amount("", "given_cents", func(invoice *Invoice) *money.Cents { return &invoice.Given }),
	amount("", "taken_off_cents", func(invoice *Invoice) *money.Cents { return &invoice.TakenOff }),
	amount("", "written_off_cents", func(invoice *Invoice) *money.Cents { return &invoice.WrittenOff }),
	{column: "written_off_on", at: func(invoice *Invoice) any { return &invoice.WrittenOffOn }},
	{name: "own_discount", column: "own_discount_cents", at: func(invoice *Invoice) any { return &invoice.OwnDiscount }},
	{name: "edited", column: "edited", at: func(invoice *Invoice) any { return &invoice.Edited }},
	{name: "superseded", column: "superseded", at: func(invoice *Invoice) any { return &invoice.Superseded }},
	{name: "withdrawn", column: "withdrawn", at: func(invoice *Invoice) any { return (*string)(&invoice.Withdrawn) }},
	{name: "plan", at: func(invoice *Invoice) any { return &invoice.Plan.Name }},
	{name: "product", at: func(invoice *Invoice) any { return &invoice.Product.Name }},
	{
		name: "period", at: func(invoice *Invoice) any { return &invoice.Period },
		shown: func(invoice *Invoice) any { return invoice.Period },
	},
	{name: "note", column: "note", at: func(invoice *Invoice) any { return &invoice.Note }},
}

// auditFields is the record as the audit log shows it.
func auditFields(invoice Invoice) account.AuditFields {
	audit := make(account.AuditFields, len(fields))
	for _, field := range fields {
		switch {
		case field.name == "":
		case field.shown != nil:
			audit[field.name] = fmt.Sprint(field.shown(&invoice))
		default:
			audit[field.name] = fmt.Sprint(rows.ValueAt(field.at(&invoice)))
		}
	}
	return audit
}

// stored are the columns of the table.
var stored = func() (list rows.Fields[Invoice]) {
	for _, field := range fields {
		if field.column != "" {
			list = append(list, rows.Field[Invoice]{Column: field.column, At: field.at})
		}
	}
	return list
}()
