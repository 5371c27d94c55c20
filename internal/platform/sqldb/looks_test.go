package sqldb_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestLooksTellWhichOfThemFindARow(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := db.Now()
		times := func(at time.Time) string {
			return "SELECT CAST(" + strconv.FormatInt(at.UnixMicro(), 10) + " AS BIGINT) AS at"
		}
		found, err := sqldb.Looks(t.Context(), db, []sqldb.Statement{
			{Text: "SELECT 1 WHERE 1 = ?", Args: []any{2}},
			sqldb.DueLook(db, times(now.Add(time.Hour)), times(now)),
			sqldb.DueLook(db, times(now.Add(time.Hour))),
			{Text: "SELECT 1 FROM schema_migrations"},
		})
		if want := []bool{false, true, false, true}; err != nil || !slices.Equal(found, want) {
			t.Errorf("found %v, %v, want %v", found, err, want)
		}
	})
}
