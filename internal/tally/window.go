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
		found, err := buckets(ctx, querier, companyID, b)
		return windowIn(found, window), err
	}
	return window.FromNearerEnd(matches), nil
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

// bucketCount is how many records a bucket has.
type bucketCount struct{ bucket, n int64 }

// locate finds the bucket in which the record at an offset is, and how many
// records are before that bucket. Past the last one found is false.
func locate(buckets []bucketCount, offset int64) (at bucketCount, skipped int64, found bool) {
	for _, at := range buckets {
		if skipped+at.n > offset {
			return at, skipped, true
		}
		skipped += at.n
	}
	return bucketCount{}, skipped, false
}

// window begins in a bucket, at its nearer end where the page is all in it.
func (b bucketCount) window(window sqldb.Window) sqldb.Window {
	window.Where.And(window.ID+" < ?", (b.bucket+1)*bucketSize)
	if window.Offset+window.Limit > b.n {
		return window
	}
	window.Where.And(window.ID+" >= ?", b.bucket*bucketSize)
	return window.FromNearerEnd(b.n)
}
