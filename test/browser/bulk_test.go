package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// clicks counts what a person does with the mouse.
type clicks struct {
	*tab
	count int
}

func (c *clicks) click(sel string) {
	c.t.Helper()
	c.count++
	css := chromedp.CSS(sel)
	c.do(chromedp.WaitVisible(css), chromedp.Click(css, chromedp.NodeVisible))
}

// within fails when a journey took more clicks than it may, and prints how many
// it took.
func (c *clicks) within(journey string, most int) {
	c.t.Helper()
	c.t.Logf("%s: %d clicks", journey, c.count)
	if c.count > most {
		c.t.Errorf("%s takes %d clicks, not %d", journey, c.count, most)
	}
	c.count = 0
}

func TestDaysWorkTakesFewClicks(t *testing.T) {
	axe := readAxe(t)
	if err := os.MkdirAll(screens, 0o755); err != nil {
		t.Fatal(err)
	}
	b := start(t, "Sign-in", "demo").open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	person := &clicks{tab: b}

	b.visit("/invoices?overdue=true")
	person.click(`.list tbody tr:nth-child(1) a[href*="/pay"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #register")))
	b.picture(t, axe, "dialog-pay")
	person.click("dialog #register")
	b.see("fatura paga")
	person.within("mark one as paid", 2)
	person.click(`form[action="/undo"] button`)
	b.see("Desfeito.")
	person.within("undo it", 1)

	b.visit("/")
	person.click("#remind-all")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #sure")))
	b.picture(t, axe, "dialog-remind")
	person.click("dialog #sure")
	b.see("lembretes foram enviados")
	person.within("charge all overdue", 4)
	b.picture(t, axe, "round")

	b.visit("/customers?status=Vencido")
	person.click(".list thead .pickbox")
	b.see("selecionados")
	b.picture(t, axe, "customers-picked")
	person.click(`.bulk button[value="renew"]`)
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #sure")))
	b.picture(t, axe, "dialog-renew")
	person.click("dialog #sure")
	b.see("Clientes renovados")
	person.within("renew a page of customers", 3)

	b.visit("/invoices")
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #q")), chromedp.SendKeys(chromedp.CSS("dialog #q"), "webhooks"))
	b.see("Webhooks")
	b.picture(t, axe, "dialog-search")
	b.do(chromedp.KeyEvent("\r"))
	b.see("Verificador")
}
