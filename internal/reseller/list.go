package reseller

import (
	"cmp"
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

// List returns a page of the company's resellers, and how many there are: newest
// first, or by name or by the end of the subscription where the page asks for it.
func (s *Service) List(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	page input.Page,
) ([]Reseller, int64, error) {
	l, count, err := s.matches(ctx, actor, filter)
	if err != nil || page.Offset() >= count {
		return []Reseller{}, count, err
	}
	window, err := s.window(ctx, l, count, page)
	if err != nil {
		return nil, 0, err
	}
	list, err := reading.Rows(ctx, s.db, actor.Company.ID, window)
	if err != nil {
		return nil, 0, err
	}
	sortKeys.Arrange(list, cmp.Or(page.Sort, input.Newest))
	return list, count, addCustomers(ctx, s.db, list)
}

// window is where the ids of a page are taken from.
func (s *Service) window(
	ctx context.Context,
	listing listing,
	count int64,
	page input.Page,
) (sqldb.Window, error) {
	if page.Sort.IsNewest() {
		return listed.Window(
			ctx, s.db, listing.company, listing.matching(count), listing.filter == (Filter{}), count, page,
		)
	}
	window := listing.sorted(page.Sort, count)
	window.Ascending, window.Offset, window.Limit = !page.Sort.Descending(), page.Offset(), page.Size
	return window.FromNearerEnd(count), nil
}

// Walk calls visit for every reseller of a filter, newest first.
func (s *Service) Walk(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	visit func(Reseller) error,
) error {
	l, count, err := s.matches(ctx, actor, filter)
	if err != nil {
		return err
	}
	return sqldb.Walk(func(last *Reseller) ([]Reseller, error) {
		source := l.matching(count)
		if last != nil {
			source.Where.And(source.ID+" < ?", last.ID)
		}
		list, err := reading.Rows(ctx, s.db, actor.Company.ID, sqldb.Window{Source: source, Limit: sqldb.WalkBatch})
		if err != nil {
			return nil, err
		}
		return list, addCustomers(ctx, s.db, list)
	}, visit)
}

// matches counts the resellers of a filter.
func (s *Service) matches(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
) (l listing, count int64, err error) {
	l = listing{engine: s.db.Engine(), company: actor.Company.ID, filter: filter}
	if l.all, err = listed.Total(ctx, s.db, actor.Company.ID); err != nil {
		return l, 0, err
	}
	if filter.Level != "" || filter.Status != "" {
		if l.days, err = s.days(ctx, actor, filter); err != nil {
			return l, 0, err
		}
	}
	count, err = s.count(ctx, l)
	return l, count, err
}

// listing is one call of List or Walk.
type listing struct {
	engine  sqldb.Engine
	company int64
	filter  Filter
	all     int64 // resellers of the company
	days    []day // set where the filter has a level or a status
	walked  bool  // along the index of an order: SQLite is to use no other
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

// count is how many resellers a listing has in all: a sum of the counter, except
// for a search, which is counted once until something changes.
func (s *Service) count(ctx context.Context, listing listing) (int64, error) {
	switch {
	case listing.filter == (Filter{}):
		return listing.all, nil
	case listing.filter.Search == "":
		n, _, err := listed.Sum(ctx, s.db, listing.company, listing.keys())
		return n, err
	}
	question := tally.Question{
		CompanyID: listing.company, What: fmt.Sprintf("%+v %+v", listing.filter, listing.days), Counters: []tally.Counter{listed},
	}
	return s.counts.Get(ctx, s.db, question, func() (int64, error) {
		return listing.matching(smallSort).Count(ctx, s.db)
	})
}

// keys are the filters that the counter knows.
func (l listing) keys() (keys tally.Filter) {
	filter := l.filter
	if filter.PlanID != 0 {
		keys.And("plan_id = ?", filter.PlanID)
	}
	filter.expires(&keys.Where, "day")
	if filter.Level == "" && filter.Status == "" {
		return keys
	}
	cond, args := either(l.days, func(day day) (string, []any) {
		in, states := among("state", day.states)
		span, today := filter.byToday("day", day.today)
		return "(" + in + " AND " + span + ")", append(states, today...)
	})
	keys.And(cond, args...)
	return keys
}

func (f Filter) expires(where *sqldb.Where, column string) {
	if !f.ExpiresFrom.IsZero() {
		where.And(column+" >= ?", f.ExpiresFrom.String())
	}
	if !f.ExpiresTo.IsZero() {
		where.And(column+" > '' AND "+column+" <= ?", f.ExpiresTo.String())
	}
}

// matching finds the resellers of the filter, in the order of their ids. Few
// that are held to a span of days are read from the index of days and sorted;
// many are met soon enough on a walk along the ids, from which an expression
// keeps the index of days.
func (l listing) matching(matches int64) sqldb.Source {
	filter := l.filter
	source := sqldb.Source{From: "companies c", ID: walk, Order: walk}
	if terms := searchTerms(filter.Search); terms != nil {
		source = sqldb.SearchBy(
			l.engine,
			"companies",
			"parent_id",
			l.company,
			l.all > smallSearch,
			terms,
		)
		if filter != (Filter{Search: filter.Search}) {
			source = source.Rows()
		}
	} else {
		source.Where.And("c.parent_id = ?", l.company)
	}
	lastDay := "COALESCE(c.expires_on, '')"
	spanned := !filter.ExpiresFrom.IsZero() ||
		!filter.ExpiresTo.IsZero() ||
		filter.Status == account.StandingExpired
	if spanned && filter.Search == "" && matches < smallSort && l.all > smallSort {
		lastDay, source.Order = "c.expires_on", "c.id + 1"
	}
	filter.expires(&source.Where, lastDay)
	plan, level := "c.subscription_plan_id", "c.level"
	if l.walked && l.engine == sqldb.SQLite {
		plan, level = "c.subscription_plan_id + 0", "c.level || ''"
	}
	if filter.PlanID != 0 {
		source.Where.And(plan+" = ?", filter.PlanID)
	}
	if filter.Level != "" {
		source.Where.And(level+" = ?", string(filter.Level))
	}
	filter.standing(&source.Where, l.days, lastDay)
	return source
}

// walk is the order of ids as the indexes of lists have it (migration 0005).
const walk = "(c.id + 0)"

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
