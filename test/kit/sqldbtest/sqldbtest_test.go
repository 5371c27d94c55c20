package sqldbtest_test

import (
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func addKey(t *testing.T, db *sqldb.DB) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO secret_keys (key_id, proof, created_at) VALUES ('a', 'b', ?)", tx.Now().UnixMicro())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func keys(t *testing.T, db *sqldb.DB) int {
	t.Helper()
	count, err := sqldb.Value[int](t.Context(), db, "SELECT COUNT(*) FROM secret_keys")
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestEveryDatabaseIsFreshAndApart(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		one, other := sqldbtest.New(t, engine), sqldbtest.New(t, engine)
		if one.Engine() != engine {
			t.Errorf("got %s", one.Engine())
		}
		addKey(t, one)
		if keys(t, one) != 1 || keys(t, other) != 0 {
			t.Errorf("%d and %d keys, want 1 and 0", keys(t, one), keys(t, other))
		}
	})
}

func TestOneURLOpenedTwiceIsOneDatabase(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		one, other := sqldbtest.Open(t, url), sqldbtest.Open(t, url)
		addKey(t, one)
		if n := keys(t, other); n != 1 {
			t.Errorf("the other process sees %d keys, want 1", n)
		}
	})
}

func TestClockStandsStillUntilItIsTold(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.New(t, sqldb.SQLite, sqldbtest.WithClock(clock))
	for _, want := range []time.Time{noon, noon} {
		if !db.Now().Equal(want) {
			t.Errorf("%v, want %v", db.Now(), want)
		}
	}
	clock.Advance(90 * time.Second)
	if want := noon.Add(90 * time.Second); !db.Now().Equal(want) {
		t.Errorf("%v, want %v", db.Now(), want)
	}
	clock.Set(noon)
	if !db.Now().Equal(noon) {
		t.Errorf("%v, want %v", db.Now(), noon)
	}
}
