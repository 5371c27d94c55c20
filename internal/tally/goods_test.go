package tally

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// sold are records with a plan and a product that follow from their ids.
func sold(ids []int64, n int64) []Change {
	list := changes(ids, n)
	for i, id := range ids {
		list[i].PlanID, list[i].ProductID = 1+id%2, 1+id%3
	}
	return list
}

// The records of a plan, of a product and of both, deep in a list with gaps, of
// which some are folded and some are not.
func TestEveryPageOfGoodsIsWhereTheListSaysItIs(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		random := rand.New(rand.NewPCG(5, 6))
		var list []int64 // of company 1, newest first
		for id := int64(9 * bucketSize); id > 0; id -= 1 + random.Int64N(2) {
			list = append(list, id)
		}
		others := []int64{5, bucketSize, 3*bucketSize + 1}
		for company, ids := range map[int64][]int64{1: list, 2: others} {
			fill(t, db, company, ids)
			write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, company, sold(ids, 1)...) })
		}
		must(t, Compact(t.Context(), db))
		gone := list[10:600:600]
		write(t, db, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `DELETE FROM things WHERE company_id = 1 AND id <= ? AND id >= ?`, gone[0], gone[len(gone)-1])
			return errors.Join(err, Customers.Add(t.Context(), tx, 1, sold(gone, -1)...))
		})
		list = slices.Concat(list[:10], list[600:])
		for range 2 {
			wantGoods(t, db, random, list)
			must(t, Compact(t.Context(), db))
		}
	})
}

func wantGoods(t *testing.T, db *sqldb.DB, random *rand.Rand, list []int64) {
	t.Helper()
	for _, goods := range []Goods{{PlanID: 1}, {ProductID: 2}, {PlanID: 2, ProductID: 3}} {
		has := func(id int64) bool {
			return (goods.PlanID == 0 || 1+id%2 == goods.PlanID) && (goods.ProductID == 0 || 1+id%3 == goods.ProductID)
		}
		ids := slices.DeleteFunc(slices.Clone(list), func(id int64) bool { return !has(id) })
		for range 20 {
			page := input.Page{Size: 1 + random.Int64N(200)}
			page.Number = 1 + random.Int64N(page.Last(int64(len(ids))))
			wantGoodsPage(t, db, goods, ids, page)
		}
	}
}

func wantGoodsPage(t *testing.T, db *sqldb.DB, goods Goods, ids []int64, page input.Page) {
	t.Helper()
	source := sqldb.Source{From: "things", ID: "id", Order: "id"}
	source.Where.And("company_id = ?", 1)
	if goods.PlanID != 0 {
		source.Where.And(fmt.Sprintf("1 + id %% 2 = %d", goods.PlanID))
	}
	if goods.ProductID != 0 {
		source.Where.And(fmt.Sprintf("1 + id %% 3 = %d", goods.ProductID))
	}
	window, records, err := Customers.FilteredWindow(t.Context(), db, 1, goods,
		sqldb.Window{Source: source, Limit: page.Size, Offset: page.Offset()})
	must(t, err)
	if records != int64(len(ids)) {
		t.Errorf("%d records, want %d", records, len(ids))
	}
	wantIDs(t, db, window, ids, page)
	wantNear(t, window)
}

// What leaves a plan altogether leaves no row behind.
func TestGoodsThatNobodyHasLeaveNoRow(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		first := Change{Key: Key{Bucket: 1, PlanID: 1, ProductID: 2}, N: 1}
		second := Change{Key: Key{Bucket: 1, PlanID: 3}, N: 1}
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, 1, first) })
		must(t, Compact(t.Context(), db))
		write(t, db, func(tx *sqldb.Tx) error { return Customers.Move(t.Context(), tx, 1, first, second) })
		must(t, Compact(t.Context(), db))
		if n := number(t, db, `SELECT count(*) FROM tally_goods`); n != 1 {
			t.Errorf("%d rows", n)
		}
		if n := number(t, db, `SELECT n FROM tally_goods WHERE company_id = 1 AND plan_id = 3 AND product_id = 0 AND bucket = 1`); n != 1 {
			t.Errorf("%d customers of the plan", n)
		}
	})
}

// A process that finds another at a company's deltas leaves them to it.
func TestFoldingProcessesDoNotWaitForEachOther(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		if engine == sqldb.SQLite {
			t.Skip("one writer at a time")
		}
		pools := newThings(t, engine)
		fill(t, pools[0], 1, []int64{1, 2, 3})
		before := number(t, pools[0], `SELECT count(*) FROM tally_deltas`)
		write(t, pools[0], func(tx *sqldb.Tx) error {
			if claimed, err := claimDeltas(t.Context(), tx, 1); err != nil || !claimed {
				t.Errorf("claimed: %t, %v", claimed, err)
			}
			must(t, Compact(t.Context(), pools[1])) // comes back at once
			if n := number(t, tx, `SELECT count(*) FROM tally_deltas`); n != before || n == 0 {
				t.Errorf("%d deltas are left, want %d", n, before)
			}
			return nil
		})
		must(t, Compact(t.Context(), pools[1]))
		if n := number(t, pools[0], `SELECT count(*) FROM tally_deltas`); n != 0 {
			t.Errorf("%d deltas are left", n)
		}
	})
}
