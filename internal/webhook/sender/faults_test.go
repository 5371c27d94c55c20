package sender_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/event"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
	"carteira/internal/webhook"
	"carteira/internal/webhook/sender"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/webhooktest"
)

// A claim that fails to read the webhooks, as on a restart of the server or a
// statement timeout, is an error like any other.
func TestClaimThatCannotReadWebhooksIsTriedAgain(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(3, event.InvoicePaid)
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN secret TO mislaid`)
		if n, err := world.Sender().SendDue(t.Context()); n != 0 || err == nil {
			t.Errorf("%d were claimed, %v", n, err)
		}
		stop := world.Start()
		defer stop()
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN mislaid TO secret`)
		webhooktest.Eventually(t, "all is delivered", func() bool { return world.Count(id)[webhook.Delivered] == 3 })
	})
}

// The log reports when nothing has been claimed for long.
func TestSenderTellsItsSupervisorHowItFares(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN secret TO mislaid`)
		supervisor := worker.NewSupervisor(slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		supervisor.Start(ctx, worker.Task{Name: "deliver webhooks", Stale: time.Hour, Run: world.Sender().Run})
		defer func() {
			stop()
			supervisor.Wait()
		}()
		reads := func(metric string) float64 {
			reg := prometheus.NewRegistry()
			reg.MustRegister(supervisor.Metrics()...)
			families, err := reg.Gather()
			webhooktest.Must(t, err)
			for _, family := range families {
				if family.GetName() == metric {
					return family.GetMetric()[0].GetCounter().GetValue() + family.GetMetric()[0].GetGauge().GetValue()
				}
			}
			return 0
		}
		webhooktest.Eventually(t, "failures are counted", func() bool { return reads("carteira_worker_failures_total") > 0 })
		before := reads("carteira_worker_last_success_timestamp_seconds")
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN mislaid TO secret`)
		webhooktest.Eventually(t, "it succeeds again", func() bool { return reads("carteira_worker_last_success_timestamp_seconds") > before })
	})
}

// What is in the way of one lane's claim is none of the others' business.
func TestLaneThatCannotBeClaimedStopsNoOther(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		bad, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		good, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(2, event.InvoicePaid)
		// An expired lease with attempts that cannot be counted any further.
		world.Exec(`UPDATE delivery_queue SET attempts = 9223372036854775807 WHERE lane = ?`, bad)
		world.Exec(`UPDATE delivery_lanes SET sending = ',' || (SELECT MIN(delivery_id) FROM delivery_queue WHERE lane = ?) || ',' WHERE lane = ?`, bad, bad)
		stop := world.Start()
		defer stop()
		webhooktest.Eventually(t, "the other is delivered", func() bool { return world.Count(good)[webhook.Delivered] == 2 })
		if n := world.Count(bad); n[webhook.Delivered] != 0 {
			t.Errorf("%v", n)
		}
	})
}

// A delivery over which our own code panics is tried a few times and set aside;
// the others go on.
func TestDeliveryThatPanicsIsSetAside(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		var log lockedBuffer
		world.Log = slog.New(slog.NewTextHandler(&log, nil))
		world = world.Another()
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		other, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		poison := world.Happen(1, event.InvoicePaid)[0]
		world.Exec(`DELETE FROM delivery_queue WHERE lane = ?`, other)
		world.Happen(3, event.InvoicePaid)
		world.Sender().PostWith(func(_ context.Context, _ string, header http.Header, _ []byte) (outbound.Result, error) {
			if header.Get("X-Service-Delivery") == poison {
				var nobody *webhook.Webhook
				nobody.Active = true
			}
			return outbound.Result{Status: http.StatusOK}, nil
		})
		for range sender.MaxPanics + 2 {
			world.Rounds()
			world.Clock.Advance(time.Minute)
		}
		if n := world.Count(id); n[webhook.Delivered] != 3 || n[webhook.Failed] != 1 || world.Count(other)[webhook.Delivered] != 3 {
			t.Errorf("%v, and of the other %v", n, world.Count(other))
		}
		delivery := world.History(id)[0]
		if len(delivery.Attempts) != 1 || delivery.Attempts[0].Number != sender.MaxPanics || delivery.Attempts[0].Error != sender.PanicProblem {
			t.Errorf("%+v", delivery.Attempts)
		}
		if hook := world.Webhook(id); !hook.Active || hook.Failures != 0 {
			t.Errorf("it is the receiver's fault: %+v", hook)
		}
		got := scrape(world)
		if got["carteira_webhook_panics_total"] != sender.MaxPanics || got["carteira_webhook_given_up_total set_aside"] != 1 {
			t.Errorf("%v", got)
		}
		for _, text := range []string{"level=ERROR msg=\"sending a delivery panicked\"", "faults_test.go", "level=ERROR msg=\"delivery set aside"} {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %q", text)
			}
		}
	})
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// heldOpen runs statements in a transaction of another process that is then cut
// off: it neither commits nor ends.
func heldOpen(t *testing.T, world *webhooktest.World, statements ...string) (end func()) {
	t.Helper()
	other := world.Another()
	held, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = other.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			for _, text := range statements {
				if _, err := tx.Exec(t.Context(), text); err != nil {
					t.Error(err)
				}
			}
			close(held)
			<-release
			return errTakenBack
		})
	}()
	<-held
	return func() {
		close(release)
		<-ended
	}
}

