package browser

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// queued is how many are charged one by one: the review had 198, and each is the same.
var queued = flag.Int("queued", 6, "how many late ones the journey of the queue charges")

// Without a channel all who are late are charged from one's own WhatsApp: one click a
// person, and who comes back goes on where they were.
func TestLateOnesAreChargedFromOnesOwnWhatsApp(t *testing.T) {
	p, b := newCompany(t)
	late := *queued
	half := late/2 + 1
	p.command("import", "customers", manyLate(t, late), "--company", "1", "--invoices")
	p.command("gateway", "set", "--company", "1", "--provider", "sandbox")
	b.visit("/")
	b.see("Seus clientes não abrem os links")
	b.begin()
	b.click("#remind-all")
	b.see("Cobrar pelo meu WhatsApp", fmt.Sprintf("1/%d", late), "Enviar e ir ao próximo", "Recebi")
	b.within("queue: from the home page", 1)
	b.picture(t, rules(t), "queue")
	for n := 2; n <= half; n++ {
		b.sendNext(fmt.Sprintf("%d/%d", n, late))
	}
	b.within(fmt.Sprintf("queue: %d persons", half-1), half-1)
	b.visit("/customers") // one is called away, and comes back
	b.visit("/queue")
	b.see(fmt.Sprintf("%d/%d", half, late))
	b.begin()
	b.click("#received")
	b.do(chromedp.WaitVisible(chromedp.CSS("dialog #register")))
	b.click("dialog #register")
	b.see("fatura paga", fmt.Sprintf("%d/%d", half, late-1)) // who has paid is late no more
	b.within("queue: one has paid meanwhile", 2)
	for n := half + 1; n <= late-1; n++ {
		b.sendNext(fmt.Sprintf("%d/%d", n, late-1))
	}
	b.sendNext("Todos da lista já foram cobrados hoje.")
	b.within(fmt.Sprintf("queue: the other %d", late-half), late-half)
	b.picture(t, rules(t), "queue-done")
}

// sendNext charges the one that is shown, and waits for what comes. What the link opens
// is on the internet.
func (b *tab) sendNext(next string) {
	b.t.Helper()
	b.clicks++
	b.do(chromedp.Evaluate[chromedp.Void](`(link => {
		if (!link.href.startsWith("https://wa.me/55")) throw "no chat"
		link.addEventListener("click", event => event.preventDefault())
		link.click()
	})(document.querySelector("#send"))`))
	b.see(next)
}

// manyLate is a file of customers who are late: by two days and more, since the day of
// the company can be the one before ours.
func manyLate(t *testing.T, count int) string {
	t.Helper()
	var file strings.Builder
	file.WriteString("nome;celular;vencimento;plano\n")
	for n := range count {
		fmt.Fprintf(&file, "Cliente %d;1191234%04d;%s;Mensal\n", n, n, time.Now().AddDate(0, 0, -2-n%20).Format(time.DateOnly))
	}
	return sheet(t, file.String())
}
