package billing

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// debtors counts the customers with open invoices by the due date of the oldest
// one, each once: how old a debt is, is how long its customer has owed.
const debtors = tally.Debtors

// debtor is a customer with open invoices.
type debtor struct {
	since     civil.Date // zero: nothing is open
	planID    int64      // the customer's, as they are counted
	productID int64
}

func (d debtor) entry(n int64) tally.Entry {
	return tally.Entry{Counter: debtors, Change: tally.Change{N: n, Key: tally.Key{
		Day: d.since.String(), PlanID: d.planID, ProductID: d.productID,
	}}}
}

// settleDebt writes what a change of an invoice makes of its customer's debt,
// and returns how the counter of debtors moves.
func settleDebt(ctx context.Context, tx account.Tx, change Change) ([]tally.Entry, error) {
	wasOpen, isOpen := change.Before.Status == Open, change.After.Status == Open
	if wasOpen == isOpen && (!isOpen || change.Before.DueOn == change.After.DueOn) {
		return nil, nil
	}
	customerID := change.Invoice().Customer.ID
	if change.first { // the customer is not visible yet, so its plan cannot have changed
		first := debtor{change.After.DueOn, change.After.Plan.ID, change.After.Product.ID}
		return []tally.Entry{first.entry(+1)}, appendDebtor(ctx, tx, customerID, first)
	}
	if isOpen && !wasOpen { // mostly the first: then one statement does
		first, added, err := addDebtor(ctx, tx, customerID, change.After.DueOn)
		if err != nil || added {
			return []tally.Entry{first.entry(+1)}, err
		}
	}
	return resettleDebt(ctx, tx, customerID)
}

// resettleDebt finds a debtor's oldest open invoice again.
func resettleDebt(ctx context.Context, tx account.Tx, customerID int64) ([]tally.Entry, error) {
	before, err := debtorByID(ctx, tx, customerID)
	if err != nil {
		return nil, err
	}
	after := before
	// The least of an expression: for that of the column SQLite walks along the due dates
	// of the whole company until it meets one of the customer's.
	after.since, err = sqldb.Value[civil.Date](ctx, tx,
		`SELECT MIN(due_on || '') FROM invoices WHERE company_id = ? AND customer_id = ? AND status = ?`,
		tx.Company.ID, customerID, string(Open))
	if err != nil || after == before {
		return nil, err
	}
	if after.since.IsZero() {
		return []tally.Entry{before.entry(-1)}, removeDebtor(ctx, tx, customerID)
	}
	return []tally.Entry{before.entry(-1), after.entry(+1)}, updateDebtor(ctx, tx, customerID, after)
}

// customerMoved counts a debtor at the plan and the product that it has now.
func customerMoved(ctx context.Context, tx account.Tx, change customer.Change) error {
	if change.Before.Plan.ID == change.After.Plan.ID && change.Before.Product.ID == change.After.Product.ID {
		return nil
	}
	before, err := debtorByID(ctx, tx, change.After.ID)
	if err != nil || before.since.IsZero() {
		return err
	}
	after := debtor{before.since, change.After.Plan.ID, change.After.Product.ID}
	if err := updateDebtor(ctx, tx, change.After.ID, after); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, []tally.Entry{before.entry(-1), after.entry(+1)})
}

// forgetDebt removes a customer who is deleted from the debtors.
func forgetDebt(ctx context.Context, tx account.Tx, customerID int64) error {
	before, err := debtorByID(ctx, tx, customerID)
	if err != nil || before.since.IsZero() {
		return err
	}
	if err := removeDebtor(ctx, tx, customerID); err != nil {
		return err
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, []tally.Entry{before.entry(-1)})
}

