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
	"carteira/test/kit/sqldbtest"
)

// due makes a rule and a customer with a message that is due now.
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
		"opted out":          {prepare: func(t *testing.T, house *house) { must(t, house.SetOptOut(t.Context(), house.actor, 1, true)) }, status: Skipped, reason: "opted out"},
		"channel off":        {prepare: func(t *testing.T, house *house) { house.exec(`UPDATE reminder_channels SET active = ?`, false) }, status: Skipped, reason: "zap is switched off"},
		"due date moved":     {prepare: func(_ *testing.T, house *house) { house.exec(`UPDATE customers SET due_on = '2026-01-25'`) }, status: Skipped, reason: "due date moved"},
		"rule switched off":  {prepare: func(_ *testing.T, house *house) { house.exec(`UPDATE reminder_rules SET active = ?`, false) }, status: Skipped, reason: "the rule is switched off"},
		"refused":            {prepare: func(_ *testing.T, house *house) { house.carrier.answers(refusing) }, status: Failed, reason: "channel refused: not a number of ours"},
		"unknown":            {prepare: func(_ *testing.T, house *house) { house.carrier.answers(hanging) }, status: Unknown, reason: "no answer in time"},
		"zone moved onwards": {prepare: func(_ *testing.T, house *house) { house.exec(`UPDATE companies SET timezone = 'America/Rio_Branco'`) }, status: Scheduled},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.due([]int64{house.channel("zap")}, "Olá", tt.customer...)
				if tt.prepare != nil {
					tt.prepare(t, house)
				}
				house.send()
				house.want(house.only(), tt.status, tt.reason)
				if got := house.carrier.taken(); len(got) != 0 {
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
		answer   func(kind string, letter Letter) (string, error)
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
			each(t, func(t *testing.T, house *house) {
				house.carrier.answers(tt.answer)
				house.due([]int64{house.channel("zap"), house.channel("mail")}, "Olá", tt.customer...)
				house.send()
				house.want(house.only(), tt.status, tt.reason)
				var to []string
				for _, letter := range house.carrier.taken() {
					to = append(to, letter.To)
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
	return func(k string, letter Letter) (string, error) {
		if k == kind {
			return answer(k, letter)
		}
		return "", nil
	}
}

func TestWhatMayPassIsTriedAgainLaterAndLater(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(only("zap", busy))
		house.due([]int64{house.channel("zap"), house.channel("mail")}, "Olá")
		for i, delay := range retryDelays {
			house.send()
			message := house.only()
			house.want(message, Scheduled, "too busy")
			wait := message.RunAt.Sub(house.clock.Now())
			if message.Attempts != i+1 || wait < delay || wait > delay+delay/10 {
				t.Errorf("after attempt %d it waits %v, want %v and up to a tenth more", message.Attempts, wait, delay)
			}
			house.clock.Set(message.RunAt.Add(-time.Microsecond))
			house.send()
			if again := house.only(); again.Attempts != i+1 {
				t.Error("it was tried too early")
			}
			house.clock.Set(message.RunAt)
		}
		house.send()
		message := house.only()
		house.want(message, Sent, "")
		if message.Kind != "mail" {
			t.Errorf("sent by %s", message.Kind)
		}
		_, tries, err := house.FindMessage(t.Context(), house.actor, message.ID)
		must(t, err)
		if len(tries) != 6 || tries[0].Outcome != "passing" || tries[0].Problem != "too busy" || tries[5].Outcome != "accepted" || tries[5].Kind != "mail" {
			t.Errorf("attempts %+v", tries)
		}
	})
}

// The last retries would fall into the night, when it is too late.
func TestRetriesEndWithTheDay(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(busy)
		house.remind(-3, "20:50", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-24")
		house.work()
		house.at("2026-01-21 20:50")
		for range 3 {
			house.send()
			if message := house.only(); message.Status == Scheduled {
				house.clock.Set(message.RunAt)
			}
		}
		house.want(house.only(), Failed, "zap did not succeed: too busy")
		if message := house.only(); message.Attempts != 3 {
			t.Errorf("%d attempts, want those of 20:50, 20:51 and 20:56", message.Attempts)
		}
	})
}

