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
