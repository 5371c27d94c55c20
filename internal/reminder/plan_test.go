package reminder

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
)

func TestMessageGoesOutAtItsHour(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.customer("2026-01-24")
		h.work()
		if m := h.only(); m.Status != Scheduled || !m.RunAt.Equal(time.Date(2026, 1, 21, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("planned %s for %v", m.Status, m.RunAt)
		}
		h.at("2026-01-21 08:59")
		h.work()
		if got := h.carrier.taken(); len(got) != 0 {
			t.Errorf("%d went out too early", len(got))
		}
		h.at("2026-01-21 09:00")
		for range 2 {
			h.work()
		}
		got := h.carrier.taken()
		if len(got) != 1 || got[0].To != "5511987654321" || got[0].Text != "Olá Ana, vence 24/01/2026" {
			t.Errorf("sent %+v", got)
		}
		m := h.only()
		h.want(m, Sent, "")
		if m.Receipt != "receipt" || m.Text != "Olá Ana, vence 24/01/2026" || m.Address != "5511987654321" || m.SentAt.IsZero() || m.Kind != "zap" {
			t.Errorf("the log has %+v", m)
		}
	})
}

func TestRulesAreOffUnlessSwitchedOn(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r, err := h.CreateRule(t.Context(), h.actor, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9",
			"template_id", number(h.template("Olá")), "channels", number(h.channel("zap")))))
		must(t, err)
		h.customer("2026-01-20")
		h.at("2026-01-20 09:00")
		h.work()
		if r.Active || len(h.log()) != 0 {
			t.Errorf("active %v, %d messages", r.Active, len(h.log()))
		}
	})
}

// However often a due date moves, each has its message at most once.
func TestMovedDueDateIsPlannedAnew(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		c := h.customer("2026-01-24")
		h.work()
		h.update(c.ID, "data_de_vencimento", "2026-01-25")
		h.update(c.ID, "data_de_vencimento", "2026-01-24")
		h.update(c.ID, "data_de_vencimento", "2026-01-25")
		if m := h.only(); m.DueOn != civil.MustParse("2026-01-25") {
			t.Errorf("planned for %v", m.DueOn)
		}
		h.at("2026-01-21 09:00")
		h.work()
		h.at("2026-01-22 09:00")
		h.work()
		h.update(c.ID, "data_de_vencimento", "2026-01-26")
		h.update(c.ID, "data_de_vencimento", "2026-01-25") // which it was told of
		h.at("2026-01-23 09:00")
		h.work()
		if got := h.carrier.taken(); len(got) != 1 || got[0].DueOn != civil.MustParse("2026-01-25") {
			t.Errorf("sent %+v", got)
		}
		h.update(c.ID, "data_de_vencimento", "")
		h.work()
		h.want(h.only(), Sent, "")
	})
}

func TestWhoHasPaidOrRenewedIsNotReminded(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		plan := number(h.plan("35.00"))
		renewed, paid, open := h.customer("2026-01-24", "plan_id", plan), h.customer("2026-01-24", "plan_id", plan), h.customer("2026-01-24", "plan_id", plan)
		h.work()
		_, err := h.customers.Renew(t.Context(), h.actor, renewed.ID)
		must(t, err)
		invoice := h.count(`SELECT id FROM invoices WHERE customer_id = ?`, paid.ID)
		_, err = h.billing.SetStatus(t.Context(), h.actor, invoice, billing.ReadStatusChange(values("status", "Pago", "renew", "false")))
		must(t, err)
		h.at("2026-01-21 09:00")
		h.work()
		if got := h.carrier.taken(); len(got) != 1 || got[0].CustomerID != open.ID {
			t.Errorf("sent %+v, want to %d only", got, open.ID)
		}
		list := h.log()
		if len(list) != 2 {
			t.Fatalf("%d messages, want two", len(list))
		}
		h.want(list[0], Skipped, "already paid")
		h.want(list[1], Sent, "")
	})
}