func TestCarrierMayAskForPeace(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(func(string, Letter) (string, error) { return "", &Passing{Reason: "limit", After: 30 * time.Minute} })
		house.due([]int64{house.channel("zap")}, "Olá")
		house.send()
		if wait := house.only().RunAt.Sub(house.clock.Now()); wait < 30*time.Minute {
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
	begun, ok, err := h.begin(h.t.Context(), jobs[0], prepared{})
	must(h.t, err)
	if !ok {
		h.t.Fatal("the message was not begun")
	}
	return jobs[0], begun
}

func TestInterruptedSendingIsLeftToAPerson(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		house.begun()
		house.send()
		house.want(house.only(), Sending, "")
		house.clock.Advance(lease)
		for range 3 {
			house.send()
			house.clock.Advance(time.Hour)
		}
		message := house.only()
		house.want(message, Unknown, "may or may not have arrived")
		if got := house.carrier.taken(); len(got) != 0 {
			t.Errorf("it was sent again: %+v", got)
		}
		_, err := house.Decide(t.Context(), house.actor, message.ID, Resend)
		must(t, err)
		house.clock.Advance(24 * time.Hour) // whatever the hour
		house.send()
		if got := house.carrier.taken(); len(got) != 1 || got[0].ID != message.Key {
			t.Errorf("sent %+v", got)
		}
		house.want(house.only(), Sent, "")
		_, err = house.Decide(t.Context(), house.actor, message.ID, Resend)
		wantKind(t, err, fault.KindConflict)
	})
}

// A claim that was not begun has sent nothing, and is taken up again.
func TestInterruptedPreparationIsTakenUpAgain(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		ready, err := lanes(t.Context(), house.db, house.db.Now())
		must(t, err)
		jobs, _, err := house.claimLane(t.Context(), ready[0], 1)
		must(t, err)
		house.send()
		if len(house.carrier.taken()) != 0 {
			t.Error("somebody else's message was sent")
		}
		house.clock.Advance(lease)
		house.send()
		if got := house.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %+v", got)
		}
		if _, ok, err := house.begin(t.Context(), jobs[0], prepared{}); ok || err != nil {
			t.Errorf("the late one began it too: %v", err)
		}
	})
}

func TestChannelThatKnowsRepeatedOnesGetsThemAgain(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("own")}, "Olá")
		job, begun := house.begun()
		house.clock.Advance(lease)
		house.send()
		got := house.carrier.taken()
		if len(got) != 1 || got[0].ID != begun.ID {
			t.Errorf("sent %+v", got)
		}
		house.want(house.only(), Sent, "")
		if kept, err := house.recordAttempt(t.Context(), job, begun, outcome{verdict: refused}); kept || err != nil {
			t.Errorf("a late answer was taken: %v", err)
		}
		house.customer("2026-01-25")
		house.at("2026-01-22 09:00")
		house.carrier.answers(hanging)
		house.work()
		if message := house.log()[1]; message.Status != Scheduled {
			t.Errorf("after a doubt it is %s", message.Status)
		}
	})
}

// A process that hung for too long records the true outcome when it wakes,
// unless a person has decided meanwhile.
func TestLateAnswerEndsTheDoubt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		job, begun := house.begun()
		house.clock.Advance(lease)
		house.send()
		house.want(house.only(), Unknown, "may or may not")
		kept, err := house.recordAttempt(t.Context(), job, begun, outcome{verdict: accepted, receipt: "late"})
		must(t, err)
		if message := house.only(); !kept || message.Status != Sent || message.Receipt != "late" {
			t.Errorf("kept %v: %+v", kept, message)
		}
	})
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		job, begun := house.begun()
		house.clock.Advance(lease)
		house.send()
		_, err := house.Decide(t.Context(), house.actor, house.only().ID, Dismiss)
		must(t, err)
		if kept, err := house.recordAttempt(t.Context(), job, begun, outcome{verdict: accepted}); kept || err != nil {
			t.Errorf("kept %v, %v", kept, err)
		}
		house.want(house.only(), Dismissed, "by a person")
	})
}

