package panel

import (
	"html/template"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// tags are the words in which lists and pages say how a record stands, as
// functions of the templates.
func tags(lang page.Lang) template.FuncMap {
	return template.FuncMap{
		"customertag": func(status customer.Status) template.HTML {
			return written(func(m *page.Markup) { customerTag(m, lang, status) })
		},
		"invoicetag": func(status billing.Status, overdue bool) template.HTML {
			return written(func(m *page.Markup) { invoiceTag(m, lang, status, overdue) })
		},
		"invoiceamount": func(invoice billing.Invoice, due billing.Payable) template.HTML {
			return written(func(m *page.Markup) { invoiceAmount(m, lang, invoice, due) })
		},
		"paymenttag": func(row paymentRow) template.HTML {
			return written(func(m *page.Markup) { paymentTag(m, lang, row) })
		},
		"deliverytag": func(status webhook.Status) template.HTML {
			return written(func(m *page.Markup) { deliveryTag(m, lang, status) })
		},
	}
}

func written(write func(*page.Markup)) template.HTML {
	var m page.Markup
	write(&m)
	return m.HTML()
}

// tag is a word in a colour; "" has none.
func tag(m *page.Markup, tone, word string) {
	m.Raw(`<span class="tag"`)
	if tone != "" {
		m.Raw(` data-tone="`)
		m.Value(tone)
		m.Raw(`"`)
	}
	m.Raw(`>`)
	m.Value(word)
	m.Raw(`</span>`)
}

func customerTag(m *page.Markup, lang page.Lang, status customer.Status) {
	switch status {
	case customer.Active:
		tag(m, "good", lang.T("Active"))
	case customer.DueToday:
		tag(m, "warn", lang.T("Due today"))
	case customer.Cancelled:
		tag(m, "", lang.T("Cancelled"))
	default:
		tag(m, "bad", lang.T("Expired"))
	}
}

func invoiceTag(m *page.Markup, lang page.Lang, status billing.Status, overdue bool) {
	switch {
	case overdue:
		tag(m, "bad", lang.T("Overdue"))
	case status == billing.Paid:
		tag(m, "good", lang.T("Paid up"))
	case status == billing.Cancelled:
		tag(m, "", lang.T("Void"))
	default:
		tag(m, "note", lang.T("Open"))
	}
}

// invoiceAmount is the amount of an invoice in a list, and what pays it today
// where that is another one.
func invoiceAmount(m *page.Markup, lang page.Lang, invoice billing.Invoice, due billing.Payable) {
	if invoice.Status != billing.Open || due.Rest == invoice.Amount {
		m.Money(invoice.Amount)
		return
	}
	m.Raw(`<span>`)
	m.Money(invoice.Amount)
	m.Raw(`<br><span class="small muted">`)
	m.Value(lang.T("%s to pay today", page.FormatMoney(due.Rest)))
	m.Raw(`</span></span>`)
}

// paymentTag is what became of money that came.
func paymentTag(m *page.Markup, lang page.Lang, row paymentRow) {
	switch {
	case row.ReviewID != 0:
		m.Raw(`<a class="tag" data-tone="warn" href="/payments/reviews/`)
		m.Int(row.ReviewID)
		m.Raw(`">`)
		m.Value(lang.T("For review"))
		m.Raw(`</a>`)
	case row.Refunded():
		tag(m, "bad", lang.T("Given back"))
	case row.Payment.Status == billing.PaymentPartial:
		tag(m, "note", lang.T("A part of the invoice"))
	case row.Applied():
		tag(m, "good", lang.T("Paid the invoice"))
	default:
		tag(m, "", lang.T("Not used"))
	}
}

func deliveryTag(m *page.Markup, lang page.Lang, status webhook.Status) {
	switch status {
	case webhook.Delivered:
		tag(m, "good", lang.T("delivered"))
	case webhook.Pending:
		tag(m, "note", lang.T("pending"))
	case webhook.Parked:
		tag(m, "warn", lang.T("parked"))
	case webhook.Refused:
		tag(m, "bad", lang.T("refused"))
	default:
		tag(m, "bad", lang.T("failed"))
	}
}
