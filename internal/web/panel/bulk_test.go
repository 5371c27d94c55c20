package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// debtors makes customers with overdue invoices.
func (p *person) debtors(planID int64, count int) {
	p.t.Helper()
	for n := range count {
		_, err := p.Customers.Create(p.t.Context(), p.actor, customer.ReadNew(values(
			"name", fmt.Sprintf("Devedor %02d", n), "plan_id", fmt.Sprint(planID), "data_de_vencimento", "2026-01-10", "whatsapp", fmt.Sprintf("1198765%04d", n))))
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *person) dueOn(name string) string {
	p.t.Helper()
	list, _, err := p.Customers.List(p.t.Context(), p.actor, customer.Filter{Search: name}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) != 1 {
		p.t.Fatal(list, err)
	}
	return list[0].DueOn.String()
}

func (p *person) overdue() int64 {
	p.t.Helper()
	_, total, err := p.Billing.List(p.t.Context(), p.actor, billing.Filter{Overdue: "true"}, input.Page{Number: 1, Size: 1})
	if err != nil {
		p.t.Fatal(err)
	}
	return total
}

// owed are the first invoices that are overdue.
func (p *person) owed(count int64) []billing.Invoice {
	p.t.Helper()
	list, _, err := p.Billing.List(p.t.Context(), p.actor, billing.Filter{Overdue: "true"}, input.Page{Number: 1, Size: count})
	if err != nil || int64(len(list)) != count {
		p.t.Fatal(list, err)
	}
	return list
}

var undoCode = regexp.MustCompile(`name="batch" value="([^"]+)"`)

// undone presses the button that a page offers after some work.
func (p *person) undone(answer answer) answer {
	p.t.Helper()
	found := undoCode.FindStringSubmatch(answer.body)
	if found == nil {
		p.t.Fatalf("nothing to undo on the page: %s", mainOf(answer.body))
	}
	return p.follow("/undo", "batch", found[1], "back", "/customers")
}

func TestAllOverdueInvoicesArePaidAtOnceAndUndone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 7)
		all := []string{"action", "pay", "all", "1", "of", "overdue=true", "back", "/invoices?overdue=true"}
		person.post("/invoices/bulk", all...).want(t, http.StatusOK, "Marcar 7 faturas como pagas?", "R$ 245,00", "e mais 1", "desfazer por dez minutos", `id="ask"`)
		done := person.follow("/invoices/bulk", append(all, "sure", "yes", "agreed", "7", "paid_via", "cash")...)
		done.want(t, http.StatusOK, "Faturas pagas: 7.", `action="/undo"`)
		if person.overdue() != 0 || person.dueOn("Devedor 03") != "2026-02-10" {
			t.Errorf("%d overdue, due on %s", person.overdue(), person.dueOn("Devedor 03"))
		}
		person.undone(done).want(t, http.StatusOK, "Desfeito.")
		if person.overdue() != 7 || person.dueOn("Devedor 03") != "2026-01-10" {
			t.Errorf("%d overdue after undoing, due on %s", person.overdue(), person.dueOn("Devedor 03"))
		}
	})
}

func TestRenewalPlanAndCancellationOfManyAreUndone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.debtors(ids["plans"], 3)
		dear := person.follow("/plans/new", "name", "Caro", "value", "99,00", "period_count", "1", "period_unit", "month")
		dear.want(t, http.StatusOK, "Caro")
		picked := []string{"all", "1", "of", "search=Devedor", "sure", "yes", "agreed", "3", "back", "/customers?search=Devedor"}
		for _, invoice := range []string{"keep", "cancelled", "paid"} {
			done := person.follow("/customers/bulk", append(picked, "action", "renew", "invoice", invoice)...).want(t, http.StatusOK, "Clientes renovados: 3.")
			if due := person.dueOn("Devedor 01"); due != "2026-02-10" {
				t.Errorf("%s: renewed to %s", invoice, due)
			}
			person.undone(done).want(t, http.StatusOK, "Desfeito.")
			if person.overdue() != 3 || person.dueOn("Devedor 01") != "2026-01-10" {
				t.Errorf("%s: %d overdue after undoing, due on %s", invoice, person.overdue(), person.dueOn("Devedor 01"))
			}
		}
		done := person.follow("/customers/bulk", append(picked, "action", "cancel", "cancel_reason", "mudou")...).want(t, http.StatusOK, "Clientes cancelados: 3.")
		if person.overdue() != 3 {
			t.Error("what cancelled customers owe was forgiven without a tick")
		}
		person.undone(done).want(t, http.StatusOK, "Desfeito.")
		done = person.follow("/customers/bulk", append(picked, "action", "cancel", "forgive", "true")...).want(t, http.StatusOK, "Clientes cancelados: 3.")
		if person.overdue() != 0 {
			t.Error("a cancelled customer owes")
		}
		person.undone(done).want(t, http.StatusOK, "Desfeito.")
		if person.overdue() != 3 {
			t.Errorf("%d overdue after undoing", person.overdue())
		}
		plan, err := person.planNamed(&kit.Request{Request: person.request(http.MethodGet, "/", nil), Visit: account.Visit{Actor: person.actor}}, "Caro")
		if err != nil {
			t.Fatal(err)
		}
		done = person.follow("/customers/bulk", append(picked, "action", "plan", "bulk_plan_id", plan)...).want(t, http.StatusOK, "movidos para o plano: 3", "Caro")
		person.undone(done).want(t, http.StatusOK, "Desfeito.")
		person.get("/customers?search=Devedor").want(t, http.StatusOK, "Mensal").lacks(t, "R$\u00a099,00")
	})
}

