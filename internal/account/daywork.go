package account

import (
	"context"
	"fmt"
	"iter"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Each day of its calendar brings a company work: due dates have passed, invoices are
// to be issued. To ask every company would be slow. A company's row has the last day
// on which all work was found done, and an index by zone finds those that have
// another day by now. A change that brings work for a day that is done asks for it by
// itself, in its own transaction. So a look costs the number of zones in use plus the
// work itself.

// dayBatch is how many companies are looked at together.
const dayBatch = 500

// DayWork is a company with a day to be looked at.
type DayWork struct {
	Company Company
	Today   civil.Date

	asked []int64 // what was asked for by changes, which is answered with it
}

// Actor is the program at that work.
func (w DayWork) Actor() Actor { return System(w.Company, "day work") }

// LaterDays is by how many days the day of a look can be later than the day of a
// change that it does not see: midnight may pass before the change is committed,
// and the company may have moved to a zone further east since the actor was read.
// What becomes due within them is asked for as well.
const LaterDays = 2

// AskDayWork has a company looked at though its day was found done. It belongs
// in the transaction that brings the work.
func AskDayWork(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	return tx.Do(ctx, `INSERT INTO day_work_asked (company_id) VALUES (?)`, companyID)
}

// AskDayWorkFrom is AskDayWork for due dates that are to be billed, of which first
// is the earliest.
func AskDayWorkFrom(ctx context.Context, tx Tx, first civil.Date) error {
	later := tx.Today(tx.Now()).AddDays(LaterDays)
	if first.After(later.AddDays(maxLeadDays)) {
		return nil
	}
	leadDays, err := holdLeadDays(ctx, tx) // the actor's may be out of date
	if err != nil || first.After(later.AddDays(leadDays)) {
		return err
	}
	return AskDayWork(ctx, tx.Tx, tx.Company.ID)
}

// DayWorks finds the companies with a day to be looked at, some at a time. One
// for which EndDayWork is not called is found again by the next look.
func (s *Service) DayWorks(ctx context.Context) iter.Seq2[[]DayWork, error] {
	return func(yield func([]DayWork, error) bool) {
		if s.eachNewDay(ctx, yield) {
			s.eachAsked(ctx, yield)
		}
	}
}

// NextDayWork reports whether any company has work to be looked at, and when the
// next day of any of them begins; zero: there is no company.
func (s *Service) NextDayWork(ctx context.Context) (due bool, midnight time.Time, err error) {
	if due, err = anyAsked(ctx, s.db); err != nil {
		return false, midnight, err
	}
	now := s.db.Now()
	zones, err := zonesInUse(ctx, s.db)
	for _, used := range zones {
		zone, err := civil.LoadZone(used.name)
		if err != nil {
			return false, midnight, fmt.Errorf("zone %s: %w", used.name, err)
		}
		today := civil.Of(now.In(zone))
		due = due || !used.done(today)
		if at := today.AddDays(1).Start(zone); midnight.IsZero() || at.Before(midnight) {
			midnight = at
		}
	}
	return due, midnight, err
}

// zoneInUse is a time zone that some company has, with the first and the last of
// the days that were found done there.
type zoneInUse struct{ name, first, last string }

// done reports whether every company of the zone has the day behind it.
func (z zoneInUse) done(today civil.Date) bool {
	return z.first == today.String() && z.last == today.String()
}

// eachNewDay finds the companies that have another day than the one found done.
// A day that lies ahead counts too: the clock was wrong, and has been set right.
func (s *Service) eachNewDay(ctx context.Context, yield func([]DayWork, error) bool) bool {
	zones, err := zonesInUse(ctx, s.db)
	if err != nil {
		return yield(nil, err)
	}
	for _, used := range zones {
		zone, err := civil.LoadZone(used.name)
		if err != nil { // keeps no other zone waiting
			if !yield(nil, fmt.Errorf("zone %s: %w", used.name, err)) {
				return false
			}
			continue
		}
		today := civil.Of(s.db.Now().In(zone))
		if used.done(today) {
			continue
		}
		for _, part := range otherDays(used.name, today) {
			if !s.eachUndone(ctx, part, today, yield) {
				return false
			}
		}
	}
	return true
}

// undone is a part of the companies of a zone: those with a day after one place
// in the index, and before another day.
type undone struct {
	zone     string
	afterDay string
	afterID  int64
	before   string
}

// otherDays are all companies of a zone that have not found this day done.
func otherDays(zone string, today civil.Date) []undone {
	const lastID, lastDay = 1<<63 - 1, "~"
	return []undone{
		{zone: zone, before: today.String()},
		{zone: zone, afterDay: today.String(), afterID: lastID, before: lastDay},
	}
}

func (s *Service) eachUndone(ctx context.Context, part undone, today civil.Date, yield func([]DayWork, error) bool) bool {
	for {
		var works []DayWork
		err := part.each(ctx, s.db, dayBatch, func(company Company) {
			works = append(works, DayWork{Company: company, Today: today})
		})
		if err != nil {
			return yield(nil, err)
		}
		if len(works) > 0 && !yield(works, nil) {
			return false
		}
		if len(works) < dayBatch {
			return true
		}
	}
}

// eachAsked finds the companies that a change has asked for.
func (s *Service) eachAsked(ctx context.Context, yield func([]DayWork, error) bool) {
	for after := int64(0); ; {
		asked, err := sqldb.All(ctx, s.db, rows.Into(func(asked *askedRow) []any {
			return []any{&asked.id, &asked.companyID}
		}), askedText, after, dayBatch)
		if err != nil || len(asked) == 0 {
			if err != nil {
				yield(nil, err)
			}
			return
		}
		works, err := s.askedWorks(ctx, asked)
		if !yield(works, err) {
			return
		}
		after = asked[len(asked)-1].id
	}
}

func (s *Service) askedWorks(ctx context.Context, asked []askedRow) ([]DayWork, error) {
	wanted := map[int64][]int64{}
	var ids []int64
	for _, row := range asked {
		if wanted[row.companyID] == nil {
			ids = append(ids, row.companyID)
		}
		wanted[row.companyID] = append(wanted[row.companyID], row.id)
	}
	list, err := sqldb.All(ctx, s.db, scanCompany,
		`SELECT `+CompanyColumns+` FROM companies c WHERE c.id {in ?} ORDER BY c.id`, ids)
	works := make([]DayWork, len(list))
	for i, company := range list {
		works[i] = DayWork{Company: company, asked: wanted[company.ID]}
		works[i].Today = works[i].Actor().Today(s.db.Now())
	}
	return works, err
}

// EndDayWork writes down that the work of a day was found done. A company that
// has changed since it was looked at, that has another day by now, or that
// another transaction has locked, is found again by the next look. It returns
// how many are done.
func (s *Service) EndDayWork(ctx context.Context, list []DayWork) (ended int, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (ended int, err error) {
		days, err := unchanged(ctx, tx, list)
		if err != nil {
			return ended, err
		}
		for today, works := range days {
			ended += len(works)
			if err := endDay(ctx, tx, today, works); err != nil {
				return ended, err
			}
		}
		return ended, nil
	})
}

