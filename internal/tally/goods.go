package tally

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"carteira/internal/platform/sqldb"
)

// Goods are the plan and the product that a list is filtered by; 0: any.
type Goods struct{ PlanID, ProductID int64 }

// byGoods reports whether the buckets of a counter are also counted by plan and
// product. That is for lists of many records in which a deep page of one plan is
// asked for.
func (b Counter) byGoods() bool { return b == Customers }

// FilteredWindow is Window for a list that is filtered by goods and nothing
// else, with how many records it has: a page is found through the buckets of the goods.
func (b Counter) FilteredWindow(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	goods Goods,
	window sqldb.Window,
) (placed sqldb.Window, records int64, err error) {
	found, err := goodsBuckets(ctx, querier, companyID, b, goods)
	return windowIn(found, window), recordsIn(found), err
}

// goodsBucket is where records are counted that have a plan and a product in
// common and whose ids are near each other.
type goodsBucket struct {
	counter Counter
	bucket  int64
	Goods
}

// goodsBuckets are the buckets that have records of goods, the newest first.
func goodsBuckets(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	goods Goods,
) ([]bucketCount, error) {
	var where sqldb.Where
	where.And("company_id = ?", companyID)
	where.And("book = ?", string(counter))
	if goods.PlanID != 0 {
		where.And("plan_id = ?", goods.PlanID)
	}
	if goods.ProductID != 0 {
		where.And("product_id = ?", goods.ProductID)
	}
	return sqldb.All(ctx, querier, scanBucket, `
		SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_goods`+where.String()+`
			UNION ALL SELECT bucket, n FROM tally_deltas`+where.String()+`
		) AS counted GROUP BY bucket ORDER BY bucket DESC`, slices.Concat(where.Args, where.Args)...)
}

// addGoods adds deltas to the buckets of goods, each bucket once.
func addGoods(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	sums := map[goodsBucket]int64{}
	for _, delta := range deltas {
		if delta.counter.byGoods() {
			sums[goodsBucket{delta.counter, delta.Bucket, Goods{delta.PlanID, delta.ProductID}}] += delta.N
		}
	}
	return addGoodsSums(ctx, tx, companyID, sums)
}

// addGoodsSums also removes a bucket that has come to nothing.
func addGoodsSums(ctx context.Context, tx *sqldb.Tx, companyID int64, sums map[goodsBucket]int64) error {
	maps.DeleteFunc(sums, func(_ goodsBucket, n int64) bool { return n == 0 })
	buckets := slices.SortedFunc(maps.Keys(sums), func(a, b goodsBucket) int {
		return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.bucket, b.bucket),
			cmp.Compare(a.PlanID, b.PlanID), cmp.Compare(a.ProductID, b.ProductID))
	})
	var rows [][]any
	for _, at := range buckets {
		rows = append(rows, []any{companyID, string(at.counter), at.PlanID, at.bucket, at.ProductID, sums[at]})
	}
	if err := upsert(ctx, tx, rows, `
		INSERT INTO tally_goods (company_id, book, plan_id, bucket, product_id, n) VALUES `, `
		ON CONFLICT (company_id, book, plan_id, bucket, product_id) DO UPDATE SET n = tally_goods.n + excluded.n`); err != nil {
		return err
	}
	for _, at := range buckets {
		if sums[at] > 0 {
			continue
		}
		if _, err := tx.Exec(ctx, `
			DELETE FROM tally_goods WHERE company_id = ? AND book = ? AND plan_id = ? AND bucket = ? AND product_id = ? AND n = 0`,
			companyID, string(at.counter), at.PlanID, at.bucket, at.ProductID); err != nil {
			return err
		}
	}
	return nil
}

func differentGoods(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	counter Counter,
	records Records,
) ([]Change, error) {
	if !counter.byGoods() {
		return nil, nil
	}
	args := []any{companyID, string(counter), companyID, string(counter)}
	return sqldb.All(ctx, querier, func(row sqldb.Row) (change Change, err error) {
		err = row.Scan(&change.PlanID, &change.Bucket, &change.ProductID, &change.N)
		return change, err
	}, `SELECT plan_id, bucket, product_id, CAST(SUM(n) AS BIGINT) FROM (
			SELECT plan_id, bucket, product_id, n FROM tally_goods WHERE company_id = ? AND book = ?
			UNION ALL SELECT plan_id, bucket, product_id, n FROM tally_deltas WHERE company_id = ? AND book = ?
			UNION ALL SELECT plan_id, bucket, product_id, -n FROM (`+records.SQL+`) AS actual
		) AS compared GROUP BY plan_id, bucket, product_id HAVING SUM(n) <> 0 ORDER BY plan_id, bucket, product_id LIMIT ?`,
		append(append(args, records.Args...), maxDifferences)...)
}

// correctGoods corrects the buckets of goods.
func (r Recount) correctGoods(ctx context.Context, tx *sqldb.Tx, companyID int64, records Records) (int, error) {
	find := func() ([]Change, error) { return differentGoods(ctx, tx, companyID, r.Counter, records) }
	return correctAll(find, func(wrong []Change) error {
		sums := map[goodsBucket]int64{}
		for _, at := range wrong {
			sums[goodsBucket{r.Counter, at.Bucket, Goods{at.PlanID, at.ProductID}}] = -at.N
		}
		return addGoodsSums(ctx, tx, companyID, sums)
	})
}
