package reminder

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// confirm makes an active rule that sends receipts through channels.
func (h *house) confirm(template int64, channels ...int64) Rule {
	h.t.Helper()
	rule, err := h.CreateRule(h.t.Context(), h.actor, ReadNewRule(values("name", "Recibo", "active", "true", "on",
		"paid", "template_id", number(template), "channels", strings.Trim(joinIDs(channels), ","))))
	must(h.t, err)
	return rule
}

// confirming is a rule for receipts through WhatsApp, and a customer who owes
// R$ 35,00.
func (h *house) confirming() (Rule, billing.Invoice) {
	h.t.Helper()
	rule := h.confirm(h.template("Recebemos {valor} de {vencimento}: {link_pagamento}"), h.channel("zap"))
	return rule, h.owing()
}

func (h *house) owing() billing.Invoice {
	h.t.Helper()
	record := h.customer("2026-01-10", "plan_id", number(h.plan("35.00")))
	invoice, found, err := h.billing.Owed(h.t.Context(), h.actor, record.ID)
	must(h.t, err)
	if !found {
		h.t.Fatal("nothing is owed")
	}
	return invoice
}

func (h *house) setStatus(invoiceID int64, pairs ...string) {
	h.t.Helper()
	_, err := h.billing.SetStatus(h.t.Context(), h.actor, invoiceID, billing.ReadStatusChange(values(pairs...)))
	must(h.t, err)
}

func (h *house) payByHand(invoiceID int64) { h.t.Helper(); h.setStatus(invoiceID, "status", "Pago") }

func (h *house) undoPayment(invoiceID int64) {
	h.t.Helper()
	h.setStatus(invoiceID, "status", "Em aberto")
}

// report is a gateway's word that R$ 35,00 came for an invoice.
func (h *house) report(invoiceID int64, paymentID string) error {
	return h.db.Write(h.t.Context(), func(tx *sqldb.Tx) error {
		_, err := h.billing.ReceiveTx(h.t.Context(), h.actor.In(tx), billing.Receipt{Renew: true, Payment: billing.Payment{
			Provider: "acme", Via: "acme", PaymentID: paymentID, InvoiceID: invoiceID, Amount: 3500,
		}})
		return err
	})
}

func (h *house) gatewayReports(invoiceID int64, paymentID string) {
	h.t.Helper()
	must(h.t, h.report(invoiceID, paymentID))
}

// wantTexts works, and compares what was sent since the last time with texts.
func (h *house) wantTexts(texts ...string) {
	h.t.Helper()
	h.work()
	var got []string
	for _, letter := range h.carrier.taken() {
		got = append(got, letter.Text)
	}
	slices.Sort(got)
	slices.Sort(texts)
	if !slices.Equal(got, texts) {
		h.t.Errorf("sent %q, want %q", got, texts)
	}
}

func receiptText(invoice billing.Invoice) string {
	return fmt.Sprintf("Recebemos R$ 35,00 de 10/01/2026: https://example.com/pay/%d", invoice.ID)
}

func TestReceiptGoesOutAtOnceWhenAGatewayReportsTheMoney(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.wantTexts()
		house.gatewayReports(invoice.ID, "p1")
		house.wantTexts(receiptText(invoice))
		house.wantTexts()
		house.want(house.only(), Sent, "")
		if err := house.report(invoice.ID, "p1"); err == nil {
			t.Error("a callback that comes twice pays twice")
		}
		house.wantTexts()
	})
}

func TestReceiptWaitsWhileThePaymentCanBeUndone(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.payByHand(invoice.ID)
		house.wantTexts()
		next, err := house.NextDue(t.Context())
		must(t, err)
		if want := morning.Add(10 * time.Minute); !next.Equal(want) {
			t.Errorf("the next is due at %v, want %v", next, want)
		}
		house.at("2026-01-20 08:39")
		house.wantTexts()
		house.clock.Set(next)
		done, err := house.WorkDue(t.Context()) // as a sandbox with a moved clock does
		must(t, err)
		if done != 1 {
			t.Errorf("%d were done", done)
		}
		house.wantTexts(receiptText(invoice))
		house.wantTexts()
	})
}

func TestReceiptOfAPaymentThatWasUndoneIsNotSent(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.payByHand(invoice.ID)
		house.undoPayment(invoice.ID)
		house.at("2026-01-20 09:00")
		house.wantTexts()
		house.want(house.only(), Skipped, "not paid any more")
		house.payByHand(invoice.ID)
		house.want(house.only(), Scheduled, "")
		house.at("2026-01-20 09:10")
		house.wantTexts(receiptText(invoice))
	})
}

func TestReceiptWaitsAnewWhenThePaymentIsMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.payByHand(invoice.ID)
		house.at("2026-01-20 08:35")
		house.undoPayment(invoice.ID)
		house.at("2026-01-20 08:38")
		house.payByHand(invoice.ID)
		house.at("2026-01-20 08:47")
		house.wantTexts()
		house.at("2026-01-20 08:48")
		house.wantTexts(receiptText(invoice))
	})
}

