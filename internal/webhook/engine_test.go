package webhook

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
)

func TestMessageIsExactlyTheContracts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		_, key := w.subscribe(r.URL+"/hook?x=1", event.CustomerCreated)
		ids := w.happen(1, event.CustomerCreated)
		if n := w.rounds(); n != 1 {
			t.Fatalf("%d were sent", n)
		}
		m := r.messages()[0]
		wantSigned(t, key, m)
		want := map[string]string{
			"Content-Type": "application/json", "User-Agent": "Carteira/1.0", "Content-Length": strconv.Itoa(len(m.body)),
			"X-Service-Event": "customer.created", "X-Service-Delivery": ids[0], "X-Service-Timestamp": strconv.FormatInt(noon.Unix(), 10),
			"X-Service-Signature": m.header.Get("X-Service-Signature"),
		}
		for name, value := range want {
			if got := m.header.Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		for name := range m.header {
			if _, ok := want[name]; !ok && name != "Accept-Encoding" {
				t.Errorf("%s: %s was sent too", name, m.header.Get(name))
			}
		}
		body := fmt.Sprintf(`{"event":"customer.created","platform":"carteira","id":%q,"api_version":"v1",`+
			`"occurred_at":"2026-01-31T09:00:00-03:00","company_id":%d,"data":{"n":1}}`, ids[0], w.actor.Company.ID)
		if m.body != body {
			t.Errorf("sent %s\nwant %s", m.body, body)
		}
	})
}

var errTakenBack = errors.New("taken back")

func TestWhatIsCommittedArrivesAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first, second := newReceiver(t), newReceiver(t)
		w.subscribe(first.URL, event.CustomerCreated, event.InvoicePaid)
		w.subscribe(second.URL, event.InvoicePaid)
		created := w.happen(12, event.CustomerCreated)
		paid := w.happen(8, event.InvoicePaid)
		w.happen(3, event.CustomerDeleted) // which nobody wants
		err := w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return errors.Join(w.log.Record(t.Context(), tx, w.actor.Source(), event.InvoicePaid, nil), errTakenBack)
		})
		if !errors.Is(err, errTakenBack) {
			t.Fatal(err)
		}
		w.rounds()
		wantOnce(t, first, append(created, paid...))
		wantOnce(t, second, paid)
	})
}

func TestAnswerDecidesWhatBecomesOfADelivery(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		for _, c := range []struct {
			status Status
			codes  []int
		}{
			{Delivered, []int{200, 201, 202, 204, 299}},
			{Refused, []int{400, 401, 403, 404, 410, 418, 422, 451}},
			{Pending, []int{300, 301, 302, 304, 307, 408, 429, 500, 502, 503, 504}},
		} {
			for _, code := range c.codes {
				id, _ := w.subscribe(r.URL, event.InvoicePaid)
				r.answer(code, "Location", r.URL+"/elsewhere")
				w.happen(1, event.InvoicePaid)
				before := len(r.messages())
				w.rounds()
				d := w.history(id)[0]
				if d.Status != c.status || len(d.Attempts) != 1 || d.Attempts[0].ResponseStatus != code {
					t.Errorf("%d: %+v", code, d)
				}
				if (d.Attempts[0].Error == "") != (c.status == Delivered) || d.NextAttempt.IsZero() == (c.status == Pending) {
					t.Errorf("%d: error %q, next attempt at %v", code, d.Attempts[0].Error, d.NextAttempt)
				}
				if failures := w.find(id).Failures; (failures == 0) != (c.status == Delivered) {
					t.Errorf("%d: %d failures", code, failures)
				}
				if n := len(r.messages()) - before; n != 1 {
					t.Errorf("%d: the receiver was called %d times", code, n)
				}
				must(t, w.Delete(t.Context(), w.actor, id))
			}
		}
	})
}

