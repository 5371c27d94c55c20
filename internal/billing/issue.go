package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// issueBatch bounds one transaction of Issue.
const issueBatch = 100

// Issue issues the invoices of the company for near due dates: as many days
// ahead as the company has chosen; and those of customers who are late, if it has
// chosen to go on billing. It reads a schedule that has only due dates
// without an invoice, so a run with nothing due costs one query; what was missed
// while no process ran is found by the next run, and any number of processes may
// run it at once. It returns how many it issued.
func (s *Service) Issue(ctx context.Context, actor account.Actor) (int, error) {
	until := actor.Today(s.db.Now()).AddDays(actor.Company.Settings.LeadDays)
	// It spares a run with nothing due its write transaction.
	due, err := rows.Some(ctx, s.db, anyScheduledText, actor.Company.ID, until)
	if err != nil {
		return 0, err
	}
	total := 0
	for claimed := 1; due && claimed > 0; {
		issued := 0
		err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
			claimed, issued, err = s.issueSome(ctx, tx, until)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("issue invoices of company %d: %w", actor.Company.ID, err)
		}
		total += issued
	}
	further, err := s.issueOverdue(ctx, actor, until)
	if err != nil {
		err = fmt.Errorf("issue further invoices of company %d: %w", actor.Company.ID, err)
	}
	return total + further, err
}

// WithScheduled returns those of the companies that have something for Issue to do
// up to a day that is the horizon of all of them. It takes one statement for any
// number of them.
func (s *Service) WithScheduled(ctx context.Context, companyIDs []int64, until civil.Date) ([]int64, error) {
	return sqldb.Values[int64](ctx, s.db, withScheduledText, companyIDs, until)
}

// issueSome claims a batch of customers from the schedule and bills those who
// have no invoice yet for their due date.
func (s *Service) issueSome(ctx context.Context, tx account.Tx, until civil.Date) (claimed, issued int, err error) {
	// A plan that is being given a price must not have its customers taken off the
	// schedule at the old one; and it is locked before its customers.
	if err := catalog.HoldPlans(ctx, tx); err != nil {
		return 0, 0, err
	}
	ids, err := scheduled(ctx, tx, until, issueBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		made, err := s.issueScheduled(ctx, tx, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if made {
			issued++
		}
	}
	return len(ids), issued, nil
}

func (s *Service) issueScheduled(ctx context.Context, tx account.Tx, customerID int64) (issued bool, err error) {
	record, err := customer.FindTx(ctx, tx, customerID)
	if err != nil {
		return false, err
	}
	if err := unschedule(ctx, tx, customerID); err != nil {
		return false, err
	}
	return s.issueFor(ctx, tx, record)
}

// issueFor bills a customer for its due date, unless that has been done. A price
// of nothing is not billed, nor is a cancelled customer.
func (s *Service) issueFor(ctx context.Context, tx account.Tx, record customer.Customer) (issued bool, err error) {
	if !toBill(record) {
		return false, nil
	}
	change := Change{Action: ActionCreated, After: generated(record, tx.Now())}
	err = s.apply(ctx, tx, &change)
	if errors.Is(err, errIssued) {
		return false, s.reviveFor(ctx, tx, record)
	}
	if err != nil {
		return false, err
	}
	return true, s.spendOnIssue(ctx, tx, change.After, record)
}

// issueFirst is issueFor for a customer who is being created, and so has no
// invoice and no debt.
func (s *Service) issueFirst(ctx context.Context, tx account.Tx, record customer.Customer) error {
	if !toBill(record) {
		return nil
	}
	return s.apply(ctx, tx, &Change{Action: ActionCreated, After: generated(record, tx.Now()), first: true})
}

// toBill reports whether the customer's due date is to be billed.
func toBill(record customer.Customer) bool {
	return billable(record) && !record.DueOn.IsZero() && !record.IsCancelled()
}

// generated is the invoice of a customer's due date.
func generated(record customer.Customer, now time.Time) Invoice {
	invoice := newInvoice(record, now)
	invoice.Generated, invoice.Description, invoice.DueOn, invoice.IssuedFor = true, record.Plan.Name, record.DueOn, record.DueOn
	invoice.reprice(record)
	return invoice
}

// newInvoice is an open invoice of a customer, for the plan and the product
// that it has now.
func newInvoice(record customer.Customer, now time.Time) Invoice {
	return Invoice{
		Customer:  ownedBy(record),
		Status:    Open,
		Plan:      record.Plan,
		Product:   record.Product,
		CreatedAt: now,
	}
}

// ownedBy is what an invoice's record has of its customer.
func ownedBy(record customer.Customer) Customer {
	return Customer{
		ID:         record.ID,
		UUID:       record.UUID,
		Name:       record.Name,
		Whatsapp:   record.Whatsapp,
		Email:      record.Email,
		ExternalID: record.ExternalID,
	}
}

// Reissue issues the invoice of a customer's due date, for what the customer buys
// now, although that date has had one: it was cancelled, or paid without
// renewing. The old one stays in the books as superseded. A due date that has
// none yet is billed ahead of its time.
func (s *Service) Reissue(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	change := Change{Action: ActionCreated, chosen: true}
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		owner, err := customer.LockTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		if err := extra.Problems.With(extra.notReissued(owner)).Err(); err != nil {
			return err
		}
		change.After = extra.generated(owner, tx.Now())
		if err := extra.Problems.With(extra.refused(change.After)).Err(); err != nil {
			return err
		}
		if err := s.supersede(ctx, tx, owner, extra.names.due); err != nil {
			return err
		}
		if err := s.apply(ctx, tx, &change); err != nil || owner.Credit <= 0 {
			return err
		}
		out, err := s.spend(ctx, tx, change.After, owner)
		change.After = out.Invoice
		return err
	})
	return change.After, err
}