func TestUndoingIsForTheOneWhoDidItAndForAWhile(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		path := fmt.Sprintf("/customers/%d", ids["customers"])
		done := person.follow(path + "/renew")
		done.want(t, http.StatusOK, "renovação até 28/02/2026", "Desfazer")
		code := undoCode.FindStringSubmatch(done.body)[1]
		person.colleague(account.RoleStaff).follow("/undo", "batch", code, "back", "/customers").want(t, http.StatusOK, "não dá mais para desfazer")
		office.owner(t, "other@example.com").follow("/undo", "batch", code).want(t, http.StatusOK, "não dá mais para desfazer")
		person.follow("/undo", "batch", "").want(t, http.StatusOK, "não dá mais para desfazer")
		office.clock.Set(noon.Add(undoTime + time.Second))
		person.follow("/undo", "batch", code, "back", path).want(t, http.StatusOK, "não dá mais para desfazer", "28/02/2026")
	})
}

func TestUndoingLeavesWhatWasChangedSince(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		path := fmt.Sprintf("/customers/%d", ids["customers"])
		done := person.follow(path + "/renew")
		person.follow(path+"/edit", "name", "João", "data_de_vencimento", "2026-05-05")
		person.undone(done).want(t, http.StatusOK, "Uma parte não pôde ser desfeita: o vencimento já foi alterado depois")
		person.get(path).want(t, http.StatusOK, "05/05/2026")
	})
}

func TestReminderIsSentToAllOverdue(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 3)
		all := []string{"action", "remind", "all", "1", "of", "overdue=true", "back", "/invoices?overdue=true"}
		person.post("/invoices/bulk", all...).want(t, http.StatusOK, "Enviar lembrete a 3 clientes?", "Total em aberto", "R$ 105,00", "Pombo", "Oi, Devedor!", "10/01/2026")
		answer := person.post("/invoices/bulk", append(all, "sure", "yes", "agreed", "3")...)
		if answer.status != http.StatusSeeOther || !strings.HasPrefix(answer.location, "/messages/rounds/") {
			t.Fatalf("%d to %s: %s", answer.status, answer.location, mainOf(answer.body))
		}
		person.get(answer.location).want(t, http.StatusOK, "0 de 3 enviados", "pode sair desta página", `href="/invoices?overdue=true"`)
		person.post("/invoices/bulk", all...).want(t, http.StatusOK, "Enviar lembrete a 0 clientes?", "Ficam de fora: 3", "já recebeu mensagem hoje").lacks(t, `id="sure"`)
		person.get("/messages").want(t, http.StatusOK).lacks(t, "Cobrança avulsa ·")
	})
}

func TestReminderWithoutAChannelLeadsToTheQueue(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia", "")
		answer := person.post("/invoices/bulk", "action", "remind", "id", fmt.Sprint(invoice.ID))
		if answer.status != http.StatusSeeOther || answer.location != fmt.Sprintf("/queue?id=%d", invoice.ID) {
			t.Errorf("%d to %s", answer.status, answer.location)
		}
		person.follow("/messages/usual").want(t, http.StatusOK, "obrigatório")
	})
}

