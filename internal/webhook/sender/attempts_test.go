package sender_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/internal/webhook/sender"
	"carteira/test/kit/housetest"
	"carteira/test/kit/webhooktest"
)

func TestMessageIsExactlyTheContracts(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		_, key := world.Subscribe(receiver.URL+"/hook?x=1", event.CustomerCreated)
		ids := world.Happen(1, event.CustomerCreated)
		if n := world.Rounds(); n != 1 {
			t.Fatalf("%d were sent", n)
		}
		message := receiver.Messages()[0]
		webhooktest.WantSigned(t, key, message)
		want := map[string]string{
			"Content-Type": "application/json", "User-Agent": "Carteira/1.0", "Content-Length": strconv.Itoa(len(message.Body)),
			"X-Service-Event": "customer.created", "X-Service-Delivery": ids[0], "X-Service-Timestamp": strconv.FormatInt(webhooktest.Morning.Unix(), 10),
			"X-Service-Signature": message.Header.Get("X-Service-Signature"),
			"Webhook-Id":          ids[0], "Webhook-Timestamp": strconv.FormatInt(webhooktest.Morning.Unix(), 10),
			"Webhook-Signature": webhooktest.SignStandard(key, ids[0], strconv.FormatInt(webhooktest.Morning.Unix(), 10), []byte(message.Body)),
		}
		for name, value := range want {
			if got := message.Header.Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		for name := range message.Header {
			if _, ok := want[name]; !ok && name != "Accept-Encoding" {
				t.Errorf("%s: %s was sent too", name, message.Header.Get(name))
			}
		}
		body := fmt.Sprintf(`{"event":"customer.created","platform":"carteira","id":%q,"api_version":"v1",`+
			`"occurred_at":"2026-01-31T09:00:00-03:00","company_id":%d,"data":{"n":1}}`, ids[0], world.Actor.Company.ID)
		if message.Body != body {
			t.Errorf("sent %s\nwant %s", message.Body, body)
		}
	})
}

var errTakenBack = errors.New("taken back")

func TestWhatIsCommittedArrivesAndNothingElse(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		first, second := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		world.Subscribe(first.URL, event.CustomerCreated, event.InvoicePaid)
		world.Subscribe(second.URL, event.InvoicePaid)
		created := world.Happen(12, event.CustomerCreated)
		paid := world.Happen(8, event.InvoicePaid)
		world.Happen(3, event.CustomerDeleted) // an event that no webhook wants
		err := world.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			return errors.Join(world.Events.Record(t.Context(), tx, world.Actor.Source(), event.InvoicePaid, nil), errTakenBack)
		})
		if !errors.Is(err, errTakenBack) {
			t.Fatal(err)
		}
		world.Rounds()
		webhooktest.WantOnce(t, first, append(created, paid...))
		webhooktest.WantOnce(t, second, paid)
	})
}

func TestAnswerDecidesWhatBecomesOfADelivery(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		for _, c := range []struct {
			status webhook.Status
			codes  []int
		}{
			{webhook.Delivered, []int{200, 201, 202, 204, 299}},
			{webhook.Refused, []int{400, 401, 403, 404, 410, 418, 422, 451}},
			{webhook.Pending, []int{300, 301, 302, 304, 307, 408, 429, 500, 502, 503, 504}},
		} {
			for _, code := range c.codes {
				id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
				receiver.Answer(code, "Location", receiver.URL+"/elsewhere")
				world.Happen(1, event.InvoicePaid)
				before := len(receiver.Messages())
				world.Rounds()
				delivery := world.History(id)[0]
				if delivery.Status != c.status || len(delivery.Attempts) != 1 || delivery.Attempts[0].ResponseStatus != code {
					t.Errorf("%d: %+v", code, delivery)
				}
				if (delivery.Attempts[0].Error == "") != (c.status == webhook.Delivered) || delivery.NextAttempt.IsZero() == (c.status == webhook.Pending) {
					t.Errorf("%d: error %q, next attempt at %v", code, delivery.Attempts[0].Error, delivery.NextAttempt)
				}
				if failures := world.Webhook(id).Failures; (failures == 0) != (c.status == webhook.Delivered) {
					t.Errorf("%d: %d failures", code, failures)
				}
				if n := len(receiver.Messages()) - before; n != 1 {
					t.Errorf("%d: the receiver was called %d times", code, n)
				}
				webhooktest.Must(t, world.Delete(t.Context(), world.Actor, id))
			}
		}
	})
}

