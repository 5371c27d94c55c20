package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A company makes a reseller and sends it credits; the reseller opens its
// invitation, sets a password, signs in and sees what it has.
func TestResellerIsMadeAndSeesItsCredits(t *testing.T) {
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.begin()
	b.menu("/resellers")
	b.press("Novo revendedor")
	b.see("Criar revendedor")
	b.fill("name", "Serra Digital")
	b.fill("email", "serra@example.com")
	b.click(`input[name="type"][value="subscriber"]`)
	b.fill("periods", "2")
	b.press("Criar revendedor")
	b.see("Serra Digital: cadastro criado", "não será mostrado de novo")
	b.within("a reseller who subscribes", 4)
	link := b.text("#link")
	if !strings.HasPrefix(link, p.url+"/password/") {
		t.Fatalf("the invitation is %q", link)
	}
	b.press("Enviar créditos")
	b.fill("amount", "40")
	b.fill("note", "primeiro lote")
	b.press("Continuar")
	b.see("Enviar 40 créditos a Serra Digital?")
	b.picture(t, rules(t), "credits-confirm")
	b.press("Enviar créditos")
	b.see("Créditos enviados a Serra Digital")
	if gone := ask(b, chromedp.Evaluate[bool](`document.querySelector("#link") === null`)); !gone {
		t.Error("the invitation is shown again")
	}

	other := p.open(t) // another person's computer
	other.visit(strings.TrimPrefix(link, p.url))
	other.see("serra@example.com")
	other.picture(t, rules(t), "password-link")
	other.fill("password", "uma senha longa")
	other.do(chromedp.Click(chromedp.CSS("main form button")))
	other.see("Serra Digital")
	other.visit("/credits")
	other.see("Recebidos da empresa acima", "Demo Internet", "primeiro lote")
	if n := other.text("#balance-value"); n != "40" {
		t.Errorf("the reseller sees a balance of %s", n)
	}
	other.picture(t, rules(t), "reseller-credits")
}

// A visitor with the signup link of a plan begins a trial, and works in a panel
// of its own.
func TestSignupLinkBeginsATrial(t *testing.T) {
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.visit("/subscription-plans/1")
	link := b.text("#link")

	other := p.open(t)
	other.visit(strings.TrimPrefix(link, p.url))
	other.see("Demo Internet", "Teste grátis", "por mês")
	other.picture(t, rules(t), "signup")
	other.fill("name", "Cadastro Novo")
	other.fill("email", "cadastro@example.com")
	other.fill("password", "uma senha longa")
	other.press("Começar o teste grátis")
	other.see("Sua conta está pronta")
	other.picture(t, rules(t), "signup-done")
	other.signIn("cadastro@example.com", "uma senha longa")
	other.see("Cadastro Novo", "Para começar")

	b.visit("/resellers?search=cadastro")
	b.see("Cadastro Novo", "Em teste")
}

// A company on trial sees when it ends and what its plan lacks; when its
// maker suspends it, what it sends is not saved, and it sees the reason.
func TestCompanyIsToldWhatItMayNotDo(t *testing.T) {
	p := startDemo(t)
	other := p.open(t)
	other.signIn("fibra@example.com", "demonstracao")
	other.see("Seu teste termina em", "Fale com Demo Internet.")
	other.picture(t, rules(t), "trial-home")
	for name, path := range map[string]string{"barred-function": "/webhooks", "barred-level": "/resellers"} {
		other.visit(path)
		other.see("não inclui isto")
		other.picture(t, rules(t), name)
	}
	other.visit("/products/new")
	other.fill("name", "Fibra")

	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.visit("/resellers")
	b.write("search", "fibra") // which answers while one types
	b.do(chromedp.WaitVisible(chromedp.Search(`//tbody[count(tr) = 1]//a[contains(., "Casa da Fibra")]`)))
	b.press("Casa da Fibra")
	b.see("Assinatura")
	b.press("Suspender")
	b.see("Suspender Casa da Fibra?")
	b.picture(t, rules(t), "reseller-suspend")
	b.press("Suspender revendedor")
	b.see("Casa da Fibra está suspenso.")

	other.press("Salvar")
	other.see("Nada pode ser alterado no momento", "Sua empresa está suspensa.", "não foi salvo", "Fale com Demo Internet.")
	other.picture(t, rules(t), "barred-standing")
}

// The price of a renewal follows what is chosen, and the button does what the
// page says.
func TestRenewalFollowsTheChoice(t *testing.T) {
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.begin()
	b.menu("/resellers")
	b.click(`a[href="/resellers/2/renew"]`)
	b.see("Renovar, por 3 créditos")
	b.write("periods", "0")
	b.see("Períodos: ")
	b.write("periods", "4")
	b.see("Renovar, por 12 créditos")
	b.press("Renovar, por 12 créditos")
	b.see("Créditos gastos: 12.")
	b.within("renew a reseller", 3)
}