func TestReceiptIsSentOnceHoweverOftenAnInvoiceIsPaid(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.payByHand(invoice.ID)
		house.at("2026-01-20 08:40")
		house.wantTexts(receiptText(invoice))
		for n := range 3 {
			house.undoPayment(invoice.ID)
			if n == 1 { // with another due date it is the same invoice
				_, err := house.billing.Edit(t.Context(), house.actor, invoice.ID, billing.ReadEdit(values("due_date", "2026-01-12")))
				must(t, err)
			}
			house.payByHand(invoice.ID)
			house.clock.Advance(time.Hour)
			house.wantTexts()
		}
		house.want(house.only(), Sent, "")
	})
}

func TestRefundedMoneyGetsNoReceipt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.at("2026-01-20 22:00")
		house.gatewayReports(invoice.ID, "p1")
		payments, _, err := house.billing.Payments(t.Context(), house.actor, billing.PaymentFilter{InvoiceID: invoice.ID}, input.Page{Number: 1, Size: 1})
		must(t, err)
		must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := house.billing.RefundTx(t.Context(), house.actor.In(tx), billing.Refund{PaymentID: payments[0].ID, RefundID: "r1"})
			return err
		}))
		house.at("2026-01-21 08:00")
		house.wantTexts()
		house.want(house.only(), Skipped, "not paid any more")
	})
}

func TestReceiptMindsQuietHours(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, first := house.confirming()
		second := house.owing()
		house.at("2026-01-20 20:55")
		house.payByHand(first.ID) // ten minutes later is a quiet hour
		house.at("2026-01-20 22:00")
		house.gatewayReports(second.ID, "p1")
		house.wantTexts()
		house.at("2026-01-21 07:59")
		house.wantTexts()
		house.at("2026-01-21 08:00")
		house.wantTexts(receiptText(first), receiptText(second))
	})
}

func TestWaitingReceiptMovesWithTheQuietHours(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.at("2026-01-20 22:00")
		house.gatewayReports(invoice.ID, "p1")
		_, err := house.SetSettings(t.Context(), house.actor, ReadSettings(values("quiet_from", "21:00", "quiet_to", "10:00")))
		must(t, err)
		house.at("2026-01-21 09:59")
		house.wantTexts()
		house.at("2026-01-21 10:00")
		house.wantTexts(receiptText(invoice))
	})
}

func TestReceiptIsTooLateAfterTheNextDay(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, first := house.confirming()
		house.gatewayReports(first.ID, "p1")
		house.at("2026-01-21 20:00") // nothing ran for a day
		house.wantTexts(receiptText(first))
		second := house.owing()
		house.gatewayReports(second.ID, "p2")
		house.at("2026-01-23 08:00")
		house.wantTexts()
		house.want(house.log()[1], Skipped, reasonLate)
	})
}

func TestRuleThatIsOffSendsNoReceipt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule, waiting := house.confirming()
		before, old := house.owing(), house.owing()
		house.payByHand(waiting.ID)
		house.switchTo(rule.ID, false)
		if list := house.log(); len(list) != 0 {
			t.Errorf("still scheduled: %+v", list)
		}
		house.gatewayReports(before.ID, "p1")
		house.at("2026-01-21 09:00")
		house.switchTo(rule.ID, true)
		house.wantTexts()
		house.setStatus(old.ID, "status", "Pago", "paid_at", "2026-01-20") // before it was on
		house.clock.Advance(time.Hour)
		house.wantTexts()
		fresh := house.owing()
		house.gatewayReports(fresh.ID, "p2")
		house.wantTexts(receiptText(fresh))
	})
}

func (h *house) switchTo(ruleID int64, active bool) {
	h.t.Helper()
	_, err := h.UpdateRule(h.t.Context(), h.actor, ruleID, RuleDraft{Active: input.Some(active)})
	must(h.t, err)
}

func TestChangedRuleKeepsTheReceiptsThatWait(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule, invoice := house.confirming()
		house.payByHand(invoice.ID)
		words, mail := house.template("Obrigado, {primeiro_nome}"), house.channel("mail")
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("template_id", number(words), "channels", number(mail))))
		must(t, err)
		house.at("2026-01-20 08:40")
		house.wantTexts("Obrigado, Ana")
		if sent := house.only(); sent.ChannelID != mail {
			t.Errorf("sent through %d", sent.ChannelID)
		}
	})
}

func TestEachInvoiceOfADueDateHasAReceipt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		extra, err := house.billing.CreateExtra(t.Context(), house.actor, invoice.Customer.ID, billing.ReadExtra(values("amount", "35.00", "due", "2026-01-10")))
		must(t, err)
		house.gatewayReports(invoice.ID, "p1")
		house.gatewayReports(extra.ID, "p2")
		house.wantTexts(receiptText(invoice), receiptText(extra))
	})
}

func TestReceiptIsForWhomTheRuleIs(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule, first := house.confirming()
		second := house.owing()
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("plan_id", number(second.Plan.ID))))
		must(t, err)
		house.gatewayReports(first.ID, "p1")
		house.gatewayReports(second.ID, "p2")
		house.wantTexts(receiptText(second))
		if list := house.log(); len(list) != 1 {
			t.Errorf("the log has %+v", list)
		}
	})
}

