package browser

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The month's work with money, from the bank's file to the closing: the statement is
// booked, what came twice becomes credit, a payer sends a proof, the slips are
// printed, the forecast and the month lead to their rows, and a month is closed.
func TestBooksOfAMonthAreWalkedThrough(t *testing.T) {
	p, b := newCompany(t)
	p.command("import", "customers", lateSheet(t), "--company", "1", "--invoices")
	p.command("gateway", "set", "--company", "1", "--provider", "pixkey", "--option", "key=ana@example.com", "--option", "name=Rede Clara", "--option", "city=Recife")
	came := time.Now().AddDate(0, 0, -1)
	b.bookStatement(came)
	b.keepCredit()
	p.sayPaid(b)
	b.visit("/customers/3/slips")
	b.see("Cida Prado", "Vence em", "Imprimir")
	b.visit("/payments/forecast")
	b.see("Previsto, acumulado dia a dia")
	b.click("tbody tr:nth-child(1) a")
	b.see("Prado", "35,00")
	b.closeMonth(came)
}

// bookStatement books a line of a bank's file.
func (b *tab) bookStatement(came time.Time) {
	b.t.Helper()
	file := sheet(b.t, fmt.Sprintf("data;valor;descrição\n%s;35,00;PIX RECEBIDO AMELIA PRADO\n", came.Format("02/01/2006")))
	b.visit("/payments/statement")
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.press("Ler o extrato")
	b.see("PIX RECEBIDO AMELIA PRADO", "Nome do cliente")
	b.press("Lançar as marcadas")
	b.see("1 pagamento foi lançado.", "Desfazer")
}

// keepCredit registers that the money came again, which is credit.
func (b *tab) keepCredit() {
	b.t.Helper()
	b.visit("/invoices?status=Pago")
	b.press("Amélia Prado")
	b.press("Registrar como crédito")
	b.see("com a fatura já paga")
	b.fill("amount", "35,00")
	b.press("Registrar como crédito")
	b.see("O dinheiro virou crédito do cliente.")
}

// sayPaid has a payer send a proof, which the company sees with the invoice.
func (p *program) sayPaid(b *tab) {
	b.t.Helper()
	b.visit("/customers/2")
	b.see("Benta Prado")
	b.press("Cobrar")
	b.see("Link de pagamento")
	payer := p.open(b.t)
	_, code, _ := strings.Cut(b.text("dialog #pay-link"), "/pay/")
	payer.visit("/pay/" + code)
	payer.press("Já paguei")
	payer.see("Comprovante")
	payer.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{proof(b.t)}))
	payer.click("#send")
	payer.see("vai conferir")
	b.press("Ver a fatura")
	b.see("O cliente diz que pagou")
	b.press("Recebi R$")
	b.see("fatura paga e cliente renovado", "Desfazer")
}

// proof is a small picture.
func proof(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "comprovante.png")
	file, err := os.Create(name)
	if err == nil {
		err = png.Encode(file, image.NewGray(image.Rect(0, 0, 40, 40)))
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// closeMonth looks at the month in which the money came, and closes the one before.
func (b *tab) closeMonth(came time.Time) {
	b.t.Helper()
	b.visit("/payments/month?month=" + came.Format("2006-01"))
	b.see("Por meio", "Por dia")
	b.click("#m-means + table a")
	b.see("Prado", "35,00")
	b.visit("/payments/month?month=" + came.AddDate(0, 0, -came.Day()).Format("2006-01"))
	b.press("Fechar o mês")
	b.see("O mês foi fechado", "Fechado")
}