// Owed returns the invoice that a customer has to pay first: of those that are
// open, the one that is due first. found is false when nothing is owed.
func (s *Service) Owed(
	ctx context.Context, actor account.Actor, customerID int64,
) (invoice Invoice, found bool, err error) {
	invoice, err = sqldb.One(ctx, s.db, scan, `SELECT `+columns+` FROM invoices i`+joins+`
		WHERE i.company_id = ? AND i.customer_id = ? AND i.status = ? ORDER BY i.due_on, i.id LIMIT 1`,
		actor.Company.ID, customerID, string(Open))
	if errors.Is(err, sqldb.ErrNotFound) {
		return Invoice{}, false, nil
	}
	return invoice, err == nil, err
}

// Owing is what some customers owe of overdue invoices, without late charges;
// those who owe nothing are not in it.
func (s *Service) Owing(ctx context.Context, actor account.Actor, customerIDs []int64) (map[int64]money.Cents, error) {
	if len(customerIDs) == 0 {
		return nil, nil
	}
	return overdueOf(ctx, s.db, actor.Company.ID, customerIDs, actor.Today(s.db.Now()))
}

// ActionCharged is a person who asked a customer to pay by means of their own, such
// as the WhatsApp on their phone. It changes nothing of the invoice.
const ActionCharged Action = "invoice.charged"

// ChargedOn is the batch of the audit log that has the invoices for which customers
// were asked to pay by hand on a day.
func ChargedOn(day civil.Date) string { return "charged-" + day.String() }

// NoteCharged writes down that a person has asked for the payment of an open invoice
// today.
func (s *Service) NoteCharged(ctx context.Context, actor account.Actor, invoiceID int64) error {
	actor.Batch = ChargedOn(actor.Today(s.db.Now()))
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		invoice, err := LockTx(ctx, tx, invoiceID)
		if err != nil || invoice.Status != Open {
			return err
		}
		return account.WriteAudit(ctx, tx, account.AuditEntry{
			Action: string(ActionCharged),
			Record: "invoice",
			ID:     invoice.ID,
			Name:   invoice.Customer.Name,
		})
	})
}

// smallSum is up to how many invoices are added up where no counter knows their
// sum.
const smallSum = 2000

// Worth is what the invoices of a filter are worth together: an open one what is
// still to come, without late charges. matches is how many there are. ok is false
// where no counter knows and there are too many to add up at every look.
func (s *Service) Worth(
	ctx context.Context, actor account.Actor, filter Filter, matches int64,
) (worth money.Cents, ok bool, err error) {
	if err := actor.NotAttendant(); err != nil {
		return 0, false, err
	}
	l := s.asked(actor, filter)
	switch {
	case filter.tallied():
		_, cents, err := counter.Sum(ctx, s.db, actor.Company.ID, l.keys())
		return money.Cents(cents), true, err
	case filter.paidOnly():
		cents, err := s.paidBetween(ctx, actor.Company.ID, filter)
		return cents, true, err
	case matches > smallSum:
		return 0, false, nil
	}
	query, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return 0, false, err
	}
	cents, err := sumRows(ctx, s.db, actor.Company.ID, query.Where)
	return money.Cents(cents), true, err
}

// paidOnly reports whether the counter of paid invoices can add the filter up.
func (f Filter) paidOnly() bool {
	dated := !f.PaidFrom.IsZero() || !f.PaidTo.IsZero()
	known := f.Status == "" || f.Status == Paid
	f.Status, f.PlanID, f.ProductID = "", 0, 0
	f.PaidFrom, f.PaidTo = civil.Date{}, civil.Date{}
	return dated && known && f == (Filter{})
}

func (s *Service) paidBetween(ctx context.Context, companyID int64, chosen Filter) (money.Cents, error) {
	filter := tally.Filter{Days: []tally.Days{countedDays(chosen.PaidFrom, chosen.PaidTo)}}
	filter.And("state IN ('on_time', 'late')")
	if chosen.PlanID != 0 {
		filter.And("plan_id = ?", chosen.PlanID)
	}
	if chosen.ProductID != 0 {
		filter.And("product_id = ?", chosen.ProductID)
	}
	_, cents, err := paid.Sum(ctx, s.db, companyID, filter)
	return money.Cents(cents), err
}
