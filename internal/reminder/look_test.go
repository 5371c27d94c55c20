package reminder

import (
	"errors"
	"strings"
	"testing"
)

// mailed is the letter of a mail about an invoice.
func (h *house) mailed(text string) Letter {
	h.t.Helper()
	h.plan("35.00")
	h.remind(-3, "09:00", h.template(text), h.channel("mail"))
	h.customer("2026-01-24", "plan_id", "1")
	_, err := h.billing.Issue(h.t.Context(), h.actor)
	must(h.t, err)
	h.work()
	h.at("2026-01-21 09:00")
	h.send()
	list := h.carrier.taken()
	if len(list) != 1 || list[0].Look == nil {
		h.t.Fatalf("%+v", list)
	}
	return list[0]
}

func TestMailsLeadToThePayment(t *testing.T) {
	for name, tt := range map[string]struct{ text, url, code string }{
		"a code in the words":   {"Olá: {pix}", "https://example.com/pay/1", "PNG of PIX1"},
		"a link in the words":   {"Olá: {link_pagamento}", "https://example.com/pay/1", "PNG of PIX1"},
		"neither, only a greet": {"Olá", "https://example.com/pay/1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				look := house.mailed(tt.text).Look
				if look.PayURL != tt.url || string(look.QR) != tt.code || !strings.HasPrefix(look.OptOutURL, "https://carteira.example/unsubscribe/v1.") {
					t.Errorf("%+v", look)
				}
			})
		})
	}
}

// What is only there for the look keeps no mail back.
func TestMailGoesWithoutWhatCannotBeHad(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.payments.err = errors.New("the gateway is away")
		if look := house.mailed("Olá").Look; look.PayURL != "" || look.QR != nil || look.OptOutURL == "" {
			t.Errorf("%+v", look)
		}
	})
}

func TestOtherChannelsHaveNoLook(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		house.send()
		if list := house.carrier.taken(); len(list) != 1 || list[0].Look != nil {
			t.Errorf("%+v", list)
		}
	})
}
