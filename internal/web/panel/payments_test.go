package panel

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/payment/asaas"
	"carteira/internal/payment/bacen"
	"carteira/internal/payment/mercadopago"
	"carteira/internal/payment/pixkey"
	"carteira/internal/payment/sandbox"
	"carteira/internal/payment/woovi"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// debtor makes a customer who owes 35,00, and returns the invoice.
func (p *person) debtor(name, phone string) billing.Invoice {
	p.t.Helper()
	plan, err := p.Catalog.CreatePlan(p.t.Context(), p.actor, catalog.ReadNewPlan(values("name", "Plano de "+name, "value", "35.00", "period", "1month")))
	if err != nil {
		p.t.Fatal(err)
	}
	record, err := p.Customers.Create(p.t.Context(), p.actor, customer.ReadNew(values("name", name, "whatsapp", phone, "plan_id", fmt.Sprint(plan.ID), "data_de_vencimento", "2026-01-31")))
	if err != nil {
		p.t.Fatal(err)
	}
	invoice, found, err := p.Billing.Owed(p.t.Context(), p.actor, record.ID)
	if err != nil || !found {
		p.t.Fatalf("%v, %v", found, err)
	}
	return invoice
}

func TestGatewayIsSetUpInThePanel(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/payments").want(t, http.StatusOK, "Receba dos clientes por PIX", `href="/payments/gateway"`)
		person.get("/payments/gateway").want(t, http.StatusOK, "Escolha como os clientes pagam", "Banco &amp; Cia", "Chave PIX própria")
		person.get("/payments/gateways/paypal").want(t, http.StatusNotFound)

		form := "/payments/gateways/bank"
		person.post(form, "token", "", "environment", "moon").want(t, http.StatusUnprocessableEntity, "deve ser um destes")
		person.post(form, "token", " ", "webhook_secret", "hidden-from-all").want(t, http.StatusUnprocessableEntity, "é exigido por Banco &amp; Cia", "digite-os mais uma vez").
			lacks(t, "hidden-from-all")
		office.bank.broken = &payment.Refusal{Reason: "wrong token"}
		person.follow(form, "token", "s3cret-token-of-the-company", "webhook_secret", "another-secret-of-it", "certificate", "-----BEGIN\nsealed text", "environment", "sandbox").
			want(t, http.StatusOK, "Banco &amp; Cia recusou: wrong token", "Com problema", "…pany", "Sandbox do provedor").
			lacks(t, "s3cret-token", "another-secret", "sealed text")
		office.bank.broken = nil
		person.follow("/payments/gateway/check").want(t, http.StatusOK, "as credenciais funcionam", "Em uso").lacks(t, "wrong token")

		person.get(form).want(t, http.StatusOK, "Definido (…pany). Deixe vazio para manter.", `type="password"`, "Salvar e verificar").lacks(t, "s3cret-token", "sealed text")
		person.follow(form, "token", "", "webhook_secret", "", "certificate", "", "environment", "").want(t, http.StatusOK, "está em uso", "…pany", "Assinatura secreta").
			lacks(t, "Sandbox do provedor")
		person.follow(form, "token", "", "webhook_secret", "", "forget_webhook_secret", "true").want(t, http.StatusOK, "…pany").lacks(t, "Assinatura secreta")
		person.get("/settings/audit").want(t, http.StatusOK, "Gateway configurado").lacks(t, "s3cret-token")
	})
}

