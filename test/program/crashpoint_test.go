package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"carteira/internal/platform/sqldb"
)

// imported is how many customers are there, each with an event, before the
// process that is to die starts: enough for several rounds of the engine.
const imported = 10

// backlog subscribes a webhook and writes events that are not sent yet,
// because no server runs at their time.
func (in *installation) backlog(receiver *receiver, env []string) {
	in.t.Helper()
	company := in.company()
	server := in.serve(env...)
	server.client(in.token(company)).want(200, "POST", "/webhooks", map[string]any{"url": receiver.URL, "events": []string{"customer.created"}})
	server.stop()
	sheet := "name\n" + strings.Repeat("Ana\n", imported)
	file := filepath.Join(in.t.TempDir(), "customers.csv")
	if err := os.WriteFile(file, []byte(sheet), 0o600); err != nil {
		in.t.Fatal(err)
	}
	in.run("import", "customers", file, "--company", company, "--events")
}

// dies runs a server of the backlog until it is killed at a point.
func (in *installation) dies(receiver *receiver, env []string, point string) {
	in.t.Helper()
	program, err := mortal()
	if err != nil {
		in.t.Fatal(err)
	}
	var p *process
	begun := make(chan struct{})
	if point == "during-request" { // which the receiver knows best
		var once sync.Once
		receiver.meeting(func(string) { once.Do(func() { <-begun; p.kill() }) })
		defer receiver.meeting(nil)
	}
	p = start(in.t, program, slices.Concat(in.env, env, []string{"CARTEIRA_CRASH_AT=" + point}), "serve")
	close(begun)
	if code := p.wait(); code != -1 {
		in.t.Fatalf("exit code %d, want a death by signal:\n%s", code, p.stderr.String())
	}
}

func TestDeathAtEveryPointOfADeliveryLosesNone(t *testing.T) {
	t.Parallel()
	for _, point := range []struct {
		name   string
		claims bool // some are left
		sent   bool // something came before the death
		closed bool // something was recorded before it
	}{
		{name: "before-claim-commit"},
		{name: "after-claim-commit", claims: true},
		{name: "during-request", claims: true, sent: true},
		{name: "after-answer-before-close", claims: true, sent: true},
		{name: "after-close", sent: true, closed: true},
	} {
		t.Run(point.name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, in *installation) {
				receiver := newReceiver(t)
				env := receiver.env(t)
				in.backlog(receiver, env)
				in.dies(receiver, env, point.name)
				db := in.open()
				underWay, came := claimedEvents(t, db), receiver.received()
				recorded := count(t, db, `SELECT count(*) FROM delivery_attempts`)
				most := laneCap
				if point.closed { // others may have been accepted, and more claimed, during the first record
					most = laneUnderWay
				}
				if point.claims && len(underWay) == 0 || len(underWay) > most || point.sent != (len(came) > 0) || point.closed != (recorded > 0) {
					t.Errorf("it left %d claims, %d came, %d were recorded", len(underWay), len(came), recorded)
				}
				// Half a minute later the lease of the killed process has expired.
				execute(t, db, `UPDATE delivery_lanes SET until = 0`)
				in.serve(env...)
				eventually(t, "all is delivered", func() bool {
					return count(t, db, `SELECT count(*) FROM deliveries WHERE status <> 'delivered'`) == 0
				})
				wantDelivered(t, db, receiver.received(), 1)
				wantRepeatedOnly(t, receiver.received(), underWay)
				if n := len(receiver.received()); n != imported {
					t.Errorf("%d events came, want %d", n, imported)
				}
			})
		})
	}
}

// claimedEvents are the events that were under way.
func claimedEvents(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	ids, err := sqldb.All(t.Context(), db, func(row sqldb.Row) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT e.event_id FROM delivery_lanes l JOIN deliveries d ON d.lane = l.lane AND l.sending LIKE '%,' || CAST(d.id AS TEXT) || ',%'
		JOIN events e ON e.id = d.event_id WHERE d.status = 'pending'`)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// wantRepeatedOnly wants everything to have come once, and once more at most for
// every death at which it was under way.
func wantRepeatedOnly(t *testing.T, received map[string]int, underWay []string) {
	t.Helper()
	deaths := map[string]int{}
	for _, id := range underWay {
		deaths[id]++
	}
	for id, n := range received {
		if n > 1+deaths[id] {
			t.Errorf("%s came %d times, and was under way at %d deaths", id, n, deaths[id])
		}
	}
}

// A released binary does not know the points.
func TestReleasedBinaryHasNoCrashpoints(t *testing.T) {
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "CARTEIRA_CRASH_AT") {
		t.Error("it reads CARTEIRA_CRASH_AT")
	}
}
