//go:build unix

package program

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

// A machine that sleeps, or is moved, stops a process for longer than its claim
// lasts. Another one has delivered meanwhile, and what the first one has to say
// comes too late.
func TestClosingAfterAPauseChangesNothing(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.Postgres)
	receiver := newReceiver(t)
	env := receiver.env(t)
	token := in.token(in.company())
	paused := in.serve(env...)
	t.Cleanup(func() { _ = paused.cmd.Process.Signal(syscall.SIGCONT) }) // so that it can be stopped
	paused.client(token).want(200, "POST", "/webhooks", map[string]any{"url": receiver.URL, "events": []string{"customer.created"}})

	arrived, answer := make(chan struct{}), make(chan struct{})
	var requests atomic.Int32
	receiver.meeting(func(string) {
		if requests.Add(1) == 1 {
			close(arrived)
			<-answer
		}
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release)
	paused.client(token).want(200, "POST", "/customers", map[string]any{"name": "Ana"})
	select {
	case <-arrived:
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	paused.signal(syscall.SIGSTOP)

	db := in.open()
	// Half a minute later its claim has run out.
	execute(t, db, `UPDATE delivery_lanes SET until = 0`)
	in.serve(env...)
	eventually(t, "the other one has delivered", func() bool {
		return count(t, db, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`) == 1
	})
	before := deliveryRows(t, db)
	release()
	paused.signal(syscall.SIGCONT)
	paused.await(&paused.stderr, func(log string) bool { return strings.Contains(log, "delivery attempt outlived its claim") })
	if after := deliveryRows(t, db); after != before {
		t.Errorf("was\n%sand is\n%s", before, after)
	}
	wantDelivered(t, db, receiver.received(), 1)
	for id, n := range receiver.received() {
		if n != 2 {
			t.Errorf("%s came %d times, want once from each", id, n)
		}
	}
}

// deliveryRows is all that is known of deliveries, the queue, their attempts
// and their webhooks.
func deliveryRows(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var all strings.Builder
	for _, text := range []string{
		`SELECT CAST(d.* AS TEXT) FROM deliveries d ORDER BY d.id`,
		`SELECT CAST(q.* AS TEXT) FROM delivery_queue q ORDER BY q.delivery_id`,
		`SELECT CAST(a.* AS TEXT) FROM delivery_attempts a ORDER BY a.delivery_id, a.number`,
		`SELECT CAST(w.* AS TEXT) FROM webhooks w ORDER BY w.id`,
	} {
		err := sqldb.Each(t.Context(), db, text, nil, func(r sqldb.Row) error {
			var row string
			err := r.Scan(&row)
			fmt.Fprintln(&all, row)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
