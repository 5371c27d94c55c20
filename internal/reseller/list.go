package reseller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
)

// Filter chooses resellers; the zero Filter chooses all.
type Filter struct {
	Search      string
	Level       account.Level    // "": any
	Status      account.Standing // "": any
	PlanID      int64
	ExpiresFrom civil.Date
	ExpiresTo   civil.Date
}

// ReadFilter reads a Filter from a query. Wrong values are left to in.Err.
func ReadFilter(in *input.Form) Filter {
	return Filter{
		Search:      in.Text("search", maxName).Value,
		Level:       choice(in, "level", account.Levels),
		Status:      choice(in, "status", account.Standings),
		PlanID:      in.ID("plan_id").Value,
		ExpiresFrom: in.Date("expires_from").Value,
		ExpiresTo:   in.Date("expires_to").Value,
	}
}

func choice[T ~string](in *input.Form, name string, allowed []T) T {
	return input.OneOf(in, name, allowed...).Value
}

// listed counts the children of a company.
const listed = tally.Resellers

// table is the list of a company's resellers. A reseller without an end of
// subscription comes after all days.
var table = listing.Table[Reseller]{
	From: "companies c", ID: "c.id", Owner: "c.parent_id", Columns: columns, Joins: joins, Scan: scan,
	RowID: func(reseller Reseller) int64 { return reseller.ID },
	Orders: map[string]listing.Order{
		input.ByName:   {Column: "c.name_key"},
		input.ByExpiry: {Column: "COALESCE(c.expires_on, '" + input.Never + "')"},
	},
	Texts: listing.Texts{Text: "c.search"},
	Refs: func(ctx context.Context, querier sqldb.Querier, _ int64, page []Reseller) error {
		return addCustomers(ctx, querier, page)
	},
}

// List returns a page of the company's resellers, and how many there are: newest
// first, or by name or by the end of the subscription where the page asks for it.
func (s *Service) List(ctx context.Context, actor account.Actor, filter Filter, page input.Page) ([]Reseller, int64, error) {
	query, err := s.query(ctx, actor, filter)
	if err != nil {
		return nil, 0, err
	}
	return table.Page(ctx, s.db, query, page)
}

// Walk calls visit for every reseller of a filter, newest first.
func (s *Service) Walk(ctx context.Context, actor account.Actor, filter Filter, visit func(Reseller) error) error {
	query, err := s.query(ctx, actor, filter)
	if err != nil {
		return err
	}
	return table.Each(ctx, s.db, query, visit)
}

// query is what the table is asked for. The counter knows the total of any filter.
func (s *Service) query(ctx context.Context, actor account.Actor, filter Filter) (listing.Query, error) {
	query := listing.Query{CompanyID: actor.Company.ID, Search: listing.TermsOf(filter.Search, text.Digits)}
	var days []day
	if filter.Level != "" || filter.Status != "" {
		var err error
		if days, err = s.days(ctx, actor, filter); err != nil {
			return query, err
		}
	}
	filter.where(&query.Where, days)
	query.Total = func(ctx context.Context) (int64, error) {
		if filter == (Filter{}) {
			return listed.Total(ctx, s.db, actor.Company.ID)
		}
		count, _, err := listed.Sum(ctx, s.db, actor.Company.ID, filter.keys(days))
		return count, err
	}
	return query, nil
}

// day is one of the days that it is now among the company's resellers, each of
// which goes by its own calendar: one most of the time, two or three around
// midnight where they are far apart.
type day struct {
	today  civil.Date
	zones  []string
	states []string // of the counter, as far as the filter wants them
}

// days sorts the states of the counter that the filter wants by what day it is
// there. There are few: levels, kinds and time zones that occur.
func (s *Service) days(ctx context.Context, actor account.Actor, filter Filter) ([]day, error) {
	states, err := tally.By[string](ctx, s.db, listed, actor.Company.ID, "state", tally.Filter{Days: []tally.Days{{}}})
	if err != nil {
		return nil, err
	}
	now, byDay := s.db.Now(), map[civil.Date]*day{}
	for stored := range states {
		state, err := account.ParseCountedState(stored)
		if err != nil {
			return nil, err
		}
		zone, err := civil.LoadZone(state.Zone)
		if err != nil {
			return nil, fmt.Errorf("zone of %q: %w", stored, err)
		}
		if !filter.wants(state) {
			continue
		}
		today := civil.Of(now.In(zone))
		if byDay[today] == nil {
			byDay[today] = &day{today: today}
		}
		day := byDay[today]
		day.states = append(day.states, stored)
		if !slices.Contains(day.zones, state.Zone) {
			day.zones = append(day.zones, state.Zone)
		}
	}
	list := make([]day, 0, len(byDay))
	for _, day := range byDay {
		slices.Sort(day.states)
		slices.Sort(day.zones)
		list = append(list, *day)
	}
	slices.SortFunc(list, func(x, y day) int {
		return strings.Compare(x.today.String(), y.today.String())
	})
	return list, nil
}

