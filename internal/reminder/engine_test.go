package reminder

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// due makes a rule and a customer whose message is due now.
func (h *house) due(channels []int64, text string, more ...string) {
	h.t.Helper()
	h.remind(-3, "09:00", h.template(text), channels...)
	h.customer("2026-01-24", more...)
	h.work()
	h.at("2026-01-21 09:00")
}

func TestReasonsForNotSending(t *testing.T) {
	for name, tt := range map[string]struct {
		customer []string
		prepare  func(t *testing.T, h *house)
		status   Status
		reason   string
	}{
		"no number":          {customer: []string{"whatsapp", ""}, status: Skipped, reason: "no WhatsApp number"},
		"opted out":          {prepare: func(t *testing.T, h *house) { must(t, h.SetOptOut(t.Context(), h.actor, 1, true)) }, status: Skipped, reason: "opted out"},
		"channel off":        {prepare: func(t *testing.T, h *house) { h.exec(`UPDATE reminder_channels SET active = ?`, false) }, status: Skipped, reason: "zap is switched off"},
		"due date moved":     {prepare: func(_ *testing.T, h *house) { h.exec(`UPDATE customers SET due_on = '2026-01-25'`) }, status: Skipped, reason: "due date moved"},
		"rule switched off":  {prepare: func(_ *testing.T, h *house) { h.exec(`UPDATE reminder_rules SET active = ?`, false) }, status: Skipped, reason: "the rule is switched off"},
		"refused":            {prepare: func(_ *testing.T, h *house) { h.carrier.answers(refusing) }, status: Failed, reason: "channel refused: not a number of ours"},
		"unknown":            {prepare: func(_ *testing.T, h *house) { h.carrier.answers(hanging) }, status: Unknown, reason: "no answer in time"},
		"zone moved onwards": {prepare: func(_ *testing.T, h *house) { h.exec(`UPDATE companies SET timezone = 'America/Rio_Branco'`) }, status: Scheduled},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				h.due([]int64{h.channel("zap")}, "Olá", tt.customer...)
				if tt.prepare != nil {
					tt.prepare(t, h)
				}
				h.send()
				h.want(h.only(), tt.status, tt.reason)
				if got := h.carrier.taken(); len(got) != 0 {
					t.Errorf("sent %+v", got)
				}
			})
		})
	}
}

func refusing(string, Letter) (string, error) {
	return "", &Refusal{Reason: "not a number of ours"}
}

func hanging(string, Letter) (string, error) { return "", &Doubt{Reason: "no answer in time"} }

func busy(string, Letter) (string, error) { return "", &Passing{Reason: "too busy"} }

func TestFallbackIsTakenInOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		customer []string
		answer   func(kind string, l Letter) (string, error)
		to       string
		status   Status
		reason   string
	}{
		"the first will do":         {to: "5511987654321", status: Sent},
		"no number":                 {customer: []string{"whatsapp", ""}, to: "ana@example.com", status: Sent},
		"neither":                   {customer: []string{"whatsapp", "", "email", ""}, status: Skipped, reason: "no WhatsApp number; no e-mail"},
		"the first refuses":         {answer: only("zap", refusing), to: "ana@example.com", status: Sent},
		"refuses, and no e-mail":    {customer: []string{"email", ""}, answer: only("zap", refusing), status: Failed, reason: "channel refused: not a number of ours; no e-mail"},
		"both refuse":               {answer: refusing, status: Failed, reason: "channel refused: not a number of ours"},
		"nobody knows of the first": {answer: only("zap", hanging), status: Unknown, reason: "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				h.carrier.answers(tt.answer)
				h.due([]int64{h.channel("zap"), h.channel("mail")}, "Olá", tt.customer...)
				h.send()
				h.want(h.only(), tt.status, tt.reason)
				var to []string
				for _, l := range h.carrier.taken() {
					to = append(to, l.To)
				}
				if got := strings.Join(to, " "); got != tt.to {
					t.Errorf("sent to %q, want %q", got, tt.to)
				}
			})
		})
	}
}