// unchanged locks the companies that still have the day that was looked at, by
// day.
func unchanged(ctx context.Context, tx *sqldb.Tx, list []DayWork) (map[civil.Date][]DayWork, error) {
	ids := make([]int64, len(list))
	for i, work := range list {
		ids[i] = work.Company.ID
	}
	// Those that another transaction has locked are left to it.
	locked, err := sqldb.All(ctx, tx, scanCompany, `
		SELECT `+CompanyColumns+` FROM companies c WHERE c.id {in ?} ORDER BY c.id {for no key update skip locked}`, ids)
	if err != nil {
		return nil, err
	}
	now := make(map[int64]Company, len(locked))
	for _, company := range locked {
		now[company.ID] = company
	}
	days := map[civil.Date][]DayWork{}
	for _, work := range list {
		company, found := now[work.Company.ID]
		if found && work.holdsFor(company, tx.Now()) {
			days[work.Today] = append(days[work.Today], work)
		}
	}
	return days, nil
}

// holdsFor reports whether a company as it is now has the same work as when it
// was looked at.
func (w DayWork) holdsFor(company Company, now time.Time) bool {
	return company.Zone.String() == w.Company.Zone.String() &&
		company.Settings.LeadDays == w.Company.Settings.LeadDays &&
		company.Settings.OverdueInvoices == w.Company.Settings.OverdueInvoices &&
		System(company, "").Today(now) == w.Today
}

func endDay(ctx context.Context, tx *sqldb.Tx, today civil.Date, works []DayWork) error {
	var ids, asked []int64
	for _, work := range works {
		ids = append(ids, work.Company.ID)
		asked = append(asked, work.asked...)
	}
	if err := setDayDone(ctx, tx, today, ids); err != nil || len(asked) == 0 {
		return err
	}
	return tx.Do(ctx, `DELETE FROM day_work_asked WHERE id {in ?} /* every company_id */`, asked)
}
