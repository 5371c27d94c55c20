package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// numbers are how many customers a listing is about. How a page of it is found is decided
// by them.
type numbers struct {
	company  int64 // whom it has
	matches  int64 // or uncounted
	undated  int64 // matches without a due date, where they come last, or uncounted
	inDates  int64 // whom the span of due dates has
	inOthers int64 // whom the other filters leave, of which a product beside a plan is in the index of the plan
}

// uncounted is how many there are where only a look at them tells.
const uncounted = -1

// numbers are as far as the counter knows them, in one flight.
func (s *Service) numbers(ctx context.Context, l listing, sort input.Sort) (numbers, error) {
	n := numbers{undated: uncounted}
	ask := l.sides(&n)
	if sort.Field() == input.ByDueDate && l.due.none && l.filter.tallied() {
		ask = append(ask, counter.SumStatement(l.company, l.withoutDate().keys(), &n.undated))
	}
	err := s.total(ctx, l, &n, ask...)
	return n, err
}

// total asks how many customers the company has and how many match, together with others.
func (s *Service) total(ctx context.Context, l listing, n *numbers, others ...sqldb.Statement) error {
	var at tally.Standing
	first := counter.StandingStatement(l.company, l.keys(), &at)
	if l.filter == (Filter{}) || !l.filter.tallied() {
		first = counter.TotalStatement(l.company, &at.Total)
	}
	err := sqldb.Together(ctx, s.db, append(others, first)...)
	n.company, n.matches = at.Total, uncounted
	switch {
	case l.filter == (Filter{}):
		n.matches = at.Total
	case l.filter.tallied():
		n.matches = at.Left
	}
	return err
}

// sides ask for what is in the dates and what is in the others, where both filter.
func (l listing) sides(into *numbers) []sqldb.Statement {
	if l.due.open() || !l.hasGoods() && l.filter.Status != Cancelled {
		return nil
	}
	dates, others := l, l
	dates.filter, others.due = Filter{}, due{none: true}
	if others.filter.PlanID != 0 {
		others.filter.ProductID = 0
	}
	return []sqldb.Statement{
		counter.SumStatement(l.company, dates.keys(), &into.inDates),
		counter.SumStatement(l.company, others.keys(), &into.inOthers),
	}
}

// matches is what a filter chooses, with how many customers match.
func (s *Service) matches(ctx context.Context, actor account.Actor, filter Filter, sort input.Sort) (l listing, n numbers, err error) {
	l = s.listing(actor, filter)
	if n, err = s.numbers(ctx, l, sort); err == nil && n.matches == uncounted {
		n.matches, err = s.countMatches(ctx, l, n.company)
	}
	return l, n, err
}

// foundByDate decides how so many of the matches are found, from the newest or the oldest
// on. Planners guess it wrong for a company that has most of the rows, so the choice is
// made here, from exact counts: customers are read from the index of dates and sorted, if
// they are fewer than those who are met on a walk along the ids of the company, of a plan
// or of a product.
func (l listing) foundByDate(n numbers, wanted int64) bool {
	switch {
	case l.due.open():
		return false
	case !l.hasGoods() && l.filter.Status != Cancelled:
		return n.matches*sortedAsWalked < wanted*n.company/max(1, n.matches)
	}
	inDates := n.inDates
	if l.due.oneDay() {
		inDates = wanted * inDates / max(1, n.matches)
	}
	return inDates*readAsWalked < wanted*n.inOthers/max(1, n.matches)
}

// allByDate is foundByDate for all matches.
func (s *Service) allByDate(ctx context.Context, l listing, company, matches int64) (bool, error) {
	n := numbers{company: company, matches: matches}
	err := sqldb.Together(ctx, s.db, l.sides(&n)...)
	return l.foundByDate(n, matches), err
}

const (
	// sortedAsWalked is how many entries are passed on a walk in the time in which one
	// of the index of dates is sorted, readAsWalked in which it is looked up and sorted.
	sortedAsWalked = 3
	readAsWalked   = 12
	// mostPassed is how many entries are passed in the time in which a page is found
	// through the buckets.
	mostPassed = 4000
)