func TestSixAttemptsAtTheTimesOfTheContract(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, key := w.subscribe(r.URL, event.InvoicePaid)
		r.answer(http.StatusInternalServerError)
		w.happen(1, event.InvoicePaid)
		for i, delay := range schedule {
			ended := w.clock.Now()
			if delay > 0 {
				next := w.history(id)[0].NextAttempt
				if wait := next.Sub(ended); wait < delay || wait > delay+delay/10 {
					t.Errorf("attempt %d comes after %v, want %v and at most a tenth more", i+1, wait, delay)
				}
				w.clock.Set(next.Add(-time.Microsecond))
				if n := w.round(); n != 0 {
					t.Errorf("attempt %d came too early", i+1)
				}
				w.clock.Set(next)
			}
			if n := w.round(); n != 1 {
				t.Fatalf("attempt %d: %d were sent", i+1, n)
			}
		}
		d := w.history(id)[0]
		if d.Status != Failed || len(d.Attempts) != 6 || !d.NextAttempt.IsZero() {
			t.Errorf("after six attempts: %+v", d)
		}
		w.clock.Advance(30 * 24 * time.Hour)
		if n := w.rounds(); n != 0 {
			t.Errorf("a seventh attempt was made")
		}
		seen := map[string]bool{}
		for i, m := range r.messages() {
			wantSigned(t, key, m)
			at := m.header.Get("X-Service-Timestamp")
			if m.body != r.messages()[0].body || seen[at] || at != strconv.FormatInt(d.Attempts[i].At.Unix(), 10) || d.Attempts[i].Number != i+1 {
				t.Errorf("attempt %d at %s, %+v: %s", i+1, at, d.Attempts[i], m.body)
			}
			seen[at] = true
		}
	})
}

func TestJitterNeverShortensAndRetryAfterStaysInBounds(t *testing.T) {
	s := &Service{options: Options{Delays: schedule}}
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
			if got := s.delay(c.step, c.asked); got < c.want || got > c.want+c.want/10 {
				t.Fatalf("step %d, asked for %v: %v, want %v", c.step, c.asked, got, c.want)
			}
		}
	}
}

func TestRetryAfterCountsFor429And503(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		for code, want := range map[int]time.Duration{429: 2 * time.Minute, 503: 2 * time.Minute, 500: time.Minute, 408: time.Minute} {
			id, _ := w.subscribe(r.URL, event.InvoicePaid)
			r.answer(code, "Retry-After", "120")
			w.happen(1, event.InvoicePaid)
			w.rounds()
			if wait := w.history(id)[0].NextAttempt.Sub(w.clock.Now()); wait < want || wait > want+want/10 {
				t.Errorf("%d: waits %v, want %v", code, wait, want)
			}
			must(t, w.Delete(t.Context(), w.actor, id))
		}
	})
}

func TestTwentyFailuresInARowSwitchOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, other := newReceiver(t), newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		well, _ := w.subscribe(other.URL, event.InvoicePaid)
		r.answer(http.StatusInternalServerError)
		ids := w.happen(19, event.InvoicePaid)
		w.rounds()
		r.answer(http.StatusOK)
		ids = append(ids, w.happen(1, event.InvoicePaid)...)
		w.rounds()
		if got := w.find(id); !got.Active || got.Failures != 0 {
			t.Fatalf("a success after 19 failures leaves %+v", got)
		}
		r.answer(http.StatusNotFound) // a refusal counts too
		ids = append(ids, w.happen(30, event.InvoicePaid)...)
		w.rounds()
		got := w.find(id)
		if got.Active || got.Failures != 20 || got.DisabledAt.IsZero() || !strings.Contains(got.Notice, "404") {
			t.Fatalf("after 20: %+v", got)
		}
		if n := w.count(id); n[Refused] != 20 || n[Parked] != 29 || n[Delivered] != 1 || n[Pending] != 0 {
			t.Errorf("%v", n)
		}
		missed := w.happen(5, event.InvoicePaid)
		w.clock.Advance(24 * time.Hour)
		sent := len(r.messages())
		if w.rounds(); len(r.messages()) != sent || len(w.history(id)) != 50 {
			t.Errorf("while it is off %d are sent, and %d are there", len(r.messages())-sent, len(w.history(id)))
		}
		r.answer(http.StatusOK)
		if got := w.put(id, `{"active":true}`); !got.Active || got.Failures != 0 || !got.DisabledAt.IsZero() || got.Notice != "" {
			t.Errorf("switched on: %+v", got)
		}
		w.rounds()
		if n := w.count(id); n[Delivered] != 30 || n[Refused] != 20 || len(n) != 2 {
			t.Errorf("resumed: %v", n)
		}
		times := r.times()
		for _, missed := range missed {
			if times[missed] != 0 {
				t.Error("what happened while it was off was sent")
			}
		}
		wantOnce(t, other, append(ids, missed...))
		if got := w.find(well); !got.Active || got.Failures != 0 {
			t.Errorf("the other one: %+v", got)
		}
	})
}

