package billing

import (
	"context"
	"fmt"
	"slices"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// The schedule has the due dates without an invoice. It is what the generator
// has still to do, not a record: its rows are written without apply, and leave
// neither audit lines nor events.

// customersChanged bills new customers at once for their first due date, keeps
// the schedule of the others true, and removes what belongs to a deleted one.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	actor := changed.Actor
	var imported []customer.Customer
	for _, change := range changed.List {
		var err error
		switch change.Action {
		case customer.ActionCreated:
			err = s.issueFirst(ctx, actor.In(tx), change.After)
		case customer.ActionImported:
			imported = append(imported, change.After)
		case customer.ActionDeleted:
			err = s.customerDeleting(ctx, actor.In(tx), change.Before)
		default:
			err = s.customerChanged(ctx, actor.In(tx), change)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, actor.In(tx), imported)
}

// customersImported adds the due dates of imported customers to the schedule,
// but not those that have passed: what happened before the import is not billed.
func (s *Service) customersImported(ctx context.Context, tx account.Tx, list []customer.Customer) error {
	today := tx.Today(tx.Now())
	return schedule(ctx, tx, slices.DeleteFunc(slices.Clone(list), func(record customer.Customer) bool {
		return record.Plan.ID == 0 || record.DueOn.IsZero() || record.DueOn.Before(today) || record.IsCancelled()
	})...)
}

// customerChanged has invoices follow a customer that was changed, but not one
// that was renewed, and keeps the schedule true.
func (s *Service) customerChanged(ctx context.Context, tx account.Tx, change customer.Change) error {
	if err := customerMoved(ctx, tx, change); err != nil {
		return err
	}
	if change.Action == customer.ActionUpdated {
		if err := s.follow(ctx, tx, change); err != nil {
			return err
		}
	}
	return s.reschedule(ctx, tx, change)
}

// reschedule adds the due date of a customer to the schedule when it is to be
// billed, and removes it when there is nothing to bill.
func (s *Service) reschedule(ctx context.Context, tx account.Tx, change customer.Change) error {
	before, after := change.Before, change.After
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID && before.Price() == after.Price() &&
		before.IsCancelled() == after.IsCancelled() {
		return nil
	}
	if after.IsCancelled() || after.DueOn.IsZero() || after.Plan.ID == 0 {
		return unschedule(ctx, tx, after.ID)
	}
	issued, found, err := generatedFor(ctx, tx, after, tx.Company.ID)
	if err != nil {
		return err
	}
	if found && !issued.Withdrawn.revivable() {
		return unschedule(ctx, tx, after.ID)
	}
	return schedule(ctx, tx, after)
}

// planRepriced bills the present due dates of customers on a plan that was free
// and now has a price.
func (s *Service) planRepriced(ctx context.Context, tx *sqldb.Tx, repriced customer.Repriced) error {
	if !repriced.WasFree {
		return nil
	}
	if err := insertRepriced(ctx, tx, repriced); err != nil {
		return err
	}
	return account.AskDayWork(ctx, tx, repriced.Actor.Company.ID)
}

// schedule adds due dates to the schedule, and has the company's day looked at
// when one is to be billed so soon that the look of that day may be over already.
func schedule(ctx context.Context, tx account.Tx, customers ...customer.Customer) error {
	if len(customers) == 0 {
		return nil
	}
	if err := insertScheduled(ctx, tx, customers); err != nil {
		return err
	}
	first := customers[0].DueOn
	for _, record := range customers {
		if record.DueOn.Before(first) {
			first = record.DueOn
		}
	}
	return account.AskDayWorkFrom(ctx, tx, first)
}

// customerDeleting deletes what belongs to a customer.
func (s *Service) customerDeleting(ctx context.Context, tx account.Tx, record customer.Customer) error {
	if err := unschedule(ctx, tx, record.ID); err != nil {
		return err
	}
	if err := forgetDebt(ctx, tx, record.ID); err != nil {
		return err
	}
	list, err := ofCustomer(ctx, tx, tx.Company.ID, record.ID)
	if err != nil {
		return err
	}
	deleted := make([]Change, len(list))
	for n, invoice := range list {
		deleted[n] = Change{Action: ActionDeleted, Before: invoice}
	}
	return s.applyDeletion(ctx, tx, deleted)
}

// A customer who is late keeps the due date until it is paid, so no further invoice
// would be issued. A company may choose to go on billing: the customer then gets the
// invoices of the due dates that would follow, up to a number of open ones. The
// customer is expired all the same, and each payment renews by one period.

// latePayer is a customer who is late and gets further invoices.
type latePayer struct {
	customerID int64
	dueOn      civil.Date
	ownDay     int
	period     civil.Period
	last       civil.Date // of the due dates that have an invoice
}

// next is the first due date without an invoice, not before the day since which the
// company goes on billing; zero: the calendar has none.
func (l latePayer) next(since civil.Date) civil.Date {
	due := l.dueOn
	for !due.After(l.last) || due.Before(since) {
		var err error
		if due, err = l.period.After(due, l.ownDay); err != nil {
			return civil.Date{}
		}
	}
	return due
}

// nextUntil reports whether next is within the horizon.
func (l latePayer) nextUntil(since, until civil.Date) (civil.Date, bool) {
	next := l.next(since)
	return next, !next.IsZero() && !next.After(until)
}

// issueOverdue issues the further invoices of customers who are late.
func (s *Service) issueOverdue(ctx context.Context, actor account.Actor, until civil.Date) (total int, err error) {
	settings := actor.Company.Settings
	if settings.OverdueInvoices == 0 {
		return 0, nil
	}
	list, err := lateCustomers(ctx, s.db, actor, actor.Today(s.db.Now()), 0)
	if err != nil {
		return 0, err
	}
	for _, found := range list {
		_, due := found.nextUntil(settings.OverdueSince, until)
		for ; due; total++ {
			err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
				due, err = s.issueNext(ctx, tx, found.customerID, until)
				return err
			})
			if err != nil {
				return total, fmt.Errorf("customer %d: %w", found.customerID, err)
			}
			if !due {
				break
			}
		}
	}
	return total, nil
}

