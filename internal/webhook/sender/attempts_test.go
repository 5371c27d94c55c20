package sender_test

import (
	"errors"
	"fmt"
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
	"carteira/internal/webhook/webhooktest"
)

func TestMessageIsExactlyTheContracts(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		_, key := w.Subscribe(r.URL+"/hook?x=1", event.CustomerCreated)
		ids := w.Happen(1, event.CustomerCreated)
		if n := w.Rounds(); n != 1 {
			t.Fatalf("%d were sent", n)
		}
		m := r.Messages()[0]
		webhooktest.WantSigned(t, key, m)
		want := map[string]string{
			"Content-Type": "application/json", "User-Agent": "Carteira/1.0", "Content-Length": strconv.Itoa(len(m.Body)),
			"X-Service-Event": "customer.created", "X-Service-Delivery": ids[0], "X-Service-Timestamp": strconv.FormatInt(webhooktest.Morning.Unix(), 10),
			"X-Service-Signature": m.Header.Get("X-Service-Signature"),
		}
		for name, value := range want {
			if got := m.Header.Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		for name := range m.Header {
			if _, ok := want[name]; !ok && name != "Accept-Encoding" {
				t.Errorf("%s: %s was sent too", name, m.Header.Get(name))
			}
		}
		body := fmt.Sprintf(`{"event":"customer.created","platform":"carteira","id":%q,"api_version":"v1",`+
			`"occurred_at":"2026-01-31T09:00:00-03:00","company_id":%d,"data":{"n":1}}`, ids[0], w.Actor.Company.ID)
		if m.Body != body {
			t.Errorf("sent %s\nwant %s", m.Body, body)
		}
	})
}

var errTakenBack = errors.New("taken back")

func TestWhatIsCommittedArrivesAndNothingElse(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		first, second := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		w.Subscribe(first.URL, event.CustomerCreated, event.InvoicePaid)
		w.Subscribe(second.URL, event.InvoicePaid)
		created := w.Happen(12, event.CustomerCreated)
		paid := w.Happen(8, event.InvoicePaid)
		w.Happen(3, event.CustomerDeleted) // which nobody wants
		err := w.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			return errors.Join(w.Events.Record(t.Context(), tx, w.Actor.Source(), event.InvoicePaid, nil), errTakenBack)
		})
		if !errors.Is(err, errTakenBack) {
			t.Fatal(err)
		}
		w.Rounds()
		webhooktest.WantOnce(t, first, append(created, paid...))
		webhooktest.WantOnce(t, second, paid)
	})
}

func TestAnswerDecidesWhatBecomesOfADelivery(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		for _, c := range []struct {
			status webhook.Status
			codes  []int
		}{
			{webhook.Delivered, []int{200, 201, 202, 204, 299}},
			{webhook.Refused, []int{400, 401, 403, 404, 410, 418, 422, 451}},
			{webhook.Pending, []int{300, 301, 302, 304, 307, 408, 429, 500, 502, 503, 504}},
		} {
			for _, code := range c.codes {
				id, _ := w.Subscribe(r.URL, event.InvoicePaid)
				r.Answer(code, "Location", r.URL+"/elsewhere")
				w.Happen(1, event.InvoicePaid)
				before := len(r.Messages())
				w.Rounds()
				d := w.History(id)[0]
				if d.Status != c.status || len(d.Attempts) != 1 || d.Attempts[0].ResponseStatus != code {
					t.Errorf("%d: %+v", code, d)
				}
				if (d.Attempts[0].Error == "") != (c.status == webhook.Delivered) || d.NextAttempt.IsZero() == (c.status == webhook.Pending) {
					t.Errorf("%d: error %q, next attempt at %v", code, d.Attempts[0].Error, d.NextAttempt)
				}
				if failures := w.Webhook(id).Failures; (failures == 0) != (c.status == webhook.Delivered) {
					t.Errorf("%d: %d failures", code, failures)
				}
				if n := len(r.Messages()) - before; n != 1 {
					t.Errorf("%d: the receiver was called %d times", code, n)
				}
				webhooktest.Must(t, w.Delete(t.Context(), w.Actor, id))
			}
		}
	})
}

