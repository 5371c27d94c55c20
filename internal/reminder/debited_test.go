package reminder

import (
	"strings"
	"testing"

	"carteira/internal/platform/civil"
)

func TestMessageAboutAnInvoiceThatIsDebitedSaysSo(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.payments.debitOn = civil.MustParse("2026-01-26")
		house.due([]int64{house.channel("zap")}, "Pague: {link_pagamento} {pix}", "plan_id", number(house.plan("35.00")))
		house.send()
		house.want(house.only(), Sent, "")
		sent := house.carrier.taken()
		if len(sent) != 1 || !strings.Contains(sent[0].Text, "será debitada da sua conta em 26/01/2026") || strings.Contains(sent[0].Text, "Pague") {
			t.Errorf("sent %+v", sent)
		}
	})
}

func TestScheduledMessageIsShownAsItWouldBeSentNow(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "{nome}, pague {valor}: {link_pagamento}", "plan_id", number(house.plan("35.00")))
		message := house.only()
		next, err := house.Upcoming(t.Context(), house.actor, message.ID)
		must(t, err)
		house.send()
		if sent := house.only(); sent.Text == "" || next.Text != sent.Text || next.Subject != sent.Subject || next.Problem != "" {
			t.Errorf("%+v was shown, and %q sent", next, sent.Text)
		}
		if next, err = house.Upcoming(t.Context(), house.actor, message.ID); err != nil || next.Text != "" {
			t.Errorf("one that was sent is shown as %+v, %v", next, err)
		}
	})
}

func TestScheduledMessageIsShownWithoutACodeOfAGateway(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "{link_pagamento} {pix}", "plan_id", number(house.plan("35.00")))
		wants := func(text, problem string) {
			t.Helper()
			next, err := house.Upcoming(t.Context(), house.actor, house.only().ID)
			must(t, err)
			if next.Text != text || next.Problem != problem {
				t.Errorf("shown as %+v, want %q and %q", next, text, problem)
			}
		}
		wants("https://example.com/pay/1 "+sampleOf(pixCode), "")
		house.payments.debitOn = civil.MustParse("2026-01-26")
		wants("Olá, Ana! A sua fatura de R$ 35,00 será debitada da sua conta em 26/01/2026, pelo PIX Automático. Você não precisa fazer nada.\n\nRede Clara", "")
		house.payments.debitOn = civil.Date{}
		house.exec(`UPDATE invoices SET status = 'cancelled'`)
		wants("", errNoInvoice.Error())
	})
}
