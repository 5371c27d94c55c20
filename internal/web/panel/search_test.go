package panel

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
)

func TestSearchFindsCustomersInvoicesAndPages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		_, err := office.Customers.Create(t.Context(), person.actor, customer.ReadNew(values(
			"name", "Conceição", "usuario", "conce.1", "cpf_cnpj", "529.982.247-25", "external_id", "ERP-77")))
		if err != nil {
			t.Fatal(err)
		}
		for query, found := range map[string]string{
			"joao": "João &lt;Silva&gt;", "98765": "João &lt;Silva&gt;", "conceicao": "Conceição", "conce.": "Conceição",
			"529.982": "Conceição", "ERP-77": "Conceição", "webhooks": `href="/webhooks"`, "atrasadas": `href="/invoices?overdue=true"`,
			"pix": `href="/payments/gateway"`, "gateway": `href="/payments/gateway"`, "multa": `href="/settings#late"`, "recibo": `href="/invoices?status=Pago"`,
			"lembrete": `href="/messages/rules/new"`, "excel": `href="/imports"`, "logo": `href="/settings#brand"`, "mensal": `href="/plans/1"`, "domínio": `href="/settings/address"`,
			"chave pix": `href="/payments/gateway"`, "contador": `href="/payments/month"`, "extrato": `href="/payments/statement"`, "OFX": `href="/payments/statement"`,
			"CNPJ": `href="/settings"`, "dois fatores": `href="/profile"`, "theme": `href="/profile"`, "exportar": `href="/customers"`, "revenda": `href="/resellers"`,
			"second factor": `href="/profile"`, "cash flow": `href="/payments/forecast"`,
		} {
			person.get("/search?q="+url.QueryEscape(query)).want(t, http.StatusOK, found, `id="ask"`)
		}
		person.get("/search?q=1").want(t, http.StatusOK, `href="/invoices/1"`)
		person.get("/search?q=999999").want(t, http.StatusOK, "Nada foi encontrado")
		person.get("/search").want(t, http.StatusOK, "Novo cliente", "Ctrl K")
		person.colleague(account.RoleReadOnly).get("/search?q=webhooks").want(t, http.StatusOK).lacks(t, `class="hits"`)
		office.owner(t, "other@example.com").get("/search?q=joao").want(t, http.StatusOK, "Nada foi encontrado")
	})
}

func TestHomeSaysWhatToDoFirst(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/").want(t, http.StatusOK, "Para começar", "/plans/new", "Receber por PIX", "Convidar a equipe").lacks(t, "Para fazer hoje")
		person.debtors(person.fill()["plans"], 6)
		person.get("/").want(t, http.StatusOK, "Para fazer hoje", "6 faturas atrasadas", "1 cliente vence hoje", `id="remind-all"`, "Para começar")
	})
}

// Pages of a company that reads a lot wait for one another; those of others do not
// wait for them.
func TestPagesOfOneCompanyTakeNoPlaceOfAnother(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	busy, quiet := office.owner(t, "ana@example.com"), office.owner(t, "bia@example.com")
	var leaves []func()
	ended, end := context.WithCancel(t.Context())
	end()
	// Who no longer waits is given a free place every second time: none in 64 tries is none left.
	for tries := 0; tries < 64; tries++ {
		if leave, err := office.Fair.Enter(ended, busy.actor.Company.ID); err == nil {
			leaves, tries = append(leaves, leave), 0
		}
	}
	answered := make(chan int, 1)
	go func() { answered <- busy.get("/customers?search=ana").status }()
	for range 3 {
		quiet.get("/").want(t, http.StatusOK)
	}
	select {
	case status := <-answered:
		t.Fatalf("one page too many was answered with %d", status)
	default:
	}
	for _, leave := range leaves {
		leave()
	}
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the page that waited was answered with %d", status)
	}
}
