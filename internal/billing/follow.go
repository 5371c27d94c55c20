package billing

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Withdrawal is why the program cancelled an invoice. What the program
// cancelled, it may open again; what a person cancelled stays so.
type Withdrawal string

// The withdrawals.
const (
	withdrawnFree     Withdrawal = "free"     // the customer has no plan, or a price of nothing
	withdrawnMoved    Withdrawal = "moved"    // the customer's new due date has an invoice of its own
	WithdrawnUndone   Withdrawal = "undone"   // the renewal that brought its due date was taken back
	withdrawnCustomer Withdrawal = "customer" // the customer was cancelled
)

// revivable reports whether the invoice opens again when its due date is to be
// billed. The invoices of a cancelled customer open with the customer.
func (w Withdrawal) revivable() bool {
	return w == withdrawnFree || w == withdrawnMoved || w == WithdrawnUndone
}

// withdraw cancels an invoice for the program.
func (i *Invoice) withdraw(why Withdrawal) {
	i.Status, i.Withdrawn = Cancelled, why
}

// open makes a cancelled invoice open: what is owed is not given up any more.
func (i *Invoice) open() {
	i.Status, i.Withdrawn, i.WrittenOff, i.WrittenOffOn = Open, "", 0, civil.Date{}
}

// follows reports whether a generated invoice follows its customer. One that a
// person edited, or that has money on it, does not. One that was withdrawn with
// its customer does: it is right when the customer comes back.
func (i Invoice) follows() bool {
	waiting := i.Status == Open || i.Withdrawn == withdrawnCustomer
	return waiting && !i.Edited && i.Received == 0
}

// reprice has an invoice be for what the customer buys now.
func (i *Invoice) reprice(record customer.Customer) {
	if i.Description == i.Plan.Name {
		i.Description = record.Plan.Name
	}
	i.Amount, i.Plan, i.Product, i.Period = record.Price(), record.Plan, record.Product, record.Period()
}

// follow has the invoices of a customer follow a change of its record.
func (s *Service) follow(ctx context.Context, tx account.Tx, change customer.Change) error {
	if err := s.followDueDate(ctx, tx, change); err != nil {
		return err
	}
	if err := s.followAhead(ctx, tx, change); err != nil {
		return err
	}
	switch before, after := change.Before.IsCancelled(), change.After.IsCancelled(); {
	case after && !before && !change.KeepInvoices:
		return s.changeAll(ctx, tx, change.After, func(invoice *Invoice) {
			if invoice.Status == Open {
				invoice.withdraw(withdrawnCustomer)
			}
		})
	case before && !after:
		// Every invoice that was withdrawn with the customer, older debts too.
		return s.changeAll(ctx, tx, change.After, func(invoice *Invoice) {
			if invoice.Withdrawn == withdrawnCustomer {
				invoice.open()
			}
		})
	}
	return nil
}

// followDueDate changes the invoice of the due date that the customer had
// before.
func (s *Service) followDueDate(ctx context.Context, tx account.Tx, c customer.Change) error {
	if c.Before.DueOn == c.After.DueOn && !repriced(c) {
		return nil
	}
	invoice, found, err := generatedFor(ctx, tx, c.Before, tx.Company.ID)
	if err != nil || !found || !invoice.follows() || c.LeaveOverdue && invoice.Overdue(tx.Today(tx.Now())) {
		return err
	}
	change := Change{Action: ActionUpdated, Before: invoice, After: invoice}
	if err := change.follow(ctx, tx, c); err != nil || change.After == change.Before {
		return err
	}
	return s.apply(ctx, tx, &change)
}

// followAhead changes the further invoices of a customer who was late: those of due
// dates after the one that was moved are withdrawn, since the dates that follow are
// others now; those that are not due yet take a new price.
func (s *Service) followAhead(ctx context.Context, tx account.Tx, c customer.Change) error {
	today, moved := tx.Today(tx.Now()), c.Before.DueOn != c.After.DueOn
	goesOn := tx.Company.Settings.OverdueInvoices > 0 && !c.Reversed
	if !goesOn || c.Before.DueOn.IsZero() || !c.Before.DueOn.Before(today) || !moved && !repriced(c) {
		return nil
	}
	return s.changeAll(ctx, tx, c.After, func(invoice *Invoice) {
		switch {
		case !invoice.further(c) || c.LeaveOverdue && invoice.Overdue(today):
		case moved:
			invoice.withdraw(withdrawnMoved)
		case today.Before(invoice.DueOn):
			invoice.followPrice(c.After)
		}
	})
}

