package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// names are the records of a list, from top to bottom.
func (b *tab) names() string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[string](`[...document.querySelectorAll("td .name")].map(link => link.innerText).join(", ")`))
}

func TestListIsSortedArrangedAndSavedAsAView(t *testing.T) {
	_, b := newCompany(t)
	for name, address := range map[string]string{"Carla": "c@example.com", "álvaro": "a@example.com", "Bruno": "b@example.com"} {
		b.visit("/customers/new")
		b.fill("name", name)
		b.fill("email", address)
		b.press("Salvar")
		b.see(name + ": cadastro criado.")
	}
	b.visit("/customers")
	b.click(".list thead a.sorted")
	b.do(chromedp.WaitVisible(chromedp.CSS(`th[aria-sort=ascending] svg`)))
	if names := b.names(); names != "álvaro, Bruno, Carla" {
		t.Errorf("by name: %s", names)
	}
	b.click(".list thead a.sorted")
	b.do(chromedp.WaitVisible(chromedp.CSS(`th[aria-sort=descending] svg`)))

	// What a box holds can have the cursor once it has been drawn open.
	const box = `#results details:has([name=view])`
	open := func() {
		b.do(chromedp.Click(chromedp.CSS(box+` > summary`)), chromedp.WaitVisible(chromedp.CSS(box+`[open] #f-view`)), drawn)
	}
	open()
	b.fill("view", "De trás para a frente")
	b.picture(t, rules(t), "customers-arranged")
	b.press("Salvar filtros e ordem como visão")
	b.see("A visão De trás para a frente foi salva.")
	open()
	b.do(chromedp.Click(chromedp.CSS(`input[name=columns][value=email]`)))
	b.press("Mostrar estas colunas")
	b.see("As colunas foram salvas.", "b@example.com")
	b.visit("/customers")
	b.see("b@example.com")
	b.press("De trás para a frente")
	b.do(chromedp.WaitVisible(chromedp.CSS(`th[aria-sort=descending] svg`)))
	if names := b.names(); names != "Carla, Bruno, álvaro" {
		t.Errorf("the view: %s", names)
	}
	open()
	b.do(chromedp.Click(chromedp.CSS(`form[action^="/views/"] button`), chromedp.NodeVisible))
	b.see("A visão De trás para a frente foi excluída.")
	b.picture(t, rules(t), "customers-sorted")
}