func TestSixAttemptsAtTheTimesOfTheContract(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, key := world.Subscribe(receiver.URL, event.InvoicePaid)
		receiver.Answer(http.StatusInternalServerError)
		world.Happen(1, event.InvoicePaid)
		for i, delay := range webhooktest.Schedule {
			ended := world.Clock.Now()
			if delay > 0 {
				next := world.History(id)[0].NextAttempt
				if wait := next.Sub(ended); wait < delay || wait > delay+delay/10 {
					t.Errorf("attempt %d comes after %v, want %v and at most a tenth more", i+1, wait, delay)
				}
				world.Clock.Set(next.Add(-time.Microsecond))
				if n := world.Round(); n != 0 {
					t.Errorf("attempt %d came too early", i+1)
				}
				world.Clock.Set(next)
			}
			if n := world.Round(); n != 1 {
				t.Fatalf("attempt %d: %d were sent", i+1, n)
			}
		}
		delivery := world.History(id)[0]
		if delivery.Status != webhook.Failed || len(delivery.Attempts) != 6 || !delivery.NextAttempt.IsZero() {
			t.Errorf("after six attempts: %+v", delivery)
		}
		world.Clock.Advance(30 * 24 * time.Hour)
		if n := world.Rounds(); n != 0 {
			t.Errorf("a seventh attempt was made")
		}
		seen := map[string]bool{}
		for i, message := range receiver.Messages() {
			webhooktest.WantSigned(t, key, message)
			at := message.Header.Get("X-Service-Timestamp")
			if message.Body != receiver.Messages()[0].Body || seen[at] || at != strconv.FormatInt(delivery.Attempts[i].At.Unix(), 10) || delivery.Attempts[i].Number != i+1 {
				t.Errorf("attempt %d at %s, %+v: %s", i+1, at, delivery.Attempts[i], message.Body)
			}
			seen[at] = true
		}
	})
}

func TestJitterNeverShortensAndRetryAfterStaysInBounds(t *testing.T) {
	for _, c := range []struct {
		step        int
		asked, want time.Duration
	}{
		{1, 0, time.Minute},
		{1, time.Second, time.Minute},
		{1, 2 * time.Minute, 2 * time.Minute},
		{1, time.Hour, 5 * time.Minute},
		{2, time.Hour, 30 * time.Minute},
		{4, 3 * time.Hour, 3 * time.Hour},
		{5, 24 * time.Hour, 6 * time.Hour},
	} {
		for range 1000 {
			if got := sender.Delay(webhooktest.Schedule, c.step, c.asked); got < c.want || got > c.want+c.want/10 {
				t.Fatalf("step %d, asked for %v: %v, want %v", c.step, c.asked, got, c.want)
			}
		}
	}
}

func TestRetryAfterCountsFor429And503(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		for code, want := range map[int]time.Duration{429: 2 * time.Minute, 503: 2 * time.Minute, 500: time.Minute, 408: time.Minute} {
			id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
			receiver.Answer(code, "Retry-After", "120")
			world.Happen(1, event.InvoicePaid)
			world.Rounds()
			if wait := world.History(id)[0].NextAttempt.Sub(world.Clock.Now()); wait < want || wait > want+want/10 {
				t.Errorf("%d: waits %v, want %v", code, wait, want)
			}
			webhooktest.Must(t, world.Delete(t.Context(), world.Actor, id))
		}
	})
}

func TestTwentyFailuresInARowSwitchOff(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver, other := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		well, _ := world.Subscribe(other.URL, event.InvoicePaid)
		receiver.Answer(http.StatusInternalServerError)
		ids := world.Happen(19, event.InvoicePaid)
		world.Rounds()
		receiver.Answer(http.StatusOK)
		ids = append(ids, world.Happen(1, event.InvoicePaid)...)
		world.Rounds()
		if got := world.Webhook(id); !got.Active || got.Failures != 0 {
			t.Fatalf("a success after 19 failures leaves %+v", got)
		}
		receiver.Answer(http.StatusNotFound) // a refusal counts too
		ids = append(ids, world.Happen(30, event.InvoicePaid)...)
		world.Rounds()
		got := world.Webhook(id)
		if got.Active || got.Failures != 20 || got.DisabledAt.IsZero() || !strings.Contains(got.Notice, "404") {
			t.Fatalf("after 20: %+v", got)
		}
		if n := world.Count(id); n[webhook.Refused] != 20 || n[webhook.Parked] != 29 || n[webhook.Delivered] != 1 || n[webhook.Pending] != 0 {
			t.Errorf("%v", n)
		}
		missed := world.Happen(5, event.InvoicePaid)
		world.Clock.Advance(24 * time.Hour)
		sent := len(receiver.Messages())
		if world.Rounds(); len(receiver.Messages()) != sent || len(world.History(id)) != 50 {
			t.Errorf("while it is off %d are sent, and %d are there", len(receiver.Messages())-sent, len(world.History(id)))
		}
		receiver.Answer(http.StatusOK)
		if got := world.Put(id, `{"active":true}`); !got.Active || got.Failures != 0 || !got.DisabledAt.IsZero() || got.Notice != "" {
			t.Errorf("switched on: %+v", got)
		}
		world.Rounds()
		if n := world.Count(id); n[webhook.Delivered] != 30 || n[webhook.Refused] != 20 || len(n) != 2 {
			t.Errorf("resumed: %v", n)
		}
		times := receiver.Times()
		for _, missed := range missed {
			if times[missed] != 0 {
				t.Error("what happened while it was off was sent")
			}
		}
		webhooktest.WantOnce(t, other, append(ids, missed...))
		if got := world.Webhook(well); !got.Active || got.Failures != 0 {
			t.Errorf("the other one: %+v", got)
		}
	})
}

