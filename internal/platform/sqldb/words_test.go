package sqldb_test

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

func TestListsAreReadAsTheyWereStored(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for stored, words := range map[string]sqldb.Words{",": {}, ",api,": {"api"}, ",api,webhooks,": {"api", "webhooks"}} {
			got, err := sqldb.Value[sqldb.Words](t.Context(), db, `SELECT CAST(? AS TEXT)`, words)
			if err != nil || !slices.Equal(got, words) || words.String() != stored {
				t.Errorf("%q was stored as %q and read as %q, %v", []string(words), words, []string(got), err)
			}
		}
	})
}

func TestListsThatNobodyWroteAreReadOrRefused(t *testing.T) {
	var words sqldb.Words
	for _, src := range []any{nil, "", ",", []byte(",,")} {
		if err := words.Scan(src); err != nil || len(words) != 0 {
			t.Errorf("%v is read as %q, %v", src, []string(words), err)
		}
	}
	if words.Scan(7) == nil {
		t.Error("a number is taken for a list")
	}
}