// further reports whether an invoice that follows its customer is of a due date after
// the one that a change moves.
func (i Invoice) further(c customer.Change) bool {
	return i.Generated && !i.Superseded && i.follows() && i.IssuedFor.After(c.Before.DueOn) && i.IssuedFor != c.After.DueOn
}

// OverdueOf is the overdue invoice that moves with a customer's due date, unless the
// change leaves it. found is false when there is none.
func (s *Service) OverdueOf(
	ctx context.Context, actor account.Actor, record customer.Customer,
) (invoice Invoice, found bool, err error) {
	invoice, found, err = generatedFor(ctx, s.db, record, actor.Company.ID)
	return invoice, found && invoice.follows() && invoice.Overdue(actor.Today(s.db.Now())), err
}

// repriced reports whether the customer buys something else, or for another
// price.
func repriced(change customer.Change) bool {
	return change.Before.Plan.ID != change.After.Plan.ID || change.Before.Price() != change.After.Price()
}

// follow decides what becomes of the invoice of the due date that the customer
// had before.
func (c *Change) follow(ctx context.Context, tx account.Tx, owner customer.Change) error {
	if owner.Reversed {
		c.followBack(tx, owner)
		return nil
	}
	if err := c.followDate(ctx, tx, owner); err != nil {
		return err
	}
	// One that stays behind belongs to a due date that the customer has left.
	today := tx.Today(tx.Now())
	early := today.Before(owner.Before.DueOn) || today.Before(owner.After.DueOn)
	if !repriced(owner) || !early || c.After.IssuedFor != owner.After.DueOn || c.After.Withdrawn.revivable() {
		return nil
	}
	c.After.followPrice(owner.After)
	return nil
}

// followBack withdraws the invoice that a renewal brought, which is taken back. The
// customer who is late and gets further invoices keeps it, and so does one who paid
// another before it.
func (c *Change) followBack(tx account.Tx, owner customer.Change) {
	goesOn := tx.Company.Settings.OverdueInvoices > 0 && owner.After.DueOn.Before(tx.Today(tx.Now()))
	if !goesOn && !c.After.DueOn.Before(c.After.IssuedFor) {
		c.After.withdraw(WithdrawnUndone)
	}
}

// followDate moves the invoice to the customer's new due date. Where that has an
// open invoice, or one that will be opened for it, this one is withdrawn. Where
// it has one that was paid, or that a person cancelled, the purpose of this one
// is unknown: it stays.
func (c *Change) followDate(ctx context.Context, tx account.Tx, owner customer.Change) error {
	if owner.After.DueOn.IsZero() || owner.Before.DueOn == owner.After.DueOn {
		return nil
	}
	other, found, err := generatedFor(ctx, tx, owner.After, tx.Company.ID)
	switch {
	case err != nil:
		return err
	case !found:
		c.After.DueOn, c.After.IssuedFor = owner.After.DueOn, owner.After.DueOn
	case other.Status == Open || other.Withdrawn.revivable():
		c.After.withdraw(withdrawnMoved)
	}
	return nil
}

// followPrice has the invoice take the customer's new plan and price.
func (i *Invoice) followPrice(owner customer.Customer) {
	if !billable(owner) {
		i.withdraw(withdrawnFree)
		return
	}
	i.reprice(owner)
}

// billable reports whether the customer has something to pay for.
func billable(record customer.Customer) bool {
	return record.Plan.ID != 0 && record.Price() > 0
}