// only answers so on one kind of channel, and takes everything on others.
func only(kind string, answer func(string, Letter) (string, error)) func(string, Letter) (string, error) {
	return func(k string, l Letter) (string, error) {
		if k == kind {
			return answer(k, l)
		}
		return "", nil
	}
}

func TestWhatMayPassIsTriedAgainLaterAndLater(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(only("zap", busy))
		h.due([]int64{h.channel("zap"), h.channel("mail")}, "Olá")
		for i, delay := range retryDelays {
			h.send()
			m := h.only()
			h.want(m, Scheduled, "too busy")
			wait := m.RunAt.Sub(h.clock.Now())
			if m.Attempts != i+1 || wait < delay || wait > delay+delay/10 {
				t.Errorf("after attempt %d it waits %v, want %v and up to a tenth more", m.Attempts, wait, delay)
			}
			h.clock.Set(m.RunAt.Add(-time.Microsecond))
			h.send()
			if again := h.only(); again.Attempts != i+1 {
				t.Error("it was tried too early")
			}
			h.clock.Set(m.RunAt)
		}
		h.send()
		m := h.only()
		h.want(m, Sent, "")
		if m.Kind != "mail" {
			t.Errorf("sent by %s", m.Kind)
		}
		_, tries, err := h.FindMessage(t.Context(), h.actor, m.ID)
		must(t, err)
		if len(tries) != 6 || tries[0].Outcome != "passing" || tries[0].Problem != "too busy" || tries[5].Outcome != "accepted" || tries[5].Kind != "mail" {
			t.Errorf("attempts %+v", tries)
		}
	})
}

// The last retries would fall into the night, when it is too late.
func TestRetriesEndWithTheDay(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(busy)
		h.remind(-3, "20:50", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-24")
		h.work()
		h.at("2026-01-21 20:50")
		for range 3 {
			h.send()
			if m := h.only(); m.Status == Scheduled {
				h.clock.Set(m.RunAt)
			}
		}
		h.want(h.only(), Failed, "zap did not succeed: too busy")
		if m := h.only(); m.Attempts != 3 {
			t.Errorf("%d attempts, want those of 20:50, 20:51 and 20:56", m.Attempts)
		}
	})
}

func TestCarrierMayAskForPeace(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(func(string, Letter) (string, error) { return "", &Passing{Reason: "limit", After: 30 * time.Minute} })
		h.due([]int64{h.channel("zap")}, "Olá")
		h.send()
		if wait := h.only().RunAt.Sub(h.clock.Now()); wait < 30*time.Minute {
			t.Errorf("it waits %v", wait)
		}
	})
}

// begun takes the one message that is due up to the moment before it is sent,
// as a process does that then dies.
func (h *house) begun() (job, begun) {
	h.t.Helper()
	ready, err := lanes(h.t.Context(), h.db, h.db.Now())
	must(h.t, err)
	jobs, _, err := h.claimLane(h.t.Context(), ready[0], 1)
	must(h.t, err)
	b, ok, err := h.begin(h.t.Context(), jobs[0], prepared{})
	must(h.t, err)
	if !ok {
		h.t.Fatal("the message was not begun")
	}
	return jobs[0], b
}

func TestInterruptedSendingIsLeftToAPerson(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "Olá")
		h.begun()
		h.send()
		h.want(h.only(), Sending, "")
		h.clock.Advance(lease)
		for range 3 {
			h.send()
			h.clock.Advance(time.Hour)
		}
		m := h.only()
		h.want(m, Unknown, "may or may not have arrived")
		if got := h.carrier.taken(); len(got) != 0 {
			t.Errorf("it was sent again: %+v", got)
		}
		_, err := h.Decide(t.Context(), h.actor, m.ID, Resend)
		must(t, err)
		h.clock.Advance(24 * time.Hour) // whatever the hour
		h.send()
		if got := h.carrier.taken(); len(got) != 1 || got[0].ID != m.Key {
			t.Errorf("sent %+v", got)
		}
		h.want(h.only(), Sent, "")
		_, err = h.Decide(t.Context(), h.actor, m.ID, Resend)
		wantKind(t, err, fault.KindConflict)
	})
}

