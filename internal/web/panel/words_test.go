package panel

import (
	"testing"

	"carteira/internal/billing"
	"carteira/internal/event"
	"carteira/internal/web/page"
)

// Texts that no literal in a call or template shows to the test of the catalog.
func TestTextsOfTablesHavePortuguese(t *testing.T) {
	var texts []string
	for _, g := range menu {
		texts = append(texts, g.Label)
		for _, e := range g.Entries {
			texts = append(texts, e.Label)
		}
	}
	for _, w := range words {
		texts = append(texts, w)
	}
	for _, said := range statusSaid {
		texts = append(texts, said)
	}
	for _, e := range event.Catalog {
		if e.Name != event.Ping {
			texts = append(texts, e.Description)
		}
	}
	for _, text := range texts {
		if text != "" && !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%s | ", text)
		}
	}
	if word(page.English, billing.Paid.String()) != "Paid" || word(page.Portuguese, billing.Paid.String()) != "Pago" {
		t.Error("values of records are not in the reader's language")
	}
}