func TestDeletedCustomerTakesItsMessagesAlong(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.remind(-4, "08:45", h.template("Olá"), h.channel("mail"))
		c := h.customer("2026-01-24")
		must(t, h.SetOptOut(t.Context(), h.actor, c.ID, true))
		must(t, h.SetOptOut(t.Context(), h.actor, c.ID, false))
		must(t, h.SetOptOut(t.Context(), h.actor, c.ID, true))
		h.at("2026-01-20 08:45")
		h.work()
		if n := len(h.log()); n != 2 {
			t.Fatalf("%d messages, want one scheduled and one skipped", n)
		}
		must(t, h.customers.Delete(t.Context(), h.actor, c.ID))
		if n := h.count(`SELECT (SELECT count(*) FROM reminder_messages) + (SELECT count(*) FROM reminder_optouts)`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestChangedRuleReplansWhatIsNotSent(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.usual()
		told, untold := h.customer("2026-01-23"), h.customer("2026-01-24")
		h.at("2026-01-20 09:00")
		h.work()
		_, err := h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("hour", "15:30", "offset_days", "-2")))
		must(t, err)
		h.work()
		if n := h.count(`SELECT count(*) FROM reminder_messages WHERE status = 'scheduled' AND customer_id = ?`, untold.ID); n != 1 {
			t.Errorf("%d scheduled", n)
		}
		for _, at := range []string{"2026-01-21 15:30", "2026-01-22 09:00", "2026-01-22 15:29"} {
			h.at(at)
			h.work()
		}
		if got := h.carrier.taken(); len(got) != 1 || got[0].CustomerID != told.ID {
			t.Errorf("sent %+v", got)
		}
		h.at("2026-01-22 15:30")
		h.work()
		if got := h.carrier.taken(); len(got) != 1 || got[0].CustomerID != untold.ID {
			t.Errorf("sent %+v", got)
		}
		_, err = h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("active", "false")))
		must(t, err)
		h.customer("2026-01-25")
		h.at("2026-01-23 15:30")
		h.work()
		if got := h.carrier.taken(); len(got) != 0 {
			t.Errorf("a rule that is off sent %+v", got)
		}
		must(t, h.DeleteRule(t.Context(), h.actor, r.ID))
		if list := h.log(); len(list) != 2 || list[0].RuleName != "" {
			t.Errorf("the log has %+v", list)
		}
	})
}

func TestRuleIsForItsPlanAndProduct(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		cheap, dear := h.plan("10.00"), h.plan("90.00")
		r := h.usual()
		_, err := h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("plan_id", number(dear), "status", "Ativo")))
		must(t, err)
		h.customer("2026-01-24", "plan_id", number(cheap))
		h.customer("2026-01-24")
		moves := h.customer("2026-01-24", "plan_id", number(cheap))
		leaves := h.customer("2026-01-24", "plan_id", number(dear))
		meets := h.customer("2026-01-24", "plan_id", number(dear))
		h.work()
		h.update(moves.ID, "plan_id", number(dear))
		h.update(leaves.ID, "plan_id", number(cheap))
		h.at("2026-01-21 09:00")
		h.work()
		var to []int64
		for _, l := range h.carrier.taken() {
			to = append(to, l.CustomerID)
		}
		slices.Sort(to)
		if !slices.Equal(to, []int64{moves.ID, meets.ID}) {
			t.Errorf("sent to %v, want %v", to, []int64{moves.ID, meets.ID})
		}
		_, err = h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("status", "Vencido")))
		wantField(t, err, "status", "a customer is Ativo")
		_, err = h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("plan_id", "999", "product_id", "999", "template_id", "999", "channels", "999")))
		for _, field := range []string{"plan_id", "product_id", "template_id", "channels"} {
			wantField(t, err, field, "not a")
		}
	})
}

// What was missed is caught up on the same day, and told as missed after it.
func TestDowntimeIsCaughtUpWithinTheDay(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		for day := 23; day <= 31; day++ {
			h.customer(fmt.Sprintf("2026-01-%d", day))
		}
		h.at("2026-01-26 14:00") // nothing ran since the morning of the 20th
		h.work()
		status := map[string]Status{}
		for _, m := range h.log() {
			status[m.DueOn.String()] = m.Status
			if m.Status == Skipped {
				h.want(m, Skipped, "too late")
			}
		}
		for day, want := range map[int]Status{23: Skipped, 28: Skipped, 29: Sent, 30: Scheduled, 31: Scheduled} {
			if got := status[fmt.Sprintf("2026-01-%d", day)]; got != want {
				t.Errorf("due on %d: %s, want %s", day, got, want)
			}
		}
		if got := h.carrier.taken(); len(got) != 1 || got[0].DueOn != civil.MustParse("2026-01-29") {
			t.Errorf("sent %+v", got)
		}
	})
}

