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
		window, _, err := b.WholeWindow(ctx, querier, companyID, window)
		return window, err
	}
	return window.FromNearerEnd(matches), nil
}

// WholeWindow is Window for a deep page of the whole list, with how many records it has.
func (b Counter) WholeWindow(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	window sqldb.Window,
) (placed sqldb.Window, records int64, err error) {
	found, err := buckets(ctx, querier, companyID, b)
	return windowIn(found, window), recordsIn(found), err
}

func recordsIn(buckets []bucketCount) (n int64) {
	for _, bucket := range buckets {
		n += bucket.n
	}
	return n
}

// windowIn begins in the bucket in which the first record of the page is; past the
// last one there is nothing.
func windowIn(buckets []bucketCount, window sqldb.Window) sqldb.Window {
	at, skipped, found := locate(buckets, window.Offset)
	if !found {
		window.Where.And(window.ID+" < ?", 0)
		return window
	}
	window.Offset -= skipped
	return at.window(window)
}