func TestUsualSetIsOneClick(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.follow("/messages/usual").want(t, http.StatusOK, "Regras ligadas: 5.", "3 dias antes", "10 dias depois", "Hoje: 1 cliente.",
			"Quando uma fatura é paga, por Pombo, para todos os clientes.", "Faturas pagas hoje: 0.")
		person.get("/messages").want(t, http.StatusOK).lacks(t, "Ligar a régua padrão")
		person.get("/messages/rules/new?offset_days=0&side=after").want(t, http.StatusOK, "Hoje alcançaria 1 cliente.")
		person.get("/messages/rules/new?offset_days=9&side=after").want(t, http.StatusOK, "Hoje alcançaria 0 clientes.")
	})
}

func TestPaymentIsRegisteredFromTheListAndUndone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 1)
		list := person.owed(1)
		path := fmt.Sprintf("/invoices/%d", list[0].ID)
		person.get("/invoices?overdue=true").want(t, http.StatusOK, path+"/pay?list=overdue%3dtrue", "há 21 dias", "1 fatura · R$ 35,00")
		person.get(path+"/pay?list=overdue%3dtrue").want(t, http.StatusOK, `value="/invoices?overdue=true"`)
		person.get(path+"/pay?list=//elsewhere").want(t, http.StatusOK, `value="/invoices?//elsewhere"`)
		person.get(path+"/pay?back=/invoices").want(t, http.StatusOK, `value="35,00"`, `value="2026-01-31"`, `id="ask"`)
		done := person.follow(path+"/pay", "amount", "35,00", "paid_via", "cash", "paid_at", "2026-01-30", "back", "/invoices?overdue=true")
		done.want(t, http.StatusOK, "fatura paga e cliente renovado", "Nenhuma fatura")
		person.get(path+"/receipt").want(t, http.StatusOK, "Recibo", "recebeu de Devedor 00", "dinheiro", "30/01/2026")
		person.undone(done).want(t, http.StatusOK, "Desfeito.")
		person.get(path+"/receipt").want(t, http.StatusOK, "Fatura").lacks(t, "recebeu de")
		if person.overdue() != 1 {
			t.Error("the payment was not undone")
		}
	})
}

// received is what was received on a day.
func (p *person) received(day string) money.Cents {
	p.t.Helper()
	on := civil.MustParse(day)
	worth, _, err := p.Billing.PaymentsWorth(p.t.Context(), p.actor, billing.PaymentFilter{From: on, To: on}, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return worth
}

// Undoing the payment of the rest leaves the part that came before; undoing a part
// takes that part back.
func TestUndoTakesBackThePaymentThatItIsFor(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 1)
		list := person.owed(1)
		path := fmt.Sprintf("/invoices/%d/pay", list[0].ID)
		part := person.follow(path, "amount", "20,00", "paid_via", "cash", "paid_at", "2026-01-12", "difference", "partial")
		part.want(t, http.StatusOK, "uma parte foi recebida")
		for _, work := range [][]string{
			{path, "amount", "15,00", "paid_via", "cash", "paid_at", "2026-01-30"},
			{"/invoices/bulk", "action", "pay", "all", "1", "of", "overdue=true", "sure", "yes", "agreed", "1", "paid_at", "2026-01-30"},
		} {
			person.undone(person.follow(work[0], work[1:]...)).want(t, http.StatusOK, "Desfeito.")
			if kept, gone := person.received("2026-01-12"), person.received("2026-01-30"); kept != 2000 || gone != 0 || person.overdue() != 1 {
				t.Errorf("%s: %s and %s are left, %d overdue", work[0], kept, gone, person.overdue())
			}
		}
		person.undone(part).want(t, http.StatusOK, "Desfeito.")
		if left := person.received("2026-01-12"); left != 0 {
			t.Errorf("%s are left of the part that was undone", left)
		}
	})
}

// Months that are paid with the renewal are booked, each with its invoice, and
// undone together, whether an invoice was out before or not.
func TestRenewalByMonthsThatAreBookedIsUndoneWhole(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		plan := fmt.Sprint(person.fill()["plans"])
		for _, due := range []string{"2026-01-10", "2026-06-10", ""} {
			record, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Bia", "data_de_vencimento", due)))
			if err == nil {
				record, err = person.Customers.Update(t.Context(), person.actor, record.ID, customer.ReadChanges(values("plan_id", plan)))
			}
			if err != nil {
				t.Fatal(err)
			}
			before, booked := person.owes(record.ID), person.received("2026-01-31")
			done := person.follow(fmt.Sprintf("/customers/%d/renew", record.ID), "periods", "3", "invoice", "paid").want(t, http.StatusOK)
			if got := person.received("2026-01-31"); got != booked+3*3500 {
				t.Errorf("%q: %s were booked", due, got-booked)
			}
			person.undone(done).want(t, http.StatusOK, "Desfeito.")
			if after, got := person.owes(record.ID), person.received("2026-01-31"); after != before || got != booked {
				t.Errorf("%q: %s after undoing, want %s; %s of %s booked", due, after, before, got, booked)
			}
		}
	})
}

