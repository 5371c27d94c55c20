package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// signIn signs a tab in to the panel.
func (b *browser) signIn(origin, email, password string) {
	b.t.Helper()
	b.run(chromedp.Navigate(origin+"/login"), chromedp.SendKeys(chromedp.CSS("#f-email"), email), chromedp.SendKeys(chromedp.CSS("#f-password"), password),
		chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitVisible(chromedp.CSS(".app .main")))
}

// press presses the button or link of the page's content with a text, and waits
// for what it leads to.
func (b *browser) press(text, until string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.Search(fmt.Sprintf(`//main//*[self::a or self::button][contains(., %q)]`, text))), chromedp.WaitVisible(chromedp.Search(until)))
}

// fill types into a field, in place of what stands there.
func (b *browser) fill(field, value string) {
	b.t.Helper()
	b.run(chromedp.SetValue(chromedp.CSS("#f-"+field), value))
}

// says wants texts on the page.
func (b *browser) says(want ...string) {
	b.t.Helper()
	text := read(b, chromedp.Text(chromedp.CSS("main")))
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.t.Errorf("the page does not say %q:\n%s", w, text)
		}
	}
}

// screens keeps pages of the panel in both sizes and schemes.
func (b *browser) screens(origin string, paths map[string]string) {
	b.t.Helper()
	for name, path := range paths {
		b.run(chromedp.Navigate(origin+path), chromedp.WaitVisible(chromedp.CSS("main")))
		b.shots("panel-" + name)
	}
	b.run(screen(1280, "light"))
}

func (b *browser) shots(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			b.run(screen(width, scheme))
			b.wantNoSidewaysScroll(name, width)
			b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	b.run(screen(1280, "light"))
}

