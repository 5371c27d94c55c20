package panel

import (
	"maps"
	"slices"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/event"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// Texts that no literal in a call or template shows to the test of the catalog.
func TestTextsOfTablesHavePortuguese(t *testing.T) {
	var texts []string
	for _, group := range kit.Menu {
		texts = append(texts, group.Label)
		for _, entry := range group.Entries {
			texts = append(texts, entry.Label)
		}
	}
	for _, w := range kit.Words {
		texts = append(texts, w)
	}
	for _, name := range kit.ChangeNames {
		texts = append(texts, name)
	}
	for _, values := range kit.ChangeWords {
		texts = slices.AppendSeq(texts, maps.Values(values))
	}
	for _, said := range statusSaid {
		texts = append(texts, said)
	}
	for _, entry := range event.Catalog {
		if entry.Name != event.Ping {
			texts = append(texts, entry.Description)
		}
	}
	for _, said := range arrivalWords {
		texts = append(texts, said)
	}
	for _, said := range forecastWords {
		texts = append(texts, said)
	}
	for _, text := range texts {
		if text != "" && !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%s | ", text)
		}
	}
	if kit.Word(page.English, billing.Paid.String()) != "Paid" || kit.Word(page.Portuguese, billing.Paid.String()) != "Pago" {
		t.Error("values of records are not in the reader's language")
	}
}