// A claim that was not begun has sent nothing, and is taken up again.
func TestInterruptedPreparationIsTakenUpAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "Olá")
		ready, err := lanes(t.Context(), h.db, h.db.Now())
		must(t, err)
		jobs, _, err := h.claimLane(t.Context(), ready[0], 1)
		must(t, err)
		h.send()
		if len(h.carrier.taken()) != 0 {
			t.Error("somebody else's message was sent")
		}
		h.clock.Advance(lease)
		h.send()
		if got := h.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %+v", got)
		}
		if _, ok, err := h.begin(t.Context(), jobs[0], prepared{}); ok || err != nil {
			t.Errorf("the late one began it too: %v", err)
		}
	})
}

func TestChannelThatKnowsRepeatedOnesGetsThemAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("own")}, "Olá")
		j, b := h.begun()
		h.clock.Advance(lease)
		h.send()
		got := h.carrier.taken()
		if len(got) != 1 || got[0].ID != b.ID {
			t.Errorf("sent %+v", got)
		}
		h.want(h.only(), Sent, "")
		if kept, err := h.recordAttempt(t.Context(), j, b, outcome{verdict: refused}); kept || err != nil {
			t.Errorf("a late answer was taken: %v", err)
		}
		h.customer("2026-01-25")
		h.at("2026-01-22 09:00")
		h.carrier.answers(hanging)
		h.work()
		if m := h.log()[1]; m.Status != Scheduled {
			t.Errorf("after a doubt it is %s", m.Status)
		}
	})
}

// A process that stood still for too long tells the truth when it wakes, unless
// a person has decided meanwhile.
func TestLateAnswerEndsTheDoubt(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "Olá")
		j, b := h.begun()
		h.clock.Advance(lease)
		h.send()
		h.want(h.only(), Unknown, "may or may not")
		kept, err := h.recordAttempt(t.Context(), j, b, outcome{verdict: accepted, receipt: "late"})
		must(t, err)
		if m := h.only(); !kept || m.Status != Sent || m.Receipt != "late" {
			t.Errorf("kept %v: %+v", kept, m)
		}
	})
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "Olá")
		j, b := h.begun()
		h.clock.Advance(lease)
		h.send()
		_, err := h.Decide(t.Context(), h.actor, h.only().ID, Dismiss)
		must(t, err)
		if kept, err := h.recordAttempt(t.Context(), j, b, outcome{verdict: accepted}); kept || err != nil {
			t.Errorf("kept %v, %v", kept, err)
		}
		h.want(h.only(), Dismissed, "by a person")
	})
}

func TestDecisions(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(hanging)
		h.due([]int64{h.channel("zap")}, "Olá")
		h.send()
		m, err := h.Decide(t.Context(), h.actor, h.only().ID, MarkSent)
		must(t, err)
		h.want(m, Sent, "by a person")
		_, err = h.Decide(t.Context(), h.actor, m.ID, Dismiss)
		wantKind(t, err, fault.KindConflict)
		_, err = h.Decide(t.Context(), h.actor, 999, Dismiss)
		wantKind(t, err, fault.KindNotFound)
		other := h.company("UTC")
		_, err = h.Decide(t.Context(), other, m.ID, Resend)
		wantKind(t, err, fault.KindNotFound)
	})
	each(t, func(t *testing.T, h *house) { // a person may send what was skipped, but not to who has paid
		plan := number(h.plan("35.00"))
		h.due([]int64{h.channel("zap")}, "Olá", "whatsapp", "", "plan_id", plan)
		h.send()
		m := h.only()
		h.want(m, Skipped, "no WhatsApp number")
		h.update(m.CustomerID, "whatsapp", "11987654321")
		_, err := h.Decide(t.Context(), h.actor, m.ID, Resend)
		must(t, err)
		_, err = h.billing.SetStatus(t.Context(), h.actor, h.count(`SELECT id FROM invoices`), billing.ReadStatusChange(values("status", "Pago", "renew", "false")))
		must(t, err)
		h.send()
		h.want(h.only(), Skipped, "already paid")
	})
}