func TestGatewayIsLeftWithAWarning(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.follow("/payments/gateway/clear").want(t, http.StatusOK, "nenhum gateway de pagamento está configurado")
		person.useBank()
		person.get("/payments/gateways/pixkey").want(t, http.StatusOK, "Você está deixando Banco &amp; Cia", "Nenhuma cobrança espera pagamento lá")
		if _, err := person.Payments.Charge(t.Context(), person.actor, person.debtor("Bia", "").ID, ""); err != nil {
			t.Fatal(err)
		}
		person.get("/payments/gateway").want(t, http.StatusOK, "1 cobrança pode ser paga neste momento: R$\u00a035,00")
		person.get("/payments/gateways/bank").want(t, http.StatusOK, "Elas são consultadas com estas credenciais")
		person.get("/payments/gateways/pixkey").want(t, http.StatusOK, "1 cobranças (R$\u00a035,00) ainda podem ser pagas")
		person.get("/payments/gateway/clear").want(t, http.StatusOK, "Deixar de usar Banco &amp; Cia?", "1 cobranças (R$ 35,00) ainda podem ser pagas", `id="ask"`)

		person.post("/payments/gateways/pixkey", "key", "12345678909x", "name", "Ana & Filhas", "city", "").
			want(t, http.StatusUnprocessableEntity, "é exigido por", `value="Ana &amp; Filhas"`)
		person.post("/payments/gateways/pixkey", "key", "11987654374", "name", "Ana", "city", "Recife").
			want(t, http.StatusUnprocessableEntity, "pode ser um CPF ou um telefone", `value="11987654374"`)
		person.follow("/payments/gateways/pixkey", "key", "ana@example.com", "name", "Ana & Filhas da Conceição", "city", "Recife").
			want(t, http.StatusOK, "Chave PIX própria está em uso.", "confirma cada pagamento aqui",
				"Ana &amp; Filhas da Conceição (os bancos mostram: Ana Filhas da Conceicao)", "Recife<")
		person.follow("/payments/gateway/clear").want(t, http.StatusOK, "A empresa está sem gateway", "Escolha como os clientes pagam")
	})
}

func TestFailingGatewayIsTold(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.useBank()
		office.bank.broken = errors.New("wires were cut")
		person.follow("/payments/gateway/check").want(t, http.StatusOK, "Banco &amp; Cia não está funcionando no momento", "Falhas seguidas: 1").lacks(t, "wires were cut")
		person.get("/").want(t, http.StatusOK).lacks(t, "está falhando")
		for range 4 {
			person.post("/payments/gateway/check")
		}
		person.get("/payments/gateway").want(t, http.StatusOK, "Em pausa", "Falhou 5 vezes seguidas e fica em pausa até 09:00:10")
		person.get("/").want(t, http.StatusOK, "Banco &amp; Cia está falhando", "não está funcionando no momento", `href="/payments/gateway"`)
		person.colleague(account.RoleStaff).get("/").want(t, http.StatusOK, "está falhando").lacks(t, `href="/payments/gateway"`)
		person.colleague(account.RoleReadOnly).get("/").want(t, http.StatusOK).lacks(t, "está falhando")
		invoice := person.debtor("Bia", "")
		person.follow(fmt.Sprintf("/invoices/%d/pix", invoice.ID)).want(t, http.StatusOK, "não está funcionando no momento", "Gerar código PIX")
	})
}

var waLink = regexp.MustCompile(`href="(https://wa\.me/[^"]+)"`)

