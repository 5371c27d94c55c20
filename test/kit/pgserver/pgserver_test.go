//go:build unix

package pgserver_test

import (
	"errors"
	"os"
	"testing"

	"carteira/test/kit/pgserver"
)

func start(t *testing.T) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(t.Context(), pgserver.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

func TestStandbyHasWhatThePrimaryCommittedAndTakesWritesWhenPromoted(t *testing.T) {
	primary := start(t)
	standby, err := primary.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Stop)
	if err := primary.Synchronous(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := primary.Exec(t.Context(), "CREATE TABLE notes (id int)", "INSERT INTO notes VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := standby.Exec(t.Context(), "INSERT INTO notes VALUES (2)"); err == nil {
		t.Error("the standby takes writes before it is promoted")
	}
	primary.Crash()
	if err := primary.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the primary answers after its crash")
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := standby.Exec(t.Context(), "INSERT INTO notes VALUES (2)", "SELECT 1 / (count(*) - 1) FROM notes"); err != nil {
		t.Error(err)
	}
}

func TestCrashedServerComesBackWhereItWas(t *testing.T) {
	server := start(t)
	address := server.Address()
	if err := server.Exec(t.Context(), "CREATE TABLE notes (id int)"); err != nil {
		t.Fatal(err)
	}
	server.Crash()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Exec(t.Context(), "SELECT * FROM notes"); err != nil || server.Address() != address {
		t.Errorf("at %s, was at %s: %v", server.Address(), address, err)
	}
}

func TestBouncerStandsBeforeTheServer(t *testing.T) {
	server := start(t)
	bouncer, err := server.Bouncer(t.Context())
	if errors.Is(err, pgserver.ErrNoBouncer) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if bouncer.Address() == server.Address() || bouncer.URL() == server.URL() {
		t.Errorf("%s and %s", bouncer.Address(), server.Address())
	}
	bouncer.Stop()
}