func TestSwitchedOffByHandParksAndResumes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		ids := w.happen(6, event.InvoicePaid)
		job := w.claimAll(6)[0] // under way when it is switched off
		w.put(id, `{"active":false}`)
		r.answer(http.StatusInternalServerError)
		_, err := w.close(t.Context(), job, w.send(t.Context(), job))
		must(t, err)
		w.clock.Advance(lease + time.Second) // the others were claimed by one who died
		w.rounds()
		if n := w.count(id); n[Parked] != 6 || len(r.messages()) != 1 {
			t.Errorf("%v, and %d were sent", n, len(r.messages()))
		}
		if n := w.happen(2, event.InvoicePaid); len(w.history(id)) != 6 {
			t.Errorf("%v were queued while it was off", n)
		}
		r.answer(http.StatusOK)
		w.put(id, `{"active":true}`)
		w.clock.Advance(2 * time.Minute)
		w.rounds()
		if n := w.count(id); n[Delivered] != 6 {
			t.Errorf("resumed: %v", n)
		}
		for _, one := range ids {
			if r.times()[one] == 0 {
				t.Errorf("%s did not come", one)
			}
		}
	})
}

// claimAll takes lanes that nobody has, and up to n deliveries of them, four of a
// lane at once.
func (w *world) claimAll(n int) (jobs []job) {
	w.t.Helper()
	lanes, err := w.look(w.t.Context())
	must(w.t, err)
	var asks []ask
	for _, l := range lanes {
		if some := min(laneCap, n); some > 0 {
			asks = append(asks, ask{lane: l.lane, n: some})
			n -= some
		}
	}
	all, err := w.take(w.t.Context(), asks)
	must(w.t, err)
	for _, t := range all {
		jobs = append(jobs, t.hold().queue...)
	}
	return jobs
}

func TestTestsCountForNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, key := w.subscribe(r.URL, event.InvoicePaid)
		r.answer(http.StatusInternalServerError)
		for range 25 {
			if _, delivered, err := w.Test(t.Context(), w.actor, id); delivered || err != nil {
				t.Fatal(delivered, err)
			}
		}
		if got := w.find(id); !got.Active || got.Failures != 0 {
			t.Errorf("%+v", got)
		}
		w.clock.Advance(time.Hour)
		if n := w.rounds(); n != 0 {
			t.Errorf("%d tests were tried again", n)
		}
		r.answer(http.StatusOK)
		w.put(id, `{"active":false}`)
		if _, delivered, err := w.Test(t.Context(), w.actor, id); !delivered || err != nil {
			t.Error(delivered, err)
		}
		for _, m := range r.messages() {
			wantSigned(t, key, m)
		}
		if n := w.count(id); n[Failed] != 25 || n[Delivered] != 1 {
			t.Errorf("%v", n)
		}
	})
}

func TestResendThatFailsIsTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(1, event.InvoicePaid)
		r.answer(http.StatusGone)
		w.rounds()
		r.answer(http.StatusInternalServerError)
		d, err := w.Resend(t.Context(), w.actor, "", w.history(id)[0].ID)
		if must(t, err); d.Status != Pending || len(d.Attempts) != 2 || d.Attempts[1].Number != 2 {
			t.Errorf("%+v", d)
		}
		r.answer(http.StatusOK)
		w.clock.Advance(2 * time.Minute)
		w.rounds()
		if d := w.history(id)[0]; d.Status != Delivered || len(d.Attempts) != 3 {
			t.Errorf("%+v", d)
		}
	})
}

func TestLateCloseOfALostClaimChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, other := newReceiver(t), w.another(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(1, event.InvoicePaid)
		late := w.claimAll(1)[0]
		if jobs := other.claimAll(1); len(jobs) != 0 {
			t.Fatal("two have one delivery")
		}
		w.clock.Advance(lease - time.Microsecond)
		if jobs := other.claimAll(1); len(jobs) != 0 {
			t.Fatal("the claim was taken before its end")
		}
		w.clock.Advance(time.Microsecond)
		if n := other.round(); n != 1 {
			t.Fatal("the claim that ran out was not taken")
		}
		before := fmt.Sprintf("%+v %+v", w.history(id), w.find(id))
		for _, o := range []outcome{{verdict: broken, at: noon, problem: "late"}, {verdict: accepted, at: noon}, {verdict: held}} {
			if kept, err := w.close(t.Context(), late, o); kept || err != nil {
				t.Errorf("%s was kept: %t, %v", o.verdict, kept, err)
			}
		}
		if after := fmt.Sprintf("%+v %+v", w.history(id), w.find(id)); after != before {
			t.Errorf("was %s\nand is %s", before, after)
		}
		if d := w.history(id)[0]; d.Status != Delivered || len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v", d)
		}
	})
}

func TestTwoProcessesShareTheWork(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		other := w.another(t)
		var receivers []*receiver
		for range 3 {
			r := newReceiver(t)
			r.meet = func(<-chan struct{}) { time.Sleep(time.Millisecond) }
			w.subscribe(r.URL, event.InvoicePaid)
			receivers = append(receivers, r)
		}
		ids := w.happen(100, event.InvoicePaid)
		stop, stopOther := w.run(), other.run()
		var more sync.WaitGroup
		more.Go(func() {
			for range 20 {
				ids = append(ids, other.happen(1, event.InvoicePaid)...)
			}
		})
		more.Wait()
		for _, r := range receivers {
			eventually(t, "all have come", func() bool { return len(r.messages()) >= len(ids) })
		}
		stop()
		stopOther()
		for _, r := range receivers {
			wantOnce(t, r, ids)
			if most := r.busiest(); most > laneCap {
				t.Errorf("%d requests at once, want at most %d", most, laneCap)
			}
		}
	})
}

func TestReceiverThatHangsDelaysNoOther(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		hanging, release := newReceiver(t), make(chan struct{})
		hanging.meet = func(gone <-chan struct{}) {
			select {
			case <-release:
			case <-gone:
			}
		}
		w.subscribe(hanging.URL, event.CustomerUpdated)
		w.happen(2000, event.CustomerUpdated)
		healthy := newReceiver(t)
		const lanes, events = 50, 4
		for range lanes {
			w.subscribe(healthy.URL, event.InvoicePaid)
		}
		stop := w.run()
		eventually(t, "it hangs", func() bool { return len(hanging.messages()) >= laneCap })
		w.happen(events, event.InvoicePaid)
		eventually(t, "the others have got theirs", func() bool { return len(healthy.messages()) == lanes*events })
		if most := hanging.busiest(); most > laneCap {
			t.Errorf("%d requests hang at once, want at most %d", most, laneCap)
		}
		close(release)
		stop()
		for id, n := range healthy.times() {
			if n != lanes {
				t.Errorf("%s came %d times to %d receivers", id, n, lanes)
			}
		}
	})
}