// owes is a customer's due date and open invoices.
func (p *person) owes(id int64) string {
	p.t.Helper()
	record, err := p.Customers.Find(p.t.Context(), p.actor, id)
	if err != nil {
		p.t.Fatal(err)
	}
	list, _, err := p.Billing.List(p.t.Context(), p.actor, billing.Filter{CustomerID: id, Status: billing.Open}, input.Page{Number: 1, Size: 50})
	if err != nil {
		p.t.Fatal(err)
	}
	text := []string{record.DueOn.String()}
	for _, invoice := range list {
		text = append(text, fmt.Sprint(invoice.DueOn, " ", invoice.Amount))
	}
	return strings.Join(text, " ")
}

func TestListsLeadBackAndToNeighbours(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 3)
		row := regexp.MustCompile(`href="(/customers/\d+\?list=[^"]+at=2)"`).FindStringSubmatch(person.get("/customers?search=Devedor").body)
		if row == nil {
			t.Fatal("no row leads to its customer")
		}
		page := person.get(strings.ReplaceAll(row[1], "&amp;", "&")).want(t, http.StatusOK, "Devedor 01", `href="/customers?search=Devedor"`, `rel="prev"`, `rel="next"`)
		next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page.body)
		person.get(strings.ReplaceAll(next[1], "&amp;", "&")).want(t, http.StatusOK, "Devedor 00", `rel="prev"`).lacks(t, `rel="next"`)
		person.get("/customers/999?list=a%3Db").want(t, http.StatusNotFound)
	})
}

func TestChipsAndTotalsOfLists(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 3)
		person.get("/invoices").want(t, http.StatusOK, "4 faturas · R$ 140,00", "Este mês", `href="/invoices?overdue=true"`)
		person.get("/invoices?due_from=2026-01-01&due_to=2026-01-31").want(t, http.StatusOK, `aria-current="true">Este mês`)
		person.get("/customers?status=Vencido").want(t, http.StatusOK, `aria-current="true">Vencido`, `href="/customers?due_from=2026-01-31&amp;due_to=2026-02-06&amp;status=Vencido"`)
		rows := person.export("/invoices/export?overdue=true")
		if len(rows) != 4 || rows[1][5] != "35,00" || rows[1][3] != "10/01/2026" || rows[1][4] != "Em aberto" {
			t.Errorf("exported %v", rows)
		}
		person.get("/invoices/export?due_from=x").want(t, http.StatusUnprocessableEntity)
	})
}

func TestOldestDebtComesFirst(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 2)
		person.follow("/customers/new", "name", "Muito antigo", "plan_id", "1", "data_de_vencimento", "2025-11-10")
		person.follow("/customers/new", "name", "Recente", "plan_id", "1", "data_de_vencimento", "2026-01-29")
		first := func(path string) string {
			t.Helper()
			found := regexp.MustCompile(`class="name[^>]*>([^<]+)<`).FindStringSubmatch(person.get(path).want(t, http.StatusOK).body)
			if found == nil {
				t.Fatalf("%s shows nobody", path)
			}
			return found[1]
		}
		for path, name := range map[string]string{
			"/invoices?overdue=true": "Muito antigo", "/invoices?overdue=true&sort=-due_date": "Recente", "/invoices?overdue=true&sort=-id": "Recente",
			"/customers?status=Vencido": "Muito antigo", "/customers?sort=-due_date": "João &lt;Silva&gt;", "/customers": "Recente",
		} {
			if got := first(path); got != name {
				t.Errorf("%s begins with %s, not %s", path, got, name)
			}
		}
		person.get("/invoices?overdue=true").want(t, http.StatusOK, `aria-sort="ascending"`, "sort=-due_date")
	})
}

