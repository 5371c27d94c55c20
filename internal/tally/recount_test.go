package tally

import (
	"context"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// recountThings counts the table of the tests again.
var recountThings = Recount{Counter: things, Records: func(scope Scope) Records {
	return Records{Args: []any{scope.CompanyID}, SQL: `
		SELECT '2027-01-31' AS day, id / 4096 AS plan_id, 0 AS product_id, 'kept' AS state, 1 AS n, 100 AS cents
		FROM things WHERE company_id = ?`}
}}

// planOf puts things under many plans.
func planOf(id int64) int64 { return id / 4096 }

func thing(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	if _, err := tx.Exec(ctx, `INSERT INTO things (company_id, id) VALUES (?, ?)`, companyID, id); err != nil {
		return err
	}
	return things.Add(ctx, tx, companyID, Change{
		N: 1, Cents: 100, Key: Key{Day: "2027-01-31", PlanID: planOf(id), State: "kept"},
	})
}

func wantDifferences(t *testing.T, db *sqldb.DB, companyID int64, want int) {
	t.Helper()
	got, err := recountThings.Differences(t.Context(), db, Scope{CompanyID: companyID})
	must(t, err)
	if len(got) != want {
		t.Errorf("company %d: %d differences, want %d: %+v", companyID, len(got), want, got)
	}
}

func TestRecountFindsAndCorrectsWhatIsWrong(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		for id := range int64(5) {
			write(t, db, func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 1, id*3000+1) })
			write(t, db, func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 2, id+1) })
		}
		must(t, Compact(t.Context(), db))
		write(t, db, func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 1, 99) }) // still a delta
		wantDifferences(t, db, 1, 0)
		for _, damage := range []string{
			`UPDATE tally_sums SET n = n + 1, cents = cents - 5 WHERE company_id = 1 AND plan_id = 1`,
			`UPDATE tally_months SET n = n - 1 WHERE company_id = 1 AND plan_id = 2`,
			`UPDATE tally_totals SET n = 0 WHERE company_id = 1`,
			`DELETE FROM tally_deltas WHERE company_id = 1`,
		} {
			write(t, db, func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), damage)
				return err
			})
		}
		wantDifferences(t, db, 1, 5) // two sums, two months, the total
		wantDifferences(t, db, 2, 0)
		corrected, err := recountThings.Correct(t.Context(), db, Scope{CompanyID: 1})
		must(t, err)
		if corrected != 5 {
			t.Errorf("%d were corrected", corrected)
		}
		wantDifferences(t, db, 1, 0)
		if total, err := things.Total(t.Context(), db, 1); err != nil || total != 6 {
			t.Errorf("the total is %d, %v", total, err)
		}
	})
}

func TestMoreThanIsFoundAtOnceIsCorrected(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		write(t, db, func(tx *sqldb.Tx) error {
			for id := range int64(maxDifferences + 50) {
				if err := thing(t.Context(), tx, 1, id*4096); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, Compact(t.Context(), db))
		write(t, db, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE tally_months SET n = n + 1 WHERE company_id = 1`)
			return err
		})
		wantDifferences(t, db, 1, maxDifferences)
		corrected, err := recountThings.Correct(t.Context(), db, Scope{CompanyID: 1})
		if err != nil || corrected != maxDifferences+50 {
			t.Errorf("%d were corrected, %v", corrected, err)
		}
		wantDifferences(t, db, 1, 0)
	})
}

func TestRecountLeavesOtherStatesAlone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		write(t, db, func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 1, 1) })
		write(t, db, func(tx *sqldb.Tx) error {
			return things.Add(t.Context(), tx, 1, Change{N: 1, Key: Key{Day: "2027-01-31", State: "gone"}})
		})
		some := recountThings
		some.Records = func(scope Scope) Records {
			records := recountThings.Records(scope)
			records.States = []string{"kept"}
			return records
		}
		if found, err := some.Differences(t.Context(), db, Scope{CompanyID: 1}); err != nil || len(found) != 0 {
			t.Errorf("%+v, %v", found, err)
		}
		wantDifferences(t, db, 1, 2) // the state that has no records and the total
	})
}

// A server goes on while counts are corrected, and two operators may do so.
func TestCorrectingBesideChangesLosesNone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		pools := newThings(t, engine)
		write(t, pools[0], func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 1, 1_000_000) })
		must(t, Compact(t.Context(), pools[0]))
		write(t, pools[0], func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE tally_sums SET n = n + 10 WHERE company_id = 1`)
			return err
		})
		var all sync.WaitGroup
		for n, db := range pools {
			all.Go(func() {
				for id := range int64(30) {
					if err := db.Write(t.Context(), func(tx *sqldb.Tx) error { return thing(t.Context(), tx, 1, int64(n)*1000+id) }); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				for range 5 {
					if _, err := recountThings.Correct(t.Context(), db, Scope{CompanyID: 1}); err != nil {
						t.Error(err)
					}
					if err := Compact(t.Context(), db); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		wantDifferences(t, pools[0], 1, 0)
	})
}