// A process that is cut off in the middle of a transaction keeps what it has
// locked, and nothing else.
func TestTransactionThatIsCutOffStopsNoOtherLane(t *testing.T) {
	world := webhooktest.NewWorld(t, sqldb.Postgres)
	receiver := webhooktest.NewReceiver(t)
	var ids []int64
	for range 4 {
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		ids = append(ids, id)
	}
	world.Happen(3, event.InvoicePaid)
	world.Sender().Claim(t.Context(), 8) //nolint:errcheck // a dead process has leased the first two lanes
	world.Clock.Advance(sender.LeaseTime)
	end := heldOpen(t, world,
		`SELECT 1 FROM delivery_lanes WHERE lane = (SELECT MIN(lane) FROM delivery_lanes) FOR UPDATE`,       // a claim
		`DELETE FROM delivery_queue WHERE lane = (SELECT MIN(lane) + 1 FROM delivery_lanes)`,                // a record
		`UPDATE webhooks SET failures = failures + 1 WHERE id = (SELECT MIN(lane) + 2 FROM delivery_lanes)`, // a failure
	)
	world.Rounds()
	world.Happen(1, event.InvoicePaid) // is not kept from being recorded either
	world.Rounds()
	for i, want := range []int{0, 0, 4, 4} {
		if n := world.Count(ids[i])[webhook.Delivered]; n != want && i != 1 || i == 1 && n > 1 {
			t.Errorf("of lane %d are delivered %d, want %d", i, n, want)
		}
	}
	end()
	world.Rounds()
	for _, id := range ids {
		if n := world.Count(id)[webhook.Delivered]; n != 4 {
			t.Errorf("in the end %d are delivered", n)
		}
	}
}

// Leases go by the clock of the database: a process with a wrong clock neither
// takes the lanes of others nor loses its own, and what it queues is due for
// all.
func TestClockThatIsWrongChangesNothing(t *testing.T) {
	for _, wrongBy := range []time.Duration{time.Minute, -time.Minute} {
		t.Run(wrongBy.String(), func(t *testing.T) {
			world := webhooktest.NewWorld(t, sqldb.Postgres)
			right, wrong := world.AnotherBy(), world.AnotherBy(sqldbtest.WithWrongClock(wrongBy))
			receiver := webhooktest.NewReceiver(t)
			id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
			for _, pair := range [][2]*webhooktest.World{{right, wrong}, {wrong, right}} {
				first, second := pair[0], pair[1]
				first.Happen(1, event.InvoicePaid)
				if jobs := claimAll(second, 1); len(jobs) != 1 {
					t.Fatalf("what one process queued is not due for the other")
				}
				if jobs := claimAll(first, 1); len(jobs) != 0 {
					t.Fatal("two processes have one lane")
				}
				left, err := sqldb.Value[int64](t.Context(), right.DB, `SELECT until - {clock ?} FROM delivery_lanes WHERE lane = ?`, right.DB.Clock(), id)
				if err != nil || left <= 0 || left > sender.LeaseTime.Microseconds() {
					t.Errorf("the lease lasts for another %d µs, %v", left, err)
				}
				webhooktest.Must(t, first.Inherit(t.Context()))
				first.Rounds()
			}
			if n := world.Count(id)[webhook.Delivered]; n != 2 {
				t.Errorf("%d are delivered", n)
			}
			// A resend by a process with a slow clock is not sent twice.
			wrong.Happen(1, event.InvoicePaid)
			webhooktest.Must(t, wrong.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, due, err := wrong.Sender().ClaimNow(t.Context(), tx, world.Actor.Company.ID, world.History(id)[2].ID)
				if !due {
					t.Error("it is not due")
				}
				return err
			}))
			if n := right.Rounds(); n != 0 {
				t.Errorf("%d were sent beside a person who waits", n)
			}
		})
	}
}