// A company makes a reseller and sends it credits; the reseller opens its
// invitation, sets a password, signs in and sees what it has.
func TestBrowserMakesAResellerThatSeesItsCredits(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	d := startDemo(t, "--listen", "127.0.0.1:0")
	origin := "http://" + d.address
	b := openBrowser(t)
	b.run(screen(1280, "light"))
	b.signIn(origin, "demo@example.com", "demonstracao")
	b.run(chromedp.Navigate(origin + "/resellers"))
	b.press("Novo revendedor", `//h1[contains(., "Novo revendedor")]`)
	b.fill("name", "Serra Digital")
	b.fill("email", "serra@example.com")
	b.run(chromedp.Click(chromedp.CSS(`input[name="type"][value="subscriber"]`)))
	b.fill("periods", "2")
	b.shots("panel-reseller-form")
	b.press("Criar revendedor", `//h2[contains(., "Serra Digital foi criado")]`)
	b.says("Créditos gastos: ", "não será mostrado de novo")
	link := read(b, chromedp.Text(chromedp.CSS("#link")))
	if !strings.HasPrefix(link, origin+"/password/") {
		t.Fatalf("the invitation is %q", link)
	}
	b.shots("panel-reseller-invitation")
	b.press("Enviar créditos", `//h1[contains(., "Enviar créditos")]`)
	b.fill("amount", "40")
	b.fill("note", "primeiro lote")
	b.press("Continuar", `//h1[contains(., "Enviar 40 créditos a Serra Digital?")]`)
	b.shots("panel-credits-confirm")
	b.press("Enviar créditos", `//div[contains(@class, "flash") and contains(., "Créditos enviados a Serra Digital")]`)
	if gone := read(b, chromedp.Evaluate[bool](`document.querySelector("#link") === null`)); !gone {
		t.Error("the invitation is shown again")
	}

	other := openBrowser(t) // somebody else's computer
	other.run(screen(360, "light"), chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#f-password")))
	other.says("serra@example.com")
	other.fill("password", "uma senha longa")
	other.run(chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitVisible(chromedp.CSS("#f-email")))
	other.signIn(origin, "serra@example.com", "uma senha longa")
	other.run(chromedp.Navigate(origin+"/credits"), chromedp.WaitVisible(chromedp.CSS("#balance-value")))
	other.says("40", "Recebidos da empresa acima", "Demo Internet", "primeiro lote")
	if n := read(other, chromedp.Text(chromedp.CSS("#balance-value"))); n != "40" {
		t.Errorf("the reseller sees a balance of %s", n)
	}
	other.shots("panel-reseller-credits")
	other.wantOurs(origin)
	b.wantOurs(origin)
}

// wantOurs wants a tab to have asked nobody but the server, and no complaint
// but advice and the statuses of refused forms.
func (b *browser) wantOurs(origin string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, address := range b.asked {
		if !strings.HasPrefix(address, origin+"/") && !strings.HasPrefix(address, "data:") { // Chromium's own pictures in date fields
			b.t.Errorf("the page asked %s", address)
		}
	}
	for _, complaint := range b.complaints {
		if !strings.HasPrefix(complaint, "[DOM]") && !strings.HasPrefix(complaint, "Failed to load resource: the server responded with a status of 4") {
			b.t.Errorf("the page complains: %s", complaint)
		}
	}
}

// The pages around resellers, kept as pictures; none of them scrolls sideways
// or complains.
func TestBrowserShowsThePagesOfResellers(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	d := startDemo(t, "--listen", "127.0.0.1:0")
	origin := "http://" + d.address
	b := openBrowser(t)
	b.run(screen(1280, "light"))
	b.signIn(origin, "demo@example.com", "demonstracao")
	norte, fibra := b.resellerPath("norte"), b.resellerPath("fibra")
	b.screens(origin, map[string]string{
		"resellers": "/resellers", "reseller": norte, "reseller-level": norte + "/level",
		"reseller-renew": norte + "/renew?periods=2", "reseller-poor": norte + "/renew?periods=120",
		"subscription-plans": "/subscription-plans", "subscription-plan": "/subscription-plans/1", "subscription-plan-new": "/subscription-plans/new",
		"credits": "/credits", "credits-refused": norte + "/send?amount=100000", "resellers-none": "/resellers?search=zzz",
	})
	// A company on trial, with few functions; then its maker suspends it.
	other := openBrowser(t)
	other.run(screen(1280, "light"))
	other.signIn(origin, "fibra@example.com", "demonstracao")
	other.says("Seu teste termina em", "Fale com Demo Internet.")
	other.screens(origin, map[string]string{"trial-home": "/", "barred-function": "/webhooks", "barred-level": "/resellers"})
	other.run(chromedp.Navigate(origin + "/products/new"))
	other.fill("name", "Fibra")
	b.run(chromedp.Navigate(origin + fibra))
	b.press("Suspender", `//dialog//h1[contains(., "Suspender Casa da Fibra?")]`)
	b.shots("panel-suspend")
	b.run(chromedp.Click(chromedp.CSS("dialog button")), chromedp.WaitVisible(chromedp.Search(`//div[contains(., "está suspenso.")]`)))
	other.press("Salvar", `//h1[contains(., "Nada pode ser alterado no momento")]`)
	other.says("Sua empresa está suspensa.", "não foi salvo", "Fale com Demo Internet.")
	other.shots("panel-barred-standing")
	b.wantOurs(origin)
	other.wantOurs(origin)
}

// resellerPath finds a reseller's page by the search of the list, which answers
// while one types.
func (b *browser) resellerPath(search string) string {
	b.t.Helper()
	origin := read(b, chromedp.Evaluate[string](`location.origin`))
	link := chromedp.Search(fmt.Sprintf(`//tbody[count(tr) = 1]//a[contains(translate(., "NF", "nf"), %q)]`, search))
	b.run(chromedp.Navigate(origin+"/resellers"), chromedp.SendKeys(chromedp.CSS("#f-search"), search), chromedp.WaitVisible(link))
	return read(b, chromedp.Evaluate[string](`document.querySelector("tbody .name").getAttribute("href")`))
}
