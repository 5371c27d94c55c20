package program

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browser is a tab of a Chromium that tells what its page asks for and complains
// of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	asked      []string
	complaints []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(need(t, "chromium")), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	started, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	return (&browser{t: t, ctx: started}).tab()
}

// tab opens one more tab, which asks for Portuguese.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	other := &browser{t: b.t, ctx: ctx}
	other.run(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		if err == nil {
			_, err = chromedp.Call(ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "pt-BR"}})
		}
		return err
	}))
	sent, said := chromedp.Events(ctx, network.RequestWillBeSent), chromedp.Console(ctx)
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			other.note(&other.asked, e.Request.URL)
		}
	}()
	go func() {
		for m, err := range said {
			if err != nil {
				return
			}
			other.note(&other.complaints, m.Text)
		}
	}()
	return other
}

func (b *browser) note(list *[]string, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, text)
}

// run does things, each of which must be possible.
func (b *browser) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	done := make(chan error, 1)
	go func() { done <- chromedp.Do(b.ctx, steps...) }()
	select {
	case err := <-done:
		if err != nil {
			b.t.Fatal(err)
		}
	case <-time.After(patience):
		b.t.Fatal("the browser does not get there")
	}
}

// read returns what an action finds.
func read[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// picture keeps what the page looks like, whole, as an artifact.
func (b *browser) picture(name string) {
	b.t.Helper()
	png := read(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(artifacts, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
	if len(png) < 5000 {
		b.t.Errorf("%s: no picture worth the name", name)
	}
}

// screen is a size and a scheme of colours.
func screen(width int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.EmulateViewport(width, 800), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// pictures keeps a page in both sizes and schemes.
func (b *browser) pictures(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for width, size := range map[int64]string{360: "360", 1280: "1280"} {
			b.run(screen(width, scheme))
			b.wantNoSidewaysScroll(name, width)
			b.picture("checkout-" + name + "-" + size + "-" + scheme)
		}
	}
}

func (b *browser) wantNoSidewaysScroll(name string, width int64) {
	b.t.Helper()
	if wide := read(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
		b.t.Errorf("%s is %d wide on a screen of %d", name, wide, width)
	}
}

// wantQuiet wants a tab to have asked nobody but the server, and to have
// nothing to complain of.
func (b *browser) wantQuiet(origin string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, address := range b.asked {
		if !strings.HasPrefix(address, origin+"/") {
			b.t.Errorf("the page asked %s", address)
		}
	}
	for _, complaint := range b.complaints {
		b.t.Errorf("the page complains: %s", complaint)
	}
}

var checkoutLink = regexp.MustCompile(`Checkout +(\S+/pay/\w+)\n`)

func (d *demo) checkout() string {
	d.t.Helper()
	found := checkoutLink.FindStringSubmatch(d.stdout.String())
	if found == nil {
		d.t.Fatalf("the demo prints no checkout:\n%s", d.stdout.String())
	}
	return found[1]
}

// One tab shows the checkout. Another presses the sandbox's button. The first
// turns to paid by itself.
func TestBrowserSeesTheCheckoutTurnToPaid(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	d := startDemo(t, "--listen", "127.0.0.1:0")
	link, origin := d.checkout(), "http://"+d.address
	b := openBrowser(t)
	b.run(screen(360, "light"), chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#code")), chromedp.WaitVisible(chromedp.CSS(".scan img")))
	text := read(b, chromedp.Text(chromedp.CSS("main")))
	for _, want := range []string{"Demo Internet", "R$", "Simulação", "Aguardando o pagamento", "Copiar código PIX"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	drawn := read(b, chromedp.Evaluate[int64](`document.querySelector(".scan img").naturalWidth`))
	if clock := read(b, chromedp.Text(chromedp.CSS("[data-until]"))); drawn == 0 || !regexp.MustCompile(`\d+:\d\d:\d\d`).MatchString(clock) {
		t.Errorf("QR code %d wide, clock %q", drawn, clock)
	}
	b.pictures("open")
	read(b, chromedp.Evaluate[string](`window.here = "still"`))
	b.run(chromedp.Click(chromedp.CSS("[data-copy]")), chromedp.WaitVisible(chromedp.Search(`//button[contains(., "Código copiado")]`)))

	paid := chromedp.CSS(`.outcome[data-tone="good"]`)
	other := b.tab()
	other.run(chromedp.Navigate(link), chromedp.Click(chromedp.CSS("#simulate")), chromedp.WaitVisible(paid))
	b.run(chromedp.WaitVisible(paid))
	text = read(b, chromedp.Text(chromedp.CSS("main")))
	if same := read(b, chromedp.Evaluate[string](`window.here ?? "gone"`)); same != "still" || !strings.Contains(text, "Pagamento recebido") {
		t.Errorf("turned by a reload (%q), or to %s", same, text)
	}
	b.pictures("paid")
	b.wantQuiet(origin)
	other.wantQuiet(origin)
	a := d.client(d.token).want(200, "GET", "/invoices?status=Pago", nil)
	if !strings.Contains(string(a.body), `"paid_via":"sandbox"`) {
		t.Errorf("the API does not know: %s", a.body)
	}
}

func TestCheckoutWorksWithoutScripts(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	d := startDemo(t, "--listen", "127.0.0.1:0")
	b := openBrowser(t)
	b.run(screen(360, "light"), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(d.checkout()), chromedp.WaitVisible(chromedp.CSS("#code")))
	b.picture("checkout-without-scripts")
	b.run(chromedp.Click(chromedp.CSS("#simulate")), chromedp.WaitVisible(chromedp.CSS(`.outcome[data-tone="good"]`)))
	b.wantQuiet("http://" + d.address)
}

// A code that ends while it is shown says so, and a new one is a press away.
func TestCheckoutSaysThatItsCodeHasExpired(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	d := startDemo(t, "--listen", "127.0.0.1:0", "--data", dir)
	b := openBrowser(t)
	code, end := chromedp.CSS("#code"), chromedp.CSS(`[data-while="expired"]`)
	b.run(chromedp.Navigate(d.checkout()), chromedp.WaitVisible(code))
	before := read(b, chromedp.Value(code))
	db := (&installation{t: t, url: "sqlite:" + filepath.Join(dir, "carteira.db")}).open()
	execute(t, db, `UPDATE charges SET expires_at = 1`)
	execute(t, db, `UPDATE sandbox_charges SET expires_at = 1`)
	b.run(chromedp.WaitVisible(end), chromedp.WaitNotVisible(code))
	b.pictures("expired")
	b.run(chromedp.Click(chromedp.CSS(`[data-while="expired"] a`)), chromedp.WaitVisible(code))
	if after := read(b, chromedp.Value(code)); after == "" || after == before {
		t.Errorf("the code is %q, and was %q", after, before)
	}
}
