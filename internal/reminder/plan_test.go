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
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.customer("2026-01-24")
		house.work()
		if message := house.only(); message.Status != Scheduled || !message.RunAt.Equal(time.Date(2026, 1, 21, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("planned %s for %v", message.Status, message.RunAt)
		}
		house.at("2026-01-21 08:59")
		house.work()
		if got := house.carrier.taken(); len(got) != 0 {
			t.Errorf("%d went out too early", len(got))
		}
		house.at("2026-01-21 09:00")
		for range 2 {
			house.work()
		}
		got := house.carrier.taken()
		if len(got) != 1 || got[0].To != "5511987654321" || got[0].Text != "Olá Ana, vence 24/01/2026" {
			t.Errorf("sent %+v", got)
		}
		message := house.only()
		house.want(message, Sent, "")
		if message.Receipt != "receipt" || message.Text != "Olá Ana, vence 24/01/2026" || message.Address != "5511987654321" || message.SentAt.IsZero() || message.Kind != "zap" {
			t.Errorf("the log has %+v", message)
		}
	})
}

func TestRulesAreOffUnlessSwitchedOn(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule, err := house.CreateRule(t.Context(), house.actor, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9",
			"template_id", number(house.template("Olá")), "channels", number(house.channel("zap")))))
		must(t, err)
		house.customer("2026-01-20")
		house.at("2026-01-20 09:00")
		house.work()
		if rule.Active || len(house.log()) != 0 {
			t.Errorf("active %v, %d messages", rule.Active, len(house.log()))
		}
	})
}

// However often a due date moves, each has its message at most once.
func TestMovedDueDateIsPlannedAnew(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		record := house.customer("2026-01-24")
		house.work()
		house.update(record.ID, "data_de_vencimento", "2026-01-25")
		house.update(record.ID, "data_de_vencimento", "2026-01-24")
		house.update(record.ID, "data_de_vencimento", "2026-01-25")
		if message := house.only(); message.DueOn != civil.MustParse("2026-01-25") {
			t.Errorf("planned for %v", message.DueOn)
		}
		house.at("2026-01-21 09:00")
		house.work()
		house.at("2026-01-22 09:00")
		house.work()
		house.update(record.ID, "data_de_vencimento", "2026-01-26")
		house.update(record.ID, "data_de_vencimento", "2026-01-25") // which it was sent
		house.at("2026-01-23 09:00")
		house.work()
		if got := house.carrier.taken(); len(got) != 1 || got[0].DueOn != civil.MustParse("2026-01-25") {
			t.Errorf("sent %+v", got)
		}
		house.update(record.ID, "data_de_vencimento", "")
		house.work()
		house.want(house.only(), Sent, "")
	})
}

func TestWhoHasPaidOrRenewedIsNotReminded(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		plan := number(house.plan("35.00"))
		renewed, paid, open := house.customer("2026-01-24", "plan_id", plan), house.customer("2026-01-24", "plan_id", plan), house.customer("2026-01-24", "plan_id", plan)
		house.work()
		_, err := house.customers.Renew(t.Context(), house.actor, renewed.ID)
		must(t, err)
		invoice := house.count(`SELECT id FROM invoices WHERE customer_id = ?`, paid.ID)
		_, err = house.billing.SetStatus(t.Context(), house.actor, invoice, billing.ReadStatusChange(values("status", "Pago", "renew", "false")))
		must(t, err)
		house.at("2026-01-21 09:00")
		house.work()
		if got := house.carrier.taken(); len(got) != 1 || got[0].CustomerID != open.ID {
			t.Errorf("sent %+v, want to %d only", got, open.ID)
		}
		list := house.log()
		if len(list) != 2 {
			t.Fatalf("%d messages, want two", len(list))
		}
		house.want(list[0], Skipped, "already paid")
		house.want(list[1], Sent, "")
	})
}

func TestDeletedCustomerTakesItsMessagesAlong(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.remind(-4, "08:45", house.template("Olá"), house.channel("mail"))
		record := house.customer("2026-01-24")
		must(t, house.SetOptOut(t.Context(), house.actor, record.ID, true))
		must(t, house.SetOptOut(t.Context(), house.actor, record.ID, false))
		must(t, house.SetOptOut(t.Context(), house.actor, record.ID, true))
		house.at("2026-01-20 08:45")
		house.work()
		if n := len(house.log()); n != 2 {
			t.Fatalf("%d messages, want one scheduled and one skipped", n)
		}
		must(t, house.customers.Delete(t.Context(), house.actor, record.ID))
		if n := house.count(`SELECT (SELECT count(*) FROM reminder_messages) + (SELECT count(*) FROM reminder_optouts)`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestChangedRuleReplansWhatIsNotSent(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		told, untold := house.customer("2026-01-23"), house.customer("2026-01-24")
		house.at("2026-01-20 09:00")
		house.work()
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("hour", "15:30", "offset_days", "-2")))
		must(t, err)
		house.work()
		if n := house.count(`SELECT count(*) FROM reminder_messages WHERE status = 'scheduled' AND customer_id = ?`, untold.ID); n != 1 {
			t.Errorf("%d scheduled", n)
		}
		for _, at := range []string{"2026-01-21 15:30", "2026-01-22 09:00", "2026-01-22 15:29"} {
			house.at(at)
			house.work()
		}
		if got := house.carrier.taken(); len(got) != 1 || got[0].CustomerID != told.ID {
			t.Errorf("sent %+v", got)
		}
		house.at("2026-01-22 15:30")
		house.work()
		if got := house.carrier.taken(); len(got) != 1 || got[0].CustomerID != untold.ID {
			t.Errorf("sent %+v", got)
		}
		_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("active", "false")))
		must(t, err)
		house.customer("2026-01-25")
		house.at("2026-01-23 15:30")
		house.work()
		if got := house.carrier.taken(); len(got) != 0 {
			t.Errorf("a rule that is off sent %+v", got)
		}
		must(t, house.DeleteRule(t.Context(), house.actor, rule.ID))
		if list := house.log(); len(list) != 2 || list[0].RuleName != "" {
			t.Errorf("the log has %+v", list)
		}
	})
}

