package panel

import (
	"testing"

	"carteira/internal/reminder"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// Texts that no literal in a call or template shows to the test of the catalog.
func TestTextsOfMessagesHavePortuguese(t *testing.T) {
	var texts []string
	for _, status := range reminder.Statuses {
		if kit.StatusWords[status] == "" {
			t.Errorf("%s has no word", status)
		}
		texts = append(texts, kit.StatusWords[status])
	}
	for _, text := range outcomeWords {
		texts = append(texts, text)
	}
	for _, text := range decided {
		texts = append(texts, text)
	}
	for _, text := range texts {
		if !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%s | ", text)
		}
	}
}

func TestRulesAreToldInSentences(t *testing.T) {
	basis := messageBasis{
		channels: []reminder.Channel{{ID: 3, Name: "WhatsApp"}, {ID: 5, Name: "E-mail"}, {ID: 6, Name: "HTTP"}},
		plans:    []page.Option{{Value: "", Label: "Todos"}, {Value: "7", Label: "Fibra mensal · R$ 99,90"}},
		products: []page.Option{{Value: "", Label: "Todos"}, {Value: "8", Label: "Fibra"}},
	}
	for _, c := range []struct {
		rule        reminder.Rule
		pt, english string
	}{
		{
			reminder.Rule{OffsetDays: -3, Minute: 9 * 60, Channels: []int64{3}},
			"3 dias antes do vencimento, às 09:00, por WhatsApp, para todos os clientes.",
			"3 days before the due date, at 09:00, through WhatsApp, for every customer.",
		},
		{
			reminder.Rule{OffsetDays: 0, Minute: 8*60 + 30, PlanID: 7, Channels: []int64{3, 5}},
			"No dia do vencimento, às 08:30, por WhatsApp (se não der, E-mail), para clientes do plano Fibra mensal.",
			"On the due date, at 08:30, through WhatsApp (where that fails, E-mail), for customers of the plan Fibra mensal.",
		},
		{
			reminder.Rule{OffsetDays: 1, Minute: 600, PlanID: 7, ProductID: 8, Status: "Vencido", Channels: []int64{5, 3, 6}},
			"1 dia depois do vencimento, às 10:00, por E-mail (se não der, WhatsApp, HTTP), para clientes do plano Fibra mensal e do produto Fibra com a situação Vencido.",
			"1 day after the due date, at 10:00, through E-mail (where that fails, WhatsApp, HTTP), for customers of the plan Fibra mensal and the product Fibra whose status is Expired.",
		},
		{
			reminder.Rule{OffsetDays: -1, Minute: 600, Status: "Ativo", Channels: []int64{5}},
			"1 dia antes do vencimento, às 10:00, por E-mail, para clientes com a situação Ativo.",
			"1 day before the due date, at 10:00, through E-mail, for customers whose status is Active.",
		},
	} {
		if got := basis.sentence(page.Portuguese, c.rule); got != c.pt {
			t.Errorf("%q\nwant %q", got, c.pt)
		}
		if got := basis.sentence(page.English, c.rule); got != c.english {
			t.Errorf("%q\nwant %q", got, c.english)
		}
	}
}

func TestReasonsOfSeveralChannelsAreTranslatedOneByOne(t *testing.T) {
	for english, want := range map[string]string{
		"no WhatsApp number":                       "sem número de WhatsApp",
		"no WhatsApp number; no e-mail":            "sem número de WhatsApp; sem e-mail",
		"channel refused: session lost; no e-mail": "o canal recusou: session lost; sem e-mail",
		"Zap is switched off; no e-mail":           "Zap está desligado; sem e-mail",
		"due date moved":                           "o vencimento mudou",
		"payment link: invoice not found":          "link de pagamento: fatura não encontrada",
		"":                                         "",
	} {
		if got := reasons(page.Portuguese, english); got != want {
			t.Errorf("%q became %q, want %q", english, got, want)
		}
	}
}
