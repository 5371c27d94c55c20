package browser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// screens is where the pictures go.
const screens = "../artifacts/panel"

// axeSum is the sha256 of testdata/axe.min.js, from npm's axe-core 4.14.0.
const axeSum = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"

// pages are every page of the panel that can be shown by its address.
var pages = map[string]string{
	"home": "/", "customers": "/customers", "customers-none": "/customers?search=zzzzzz", "customer-new": "/customers/new", "customer": "/customers/1",
	"customer-edit": "/customers/1/edit", "customer-delete": "/customers/1/delete", "invoice-new": "/customers/1/invoice", "import": "/imports", "public-address": "/settings/address",
	"invoices": "/invoices", "invoices-overdue": "/invoices?overdue=true", "invoice": "/invoices/1", "receipt": "/invoices/1/receipt", "slips": "/customers/1/slips", "notices": "/notices", "search": "/search?q=ana", "plans": "/plans", "plan-new": "/plans/new", "plan-edit": "/plans/1",
	"products": "/products", "product-edit": "/products/1", "tokens": "/api", "webhooks": "/webhooks", "webhook-new": "/webhooks/new",
	"webhook": "/webhooks/1", "signature": "/webhooks/signature", "callback-secret": "/webhooks/callback-secret",
	"settings": "/settings", "users": "/settings/users", "user-new": "/settings/users/new", "user-edit": "/settings/users/1", "audit": "/settings/audit",
	"payments": "/payments", "recent": "/recent", "month": "/payments/month", "forecast": "/payments/forecast", "forecast-rows": "/payments/forecast/rows", "autopays": "/payments/autopay", "autopay-request": "/customers/1/autopay/request", "reviews": "/payments/reviews", "reviews-decided": "/payments/reviews?state=resolved", "gateway": "/payments/gateway",
	"gateway-clear": "/payments/gateway/clear", "gateway-pixkey-form": "/payments/gateways/pixkey", "gateway-efi-form": "/payments/gateways/efi",
	"gateway-sandbox-form": "/payments/gateways/sandbox", "charge": "/invoices/1/charge",
	"resellers": "/resellers", "resellers-none": "/resellers?search=zzz", "reseller-new": "/resellers/new", "reseller": "/resellers/2",
	"reseller-level": "/resellers/2/level", "reseller-renew": "/resellers/2/renew?periods=2", "reseller-poor": "/resellers/2/renew?periods=120",
	"subscription-plans": "/subscription-plans", "subscription-plan": "/subscription-plans/1", "subscription-plan-new": "/subscription-plans/new",
	"credits": "/credits", "credits-grant": "/credits/grant", "own-withdraw": "/customers/1/page/withdraw", "credits-refused": "/resellers/2/send?amount=100000",
	"messages": "/messages", "message-rule-new": "/messages/rules/new", "message-rule": "/messages/rules/1", "message-templates": "/messages/templates",
	"message-template-new": "/messages/templates/new", "message-template": "/messages/templates/1", "message-channels": "/messages/channels",
	"message-kinds": "/messages/channels/new", "message-channel-new": "/messages/channels/new?kind=smtp", "message-channel": "/messages/channels/1",
	"message-channel-edit": "/messages/channels/1/edit", "message-quiet": "/messages/quiet", "message-log": "/messages/log", "message": "/messages/log/1",
	"message-log-none": "/messages/log?status=failed", "message-rule-delete": "/messages/rules/1/delete",
	"customer-cancel": "/customers/1/cancel", "customer-erase": "/customers/1/erase", "invoice-edit": "/invoices/1/edit", "product-new": "/products/new",
	"plan-delete": "/plans/1/delete", "user-remove": "/settings/users/1/remove", "webhook-edit": "/webhooks/1/edit", "webhook-delete": "/webhooks/1/delete", "delivery": "/deliveries/1",
	"reseller-edit": "/resellers/2/edit", "reseller-take-back": "/resellers/2/take-back", "signup-link": "/subscription-plans/1/link", "sandbox": "/sandbox",
	"profile": "/profile", "second-factor": "/profile/second-factor", "not-found": "/nowhere",
}

