package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// shows reports whether an element takes up space.
func (b *tab) shows(sel string) bool {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[bool](`document.querySelector("`+sel+`").getClientRects().length > 0`))
}

// A customer's bank is asked from the record, with what is wrong said at its field;
// the customer authorises, and the list has them.
func TestCustomersBankIsAskedAndTheListHasThem(t *testing.T) {
	axe := rules(t)
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.visit("/customers/1")
	b.picture(t, axe, "customer-autopay")
	b.press("Pedir pelo banco do cliente")
	b.see("Banco do cliente", "Número da conta")
	if b.shows("[name=ispb]") {
		t.Error("the ISPB is asked for before another bank is chosen")
	}
	b.choose("bank", "Outro banco, pelo ISPB")
	b.write("ispb", "18.23")
	b.fill("branch", "1234-5")
	b.write("account", "1234567")
	if got := b.value("[name=ispb]") + " " + b.value("[name=account]"); got != "1823 123456-7" {
		t.Errorf("the masks made %q", got)
	}
	b.press("Pedir")
	b.see("precisa ter os oito dígitos do ISPB do banco", "no máximo quatro, sem o dígito verificador")
	b.picture(t, axe, "autopay-request-wrong")
	b.choose("bank", "Nubank")
	if b.shows("[name=ispb]") {
		t.Error("the ISPB is asked for though the bank is known")
	}
	b.fill("branch", "0001")
	b.press("Pedir")
	b.see("O pedido foi enviado ao banco do cliente.", "Aguardando o cliente", "faça o papel do cliente")
	b.press("Autorizar")
	b.see("Autorizado desde")
	b.press("Quem mais tem")
	b.see("Próximo débito", "Débito que falhou", "1 cliente")
	b.picture(t, axe, "autopays-one")
}

// The payer's page offers to pay and authorise, and takes it back.
func TestPayerAuthorisesOnThePaymentPage(t *testing.T) {
	axe := readAxe(t)
	p, path := checkout(t)
	b := p.open(t)
	b.size(360, 740, false)
	b.visit(path)
	b.see("Pagar e autorizar as próximas")
	b.picture(t, axe, "checkout-authorise")
	b.press("Pagar e autorizar as próximas")
	b.see("Este código paga esta fatura e autoriza as próximas")
	b.picture(t, axe, "checkout-authorising")
	b.press("Pagar só esta fatura")
	b.see("Pagar e autorizar as próximas")
}
