package sqldb_test

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A walk picks the same rows by a condition and by known ids, and says when it gave up.
func TestPickFindsRowsAlongAnOrder(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := "(SELECT 1 AS id UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6) n"
		window := sqldb.Window{Source: sqldb.Source{From: rows, ID: "n.id", Order: "n.id"}}
		even := func(id int64) bool { return id%2 == 0 }
		for _, c := range []struct {
			skip, want, most int64
			ids              []int64
			ok               bool
		}{
			{0, 2, 100, []int64{6, 4}, true},
			{1, 2, 100, []int64{4, 2}, true},
			{2, 2, 100, []int64{2}, true}, // there are no more
			{0, 3, 4, []int64{6, 4}, false},
			{3, 1, 100, nil, true},
		} {
			byCondition := sqldb.Picking{Condition: "n.id % ? = 0", Args: []any{2}, Skip: c.skip, Want: c.want, Most: c.most}
			byIDs := sqldb.Picking{Has: even, Skip: c.skip, Want: c.want, Most: c.most}
			for what, picking := range map[string]sqldb.Picking{"by a condition": byCondition, "by ids": byIDs} {
				ids, ok, err := window.Pick(t.Context(), db, picking)
				if err != nil || ok != c.ok || !slices.Equal(ids, c.ids) {
					t.Errorf("%s, %d after %d of %d: %v, %v, %v; want %v, %v", what, c.want, c.skip, c.most, ids, ok, err, c.ids, c.ok)
				}
			}
		}
	})
}
