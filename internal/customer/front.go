package customer

import (
	"context"
	"errors"

	"carteira/internal/platform/sqldb"
)

// front finds the first customers of a search, newest first. It reads the segments
// from the newest on, and no more of them than it takes.
type front struct {
	service *Service
	listing listing // nothing but a search
	company int64   // customers of the company
	ends    []int64 // of the segments that are not read yet, newest first
	last    int64   // up to which id nothing is read yet
	ids     []int64 // who was found, newest first
}

const (
	// firstSegments is how many segments are read at first; later four times as many.
	firstSegments = 8
	// fewOfFirst is what part of the wanted customers those have to have for that. Where
	// they have less, all others are read at once.
	fewOfFirst = 16
)

// front is nil when the listing is another, or no gram finds it.
func (s *Service) front(ctx context.Context, l listing, company int64) (*front, error) {
	if s.look(l, company) == nil {
		return nil, nil
	}
	ends, err := newestEnds(ctx, s.db, l.company)
	return &front{service: s, listing: l, company: company, ends: ends, last: everyone.last}, err
}

// find has so many ids, or all that there are; ok is false when too little is sealed.
func (f *front) find(ctx context.Context, want int64) (ok bool, err error) {
	for segments := firstSegments; int64(len(f.ids)) < want && f.last > 0; segments *= 4 {
		look := f.service.look(f.listing, f.company)
		look.span, look.first = idSpan{last: f.last}, true
		rare := segments > firstSegments && int64(len(f.ids)) < want/fewOfFirst
		if segments < len(f.ends) && !rare {
			look.span.after, f.ends = f.ends[segments], f.ends[segments:]
		}
		found, err := look.read(ctx, f.service.db, f.listing.company)
		if errors.Is(err, errUnsealed) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		f.last, f.ids = look.span.after, append(f.ids, found.page(0, found.count())...)
	}
	return true, nil
}

// newestEnds are the last ids of the sealed segments, the newest first.
func newestEnds(ctx context.Context, querier sqldb.Querier, companyID int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, `
		SELECT last_id FROM search_segments WHERE company_id = ? AND sealed ORDER BY last_id DESC`, companyID)
}
