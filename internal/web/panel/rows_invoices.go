package panel

import (
	"html/template"

	"carteira/internal/billing"
	"carteira/internal/web/page"
)

// invoiceRows are the rows of a list of invoices.
type invoiceRows struct {
	data  invoicesData
	view  page.View
	frame frame
}

// Rows are the rows of the list.
func (d invoicesData) Rows(view page.View) template.HTML {
	rows := invoiceRows{d, view, view.Frame.(frame)} // show sets it
	return tableRows(d.List, shownCells(d.Arranged, rows.cells()))
}

func (r invoiceRows) cells() []cell[billing.Invoice] {
	var cells []cell[billing.Invoice]
	if r.frame.Staff {
		cells = append(cells, cell[billing.Invoice]{class: "pick", write: r.pick})
	}
	cells = append(cells, cell[billing.Invoice]{class: "title", write: r.title})
	cells = append(cells, r.subject()...)
	cells = append(cells, r.money()...)
	if r.frame.Desk {
		cells = append(cells, cell[billing.Invoice]{class: "actions", write: r.actions})
	}
	return cells
}

// subject are the columns that say what an invoice is for.
func (r invoiceRows) subject() []cell[billing.Invoice] {
	lang := r.view.Lang
	return []cell[billing.Invoice]{
		{"number", "num more", lang.T("Number"), func(m *page.Markup, _ int, record billing.Invoice) { m.Int(record.ID) }},
		{"description", "more", lang.T("Description"), func(m *page.Markup, _ int, record billing.Invoice) { cut(m, record.Description) }},
		{"plan", "", lang.T("Plan"), func(m *page.Markup, _ int, record billing.Invoice) { cut(m, record.Plan.Name) }},
		{"due_date", "due", lang.T("Due date"), r.due},
	}
}

// money are the columns that say what became of an invoice.
func (r invoiceRows) money() []cell[billing.Invoice] {
	lang := r.view.Lang
	return []cell[billing.Invoice]{
		{"paid_on", "", lang.T("Paid on"), func(m *page.Markup, _ int, record billing.Invoice) {
			m.Value(page.FormatDate(record.PaidOn))
		}},
		{"status", "", lang.T("Status"), func(m *page.Markup, _ int, record billing.Invoice) {
			invoiceTag(m, lang, record.Status, record.Overdue(r.data.Today))
		}},
		{"amount", "num sum", lang.T("Amount"), func(m *page.Markup, _ int, record billing.Invoice) {
			invoiceAmount(m, lang, record, record.PayableOn(r.frame.Company, r.data.Today))
		}},
		{"created_at", "", lang.T("Created on"), func(m *page.Markup, _ int, record billing.Invoice) {
			m.Value(r.view.OwnTime(record.CreatedAt))
		}},
		{"updated_at", "", lang.T("Last change"), func(m *page.Markup, _ int, record billing.Invoice) {
			m.Value(r.view.Time(record.UpdatedAt))
		}},
	}
}

func (r invoiceRows) pick(m *page.Markup, _ int, record billing.Invoice) {
	pickBox(m, "i", record.ID)
}

func (r invoiceRows) title(m *page.Markup, at int, record billing.Invoice) {
	m.Raw(`<a class="name cut" id="i`)
	m.Int(record.ID)
	m.Raw(`" href="/invoices/`)
	m.Int(record.ID)
	placeQuery(m, r.data.Query, r.data.Pager.At(at))
	m.Raw(`">`)
	m.Value(record.Customer.Name)
	m.Raw(`</a>`)
}

func (r invoiceRows) due(m *page.Markup, _ int, record billing.Invoice) {
	m.Value(page.FormatDate(record.DueOn))
	late, lang := record.DaysLate(r.data.Today), r.view.Lang
	if late == 0 {
		return
	}
	m.Raw(` <small>`)
	if late == 1 {
		m.Value(lang.T("1 day late"))
	} else {
		m.Value(lang.T("%d days late", late))
	}
	m.Raw(`</small>`)
}

// actions are what can be done with an open invoice. The page has the word of the
// second, once for all rows.
func (r invoiceRows) actions(m *page.Markup, _ int, record billing.Invoice) {
	if record.Status != billing.Open {
		return
	}
	if r.frame.May("payments") {
		m.Raw(`<a class="btn" data-ask href="/invoices/`)
		m.Int(record.ID)
		m.Raw(`/charge" aria-labelledby="charging i`)
		m.Int(record.ID)
		m.Raw(`">`)
		m.Value(r.view.Lang.T("Charge"))
		m.Raw(`</a> `)
	}
	m.Raw(`<a class="btn" data-ask href="/invoices/`)
	m.Int(record.ID)
	m.Raw(`/pay?list=`)
	m.Query(r.data.Query)
	m.Raw(`" aria-labelledby="paying i`)
	m.Int(record.ID)
	m.Raw(`" title="`)
	m.Value(r.view.Lang.T("Register a payment"))
	m.Raw(`">✓</a>`)
}