func TestInvoiceIsChargedAndPaid(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia <Lima>", "(11) 98765-4321")
		path, owes := fmt.Sprintf("/invoices/%d", invoice.ID), fmt.Sprintf("/customers/%d", invoice.Customer.ID)
		person.get(owes+"/charge").want(t, http.StatusOK, "Ainda não há gateway de pagamento", "Escolher um gateway")
		person.colleague(account.RoleStaff).get(owes+"/charge").want(t, http.StatusOK, "Um dono da empresa pode escolher").lacks(t, `href="/payments/gateway"`)
		person.useBank()

		person.get("/customers").want(t, http.StatusOK, `data-ask href="`+owes+`/charge"`)
		for _, from := range []string{"/", owes} { // the payment that the dialog leads to comes back here
			person.get(from).want(t, http.StatusOK, `data-ask href="`+owes+`/charge?back=`+from+`"`)
			back := "?back=" + url.QueryEscape(from)
			person.get(owes+"/charge?back="+from).want(t, http.StatusOK, `href="`+path+`/pay`+strings.ToLower(back)+`"`,
				`data-cancel href="`+from+`"`, `name="back" value="`+path+`/charge`+back+`"`)
			person.get(path+"/pay"+back).want(t, http.StatusOK, `name="back" value="`+from+`"`)
		}
		person.get(owes+"/charge?back=//elsewhere").want(t, http.StatusOK, `data-cancel href="/"`, `/pay?back=%2f"`)
		person.get("/invoices").want(t, http.StatusOK, `data-ask href="`+path+`/charge"`)
		asked := person.get(owes+"/charge").want(t, http.StatusOK, `id="ask"`, "Cobrar Bia &lt;Lima&gt;", "https://carteira.example/pay/", `rel="noopener noreferrer"`)
		found := waLink.FindStringSubmatch(asked.body)
		if found == nil || !strings.HasPrefix(found[1], "https://wa.me/5511987654321?text=Ol%C3%A1%2C%20Bia%21%20Sua%20fatura%20de%20R%24%2035%2C00%20vence%20em%2031%2F01%2F2026") ||
			!strings.Contains(found[1], "%3A%20https%3A%2F%2Fcarteira.example%2Fpay%2F") || strings.Contains(found[1], "+") {
			t.Errorf("WhatsApp is %q", found)
		}
		person.get(path).want(t, http.StatusOK, "Gerar código PIX").lacks(t, `id="pix-code"`)
		made := person.follow(path+"/pix").want(t, http.StatusOK, `<svg class="qr"`, "pix&lt;code&gt;", "Válido até 01/02/2026 09:00", "Pode ser paga", "Banco &amp; Cia")
		made.lacks(t, "Gerar código PIX", "Confirmar o PIX")
		if again := person.follow(path + "/pix"); strings.Count(again.body, "Pode ser paga") != 1 {
			t.Error("a second charge was made")
		}

		person.pay(invoice.ID, 0)
		person.get(path).want(t, http.StatusOK, "Pago", "Banco &amp; Cia", "Paga pelo cliente", "Pagou a fatura").
			lacks(t, `id="pay-link"`, `id="pix-code"`, "E2E", "<dt>Já pago", "<dt>Recebido")
		person.get("/payments").want(t, http.StatusOK, "Bia &lt;Lima&gt;", "Pagou a fatura", "31/01/2026 09:00")
		if answer := person.get(path + "/charge"); answer.status != http.StatusSeeOther || answer.location != path {
			t.Errorf("what is paid leads to %d %q", answer.status, answer.location)
		}
		person.follow(path+"/pix").want(t, http.StatusOK, "está como Pago; só uma fatura Em aberto pode ser paga")
		for next, found, err := office.Billing.Owed(t.Context(), person.actor, invoice.Customer.ID); found || err != nil; next, found, err = office.Billing.Owed(t.Context(), person.actor, invoice.Customer.ID) {
			if err != nil {
				t.Fatal(err)
			}
			person.post(fmt.Sprintf("/invoices/%d/status", next.ID), "status", "Cancelado")
		}
		person.get(owes+"/charge").want(t, http.StatusOK, "não deve nada", `id="ask"`, owes+"/invoice")
	})
}

func TestMessageOfAnOverdueInvoice(t *testing.T) {
	invoice := billing.Invoice{Amount: 9000} // and the late fee
	record := customer.Customer{Name: "Ana Lima"}
	link := payment.Link{URL: "https://x/pay/y", Amount: 9990}
	server := &Server{Panel: new(kit.Panel)}
	if got := server.chargeText(invoice, record, link, true); got != "Olá, Ana! Sua fatura de R$ 99,90 venceu em . Você pode pagar por aqui: https://x/pay/y" {
		t.Error(got)
	}
}

func TestPagesShowWhatIsToPayAndWhy(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.useBank()
		invoice := person.debtor("Bia", "(11) 98765-4321") // 35.00, due today
		path := fmt.Sprintf("/invoices/%d", invoice.ID)
		person.get(path).want(t, http.StatusOK).lacks(t, "A pagar hoje", "Multa", "Desconto")
		person.follow("/settings", "late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")
		person.get(path).want(t, http.StatusOK, "A pagar hoje", "−R$\u00a01,75", "R$\u00a033,25")
		for _, list := range []string{"/invoices", fmt.Sprintf("/customers/%d", invoice.Customer.ID)} {
			person.get(list).want(t, http.StatusOK, "R$\u00a035,00", "R$\u00a033,25 a pagar hoje")
		}
		asked := person.get(path+"/charge").want(t, http.StatusOK, "<strong>R$\u00a033,25</strong>")
		if found := waLink.FindStringSubmatch(asked.body); found == nil || !strings.Contains(found[1], "fatura%20de%20R%24%2033%2C25") {
			t.Errorf("WhatsApp is %q", found)
		}
		person.post(path+"/status", "status", "Pago", "amount", "20,00", "difference", "partial")
		person.get(path).want(t, http.StatusOK, "Já pago", "R$\u00a013,25", "Parte da fatura")
		person.post(path+"/status", "status", "Pago")
		person.get(path).want(t, http.StatusOK, "−R$\u00a01,75", "R$\u00a033,25").lacks(t, "A pagar hoje")
	})
}