func TestFailingLaneGetsOneSlot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(10, event.InvoicePaid)
		if n := w.round(); n != laneCap {
			t.Errorf("%d at once, want %d", n, laneCap)
		}
		r.answer(http.StatusInternalServerError)
		w.round()
		if n := w.round(); n != failingLaneCap || w.find(id).Failures == 0 {
			t.Errorf("after a failure %d at once, want %d", n, failingLaneCap)
		}
	})
}

func TestFirstAttemptsComeBeforeRetries(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		w.subscribe(r.URL, event.InvoicePaid, event.InvoiceCreated)
		r.answer(http.StatusInternalServerError)
		w.happen(4, event.InvoicePaid)
		w.rounds()
		w.exec(`UPDATE webhooks SET failures = 0`)
		w.clock.Advance(time.Hour) // all four are due again
		w.happen(2, event.InvoiceCreated)
		var names []string
		for _, j := range w.claimAll(slots) {
			names = append(names, string(j.event))
		}
		slices.Sort(names)
		if want := "[invoice.created invoice.created invoice.paid invoice.paid]"; fmt.Sprint(names) != want {
			t.Errorf("claimed %v, want %s", names, want)
		}
	})
}

func TestDeletedWhileItIsSent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, arrived, release := newReceiver(t), make(chan struct{}), make(chan struct{})
		r.meet = func(<-chan struct{}) {
			close(arrived)
			<-release
		}
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		w.happen(1, event.InvoicePaid)
		var sending sync.WaitGroup
		sending.Go(func() { w.round() })
		<-arrived
		must(t, w.Delete(t.Context(), w.actor, id))
		close(release)
		sending.Wait()
		if _, err := w.Find(t.Context(), w.actor, id); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("it is still there: %v", err)
		}
		for _, table := range []string{"deliveries", "delivery_attempts", "webhooks"} {
			if n, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM `+table); err != nil || n != 0 {
				t.Errorf("%d %s, %v", n, table, err)
			}
		}
		if n := w.rounds(); n != 0 {
			t.Errorf("%d were sent afterwards", n)
		}
	})
}

// Events go on while webhooks come and go.
func TestDeletionDoesNotDisturbWhatHappens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var happening sync.WaitGroup
		done := make(chan struct{})
		happening.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					w.happen(1, event.InvoicePaid)
				}
			}
		})
		for range 25 {
			id, _ := w.subscribe("https://example.com", event.InvoicePaid)
			must(t, w.Delete(t.Context(), w.actor, id))
		}
		close(done)
		happening.Wait()
	})
}

// What could not be recorded is sent again when its claim has run out.
func TestEngineGoesOnAfterTheDatabaseFailed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		id, _ := w.subscribe(r.URL, event.InvoicePaid)
		ids := w.happen(1, event.InvoicePaid)
		w.exec(`ALTER TABLE delivery_attempts RENAME TO mislaid`)
		w.round()
		w.exec(`ALTER TABLE mislaid RENAME TO delivery_attempts`)
		if n := w.rounds(); n != 0 || r.times()[ids[0]] != 1 {
			t.Errorf("%d were sent before the claim ran out", n)
		}
		w.clock.Advance(lease)
		stop := w.run()
		defer stop()
		eventually(t, "it was sent again", func() bool { return w.count(id)[Delivered] == 1 })
		if d := w.history(id)[0]; len(d.Attempts) != 1 || d.Attempts[0].Number != 2 {
			t.Errorf("%+v", d)
		}
		w.exec(`ALTER TABLE callback_secrets RENAME TO mislaid`) // so that nothing can be claimed
		w.happen(3, event.InvoicePaid)
		time.Sleep(50 * time.Millisecond)
		w.exec(`ALTER TABLE mislaid RENAME TO callback_secrets`)
		eventually(t, "the rest was sent", func() bool { return w.count(id)[Delivered] == 4 })
	})
}
