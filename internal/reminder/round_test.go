package reminder

import (
	"strings"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
)

// overdue makes three customers who owe, one of them without a number.
func (h *house) overdue() (ids []int64) {
	plan := number(h.plan("35.00"))
	for _, more := range [][]string{{"name", "Ana"}, {"name", "Bia"}, {"name", "Caio", "whatsapp", "", "email", ""}} {
		ids = append(ids, h.customer("2026-01-10", append(more, "plan_id", plan)...).ID)
	}
	return ids
}

func (h *house) round(draft RoundDraft) (Round, error) {
	h.t.Helper()
	return h.SendRound(h.t.Context(), h.actor, draft)
}

func TestRoundReachesEachCustomerOnceAndSaysWhoIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap := house.overdue(), house.channel("zap")
		draft := RoundDraft{Customers: ids, Channels: []int64{zap}, Link: true}
		plan, err := house.PlanRound(t.Context(), house.actor, draft)
		must(t, err)
		if plan.Reached != 2 || plan.Amount != 7000 || len(plan.LeftOut) != 1 || plan.LeftOut[0] != (LeftOut{"no WhatsApp number", 1}) {
			t.Errorf("plan %+v", plan)
		}
		if !strings.Contains(plan.Sample.Text, "Ana") || !strings.Contains(plan.Sample.Text, "10/01/2026") || !strings.Contains(plan.Sample.Text, "https://example.com/pay/1") {
			t.Errorf("sample %q", plan.Sample.Text)
		}
		round, err := house.round(draft)
		must(t, err)
		house.send()
		letters := house.carrier.taken()
		if len(letters) != 2 || !strings.Contains(letters[0].Text, "R$ 35,00") || !strings.Contains(letters[0].Text, "https://example.com/pay/") {
			t.Fatalf("sent %+v", letters)
		}
		round, err = house.FindRound(t.Context(), house.actor, round.ID)
		must(t, err)
		if round.Counts[Sent] != 2 || round.Waiting() != 0 || round.Total() != 2 {
			t.Errorf("round %+v", round)
		}
		_, err = house.round(draft) // again on the same day
		wantKind(t, err, fault.KindConflict)
		rules, err := house.Rules(t.Context(), house.actor)
		must(t, err)
		if len(rules) != 0 {
			t.Errorf("a round is among the rules: %+v", rules)
		}
		house.at("2026-01-21 09:00")
		_, err = house.round(draft)
		must(t, err)
		templates, err := house.Templates(t.Context(), house.actor)
		must(t, err)
		if len(templates) != 1 {
			t.Errorf("%d templates after two rounds, want one", len(templates))
		}
	})
}

func TestRoundAsksForTheInvoicesThatWereChosen(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap := house.overdue(), house.channel("zap")
		extra, err := house.billing.CreateExtra(t.Context(), house.actor, ids[0], billing.ReadExtra(values("amount", "12.00", "due", "2026-01-15")))
		must(t, err)
		_, err = house.round(RoundDraft{Invoices: []int64{extra.ID}, Channels: []int64{zap}, TemplateID: house.template("Deve {valor} de {vencimento}")})
		must(t, err)
		house.send()
		letters := house.carrier.taken()
		if len(letters) != 1 || letters[0].Text != "Deve R$ 12,00 de 15/01/2026" {
			t.Errorf("sent %+v", letters)
		}
	})
}

func TestRoundGoesOnInAnotherProcess(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap := house.overdue(), house.channel("zap")
		_, err := house.round(RoundDraft{Customers: ids, Channels: []int64{zap}})
		must(t, err)
		house.process(t).send()
		if letters := house.carrier.taken(); len(letters) != 2 {
			t.Errorf("sent %+v", letters)
		}
		house.send()
		if letters := house.carrier.taken(); len(letters) != 0 {
			t.Errorf("sent again %+v", letters)
		}
	})
}

func TestRoundLeavesOutWhoPaidMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap := house.overdue(), house.channel("zap")
		_, err := house.round(RoundDraft{Customers: ids[:1], Channels: []int64{zap}})
		must(t, err)
		invoice, _, err := house.billing.Owed(t.Context(), house.actor, ids[0])
		must(t, err)
		_, err = house.billing.SetStatus(t.Context(), house.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
		must(t, err)
		house.send()
		house.want(house.only(), Skipped, "already paid")
	})
}

func TestTemplateOfARoundIsDeletedOnlyAfterIt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap, template := house.overdue(), house.channel("zap"), house.template("Olá")
		_, err := house.round(RoundDraft{Customers: ids, Channels: []int64{zap}, TemplateID: template})
		must(t, err)
		wantKind(t, house.DeleteTemplate(t.Context(), house.actor, template), fault.KindConflict)
		house.send()
		must(t, house.DeleteTemplate(t.Context(), house.actor, template))
		if got := house.log(); len(got) != 2 || got[0].Status != Sent || got[0].Text != "Olá" {
			t.Errorf("log %+v", got)
		}
	})
}

func TestRoundIsRefusedWithoutPeopleOrChannel(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		ids, zap := house.overdue(), house.channel("zap")
		_, err := house.round(RoundDraft{Channels: []int64{zap}})
		wantKind(t, err, fault.KindInvalid)
		_, err = house.round(RoundDraft{Customers: ids})
		wantField(t, err, "channels", "required")
		_, err = house.round(RoundDraft{Customers: ids, Channels: []int64{zap}, TemplateID: 99})
		wantField(t, err, "template_id", "not a template")
		_, err = house.round(RoundDraft{Customers: ids[2:], Channels: []int64{zap}})
		wantKind(t, err, fault.KindConflict)
		_, err = house.FindRound(t.Context(), house.actor, 99)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestUsualSetIsTurnedOnOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		zap := house.channel("zap")
		house.remind(1, "10:00", house.template("Olá"), zap)
		made, err := house.TurnOnUsual(t.Context(), house.actor, UsualDraft{Channels: []int64{zap}, Link: true})
		must(t, err)
		if made != len(usual)-1 {
			t.Errorf("made %d rules", made)
		}
		again, err := house.TurnOnUsual(t.Context(), house.actor, UsualDraft{Channels: []int64{zap}})
		must(t, err)
		rules, err := house.Rules(t.Context(), house.actor)
		must(t, err)
		if again != 0 || len(rules) != 6 || rules[5].On != OnPaid || !rules[4].Active || rules[1].Name != "3 dias antes" {
			t.Errorf("made %d again, rules %+v", again, rules)
		}
		_, err = house.TurnOnUsual(t.Context(), house.actor, UsualDraft{})
		wantField(t, err, "channels", "required")
		house.checkWords()
	})
}

// checkWords holds the house's words against the checks of any template.
func (h *house) checkWords() {
	for _, words := range append(usual, dunning) {
		refused := h.check(ReadTemplate(values("name", words.name, "subject", words.subject, "text", words.text)))
		if !refused.Empty() {
			_, reason := refused.First()
			h.t.Errorf("%s: %s", words.name, reason)
		}
	}
}
