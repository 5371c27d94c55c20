package reminder

import (
	"strings"
	"testing"
)

// A link to 127.0.0.1 is of no use to a customer, and looks like fraud.
func TestUnreachableAddressPutsThePixCodeInPlaceOfLinks(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.options.Unreachable = true
		letter := house.mailed("Olá!\n\nPague aqui: {link_pagamento}\n\nAté logo")
		if letter.Text != "Olá!\n\nPague aqui: PIX1\n\nAté logo" {
			t.Errorf("%q", letter.Text)
		}
		if look := letter.Look; look.PayURL != "" || look.OptOutURL != "" || string(look.QR) != "PNG of PIX1" {
			t.Errorf("%+v", look)
		}
	})
}

func TestUnreachableAddressLeavesTheReceiptsLinkOut(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.options.Unreachable = true
		house.confirm(house.template("Recebemos {valor}."+receiptLine+"\n\n{empresa}"), house.channel("zap"))
		house.gatewayReports(house.owing().ID, "p1")
		house.wantTexts("Recebemos R$ 35,00.\n\nRede Clara")
	})
}

func TestUnreachableAddressIsNotInTheSampleOfARound(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.options.Unreachable = true
		house.owing()
		plan, err := house.PlanRound(t.Context(), house.actor, RoundDraft{
			Customers: []int64{1}, Channels: []int64{house.channel("zap")}, Link: true,
		})
		must(t, err)
		if text := plan.Sample.Text; strings.Contains(text, "http") || !strings.Contains(text, "Pague por PIX aqui: 000201") {
			t.Errorf("%q", text)
		}
	})
}
