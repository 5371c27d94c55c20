package program

import (
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/tlstest"
)

// receiver is an integrator's server that writes down how often each event
// came.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	times map[string]int
	meet  func(id string) // runs before the answer
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{times: map[string]int{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		r.mu.Lock()
		id := req.Header.Get("X-Service-Delivery")
		r.times[id]++
		meet := r.meet
		r.mu.Unlock()
		if meet != nil {
			meet(id)
			return
		}
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond) // for kills to fall into
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who are killed
	tlstest.Start(r.Server)
	t.Cleanup(r.Close)
	return r
}

// env makes a server trust the receiver and reach it.
func (r *receiver) env(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"SSL_CERT_FILE=" + file, "CARTEIRA_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8"}
}

// meeting makes the receiver call f with the event's id before it answers.
func (r *receiver) meeting(fn func(id string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meet = fn
}

func (r *receiver) received() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.times)
}

const (
	// laneCap is how many deliveries of one webhook are sent at once at most.
	laneCap = 4
	// laneUnderWay is how many of them have begun and are not recorded at most.
	laneUnderWay = 16
)

func TestKillLosesNoDelivery(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		receiver := newReceiver(t)
		env := receiver.env(t)
		token := in.token(in.company())
		server := in.serve(env...)
		server.client(token).want(200, "POST", "/webhooks", map[string]any{"url": receiver.URL, "events": []string{"customer.created"}})
		const kills = 4
		var underWay []string
		for range kills {
			createUntilKilled(server, server.client(token), 1+rand.IntN(150))
			underWay = append(underWay, claimedEvents(t, in.open())...)
			// Half a minute later the lease of the killed process has expired.
			execute(t, in.open(), `UPDATE delivery_lanes SET until = 0`)
			server = in.serve(env...)
		}
		db := in.open()
		eventually(t, "all is delivered", func() bool {
			return count(t, db, `SELECT count(*) FROM deliveries WHERE status <> 'delivered'`) == 0
		})
		wantDelivered(t, db, receiver.received(), kills)
		wantRepeatedOnly(t, receiver.received(), underWay)
	})
}

// wantDelivered wants every event to have come, and no more repeats than were
// under way at the kills.
func wantDelivered(t *testing.T, db *sqldb.DB, received map[string]int, kills int) {
	t.Helper()
	events, all := 0, 0
	err := sqldb.Each(t.Context(), db, `
		SELECT e.event_id, d.attempts, (SELECT count(*) FROM delivery_attempts a WHERE a.delivery_id = d.id),
			(SELECT COALESCE(MAX(a.number), 0) FROM delivery_attempts a WHERE a.delivery_id = d.id)
		FROM events e LEFT JOIN deliveries d ON d.event_id = e.id WHERE e.name = 'customer.created'`, nil, func(row sqldb.Row) error {
		var id string
		var begun *int
		var recorded, last int
		if err := row.Scan(&id, &begun, &recorded, &last); err != nil {
			return err
		}
		events++
		all += received[id]
		switch {
		case begun == nil:
			t.Errorf("%s has no delivery", id)
		case received[id] < 1 || received[id] > *begun || recorded != 1 || last != *begun:
			t.Errorf("%s came %d times: %d attempts begun, %d recorded, the last as number %d", id, received[id], *begun, recorded, last)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if repeats := all - events; repeats > kills*laneUnderWay {
		t.Errorf("%d repeats after %d kills", repeats, kills)
	}
	if events == 0 || len(received) != events {
		t.Errorf("%d events, and %d came", events, len(received))
	}
}

func execute(t *testing.T, db *sqldb.DB, text string) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *sqldb.DB, text string) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), db, text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWebhookReplayGoesThroughTheRunningServer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		receiver := newReceiver(t)
		company := in.company()
		token := in.token(company)
		server := in.serve(receiver.env(t)...)
		client := server.client(token)
		client.want(200, "POST", "/webhooks", map[string]any{"url": receiver.URL, "events": []string{"customer.created"}})
		client.want(200, "PUT", "/webhooks/1", map[string]any{"active": false})
		client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
		replay := []string{"webhook", "replay", "--company", company, "--id", "1", "--since"}
		if got := in.try(nil, append(replay, "2020-01-01")...); got.code != 1 || !strings.Contains(got.stderr, "carteira: --active the webhook is switched off; switch it on first\n") {
			t.Errorf("%+v", got)
		}
		client.want(200, "PUT", "/webhooks/1", map[string]any{"active": true})
		for _, since := range []string{"yesterday", "2020-13-01", ""} {
			if got := in.try(nil, append(replay, since)...); got.code != 1 {
				t.Errorf("since %q: %+v", since, got)
			}
		}
		in.run(append(replay, "2020-01-01T00:00:00-03:00")...)
		eventually(t, "it came", func() bool { return len(receiver.received()) == 1 })
		in.run(append(replay, "2020-01-01")...)
		eventually(t, "the second is finished", func() bool {
			return count(t, in.open(), `SELECT count(*) FROM replays WHERE finished_at IS NULL`) == 0
		})
		for id, n := range receiver.received() {
			if n != 1 {
				t.Errorf("%s came %d times", id, n)
			}
		}
	})
}