func TestPixToTheOwnKeyIsConfirmedByHand(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.follow("/payments/gateways/pixkey", "key", "ana@example.com", "name", "Ana", "city", "Recife")
		invoice := person.debtor("Bia", "")
		path := fmt.Sprintf("/invoices/%d", invoice.ID)
		person.get(path).want(t, http.StatusOK, "não tem número de WhatsApp").lacks(t, "br.gov.bcb.pix")
		person.follow(path+"/pix").want(t, http.StatusOK, "Registrar pagamento", "br.gov.bcb.pix", "ana@example.com")
		person.post(path+"/pay", "amount", "34,99", "payment_id", "E99").want(t, http.StatusUnprocessableEntity, "o resto ainda virá ou se é desconto", `value="34,99"`, `value="E99"`)
		person.get(path+"/pay").want(t, http.StatusOK, `value="35,00"`, `value="pix" selected`)
		person.post(path+"/pay", "amount", "x").want(t, http.StatusUnprocessableEntity, "aria-invalid")
		for day, reason := range map[string]string{"2026-02-01": "futuro", "1999-12-31": "antes de 01/01/2000"} {
			person.post(path+"/pay", "amount", "35,00", "payment_id", "E99", "paid_at", day).want(t, http.StatusUnprocessableEntity, reason)
			person.post(path+"/pay", "amount", "35,00", "paid_at", day).want(t, http.StatusUnprocessableEntity, reason)
		}
		person.follow(path+"/pay", "amount", "35,00", "payment_id", "E99", "paid_at", "2026-01-29").
			want(t, http.StatusOK, "Bia: fatura paga e cliente renovado.", "Desfazer", "confirmado por Ana", "Chave PIX própria")
		person.get("/payments").want(t, http.StatusOK, "E99")
		if got := person.received("2026-01-29"); got != 3500 { // the day that was typed
			t.Errorf("29 January has %s", got)
		}
		person.get("/settings/audit").want(t, http.StatusOK, "Pagamento confirmado")
	})
}