func TestSixAttemptsAtTheTimesOfTheContract(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, key := w.Subscribe(r.URL, event.InvoicePaid)
		r.Answer(http.StatusInternalServerError)
		w.Happen(1, event.InvoicePaid)
		for i, delay := range webhooktest.Schedule {
			ended := w.Clock.Now()
			if delay > 0 {
				next := w.History(id)[0].NextAttempt
				if wait := next.Sub(ended); wait < delay || wait > delay+delay/10 {
					t.Errorf("attempt %d comes after %v, want %v and at most a tenth more", i+1, wait, delay)
				}
				w.Clock.Set(next.Add(-time.Microsecond))
				if n := w.Round(); n != 0 {
					t.Errorf("attempt %d came too early", i+1)
				}
				w.Clock.Set(next)
			}
			if n := w.Round(); n != 1 {
				t.Fatalf("attempt %d: %d were sent", i+1, n)
			}
		}
		d := w.History(id)[0]
		if d.Status != webhook.Failed || len(d.Attempts) != 6 || !d.NextAttempt.IsZero() {
			t.Errorf("after six attempts: %+v", d)
		}
		w.Clock.Advance(30 * 24 * time.Hour)
		if n := w.Rounds(); n != 0 {
			t.Errorf("a seventh attempt was made")
		}
		seen := map[string]bool{}
		for i, m := range r.Messages() {
			webhooktest.WantSigned(t, key, m)
			at := m.Header.Get("X-Service-Timestamp")
			if m.Body != r.Messages()[0].Body || seen[at] || at != strconv.FormatInt(d.Attempts[i].At.Unix(), 10) || d.Attempts[i].Number != i+1 {
				t.Errorf("attempt %d at %s, %+v: %s", i+1, at, d.Attempts[i], m.Body)
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
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		for code, want := range map[int]time.Duration{429: 2 * time.Minute, 503: 2 * time.Minute, 500: time.Minute, 408: time.Minute} {
			id, _ := w.Subscribe(r.URL, event.InvoicePaid)
			r.Answer(code, "Retry-After", "120")
			w.Happen(1, event.InvoicePaid)
			w.Rounds()
			if wait := w.History(id)[0].NextAttempt.Sub(w.Clock.Now()); wait < want || wait > want+want/10 {
				t.Errorf("%d: waits %v, want %v", code, wait, want)
			}
			webhooktest.Must(t, w.Delete(t.Context(), w.Actor, id))
		}
	})
}

func TestTwentyFailuresInARowSwitchOff(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r, other := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		well, _ := w.Subscribe(other.URL, event.InvoicePaid)
		r.Answer(http.StatusInternalServerError)
		ids := w.Happen(19, event.InvoicePaid)
		w.Rounds()
		r.Answer(http.StatusOK)
		ids = append(ids, w.Happen(1, event.InvoicePaid)...)
		w.Rounds()
		if got := w.Webhook(id); !got.Active || got.Failures != 0 {
			t.Fatalf("a success after 19 failures leaves %+v", got)
		}
		r.Answer(http.StatusNotFound) // a refusal counts too
		ids = append(ids, w.Happen(30, event.InvoicePaid)...)
		w.Rounds()
		got := w.Webhook(id)
		if got.Active || got.Failures != 20 || got.DisabledAt.IsZero() || !strings.Contains(got.Notice, "404") {
			t.Fatalf("after 20: %+v", got)
		}
		if n := w.Count(id); n[webhook.Refused] != 20 || n[webhook.Parked] != 29 || n[webhook.Delivered] != 1 || n[webhook.Pending] != 0 {
			t.Errorf("%v", n)
		}
		missed := w.Happen(5, event.InvoicePaid)
		w.Clock.Advance(24 * time.Hour)
		sent := len(r.Messages())
		if w.Rounds(); len(r.Messages()) != sent || len(w.History(id)) != 50 {
			t.Errorf("while it is off %d are sent, and %d are there", len(r.Messages())-sent, len(w.History(id)))
		}
		r.Answer(http.StatusOK)
		if got := w.Put(id, `{"active":true}`); !got.Active || got.Failures != 0 || !got.DisabledAt.IsZero() || got.Notice != "" {
			t.Errorf("switched on: %+v", got)
		}
		w.Rounds()
		if n := w.Count(id); n[webhook.Delivered] != 30 || n[webhook.Refused] != 20 || len(n) != 2 {
			t.Errorf("resumed: %v", n)
		}
		times := r.Times()
		for _, missed := range missed {
			if times[missed] != 0 {
				t.Error("what happened while it was off was sent")
			}
		}
		webhooktest.WantOnce(t, other, append(ids, missed...))
		if got := w.Webhook(well); !got.Active || got.Failures != 0 {
			t.Errorf("the other one: %+v", got)
		}
	})
}

