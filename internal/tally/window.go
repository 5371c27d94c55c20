package tally

import (
	"context"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// DeepOffset is from where on a page of the whole list is found through the
// buckets.
const DeepOffset = bucketSize

// Window decides where a page of a newest-first list begins. A deep page of the
// whole list is found through the buckets, one past the middle of any list is
// counted from the end.
func (b Counter) Window(ctx context.Context, q sqldb.Querier, companyID int64, s sqldb.Source, whole bool, matches int64, page input.Page) (sqldb.Window, error) {
	w := sqldb.Window{Source: s, Limit: page.Size, Offset: page.Offset()}
	if whole && w.Offset > DeepOffset {
		below, skipped, err := skip(ctx, q, companyID, b, w.Offset)
		if err != nil {
			return w, err
		}
		w.Where.And(s.ID+" < ?", below)
		w.Offset -= skipped
		return w, nil
	}
	if w.Offset > matches/2 {
		w.Ascending = true
		w.Limit = min(page.Size, matches-page.Offset())
		w.Offset = matches - page.Offset() - w.Limit
	}
	return w, nil
}
