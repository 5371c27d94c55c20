package sqldb_test

import (
	"fmt"
	"reflect"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestStatementIsRewrittenForEachEngine(t *testing.T) {
	tests := []struct{ in, postgres, sqlite string }{
		{"SELECT 1", "SELECT 1", "SELECT 1"},
		{"a = ? AND b IN (?,?)", "a = $1 AND b IN ($2,$3)", "a = ? AND b IN (?,?)"},
		{"a = '?' AND b = ?", "a = '?' AND b = $1", "a = '?' AND b = ?"},
		{"a = 'it''s ?' AND b = ?", "a = 'it''s ?' AND b = $1", "a = 'it''s ?' AND b = ?"},
		{"'' || ? || 'é?'", "'' || $1 || 'é?'", "'' || ? || 'é?'"},
		{"a {in ?} AND NOT b {in ?}", "a = ANY($1) AND NOT b = ANY($2)", "a IN (SELECT value FROM json_each(?)) AND NOT b IN (SELECT value FROM json_each(?))"},
		{"SELECT 1 {for update}", "SELECT 1 FOR UPDATE", "SELECT 1 "},
		{"LIMIT ? {for update skip locked}", "LIMIT $1 FOR UPDATE SKIP LOCKED", "LIMIT CAST(? AS INTEGER) "},
		{"SELECT 1 {for key share of p}", "SELECT 1 FOR KEY SHARE OF P", "SELECT 1 "},
		{"a = ? AND {b > ? | TRUE} AND c = ?", "a = $1 AND TRUE AND c = $2", "a = ? AND b > ? AND c = ?"},
		{"{position}(a, ?) > 0", "strpos(a, $1) > 0", "instr(a, ?) > 0"},
		{"a LIKE ? ESCAPE '!' LIMIT ? OFFSET ?", "a LIKE $1 ESCAPE '!' LIMIT $2 OFFSET $3", "a LIKE CAST(? AS TEXT) ESCAPE '!' LIMIT CAST(? AS INTEGER) OFFSET CAST(? AS INTEGER)"},
	}
	for _, tt := range tests {
		if got := sqldb.ForPostgres(tt.in); got != tt.postgres {
			t.Errorf("for PostgreSQL %q, want %q", got, tt.postgres)
		}
		if got := sqldb.ForSQLite(tt.in); got != tt.sqlite {
			t.Errorf("for SQLite %q, want %q", got, tt.sqlite)
		}
	}
}

func TestOneTextServesBothEngines(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, ?), (2, 'why?')", "what?")
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for _, lock := range []string{"{for key share}", "{for update}", "{for update skip locked}"} {
				body, err := sqldb.Value[string](t.Context(), tx, "SELECT body FROM notes WHERE body <> 'why?' AND id = ? "+lock, 1)
				if err != nil || body != "what?" {
					t.Errorf("%s: %q, %v", lock, body, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestListIsOneArgument(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		withNotes(t, db)
		run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'a'), (2, 'b\"[é]<'), (3, 'c')")
		for _, tt := range []struct {
			text string
			list any
			want string
		}{
			{"id {in ?}", []int64{3, 1, 1, 9}, "[1 3]"},
			{"NOT id {in ?}", []int64{3, 1}, "[2]"},
			{"id {in ?}", []int64{}, "[]"},
			{"NOT id {in ?}", []int64(nil), "[1 2 3]"},
			{"body {in ?}", []string{"b\"[é]<", "d"}, "[2]"},
			{"NOT body {in ?}", []string(nil), "[1 2 3]"},
		} {
			args := []any{tt.list, 0}
			ids, err := sqldb.Values[int64](t.Context(), db, "SELECT id FROM notes WHERE "+tt.text+" AND id > ? ORDER BY id", args...)
			if got := fmt.Sprint(ids); err != nil || got != tt.want {
				t.Errorf("%s of %v: %s, %v; want %s", tt.text, tt.list, got, err, tt.want)
			}
			if !reflect.DeepEqual(args, []any{tt.list, 0}) {
				t.Errorf("the caller's arguments became %v", args)
			}
		}
	})
}

func TestSkipLockedPassesOverRowsThatOthersHold(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.Postgres))
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'held'), (2, 'free')")
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if err := touch(t, tx, 1); err != nil {
			return err
		}
		return db.Write(t.Context(), func(other *sqldb.Tx) error {
			id, err := sqldb.Value[int64](t.Context(), other, "SELECT id FROM notes ORDER BY id LIMIT 1 {for update skip locked}")
			if err == nil && id != 2 {
				t.Errorf("got note %d, want the one that is free", id)
			}
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}