func TestSwitchedOffByHandParksAndResumes(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		ids := w.Happen(6, event.InvoicePaid)
		job := claimAll(w, 6)[0] // under way when it is switched off
		w.Put(id, `{"active":false}`)
		r.Answer(http.StatusInternalServerError)
		_, err := w.Sender().Record(t.Context(), job, w.Sender().Try(t.Context(), job))
		webhooktest.Must(t, err)
		w.Clock.Advance(sender.LeaseTime + time.Second) // the others were claimed by one who died
		w.Rounds()
		if n := w.Count(id); n[webhook.Parked] != 6 || len(r.Messages()) != 1 {
			t.Errorf("%v, and %d were sent", n, len(r.Messages()))
		}
		if n := w.Happen(2, event.InvoicePaid); len(w.History(id)) != 6 {
			t.Errorf("%v were queued while it was off", n)
		}
		r.Answer(http.StatusOK)
		w.Put(id, `{"active":true}`)
		w.Clock.Advance(2 * time.Minute)
		w.Rounds()
		if n := w.Count(id); n[webhook.Delivered] != 6 {
			t.Errorf("resumed: %v", n)
		}
		for _, one := range ids {
			if r.Times()[one] == 0 {
				t.Errorf("%s did not come", one)
			}
		}
	})
}

// claimAll leases lanes that nobody has, and claims up to n deliveries of them,
// four of a lane at most.
func claimAll(w *webhooktest.World, n int) []sender.Job {
	w.T.Helper()
	jobs, err := w.Sender().Claim(w.T.Context(), n)
	webhooktest.Must(w.T, err)
	return jobs
}

func TestTestsCountForNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, key := w.Subscribe(r.URL, event.InvoicePaid)
		r.Answer(http.StatusInternalServerError)
		for range 25 {
			if _, delivered, err := w.Test(t.Context(), w.Actor, id); delivered || err != nil {
				t.Fatal(delivered, err)
			}
		}
		if got := w.Webhook(id); !got.Active || got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		w.Clock.Advance(time.Hour)
		if n := w.Rounds(); n != 0 {
			t.Errorf("%d tests were tried again", n)
		}
		r.Answer(http.StatusOK)
		w.Put(id, `{"active":false}`)
		if _, delivered, err := w.Test(t.Context(), w.Actor, id); !delivered || err != nil {
			t.Error(delivered, err)
		}
		for _, m := range r.Messages() {
			webhooktest.WantSigned(t, key, m)
		}
		if n := w.Count(id); n[webhook.Failed] != 25 || n[webhook.Delivered] != 1 {
			t.Errorf("%v", n)
		}
	})
}