func TestDecisions(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(hanging)
		house.due([]int64{house.channel("zap")}, "Olá")
		house.send()
		message, err := house.Decide(t.Context(), house.actor, house.only().ID, MarkSent)
		must(t, err)
		house.want(message, Sent, "by a person")
		_, err = house.Decide(t.Context(), house.actor, message.ID, Dismiss)
		wantKind(t, err, fault.KindConflict)
		_, err = house.Decide(t.Context(), house.actor, 999, Dismiss)
		wantKind(t, err, fault.KindNotFound)
		other := house.company("UTC")
		_, err = house.Decide(t.Context(), other, message.ID, Resend)
		wantKind(t, err, fault.KindNotFound)
	})
	each(t, func(t *testing.T, house *house) { // a person may send what was skipped, but not to who has paid
		plan := number(house.plan("35.00"))
		house.due([]int64{house.channel("zap")}, "Olá", "whatsapp", "", "plan_id", plan)
		house.send()
		message := house.only()
		house.want(message, Skipped, "no WhatsApp number")
		house.update(message.CustomerID, "whatsapp", "11987654321")
		_, err := house.Decide(t.Context(), house.actor, message.ID, Resend)
		must(t, err)
		_, err = house.billing.SetStatus(t.Context(), house.actor, house.count(`SELECT id FROM invoices`), billing.ReadStatusChange(values("status", "Pago", "renew", "false")))
		must(t, err)
		house.send()
		house.want(house.only(), Skipped, "already paid")
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
			for _, process := range processes {
				process.send()
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
	each(t, func(t *testing.T, house *house) {
		text := house.template("Olá")
		house.remind(-3, "09:00", text, house.channel("zap"))
		house.remind(-3, "09:00", text, house.channel("mail"))
		const people = 30
		for range people {
			house.customer("2026-01-24")
		}
		house.work()
		house.at("2026-01-21 09:00")
		release := make(chan struct{})
		var mu sync.Mutex
		waiting, most := 0, 0
		house.carrier.answers(only("zap", func(string, Letter) (string, error) {
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
		running.Go(func() { house.Run(ctx, slog.New(slog.DiscardHandler)) })
		mailed := `SELECT count(*) FROM reminder_messages m JOIN reminder_channels c ON c.id = m.channel_id WHERE c.kind = 'mail' AND m.status = 'sent'`
		eventually(t, "all mails are sent", func() bool { return house.count(mailed) == people })
		close(release)
		eventually(t, "all is sent", func() bool {
			return house.count(`SELECT count(*) FROM reminder_messages WHERE status = 'sent'`) == 2*people
		})
		cancel()
		running.Wait()
		if most > laneCap {
			t.Errorf("%d were under way at once", most)
		}
	})
}

// Three processes plan and send at once; no customer gets two messages.
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
		for _, process := range processes {
			all.Go(func() {
				for range 3 {
					if _, err := process.Plan(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var running sync.WaitGroup
				running.Go(func() { process.Run(ctx, slog.New(slog.DiscardHandler)) })
				eventually(t, "all is sent", func() bool {
					n, err := sqldb.Value[int64](ctx, process.db, `SELECT count(*) FROM reminder_messages WHERE status = 'sent'`)
					return err == nil && n == 2*people
				})
				cancel()
				running.Wait()
			})
		}
		all.Wait()
		var got []int64
		for _, letter := range h.carrier.taken() {
			got = append(got, letter.CustomerID)
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
	each(t, func(t *testing.T, house *house) {
		house.usual()
		other := house.process(t)
		const people = 30
		var ids []int64
		for range people {
			ids = append(ids, house.customer("2026-02-20").ID)
		}
		house.work()
		house.exec(`UPDATE reminder_rules SET cursor_on = '2026-01-22', cursor_id = 0, plan_at = 0`)
		var all sync.WaitGroup
		all.Go(func() {
			for range 20 {
				house.exec(`UPDATE reminder_rules SET plan_at = 0`)
				if _, err := house.Plan(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for i, id := range ids {
				if _, err := other.customers.Update(t.Context(), house.actor, id, customer.ReadChanges(values("data_de_vencimento", "2026-01-24"))); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := other.customers.Delete(t.Context(), house.actor, id); err != nil {
						t.Error(err)
					}
				}
			}
		})
		all.Wait()
		list := house.log()
		if len(list) != people-people/3 {
			t.Errorf("%d messages, want one for each of the %d who are left", len(list), people-people/3)
		}
	})
}

func TestLinksAreAskedForOutsideTransactions(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		plan := number(house.plan("35.00"))
		house.due([]int64{house.channel("zap")}, "{valor} {payment_link} {pix}", "plan_id", plan)
		house.payments.err = fault.New(fault.KindUpstream, "the gateway is away")
		house.send()
		house.want(house.only(), Scheduled, "payment link: the gateway is away")
		house.payments.err = nil
		house.clock.Set(house.only().RunAt)
		house.send()
		if got := house.carrier.taken(); len(got) != 1 || got[0].Text != "R$ 35,00 https://example.com/pay/1 PIX1" {
			t.Errorf("sent %+v", got)
		}
	})
	each(t, func(t *testing.T, house *house) {
		plan := number(house.plan("35.00"))
		house.due([]int64{house.channel("zap")}, "{payment_link}", "plan_id", plan)
		house.payments.err = fault.Field("gateway", "no gateway is configured")
		house.send()
		house.want(house.only(), Skipped, "payment link: gateway: no gateway is configured")
	})
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "{payment_link}")
		house.send()
		house.want(house.only(), Skipped, "no open invoice")
	})
}

// A database that fails for a while stops nothing for good.
func TestFailureOfTheDatabaseIsTold(t *testing.T) {
	house := newHouse(t, sqldb.SQLite)
	house.due([]int64{house.channel("zap")}, "Olá")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	engine := newEngine(house.Service, slog.New(slog.DiscardHandler))
	if _, _, err := engine.round(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	house.send()
	house.want(house.only(), Sent, "")
}

// Two processes that saw the same free slot share it: the channel's row has
// the last word.
func TestOneSlotIsTakenOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "09:00", house.template("Olá"), house.channel("zap", "per_minute", "30"))
		house.customer("2026-01-24")
		house.customer("2026-01-24")
		house.work()
		house.at("2026-01-21 09:00")
		seen, err := lanes(t.Context(), house.db, house.db.Now())
		must(t, err)
		for i, want := range []int{1, 0} {
			jobs, _, err := house.claimLane(t.Context(), seen[0], laneCap)
			must(t, err)
			if len(jobs) != want {
				t.Errorf("claim %d took %d messages, want %d", i, len(jobs), want)
			}
		}
	})
}

// The planner waits for a due date that is just being changed, and sees it.
func TestPlanningWaitsForAChangeUnderWay(t *testing.T) {
	house := newHouse(t, sqldb.Postgres)
	house.usual()
	record := house.customer("2026-02-20")
	house.exec(`UPDATE reminder_rules SET cursor_on = '2026-01-22', cursor_id = 0, plan_at = 0`)
	other := house.process(t)
	planned := make(chan error, 1)
	must(t, other.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := other.customers.ReverseRenewalTx(t.Context(), house.actor.In(tx), record.ID, customer.Reversal{DueOn: civil.MustParse("2026-01-24"), OwnDay: 24}); err != nil {
			return err
		}
		go func() {
			_, err := house.Plan(t.Context())
			planned <- err
		}()
		eventually(t, "the planner waits, or is done without having seen it", func() bool {
			return len(planned) == 1 || house.count(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%reminder_rules%'`) > 0
		})
		return nil
	}))
	must(t, <-planned)
	if message := house.only(); message.DueOn != civil.MustParse("2026-01-24") {
		t.Errorf("planned for %v", message.DueOn)
	}
}
