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
		for stored, ids := range map[string]sqldb.IDList{",": {}, ",7,": {7}, ",3,5,": {3, 5}} {
			got, err := sqldb.Value[sqldb.IDList](t.Context(), db, `SELECT CAST(? AS TEXT)`, ids)
			if err != nil || !slices.Equal(got, ids) || ids.String() != stored {
				t.Errorf("%v was stored as %q and read as %v, %v", []int64(ids), ids, []int64(got), err)
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
	var ids sqldb.IDList
	if err := ids.Scan(",3,x,"); err == nil {
		t.Error("a word is taken for an id")
	}
	if words.Scan(7) == nil || ids.Scan(7) == nil {
		t.Error("a number is taken for a list")
	}
}
