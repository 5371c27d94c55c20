package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestDaysWorkTakesFewClicks(t *testing.T) {
	_, b := demo(t)
	b.daysWork()
}

// daysWork marks an invoice as paid, reminds everybody who is late, renews a page of
// customers, and finds a page.
func (b *tab) daysWork() {
	t, axe := b.t, readAxe(b.t)
	t.Helper()
	b.visit("/invoices?overdue=true")
	b.begin()
	b.click(`.list tbody tr:nth-child(1) a[href*="/pay"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #register")))
	b.picture(t, axe, "dialog-pay")
	b.click("dialog #register")
	b.see("fatura paga")
	b.within("mark one as paid", 2)
	b.click(`form[action="/undo"] button`)
	b.see("Desfeito.")
	b.within("undo it", 1)

	b.visit("/")
	b.begin()
	b.click("#remind-all")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #sure")))
	b.picture(t, axe, "dialog-remind")
	b.click("dialog #sure")
	b.see("lembretes foram enviados")
	b.within("charge all overdue", 4)
	b.picture(t, axe, "round")

	b.visit("/customers?status=Vencido")
	b.click(".list thead .pickbox")
	b.see("selecionados")
	b.picture(t, axe, "customers-picked")
	b.click(`.bulk button[value="renew"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #sure")))
	b.picture(t, axe, "dialog-renew")
	b.click("dialog #sure")
	b.see("Clientes renovados")
	b.within("renew a page of customers", 3)

	b.visit("/invoices")
	b.begin()
	b.openFinder()
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #q")), chromedp.SendKeys(chromedp.CSS("dialog #q"), "webhooks"))
	b.see("Webhooks")
	b.picture(t, axe, "dialog-search")
	b.do(chromedp.KeyEvent("\r"))
	b.see("Verificador")
	b.within("find a page from anywhere", 0)
}

func TestChargingOneTakesFewClicks(t *testing.T) {
	_, b := demo(t)
	b.visit("/")
	if text := b.text("main"); !strings.Contains(text, "faturas atrasadas") || !strings.Contains(text, "R$") {
		t.Error("the home page does not say how much is overdue")
	}
	b.begin()
	b.within("who is overdue, and how much", 0)

	b.click(`.plainlist a[href$="/charge?back=/"]`)
	b.see("Link de pagamento")
	b.wantWhatsApp(b.text("dialog #pay-link"))
	b.clicks++ // what it opens is on the internet
	b.within("charge one by WhatsApp", 2)

	b.visit("/customers?status=Vencido")
	phone := b.text(`td[data-label="WhatsApp"]`)
	name := b.text("td .name")
	b.begin()
	b.click(`.list tbody tr:nth-child(1) a[href$="/charge"]`)
	b.see("Link de pagamento")
	if ask(b, chromedp.Evaluate[bool](`document.querySelector("dialog #pix-code") === null`)) {
		b.click("dialog #make-pix")
	}
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #pix-code")))
	b.click(`dialog [data-copy="#pix-code"]`)
	b.see("Copiado")
	b.within("PIX code to paste", 3)

	b.visit("/")
	b.begin()
	b.click(`a[href*="/received"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #register")))
	b.click("dialog #register")
	b.see("fatura paga", "Desfazer")
	b.within("mark one as received", 2)
	b.click(`form[action="/undo"] button`)
	b.see("Desfeito.")
	b.within("undo it", 1)

	b.begin()
	b.openFinder()
	digits := phone[len(phone)-4:]
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #q")), chromedp.SendKeys(chromedp.CSS("dialog #q"), digits))
	b.do(chromedp.Poll[chromedp.Void](fmt.Sprintf(`document.querySelector("dialog #found[data-of='%s']")?.innerText.includes(%q)`, digits, name)))
	b.within("find by a piece of the phone", 0)

	b.visit("/customers?status=Vencido")
	b.begin()
	b.do(chromedp.WaitVisible(chromedp.CSS(`a[href^="/customers/export?status="]`)))
	b.clicks++ // the file itself is tested elsewhere
	b.within("export", 1)
}

// openFinder presses Ctrl-K.
func (b *tab) openFinder() {
	b.t.Helper()
	b.settle()
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)), chromedp.WaitVisible(chromedp.CSS("dialog #q")))
}
