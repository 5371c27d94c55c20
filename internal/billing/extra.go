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

	Problems input.Problems // what the form had wrong
}

// ReadExtra reads an extra invoice from the fields amount, due and description.
func ReadExtra(in *input.Form) Extra {
	e := Extra{
		Amount:      in.Money("amount"),
		DueOn:       in.Date("due"),
		Description: in.Line("description", maxDescription),
	}
	e.Problems = in.Problems()
	return e
}

// CreateExtra issues an invoice beside the generated ones. Paying it renews
// nothing.
func (s *Service) CreateExtra(ctx context.Context, a account.Actor, customerID int64, e Extra) (Invoice, error) {
	c := Change{Action: ActionCreated}
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		owner, err := customer.LockTx(ctx, tx, a, customerID)
		if err != nil {
			return err
		}
		c.After = e.invoice(a, tx.Now(), owner)
		if err := e.Problems.With(e.refused(c.After)).Err(); err != nil {
			return err
		}
		return s.apply(ctx, tx, a, &c)
	})
	return c.After, err
}

// invoice makes the invoice of a customer.
func (e Extra) invoice(a account.Actor, now time.Time, owner customer.Customer) Invoice {
	i := newInvoice(owner, now)
	i.Amount = e.Amount.Or(owner.Plan.Value)
	i.DueOn = e.DueOn.Or(a.Today(now))
	i.Description = e.Description.Value
	return i
}

// refused says what is wrong with the amount, unless the form has said it.
func (e Extra) refused(i Invoice) (refused fault.Fields) {
	switch {
	case i.Amount > 0 || e.Problems.Has("amount"):
	case e.Amount.HasValue():
		refused.Add("amount", "must be more than zero")
	default:
		refused.Add("amount", "is required: the customer has no plan that costs something")
	}
	return refused
}