func TestWhoCancelledGetsAReceiptAndWhoOptedOutNone(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, gone := house.confirming()
		silent := house.owing()
		must(t, house.SetOptOut(t.Context(), house.actor, silent.Customer.ID, true))
		house.payByHand(gone.ID)
		house.payByHand(silent.ID)
		house.update(gone.Customer.ID, "cancelled", "true")
		house.at("2026-01-20 08:40")
		house.wantTexts(receiptText(gone))
		house.want(house.log()[1], Skipped, "opted out")
	})
}

func TestInvoiceThatNoMoneyPaidOrThatIsBroughtPaidGetsNoReceipt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		free := invoice
		free.Status, free.PaidOn = billing.Paid, invoice.DueOn.AddDays(10)
		brought := free
		brought.Received = 3500
		must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return house.InvoicesChanged(t.Context(), tx, billing.Changes{Actor: house.actor, List: []billing.Change{
				{Action: billing.ActionUpdated, Before: invoice, After: free},
				{Action: billing.ActionCreated, After: brought},
				{Action: billing.ActionUpdated, Before: brought, After: brought},
			}})
		}))
		if list := house.log(); len(list) != 0 {
			t.Errorf("the log has %+v", list)
		}
	})
}

func TestCompanyThatMayNotSendWritesNoReceipt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.subscribe(silences["suspended"].change)
		house.gatewayReports(invoice.ID, "p1")
		house.subscribe(silences["suspended"].back)
		house.wantTexts()
	})
}

func TestNothingPlansReceipts(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.confirming()
		_, err := house.SetSettings(t.Context(), house.actor, ReadSettings(values("quiet_from", "20:00")))
		must(t, err)
		for range 3 {
			made, err := house.Plan(t.Context())
			must(t, err)
			next, err := house.NextDue(t.Context())
			must(t, err)
			if made != 0 || !next.IsZero() {
				t.Errorf("planned %d, the next at %v", made, next)
			}
			house.clock.Advance(48 * time.Hour)
		}
		house.customer("2026-01-26") // due while the rule is there
		if list := house.log(); len(list) != 0 {
			t.Errorf("the log has %+v", list)
		}
	})
}

func TestReceiptIsSentOnceByManyProcesses(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		processes := house.threefold()
		var all sync.WaitGroup
		for n, process := range processes {
			all.Go(func() {
				err := process.report(invoice.ID, fmt.Sprint("p", n))
				if err != nil && fault.KindOf(err) == fault.KindInternal {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, process := range processes {
			all.Go(process.send)
		}
		all.Wait()
		if letters := house.carrier.taken(); len(letters) != 1 {
			t.Errorf("%d were sent", len(letters))
		}
		house.want(house.only(), Sent, "")
	})
}

// threefold is the house seen by three processes.
func (h *house) threefold() []*house { return []*house{h, h.process(h.t), h.process(h.t)} }

func TestReceiptGoesOnAfterAProcessDiedBeforeSendingIt(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.gatewayReports(invoice.ID, "p1")
		ready, err := lanes(t.Context(), house.db, house.db.Now())
		must(t, err)
		_, _, err = house.claimLane(t.Context(), ready[0], 1)
		must(t, err)
		other := house.process(t)
		other.wantTexts()
		house.clock.Advance(lease)
		other.wantTexts(receiptText(invoice))
		other.wantTexts()
	})
}

func TestReceiptInDoubtIsNotSentAgainWhenTheInvoiceIsPaidAgain(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		_, invoice := house.confirming()
		house.payByHand(invoice.ID)
		house.at("2026-01-20 08:40")
		house.begun() // and the process dies
		house.undoPayment(invoice.ID)
		house.payByHand(invoice.ID)
		house.clock.Advance(time.Hour)
		house.process(t).wantTexts()
		house.want(house.only(), Unknown, "may or may not have arrived")
	})
}

func TestRuleForReceiptsHasNoDay(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		zap, words := house.channel("zap"), house.template("Obrigado")
		rule, err := house.CreateRule(t.Context(), house.actor, ReadNewRule(values("name", "Recibo", "on", "paid", "offset_days", "-3",
			"hour", "09:00", "status", "Vencido", "template_id", number(words), "channels", number(zap))))
		must(t, err)
		if rule.OffsetDays != 0 || rule.Minute != 0 || rule.Status != "" || rule.When() != "when paid" {
			t.Errorf("rule %+v", rule)
		}
		_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("on", "due")))
		wantField(t, err, "on", "cannot be changed")
		_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("template_id", number(house.template("{pix}")))))
		wantField(t, err, "template_id", "PIX code")
		_, err = house.CreateRule(t.Context(), house.actor, ReadNewRule(values("name", "x", "on", "due", "template_id", number(words), "channels", number(zap))))
		wantField(t, err, "offset_days", "required")
		_, err = house.CreateRule(t.Context(), house.actor, ReadNewRule(values("name", "x", "on", "born", "template_id", number(words), "channels", number(zap))))
		wantField(t, err, "on", "must be one of")
	})
}