// twins are pages and what journeys do to pages where another shows the same template with as much
// on it, or another empty list. `make test` and CI, which take no pictures, leave them to that one.
var twins = []string{
	"customer-new", "gateway-clear", "gateway-sandbox-form", "invoices-overdue", "message-log-none", "message-rule-delete",
	"message-template-new", "plan-delete", "plan-new", "product-new", "resellers-none", "subscription-plan-new", "user-remove",
	"webhook-delete", "webhook-new",

	"audit-chips", "autopays-one", "barred-function", "checkout-authorise", "credits-chips", "credits-granted",
	"customer-autopay", "customers-counted", "customers-sorted", "import-own-list", "invoice-paid", "pay-refused",
	"payments-received", "reseller-suspend", "resellers-chips", "second-factor-asked",
}

// left reports whether a page is left to its twin.
func left(name string) bool { return os.Getenv("CI") != "" && slices.Contains(twins, name) }

func TestEveryPageIsAccessibleAndPictured(t *testing.T) {
	axe := readAxe(t)
	if err := os.MkdirAll(screens, 0o755); err != nil {
		t.Fatal(err)
	}
	p := startDemo(t)
	b := p.open(t)
	b.visit("/login")
	b.page(t, axe, "login")
	b.visit("/forgot")
	b.page(t, axe, "forgot")
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.webhookWithHistory()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(pages)), left)
	const tabs = 3
	for first := range tabs {
		t.Run(fmt.Sprintf("tab %d", first+1), func(t *testing.T) {
			t.Parallel()
			reader := p.open(t)
			reader.signIn("demo@example.com", "demonstracao")
			reader.see("Demo Internet")
			for n := first; n < len(names); n += tabs {
				reader.visit(pages[names[n]])
				reader.page(t, axe, names[n])
			}
		})
	}
}

// webhookWithHistory makes a webhook without a receiver, and tries it.
func (b *tab) webhookWithHistory() {
	b.t.Helper()
	b.visit("/webhooks/new")
	b.fill("url", "https://127.0.0.1:9/carteira")
	b.fill("description", "Automação")
	b.press("Salvar")
	b.see("O webhook está pronto")
	b.press("Enviar um teste")
	b.see("O teste não foi aceito")
}

func readAxe(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(axe); hex.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("axe.min.js has sha256 %x", sum)
	}
	return string(axe)
}

// look is a width and a shade in which a page is held against axe's rules.
type look struct {
	width  int64
	dark   bool
	rules  string
	picked bool // it is pictured as well
}

func (l look) shade() string {
	if l.dark {
		return "dark"
	}
	return "light"
}

func (l look) height() int64 {
	if l.width < 500 {
		return 740
	}
	return 900
}

// looks are every width, light and dark. A light screen and a light phone are held
// against all rules, the other looks against those that a width or a colour
// changes. `make test` and CI take no pictures: they hold a page against all rules on a
// light screen or on a dark phone, which the page's name decides, and measure it on the
// other widths, of which the widest shows what the screen does; what a journey does to a
// page is held against them on the screen, and measured on the phone.
func looks(name string, wholePage bool) (all []look) {
	screen, phone := look{1280, false, allRules, false}, look{360, false, noRules, false}
	if sha256.Sum256([]byte(name))[0]%2 == 1 && wholePage {
		screen.rules, phone = noRules, look{360, true, allRules, false}
	}
	if name == "home" { // a phone folds the menu away
		screen.rules = allRules
	}
	switch {
	case os.Getenv("CI") != "" && wholePage:
		return []look{screen, {768, false, noRules, false}, phone}
	case os.Getenv("CI") != "":
		return []look{screen, phone}
	}
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1920, 1280, 768, 360} {
			usual := width == 1280 || width == 360
			rules := byLook
			if usual && !dark {
				rules = allRules
			}
			all = append(all, look{width, dark, rules, usual})
		}
	}
	return all
}

// picture takes what a journey did to a page on a screen and on a phone, and holds it
// against axe's rules.
func (b *tab) picture(t *testing.T, axe, name string) {
	t.Helper()
	if left(name) {
		return
	}
	b.hold(t, axe, name, looks(name, false))
	b.size(1280, 900, false)
}