func TestResendThatFailsIsTriedAgain(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(1, event.InvoicePaid)
		r.Answer(http.StatusGone)
		w.Rounds()
		r.Answer(http.StatusInternalServerError)
		d, err := w.Resend(t.Context(), w.Actor, "", w.History(id)[0].ID)
		if webhooktest.Must(t, err); d.Status != webhook.Pending || len(d.Attempts) != 2 || d.Attempts[1].Number != 2 {
			t.Errorf("%+v", d)
		}
		r.Answer(http.StatusOK)
		w.Clock.Advance(2 * time.Minute)
		w.Rounds()
		if d := w.History(id)[0]; d.Status != webhook.Delivered || len(d.Attempts) != 3 {
			t.Errorf("%+v", d)
		}
	})
}

func TestLateCloseOfALostClaimChangesNothing(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r, other := webhooktest.NewReceiver(t), w.Another()
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(1, event.InvoicePaid)
		late := claimAll(w, 1)[0]
		if jobs := claimAll(other, 1); len(jobs) != 0 {
			t.Fatal("two have one delivery")
		}
		w.Clock.Advance(sender.LeaseTime - time.Microsecond)
		if jobs := claimAll(other, 1); len(jobs) != 0 {
			t.Fatal("the claim was taken before its end")
		}
		w.Clock.Advance(time.Microsecond)
		if n := other.Round(); n != 1 {
			t.Fatal("the claim that ran out was not taken")
		}
		before := fmt.Sprintf("%+v %+v", w.History(id), w.Webhook(id))
		for _, o := range []sender.Tried{sender.Broken(webhooktest.Morning), sender.Accepted(webhooktest.Morning), sender.Disabled()} {
			if kept, err := w.Sender().Record(t.Context(), late, o); kept || err != nil {
				t.Errorf("%+v was kept: %t, %v", o, kept, err)
			}
		}
		if after := fmt.Sprintf("%+v %+v", w.History(id), w.Webhook(id)); after != before {
			t.Errorf("was %s\nand is %s", before, after)
		}
		if d := w.History(id)[0]; d.Status != webhook.Delivered || len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v", d)
		}
	})
}

func TestTwoProcessesShareTheWork(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		other := w.Another()
		var receivers []*webhooktest.Receiver
		for range 3 {
			r := webhooktest.NewReceiver(t)
			r.Meet = func(<-chan struct{}) { time.Sleep(time.Millisecond) }
			w.Subscribe(r.URL, event.InvoicePaid)
			receivers = append(receivers, r)
		}
		ids := w.Happen(100, event.InvoicePaid)
		stop, stopOther := w.Start(), other.Start()
		var more sync.WaitGroup
		more.Go(func() {
			for range 20 {
				ids = append(ids, other.Happen(1, event.InvoicePaid)...)
			}
		})
		more.Wait()
		for _, r := range receivers {
			webhooktest.Eventually(t, "all have come", func() bool { return len(r.Messages()) >= len(ids) })
		}
		stop()
		stopOther()
		for _, r := range receivers {
			webhooktest.WantOnce(t, r, ids)
			if most := r.Busiest(); most > sender.LaneLimit {
				t.Errorf("%d requests at once, want at most %d", most, sender.LaneLimit)
			}
		}
	})
}

func TestReceiverThatHangsDelaysNoOther(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		hanging, release := webhooktest.NewReceiver(t), make(chan struct{})
		hanging.Meet = func(gone <-chan struct{}) {
			select {
			case <-release:
			case <-gone:
			}
		}
		w.Subscribe(hanging.URL, event.CustomerUpdated)
		w.Happen(2000, event.CustomerUpdated)
		healthy := webhooktest.NewReceiver(t)
		const lanes, events = 50, 4
		for range lanes {
			w.Subscribe(healthy.URL, event.InvoicePaid)
		}
		stop := w.Start()
		webhooktest.Eventually(t, "it hangs", func() bool { return len(hanging.Messages()) >= sender.LaneLimit })
		w.Happen(events, event.InvoicePaid)
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
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(10, event.InvoicePaid)
		if n := w.Round(); n != sender.LaneLimit {
			t.Errorf("%d at once, want %d", n, sender.LaneLimit)
		}
		r.Answer(http.StatusInternalServerError)
		w.Round()
		if n := w.Round(); n != sender.FailingLaneLimit || w.Webhook(id).Failures == 0 {
			t.Errorf("after a failure %d at once, want %d", n, sender.FailingLaneLimit)
		}
	})
}

