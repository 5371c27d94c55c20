package tally

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// addAreaSums deletes rows that have come to nothing. Buckets that are the same column are
// added together.
func addAreaSums(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[areaKey]int64) error {
	var rows [bucketsInArea][][]any
	emptied := map[Counter]bool{}
	for _, at := range slices.SortedFunc(maps.Keys(sums), compareAreas) {
		if sums[at] == 0 {
			continue
		}
		if sums[at] < 0 {
			emptied[at.counter] = true
		}
		part, column := at.bucket/bucketsInArea, at.bucket%bucketsInArea
		rows[column] = append(rows[column], []any{companyID, string(at.counter), at.area, at.unit, at.day, at.state, part, sums[at], sums[at]})
	}
	for column, name := range bucketColumns {
		if rows[column] == nil {
			continue
		}
		err := upsert(ctx, tx, rows[column], `
			INSERT INTO tally_places (company_id, book, area, unit, day, state, part, n, `+name+`) VALUES `, `
			ON CONFLICT (company_id, book, area, unit, day, state, part) DO UPDATE
			SET n = tally_places.n + excluded.n, `+name+` = NULLIF(COALESCE(tally_places.`+name+`, 0) + excluded.`+name+`, 0)`)
		if err != nil {
			return err
		}
	}
	for counter := range emptied {
		_, err := tx.Exec(ctx, `DELETE FROM tally_places WHERE company_id = ? AND book = ? AND n = 0 AND COALESCE(`+allColumns+`) IS NULL`,
			companyID, string(counter))
		if err != nil {
			return err
		}
	}
	return nil
}

// bucketColumns are those of the buckets that a row has, NULL where a bucket has no records.
var bucketColumns = eachColumn(func(column int) string { return "n" + strconv.Itoa(column) })

func eachColumn(text func(column int) string) []string {
	list := make([]string, bucketsInArea)
	for column := range list {
		list[column] = text(column)
	}
	return list
}

// bucketCount is how many records of a filter a bucket has.
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

// DayWindow is Window for a list that is filtered by days and states and nothing
// else, with how many records it has. A page is found in one statement: the area that it
// is in and, of that area, the buckets.
func (b Counter) DayWindow(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	filter Filter,
	window sqldb.Window,
) (placed sqldb.Window, records int64, err error) {
	var buckets []bucketCount
	skipped := int64(0)
	text, args := dayStatement(companyID, b, filter, window.Offset)
	err = sqldb.Planned(ctx, querier, text, args, func(row sqldb.Row) error {
		var kind, first, second int64
		err := row.Scan(&kind, &first, &second)
		if kind == rowOfAll {
			records, skipped = first, second
		} else {
			buckets = append(buckets, bucketCount{first, second})
		}
		return err
	})
	window.Offset -= skipped
	return windowIn(buckets, window), records, err
}

// The kinds of rows of a day statement.
const (
	rowOfAll    = iota // how many records there are, and how many before the area
	rowOfBucket        // of the area, and how many it has
)

// dayStatement finds the area in which the record at an offset is, and the buckets of it.
// Past the last record there are none.
func dayStatement(companyID int64, counter Counter, filter Filter, offset int64) (text string, args []any) {
	const placed = `(SELECT area FROM place)`
	all, ofAll := areaSums(companyID, counter, filter, strconv.Itoa(allAreas), deltasOfAreas, `TRUE`)
	near, ofNear := areaSums(companyID, counter, filter, placed, deltasOfBuckets, areaOfBucket+` = `+placed)
	return `
		WITH sums AS MATERIALIZED (` + all + `),
		areas AS MATERIALIZED (SELECT bucket AS area, n FROM (` + bucketsOfSums + `) AS counted WHERE n > 0),
		place AS MATERIALIZED (SELECT area, before FROM (
				SELECT area, n, CAST(SUM(n) OVER (ORDER BY area DESC) AS BIGINT) - n AS before FROM areas) AS places
			WHERE before <= ? AND before + n > ?),
		near AS MATERIALIZED (` + near + `)
		SELECT 0 AS kind, COALESCE(CAST(SUM(n) AS BIGINT), 0) AS first, COALESCE((SELECT before FROM place), 0) FROM areas
		UNION ALL SELECT 1, bucket, n FROM (` + bucketsOfNear + `) AS counted WHERE n > 0
		ORDER BY kind, first DESC`, slices.Concat(ofAll, []any{offset, offset}, ofNear)
}

// Texts that are the same in each statement.
var (
	areaOfBucket    = `bucket / ` + strconv.Itoa(bucketsInArea)
	allColumns      = strings.Join(bucketColumns, ", ")
	bucketsOfSums   = bucketsIn("sums")
	bucketsOfNear   = bucketsIn("near")
	deltasOfAreas   = placedDelta(areaOfBucket)
	deltasOfBuckets = placedDelta(`bucket`)
	sumColumns      = strings.Join(eachColumn(func(column int) string {
		return fmt.Sprintf(`CAST(SUM(n%d) AS BIGINT) AS n%d`, column, column)
	}), ", ")
)

// placedDelta is the part and the columns of a delta, of whose bucket or area it is a change.
func placedDelta(bucket string) string {
	return fmt.Sprintf(`(%s) / %d AS part, `, bucket, bucketsInArea) + strings.Join(eachColumn(func(column int) string {
		return fmt.Sprintf(`CASE WHEN (%s) %% %d = %d THEN n END AS n%d`, bucket, bucketsInArea, column, column)
	}), ", ")
}

// bucketsIn has a row for each bucket of a table whose columns are buckets.
func bucketsIn(table string) string {
	return strings.Join(eachColumn(func(column int) string {
		return fmt.Sprintf(`SELECT part * %d + %d AS bucket, n%d AS n FROM %s`, bucketsInArea, column, column, table)
	}), ` UNION ALL `)
}

// areaSums reads how many records of a filter the buckets of an area have: the sums, and
// the deltas for which a condition holds.
func areaSums(companyID int64, counter Counter, filter Filter, area, deltas, condition string) (text string, args []any) {
	var texts []string
	read := func(columns, table, condition string, days []Days) {
		var where sqldb.Where
		where.And("company_id = ? AND book = ?", companyID, string(counter))
		where.And(condition)
		among(days, &where, "day")
		where.Join(filter.Where)
		texts = append(texts, `SELECT `+columns+` FROM `+table+where.String())
		args = append(args, where.Args...)
	}
	for _, run := range runsOf(filter.Days) {
		read(`part, `+allColumns, `tally_places`, `area = `+area+` AND unit = '`+run.unit+`'`, []Days{run.Days})
	}
	read(deltas, `tally_deltas`, condition, filter.Days)
	return `SELECT part, ` + sumColumns + ` FROM (` + strings.Join(texts, ` UNION ALL `) + `) AS counted GROUP BY part`, args
}

// window begins in a bucket, at its nearer end where the page is all in it.
func (b bucketCount) window(window sqldb.Window) sqldb.Window {
	window.Where.And(window.ID+" < ?", (b.bucket+1)*bucketSize)
	if window.Offset+window.Limit > b.n {
		return window
	}
	window.Where.And(window.ID+" >= ?", b.bucket*bucketSize)
	window.Planned = true
	return window.FromNearerEnd(b.n)
}
