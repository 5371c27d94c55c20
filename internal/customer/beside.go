package customer

import (
	"context"
	"errors"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// beside is a search beside other filters, or in another order than the newest
// first, in a large company. Who is searched for is known by ids (look.go), whom the
// other filters leave, and in which order, by the roster: neither side reads the rows of
// customers whom the other does not leave.
type beside struct {
	service *Service
	listing listing // with the search
	company int64   // customers of the company
	left    int64   // whom the other filters leave, at the same moment
	at      tally.Standing
	sampled *gramSegment // what the newest segment has of the search; nil: it is not read yet
	found   *idSet       // whom the search alone finds; nil: it is not read yet
	both    *idSet       // whom both leave; nil: that is not known yet

	asked     bool    // for the roster
	roster    *roster // nil: it is not at hand
	changed   []int64 // buckets of it
	described *roster // with what has changed of the found ones; nil: they are not described yet
}

// beside is nil where the listing is no search with filters that the counter knows,
// or no gram finds it.
func (s *Service) beside(ctx context.Context, l listing) (*beside, error) {
	if searchTerms(l.filter.Search) == nil || !l.withoutSearch().filter.tallied() {
		return nil, nil
	}
	at, err := counter.Standing(ctx, s.db, l.company, l.withoutSearch().keys())
	if err != nil || at.Total <= smallSearch || s.look(l.searchAlone(), at.Total) == nil {
		return nil, err
	}
	b := &beside{service: s, listing: l, company: at.Total, left: at.Left, at: at}
	if b.left == 0 {
		b.both = &idSet{}
	}
	return b, nil
}

// read finds whom the search finds; ok is false when too little is sealed.
func (b *beside) read(ctx context.Context) (ok bool, err error) {
	if b.found != nil {
		return true, nil
	}
	look := b.service.look(b.listing.searchAlone(), b.company)
	look.sampled = b.sampled
	found, err := look.read(ctx, b.service.db, b.listing.company)
	if errors.Is(err, errUnsealed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	set := setOf(found)
	b.found = &set
	return true, nil
}

// intersect finds whom both sides leave.
func (b *beside) intersect(ctx context.Context) (ok bool, err error) {
	if b.both != nil {
		return true, nil
	}
	if ok, err := b.read(ctx); err != nil || !ok {
		return false, err
	}
	both, err := b.meet(ctx, *b.found)
	if err != nil {
		return false, err
	}
	b.both = &both
	return true, nil
}

// meet leaves those of some customers whom the other filters leave: a few are tested by
// their rows, and many are looked up in the roster. Where it is not at hand they are
// tested, too, or met with all whom the filters leave.
func (b *beside) meet(ctx context.Context, found idSet) (idSet, error) {
	if b.left == b.company || found.number == 0 {
		return found, nil
	}
	if found.number > fewTested {
		at, err := b.describe(ctx, found)
		if err != nil {
			return idSet{}, err
		}
		if at != nil {
			return at.only(found, b.listing), nil
		}
	}
	if found.number <= fewTested || found.number*testedAsWalked < b.left {
		return b.test(ctx, found)
	}
	left, err := b.others(ctx)
	return found.only(left), err
}

// ask asks for the roster once.
func (b *beside) ask(ctx context.Context) (err error) {
	if !b.asked {
		b.roster, b.changed, err = b.service.atHand(ctx, b.listing.company, b.company)
		b.asked = err == nil
	}
	return err
}

// describe is the roster, with whatever has changed of some customers; nil: it is not at
// hand.
func (b *beside) describe(ctx context.Context, some idSet) (at *roster, err error) {
	if err := b.ask(ctx); err != nil {
		return nil, err
	}
	if b.roster == nil || b.described != nil { // all others are among the found ones
		return b.described, nil
	}
	at, err = b.service.described(ctx, b.listing.company, b.roster, b.changed, some)
	if b.found != nil && some.number == b.found.number {
		b.described = at
	}
	return at, err
}

// test leaves the same by the rows of the customers.
func (b *beside) test(ctx context.Context, found idSet) (idSet, error) {
	source := b.listing.withoutSearch().filtered(asStored.notByDue())
	source.Where.And("c.id {in ?}", found.all())
	return b.gather(ctx, source)
}

// others are all whom the other filters leave.
func (b *beside) others(ctx context.Context) (left idSet, err error) {
	l := b.listing.withoutSearch()
	if l.byDate, err = b.service.allByDate(ctx, l, b.company, b.left); err != nil {
		return idSet{}, err
	}
	return b.gather(ctx, l.matching())
}

func (b *beside) gather(ctx context.Context, source sqldb.Source) (idSet, error) {
	ids := idGatherer{}
	err := source.EachID(ctx, b.service.db, ids.add)
	return ids.set(), err
}

const (
	// fewTested is how many customers are tested in the time in which it is seen what of
	// the roster has changed.
	fewTested = 100
	// testedAsWalked is how many entries of an index are read in the time of a test.
	testedAsWalked = 24
)

// countBeside is how many customers both sides leave.
func (s *Service) countBeside(ctx context.Context, b *beside) (int64, error) {
	kept, err := s.spreadBeside(ctx, b)
	return kept.total, err
}

// spreadBeside is what is kept of whom both sides leave: how many, and who, of few. It is
// kept as of the moment at which the sides were counted: what has changed since may not
// be in it.
func (s *Service) spreadBeside(ctx context.Context, b *beside) (spread, error) {
	l := b.listing
	kept, err := s.spreads.GetAt(b.at, l.question(), func() (spread, error) {
		if ok, err := b.intersect(ctx); err != nil {
			return spread{}, err
		} else if ok {
			return b.both.spread(), nil
		}
		count, err := l.matching().Count(ctx, s.db)
		return spread{total: count}, err
	})
	if err != nil || b.both != nil {
		return kept, err
	}
	if ids, few := kept.ids(); few {
		both := newIDSet(ids)
		b.both = &both
	}
	return kept, nil
}

// listBeside is List for a search beside other filters in a large company; ok is false
// when it is another list, or when too little is sealed.
func (s *Service) listBeside(ctx context.Context, l listing, page input.Page) (list []Customer, total int64, ok bool, err error) {
	if !l.searchesBeside() {
		return nil, 0, false, nil
	}
	b, err := s.beside(ctx, l)
	if err != nil || b == nil {
		return nil, 0, false, err
	}
	total, err = s.countBeside(ctx, b)
	if err != nil || page.Offset() >= total {
		return []Customer{}, total, err == nil, err
	}
	if ok, err = b.intersect(ctx); err != nil || !ok {
		return nil, 0, false, err
	}
	list, err = s.firstOf(ctx, l.company, part{offset: page.Offset(), limit: page.Size}.of(*b.both))
	return list, total, err == nil, err
}