func TestFirstAttemptsComeBeforeRetries(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		w.Subscribe(r.URL, event.InvoicePaid, event.InvoiceCreated)
		r.Answer(http.StatusInternalServerError)
		w.Happen(4, event.InvoicePaid)
		w.Rounds()
		w.Exec(`UPDATE webhooks SET failures = 0`)
		w.Clock.Advance(time.Hour) // all four are due again
		w.Happen(2, event.InvoiceCreated)
		var names []string
		for _, j := range claimAll(w, sender.QuickSlots) {
			names = append(names, j.Event())
		}
		slices.Sort(names)
		if want := "[invoice.created invoice.created invoice.paid invoice.paid]"; fmt.Sprint(names) != want {
			t.Errorf("claimed %v, want %s", names, want)
		}
	})
}

func TestDeletedWhileItIsSent(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r, arrived, release := webhooktest.NewReceiver(t), make(chan struct{}), make(chan struct{})
		r.Meet = func(<-chan struct{}) {
			close(arrived)
			<-release
		}
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		w.Happen(1, event.InvoicePaid)
		var sending sync.WaitGroup
		sending.Go(func() { w.Round() })
		<-arrived
		webhooktest.Must(t, w.Delete(t.Context(), w.Actor, id))
		close(release)
		sending.Wait()
		if _, err := w.Find(t.Context(), w.Actor, id); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("it is still there: %v", err)
		}
		for _, table := range []string{"deliveries", "delivery_attempts", "webhooks"} {
			if n, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT count(*) FROM `+table); err != nil || n != 0 {
				t.Errorf("%d %s, %v", n, table, err)
			}
		}
		if n := w.Rounds(); n != 0 {
			t.Errorf("%d were sent afterwards", n)
		}
	})
}

// Events go on while webhooks come and go.
func TestDeletionDoesNotDisturbWhatHappens(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		var happening sync.WaitGroup
		done := make(chan struct{})
		happening.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					w.Happen(1, event.InvoicePaid)
				}
			}
		})
		for range 25 {
			id, _ := w.Subscribe("https://example.com", event.InvoicePaid)
			webhooktest.Must(t, w.Delete(t.Context(), w.Actor, id))
		}
		close(done)
		happening.Wait()
	})
}

// What could not be recorded is sent again when its claim has run out.
func TestEngineGoesOnAfterTheDatabaseFailed(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		id, _ := w.Subscribe(r.URL, event.InvoicePaid)
		ids := w.Happen(1, event.InvoicePaid)
		w.Exec(`ALTER TABLE delivery_attempts RENAME TO mislaid`)
		w.Round()
		w.Exec(`ALTER TABLE mislaid RENAME TO delivery_attempts`)
		if n := w.Rounds(); n != 0 || r.Times()[ids[0]] != 1 {
			t.Errorf("%d were sent before the claim ran out", n)
		}
		w.Clock.Advance(sender.LeaseTime)
		stop := w.Start()
		defer stop()
		webhooktest.Eventually(t, "it was sent again", func() bool { return w.Count(id)[webhook.Delivered] == 1 })
		if d := w.History(id)[0]; len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v", d)
		}
		w.Exec(`ALTER TABLE callback_secrets RENAME TO mislaid`) // so that nothing can be claimed
		w.Happen(3, event.InvoicePaid)
		time.Sleep(50 * time.Millisecond)
		w.Exec(`ALTER TABLE mislaid RENAME TO callback_secrets`)
		webhooktest.Eventually(t, "the rest was sent", func() bool { return w.Count(id)[webhook.Delivered] == 4 })
	})
}
