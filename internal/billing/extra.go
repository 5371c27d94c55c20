package billing

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

const maxDescription = 255

// Extra is an invoice that a person issues beside the generated ones.
type Extra struct {
	Amount      input.Opt[money.Cents] // no value: the plan's
	DueOn       input.Opt[civil.Date]  // no value: today
	Description input.Opt[string]
	// Renews has it be the invoice of the customer's due date: see Reissue.
	Renews bool

	Problems input.Problems // what the form had wrong

	names extraNames
}

// extraNames are what a form calls the fields of an Extra.
type extraNames struct{ amount, due string }

// ReadExtra reads an extra invoice from the fields amount, due, description and
// renews.
func ReadExtra(in *input.Form) Extra {
	return readExtra(in, extraNames{"amount", "due"})
}

// ReadNewInvoice reads an invoice as the API takes it: the fields customer_id,
// total_amount, due_date, description and renews.
func ReadNewInvoice(in *input.Form) (customerID int64, extra Extra) {
	in.Require("customer_id")
	customerID = in.ID("customer_id").Value
	in.Ignore(ReadOnly...)
	in.Ignore("status")
	return customerID, readExtra(in, extraNames{"total_amount", "due_date"})
}

func readExtra(in *input.Form, names extraNames) Extra {
	extra := Extra{
		Amount:      in.Money(names.amount),
		DueOn:       in.Date(names.due),
		Description: in.Line("description", maxDescription),
		Renews:      in.Bool("renews").Value,
		names:       names,
	}
	extra.Problems = in.Problems()
	return extra
}

// Create issues an invoice that a person asks for: one beside the generated ones,
// or, where Renews is set, that of the customer's due date.
func (s *Service) Create(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	if extra.Renews {
		return s.Reissue(ctx, actor, customerID, extra)
	}
	return s.CreateExtra(ctx, actor, customerID, extra)
}

// CreateExtra issues an invoice beside the generated ones. Paying it renews
// nothing.
func (s *Service) CreateExtra(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	change := Change{Action: ActionCreated}
	err := actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		owner, err := customer.LockTx(ctx, tx, actor, customerID)
		if err != nil {
			return err
		}
		change.After = extra.invoice(actor, tx.Now(), owner)
		if err := extra.Problems.With(extra.refused(change.After)).Err(); err != nil {
			return err
		}
		return s.apply(ctx, tx, actor, &change)
	})
	return change.After, err
}

// invoice makes the invoice of a customer.
func (e Extra) invoice(actor account.Actor, now time.Time, owner customer.Customer) Invoice {
	invoice := newInvoice(owner, now)
	invoice.Amount = e.Amount.Or(owner.Price())
	invoice.DueOn = e.DueOn.Or(actor.Today(now))
	invoice.Description = e.Description.Value
	return invoice
}

// refused says what is wrong with the amount, unless the form has said it.
func (e Extra) refused(invoice Invoice) (refused fault.Fields) {
	switch {
	case invoice.Amount > 0 || e.Problems.Has(e.names.amount):
	case e.Amount.HasValue():
		refused.Add(e.names.amount, "must be more than zero")
	default:
		refused.Add(e.names.amount, "is required: the customer has no plan that costs something")
	}
	return refused
}
