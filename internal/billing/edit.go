package billing

import (
	"context"
	"fmt"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Edit is what a person changes of an open invoice.
type Edit struct {
	Amount      input.Opt[money.Cents]
	DueOn       input.Opt[civil.Date]
	Description input.Opt[string]
	Discount    input.Opt[money.Cents] // until the due date; null: the company's

	Problems input.Problems // what the form had wrong
}

// ReadEdit reads a change from the fields total_amount, due_date, description and
// discount. Amount and due are other names for the first two.
func ReadEdit(in *input.Form) Edit {
	in.Alias("amount", "total_amount")
	in.Alias("due", "due_date")
	in.MustNotClear("total_amount")
	in.MustNotClear("due_date")
	e := Edit{
		Amount:      in.Money("total_amount"),
		DueOn:       in.Date("due_date"),
		Description: in.Line("description", maxDescription),
		Discount:    in.Money("discount"),
	}
	in.Ignore(slices.Concat(ReadOnly, []string{"status", "late_fee", "late_interest", "payable_amount", "payment_link"})...)
	e.Problems = in.Problems()
	return e
}

// Edit changes an open invoice by hand. From then on it no longer follows its
// customer, unless only its description changes. The due date that its payment
// renews stays what it was. Nothing is recorded when nothing changes.
func (s *Service) Edit(ctx context.Context, a account.Actor, invoiceID int64, e Edit) (Invoice, error) {
	var c Change
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, _, err := lock(ctx, tx, a, invoiceID)
		if err != nil {
			return err
		}
		actor, err := a.Refreshed(ctx, tx) // whose terms decide which discount is shown
		if err != nil {
			return err
		}
		c = Change{Action: ActionUpdated, Before: before, After: before}
		e.to(&c.After, before.PayableOn(actor.Company, actor.Today(tx.Now())).Discount)
		if err := e.Problems.With(e.refused(c)).Err(); err != nil || c.After == before {
			return err
		}
		return s.apply(ctx, tx, a, &c)
	})
	return c.After, err
}

// to sets what the edit says. A discount that is the one shown, as in a record
// that was read and is sent back, says nothing.
func (e Edit) to(i *Invoice, shown money.Cents) {
	before := *i
	e.Amount.To(&i.Amount)
	e.DueOn.To(&i.DueOn)
	switch {
	case e.Discount.HasValue() && e.Discount.Value != shown:
		i.OwnDiscount = OwnDiscount{e.Discount.Value, true}
	case e.Discount.IsNull():
		i.OwnDiscount = OwnDiscount{}
	}
	if *i != before {
		i.Edited = true
	}
	e.Description.To(&i.Description)
}

// refused says what cannot be. What the form has refused keeps its old value, and
// is not refused again.
func (e Edit) refused(c Change) (refused fault.Fields) {
	i := c.After
	if c.Before.Status != Open {
		refused.Add("status", fmt.Sprintf("this invoice is %s; only one that is %s can be changed", c.Before.Status, Open))
		return refused
	}
	switch {
	case i.Amount <= 0:
		refused.Add("total_amount", "must be more than zero")
	case i.Amount != c.Before.Amount && i.Amount <= i.Received:
		refused.Add("total_amount", fmt.Sprintf("must be more than the %s that came for it", i.Received))
	}
	if i.OwnDiscount.Given && i.OwnDiscount.Amount >= max(1, i.Amount) {
		refused.Add("discount", "must be less than the amount of the invoice")
	}
	return refused
}