func TestPersonDecidesInThePanel(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/payments/reviews").want(t, http.StatusOK, "Nada para decidir")
		person.get("/payments/reviews?state=resolved").want(t, http.StatusOK, "Nada foi decidido ainda")
		person.useBank()
		first, second := person.debtor("Bia", ""), person.debtor("Caio", "")
		person.pay(first.ID, 3000)
		person.get("/").want(t, http.StatusOK, "Um pagamento precisa da sua decisão", `href="/payments/reviews"`)
		person.pay(second.ID, 4000)
		person.get("/").want(t, http.StatusOK, "2 pagamentos precisam da sua decisão")
		person.colleague(account.RoleReadOnly).get("/").want(t, http.StatusOK).lacks(t, "precisam da sua decisão")
		person.get("/payments/reviews").want(t, http.StatusOK, "Bia", "Caio", "Valor diferente", "R$\u00a030,00")
		person.get("/payments").want(t, http.StatusOK, "Para revisar")
		list, _, err := office.Payments.List(t.Context(), person.actor, billing.PaymentFilter{}, input.Page{Number: 1, Size: 10})
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		caio, bia := fmt.Sprintf("/payments/reviews/%d", list[0].ReviewID), fmt.Sprintf("/payments/reviews/%d", list[1].ReviewID)
		person.get(bia).want(t, http.StatusOK, "O que chegou não é o valor da fatura.", "R$\u00a030,00", "R$\u00a035,00", "Aplicar à fatura", "Dispensar")
		person.colleague(account.RoleStaff).get(bia).want(t, http.StatusOK, "Aplicar à fatura")
		person.post(bia, "note", "keep <this>").want(t, http.StatusUnprocessableEntity, "keep &lt;this&gt;", "é obrigatório")
		person.post(fmt.Sprintf("/invoices/%d/status", second.ID), "status", "Cancelado")
		person.post(caio, "resolution", "applied", "note", "keep <this>").want(t, http.StatusUnprocessableEntity, "a fatura está como Cancelado", "keep &lt;this&gt;")
		person.follow(caio, "resolution", "dismissed", "note", "devolvido").want(t, http.StatusOK, "O pagamento foi dispensado.").lacks(t, "Caio")
		person.post(bia, "resolution", "applied").want(t, http.StatusUnprocessableEntity, "é menos que os")
		person.follow(bia, "resolution", "applied", "difference", "discount").want(t, http.StatusOK, "a fatura está paga", "Nada para decidir")
		person.get("/payments/reviews?state=resolved").want(t, http.StatusOK, "Aplicado à fatura", "Dispensado", "Ana · 31/01/2026 09:00")
		person.get(caio).want(t, http.StatusOK, "devolvido", "Dispensado").lacks(t, "Aplicar à fatura")
		person.post(caio, "resolution", "applied").want(t, http.StatusUnprocessableEntity, "este pagamento já foi")
		person.get(fmt.Sprintf("/invoices/%d", first.ID)).want(t, http.StatusOK, "Pago", "Pagou a fatura")
		person.get("/").want(t, http.StatusOK).lacks(t, "precisa da sua decisão")
		person.get("/payments").want(t, http.StatusOK).lacks(t, "Caio")
		person.get("/payments?status=dismissed").want(t, http.StatusOK, "Não usado", "Caio")
	})
}

func TestReceivedPaymentsGoBack(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.useBank()
		invoice := person.debtor("Bia", "")
		for n := range 3 {
			extra, err := office.Billing.CreateExtra(t.Context(), person.actor, invoice.Customer.ID, billing.ReadExtra(values("amount", fmt.Sprintf("%d.00", n+1), "due", "2026-01-31")))
			if err != nil {
				t.Fatal(err)
			}
			person.pay(extra.ID, money.Cents(0))
		}
		newest := person.get("/payments?per_page=2").want(t, http.StatusOK, "R$\u00a03,00", "R$\u00a02,00", "Próxima", "3 pagamentos · R$ 6,00")
		newest.lacks(t, "R$\u00a01,00", "Anterior")
		person.get("/payments?per_page=2&page=2").want(t, http.StatusOK, "R$\u00a01,00", "Anterior").lacks(t, "R$\u00a03,00", "Próxima")
	})
}

func TestPaymentsNeedTheFunction(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		office.exec(t, `UPDATE companies SET functions = ',api,' WHERE id = ?`, person.actor.Company.ID)
		count := 0
		for _, route := range office.table() {
			if route.Function != payments {
				continue
			}
			count++
			answer := person.get(filled(route, ids))
			if route.Method == http.MethodPost {
				answer = person.post(filled(route, ids), forms[route.Pattern()]...)
			}
			if answer.status != http.StatusForbidden {
				t.Errorf("%s answered %d", route.Pattern(), answer.status)
			}
		}
		if count != 26 {
			t.Errorf("%d routes need payments", count)
		}
		for _, path := range []string{"/", "/customers", fmt.Sprintf("/customers/%d", ids["customers"]), "/invoices", fmt.Sprintf("/invoices/%d", ids["invoices"])} {
			person.get(path).want(t, http.StatusOK).lacks(t, "/charge", "/pix", "precisa da sua decisão", "Link de pagamento")
		}
	})
}

