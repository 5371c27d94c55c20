package reseller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
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
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
	}
	return T(in.Choice(name, words...).Value)
}

// listed counts the children of a company.
const listed = tally.Resellers

const (
	// smallSearch is up to how many resellers reading them all is as fast as the
	// substring index.
	smallSearch = 1000
	// smallSort is up to how many matches are read and sorted rather than met on
	// a walk along the ids.
	smallSort = 10_000
)

// List returns a page of the company's resellers, newest first, and how many
// there are.
func (s *Service) List(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Reseller, int64, error) {
	all, err := listed.Total(ctx, s.db, a.Company.ID)
	if err != nil {
		return nil, 0, err
	}
	l := listing{engine: s.db.Engine(), company: a.Company.ID, filter: f, all: all}
	if f.Level != "" || f.Status != "" {
		if l.days, err = s.days(ctx, a, f); err != nil {
			return nil, 0, err
		}
	}
	n, err := s.count(ctx, l)
	if err != nil || page.Offset() >= n {
		return []Reseller{}, n, err
	}
	window, err := listed.Window(ctx, s.db, a.Company.ID, l.matching(n), f == (Filter{}), n, page)
	if err != nil {
		return nil, 0, err
	}
	list, err := rows(ctx, s.db, a.Company.ID, window)
	if err != nil {
		return nil, 0, err
	}
	return list, n, addCustomers(ctx, s.db, list)
}

// listing is one call of List.
type listing struct {
	engine  sqldb.Engine
	company int64
	filter  Filter
	all     int64 // resellers of the company
	days    []day // set where the filter has a level or a status
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
func (s *Service) days(ctx context.Context, a account.Actor, f Filter) ([]day, error) {
	states, err := tally.By[string](ctx, s.db, listed, a.Company.ID, "state", sqldb.Where{})
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
		if !f.wants(state) {
			continue
		}
		today := civil.Of(now.In(zone))
		if byDay[today] == nil {
			byDay[today] = &day{today: today}
		}
		d := byDay[today]
		d.states = append(d.states, stored)
		if !slices.Contains(d.zones, state.Zone) {
			d.zones = append(d.zones, state.Zone)
		}
	}
	list := make([]day, 0, len(byDay))
	for _, d := range byDay {
		slices.Sort(d.states)
		slices.Sort(d.zones)
		list = append(list, *d)
	}
	slices.SortFunc(list, func(x, y day) int { return strings.Compare(x.today.String(), y.today.String()) })
	return list, nil
}

// wants reports whether resellers in a state can match, whatever their last day.
func (f Filter) wants(s account.CountedState) bool {
	if f.Level != "" && f.Level != s.Level {
		return false
	}
	switch f.Status {
	case account.StandingSuspended:
		return s.Suspended
	case account.StandingExpired:
		return !s.Suspended
	case account.StandingTrial:
		return !s.Suspended && s.Kind == account.Trial
	case account.StandingActive:
		return !s.Suspended && s.Kind != account.Trial
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
	for _, d := range days {
		part, args := cond(d)
		parts, all = append(parts, part), append(all, args...)
	}
	return "(" + strings.Join(parts, " OR ") + ")", all
}

func among(column string, values []string) (string, []any) {
	return column + " {in ?}", []any{values}
}

// count is how many resellers a listing has in all: a sum of the counter, except
// for a search, which is counted once until something changes.
func (s *Service) count(ctx context.Context, l listing) (int64, error) {
	switch {
	case l.filter == (Filter{}):
		return l.all, nil
	case l.filter.Search == "":
		n, _, err := listed.Sum(ctx, s.db, l.company, l.keys())
		return n, err
	}
	what := fmt.Sprintf("%+v %+v", l.filter, l.days)
	return s.counts.Count(ctx, s.db, []tally.Counter{listed}, l.company, what, func() (int64, error) {
		return countRows(ctx, s.db, l.matching(smallSort))
	})
}

// keys are the filters that the counter knows.
func (l listing) keys() (w sqldb.Where) {
	f := l.filter
	if f.PlanID != 0 {
		w.And("plan_id = ?", f.PlanID)
	}
	f.expires(&w, "day")
	if f.Level == "" && f.Status == "" {
		return w
	}
	cond, args := either(l.days, func(d day) (string, []any) {
		in, states := among("state", d.states)
		span, today := f.byToday("day", d.today)
		return "(" + in + " AND " + span + ")", append(states, today...)
	})
	w.And(cond, args...)
	return w
}

func (f Filter) expires(w *sqldb.Where, column string) {
	if !f.ExpiresFrom.IsZero() {
		w.And(column+" >= ?", f.ExpiresFrom.String())
	}
	if !f.ExpiresTo.IsZero() {
		w.And(column+" > '' AND "+column+" <= ?", f.ExpiresTo.String())
	}
}

// matching finds the resellers of the filter, in the order of their ids. Few
// that are held to a span of days are read from the index of days and sorted;
// many are met soon enough on a walk along the ids, from which an expression
// keeps the index of days.
func (l listing) matching(matches int64) sqldb.Source {
	f := l.filter
	s := sqldb.Source{From: "companies c", ID: walk, Order: walk}
	if terms := searchTerms(f.Search); terms != nil {
		s = sqldb.SearchBy(l.engine, "companies", "parent_id", l.company, l.all > smallSearch, terms)
		if f != (Filter{Search: f.Search}) {
			s = s.Rows()
		}
	} else {
		s.Where.And("c.parent_id = ?", l.company)
	}
	lastDay := "COALESCE(c.expires_on, '')"
	spanned := !f.ExpiresFrom.IsZero() || !f.ExpiresTo.IsZero() || f.Status == account.StandingExpired
	if spanned && f.Search == "" && matches < smallSort && l.all > smallSort {
		lastDay, s.Order = "c.expires_on", "c.id + 1"
	}
	f.expires(&s.Where, lastDay)
	if f.PlanID != 0 {
		s.Where.And("c.subscription_plan_id = ?", f.PlanID)
	}
	if f.Level != "" {
		s.Where.And("c.level = ?", string(f.Level))
	}
	f.standing(&s.Where, l.days, lastDay)
	return s
}

// walk is the order of ids as the indexes of lists have it (migration 0005).
const walk = "(c.id + 0)"

// standing adds the condition of the status on rows.
func (f Filter) standing(w *sqldb.Where, days []day, lastDay string) {
	switch f.Status {
	case "":
		return
	case account.StandingSuspended:
		w.And("c.suspended_at IS NOT NULL")
		return
	case account.StandingTrial:
		w.And("c.suspended_at IS NULL AND c.subscription = ?", string(account.Trial))
	case account.StandingActive:
		w.And("c.suspended_at IS NULL AND c.subscription <> ?", string(account.Trial))
	case account.StandingExpired:
		w.And("c.suspended_at IS NULL")
	}
	cond, args := either(days, func(d day) (string, []any) {
		span, today := f.byToday(lastDay, d.today)
		if len(days) == 1 {
			return span, today
		}
		in, zones := among("c.timezone", d.zones)
		return "(" + in + " AND " + span + ")", append(zones, today...)
	})
	w.And(cond, args...)
}

// searchTerms are the texts of which one must be contained: the term itself,
// and its digits when it is punctuated like a phone.
func searchTerms(search string) []string {
	term := sqldb.Searchable(text.Fold(search))
	if term == "" {
		return nil
	}
	terms := []string{term}
	if strings.Trim(term, "0123456789+-.()/ ") == "" {
		if digits := text.Digits(term); digits != "" && digits != term {
			terms = append(terms, digits)
		}
	}
	return terms
}
