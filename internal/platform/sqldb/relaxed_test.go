package sqldb_test

import (
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// flushSettings read whether the commit of a transaction is flushed.
var flushSettings = map[sqldb.Engine]struct{ text, flushed, relaxed string }{
	sqldb.SQLite:   {"PRAGMA synchronous", "2", "1"},
	sqldb.Postgres: {"SELECT current_setting('synchronous_commit')", "on", "off"},
}

func TestOnlyRelaxedWritesAreNotFlushed(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		setting := flushSettings[db.Engine()]
		var writers sync.WaitGroup
		for i := range 8 {
			write, want := db.Write, setting.flushed
			if i%2 == 0 {
				write, want = db.WriteRelaxed, ""
			}
			writers.Go(func() {
				for range 50 {
					err := write(t.Context(), func(tx *sqldb.Tx) error {
						got, err := sqldb.Value[string](t.Context(), tx, setting.text)
						if want != "" && got != want {
							t.Errorf("a write that is to be flushed has %s, want %s", got, want)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		err := db.WriteRelaxed(t.Context(), func(tx *sqldb.Tx) error {
			got, err := sqldb.Value[string](t.Context(), tx, setting.text)
			if got != setting.relaxed {
				t.Errorf("a lone relaxed write has %s, want %s", got, setting.relaxed)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
