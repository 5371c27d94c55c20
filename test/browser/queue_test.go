package browser

import (
	"fmt"
	"testing"
)

// Without a channel all who are late are charged from one's own WhatsApp: one click a
// person, and who comes back goes on where they were.
func TestLateOnesAreChargedFromOnesOwnWhatsApp(t *testing.T) {
	p, b := newCompany(t)
	p.command("import", "customers", lateSheet(t), "--company", "1", "--invoices")
	p.command("gateway", "set", "--company", "1", "--provider", "sandbox")
	b.visit("/")
	b.see("Seus clientes não abrem os links")
	b.begin()
	b.click("#remind-all")
	b.see("Cobrar pelo meu WhatsApp", "1/5", "Enviar e ir ao próximo", "Recebi")
	b.within("queue: from the home page", 1)
	b.picture(t, rules(t), "queue")
	for n := 2; n <= 3; n++ {
		b.click("#send")
		b.see(fmt.Sprintf("%d/5", n))
		b.within(fmt.Sprintf("queue: person %d", n-1), 1)
	}
	b.visit("/queue")
	b.see("3/5")
}
