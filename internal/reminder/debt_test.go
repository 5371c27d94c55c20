package reminder

import (
	"strings"
	"testing"

	"carteira/internal/billing"
)

// A renewal on trust leaves the invoice open. What was to remind of it still does,
// and so do the rules that come to that day later.
func TestDebtOfARenewalOnTrustIsReminded(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		template, zap := house.template("{due_date} {value}"), house.channel("zap")
		house.remind(1, "09:00", template, zap)
		house.remind(5, "09:00", template, zap)
		house.remind(0, "09:00", template, zap)
		record := house.customer("2026-01-20", "plan_id", number(house.plan("79.90")))
		house.work()
		house.at("2026-01-20 10:00")
		house.work()
		if got := house.carrier.taken(); len(got) != 1 {
			t.Fatalf("on the day %+v was sent, want one", got)
		}
		_, err := house.customers.Renew(t.Context(), house.actor, record.ID)
		must(t, err)
		house.wantOne("2026-01-21 09:30", "20/01/2026")
		house.at("2026-01-22 09:30")
		house.work()
		house.wantOne("2026-01-25 09:30", "20/01/2026")
	})
}

// wantOne works at an instant and wants one letter that says something.
func (h *house) wantOne(at, words string) {
	h.t.Helper()
	h.at(at)
	h.work()
	if got := h.carrier.taken(); len(got) != 1 || !strings.Contains(got[0].Text, words) {
		h.t.Errorf("at %s %+v was sent, want one that says %s", at, got, words)
	}
}

// Killed mutants: who paid the old debt is reminded of it; who was cancelled is.
func TestDebtThatIsGoneIsNotReminded(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(1, "09:00", house.template("{due_date}"), house.channel("zap"))
		plan := number(house.plan("79.90"))
		paid, left := house.customer("2026-01-20", "plan_id", plan), house.customer("2026-01-20", "plan_id", plan)
		house.work()
		for _, id := range []int64{paid.ID, left.ID} {
			_, err := house.customers.Renew(t.Context(), house.actor, id)
			must(t, err)
		}
		owed, _, err := house.billing.Owed(t.Context(), house.actor, paid.ID)
		must(t, err)
		_, err = house.billing.SetStatus(t.Context(), house.actor, owed.ID, billing.ReadStatusChange(values("status", "Pago")))
		must(t, err)
		house.update(left.ID, "cancelled", "true", "keep_invoices", "true")
		house.at("2026-01-21 09:30")
		house.work()
		if got := house.carrier.taken(); len(got) != 0 {
			t.Errorf("%+v was sent, want nothing", got)
		}
	})
}

// An invoice in addition to the generated ones is a debt as any other,
// whenever it is issued, and so is one with an undone payment.
func TestDebtsBesideTheDueDateAreReminded(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(1, "09:00", house.template("{due_date} {value}"), house.channel("zap"))
		record := house.customer("2026-03-10", "plan_id", number(house.plan("79.90")))
		house.at("2026-01-22 12:00")
		house.work() // the rule has passed the day
		extra, err := house.billing.CreateExtra(t.Context(), house.actor, record.ID, billing.ReadExtra(values("amount", "12.00")))
		must(t, err)
		for _, status := range []string{"Pago", "Em aberto"} {
			_, err = house.billing.SetStatus(t.Context(), house.actor, extra.ID, billing.ReadStatusChange(values("status", status)))
			must(t, err)
		}
		house.wantOne("2026-01-23 09:30", "22/01/2026 R$ 12,00")
	})
}
