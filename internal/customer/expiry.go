package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// expiry is how far a customer is with the passing of its due date.
// customer.expired is recorded when a customer goes from not expired to
// expired, and never twice for one due date.
type expiry struct {
	// on is the due date that customer.expired is still to be recorded for once
	// it has passed, or the later day for which a debit is arranged; zero: there is
	// none.
	on civil.Date
	// expired says that it was recorded, or imported as such, and that the
	// customer has not been current since.
	expired bool
}

// after decides the expiry of a customer with a due date after a change. One
// who was expired and still is was recorded already: a payment that moves one
// past date to another must not cut off a customer who has just paid.
func (e expiry) after(dueOn, today civil.Date) expiry {
	switch {
	case dueOn.IsZero():
		return expiry{}
	case !dueOn.Before(today):
		return expiry{on: dueOn}
	case e.expired:
		return expiry{expired: true}
	}
	return expiry{on: dueOn}
}

// expires is the due date that counts for expiry; a cancelled customer has
// none.
func (c Customer) expires() civil.Date {
	if c.IsCancelled() {
		return civil.Date{}
	}
	return c.DueOn
}

// passedUnseen reports whether the due date of a customer has passed and no
// run of Expire has seen it yet.
func (c Customer) passedUnseen(today civil.Date) bool {
	return !c.expiry.on.IsZero() && c.onTimeThrough().Before(today)
}

// askToExpire has the company's day looked at when one of its customers expires so
// soon that the look of that day may be over already.
func askToExpire(ctx context.Context, tx account.Tx, customers ...Customer) error {
	later := tx.Today(tx.Now()).AddDays(account.LaterDays)
	for _, customer := range customers {
		if on := customer.expiry.on; !on.IsZero() && on.Before(later) {
			return account.AskDayWork(ctx, tx.Tx, tx.Company.ID)
		}
	}
	return nil
}

// settleExpiry sets the expiry of a customer that is about to be written. A
// renewal that leads from a past date to another past date records
// customer.expired for the first one, before customer.renewed: afterwards
// nothing would.
func (s *Service) settleExpiry(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Action == ActionHeld {
		return nil // it is what changes
	}
	today := tx.Today(tx.Now())
	if change.Action == ActionRenewed && change.Before.passedUnseen(today) && change.After.DueOn.Before(today) {
		passed := Change{Action: ActionExpired, Before: change.Before, After: change.Before}
		if err := s.apply(ctx, tx, &passed); err != nil {
			return err
		}
		change.Before.expiry, change.Before.recurring = passed.After.expiry, passed.After.recurring
	}
	if change.Before.held() && change.After.expires() == change.Before.DueOn {
		return nil // the debit is still arranged
	}
	change.After.expiry = change.Before.expiry.after(change.After.expires(), today)
	return nil
}

// HoldTx has a customer be on time until a day after the due date, for which a
// debit is arranged, inside another use case's transaction. The due date stays.
// Without a day the due date counts again.
func (s *Service) HoldTx(ctx context.Context, tx account.Tx, id int64, dueOn, until civil.Date) error {
	before, err := LockTx(ctx, tx, id)
	if err != nil || before.DueOn != dueOn || before.expiry.on.IsZero() {
		return err // deleted, moved, cancelled or expired meanwhile
	}
	change := Change{Action: ActionHeld, Before: before, After: before}
	change.After.expiry.on = later(until, dueOn)
	if change.After.expiry == before.expiry {
		return nil
	}
	return s.apply(ctx, tx, &change)
}

// expireBatch bounds one transaction of Expire.
const expireBatch = 100

// Expire records customer.expired for every due date of the company's
// customers that has passed, once per due date. It finds what is due through
// an index of those not yet recorded, so a run with nothing due costs one
// look; what was missed while no process ran is found by the next run, and any
// number of processes may run it at once. It returns how many it recorded.
func (s *Service) Expire(ctx context.Context, actor account.Actor) (int, error) {
	due, err := sqldb.Value[int64](ctx, s.db, anyLapsedText, actor.Company.ID, actor.Today(s.db.Now()).String())
	if err != nil || due == 0 {
		return 0, err
	}
	total := 0
	for found := expireBatch; found == expireBatch; {
		var recorded int
		err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
			found, recorded, err = s.expireBatch(ctx, tx)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("expire customers of company %d: %w", actor.Company.ID, err)
		}
		total += recorded
	}
	return total, nil
}

// WithLapsed returns those of the companies that have something for Expire to do
// on a day that all of them have. It takes one statement for any number of them.
func (s *Service) WithLapsed(ctx context.Context, companyIDs []int64, today civil.Date) ([]int64, error) {
	return sqldb.Values[int64](ctx, s.db, withLapsedText, companyIDs, today.String())
}

