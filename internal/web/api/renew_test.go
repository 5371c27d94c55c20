package api

import (
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestRenewalSaysWhatBecomesOfTheInvoice(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for id, want := range []struct{ query, status string }{
			{"", "Em aberto"}, {"?invoice=keep", "Em aberto"}, {"?invoice=paid", "Pago"}, {"?invoice=cancelled", "Cancelado"},
		} {
			number := string(rune('1' + id))
			caller.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
			renewed := data[record](t, caller.call(t, "POST", "/customers/"+number+"/renew-due-date"+want.query, ""))
			if *renewed.Previous != "2026-01-31" || *renewed.DueDate != "2026-02-28" {
				t.Errorf("%q: %+v", want.query, renewed)
			}
			if got := data[struct{ Status string }](t, caller.call(t, "GET", "/invoices/"+number, "")); got.Status != want.status {
				t.Errorf("%q: the invoice is %s, want %s", want.query, got.Status, want.status)
			}
		}
		caller.call(t, "POST", "/customers/1/renew-due-date?invoice=burnt", "").want(t, 422, "invoice: must be one of: keep, paid, cancelled")
		_, err := caller.Accounts.SetCompany(t.Context(), caller.actor, account.CompanyDraft{RenewInvoice: input.Some(account.CancelInvoice)})
		must(t, err)
		caller.create(t, `{"name":"Bia","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
		data[record](t, caller.call(t, "POST", "/customers/5/renew-due-date", ""))
		if got := data[struct{ Status string }](t, caller.call(t, "GET", "/invoices/5", "")); got.Status != "Cancelado" {
			t.Errorf("by the company's choice the invoice is %s", got.Status)
		}
	})
}
