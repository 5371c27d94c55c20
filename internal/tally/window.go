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
func (b Counter) Window(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	source sqldb.Source,
	whole bool,
	matches int64,
	page input.Page,
) (sqldb.Window, error) {
	window := sqldb.Window{Source: source, Whole: whole, Limit: page.Size, Offset: page.Offset()}
	if whole && window.Offset > DeepOffset {
		below, skipped, err := skip(ctx, querier, companyID, b, window.Offset)
		if err != nil {
			return window, err
		}
		window.Where.And(source.ID+" < ?", below)
		window.Offset -= skipped
		return window, nil
	}
	return window.FromNearerEnd(matches), nil
}
