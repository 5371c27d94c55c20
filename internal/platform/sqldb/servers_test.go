//go:build unix

package sqldb_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/pgserver"
	"carteira/test/kit/sqldbtest"
)

// startServer starts a PostgreSQL that a test may crash.
func startServer(t *testing.T) *pgserver.Server {
	t.Helper()
	if os.Getenv("CARTEIRA_TEST_POSTGRES_URL") == "" && os.Getenv("CI") != "true" {
		t.Skip("no PostgreSQL to test on: run `make test`, which brings the programs")
	}
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

func openAt(t *testing.T, url string, options sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func startBouncer(t *testing.T, server *pgserver.Server) *pgserver.Bouncer {
	t.Helper()
	bouncer, err := server.Bouncer(t.Context())
	if errors.Is(err, pgserver.ErrNoBouncer) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bouncer.Stop)
	return bouncer
}

func TestPgBouncerInTransactionModeWorksFromTheURLAlone(t *testing.T) {
	server := startServer(t)
	direct := openAt(t, server.URL(), sqldb.Options{})
	db := openAt(t, startBouncer(t, server).URL(), sqldb.Options{})
	if direct.Pooled() || !db.Pooled() {
		t.Errorf("pooler found: directly %v, by PgBouncer %v", direct.Pooled(), db.Pooled())
	}
	withNotes(t, db)
	// More clients than server connections, so that statements of one client run
	// now on this server connection, now on that.
	const clients, rounds = 12, 20
	var all sync.WaitGroup
	for client := range int64(clients) {
		all.Go(func() {
			for round := range int64(rounds) {
				id := client*rounds + round + 1
				if err := db.Write(t.Context(), insert(t, id)); err != nil {
					t.Error(err)
				}
				body, err := sqldb.Value[string](t.Context(), db, "SELECT body FROM notes WHERE id {in ?}", []int64{id})
				if err != nil || !strings.HasPrefix(body, "note ") {
					t.Errorf("note %d is %q: %v", id, body, err)
				}
			}
		})
	}
	all.Wait()
	if n, err := sqldb.Value[int](t.Context(), db, "SELECT count(*) FROM notes"); err != nil || n != clients*rounds {
		t.Errorf("%d notes, %v", n, err)
	}
}

func TestTransactionsThroughPgBouncerAreAsSafeAsWithout(t *testing.T) {
	server := startServer(t) // its synchronous_commit is off
	bouncer := startBouncer(t, server)
	for name, url := range map[string]string{"directly": server.URL(), "by PgBouncer": bouncer.URL()} {
		db := openAt(t, url, sqldb.Options{})
		for text, want := range map[string]string{
			"SELECT current_setting('synchronous_commit')":                  "on",
			"SELECT current_setting('idle_in_transaction_session_timeout')": "15s",
		} {
			if got := setting(t, db, text); got != want {
				t.Errorf("%s: %s is %s, want %s", name, text, got, want)
			}
		}
	}
	// Nothing was left behind on the server connections, which others use too.
	other := openAt(t, bouncer.URL(), sqldb.Options{})
	for range 6 {
		got, err := sqldb.Value[string](t.Context(), other, "SELECT current_setting('synchronous_commit')")
		if err != nil || got != "off" {
			t.Errorf("outside a transaction synchronous_commit is %s: %v", got, err)
		}
	}
}

// writesAgain waits until a write succeeds, and returns how often it failed.
func writesAgain(t *testing.T, db *sqldb.DB, id int64) (failures int) {
	t.Helper()
	for late := time.Now().Add(time.Minute); time.Now().Before(late); failures++ {
		err := db.Write(context.Background(), insert(t, id))
		if err == nil || errors.Is(err, sqldb.ErrUnique) { // or the one before was carried out, and its answer lost
			return failures
		}
		if !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("while there is no server: %v, want ErrUnavailable", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("writing does not begin again")
	return 0
}

func TestFailoverToAPromotedStandbyIsFollowed(t *testing.T) {
	primary := startServer(t)
	standby, err := primary.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Stop)
	if err := primary.Synchronous(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The standby first: it must be passed over while it is one.
	db := withNotes(t, openAt(t, primary.URLAt(standby.Address(), primary.Address()), sqldb.Options{Timeouts: impatient}))
	for id := range int64(5) {
		run(t, db, "INSERT INTO notes (id, body) VALUES (?, ?)", id, "before "+string(rune('a'+id)))
	}
	primary.Crash()
	if err := db.Write(t.Context(), insert(t, 100)); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("between the servers: %v, want ErrUnavailable", err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	writesAgain(t, db, 101)
	if n, err := sqldb.Value[int](t.Context(), db, "SELECT count(*) FROM notes WHERE id < 5"); err != nil || n != 5 {
		t.Errorf("%d of 5 acknowledged notes, %v", n, err)
	}
}

// A name or address that moves to another server leaves our connections to the
// old one open, if that lives on as a standby.
func TestServerThatBecameReadOnlyIsLeft(t *testing.T) {
	db := withNotes(t, sqldbtest.New(t, sqldb.Postgres))
	before := db.Condemned()
	run(t, db, "SET SESSION default_transaction_read_only = on")
	err := db.Write(t.Context(), insert(t, 1))
	if !errors.Is(err, sqldb.ErrUnavailable) || db.Condemned() == before {
		t.Errorf("got %v, and connections condemned %d times more", err, db.Condemned()-before)
	}
	writesAgain(t, db, 1)
}