func TestMoneyThatCameAgainIsCreditAndPaysAnInvoice(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 1)
		list := person.owed(1)
		path, customer := fmt.Sprintf("/invoices/%d", list[0].ID), fmt.Sprintf("/customers/%d", list[0].Customer.ID)
		person.post(path+"/again", "amount", "35,00").want(t, http.StatusUnprocessableEntity, "o dinheiro que entra paga")
		person.follow(path+"/pay", "amount", "35,00", "paid_via", "pix").want(t, http.StatusOK)
		person.get(path).want(t, http.StatusOK, "Veio de novo?")
		person.get(path+"/again").want(t, http.StatusOK, "Registrar como crédito")
		person.post(path+"/again", "amount", "0").want(t, http.StatusUnprocessableEntity, "maior que zero")
		person.follow(path+"/again", "amount", "35,00", "paid_via", "pix", "note", "em dobro").want(t, http.StatusOK, "virou crédito do cliente")
		person.get(customer).want(t, http.StatusOK, "Crédito R$\u00a035,00", "em dobro")
		person.follow(customer+"/invoice", "amount", "20,00", "due", "2026-01-31").want(t, http.StatusOK, "Usar o crédito")
		open, _, err := office.Billing.List(t.Context(), person.actor, billing.Filter{
			Status: billing.Open, CustomerID: list[0].Customer.ID,
		}, input.Page{Number: 1, Size: 5})
		if err != nil || len(open) == 0 {
			t.Fatal(open, err)
		}
		person.follow(fmt.Sprintf("/invoices/%d/credit", open[0].ID)).want(t, http.StatusOK, "A fatura foi paga", "crédito do cliente")
		person.get(customer).want(t, http.StatusOK, "Crédito R$\u00a015,00")
		person.follow(fmt.Sprintf("/invoices/%d/credit", open[0].ID)).want(t, http.StatusOK, "Pago")
	})
}

func TestForecastIsShownWithItsRows(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/payments/forecast").want(t, http.StatusOK, "Nada vence nos próximos 30 dias", "Previsão")
		person.get("/payments/forecast/rows?of=planned").want(t, http.StatusOK, "Nada previsto", "Ainda não emitidas")
		person.get("/payments/forecast/rows?of=x").want(t, http.StatusUnprocessableEntity)
		person.debtors(person.fill()["plans"], 2)
		forecast, err := office.Billing.Forecast(t.Context(), person.actor)
		if err != nil || forecast.Expected().Count == 0 || forecast.Parts[billing.ForecastOverdue].Count == 0 {
			t.Fatal(forecast, err)
		}
		shown := person.get("/payments/forecast").want(t, http.StatusOK, "Previsto em 30 dias", page.FormatMoney(forecast.Expected().Amount), "acumulado dia a dia")
		for _, day := range forecast.Days {
			link := "/payments/forecast/rows?day=" + day.Date.String()
			if day.Expected.Count == 0 {
				shown.lacks(t, link)
				continue
			}
			shown.want(t, http.StatusOK, link)
			person.get(link).want(t, http.StatusOK, "Previsto para "+day.Date.BR(), page.FormatMoney(day.Expected.Amount))
		}
		overdue := forecast.Parts[billing.ForecastOverdue]
		person.get("/payments/forecast/rows?of=overdue").want(t, http.StatusOK, "Em atraso", page.FormatMoney(overdue.Amount), "/invoices/")
		person.colleague(account.RoleAttendant).get("/payments/forecast").want(t, http.StatusForbidden)
	})
}