func TestRuleIsForItsPlanAndProduct(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		cheap, dear := house.plan("10.00"), house.plan("90.00")
		rule := house.usual()
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("plan_id", number(dear), "status", "Ativo")))
		must(t, err)
		house.customer("2026-01-24", "plan_id", number(cheap))
		house.customer("2026-01-24")
		moves := house.customer("2026-01-24", "plan_id", number(cheap))
		leaves := house.customer("2026-01-24", "plan_id", number(dear))
		meets := house.customer("2026-01-24", "plan_id", number(dear))
		house.work()
		house.update(moves.ID, "plan_id", number(dear))
		house.update(leaves.ID, "plan_id", number(cheap))
		house.at("2026-01-21 09:00")
		house.work()
		var to []int64
		for _, letter := range house.carrier.taken() {
			to = append(to, letter.CustomerID)
		}
		slices.Sort(to)
		if !slices.Equal(to, []int64{moves.ID, meets.ID}) {
			t.Errorf("sent to %v, want %v", to, []int64{moves.ID, meets.ID})
		}
		_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("status", "Vencido")))
		wantField(t, err, "status", "a customer is Ativo")
		_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("plan_id", "999", "product_id", "999", "template_id", "999", "channels", "999")))
		for _, field := range []string{"plan_id", "product_id", "template_id", "channels"} {
			wantField(t, err, field, "not a")
		}
	})
}

// What was missed is caught up on the same day, and recorded as missed after
// it.
func TestDowntimeIsCaughtUpWithinTheDay(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		for day := 23; day <= 31; day++ {
			house.customer(fmt.Sprintf("2026-01-%d", day))
		}
		house.at("2026-01-26 14:00") // nothing ran since the morning of the 20th
		house.work()
		status := map[string]Status{}
		for _, message := range house.log() {
			status[message.DueOn.String()] = message.Status
			if message.Status == Skipped {
				house.want(message, Skipped, "too late")
			}
		}
		for day, want := range map[int]Status{23: Skipped, 28: Skipped, 29: Sent, 30: Scheduled, 31: Scheduled} {
			if got := status[fmt.Sprintf("2026-01-%d", day)]; got != want {
				t.Errorf("due on %d: %s, want %s", day, got, want)
			}
		}
		if got := house.carrier.taken(); len(got) != 1 || got[0].DueOn != civil.MustParse("2026-01-29") {
			t.Errorf("sent %+v", got)
		}
	})
}

// A message planned in time and not sent on its day is not sent in the night.
func TestNobodyIsDisturbedInTheNight(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.customer("2026-01-24")
		house.work()
		house.at("2026-01-21 22:15")
		house.work()
		house.want(house.only(), Skipped, "too late")
		if got := house.carrier.taken(); len(got) != 0 {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestQuietHoursShiftToTheNextMorning(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		text, zap := house.template("Olá"), house.channel("zap")
		house.remind(-3, "22:00", text, zap)
		house.remind(-3, "06:00", text, zap)
		house.customer("2026-01-24")
		house.work()
		wantSent := func(at string, want int) {
			t.Helper()
			house.at(at)
			house.work()
			if got := house.carrier.taken(); len(got) != want {
				t.Errorf("%s: %d sent, want %d", at, len(got), want)
			}
		}
		wantSent("2026-01-21 06:00", 0)
		wantSent("2026-01-21 08:00", 1)
		wantSent("2026-01-21 22:00", 0)
		wantSent("2026-01-22 08:00", 1)
		house.customer("2026-01-25")
		_, err := house.SetSettings(t.Context(), house.actor, ReadSettings(values("quiet_from", "23:00", "quiet_to", "23:00")))
		must(t, err)
		wantSent("2026-01-22 21:59", 0)
		wantSent("2026-01-22 22:00", 1)
		_, err = house.SetSettings(t.Context(), house.actor, ReadSettings(values("quiet_from", "25:00")))
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
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.work()
		house.at("2026-01-20 08:59")
		early := house.customer("2026-01-23")
		house.at("2026-01-20 09:00")
		house.customer("2026-01-23")
		house.work()
		if got := house.carrier.taken(); len(got) != 1 || got[0].CustomerID != early.ID {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestImportedCustomersArePlannedFor(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.work()
		var list []customer.Customer
		for _, due := range []string{"2026-01-23", "2026-01-24", "2026-02-20"} {
			list = append(list, house.customer(due))
		}
		house.exec(`DELETE FROM reminder_messages`)
		must(t, house.writeImported(list))
		must(t, house.writeImported(list))
		if n := len(house.log()); n != 2 {
			t.Errorf("%d messages, want those of the two dates that the rule has passed", n)
		}
	})
}

// What was skipped has another chance when its rule is moved to a later hour,
// even if the planner comes a little after that hour.
func TestSkippedMessageComesUpAgainWithItsRule(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		record := house.customer("2026-01-24", "whatsapp", "", "email", "")
		house.work()
		house.at("2026-01-21 09:00")
		house.work()
		house.want(house.only(), Skipped, "no WhatsApp number; no e-mail")
		house.update(record.ID, "whatsapp", "11987654321")
		house.at("2026-01-21 09:10")
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("hour", "09:15")))
		must(t, err)
		house.at("2026-01-21 09:20")
		for range 2 {
			house.work()
		}
		house.want(house.only(), Sent, "")
		if got := house.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %d times", len(got))
		}
	})
}
