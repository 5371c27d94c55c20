package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// crowd is a file of more customers than a list counts at every look.
func crowd(t *testing.T) string {
	t.Helper()
	var file strings.Builder
	file.WriteString("nome;vencimento\n")
	for n := range 10_200 {
		fmt.Fprintf(&file, "Ana Oliveira %d;10/01/2026\n", n)
	}
	return sheet(t, file.String())
}

// footHeight is how high the foot of a list is: what arrives there must not move
// what is around it.
func (b *tab) footHeight() int64 {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[int64](`Math.round(document.querySelector("#results footer").getBoundingClientRect().height)`))
}

// scripts lets the scripts of pages run, or not.
func (b *tab) scripts(run bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
		return err
	}))
}

// The rows of a search beside a filter are there at once, and their total comes by
// itself, also to who goes on typing. Without scripts it is behind a link.
func TestTotalOfASearchArrivesByItself(t *testing.T) {
	p, b := newCompany(t)
	p.command("import", "customers", crowd(t), "--company", "1")
	const before, after = "/customers?status=Vencido&search=oliveira", "/customers?status=Vencido&search=Oliveira"
	b.scripts(false)
	b.visit(before)
	b.see("Contar todos", "1–36", "Próxima")
	heights := b.footHeights()
	b.visit(ask(b, chromedp.Evaluate[string](`document.querySelector("#results footer a[href*='total=1']").getAttribute("href")`)))
	b.see("10.200 clientes", "1–36 de 10.200")
	b.scripts(true)

	b.visit(after)
	b.see("10.200 clientes", "1–36 de 10.200", "Próxima")
	if got := b.footHeights(); got != heights {
		t.Errorf("the foot is %v high with the total, %v without", got, heights)
	}
	b.click(".list thead .pickbox")
	b.see("Todos os 10.200 da lista")
	b.picture(t, rules(t), "customers-counted")

	b.visit("/customers?status=Vencido")
	b.fill("search", "ana ol")
	b.see("10.200 clientes", "1–36 de 10.200")
}

// footHeights are those on a screen and on a phone.
func (b *tab) footHeights() (heights [2]int64) {
	b.t.Helper()
	for n, width := range []int64{1280, 390} {
		b.size(width, 900, false)
		heights[n] = b.footHeight()
	}
	b.size(1280, 900, false)
	return heights
}
