package customer

import (
	"context"
	"errors"
	"math"

	"carteira/internal/platform/input"
	"carteira/internal/tally"
)

// spread is what is kept of a search until something changes: how many it finds,
// and where they are, so that a page of it reads a few segments. Of few
// customers it has the ids.
type spread struct {
	total int64
	first int64        // the newest of few
	few   posting      // how far each of them is below the first
	parts []spreadPart // the newest first
}

// spreadPart is how many customers were found up to an id, and above that of the
// next part.
type spreadPart struct{ last, number int64 }

const (
	// mostKept is up to how many customers are few: about two bytes each.
	mostKept = 500
	// mostParts is in how many parts others are counted.
	mostParts = 64
)

// newSpread is that of what was found, the newest first. The first group has whoever
// is newer than all segments.
func newSpread(found hits) spread {
	groups := make([]spreadPart, len(found))
	for at, group := range found {
		groups[at] = spreadPart{group.last, group.number}
	}
	return spreadOf(groups, func(total int64) []int64 { return found.page(0, total) })
}

// spread is that of a set.
func (s idSet) spread() spread {
	groups := make([]spreadPart, len(s.groups))
	for at, group := range s.groups {
		groups[at] = spreadPart{(group.bucket+1)*tally.BucketSize - 1, group.number}
	}
	return spreadOf(groups, func(int64) []int64 { return s.all() })
}

// spreadOf is that of customers in groups, the newest first; ids are who they are.
func spreadOf(groups []spreadPart, ids func(total int64) []int64) (made spread) {
	for _, group := range groups {
		made.total += group.number
	}
	if made.total <= mostKept {
		made.few, made.first = fewOf(ids(made.total))
		return made
	}
	each := (len(groups) + mostParts - 1) / mostParts
	for at, group := range groups {
		if at%each == 0 {
			made.parts = append(made.parts, spreadPart{last: group.last})
		}
		made.parts[at/each].number += group.number
	}
	made.parts[0].last = math.MaxInt64
	return made
}

// ids are the customers, if they are few.
func (s spread) ids() (ids []int64, few bool) {
	return s.few.ids(s.first), s.few != nil || s.total == 0
}

func fewOf(ids []int64) (few posting, first int64) {
	if len(ids) == 0 {
		return nil, 0
	}
	distances := make([]int64, len(ids))
	for i, id := range ids {
		distances[i] = ids[0] - id
	}
	return newPosting(distances), ids[0]
}

// around is the span of the parts that a page is in, and how many customers of it come
// before the page.
func (s spread) around(page input.Page) (span idSpan, offset int64) {
	offset = page.Offset()
	before := int64(0)
	for _, part := range s.parts {
		switch {
		case before+part.number <= page.Offset():
			offset -= part.number
		case before >= page.Offset()+page.Size:
			span.after = part.last
			return span, offset
		case span.last == 0:
			span.last = part.last
		}
		before += part.number
	}
	return span, offset
}

// spread is that of a listing which is nothing but a search in a large company, with
// what was found if it was looked for; ok is false when it is another, or when too
// little is sealed. One or two letters are looked for at every first page, which
// takes little longer than to find it in the spread.
func (s *Service) spread(
	ctx context.Context,
	l listing,
	company int64,
	page input.Page,
) (kept spread, found hits, ok bool, err error) {
	look := s.look(l, company)
	if look == nil {
		return spread{}, nil, false, nil
	}
	get := s.spreads.Get
	if len(look.long) == 0 && page.Offset() == 0 {
		get = s.spreads.Renew
	}
	kept, err = get(ctx, s.db, l.question(), func() (spread, error) {
		found, err = look.read(ctx, s.db, l.company)
		return newSpread(found), err
	})
	if errors.Is(err, errUnsealed) {
		return spread{}, nil, false, nil
	}
	return kept, found, err == nil, err
}

// pageOf are the ids of a page of a search.
func (s *Service) pageOf(ctx context.Context, l listing, company int64, kept spread, found hits, page input.Page) ([]int64, error) {
	switch {
	case page.Offset() >= kept.total:
		return nil, nil
	case kept.few != nil:
		ids, _ := kept.ids()
		return ids[page.Offset():min(page.Offset()+page.Size, kept.total)], nil
	case found != nil:
		return found.page(page.Offset(), page.Size), nil
	}
	look, offset := s.look(l, company), page.Offset()
	if kept.parts != nil {
		look.span, offset = kept.around(page)
	}
	found, err := look.read(ctx, s.db, l.company)
	return found.page(offset, page.Size), err
}
