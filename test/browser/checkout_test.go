package browser

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

var checkoutLink = regexp.MustCompile(`Checkout +http://127\.0\.0\.1:\d+(/pay/\w+)`)

// checkout starts a demo and returns the path of the page that it prints.
func checkout(t *testing.T) (*program, string) {
	t.Helper()
	if err := os.MkdirAll(screens, 0o755); err != nil {
		t.Fatal(err)
	}
	p := startDemo(t)
	found := checkoutLink.FindStringSubmatch(p.printed())
	if found == nil {
		t.Fatalf("the demo prints no checkout:\n%s", p.printed())
	}
	return p, found[1]
}

// requests collects the addresses that a tab asks for.
func (b *tab) requests() func() []string {
	b.t.Helper()
	var mu sync.Mutex
	var all []string
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return err
	}))
	sent := chromedp.Events(b.ctx, network.RequestWillBeSent)
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, e.Request.URL)
			mu.Unlock()
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// One tab shows the checkout. Another presses the sandbox's button. The first
// turns to paid by itself.
func TestCheckoutTurnsToPaidByItself(t *testing.T) {
	axe := readAxe(t)
	p, path := checkout(t)
	b := p.open(t)
	asked := b.requests()
	b.size(360, 740, false)
	b.visit(path)
	b.see("Demo Internet", "R$", "Simulação", "Aguardando o pagamento", "Copiar código PIX")
	if bottom := ask(b, chromedp.Evaluate[float64](`document.querySelector("[data-copy]").getBoundingClientRect().bottom`)); bottom > 640 {
		t.Errorf("on a phone the button that copies the code ends at %.0f", bottom)
	}
	b.hit(chromedp.Click(chromedp.CSS("details.narrow-only summary")))
	b.do(chromedp.Poll[chromedp.Void](`document.querySelector("details.narrow-only .scan img").naturalWidth > 0`))
	b.see("Válido até")
	b.picture(t, axe, "checkout-open")
	b.do(chromedp.Evaluate[chromedp.Void](`void (window.here = "still")`))
	b.begin()
	b.press("Copiar código PIX")
	b.see("Código copiado")
	b.within("payer: from the link to the copied code", 1)

	other := p.open(t)
	other.visit(path)
	other.press("Simular o pagamento")
	other.see("Pagamento recebido")
	b.see("Pagamento recebido")
	if same := ask(b, chromedp.Evaluate[string](`window.here ?? "gone"`)); same != "still" {
		t.Error("the page was loaded anew")
	}
	b.picture(t, axe, "checkout-paid")
	for _, address := range asked() {
		if !strings.HasPrefix(address, p.url+"/") && address != "about:blank" {
			t.Errorf("the page asked %s", address)
		}
	}
}

func TestCheckoutWorksWithoutScripts(t *testing.T) {
	p, path := checkout(t)
	b := p.open(t)
	b.scriptless = true
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.visit(path)
	b.do(chromedp.WaitVisible(chromedp.CSS("#code")))
	b.press("Simular o pagamento")
	b.do(chromedp.WaitVisible(chromedp.CSS(`.outcome[data-tone="good"]`)))
}

// A code that ends while it is shown says so.
func TestCheckoutSaysThatItsCodeHasExpired(t *testing.T) {
	axe := readAxe(t)
	p, path := checkout(t)
	b := p.open(t)
	b.visit(path)
	b.see("Copiar código PIX")
	b.do(chromedp.Evaluate[chromedp.Void](`void (window.fetch = async () => new Response('{"data":{"state":"expired"}}'))`))
	b.see("Este código expirou")
	b.do(chromedp.WaitNotVisible(chromedp.CSS("#code")))
	b.picture(t, axe, "checkout-expired")
	b.press("Gerar novo código")
	b.see("Copiar código PIX")
}