func TestMonthForTheAccountantIsShownExportedAndClosed(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 2)
		list := person.owed(2)
		person.get("/payments/month?month=2025-11").want(t, http.StatusOK, "Nada entrou neste mês", "11/2025")
		person.get("/payments/month?month=2025-13").want(t, http.StatusUnprocessableEntity)
		pay := fmt.Sprintf("/invoices/%d/pay", list[0].ID)
		person.follow(pay, "amount", "35,00", "paid_via", "pix", "paid_at", "2025-12-30").want(t, http.StatusOK)
		person.get("/payments/month?month=2025-12").want(t, http.StatusOK, "12/2025", "R$\u00a035,00", "paid_via=pix", "Fechar o mês", "30/12/2025")
		person.get("/payments/month/rows?month=2025-12&of=received&paid_via=pix").want(t, http.StatusOK, list[0].Customer.Name, "R$\u00a035,00")
		person.get("/payments/month/rows?month=2025-12&of=refunds").want(t, http.StatusOK, "Nada neste mês")
		file := person.get("/payments/month/export?month=2025-12").want(t, http.StatusOK)
		read, err := sheet.FromWorkbook([]byte(file.body)) // of its sheets the one that looks like a list of people
		if err != nil || !strings.Contains(string(read), "30/12/2025;"+list[0].Customer.Name) || !strings.Contains(string(read), ";PIX;Mensal;35") {
			t.Errorf("the workbook has %s, %v", read, err)
		}
		person.follow("/payments/month/close", "month", "2025-12").want(t, http.StatusOK, "O mês foi fechado", "Fechado").lacks(t, "/payments/month/close")
		person.follow("/payments/month/close", "month", "2025-12").want(t, http.StatusOK, "fechados até")
		pay = fmt.Sprintf("/invoices/%d/pay", list[1].ID)
		person.post(pay, "amount", "35,00", "paid_via", "pix", "paid_at", "2025-12-30").want(t, http.StatusUnprocessableEntity, "fechados até 31/12/2025")
		person.follow(fmt.Sprintf("/customers/%d/delete", list[0].Customer.ID)).want(t, http.StatusOK) // its row stays, and leads nowhere
		person.get("/payments/month/rows?month=2025-12&of=received").want(t, http.StatusOK, list[0].Customer.Name, "R$\u00a035,00").
			lacks(t, customerPath(list[0].Customer.ID)+`"`, invoicePath(list[0].ID)+`"`)
	})
}

// What can be undone is offered for ten minutes where the deed is shown, once, and
// no longer when it was undone or its record was changed since.
func TestUndoIsOfferedWhereTheDeedIsShown(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		path, button := fmt.Sprintf("/customers/%d", ids["customers"]), `action="/undo"`
		places := []string{path, "/settings/audit", "/recent"}
		staff := person.colleague(account.RoleStaff)
		for _, place := range places {
			person.get(place).want(t, http.StatusOK).lacks(t, button)
		}
		for _, place := range places {
			person.follow(path + "/renew")
			page := person.get(place).want(t, http.StatusOK, "Cliente renovado", button)
			if offered := strings.Count(page.body, button); offered != 1 {
				t.Errorf("%s offers it %d times", place, offered)
			}
			staff.get(path).want(t, http.StatusOK).lacks(t, button, "Cliente renovado")
			staff.get("/recent").want(t, http.StatusOK, "Últimas ações").lacks(t, button, "Cliente renovado")
			person.undone(page).want(t, http.StatusOK, "Desfeito.")
			person.get(place).want(t, http.StatusOK).lacks(t, button)
		}

		staff.follow(path+"/edit", "name", "João Lima")
		staff.get(path).want(t, http.StatusOK, button, "Cliente alterado")
		person.get(path).want(t, http.StatusOK, "Cliente alterado").lacks(t, button) // it is the other's
		staff.follow(path+"/edit", "name", "João Prado")
		staff.undone(staff.get(path)).want(t, http.StatusOK, "Desfeito.")
		staff.get(path).want(t, http.StatusOK, "João Lima").lacks(t, button)

		person.follow(path + "/renew")
		person.get(path)
		office.clock.Set(noon.Add(undoTime + time.Second))
		for _, place := range places {
			person.get(place).want(t, http.StatusOK).lacks(t, button)
		}
	})
}

// Undoing a payment is not offered to be undone, and work over many says so.
func TestUndoIsOfferedForWhatComesBackWholly(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		invoice, path, button := fmt.Sprintf("/invoices/%d", ids["invoices"]), fmt.Sprintf("/customers/%d", ids["customers"]), `action="/undo"`
		person.follow(invoice+"/pay", "amount", "35,00", "via", "cash")
		person.get(path).want(t, http.StatusOK, "Fatura paga", button)
		person.follow(invoice+"/status", "status", "Em aberto")
		person.get(path).want(t, http.StatusOK, "Fatura reaberta").lacks(t, button)

		person.debtors(ids["plans"], 3)
		person.follow("/invoices/bulk", "action", "pay", "all", "1", "of", "overdue=true&search=Devedor", "back", "/invoices", "sure", "yes", "agreed", "3", "paid_via", "cash")
		log := person.get("/settings/audit").want(t, http.StatusOK, "Desfazer para todos (3)")
		person.undone(log).want(t, http.StatusOK, "Desfeito.")
		if person.overdue() != 3 {
			t.Errorf("%d are overdue after undoing", person.overdue())
		}
		person.get("/settings/audit").want(t, http.StatusOK).lacks(t, button)
	})
}