// page is picture for a page that is shown by its address. It begins with the window as
// the page before it has left it.
func (b *tab) page(t *testing.T, axe, name string) {
	t.Helper()
	all := looks(name, true)
	if b.width == all[len(all)-1].width {
		slices.Reverse(all)
	}
	b.hold(t, axe, name, all)
}

func (b *tab) hold(t *testing.T, axe, name string, looks []look) {
	t.Helper()
	if b.again != "" {
		return
	}
	for _, l := range looks {
		b.size(l.width, l.height(), l.dark)
		wide := ask(b, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		if wide > l.width {
			t.Errorf("%s is %d wide on %d", name, wide, l.width)
		}
		if !ask(b, chromedp.Evaluate[bool](lettersAsLarge)) {
			t.Errorf("%s at %d: the letters of a chart are not as large as others", name, l.width)
		}
		if l.picked {
			file := filepath.Join(screens, fmt.Sprintf("%s-%d-%s.png", name, l.width, l.shade()))
			if err := os.WriteFile(file, b.shot(page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)}), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if l.rules == noRules {
			continue
		}
		for _, problem := range b.axe(axe, l.rules, name) {
			t.Errorf("%s at %d, %s: %s", name, l.width, l.shade(), problem)
		}
	}
}

// lettersAsLarge holds where the letters of charts keep their size on every width.
const lettersAsLarge = `[...document.querySelectorAll("svg.bars text")].every(text => {
	const tall = text.getBoundingClientRect().height; // 0: there is no room for it
	return tall === 0 || tall > 9 && tall < 18;
})`

// shot is a picture of the page, packed in a hurry.
func (b *tab) shot(params page.CaptureScreenshotParams) []byte {
	b.t.Helper()
	params.OptimizeForSpeed = new(params.Format == "")
	return ask(b, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		taken, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
		if err != nil {
			return nil, err
		}
		return taken.Data, nil
	})
}

type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// byLook are the rules that another width or another shade can break.
const byLook = `{type: "rule", values: ["color-contrast", "target-size", "scrollable-region-focusable"]}`

const allRules = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`

const noRules = ""

// repeated are rows after the first ones: one template makes them.
const repeated = `"tbody tr:nth-child(n+9)", ".plainlist > li:nth-child(n+9)"`

// scope is where axe looks: at the dialog, if one is open over a page that is held by itself. It
// does not look at what is repeated, nor at the menu, except on the home pages: what it offers
// depends on the company and the person, not on the page.
func scope(name string) string {
	parts := repeated
	if !strings.Contains(name, "home") {
		parts += `, ".side nav"`
	}
	return `{include: document.querySelector("dialog[open]") ?? document.documentElement,
		exclude: [` + parts + `].filter(what => document.querySelector(what))}`
}

// lighter switches off the rules whose violations are never serious.
const lighter = `Object.fromEntries(axe._audit.rules.filter(rule => ["minor", "moderate"].includes(rule.impact)).
	map(rule => [rule.id, {enabled: false}]))`

// axe returns what is serious or worse.
func (b *tab) axe(script, rules, name string) []string {
	b.t.Helper()
	if !ask(b, chromedp.Evaluate[bool](`"axe" in window`)) {
		b.do(chromedp.Evaluate[chromedp.Void](script + "; 0"))
	}
	found := ask(b, chromedp.Evaluate[string](`axe.run(`+scope(name)+`, {
		resultTypes: ["violations"], preload: false, rules: `+lighter+`, runOnly: `+rules+`}).then(r => JSON.stringify(r.violations))`, chromedp.EvalAwaitPromise))
	var all []violation
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		b.t.Fatal(err)
	}
	var problems []string
	for _, v := range all {
		if v.Impact == "serious" || v.Impact == "critical" {
			for _, n := range v.Nodes {
				problems = append(problems, fmt.Sprintf("%s: %s\n%s\n%s", v.ID, v.Help, n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " ")))
			}
		}
	}
	return problems
}
