package account_test

import (
	"context"
	"errors"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var errRefused = errors.New("refused")

func notes(t *testing.T, querier sqldb.Querier) int64 {
	t.Helper()
	count, err := sqldb.Value[int64](t.Context(), querier, `SELECT count(*) FROM notes`)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func addNote(ctx context.Context, tx *sqldb.Tx) error {
	_, err := tx.Exec(ctx, `INSERT INTO notes (id) VALUES ((SELECT count(*) FROM notes))`)
	return err
}

func TestCompanionIsCommittedOrUndoneWithTheWrite(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		create := func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `CREATE TABLE notes (id BIGINT)`)
			return err
		}
		if err := db.Write(t.Context(), create); err != nil {
			t.Fatal(err)
		}
		var verdict error
		actor := account.Actor{}.With(func(ctx context.Context, tx *sqldb.Tx, _ int64) error {
			if n := notes(t, tx); n != 1 {
				t.Errorf("the companion sees %d notes, want the one of the change", n)
			}
			return errors.Join(addNote(ctx, tx), verdict)
		})
		change := func(tx account.Tx) error { return addNote(t.Context(), tx.Tx) }

		verdict = errRefused
		if err := actor.Write(t.Context(), db, change); !errors.Is(err, errRefused) || notes(t, db) != 0 {
			t.Errorf("%v and %d notes, want the companion's error and none", err, notes(t, db))
		}
		verdict = nil
		if err := actor.Write(t.Context(), db, change); err != nil || notes(t, db) != 2 {
			t.Errorf("%v and %d notes, want both", err, notes(t, db))
		}
	})
}

func TestCompanionIsNotRunAfterAFailure(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	actor := account.Actor{}.With(func(context.Context, *sqldb.Tx, int64) error {
		t.Error("the companion ran")
		return nil
	})
	if err := actor.Write(t.Context(), db, func(account.Tx) error { return errRefused }); !errors.Is(err, errRefused) {
		t.Error(err)
	}
}

func TestNobodyLeavesNoLineInSilence(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		return account.WriteAudit(t.Context(), account.Actor{}.In(tx), account.AuditEntry{Action: "customer.updated"})
	})
	if err == nil {
		t.Error("the deed of nobody was passed over")
	}
}
