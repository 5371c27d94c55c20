package customer

import (
	"context"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// trait is one of the things that customers are filtered by: a plan, a product, a span
// of due dates, to be cancelled. Each has an index that has the ids as well.
type trait struct {
	listing listing // with nothing else
	without bool    // those are meant who do not have it
}

// traits are those that a listing without a search asks for.
func (l listing) traits() (traits []trait) {
	add := func(filter Filter, span due, without bool) {
		only := l
		only.filter, only.due = filter, span
		traits = append(traits, trait{only, without})
	}
	anyDay := due{none: true}
	if l.filter.PlanID != 0 {
		add(Filter{PlanID: l.filter.PlanID}, anyDay, false)
	}
	if l.filter.ProductID != 0 {
		add(Filter{ProductID: l.filter.ProductID}, anyDay, false)
	}
	switch {
	case l.due.open():
	case l.due.none && !l.due.missing: // only Active leaves it so: all but those whose days are over
		add(Filter{}, due{to: l.due.from.AddDays(-1)}, true)
	default:
		add(Filter{}, l.due, false)
	}
	if l.filter.Status != "" {
		add(Filter{Status: Cancelled}, anyDay, l.filter.Status != Cancelled)
	}
	return traits
}

// source has those who have the trait, staged ones among them: they are only met with
// customers whom a search has found, who are visible.
func (t trait) source(on filterColumns) sqldb.Source {
	source := sqldb.Source{From: "customers c", ID: "c.id"}
	source.Where.And("c.company_id = ?", t.listing.company)
	t.listing.conditions(&source.Where, on)
	return source
}

// read reads who has the trait, along its index.
func (t trait) read(ctx context.Context, querier sqldb.Querier) (idSet, error) {
	found := idGatherer{}
	err := t.source(asStored).EachID(ctx, querier, found.add)
	return found.set(), err
}

// readBucket reads who of a bucket has the trait, along the ids.
func (t trait) readBucket(ctx context.Context, querier sqldb.Querier, bucket int64) (idGroup, error) {
	source := t.source(asStored.notByDue())
	source.Where.And("c.id >= ? AND c.id < ?", bucket*tally.BucketSize, (bucket+1)*tally.BucketSize)
	found := idBits{}
	err := source.EachID(ctx, querier, func(id int64) { found.add(placeOf(id)) })
	return newIDGroup(bucket, &found), err
}
