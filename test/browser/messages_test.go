package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Words are written with variables that are put in by a click, looked at on a
// real customer and saved; a rule sends them; what it will send is in the log
// and on the customer's page.
func TestMessageIsWrittenPreviewedAndScheduled(t *testing.T) {
	p := startDemo(t)
	b := p.open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")

	// What the demo company sends has the page to pay on, and the PIX code.
	b.visit("/messages/templates/2")
	b.press("Pré-visualizar")
	b.do(chromedp.WaitVisible(chromedp.CSS("#preview-text")))
	if got := b.text("#preview-text"); !strings.Contains(got, p.url+"/pay/") || !strings.Contains(got, "br.gov.bcb.pix") {
		t.Errorf("the preview reads %q", got)
	}

	b.visit("/messages/templates")
	b.press("Novo modelo")
	b.fill("name", "Cinco dias antes")
	b.fill("text", "Oi ")
	b.press("{primeiro_nome}")
	b.do(chromedp.SendKeys(chromedp.CSS("#f-text"), ", seu plano vence em "))
	b.press("{vencimento}")
	if got := b.value("#f-text"); got != "Oi {primeiro_nome}, seu plano vence em {vencimento}" {
		t.Errorf("the text is %q", got)
	}
	b.fill("subject", "Aviso de {nmoe}")
	b.press("Salvar")
	b.see("{nmoe} não é uma variável; você quis dizer {nome}?")
	b.fill("subject", "Aviso")
	b.fill("preview_search", "Souza")
	b.press("Pré-visualizar")
	b.do(chromedp.WaitVisible(chromedp.CSS("#preview-text")))
	b.see(" Souza")
	if got := b.text("#preview-text"); !strings.HasPrefix(got, "Oi ") || strings.Contains(got, "{") {
		t.Errorf("the preview reads %q", got)
	}
	b.press("Salvar")
	b.see("O modelo Cinco dias antes foi salvo.")

	b.visit("/messages")
	b.see("3 dias antes do vencimento, às 09:00, por Demonstração, para todos os clientes.")
	b.press("Nova regra")
	b.fill("name", "Aviso antecipado")
	b.fill("offset_days", "5")
	b.set("hour", "10:00")
	b.choose("template_id", "Cinco dias antes")
	b.press("Salvar")
	b.see("A regra Aviso antecipado está ligada.", "5 dias antes do vencimento, às 10:00, por Demonstração, para todos os clientes.")

	b.visit("/messages")
	b.until("/messages/log?rule_id=4", "Agendada")
	b.see("Aviso antecipado", "Demonstração")
	b.do(chromedp.Click(chromedp.CSS("main tbody a.name"), chromedp.NodeVisible))
	b.see("Mensagem para", "O texto é feito na hora do envio")
	b.do(chromedp.Click(chromedp.CSS(`main dl a[href^="/customers/"]`), chromedp.NodeVisible))
	b.see("Aviso antecipado", "Agendada")
	b.press("Parar as mensagens")
	b.see("O cliente não recebe mais mensagens.")
}

// value is what a field holds.
func (b *tab) value(sel string) string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).value", sel)))
}

// choose picks an option by what it reads.
func (b *tab) choose(name, label string) {
	b.t.Helper()
	b.set(name, ask(b, chromedp.Evaluate[string](fmt.Sprintf(
		`[...document.querySelector('main [name=%s]').options].find(o => o.text === %q).value`, name, label))))
}

// until opens a page again and again until it shows a text: what the program
// does by itself takes it a few seconds.
func (b *tab) until(path, text string) {
	b.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		b.visit(path)
		if strings.Contains(b.text("main"), text) && !strings.Contains(b.text("main"), "Nenhuma corresponde") {
			return
		}
		if time.Now().After(late) {
			b.t.Fatalf("%s never shows %q", path, text)
		}
	}
}
