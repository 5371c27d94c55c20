package browser

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "folder to leave the pictures of the documents in")

// keep takes what the window shows, for README and docs.
func (b *tab) keep(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`document.fonts.ready.then(() => 0)`, chromedp.EvalAwaitPromise))
	taken := b.shot(page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(72))})
	if err := os.WriteFile(filepath.Join(*pictures, name+".webp"), taken, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("%s: %d bytes", name, len(taken))
}

// make pictures runs this; test/documents knows whether the pages have changed since.
func TestPicturesOfTheDocuments(t *testing.T) {
	if *pictures == "" {
		t.Skip("make pictures takes them")
	}
	p, owner := demo(t)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	owner.visit("/webhooks/new")
	owner.fill("url", receiver.URL+"/carteira")
	owner.fill("description", "Automação")
	owner.press("Salvar")
	owner.see("O webhook está pronto")
	p.command("import", "customers", sheet(t, "nome\nJoana Prado\nIvo Lins\nRaquel Dias\n"), "--company", "1", "--events")

	owner.size(1180, 740, false)
	owner.visit("/")
	owner.keep("home")
	owner.visit("/customers?status=Vencido")
	owner.keep("customers")
	owner.click(`.list tbody tr:nth-child(1) a[href$="/charge"]`)
	owner.see("Link de pagamento")
	owner.keep("charge")
	owner.until("/webhooks/1", "customer.created")
	owner.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#results").scrollIntoView(); 0`))
	owner.keep("deliveries")

	payer := p.open(t)
	payer.size(390, 700, false)
	payer.visit(checkoutLink.FindStringSubmatch(p.printed())[1])
	payer.see("Copiar código PIX")
	payer.keep("checkout")

	fresh := &program{t: t, dir: t.TempDir()}
	fresh.launch("/setup/", "serve", "--public-url", "http://127.0.0.1:8080")
	first := fresh.open(t)
	first.size(1180, 740, false)
	first.visit(regexp.MustCompile(`/setup/[\w-]+`).FindString(fresh.printed()))
	first.fill("name", "Rede Clara")
	first.fill("user_name", "Ana Souza")
	first.fill("email", email)
	first.keep("setup")
	first.fill("password", password)
	first.press("Criar a empresa")
	first.see("A empresa está pronta")
	first.visit("/imports")
	first.do(chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{sheet(t, string(theirList().latin(t)))}))
	first.press("Enviar")
	first.see("O que a verificação encontrou")
	first.press("Criar")
	first.see("Linhas certas: 303")
	first.keep("import")
}
