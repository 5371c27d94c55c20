package tally

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/platform/sqldb"
)

// areaDifference is by how much a row of the areas has too many.
type areaDifference struct {
	areaKey
	n int64
}

// differentAreas compares the areas, deltas included, with the records.
func differentAreas(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]areaDifference, error) {
	if !counter.byDays() {
		return nil, nil
	}
	mine := []any{companyID, string(counter)}
	args := slices.Concat(mine, records.Args)
	stored := eachColumn(func(column int) string {
		args = append(args, mine...)
		return fmt.Sprintf(`SELECT area, unit, day, state, part * %d + %d AS bucket, n%d AS n FROM tally_places
			WHERE company_id = ? AND book = ? AND n%d IS NOT NULL`, bucketsInArea, column, column, column)
	})
	args = append(args, maxDifferences)
	return sqldb.All(ctx, querier, func(row sqldb.Row) (at areaDifference, err error) {
		at.counter = counter
		err = row.Scan(&at.area, &at.unit, &at.day, &at.state, &at.bucket, &at.n)
		return at, err
	}, `WITH actual AS (
			SELECT bucket, day, state, SUM(n) AS n FROM (
				SELECT bucket, day, state, n FROM tally_deltas WHERE company_id = ? AND book = ?
				UNION ALL SELECT bucket, day, state, -n FROM (`+records.SQL+`) AS recorded
			) AS both_of_them GROUP BY bucket, day, state
		)
		SELECT area, unit, day, state, bucket, CAST(SUM(n) AS BIGINT) FROM (
			`+strings.Join(stored, ` UNION ALL `)+`
			UNION ALL SELECT -1, 'day', day, state, bucket / 16, n FROM actual
			UNION ALL SELECT -1, 'month', substr(day, 1, 7), state, bucket / 16, n FROM actual
			UNION ALL SELECT bucket / 16, 'day', day, state, bucket, n FROM actual
			UNION ALL SELECT bucket / 16, 'month', substr(day, 1, 7), state, bucket, n FROM actual
		) AS compared GROUP BY area, unit, day, state, bucket
		HAVING SUM(n) <> 0 ORDER BY area, unit, day, state, bucket LIMIT ?`, args...)
}

// wrongAreas is differentAreas as changes.
func wrongAreas(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	found, err := differentAreas(ctx, querier, companyID, counter, records)
	list := make([]Change, len(found))
	for n, at := range found {
		list[n] = Change{Key: Key{Bucket: at.bucket, Day: at.day, State: at.state}, N: at.n}
	}
	return list, err
}

// correctAreas corrects the areas.
func (r Recount) correctAreas(ctx context.Context, tx *sqldb.Tx, companyID int64, records Records) (int, error) {
	find := func() ([]areaDifference, error) { return differentAreas(ctx, tx, companyID, r.Counter, records) }
	return correctAll(find, func(wrong []areaDifference) error {
		sums := map[areaKey]int64{}
		for _, at := range wrong {
			sums[at.areaKey] = -at.n
		}
		return addAreaSums(ctx, tx, companyID, sums)
	})
}
