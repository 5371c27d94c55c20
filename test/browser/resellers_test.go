package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A company makes a reseller and sends it credits; the reseller opens its
// invitation, sets a password, signs in and sees what it has.
func TestResellerIsMadeAndSeesItsCredits(t *testing.T) {
	p := start(t, "Sign-in", "demo")
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.visit("/resellers")
	b.press("Novo revendedor")
	b.see("Criar revendedor")
	b.fill("name", "Serra Digital")
	b.fill("email", "serra@example.com")
	b.do(chromedp.Click(chromedp.CSS(`input[name="type"][value="subscriber"]`)))
	b.fill("periods", "2")
	b.press("Criar revendedor")
	b.see("Serra Digital foi criado", "não será mostrado de novo")
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

	other := p.open(t) // somebody else's computer
	other.visit(strings.TrimPrefix(link, p.url))
	other.see("serra@example.com")
	other.fill("password", "uma senha longa")
	other.do(chromedp.Click(chromedp.CSS("main form button")))
	other.see("Entrar")
	other.signIn("serra@example.com", "uma senha longa")
	other.see("Serra Digital")
	other.visit("/credits")
	other.see("Recebidos da empresa acima", "Demo Internet", "primeiro lote")
	if n := other.text("#balance-value"); n != "40" {
		t.Errorf("the reseller sees a balance of %s", n)
	}
	other.picture(t, rules(t), "reseller-credits")
}