func TestSpeedLimitHoldsOverProcesses(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		zap := h.channel("zap", "per_minute", "30")
		h.remind(-3, "09:00", h.template("Olá"), zap)
		for range 10 {
			h.customer("2026-01-24")
		}
		for range 20 { // who has no number takes no time of the channel's
			h.customer("2026-01-24", "whatsapp", "")
		}
		h.work()
		processes := []*house{h, h.process(t), h.process(t)}
		h.at("2026-01-21 09:00")
		for second := range 10 {
			for _, p := range processes {
				p.send()
			}
			if got, want := len(h.carrier.taken()), 1-second%2; got != want {
				t.Errorf("second %d: %d sent, want %d", second, got, want)
			}
			h.clock.Advance(time.Second)
		}
	})
}

// A channel that hangs takes no more than its share.
func TestChannelThatHangsSlowsDownNoOther(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		text := h.template("Olá")
		h.remind(-3, "09:00", text, h.channel("zap"))
		h.remind(-3, "09:00", text, h.channel("mail"))
		const people = 30
		for range people {
			h.customer("2026-01-24")
		}
		h.work()
		h.at("2026-01-21 09:00")
		release := make(chan struct{})
		var mu sync.Mutex
		waiting, most := 0, 0
		h.carrier.answers(only("zap", func(string, Letter) (string, error) {
			mu.Lock()
			waiting++
			most = max(most, waiting)
			mu.Unlock()
			<-release
			mu.Lock()
			waiting--
			mu.Unlock()
			return "", nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { h.Run(ctx, slog.New(slog.DiscardHandler)) })
		mailed := `SELECT count(*) FROM reminder_messages m JOIN reminder_channels c ON c.id = m.channel_id WHERE c.kind = 'mail' AND m.status = 'sent'`
		eventually(t, "all mails are sent", func() bool { return h.count(mailed) == people })
		close(release)
		eventually(t, "all is sent", func() bool {
			return h.count(`SELECT count(*) FROM reminder_messages WHERE status = 'sent'`) == 2*people
		})
		cancel()
		running.Wait()
		if most > laneCap {
			t.Errorf("%d were under way at once", most)
		}
	})
}

// Three processes plan and send at once; nobody gets two.
func TestThreeProcessesAtOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		h := newHouse(t, engine)
		processes := []*house{h, h.process(t), h.process(t)}
		text, zap, mail := h.template("Olá {name}"), h.channel("zap"), h.channel("mail")
		h.remind(-3, "09:00", text, zap, mail)
		h.remind(-3, "09:00", text, mail)
		const people = 40
		var ids []int64
		for range people {
			ids = append(ids, h.customer("2026-01-24").ID)
		}
		h.at("2026-01-21 09:00")
		var all sync.WaitGroup
		for _, p := range processes {
			all.Go(func() {
				for range 3 {
					if _, err := p.Plan(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var running sync.WaitGroup
				running.Go(func() { p.Run(ctx, slog.New(slog.DiscardHandler)) })
				eventually(t, "all is sent", func() bool {
					n, err := sqldb.Value[int64](ctx, p.db, `SELECT count(*) FROM reminder_messages WHERE status = 'sent'`)
					return err == nil && n == 2*people
				})
				cancel()
				running.Wait()
			})
		}
		all.Wait()
		var got []int64
		for _, l := range h.carrier.taken() {
			got = append(got, l.CustomerID)
		}
		slices.Sort(got)
		want := slices.Concat(ids, ids)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("sent to %v, want each of %v twice", got, ids)
		}
	})
}

