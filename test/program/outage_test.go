package program

import (
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/pgserver"
	"carteira/test/kit/sqldbtest"
)

// wire puts a wire before the database, and returns the setting of those who
// are to use it.
func (in *installation) wire() (wire *sqldbtest.Wire, setting string) {
	in.t.Helper()
	wire = sqldbtest.NewWire(in.t, in.url)
	return wire, "CARTEIRA_DATABASE_URL=" + wire.URL
}

func TestServerOutlivesItsDatabase(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	wire, setting := in.wire()
	s := in.serve(setting)
	c := s.client(in.token(in.company()))
	ready := func() int { return s.get("/readyz").status }
	for outage := range 2 {
		// Several connections are open, and each must be found out to be dead.
		for _, a := range over(t, []*server{s}, c.token, writers, func(client *client, _ int) (answer, error) {
			return client.send("POST", "/customers", map[string]any{"name": "Ana"})
		}) {
			if a.status != 200 {
				t.Errorf("%d: %s", a.status, a.body)
			}
		}
		if got := ready(); got != 200 {
			t.Fatalf("/readyz: %d", got)
		}
		wire.Cut()
		for _, a := range over(t, []*server{s}, c.token, writers, func(client *client, i int) (answer, error) {
			if i%2 == 0 {
				return client.send("GET", "/customers", nil)
			}
			return client.send("POST", "/customers", map[string]any{"name": "Bia"}, "Idempotency-Key", strings.Repeat("b", i))
		}) {
			if a.status != 503 || a.header.Get("Retry-After") == "" || a.Success || strings.Contains(string(a.body), wire.Address) {
				t.Errorf("outage %d: %d with %v: %s", outage, a.status, a.header, a.body)
			}
		}
		if got := ready(); got != 503 {
			t.Errorf("/readyz without a database: %d", got)
		}
		if got := s.get("/healthz").status; got != 200 {
			t.Errorf("/healthz without a database: %d", got)
		}
		wire.Mend(t)
		eventually(t, "/readyz is green again", func() bool { return ready() == 200 })
		for range writers {
			c.want(200, "GET", "/customers", nil)
		}
	}
	for _, customer := range c.customers() {
		if customer.Name != "Ana" {
			t.Errorf("made though 503 was answered: %+v", customer)
		}
	}
}

// No connection is reset, as when a host loses its power or a network drops
// packets: that nothing comes back is all there is to notice.
func TestServerGoesOnAfterItsDatabaseVanishedWithoutAWord(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	proxy, address, err := pgserver.ProxyBefore(in.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	server := in.serve("CARTEIRA_DATABASE_URL=" + address.String())
	client := server.client(in.token(in.company()))
	create := func() int { return client.call("POST", "/customers", map[string]any{"name": "Ana"}).status }
	if status := create(); status != 200 {
		t.Fatalf("before: %d", status)
	}
	proxy.Silence()
	began := time.Now()
	server.wantReady(503, "unavailable")
	t.Logf("noticed after %v", time.Since(began))
	if status := create(); status != 503 {
		t.Errorf("while it is away: %d", status)
	}
	t.Logf("a request was refused after %v", time.Since(began))
	proxy.Speak()
	began = time.Now()
	eventually(t, "customers are made again", func() bool { return create() == 200 })
	server.wantReady(200, "ready")
	t.Logf("went on after %v", time.Since(began))
}

// The outage is as short as it can be while it is noticed by all: by those who
// record what was sent, and by the one who looks for more. The engine does
// nothing else in a longer one but to look again, every ten seconds at most.
func TestDeliveriesOutliveTheDatabase(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	wire, setting := in.wire()
	receiver := newReceiver(t)
	env := append(receiver.env(t), setting)
	in.backlog(receiver, env)
	arrived, answer := make(chan struct{}, imported), make(chan struct{})
	var known sync.Once // a receiver that has accepted nothing yet gets one delivery at a time
	receiver.meeting(func(string) {
		first := false
		known.Do(func() { first = true })
		if first {
			return
		}
		arrived <- struct{}{}
		<-answer
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release) // before the receiver waits for those who are there
	server := in.serve(env...)
	db := in.open() // not over the wire
	eventually(t, "the first is recorded", func() bool {
		return count(t, db, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`) == 1
	})
	// Of the four that were claimed the first is answered. On a machine that stalls, the others are claimed anew, and one more.
	const held = laneCap - 1
	for range held {
		select {
		case <-arrived:
		case <-time.After(patience):
			t.Fatal("nothing comes")
		}
	}
	wire.Cut()
	release()
	said := func(text string, times int) {
		t.Helper()
		server.await(&server.stderr, func(log string) bool { return strings.Count(log, text) >= times })
	}
	said("delivery attempt not recorded", held)
	said("deliveries cannot be claimed", 2)
	underWay := claimedEvents(t, db)
	if n := count(t, db, `SELECT count(*) FROM deliveries WHERE status = 'pending'`); n != imported-1 || len(underWay) < held || len(underWay) > laneCap {
		t.Errorf("%d are pending and %d under way", n, len(underWay))
	}
	wire.Mend(t)
	// Half a minute later the claims of what could not be recorded have run out.
	execute(t, db, `UPDATE delivery_lanes SET until = 0`)
	eventually(t, "all is delivered", func() bool {
		return count(t, db, `SELECT count(*) FROM deliveries WHERE status <> 'delivered'`) == 0
	})
	wantDelivered(t, db, receiver.received(), 1)
	wantRepeatedOnly(t, receiver.received(), underWay)
	if n := len(receiver.received()); n != imported {
		t.Errorf("%d events came, want %d", n, imported)
	}
}