// wants reports whether resellers in a state can match, whatever their last day.
func (f Filter) wants(state account.CountedState) bool {
	if f.Level != "" && f.Level != state.Level {
		return false
	}
	switch f.Status {
	case account.StandingSuspended:
		return state.Suspended
	case account.StandingExpired:
		return !state.Suspended
	case account.StandingTrial:
		return !state.Suspended && state.Kind == account.Trial
	case account.StandingActive:
		return !state.Suspended && state.Kind != account.Trial
	}
	return true
}

// byToday is the condition of the status on a column of last days, on a day. A
// missing day is "".
func (f Filter) byToday(column string, today civil.Date) (cond string, args []any) {
	switch f.Status {
	case account.StandingExpired:
		return "(" + column + " > '' AND " + column + " < ?)", []any{today.String()}
	case account.StandingTrial, account.StandingActive:
		return "(" + column + " = '' OR " + column + " >= ?)", []any{today.String()}
	case account.StandingSuspended:
	}
	return "1 = 1", nil
}

// either joins the conditions of several days. Without a day nothing matches.
func either(days []day, cond func(day) (string, []any)) (string, []any) {
	if len(days) == 0 {
		return "1 = 0", nil
	}
	var parts []string
	var all []any
	for _, day := range days {
		part, args := cond(day)
		parts, all = append(parts, part), append(all, args...)
	}
	return "(" + strings.Join(parts, " OR ") + ")", all
}

func among(column string, values []string) (string, []any) {
	return column + " {in ?}", []any{values}
}

// keys are the filters that the counter knows.
func (f Filter) keys(days []day) (keys tally.Filter) {
	if f.PlanID != 0 {
		keys.And("plan_id = ?", f.PlanID)
	}
	f.expires(&keys.Where, "day")
	if f.Level == "" && f.Status == "" {
		return keys
	}
	cond, args := either(days, func(day day) (string, []any) {
		in, states := among("state", day.states)
		span, today := f.byToday("day", day.today)
		return "(" + in + " AND " + span + ")", append(states, today...)
	})
	keys.And(cond, args...)
	return keys
}

func (f Filter) expires(where *sqldb.Where, column string) {
	where.If(!f.ExpiresFrom.IsZero(), column+" >= ?", f.ExpiresFrom.String())
	where.If(!f.ExpiresTo.IsZero(), column+" > '' AND "+column+" <= ?", f.ExpiresTo.String())
}

// where adds the conditions of the filter on rows.
func (f Filter) where(where *sqldb.Where, days []day) {
	const lastDay = "COALESCE(c.expires_on, '')"
	f.expires(where, lastDay)
	if f.PlanID != 0 {
		where.And("c.subscription_plan_id + 0 = ?", f.PlanID) // in no index: those are for orders
	}
	where.If(f.Level != "", "c.level = ?", string(f.Level))
	f.standing(where, days, lastDay)
}

// standing adds the condition of the status on rows.
func (f Filter) standing(where *sqldb.Where, days []day, lastDay string) {
	switch f.Status {
	case "":
		return
	case account.StandingSuspended:
		where.And("c.suspended_at IS NOT NULL")
		return
	case account.StandingTrial:
		where.And("c.suspended_at IS NULL AND c.subscription = ?", string(account.Trial))
	case account.StandingActive:
		where.And("c.suspended_at IS NULL AND c.subscription <> ?", string(account.Trial))
	case account.StandingExpired:
		where.And("c.suspended_at IS NULL")
	}
	cond, args := either(days, func(day day) (string, []any) {
		span, today := f.byToday(lastDay, day.today)
		if len(days) == 1 {
			return span, today
		}
		in, zones := among("c.timezone", day.zones)
		return "(" + in + " AND " + span + ")", append(zones, today...)
	})
	where.And(cond, args...)
}
