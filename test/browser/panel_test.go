package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// demo starts a demo, makes the folder of pictures, and signs its owner in.
func demo(t *testing.T) (*program, *tab) {
	t.Helper()
	if err := os.MkdirAll(screens, 0o755); err != nil {
		t.Fatal(err)
	}
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	return p, b
}

// A company gives itself a colour, opens a customer's page, and takes it back. The
// customer pays and opts out there.
func TestCustomerHasAPageOfTheirOwn(t *testing.T) {
	axe := readAxe(t)
	p, owner := demo(t)
	owner.visit("/settings")
	owner.set("color", "#7a1fa2")
	owner.fill("whatsapp", "11987654321")
	owner.press("Salvar")
	owner.see("As configurações foram salvas")
	owner.picture(t, axe, "settings-brand")
	owner.visit("/customers?status=Vencido")
	owner.do(chromedp.Click(chromedp.CSS(".list tbody tr:nth-child(1) a.name"), chromedp.NodeVisible))
	owner.see("Página do cliente")
	owner.press("Criar o link")
	owner.see("O link está pronto para ser enviado.")
	owner.picture(t, axe, "customer-own-page")
	record := ask(owner, chromedp.Evaluate[string](`location.pathname`))

	customer := p.open(t)
	path := owner.value("#own-url")
	path = path[strings.Index(path, "/my/"):]
	customer.visit(path)
	customer.see("Olá", "Para pagar", "Demo Internet")
	customer.picture(t, axe, "own")
	customer.press("Pagar")
	customer.see("Copiar código PIX")
	customer.picture(t, axe, "pay-brand")
	if color := ask(customer, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("[data-copy]")).backgroundColor`)); color != "rgb(122, 31, 162)" {
		t.Errorf("the button is %s", color)
	}
	customer.press("Simular o pagamento")
	customer.see("Pagamento recebido")
	customer.visit(path)
	customer.press("Recibo")
	customer.see("recebeu de")
	customer.picture(t, axe, "own-receipt")
	customer.visit(path)
	customer.press("Não receber mais mensagens")
	customer.see("Você não receberá mais mensagens.")

	owner.visit(record)
	owner.see("Este cliente não quer mensagens")
	owner.press("Cancelar o link")
	owner.see("para de funcionar na hora")
	owner.do(chromedp.Click(chromedp.CSS("dialog form button.btn"), chromedp.NodeVisible))
	owner.see("O link foi cancelado.")
	customer.visit(path)
	customer.see("Este link está incompleto ou não existe mais")
	customer.picture(t, axe, "own-gone")
}

// An owner invites an attendant, who works with customers and sees no totals.
func TestAttendantWorksWithoutTotals(t *testing.T) {
	p, owner := demo(t)
	p.attendant(owner)
}

// attendant has an owner invite an attendant, who registers a payment.
func (p *program) attendant(owner *tab) {
	t := owner.t
	t.Helper()
	axe := readAxe(t)
	owner.visit("/settings/users/new")
	owner.fill("name", "Rui")
	owner.fill("email", "rui@example.com")
	owner.set("role", "attendant")
	owner.press("Salvar")
	owner.see("/password/")
	link := owner.text(".secret code")

	rui := p.open(t)
	rui.visit(link[strings.Index(link, "/password/"):])
	rui.fill("password", "um cavalo azul")
	rui.press("Salvar a senha")
	rui.see("A senha foi definida", "Para fazer hoje")
	rui.picture(t, axe, "home-attendant")
	if text := rui.text("body"); strings.Contains(text, "Recebido no mês") || strings.Contains(text, "Receita") {
		t.Error("an attendant sees what the company earns")
	}
	rui.visit("/payments")
	rui.see("ua permissão não inclui isto")
	rui.picture(t, axe, "forbidden")
	rui.visit("/invoices?overdue=true")
	rui.do(chromedp.Click(chromedp.CSS(`.list tbody tr:nth-child(1) a[href*="/pay"]`), chromedp.NodeVisible))
	rui.do(chromedp.WaitVisible(chromedp.CSS("dialog #register")), chromedp.Click(chromedp.CSS("dialog #register")))
	rui.see("fatura paga")

	owner.visit("/credits")
	owner.press("Criar créditos")
	owner.do(chromedp.WaitVisible(chromedp.CSS("dialog [name=amount]")), chromedp.SendKeys(chromedp.CSS("dialog [name=amount]"), "25"))
	owner.picture(t, axe, "dialog-grant")
	owner.do(chromedp.Click(chromedp.CSS("dialog form button.btn"), chromedp.NodeVisible))
	owner.see("Os créditos foram criados.")
	owner.picture(t, axe, "credits-granted")
}

// A list is filtered by chips, a record of it is opened, and back leads to the
// same place.
func TestListsLeadBackToTheSamePlace(t *testing.T) {
	axe := readAxe(t)
	_, owner := demo(t)
	owner.visit("/payments")
	owner.press("Este mês")
	owner.do(chromedp.WaitReady(chromedp.CSS(`.pill[aria-current][href*="from"]`)))
	owner.picture(t, axe, "payments-month")
	list := ask(owner, chromedp.Evaluate[string](`location.pathname + location.search`))
	owner.do(chromedp.Click(chromedp.CSS(".list tbody tr:nth-child(1) a.name"), chromedp.NodeVisible))
	owner.see("← Pagamentos")
	owner.click(`a[rel=next]`)
	owner.do(chromedp.WaitVisible(chromedp.CSS(`a[rel=prev]`)))
	owner.press("← Pagamentos")
	owner.see("Pagou uma fatura")
	if back := ask(owner, chromedp.Evaluate[string](`location.pathname + location.search`)); back != list {
		t.Errorf("back leads to %s, not %s", back, list)
	}
	owner.visit("/messages/log")
	owner.do(chromedp.Click(chromedp.CSS(".list tbody tr:nth-child(1) a.name"), chromedp.NodeVisible))
	owner.see("Mensagem para")
	for name, path := range map[string]string{"resellers-chips": "/resellers", "credits-chips": "/credits", "audit-chips": "/settings/audit"} {
		owner.visit(path)
		owner.press("Este mês")
		owner.do(chromedp.WaitReady(chromedp.CSS(`.pill[aria-current][href*="from"], .pill[aria-current][href*="due_from"]`)))
		owner.picture(t, axe, name)
	}
}

// What is typed is written as people write it, the cursor goes to what is wrong,
// and what was done is said at the foot of the window.
func TestFormsHelp(t *testing.T) {
	axe := readAxe(t)
	_, owner := demo(t)
	owner.visit("/customers/new")
	owner.click("main details.fold > summary")
	for typed, want := range map[string]string{"035999991234": "(35) 99999-1234", "99999-1234": "99999-1234", "3532221234": "(35) 3222-1234"} {
		owner.write("whatsapp", typed)
		if got := owner.value("[name=whatsapp]"); got != want {
			t.Errorf("%s is written %q, want %q", typed, got, want)
		}
	}
	owner.write("whatsapp", "11987654321")
	owner.write("cpf_cnpj", "52998224725")
	owner.write("address.cep", "01310100")
	owner.write("price", "1234,5")
	owner.fill("email", "x")
	for field, want := range map[string]string{"whatsapp": "(11) 98765-4321", "cpf_cnpj": "529.982.247-25", "address.cep": "01310-100", "price": "1.234,50"} {
		if got := owner.value(`[name="` + field + `"]`); got != want {
			t.Errorf("%s is written %q, want %q", field, got, want)
		}
	}
	owner.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("main form").noValidate = true; 0`))
	owner.fill("name", "Zilda")
	owner.press("Salvar")
	owner.see("Nada foi salvo")
	if at := ask(owner, chromedp.Evaluate[string](`document.activeElement.name`)); at != "email" {
		t.Errorf("the cursor is at %q", at)
	}
	owner.picture(t, axe, "customer-wrong")
	owner.fill("email", "zilda@example.com")
	owner.press("Salvar")
	owner.see("Zilda: cadastro criad")
	if position := ask(owner, chromedp.Evaluate[string](`getComputedStyle(document.querySelector(".flash.toast")).position`)); position != "fixed" {
		t.Errorf("what was done is said %s", position)
	}
	owner.press("×")
	owner.do(chromedp.WaitNotPresent(chromedp.CSS(".flash.toast")))
	owner.visit(ask(owner, chromedp.Evaluate[string](`location.pathname`)) + "/edit")
	owner.fill("notes", "Prefere WhatsApp")
	owner.press("Salvar")
	owner.see("Zilda: alterações salvas", "Desfazer")
	owner.picture(t, axe, "toast")
}
