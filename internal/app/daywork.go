package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/worker"
)

// DayWork does what the calendar asks for, in each company by the day of its calendar: it
// records due dates that have passed and issues invoices for those that are near,
// and stops the webhooks of companies whose subscription has ended. It looks only
// at companies that have a new day, or that a change has asked for. A company that
// fails, or over which the program panics, does not keep the others waiting.
func (a *App) DayWork(ctx context.Context) error {
	_, err := a.doDayWork(ctx)
	return err
}

// doDayWork returns of how many companies the day was found done.
func (a *App) doDayWork(ctx context.Context) (ended int, err error) {
	var failures []error
	for works, err := range a.Accounts.DayWorks(ctx) {
		done, err := a.dayWorkOf(ctx, works, err)
		failures = append(failures, err)
		ended += done
	}
	return ended, errors.Join(append(failures, a.Webhooks.Hold(ctx))...)
}

// dayWorkOf does the work of some companies, and writes down the day of those that
// have none left.
func (a *App) dayWorkOf(ctx context.Context, works []account.DayWork, err error) (ended int, _ error) {
	if err != nil {
		return 0, err
	}
	due, err := a.withWork(ctx, works)
	if err != nil {
		return 0, err
	}
	failures := a.workThrough(ctx, works, due)
	// Another process may be at some of it, and a failure leaves it undone.
	left, err := a.withWork(ctx, slices.DeleteFunc(slices.Clone(works), func(work account.DayWork) bool {
		return !due[work.Company.ID]
	}))
	if err != nil {
		return 0, errors.Join(append(failures, err)...)
	}
	ended, err = a.Accounts.EndDayWork(ctx, slices.DeleteFunc(works, func(work account.DayWork) bool {
		return left[work.Company.ID]
	}))
	return ended, errors.Join(append(failures, err)...)
}

// workThrough does the work of those companies that have some.
func (a *App) workThrough(ctx context.Context, works []account.DayWork, due map[int64]bool) (failures []error) {
	for _, work := range works {
		if !due[work.Company.ID] {
			continue
		}
		failures = append(failures, worker.Guard(ctx, func() error {
			_, err := a.Customers.Expire(ctx, work.Actor())
			return err
		}), worker.Guard(ctx, func() error {
			_, err := a.Billing.Issue(ctx, work.Actor())
			return err
		}))
	}
	return failures
}

// withWork finds those companies that have something due, by one statement for
// all that have the same day.
func (a *App) withWork(ctx context.Context, works []account.DayWork) (map[int64]bool, error) {
	byToday, byHorizon := map[civil.Date][]int64{}, map[civil.Date][]int64{}
	for _, work := range works {
		byToday[work.Today] = append(byToday[work.Today], work.Company.ID)
		horizon := work.Today.AddDays(work.Company.Settings.LeadDays)
		byHorizon[horizon] = append(byHorizon[horizon], work.Company.ID)
	}
	due := map[int64]bool{}
	if err := markDue(ctx, due, byToday, a.Customers.WithLapsed); err != nil {
		return nil, err
	}
	return due, markDue(ctx, due, byHorizon, a.Billing.WithScheduled)
}

// markDue marks the companies that a schedule finds, day by day.
func markDue(
	ctx context.Context,
	due map[int64]bool,
	byDay map[civil.Date][]int64,
	find func(context.Context, []int64, civil.Date) ([]int64, error),
) error {
	for day, companyIDs := range byDay {
		found, err := find(ctx, companyIDs, day)
		if err != nil {
			return err
		}
		for _, id := range found {
			due[id] = true
		}
	}
	return nil
}

// dayWork is the day's work in a sandbox, which chooses the instants for it.
type dayWork struct {
	app *App

	mu   sync.Mutex
	vain time.Time // when a look ended nothing though something was due
}

// next is when something is to be looked at. What a look at this very instant
// could not end waits for the next.
func (d *dayWork) next(ctx context.Context) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, midnight, err := d.app.Accounts.NextDayWork(ctx)
	if now := d.app.DB.Now(); due && !now.Equal(d.vain) {
		return now, err
	}
	return midnight, err
}

func (d *dayWork) run(ctx context.Context) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.app.DB.Now()
	ended, err := d.app.doDayWork(ctx)
	if d.vain = (time.Time{}); err == nil && ended == 0 {
		d.vain = now
	}
	return ended, err
}
