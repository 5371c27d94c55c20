package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web/panel/kit"
)

// heaviest is what a page may weigh before it is packed, with as many rows as it
// ever has: what a row repeats costs fifty times.
const heaviest = 40_000

// busyYear gives a company more of everything than a page shows.
func (p *person) busyYear(rows int) (webhook int64) {
	p.t.Helper()
	ctx, actor := p.t.Context(), p.actor
	must := func(err error) {
		p.t.Helper()
		if err != nil {
			p.t.Fatal(err)
		}
	}
	ids := p.fill()
	plan, err := p.Catalog.CreatePlan(ctx, actor, catalog.ReadNewPlan(values("name", "Fibra 300 Mega com Wi-Fi", "value", "119.90", "period", "1month")))
	must(err)
	for n := range rows {
		due := []string{"2026-01-10", "2026-01-31", "2026-02-01"}[n%3]
		_, err := p.Customers.Create(ctx, actor, customer.ReadNew(values("name", fmt.Sprintf("Maria Conceição dos Santos %d", n), "plan_id", kit.IDText(plan.ID),
			"data_de_vencimento", due, "whatsapp", fmt.Sprintf("1198765%04d", n), "usuario", fmt.Sprintf("maria.santos%d", n))))
		must(err)
		must(p.grant())
		_, _, err = p.Webhooks.Test(ctx, actor, ids["webhooks"])
		must(err)
	}
	_, err = p.Reminders.Plan(ctx)
	must(err)
	open, _, err := p.Billing.List(ctx, actor, billing.Filter{Status: billing.Open}, input.Page{Number: 1, Size: int64(rows)})
	must(err)
	for _, invoice := range open[:rows-12] {
		must(p.payByHand(invoice.ID))
	}
	return ids["webhooks"]
}

func (p *person) grant() error {
	_, err := p.Resellers.Grant(p.t.Context(), p.actor, reseller.ReadCreditRequest(values("amount", "1", "note", "Compra de créditos do mês")))
	return err
}

func (p *person) payByHand(invoiceID int64) error {
	form := values("status", billing.Paid.String(), "paid_via", "cash")
	_, err := p.Billing.SetStatus(p.t.Context(), p.actor, invoiceID, billing.ReadStatusChange(form))
	return err
}

func TestPagesStayLight(t *testing.T) {
	office := newOffice(t, sqldb.SQLite) // a page is as long on both databases
	person := office.owner(t, "ana@example.com")
	webhook := person.busyYear(80)
	for _, path := range []string{
		"/", "/customers", "/customers?status=Vencido&sort=name", "/invoices", "/invoices?overdue=true", "/payments", "/messages/log",
		"/credits", "/settings/audit", fmt.Sprintf("/webhooks/%d", webhook), "/messages", "/resellers", "/plans", "/settings",
	} {
		answer := person.get(path).want(t, http.StatusOK, "</html>")
		t.Logf("%6d bytes %s", len(answer.body), path)
		if len(answer.body) > heaviest {
			t.Errorf("%s weighs %d bytes, more than %d", path, len(answer.body), heaviest)
		}
	}
}
