package reminder

import (
	"strings"
	"testing"

	"carteira/internal/billing"
)

// Killed mutant: superseded invoices are among the candidates, so that a message
// goes out twice, or about the wrong invoice.
func TestMessageIsAboutTheInvoiceThatWasIssuedAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "09:00", h.template("Olá, {value}"), h.channel("zap"))
		c := h.customer("2026-01-24", "plan_id", number(h.plan("35.00")))
		old, found, err := h.billing.Owed(t.Context(), h.actor, c.ID)
		if err != nil || !found {
			t.Fatalf("found %t, %v", found, err)
		}
		_, err = h.billing.SetStatus(t.Context(), h.actor, old.ID, billing.ReadStatusChange(values("status", "Cancelado")))
		must(t, err)
		_, err = h.billing.Create(t.Context(), h.actor, c.ID, billing.ReadExtra(values("renews", "true", "amount", "29.90")))
		must(t, err)
		h.work()
		h.at("2026-01-21 09:00")
		h.work()
		got := h.carrier.taken()
		if len(got) != 1 || !strings.Contains(got[0].Text, "29,90") {
			t.Errorf("sent %+v, want one about 29,90", got)
		}
	})
}