func TestSwitchedOffByHandParksAndResumes(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		ids := world.Happen(6, event.InvoicePaid)
		job := claimAll(world, 6)[0] // under way when it is switched off
		world.Put(id, `{"active":false}`)
		receiver.Answer(http.StatusInternalServerError)
		_, err := world.Sender().Record(t.Context(), job, world.Sender().Try(t.Context(), job))
		webhooktest.Must(t, err)
		world.Clock.Advance(sender.LeaseTime + time.Second) // a dead process had claimed the others
		world.Rounds()
		if n := world.Count(id); n[webhook.Parked] != 6 || len(receiver.Messages()) != 1 {
			t.Errorf("%v, and %d were sent", n, len(receiver.Messages()))
		}
		if n := world.Happen(2, event.InvoicePaid); len(world.History(id)) != 6 {
			t.Errorf("%v were queued while it was off", n)
		}
		receiver.Answer(http.StatusOK)
		world.Put(id, `{"active":true}`)
		world.Clock.Advance(2 * time.Minute)
		world.Rounds()
		if n := world.Count(id); n[webhook.Delivered] != 6 {
			t.Errorf("resumed: %v", n)
		}
		for _, one := range ids {
			if receiver.Times()[one] == 0 {
				t.Errorf("%s did not come", one)
			}
		}
	})
}

// claimAll leases free lanes, and claims up to n deliveries of them, four of a
// lane at most.
func claimAll(world *webhooktest.World, n int) []sender.Job {
	world.T.Helper()
	jobs, err := world.Sender().Claim(world.T.Context(), n)
	webhooktest.Must(world.T, err)
	return jobs
}

func TestTestsCountForNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, key := world.Subscribe(receiver.URL, event.InvoicePaid)
		receiver.Answer(http.StatusInternalServerError)
		for range 25 {
			if _, delivered, err := world.Test(t.Context(), world.Actor, id); delivered || err != nil {
				t.Fatal(delivered, err)
			}
		}
		if got := world.Webhook(id); !got.Active || got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		world.Clock.Advance(time.Hour)
		if n := world.Rounds(); n != 0 {
			t.Errorf("%d tests were tried again", n)
		}
		receiver.Answer(http.StatusOK)
		world.Put(id, `{"active":false}`)
		if _, delivered, err := world.Test(t.Context(), world.Actor, id); !delivered || err != nil {
			t.Error(delivered, err)
		}
		for _, message := range receiver.Messages() {
			webhooktest.WantSigned(t, key, message)
		}
		if n := world.Count(id); n[webhook.Failed] != 25 || n[webhook.Delivered] != 1 {
			t.Errorf("%v", n)
		}
	})
}

func TestResendThatFailsIsTriedAgain(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		receiver.Answer(http.StatusGone)
		world.Rounds()
		receiver.Answer(http.StatusInternalServerError)
		delivery, err := world.Resend(t.Context(), world.Actor, "", world.History(id)[0].ID)
		if webhooktest.Must(t, err); delivery.Status != webhook.Pending || len(delivery.Attempts) != 2 || delivery.Attempts[1].Number != 2 {
			t.Errorf("%+v", delivery)
		}
		receiver.Answer(http.StatusOK)
		world.Clock.Advance(2 * time.Minute)
		world.Rounds()
		if delivery := world.History(id)[0]; delivery.Status != webhook.Delivered || len(delivery.Attempts) != 3 {
			t.Errorf("%+v", delivery)
		}
	})
}

func TestLateCloseOfALostClaimChangesNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver, other := webhooktest.NewReceiver(t), world.Another()
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		late := claimAll(world, 1)[0]
		if jobs := claimAll(other, 1); len(jobs) != 0 {
			t.Fatal("two have one delivery")
		}
		world.Clock.Advance(sender.LeaseTime - time.Microsecond)
		if jobs := claimAll(other, 1); len(jobs) != 0 {
			t.Fatal("the claim was taken before its end")
		}
		world.Clock.Advance(time.Microsecond)
		if n := other.Round(); n != 1 {
			t.Fatal("the claim that ran out was not taken")
		}
		before := fmt.Sprintf("%+v %+v", world.History(id), world.Webhook(id))
		for _, tried := range []sender.Tried{sender.Broken(webhooktest.Morning), sender.Accepted(webhooktest.Morning), sender.Disabled()} {
			if kept, err := world.Sender().Record(t.Context(), late, tried); kept || err != nil {
				t.Errorf("%+v was kept: %t, %v", tried, kept, err)
			}
		}
		if after := fmt.Sprintf("%+v %+v", world.History(id), world.Webhook(id)); after != before {
			t.Errorf("was %s\nand is %s", before, after)
		}
		if delivery := world.History(id)[0]; delivery.Status != webhook.Delivered || len(delivery.Attempts) != 1 || delivery.Attempts[0].Number != 2 {
			t.Errorf("%+v", delivery)
		}
	})
}

func TestTwoProcessesShareTheWork(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		other := world.Another()
		var receivers []*webhooktest.Receiver
		for range 3 {
			receiver := webhooktest.NewReceiver(t)
			receiver.Meet = func(<-chan struct{}) { time.Sleep(time.Millisecond) }
			world.Subscribe(receiver.URL, event.InvoicePaid)
			receivers = append(receivers, receiver)
		}
		ids := world.Happen(100, event.InvoicePaid)
		stop, stopOther := world.Start(), other.Start()
		var more sync.WaitGroup
		more.Go(func() {
			for range 20 {
				ids = append(ids, other.Happen(1, event.InvoicePaid)...)
			}
		})
		more.Wait()
		for _, receiver := range receivers {
			webhooktest.Eventually(t, "all have come", func() bool { return len(receiver.Messages()) >= len(ids) })
		}
		stop()
		stopOther()
		for _, receiver := range receivers {
			webhooktest.WantOnce(t, receiver, ids)
			if most := receiver.Busiest(); most > sender.LaneLimit {
				t.Errorf("%d requests at once, want at most %d", most, sender.LaneLimit)
			}
		}
	})
}

func TestReceiverThatHangsDelaysNoOther(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		hanging, release := webhooktest.NewReceiver(t), make(chan struct{})
		hanging.Meet = func(gone <-chan struct{}) {
			select {
			case <-release:
			case <-gone:
			}
		}
		world.Subscribe(hanging.URL, event.CustomerUpdated)
		world.Happen(2000, event.CustomerUpdated)
		healthy := webhooktest.NewReceiver(t)
		const lanes, events = 50, 4
		for range lanes {
			world.Subscribe(healthy.URL, event.InvoicePaid)
		}
		stop := world.Start()
		webhooktest.Eventually(t, "it hangs", func() bool { return len(hanging.Messages()) > 0 })
		world.Happen(events, event.InvoicePaid)
		webhooktest.Eventually(t, "the others have got theirs", func() bool { return len(healthy.Messages()) == lanes*events })
		if most := hanging.Busiest(); most > sender.LaneLimit {
			t.Errorf("%d requests hang at once, want at most %d", most, sender.LaneLimit)
		}
		close(release)
		stop()
		for id, n := range healthy.Times() {
			if n != lanes {
				t.Errorf("%s came %d times to %d receivers", id, n, lanes)
			}
		}
	})
}

func TestFailingLaneGetsOneSlot(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(10, event.InvoicePaid)
		if n := world.Round(); n != sender.LaneLimit {
			t.Errorf("%d at once, want %d", n, sender.LaneLimit)
		}
		receiver.Answer(http.StatusInternalServerError)
		world.Round()
		if n := world.Round(); n != sender.FailingLaneLimit || world.Webhook(id).Failures == 0 {
			t.Errorf("after a failure %d at once, want %d", n, sender.FailingLaneLimit)
		}
	})
}