// NextDue is the next due date of the company after today; zero: there is none.
func (s *Service) NextDue(ctx context.Context, actor account.Actor) (day civil.Date, err error) {
	today := actor.Today(s.db.Now())
	text, err := sqldb.Value[string](ctx, s.db, `
		SELECT COALESCE(MIN(day), '') FROM (
			SELECT MIN(due_on) AS day FROM customers WHERE company_id = ? AND due_on > ? AND cancelled_at IS NULL AND `+Visible+`
			UNION ALL SELECT MIN(expiry_on) FROM customers WHERE company_id = ? AND expiry_on > due_on AND expiry_on > ? AND `+Visible+`
		) AS days`,
		actor.Company.ID, today.String(), actor.Company.ID, today.String())
	if err != nil || text == "" {
		return day, err
	}
	return civil.Parse(text)
}

// expireBatch returns how many customers have passed their due date, and for
// how many of them that was new.
func (s *Service) expireBatch(ctx context.Context, tx account.Tx) (found, recorded int, err error) {
	ids, err := sqldb.Values[int64](ctx, tx, lapsedText, tx.Company.ID, tx.Today(tx.Now()).String(), expireBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		first, err := s.expire(ctx, tx, id)
		if err != nil {
			return 0, 0, fmt.Errorf("customer %d: %w", id, err)
		}
		if first {
			recorded++
		}
	}
	return len(ids), recorded, nil
}

func (s *Service) expire(ctx context.Context, tx account.Tx, id int64) (first bool, err error) {
	customer, err := byID(ctx, tx, tx.Company.ID, id)
	if err != nil {
		return false, err
	}
	change := Change{Action: ActionExpired, Before: customer, After: customer}
	err = s.apply(ctx, tx, &change)
	return !change.recorded, err
}

// addRenewal reports whether this is the customer's first renewal of the
// month.
func addRenewal(ctx context.Context, tx account.Tx, id int64, month string) (bool, error) {
	count, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_renewals AS r (company_id, customer_id, month, n) VALUES (?, ?, ?, 1)
		ON CONFLICT (company_id, customer_id, month) DO UPDATE SET n = r.n + 1 RETURNING n`,
		tx.Company.ID, id, month)
	return count == 1, err
}

// removeRenewal takes one renewal of a month back. It reports whether it was
// the only one.
func removeRenewal(ctx context.Context, tx account.Tx, id int64, month string) (bool, error) {
	changed, err := tx.Exec(ctx, `
		DELETE FROM customer_renewals WHERE company_id = ? AND customer_id = ? AND month = ? AND n = 1`,
		tx.Company.ID, id, month)
	if err != nil || changed == 1 {
		return changed == 1, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE customer_renewals SET n = n - 1 WHERE company_id = ? AND customer_id = ? AND month = ?`,
		tx.Company.ID, id, month)
	return false, err
}

// lapsedText locks customers with a due date that has passed unrecorded, and
// skips those that another process has locked. expiry_on has an index of its own, without those who have none: as conditions
// on the due date PostgreSQL takes nearly all rows to meet them, and reads the
// table to find none.
const lapsedText = `SELECT id FROM customers WHERE company_id = ? AND expiry_on < ? AND ` + Visible + `
	ORDER BY expiry_on, id LIMIT ? {for update skip locked}`

// anyLapsedText keeps a run with nothing due away from the writer. The order keeps PostgreSQL from the table even where it expects many.
const anyLapsedText = `SELECT count(*) FROM (
	SELECT id FROM customers WHERE company_id = ? AND expiry_on < ? AND ` + Visible + ` ORDER BY expiry_on, id LIMIT 1) AS due`

const withLapsedText = `SELECT DISTINCT company_id FROM customers
	WHERE company_id {in ?} AND expiry_on < ? AND expiry_on IS NOT NULL AND ` + Visible + ` /* every company_id */`

// markExpired reports whether customer.expired is new for the due date.
func markExpired(ctx context.Context, tx account.Tx, customer Customer) (bool, error) {
	first, err := tx.Exec(ctx, `
		INSERT INTO customer_expiries (company_id, customer_id, due_on) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		tx.Company.ID, customer.ID, customer.DueOn)
	if err != nil {
		return false, err
	}
	args := append([]any{true}, customer.recurring.values()...)
	_, err = tx.Exec(ctx, `
		UPDATE customers SET expired = ?, expiry_on = NULL,
			mrr_cents = ?, mrr_month = ?, mrr_start_cents = ?, mrr_start_plan = ?, mrr_start_product = ?
		WHERE company_id = ? AND id = ?`, append(args, tx.Company.ID, customer.ID)...)
	return first == 1, err
}

// markImported writes down the due dates of imported customers who count as
// expired, as if customer.expired had been recorded for them.
func markImported(ctx context.Context, tx account.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_expiries (company_id, customer_id, due_on)
		SELECT company_id, id, due_on FROM customers WHERE company_id = ? AND id {in ?}`, tx.Company.ID, ids)
	return err
}
