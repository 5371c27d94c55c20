package sqldb_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/pgserver"
	"carteira/test/kit/sqldbtest"
)

// impatient has deadlines that a test can wait for.
var impatient = sqldb.Timeouts{Statement: 1500 * time.Millisecond, Connect: 1500 * time.Millisecond, Ping: time.Second}

// proxied is the address of a database behind a proxy.
func proxied(t *testing.T, address string) (*pgserver.Proxy, *url.URL) {
	t.Helper()
	proxy, way, err := pgserver.ProxyBefore(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy, way
}

// silenceable opens a database behind a proxy that can stop forwarding without
// a word.
func silenceable(t *testing.T) (*sqldb.DB, *pgserver.Proxy) {
	t.Helper()
	address := sqldbtest.URL(t, sqldb.Postgres)
	withNotes(t, sqldbtest.Open(t, address))
	proxy, target := proxied(t, address)
	var db *sqldb.DB
	err := errors.New("not tried")
	for tries := 0; err != nil && tries < 10; tries++ { // connecting may take longer, as below
		db, err = sqldb.Open(t.Context(), target.String(), sqldb.Options{Timeouts: impatient})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, proxy
}

// wantNotesAgain wants the empty table to be read, by one of a few: on a busy
// machine connecting may take longer than is allowed here.
func wantNotesAgain(t *testing.T, db *sqldb.DB) {
	t.Helper()
	var err error
	for range 10 {
		var notes []int64
		if notes, err = sqldb.Values[int64](t.Context(), db, "SELECT id FROM notes"); err == nil {
			if len(notes) != 0 {
				t.Errorf("notes %v, want none", notes)
			}
			return
		}
	}
	t.Errorf("reading does not begin again: %v", err)
}

func TestReadFromAServerThatVanishedEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	db, proxy := silenceable(t)
	wantNotes(t, db)
	proxy.Silence()
	for range 2 { // on a connection that was open, and on a new one
		_, err := sqldb.Values[int64](context.Background(), db, "SELECT id FROM notes")
		if !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	}
	if err := db.Ping(context.Background()); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	proxy.Speak()
	wantNotesAgain(t, db)
}

func TestTransactionOnAServerThatVanishedEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused by a rule")
	moments := map[string]struct {
		before bool
		run    func(proxy *pgserver.Proxy, tx *sqldb.Tx) error
		want   error
	}{
		"begin":     {true, func(_ *pgserver.Proxy, tx *sqldb.Tx) error { return insert(t, 1)(tx) }, sqldb.ErrUnavailable},
		"statement": {false, func(proxy *pgserver.Proxy, tx *sqldb.Tx) error { proxy.Silence(); return insert(t, 1)(tx) }, sqldb.ErrUnavailable},
		"commit": {false, func(proxy *pgserver.Proxy, tx *sqldb.Tx) error {
			err := insert(t, 1)(tx)
			proxy.Silence()
			return err
		}, sqldb.ErrUnavailable},
		"rollback": {false, func(proxy *pgserver.Proxy, tx *sqldb.Tx) error {
			err := insert(t, 1)(tx)
			proxy.Silence()
			return errors.Join(err, refused)
		}, refused},
	}
	for name, moment := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, proxy := silenceable(t)
			wantNotes(t, db)
			if moment.before {
				proxy.Silence()
			}
			err := db.Write(context.Background(), func(tx *sqldb.Tx) error { return moment.run(proxy, tx) })
			if !errors.Is(err, moment.want) {
				t.Errorf("got %v, want %v", err, moment.want)
			}
			proxy.Speak()
			wantNotesAgain(t, db)
		})
	}
}

// Without it each dead connection would cost a statement, one after the other,
// the whole of its deadline.
func TestOneDeadConnectionCondemnsThoseThatAreAsOld(t *testing.T) {
	t.Parallel()
	db, proxy := silenceable(t)
	const open = 8
	var all sync.WaitGroup
	var met sync.WaitGroup
	met.Add(open)
	for range open {
		all.Go(func() {
			_ = db.Write(t.Context(), func(tx *sqldb.Tx) error {
				met.Done()
				met.Wait() // so each has a connection of its own
				return nil
			})
		})
	}
	all.Wait()
	before := proxy.Connections()
	if before < open {
		t.Fatalf("%d connections, want %d", before, open)
	}
	proxy.Silence()
	proxy.Speak() // for new ones
	failed := 0
	for range 2 * open {
		if _, err := sqldb.Values[int64](context.Background(), db, "SELECT id FROM notes"); err != nil {
			failed++
		}
	}
	if failed > open/2 {
		t.Errorf("%d reads failed, want 1 or so", failed)
	}
	if n := proxy.Connections(); n == before {
		t.Errorf("no new connection was made")
	}
}

func TestSlowStatementOfACallerWhoGaveUpCondemnsNobody(t *testing.T) {
	db, proxy := silenceable(t)
	wantNotes(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := sqldb.Value[string](ctx, db, "SELECT pg_sleep(10)::text"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
	})
	all.Wait()
	wantNotes(t, db)
	if n := db.Condemned(); n != 0 {
		t.Errorf("connections were condemned %d times (%d made)", n, proxy.Connections())
	}
}

func TestStatementLimitOfTheServerIsUnavailable(t *testing.T) {
	db := sqldbtest.New(t, sqldb.Postgres)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL statement_timeout = '10ms'"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "SELECT pg_sleep(10)")
		return err
	})
	if !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestLongWorkHasNoStatementDeadline(t *testing.T) {
	t.Parallel()
	db, _ := silenceable(t)
	for _, long := range []bool{false, true} {
		ctx := t.Context()
		if long {
			ctx = sqldb.WithoutDeadline(ctx)
		}
		_, err := sqldb.Value[string](ctx, db, "SELECT pg_sleep(2)::text")
		if ended := errors.Is(err, sqldb.ErrUnavailable); ended == long || long && err != nil {
			t.Errorf("long %v: %v", long, err)
		}
	}
}

// endless is a read that nothing ends but a deadline.
const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`

func TestReadThatOutlastsItsCallerIsTheCallersDeadline(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := sqldb.Value[int64](ctx, db, endless); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
	})
}

func TestReadOfABackgroundTaskHasADeadlineOnBothDatabases(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine, func(options *sqldb.Options) {
			options.Timeouts = impatient
			options.Timeouts.Statement = 300 * time.Millisecond
		})
		if _, err := sqldb.Value[int64](context.Background(), db, endless); !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	})
}

func TestConnectTimeoutOfTheAddressCountsUntilTheConnectionIsReady(t *testing.T) {
	proxy, address := proxied(t, sqldbtest.URL(t, sqldb.Postgres))
	hasty := impatient
	hasty.Connect = 100 * time.Millisecond
	proxy.Hesitate(hasty.Connect) // so that each answer takes twice as long
	query := address.Query()
	query.Set("connect_timeout", "60")
	address.RawQuery = query.Encode()
	db, err := sqldb.Open(t.Context(), address.String(), sqldb.Options{Timeouts: hasty})
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
}
