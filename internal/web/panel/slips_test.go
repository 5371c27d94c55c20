package panel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/config"
)

// extra makes an extra invoice of a customer.
func (p *person) extra(customerID int64, amount, due string) billing.Invoice {
	p.t.Helper()
	invoice, err := p.Billing.CreateExtra(p.t.Context(), p.actor, customerID, billing.ReadExtra(values("amount", amount, "due", due)))
	if err != nil {
		p.t.Fatal(err)
	}
	return invoice
}

func TestInvoicesAreIssuedOnPaperWithTheCodeOfTheOwnKey(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.follow("/payments/gateways/pixkey", "key", "ana@example.com", "name", "Ana", "city", "Recife")
		first := person.debtor("Bia", "")
		for month := 2; month <= 4; month++ {
			person.extra(first.Customer.ID, "35.00", fmt.Sprintf("2026-%02d-28", month))
		}
		customerPage, path := customerPath(first.Customer.ID), customerPath(first.Customer.ID)+"/slips"
		person.get(customerPage).want(t, http.StatusOK, `href="`+path+`"`, "Imprimir carnê")
		answer := person.get(path).want(t, http.StatusOK, "Carnê", "Bia", "28/04/2026", "Este código paga R$\u00a035,00.", "https://carteira.example/pay/")
		answer.lacks(t, "Válido até")
		for text, want := range map[string]int{`class="card slip"`: 4, `<svg class="qr"`: 4, "br.gov.bcb.pix": 4} {
			if got := strings.Count(answer.body, text); got != want {
				t.Errorf("%q is there %d times, want %d", text, got, want)
			}
		}
		if strings.Index(answer.body, "31/01/2026") > strings.Index(answer.body, "28/02/2026") {
			t.Error("the oldest is not the first")
		}
		person.get(invoicePath(first.ID)+"/receipt").want(t, http.StatusOK, `<svg class="qr"`, "br.gov.bcb.pix", "https://carteira.example/pay/")

		reading := person.colleague(account.RoleReadOnly)
		reading.get(path).want(t, http.StatusOK, `class="card slip"`).lacks(t, "/pay/", "br.gov.bcb.pix")
		office.owner(t, "rui@example.com").get(path).want(t, http.StatusNotFound)

		person.follow(invoicePath(first.ID)+"/pay", "amount", "35,00", "paid_via", "cash")
		person.get(invoicePath(first.ID)+"/receipt").want(t, http.StatusOK, "Recibo").lacks(t, `<svg class="qr"`)
	})
}

func TestCodeThatEndsBeforeTheDueDateIsNotPrinted(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.follow("/payments/gateways/bank", "token", "abc")
		due := person.debtor("Bia", "")
		later := person.extra(due.Customer.ID, "20.00", "2026-03-10")
		path := customerPath(due.Customer.ID) + "/slips"
		person.get(path).want(t, http.StatusOK, "com a câmera", "/pay/").lacks(t, "pix&lt;code&gt;")
		if calls := len(office.bank.charges); calls != 0 {
			t.Errorf("printing had %d charges made", calls)
		}
		person.follow(invoicePath(due.ID) + "/pix")
		person.follow(invoicePath(later.ID) + "/pix")
		answer := person.get(path).want(t, http.StatusOK, "Este código paga R$\u00a035,00.", "Válido até", "com a câmera")
		if got := strings.Count(answer.body, "pix&lt;code&gt;"); got != 1 {
			t.Errorf("%d codes, want that of the invoice that is due today", got)
		}
		office.Reach = config.OnlyHere
		person.get(path).want(t, http.StatusOK, "Este código paga R$\u00a020,00.").lacks(t, "/pay/", "com a câmera")
	})
}

func TestBookletOfWhoOwesNothingAndOfWhoOwesMoreThanAYear(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		first := person.debtor("Bia", "")
		path := customerPath(first.Customer.ID) + "/slips"
		person.get(path).want(t, http.StatusOK, `class="card slip"`).lacks(t, `<svg class="qr"`) // no gateway, no code
		for n := range maxSlips + 1 {
			person.extra(first.Customer.ID, "5.00", fmt.Sprintf("2026-02-%02d", n+1))
		}
		answer := person.get(path).want(t, http.StatusOK, "Mais 2 não couberam.")
		if got := strings.Count(answer.body, `class="card slip"`); got != maxSlips {
			t.Errorf("%d slips, want %d", got, maxSlips)
		}
		record, err := office.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Caio")))
		if err != nil {
			t.Fatal(err)
		}
		person.get(customerPath(record.ID)+"/slips").want(t, http.StatusOK, "Caio não tem fatura em aberto.").lacks(t, "data-print", `class="card slip"`)
	})
}
