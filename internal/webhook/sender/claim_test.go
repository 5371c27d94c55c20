package sender_test

import (
	"sync"
	"testing"

	"carteira/internal/event"
	"carteira/internal/webhook"
	"carteira/test/kit/webhooktest"
)

// Processes that lease one lane from each other as fast as they can claim each
// delivery once, in its order, whatever another did between a look and a lock.
func TestIdleLaneThatChangesHandsLosesAndDoublesNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		const deliveries = 120
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		worlds := []*webhooktest.World{world, world.Another(), world.Another(), world.Another()}
		world.Happen(deliveries, event.InvoicePaid)
		var mu sync.Mutex
		var claimed []int64
		var running sync.WaitGroup
		for _, process := range worlds {
			running.Go(func() {
				for {
					mu.Lock()
					ended := len(claimed) >= deliveries
					mu.Unlock()
					if ended {
						return
					}
					job, ok, err := process.Sender().ClaimOne(t.Context(), id)
					if err != nil {
						t.Error(err)
						return
					}
					if !ok {
						continue
					}
					mu.Lock()
					claimed = append(claimed, job.ID())
					mu.Unlock()
					kept, err := process.Sender().GiveBack(t.Context(), job, webhooktest.Morning)
					if err != nil || !kept || job.Number() != 1 {
						t.Errorf("attempt %d of delivery %d: kept is %v, %v", job.Number(), job.ID(), kept, err)
						return
					}
				}
			})
		}
		running.Wait()
		for i := 1; i < len(claimed); i++ {
			if claimed[i] <= claimed[i-1] {
				t.Fatalf("delivery %d was claimed after %d", claimed[i], claimed[i-1])
			}
		}
		if n := world.Count(id)[webhook.Delivered]; n != deliveries || len(claimed) != deliveries {
			t.Errorf("%d were claimed and %d delivered, want %d", len(claimed), n, deliveries)
		}
		if row := lanesOf(world)[0]; row.Token != "" || len(row.Sending) != 0 {
			t.Errorf("the lane is not given back: %+v", row)
		}
	})
}

// A lane is not kept for deliveries that turn out to belong to another process.
func TestIdleLaneWithNothingToSendIsGivenBack(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		id, _ := world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		world.Exec(`UPDATE delivery_queue SET event_id = 0`) // which cannot be read
		if _, ok, err := world.Sender().ClaimOne(t.Context(), id); ok || err != nil {
			t.Fatalf("claimed is %v, %v", ok, err)
		}
		if row := lanesOf(world)[0]; row.Token != "" || len(row.Sending) != 0 {
			t.Errorf("the lane is not given back: %+v", row)
		}
	})
}

// What is out of the ordinary about an idle lane is seen to before it is sent.
func TestIdleLaneIsClaimedByWhatIsKnownOfIt(t *testing.T) {
	for name, tt := range map[string]struct {
		before string // a statement
		claims int
		number int
	}{
		"nothing":                   {`SELECT 1`, 3, 1},
		"a receiver that fails":     {`UPDATE webhooks SET failures = 1`, 1, 1},
		"a process that died":       {`UPDATE delivery_lanes SET token = 'dead-1', sending = (SELECT ',' || MIN(delivery_id) || ',' FROM delivery_queue)`, 3, 2},
		"a lease":                   {`UPDATE delivery_lanes SET token = 'else-1', until = 9000000000000000`, 0, 0},
		"retries":                   {`UPDATE delivery_queue SET line = 1, attempts = 1`, 3, 2},
		"a person who waited":       {`UPDATE delivery_queue SET claim = 'person', attempts = 1`, 3, 3},
		"deliveries that are early": {`UPDATE delivery_queue SET run_at = 9000000000000000`, 0, 0},
		"parked deliveries":         {`UPDATE delivery_queue SET line = 2`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
				world.Subscribe(webhooktest.NewReceiver(t).URL, event.InvoicePaid)
				world.Happen(3, event.InvoicePaid)
				if tt.before != `SELECT 1` {
					world.Exec(tt.before)
				}
				jobs := claimAll(world, 4)
				if len(jobs) != tt.claims {
					t.Fatalf("%d were claimed, want %d", len(jobs), tt.claims)
				}
				if len(jobs) == 0 {
					return
				}
				if jobs[0].Number() != tt.number {
					t.Errorf("attempt %d, want %d", jobs[0].Number(), tt.number)
				}
				if row := lanesOf(world)[0]; len(row.Sending) != tt.claims {
					t.Errorf("%d are claimed, and the lane is leased for %v", tt.claims, row.Sending)
				}
			})
		})
	}
}