// notReissued says why a customer's due date cannot be billed.
func (e Extra) notReissued(owner customer.Customer) (refused fault.Fields) {
	switch {
	case owner.IsCancelled():
		refused.Add("customer_id", "the customer is cancelled")
	case owner.Plan.ID == 0:
		refused.Add("renews", "the customer has no plan; set one to renew by its period")
	case owner.DueOn.IsZero():
		refused.Add("renews", "the customer has no due date")
	case e.DueOn.HasValue() && e.DueOn.Value != owner.DueOn:
		refused.Add(e.names.due,
			fmt.Sprintf("must be the customer's due date, %s, for an invoice that renews", owner.DueOn))
	}
	return refused
}

// generated is the invoice of the customer's due date. One with an amount of its
// own does not follow the plan's price.
func (e Extra) generated(owner customer.Customer, now time.Time) Invoice {
	invoice := generated(owner, now)
	invoice.Amount = e.Amount.Or(invoice.Amount)
	invoice.Edited = invoice.Amount != owner.Price()
	invoice.Description = e.Description.Or(invoice.Description)
	return invoice
}

// supersede has the invoice of the customer's due date make room for another.
func (s *Service) supersede(ctx context.Context, tx account.Tx, owner customer.Customer, dueField string) error {
	old, found, err := generatedFor(ctx, tx, owner, tx.Company.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return unschedule(ctx, tx, owner.ID)
	case old.Status == Open:
		return fault.Field(dueField, fmt.Sprintf("has invoice %d, which is %s", old.ID, old.Status))
	case old.Status == Paid && !old.renewal.to.IsZero():
		return fault.Field(dueField, fmt.Sprintf("has invoice %d, whose payment renewed the customer", old.ID))
	}
	change := Change{Action: ActionUpdated, Before: old, After: old}
	change.After.Superseded, change.After.Withdrawn = true, ""
	if err := s.apply(ctx, tx, &change); err != nil {
		return err
	}
	return unschedule(ctx, tx, owner.ID)
}

const maxDescription = 255

// Extra is an invoice that a person issues in addition to the generated ones.
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
	return Extra{
		Amount:      in.Money(names.amount),
		DueOn:       in.Date(names.due),
		Description: in.Line("description", maxDescription),
		Renews:      in.Bool("renews").Value,
		names:       names,
		Problems:    in.Problems(),
	}
}

// Create issues an invoice on request: an additional one or, where Renews is set,
// that of the customer's due date.
func (s *Service) Create(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	if extra.Renews {
		return s.Reissue(ctx, actor, customerID, extra)
	}
	return s.CreateExtra(ctx, actor, customerID, extra)
}

// CreateExtra issues an invoice in addition to the generated ones. Paying it
// renews nothing.
func (s *Service) CreateExtra(ctx context.Context, actor account.Actor, customerID int64, extra Extra) (Invoice, error) {
	change := Change{Action: ActionCreated}
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		owner, err := customer.LockTx(ctx, tx, customerID)
		if err != nil {
			return err
		}
		change.After = extra.invoice(actor, tx.Now(), owner)
		if err := extra.Problems.With(extra.refused(change.After)).Err(); err != nil {
			return err
		}
		return s.apply(ctx, tx, &change)
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
