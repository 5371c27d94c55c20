package reminder

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// timetable is what decides, beside a rule, when a message goes out.
type timetable struct {
	quiet Quiet
	zone  *time.Location
	now   time.Time
}

// replanAll moves what waits to the hours that a company's new time zone or
// quiet hours give it. Nothing is taken back: a message that waits for the
// morning goes out in the morning, whatever is changed in the night. The rules
// stay where they are among the due dates, and go on at once.
func (s *Service) replanAll(ctx context.Context, tx *sqldb.Tx, actor account.Actor, quiet Quiet) error {
	list, err := lockRules(ctx, tx, actor.Company.ID)
	if err != nil {
		return err
	}
	for _, rule := range list {
		err := moveWaiting(ctx, tx, actor, rule, timetable{quiet, actor.Company.Zone, tx.Now()})
		if err != nil {
			return err
		}
		if rule.On == OnPaid {
			continue
		}
		rule.planAt = tx.Now()
		if err := saveCursor(ctx, tx, actor.Company.ID, rule); err != nil {
			return err
		}
	}
	tx.OnCommit(s.wake.Hint)
	return nil
}

// restartAll has every rule of a company that may send again begin with the
// first due date whose message still lies ahead.
func (s *Service) restartAll(ctx context.Context, tx *sqldb.Tx, actor account.Actor, quiet Quiet) error {
	list, err := lockRules(ctx, tx, actor.Company.ID)
	if err != nil {
		return err
	}
	for _, rule := range list {
		if rule.On == OnPaid {
			continue
		}
		rule.restart(actor, quiet, tx.Now())
		if err := saveCursor(ctx, tx, actor.Company.ID, rule); err != nil {
			return err
		}
	}
	return nil
}

// moveWaiting moves the messages of a rule that wait for their hour: those of
// one due date together, and each that waits for another try, or is a receipt, by
// itself.
func moveWaiting(ctx context.Context, tx *sqldb.Tx, actor account.Actor, rule Rule, times timetable) error {
	if rule.On == OnDue {
		if err := moveDates(ctx, tx, actor, rule, times); err != nil {
			return err
		}
	}
	tries, err := waitingTries(ctx, tx, actor.Company.ID, rule.ID)
	if err != nil {
		return err
	}
	for _, try := range tries {
		try.at, try.late = times.from(try.at)
		if rule.On == OnPaid {
			try.late = receiptLate(try.at, times.zone)
		}
		if err := moveTry(ctx, tx, actor.Company.ID, try); err != nil {
			return err
		}
	}
	return nil
}

// moveDates moves the messages that were not tried, by their due dates.
func moveDates(ctx context.Context, tx *sqldb.Tx, actor account.Actor, rule Rule, times timetable) error {
	dates, err := waitingDates(ctx, tx, actor.Company.ID, rule.ID)
	if err != nil {
		return err
	}
	for _, dueOn := range dates {
		at, late := times.from(rule.own(dueOn, times.zone))
		err := moveDate(ctx, tx, actor.Company.ID, rule.ID, moved{dueOn: dueOn, at: at, late: late})
		if err != nil {
			return err
		}
	}
	return nil
}

// moved is a waiting message, or all of a due date, and its new hour.
type moved struct {
	id       int64
	dueOn    civil.Date
	at, late time.Time
}

// from is the first instant at which a message may go out whose hour is at,
// and when it is too late: when that day is over.
func (t timetable) from(at time.Time) (first, late time.Time) {
	first = t.quiet.after(maxTime(at, t.now), t.zone)
	return first, civil.Of(first.In(t.zone)).AddDays(1).Start(t.zone)
}