func TestFirstAttemptsComeBeforeRetries(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		world.Subscribe(receiver.URL, event.InvoicePaid, event.InvoiceCreated)
		receiver.Answer(http.StatusInternalServerError)
		world.Happen(4, event.InvoicePaid)
		world.Rounds()
		world.Exec(`UPDATE webhooks SET failures = 0`)
		world.Clock.Advance(time.Hour) // all four are due again
		world.Happen(2, event.InvoiceCreated)
		var names []string
		for _, job := range claimAll(world, sender.QuickSlots) {
			names = append(names, job.Event())
		}
		slices.Sort(names)
		if want := "[invoice.created invoice.created invoice.paid invoice.paid]"; fmt.Sprint(names) != want {
			t.Errorf("claimed %v, want %s", names, want)
		}
	})
}

func TestDeletedWhileItIsSent(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver, arrived, release := webhooktest.NewReceiver(t), make(chan struct{}), make(chan struct{})
		receiver.Meet = func(<-chan struct{}) {
			close(arrived)
			<-release
		}
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		world.Happen(1, event.InvoicePaid)
		var sending sync.WaitGroup
		sending.Go(func() { world.Round() })
		<-arrived
		webhooktest.Must(t, world.Delete(t.Context(), world.Actor, id))
		close(release)
		sending.Wait()
		if _, err := world.Find(t.Context(), world.Actor, id); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("it is still there: %v", err)
		}
		for _, table := range []string{"deliveries", "delivery_attempts", "webhooks"} {
			if n, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT count(*) FROM `+table); err != nil || n != 0 {
				t.Errorf("%d %s, %v", n, table, err)
			}
		}
		if n := world.Rounds(); n != 0 {
			t.Errorf("%d were sent afterwards", n)
		}
	})
}

// Events go on while webhooks come and go.
func TestDeletionDoesNotDisturbWhatHappens(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		var happening sync.WaitGroup
		done := make(chan struct{})
		happening.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					world.Happen(1, event.InvoicePaid)
				}
			}
		})
		for range 25 {
			id, _ := world.Subscribe("https://example.com", event.InvoicePaid)
			webhooktest.Must(t, world.Delete(t.Context(), world.Actor, id))
		}
		close(done)
		happening.Wait()
	})
}

// What could not be recorded is sent again when its claim has run out.
func TestEngineGoesOnAfterTheDatabaseFailed(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		log := &housetest.Log{}
		world.Log = slog.New(slog.NewTextHandler(log, nil))
		world = world.Another()
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		ids := world.Happen(1, event.InvoicePaid)
		world.Exec(`ALTER TABLE delivery_attempts RENAME TO mislaid`)
		world.Round()
		world.Exec(`ALTER TABLE mislaid RENAME TO delivery_attempts`)
		if n := world.Rounds(); n != 0 || receiver.Times()[ids[0]] != 1 {
			t.Errorf("%d were sent before the claim ran out", n)
		}
		world.Clock.Advance(sender.LeaseTime)
		stop := world.Start()
		defer stop()
		webhooktest.Eventually(t, "it was sent again", func() bool { return world.Count(id)[webhook.Delivered] == 1 })
		if delivery := world.History(id)[0]; len(delivery.Attempts) != 1 || delivery.Attempts[0].Number != 2 {
			t.Errorf("%+v", delivery)
		}
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN secret TO mislaid`) // so that nothing can be claimed
		world.Happen(3, event.InvoicePaid)
		webhooktest.Eventually(t, "a claim failed", func() bool { return strings.Contains(log.String(), "cannot be claimed") })
		world.Exec(`ALTER TABLE webhooks RENAME COLUMN mislaid TO secret`)
		webhooktest.Eventually(t, "the rest was sent", func() bool { return world.Count(id)[webhook.Delivered] == 4 })
	})
}

func TestRefusalIsRetriedWhereTheWebhookSaysSo(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid)
		if hook := world.Put(id, `{"retry_refused":true}`); !hook.RetryRefused {
			t.Fatalf("%+v", hook)
		}
		receiver.Answer(404)
		world.Happen(1, event.InvoicePaid)
		world.Rounds()
		if delivery := world.History(id)[0]; delivery.Status != webhook.Pending || delivery.NextAttempt.IsZero() {
			t.Errorf("after a 404: %+v", delivery)
		}
		receiver.Answer(200)
		world.Clock.Advance(2 * time.Minute)
		world.Rounds()
		if delivery := world.History(id)[0]; delivery.Status != webhook.Delivered || len(delivery.Attempts) != 2 {
			t.Errorf("after a 200: %+v", delivery)
		}
	})
}
