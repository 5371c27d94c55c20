package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/sqldb"
)

// Areas find a page in the middle of a list that is filtered by days: a status is
// nothing else. They count by day and by month where in the list records are, first
// in areas of 16 buckets and then in the buckets of one area, so that what is read
// grows neither with the list nor with its years.

const (
	// bucketsInArea is how many consecutive buckets are an area.
	bucketsInArea = 16
	// allAreas is the area whose buckets are the areas themselves.
	allAreas = -1
)

// byDays reports whether the buckets of a counter are also counted by day.
func (b Counter) byDays() bool { return b == Customers }

// areaKey is where records are counted whose ids are near each other and that
// have a day or a month in common.
type areaKey struct {
	counter   Counter
	area      int64
	unit, day string
	state     string
	bucket    int64
}

func compareAreas(a, b areaKey) int {
	return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.area, b.area), cmp.Compare(a.unit, b.unit),
		cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state), cmp.Compare(a.bucket, b.bucket))
}

// addAreas adds deltas to the areas, each row once.
func addAreas(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	sums := map[areaKey]int64{}
	for _, delta := range deltas {
		if !delta.counter.byDays() {
			continue
		}
		area := delta.Bucket / bucketsInArea
		for unit, day := range map[string]string{unitDay: delta.Day, unitMonth: monthOf(delta.Day)} {
			sums[areaKey{delta.counter, allAreas, unit, day, delta.State, area}] += delta.N
			sums[areaKey{delta.counter, area, unit, day, delta.State, delta.Bucket}] += delta.N
		}
	}
	return addAreaSums(ctx, tx, companyID, sums)
}

// addAreaSums deletes rows that have come to nothing.
func addAreaSums(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[areaKey]int64) error {
	maps.DeleteFunc(sums, func(_ areaKey, n int64) bool { return n == 0 })
	var rows [][]any
	emptied := false
	for _, at := range slices.SortedFunc(maps.Keys(sums), compareAreas) {
		emptied = emptied || sums[at] < 0
		rows = append(rows, []any{companyID, string(at.counter), at.area, at.unit, at.day, at.state, at.bucket, sums[at]})
	}
	err := upsert(ctx, tx, rows, `
		INSERT INTO tally_areas (company_id, book, area, unit, day, state, bucket, n) VALUES `, `
		ON CONFLICT (company_id, book, area, unit, day, state, bucket) DO UPDATE SET n = tally_areas.n + excluded.n`)
	if err != nil || !emptied {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM tally_areas WHERE company_id = ? AND n = 0`, companyID)
	return err
}

// bucketCount is how many records of a filter a bucket has.
type bucketCount struct{ bucket, n int64 }

// areaBuckets are the buckets of an area that have records of a filter, the
// newest first.
func areaBuckets(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	filter Filter,
	area int64,
) ([]bucketCount, error) {
	var texts []string
	var args []any
	for _, run := range runsOf(filter.Days) {
		var where sqldb.Where
		where.And("company_id = ?", companyID)
		where.And("book = ? AND area = ? AND unit = ?", string(counter), area, run.unit)
		among([]Days{run.Days}, &where, "day")
		where.Join(filter.Where)
		texts = append(texts, `SELECT bucket, n FROM tally_areas`+where.String())
		args = append(args, where.Args...)
	}
	var where sqldb.Where
	where.And("company_id = ?", companyID)
	where.And("book = ?", string(counter))
	among(filter.Days, &where, "day")
	where.Join(filter.Where)
	size := int64(bucketsInArea) // of a bucket of all areas
	if area != allAreas {
		where.And("bucket >= ? AND bucket < ?", area*bucketsInArea, (area+1)*bucketsInArea)
		size = 1
	}
	texts = append(texts, `SELECT bucket / CAST(? AS BIGINT) AS bucket, n FROM tally_deltas`+where.String())
	args = append(append(args, size), where.Args...)
	return sqldb.All(ctx, querier, scanBucket, `SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (`+strings.Join(texts, ` UNION ALL `)+`) AS counted
		GROUP BY bucket ORDER BY bucket DESC`, args...)
}

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

// DayWindow is Window for a list that is filtered by days and states and nothing
// else: a deep page is found through the areas.
func (b Counter) DayWindow(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	filter Filter,
	window sqldb.Window,
) (sqldb.Window, error) {
	areas, err := areaBuckets(ctx, querier, companyID, b, filter, allAreas)
	if err != nil {
		return window, err
	}
	area, skipped, found := locate(areas, window.Offset)
	if !found {
		return window, nil
	}
	window.Offset -= skipped
	buckets, err := areaBuckets(ctx, querier, companyID, b, filter, area.bucket)
	if err != nil {
		return window, err
	}
	bucket, skipped, found := locate(buckets, window.Offset)
	window.Offset -= skipped
	if !found { // they have gone since the areas were read
		window.Where.And(window.ID+" < ?", area.bucket*bucketsInArea*bucketSize)
		return window, nil
	}
	return bucket.window(window), nil
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