// changeAll applies a change to those invoices of a customer that it changes. None that
// has money on it is cancelled on the way: its own change of status says what becomes of that.
func (s *Service) changeAll(ctx context.Context, tx account.Tx, record customer.Customer, change func(*Invoice)) error {
	list, err := ofCustomer(ctx, tx, tx.Company.ID, record.ID)
	if err != nil {
		return err
	}
	for _, invoice := range list {
		made := Change{Action: ActionUpdated, Before: invoice, After: invoice}
		change(&made.After)
		if made.After == invoice {
			continue
		}
		if made.event() == event.InvoiceCancelled && invoice.Received > 0 {
			return fault.Field("money", fmt.Sprintf(
				"%s came for the invoice due on %s: cancel that by itself, or write off the rest, first", invoice.Received, invoice.DueOn))
		}
		if err := s.apply(ctx, tx, &made); err != nil {
			return err
		}
	}
	return nil
}

// reviveFor opens the invoice of a customer's due date again if the program
// withdrew it, for what the customer buys now. It was announced when it was
// issued, so there is no event.
func (s *Service) reviveFor(ctx context.Context, tx account.Tx, record customer.Customer) error {
	invoice, found, err := generatedFor(ctx, tx, record, tx.Company.ID)
	if err != nil || !found || !invoice.Withdrawn.revivable() {
		return err
	}
	change := Change{Action: ActionUpdated, Before: invoice, After: invoice}
	change.After.open()
	change.After.reprice(record)
	return s.apply(ctx, tx, &change)
}

// HoldTx has an open invoice and its customer be on time until the working day
// after the due date, for which a debit is arranged, inside the transaction of
// another use case: the invoice is due on that day. Both go back when from is that
// day and to the due date. What a person moved meanwhile stays.
func (s *Service) HoldTx(ctx context.Context, tx account.Tx, invoiceID int64, from, to civil.Date) error {
	before, owner, err := lock(ctx, tx, invoiceID)
	if err != nil {
		return err
	}
	if err := s.customers.HoldTx(ctx, tx, owner.ID, before.IssuedFor, to); err != nil {
		return err
	}
	if before.Status != Open || before.DueOn != from {
		return nil
	}
	change := Change{Action: ActionUpdated, Before: before, After: before, held: true}
	change.After.DueOn = to
	return s.apply(ctx, tx, &change)
}

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	return account.ReadKept(ctx, querier, []any{actor.Company.ID, subject.CustomerID},
		`SELECT id, status, amount_cents, description, due_on, paid_at, paid_on, paid_via, note, created_at, updated_at
			FROM invoices WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		`SELECT id, provider, payment_id, paid_via, invoice_id, customer_name, amount_cents, paid_at, paid_on, status, note, created_at
			FROM payments WHERE company_id = ? AND customer_id = ? ORDER BY id`,
		`SELECT id, payment_id, amount_cents, refunded_on, note, created_at FROM payment_refunds r WHERE company_id = ? AND EXISTS (
			SELECT 1 FROM payments p WHERE p.company_id = r.company_id AND p.id = r.payment_id AND p.customer_id = ?) ORDER BY id`)
}

// EraseTx takes what is said of the customer out of the audit lines of invoices
// and payments, and the name off payments. Invoices go with the customer; the
// money stays, since the law makes a company keep its books.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	for _, of := range []struct{ record, ids string }{
		{"invoice", `SELECT id FROM invoices WHERE company_id = ? AND customer_id = ?`},
		{"payment", `SELECT id FROM payments WHERE company_id = ? AND customer_id = ?`},
	} {
		ids, err := sqldb.Values[int64](ctx, tx, of.ids, tx.Company.ID, subject.CustomerID)
		if err != nil {
			return err
		}
		if err := account.EraseAuditTx(ctx, tx, of.record, ids...); err != nil {
			return err
		}
	}
	return errors.Join(
		tx.Do(ctx, `UPDATE payment_refunds SET note = '' WHERE company_id = ? AND payment_id IN (
			SELECT id FROM payments WHERE company_id = ? AND customer_id = ?)`, tx.Company.ID, tx.Company.ID, subject.CustomerID),
		tx.Do(ctx, `UPDATE payments SET customer_name = '', note = '' WHERE company_id = ? AND customer_id = ?`,
			tx.Company.ID, subject.CustomerID))
}
