package panel

import (
	"html/template"

	"carteira/internal/web/page"
)

// Rows are the rows of the list.
func (d receivedData) Rows(view page.View) template.HTML {
	lang := view.Lang
	return tableRows(d.List, shownCells(d.Arranged, []cell[paymentRow]{
		{"", "title", "", d.title},
		{"paid_on", "", lang.T("Received on"), func(m *page.Markup, _ int, row paymentRow) { m.Value(view.OwnTime(row.PaidAt)) }},
		{"through", "", lang.T("Through"), func(m *page.Markup, _ int, row paymentRow) { m.Value(row.Through) }},
		{"payment_id", "", lang.T("Payment id"), func(m *page.Markup, _ int, row paymentRow) {
			m.Raw(`<span class="cut mono small" title="`)
			m.Value(shownPaymentID(row.ID))
			m.Raw(`">`)
			m.Value(shownPaymentID(row.ID))
			m.Raw(`</span>`)
		}},
		{"status", "", lang.T("Status"), func(m *page.Markup, _ int, row paymentRow) { paymentTag(m, lang, row) }},
		{"amount", "num", lang.T("Amount"), func(m *page.Markup, _ int, row paymentRow) {
			m.Money(row.Amount)
			if row.Refund != 0 {
				m.Raw(` <span class="small muted">`)
				m.Value(lang.T("given back: %s", page.FormatMoney(row.Refund)))
				m.Raw(`</span>`)
			}
		}},
	}))
}

func (d receivedData) title(m *page.Markup, at int, row paymentRow) {
	if row.Orphan {
		m.Raw(`<span class="name cut">`)
		m.Value(row.CustomerName)
		m.Raw(`</span>`)
		return
	}
	m.Raw(`<a class="name cut" href="/invoices/`)
	m.Int(row.InvoiceID)
	m.Raw(`?from=`)
	m.Query(d.Back)
	m.Raw(`&amp;at=`)
	m.Int(d.Pager.At(at))
	m.Raw(`">`)
	m.Value(row.CustomerName)
	m.Raw(`</a>`)
}
