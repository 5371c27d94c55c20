package customer

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
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
func (s *Service) Renew(ctx context.Context, actor account.Actor, id int64) (Renewal, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Renewal, error) { return s.RenewTx(ctx, tx, id) })
}

// MaxPeriods is how many periods a customer can be renewed by at once.
const MaxPeriods = 36

// RenewTx is Renew inside another use case's transaction.
func (s *Service) RenewTx(ctx context.Context, tx account.Tx, id int64) (Renewal, error) {
	before, err := LockTx(ctx, tx, id)
	if err == nil {
		err = CanRenew(before)
	}
	if err != nil {
		return Renewal{}, err
	}
	renewal, err := PrepareExtension(tx.Actor, before, Extension{Period: before.period, On: tx.Today(tx.Now())})
	if err != nil {
		return Renewal{}, err
	}
	err = s.ApplyRenewalTx(ctx, tx, &renewal)
	return renewal, err
}

// CanRenew says why a person cannot renew a customer: nil when one can.
func CanRenew(record Customer) error {
	switch {
	case record.IsCancelled():
		return fault.Field("cancelled", "the customer is cancelled; take it back to renew it")
	case record.Plan.ID == 0:
		return fault.Field("plan_id", "the customer has no plan; set one to renew by its period")
	}
	return nil
}

// PrepareExtension computes an extension and writes nothing. It counts from the
// due date; from the day of the extension where there is none, or where it had
// passed by that day and the company counts so.
func PrepareExtension(actor account.Actor, before Customer, extension Extension) (Renewal, error) {
	after := before
	lapsed := before.onTimeThrough().Before(extension.On) && actor.Company.Settings.RenewFrom == account.FromToday
	if before.DueOn.IsZero() || lapsed {
		after.DueOn, after.OwnDay = extension.On, extension.On.Day()
	}
	err := after.extend(extension.Period, after.DueOn, after.OwnDay)
	return Renewal{Customer: after, Previous: before.DueOn, before: before, on: extension.On}, err
}

// ApplyRenewalTx makes a renewal that the same transaction has prepared.
func (s *Service) ApplyRenewalTx(ctx context.Context, tx account.Tx, renewal *Renewal) error {
	change := Change{Action: ActionRenewed, Before: renewal.before, After: renewal.Customer, on: renewal.on}
	err := s.apply(ctx, tx, &change)
	renewal.Customer = change.After
	return err
}

// extend sets the due date one period after a day. Months and years return to
// the own day of the month; days and weeks make a new one.
func (c *Customer) extend(period civil.Period, from civil.Date, ownDay int) error {
	due, err := period.After(from, ownDay)
	if err != nil { // callers tell civil.ErrOverflow apart
		return errors.Join(fault.Field("data_de_vencimento", err.Error()), err)
	}
	if period.Unit == civil.Day || period.Unit == civil.Week {
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
func (s *Service) ReverseRenewalTx(ctx context.Context, tx account.Tx, id int64, reversal Reversal) (Customer, error) {
	before, err := LockTx(ctx, tx, id)
	if err != nil {
		return before, err
	}
	change := Change{Action: ActionUpdated, Before: before, After: before, Reversed: true}
	change.After.DueOn, change.After.OwnDay = reversal.DueOn, reversal.OwnDay
	if err := s.apply(ctx, tx, &change); err != nil {
		return change.After, err
	}
	month := monthOf(reversal.On)
	last, err := removeRenewal(ctx, tx, id, month)
	if err != nil || !last {
		return change.After, err
	}
	return change.After, renewals.Add(ctx, tx.Tx, tx.Company.ID, tally.Change{N: -1, Key: tally.Key{Day: month}})
}

// renewals counts, by month, the customers who were renewed in it.
const renewals = tally.Renewals

func monthOf(day civil.Date) string {
	return fmt.Sprintf("%04d-%02d", day.Year(), day.Month())
}

// FindTx reads a customer inside another use case's transaction.
func FindTx(ctx context.Context, tx account.Tx, id int64) (Customer, error) {
	return FindIn(ctx, tx, tx.Actor, id)
}

// FindIn reads a customer for another room, in a transaction or outside of one.
func FindIn(ctx context.Context, querier sqldb.Querier, actor account.Actor, id int64) (Customer, error) {
	return byID(ctx, querier, actor.Company.ID, id)
}
