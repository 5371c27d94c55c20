package reminder

import (
	"strings"
	"testing"

	"carteira/internal/billing"
)

// Killed mutant: superseded invoices are among the candidates, so that a message
// goes out twice, or about the wrong invoice.
func TestMessageIsAboutTheInvoiceThatWasIssuedAgain(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "09:00", house.template("Olá, {value}"), house.channel("zap"))
		customer := house.customer("2026-01-24", "plan_id", number(house.plan("35.00")))
		old, found, err := house.billing.Owed(t.Context(), house.actor, customer.ID)
		if err != nil || !found {
			t.Fatalf("found %t, %v", found, err)
		}
		_, err = house.billing.SetStatus(t.Context(), house.actor, old.ID, billing.ReadStatusChange(values("status", "Cancelado")))
		must(t, err)
		_, err = house.billing.Create(t.Context(), house.actor, customer.ID, billing.ReadExtra(values("renews", "true", "amount", "29.90")))
		must(t, err)
		house.work()
		house.at("2026-01-21 09:00")
		house.work()
		got := house.carrier.taken()
		if len(got) != 1 || !strings.Contains(got[0].Text, "29,90") {
			t.Errorf("sent %+v, want one about 29,90", got)
		}
	})
}