// issueNext issues the next invoice of a customer, or opens it again, if the
// customer is late still.
func (s *Service) issueNext(ctx context.Context, tx account.Tx, customerID int64, until civil.Date) (due bool, err error) {
	if err := catalog.HoldPlans(ctx, tx); err != nil {
		return false, err
	}
	record, err := customer.LockTx(ctx, tx, customerID)
	if fault.KindOf(err) == fault.KindNotFound {
		return false, nil
	}
	today := tx.Today(tx.Now())
	if err != nil || record.Status(today) != customer.Expired {
		return false, err
	}
	found, err := lateCustomers(ctx, tx, tx.Actor, today, customerID)
	if err != nil || len(found) == 0 {
		return false, err
	}
	next, due := found[0].nextUntil(tx.Company.Settings.OverdueSince, until)
	if !due || !toBill(record) {
		return false, nil
	}
	record.DueOn = next
	_, err = s.issueFor(ctx, tx, record)
	return true, err
}

// lateText finds customers with an open invoice of a due date that has passed, and
// fewer open ones of later dates than the company has chosen. What the program
// withdrew will be opened again, and is as none.
const lateText = `SELECT c.id, c.due_on, c.own_day, p.period_unit, p.period_count, MAX(i.issued_for)
	FROM customers c JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	JOIN invoices i ON i.company_id = c.company_id AND i.customer_id = c.id AND i.generated AND NOT i.superseded
		AND i.issued_for >= c.due_on AND NOT (i.status = 'cancelled' AND i.withdrawn IN ('free', 'moved', 'undone'))
	WHERE c.company_id = ? AND c.due_on < ? AND c.cancelled_at IS NULL AND (? = 0 OR c.id = ?) AND ` + customer.VisibleC + `
	GROUP BY c.id, c.due_on, c.own_day, p.period_unit, p.period_count
	HAVING SUM(CASE WHEN i.issued_for = c.due_on AND i.status = 'open' THEN 1 ELSE 0 END) = 1
		AND SUM(CASE WHEN i.issued_for > c.due_on AND i.status = 'open' THEN 1 ELSE 0 END) < ?
	ORDER BY c.id`

// lateCustomers finds the customers who are to get a further invoice; only one if
// its id is given.
func lateCustomers(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, today civil.Date, customerID int64,
) ([]latePayer, error) {
	return sqldb.All(ctx, querier, rows.Into(func(found *latePayer) []any {
		return []any{&found.customerID, &found.dueOn, &found.ownDay, (*string)(&found.period.Unit), &found.period.Count, &found.last}
	}), lateText, actor.Company.ID, today, customerID, customerID, actor.Company.Settings.OverdueInvoices)
}
