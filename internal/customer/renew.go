package customer

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Renewal is a renewed customer and the due date it had before.
type Renewal struct {
	Customer
	Previous civil.Date

	before Customer
	on     civil.Date // the day on which it counts
}

// Extension is by how much a due date moves forward, and on which day that
// counts: the day of a payment, which may lie before the day on which it is
// found.
type Extension struct {
	Period civil.Period
	On     civil.Date
}

// Renew moves the due date forward by the period of the customer's plan.
func (s *Service) Renew(ctx context.Context, a account.Actor, id int64) (Renewal, error) {
	var r Renewal
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		r, err = s.RenewTx(ctx, tx, a, id)
		return err
	})
	return r, err
}

// MaxPeriods is how many periods a customer can be renewed by at once.
const MaxPeriods = 60

// ReadPeriods reads how many periods a form asks for; one unless it says.
func ReadPeriods(in *input.Form) (int64, error) {
	periods := in.Int("periods", 1, MaxPeriods)
	return periods.Or(1), in.Err()
}

// RenewTimes renews by several periods at once: all of them or none. It
// records each, as if Renew had been called so often, and returns the due date
// that the customer had before the first.
func (s *Service) RenewTimes(ctx context.Context, a account.Actor, id, periods int64) (Renewal, error) {
	var r Renewal
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		for n := range periods {
			step, err := s.RenewTx(ctx, tx, a, id)
			if err != nil {
				return err
			}
			if n > 0 {
				step.Previous = r.Previous
			}
			r = step
		}
		return nil
	})
	return r, err
}

// RenewTx is Renew inside another use case's transaction.
func (s *Service) RenewTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (Renewal, error) {
	before, err := lock(ctx, tx, a.Company.ID, id)
	if err != nil {
		return Renewal{}, err
	}
	r, err := PrepareRenewalTx(ctx, tx, a, before)
	if err != nil {
		return Renewal{}, err
	}
	return r, s.ApplyRenewalTx(ctx, tx, a, &r)
}

// ExtendTx moves the due date forward by an extension inside another use case's
// transaction. A date past the end of the calendar is civil.ErrOverflow, and
// nothing has been written then.
func (s *Service) ExtendTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, e Extension) (Renewal, error) {
	before, err := lock(ctx, tx, a.Company.ID, id)
	if err != nil {
		return Renewal{}, err
	}
	r, err := PrepareExtension(a, before, e)
	if err != nil {
		return Renewal{}, err
	}
	return r, s.ApplyRenewalTx(ctx, tx, a, &r)
}

// PrepareRenewalTx computes the renewal of a customer that the transaction has
// locked, by the period of its plan and as of today, and writes nothing: a
// payment must know what it renews before its own change is written, and
// invoice.paid comes before customer.renewed.
func PrepareRenewalTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, before Customer) (Renewal, error) {
	if before.Plan.ID == 0 {
		return Renewal{}, fault.Field("plan_id", "the customer has no plan; set one to renew by its period")
	}
	plan, err := catalog.FindPlan(ctx, tx, a, before.Plan.ID)
	if err != nil {
		return Renewal{}, err
	}
	return PrepareExtension(a, before, Extension{Period: plan.Period, On: a.Today(tx.Now())})
}

// PrepareExtension computes an extension and writes nothing. It counts from the
// due date; from the day of the extension where there is none, or where it had
// passed by that day and the company counts so.
func PrepareExtension(a account.Actor, before Customer, e Extension) (Renewal, error) {
	after := before
	lapsed := before.DueOn.Before(e.On) && a.Company.Settings.RenewFrom == account.FromToday
	if before.DueOn.IsZero() || lapsed {
		after.DueOn, after.OwnDay = e.On, e.On.Day()
	}
	err := after.extend(e.Period, after.DueOn, after.OwnDay)
	return Renewal{Customer: after, Previous: before.DueOn, before: before, on: e.On}, err
}

// ApplyRenewalTx makes a renewal that the same transaction has prepared.
func (s *Service) ApplyRenewalTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, r *Renewal) error {
	c := Change{Action: ActionRenewed, Before: r.before, After: r.Customer, on: r.on}
	err := s.apply(ctx, tx, a, &c)
	r.Customer = c.After
	return err
}

// extend sets the due date one period after a day. Months and years return to
// the own day of the month; days and weeks make a new one.
func (c *Customer) extend(p civil.Period, from civil.Date, ownDay int) error {
	due, err := p.After(from, ownDay)
	if err != nil { // callers tell civil.ErrOverflow apart
		return errors.Join(fault.Field("data_de_vencimento", err.Error()), err)
	}
	if p.Unit == civil.Day || p.Unit == civil.Week {
		ownDay = due.Day()
	}
	c.DueOn, c.OwnDay = due, ownDay
	return nil
}

// Reversal says where a due date goes back to when a renewal is taken back.
type Reversal struct {
	DueOn  civil.Date
	OwnDay int
	On     civil.Date // the day on which the renewal counted
}

// ReverseRenewalTx takes a renewal back inside another use case's transaction:
// the due date, and the customer's place among those renewed in the month when
// no other renewal of that month is left.
func (s *Service) ReverseRenewalTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, r Reversal) (Customer, error) {
	c, err := s.setDue(ctx, tx, a, id, r)
	if err != nil {
		return c, err
	}
	month := monthOf(r.On)
	last, err := removeRenewal(ctx, tx, a.Company.ID, id, month)
	if err != nil || !last {
		return c, err
	}
	return c, renewals.Add(ctx, tx, a.Company.ID, tally.Change{N: -1, Key: tally.Key{Day: month}})
}

// renewals counts, by month, the customers who were renewed in it.
const renewals = tally.Renewals

func monthOf(d civil.Date) string { return fmt.Sprintf("%04d-%02d", d.Year(), d.Month()) }

// SetDueTx gives a customer another due date inside another use case's
// transaction, as an update would.
func (s *Service) SetDueTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, dueOn civil.Date, ownDay int) (Customer, error) {
	return s.setDue(ctx, tx, a, id, Reversal{DueOn: dueOn, OwnDay: ownDay})
}

// setDue gives a customer another due date. One with the day of a renewal takes
// that renewal back.
func (s *Service) setDue(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64, r Reversal) (Customer, error) {
	before, err := lock(ctx, tx, a.Company.ID, id)
	if err != nil {
		return before, err
	}
	c := Change{Action: ActionUpdated, Before: before, After: before, Reversed: !r.On.IsZero()}
	c.After.DueOn, c.After.OwnDay = r.DueOn, r.OwnDay
	err = s.apply(ctx, tx, a, &c)
	return c.After, err
}

// LockTx reads a customer for a change inside another use case's transaction.
func LockTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (Customer, error) {
	return lock(ctx, tx, a.Company.ID, id)
}

// FindTx reads a customer inside another use case's transaction.
func FindTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) (Customer, error) {
	return byID(ctx, tx, a.Company.ID, id)
}