func TestTextsOfPaymentsHavePortuguese(t *testing.T) {
	var texts []string
	for _, reason := range payment.Reasons {
		text, known := reviewTexts[reason]
		if !known {
			t.Errorf("no text for %s", reason)
		}
		texts = append(texts, text.short, text.why, text.advice)
	}
	for _, text := range resolutionTexts {
		texts = append(texts, text)
	}
	for _, state := range attemptTexts {
		texts = append(texts, state.text)
	}
	for _, text := range optionWords {
		texts = append(texts, text)
	}
	for _, provider := range []payment.Provider{
		pixkey.Provider(), mercadopago.Provider(), mercadopago.CheckoutProvider(), asaas.Provider(), asaas.CheckoutProvider(), woovi.Provider(), bacen.EfiProvider(bacen.Settings{}), bacen.Provider(bacen.Settings{}), (&sandbox.Sandbox{}).Provider(),
	} {
		about, known := providerTexts[provider.Name]
		if !known {
			t.Errorf("no text for %s", provider.Name)
		}
		texts = append(append(texts, about.About, about.Confirms, about.Callback), about.Needs...)
		for _, option := range provider.Options {
			texts = append(texts, option.Help)
			for _, choice := range option.Choices {
				if optionWords[choice] == "" {
					t.Errorf("%s: no text for the choice %s", provider.Name, choice)
				}
			}
		}
	}
	for _, text := range texts {
		if text != "" && !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%s | ", text)
		}
	}
}

// A webhook of another system stays until a person who has read its address
// decides otherwise.
func TestWebhookOfAnotherSystemIsAskedAbout(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		person := o.owner(t, "ana@example.com")
		o.bank.webhook = "https://erp.example.com/pix"
		asked := person.post("/payments/gateways/bank", "token", "right")
		asked.want(t, http.StatusOK, "Substituir o webhook da chave PIX?", "esta chama: https://erp.example.com/pix", `name="webhook" value="https://erp.example.com/pix"`)
		person.get("/payments/gateway").want(t, http.StatusOK, "o webhook da chave PIX chama outro sistema: https://erp.example.com/pix")
		person.post("/payments/gateway/webhook", "webhook", "https://old.example.com").want(t, http.StatusOK, "Substituir o webhook da chave PIX?")
		if o.bank.webhook == "" {
			t.Error("it was replaced without being agreed on")
		}
		person.follow("/payments/gateway/webhook", "webhook", "https://erp.example.com/pix").want(t, http.StatusOK, "O webhook foi substituído").lacks(t, "chama outro sistema")
		person.follow("/payments/gateway/check").want(t, http.StatusOK, "as credenciais funcionam")
	})
}

func TestWhoIsNamed(t *testing.T) {
	names := map[string]string{"user:3": "Ana Lima"}
	for by, want := range map[string]string{
		"user:3": "Ana Lima", "user:4": "um usuário que foi removido", "token:7": "um token que foi excluído",
		"user 3 Ana Lima": "Ana Lima", "user 3": "usuário 3", "token 7": "token 7", // of the first edition
		account.CommandLine: "linha de comando", "": "",
	} {
		if got := kit.ActorText(page.Portuguese, names, by); got != want {
			t.Errorf("%q is %q, want %q", by, got, want)
		}
	}
}

func TestGatewayThatFailsItsCheckReplacesNone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.follow("/payments/gateways/pixkey", "key", "ana@example.com", "name", "Ana", "city", "Recife")
		office.bank.broken = &payment.Refusal{Reason: "the token is not one of theirs"}
		person.post("/payments/gateways/bank", "token", "wrong").want(t, http.StatusBadGateway, "nada foi alterado", "Salvar mesmo assim")
		person.get("/payments/gateway").want(t, http.StatusOK, "ana@example.com")
		if setup, err := office.Payments.Gateway(t.Context(), person.actor); err != nil || setup.Provider.Name != "pixkey" {
			t.Errorf("%s is in use, %v", setup.Provider.Name, err)
		}
		person.post("/payments/gateways/bank", "token", "").want(t, http.StatusUnprocessableEntity)
		person.follow("/payments/gateways/bank", "token", "wrong", "anyway", "true")
		if setup, err := office.Payments.Gateway(t.Context(), person.actor); err != nil || setup.Provider.Name != "bank" {
			t.Errorf("%s is in use, %v", setup.Provider.Name, err)
		}
		office.bank.broken = nil
		person.follow("/payments/gateways/bank", "token", "right").want(t, http.StatusOK, "as credenciais funcionam")
	})
}