// Due dates that change while they are being planned are neither lost nor
// planned twice.
func TestPlanningBesideChanges(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		other := h.process(t)
		const people = 30
		var ids []int64
		for range people {
			ids = append(ids, h.customer("2026-02-20").ID)
		}
		h.work()
		h.exec(`UPDATE reminder_rules SET cursor_on = '2026-01-22', cursor_id = 0, plan_at = 0`)
		var all sync.WaitGroup
		all.Go(func() {
			for range 20 {
				h.exec(`UPDATE reminder_rules SET plan_at = 0`)
				if _, err := h.Plan(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for i, id := range ids {
				if _, err := other.customers.Update(t.Context(), h.actor, id, customer.ReadChanges(values("data_de_vencimento", "2026-01-24"))); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := other.customers.Delete(t.Context(), h.actor, id); err != nil {
						t.Error(err)
					}
				}
			}
		})
		all.Wait()
		list := h.log()
		if len(list) != people-people/3 {
			t.Errorf("%d messages, want one for each of the %d who are left", len(list), people-people/3)
		}
	})
}

func TestLinksAreAskedForOutsideTransactions(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		plan := number(h.plan("35.00"))
		h.due([]int64{h.channel("zap")}, "{valor} {payment_link} {pix}", "plan_id", plan)
		h.payments.err = fault.New(fault.KindUpstream, "the gateway is away")
		h.send()
		h.want(h.only(), Scheduled, "payment link: the gateway is away")
		h.payments.err = nil
		h.clock.Set(h.only().RunAt)
		h.send()
		if got := h.carrier.taken(); len(got) != 1 || got[0].Text != "R$ 35,00 https://example.com/pay/1 PIX1" {
			t.Errorf("sent %+v", got)
		}
	})
	each(t, func(t *testing.T, h *house) {
		plan := number(h.plan("35.00"))
		h.due([]int64{h.channel("zap")}, "{payment_link}", "plan_id", plan)
		h.payments.err = fault.Field("gateway", "no gateway is configured")
		h.send()
		h.want(h.only(), Skipped, "payment link: gateway: no gateway is configured")
	})
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "{payment_link}")
		h.send()
		h.want(h.only(), Skipped, "no open invoice")
	})
}

// A database that fails for a while stops nothing for good.
func TestFailureOfTheDatabaseIsTold(t *testing.T) {
	h := newHouse(t, sqldb.SQLite)
	h.due([]int64{h.channel("zap")}, "Olá")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := newEngine(h.Service, slog.New(slog.DiscardHandler))
	if _, _, err := e.round(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	h.send()
	h.want(h.only(), Sent, "")
}

// Two processes that saw the same free slot share it: the channel's row has
// the last word.
func TestOneSlotIsTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "09:00", h.template("Olá"), h.channel("zap", "per_minute", "30"))
		h.customer("2026-01-24")
		h.customer("2026-01-24")
		h.work()
		h.at("2026-01-21 09:00")
		seen, err := lanes(t.Context(), h.db, h.db.Now())
		must(t, err)
		for i, want := range []int{1, 0} {
			jobs, _, err := h.claimLane(t.Context(), seen[0], laneCap)
			must(t, err)
			if len(jobs) != want {
				t.Errorf("claim %d took %d messages, want %d", i, len(jobs), want)
			}
		}
	})
}

// The planner waits for a due date that is just being changed, and sees it.
func TestPlanningWaitsForAChangeUnderWay(t *testing.T) {
	h := newHouse(t, sqldb.Postgres)
	h.usual()
	c := h.customer("2026-02-20")
	h.exec(`UPDATE reminder_rules SET cursor_on = '2026-01-22', cursor_id = 0, plan_at = 0`)
	other := h.process(t)
	planned := make(chan error, 1)
	must(t, other.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := other.customers.SetDueTx(t.Context(), tx, h.actor, c.ID, civil.MustParse("2026-01-24"), 24); err != nil {
			return err
		}
		go func() {
			_, err := h.Plan(t.Context())
			planned <- err
		}()
		eventually(t, "the planner waits, or is done without having seen it", func() bool {
			return len(planned) == 1 || h.count(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%reminder_rules%'`) > 0
		})
		return nil
	}))
	must(t, <-planned)
	if m := h.only(); m.DueOn != civil.MustParse("2026-01-24") {
		t.Errorf("planned for %v", m.DueOn)
	}
}