// A message planned in time and not sent on its day is not sent in the night.
func TestNobodyIsDisturbedInTheNight(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.customer("2026-01-24")
		h.work()
		h.at("2026-01-21 22:15")
		h.work()
		h.want(h.only(), Skipped, "too late")
		if got := h.carrier.taken(); len(got) != 0 {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestQuietHoursShiftToTheNextMorning(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		text, zap := h.template("Olá"), h.channel("zap")
		h.remind(-3, "22:00", text, zap)
		h.remind(-3, "06:00", text, zap)
		h.customer("2026-01-24")
		h.work()
		wantSent := func(at string, want int) {
			t.Helper()
			h.at(at)
			h.work()
			if got := h.carrier.taken(); len(got) != want {
				t.Errorf("%s: %d sent, want %d", at, len(got), want)
			}
		}
		wantSent("2026-01-21 06:00", 0)
		wantSent("2026-01-21 08:00", 1)
		wantSent("2026-01-21 22:00", 0)
		wantSent("2026-01-22 08:00", 1)
		h.customer("2026-01-25")
		_, err := h.SetSettings(t.Context(), h.actor, ReadSettings(values("quiet_from", "23:00", "quiet_to", "23:00")))
		must(t, err)
		wantSent("2026-01-22 21:59", 0)
		wantSent("2026-01-22 22:00", 1)
		_, err = h.SetSettings(t.Context(), h.actor, ReadSettings(values("quiet_from", "25:00")))
		wantField(t, err, "quiet_from", "time of the day")
	})
}

func TestQuietHoursByTheClock(t *testing.T) {
	zone, err := civil.LoadZone("America/New_York")
	must(t, err)
	for _, tt := range []struct {
		q        Quiet
		at, want string
	}{
		{DefaultQuiet, "2026-03-07 20:59", "2026-03-07 20:59"},
		{DefaultQuiet, "2026-03-07 21:00", "2026-03-08 08:00"}, // through the night in which clocks skip an hour
		{DefaultQuiet, "2026-03-08 07:59", "2026-03-08 08:00"},
		{DefaultQuiet, "2026-03-08 08:00", "2026-03-08 08:00"},
		{Quiet{12 * 60, 14 * 60}, "2026-03-08 12:30", "2026-03-08 14:00"},
		{Quiet{12 * 60, 14 * 60}, "2026-03-08 14:00", "2026-03-08 14:00"},
		{Quiet{1 * 60, 2*60 + 30}, "2026-03-08 01:15", "2026-03-08 03:00"}, // 2:30 is skipped
		{Quiet{0, 0}, "2026-03-08 00:00", "2026-03-08 00:00"},
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", tt.at, zone)
		must(t, err)
		if got := tt.q.after(at, zone).In(zone).Format("2006-01-02 15:04"); got != tt.want {
			t.Errorf("%v after %s: %s, want %s", tt.q, tt.at, got, tt.want)
		}
	}
}

// A customer who comes after the hour has passed is not reminded of it, one who
// comes before it is.
func TestCustomerWhoComesLateIsNotReminded(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.work()
		h.at("2026-01-20 08:59")
		early := h.customer("2026-01-23")
		h.at("2026-01-20 09:00")
		h.customer("2026-01-23")
		h.work()
		if got := h.carrier.taken(); len(got) != 1 || got[0].CustomerID != early.ID {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestImportedCustomersArePlannedFor(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.work()
		var list []customer.Customer
		for _, due := range []string{"2026-01-23", "2026-01-24", "2026-02-20"} {
			list = append(list, h.customer(due))
		}
		h.exec(`DELETE FROM reminder_messages`)
		must(t, h.writeImported(list))
		must(t, h.writeImported(list))
		if n := len(h.log()); n != 2 {
			t.Errorf("%d messages, want those of the two dates that the rule has passed", n)
		}
	})
}

// What was skipped has another chance when its rule is moved to a later hour,
// even if the planner comes a little after that hour.
func TestSkippedMessageComesUpAgainWithItsRule(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.usual()
		c := h.customer("2026-01-24", "whatsapp", "", "email", "")
		h.work()
		h.at("2026-01-21 09:00")
		h.work()
		h.want(h.only(), Skipped, "no WhatsApp number; no e-mail")
		h.update(c.ID, "whatsapp", "11987654321")
		h.at("2026-01-21 09:10")
		_, err := h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("hour", "09:15")))
		must(t, err)
		h.at("2026-01-21 09:20")
		for range 2 {
			h.work()
		}
		h.want(h.only(), Sent, "")
		if got := h.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %d times", len(got))
		}
	})
}
