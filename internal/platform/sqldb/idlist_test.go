package sqldb_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestEachIDVisitsEveryMatchOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		source := sqldb.Source{From: "(SELECT 9 AS id UNION ALL SELECT 300000 UNION ALL SELECT 5000000000) n", ID: "n.id"}
		for most, want := range map[int64][]int64{0: nil, 9: {9}, 1 << 40: {9, 300000, 5000000000}} {
			of := source
			of.Where.And("n.id <= ?", most)
			var got []int64
			err := of.EachID(t.Context(), db, func(id int64) { got = append(got, id) })
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("up to %d: %v, %v; want %v", most, got, err, want)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		err := source.EachID(ended, db, func(int64) { t.Error("an id of a reading that has ended") })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the cancellation", err)
		}
	})
}
