package panel

import (
	"html/template"

	"carteira/internal/customer"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

// customerRows are the rows of a list of customers.
type customerRows struct {
	data customersData
	view page.View
}

// Rows are the rows of the list.
func (d customersData) Rows(view page.View) template.HTML {
	rows := customerRows{d, view}
	return tableRows(d.List, shownCells(d.Arranged, rows.cells(view.Frame.(frame)))) // show sets it
}

func (r customerRows) cells(frame frame) []cell[customer.Customer] {
	var cells []cell[customer.Customer]
	if frame.Staff {
		cells = append(cells, cell[customer.Customer]{class: "pick", write: r.pick})
	}
	cells = append(cells, cell[customer.Customer]{class: "title cut", write: r.title})
	cells = append(cells, r.contact()...)
	cells = append(cells, r.terms()...)
	if !frame.Desk {
		return cells
	}
	charge, may := r.view.Lang.T("Charge"), frame.May("payments")
	return append(cells, cell[customer.Customer]{class: "actions", write: func(m *page.Markup, _ int, record customer.Customer) {
		if may {
			r.charge(m, record.ID, charge)
		}
	}})
}

// contact are the columns that say who a customer is.
func (r customerRows) contact() []cell[customer.Customer] {
	lang := r.view.Lang
	return []cell[customer.Customer]{
		{"whatsapp", "more", lang.T("WhatsApp"), func(m *page.Markup, _ int, record customer.Customer) {
			m.Value(page.LocalPhone(record.Whatsapp))
		}},
		{"email", "", lang.T("E-mail"), func(m *page.Markup, _ int, record customer.Customer) { cut(m, record.Email) }},
		{"cpf_cnpj", "", lang.T("CPF or CNPJ"), func(m *page.Markup, _ int, record customer.Customer) {
			m.Value(taxid.Format(record.CpfCnpj))
		}},
		{"external_id", "", lang.T("Your own code"), func(m *page.Markup, _ int, record customer.Customer) { cut(m, record.ExternalID) }},
	}
}

// terms are the columns that say what a customer has bought, and since when.
func (r customerRows) terms() []cell[customer.Customer] {
	lang := r.view.Lang
	return []cell[customer.Customer]{
		{"plan", "cut", lang.T("Plan"), r.plan},
		{"product", "", lang.T("Product"), func(m *page.Markup, _ int, record customer.Customer) { cut(m, record.Product.Name) }},
		{"amount", "num sum", lang.T("Amount"), func(m *page.Markup, _ int, record customer.Customer) {
			if price := record.Price(); price != 0 {
				m.Money(price)
			}
		}},
		{"due_date", "", lang.T("Due date"), func(m *page.Markup, _ int, record customer.Customer) {
			m.Value(page.FormatDate(record.DueOn))
		}},
		{"status", "", lang.T("Status"), r.status},
		{"created_at", "", lang.T("Created on"), func(m *page.Markup, _ int, record customer.Customer) {
			m.Value(page.FormatDate(record.CreatedOn))
		}},
		{"updated_at", "", lang.T("Last change"), func(m *page.Markup, _ int, record customer.Customer) {
			m.Value(r.view.Time(record.UpdatedAt))
		}},
	}
}

func (r customerRows) pick(m *page.Markup, _ int, record customer.Customer) {
	pickBox(m, "c", record.ID)
}

func (r customerRows) title(m *page.Markup, at int, record customer.Customer) {
	m.Raw(`<a class="name" id="c`)
	m.Int(record.ID)
	m.Raw(`" href="/customers/`)
	m.Int(record.ID)
	placeQuery(m, r.data.Query, r.data.Pager.At(at))
	m.Raw(`">`)
	m.Value(record.Name)
	m.Raw(`</a>`)
	if record.Usuario != "" {
		m.Raw(` <small>`)
		m.Value(record.Usuario)
		m.Raw(`</small>`)
	}
}

func (r customerRows) plan(m *page.Markup, _ int, record customer.Customer) {
	if record.Plan.ID == 0 {
		tag(m, "", r.view.Lang.T("No plan"))
		return
	}
	m.Value(record.Plan.Name)
}

func (r customerRows) status(m *page.Markup, _ int, record customer.Customer) {
	lang := r.view.Lang
	customerTag(m, lang, record.Status(r.data.Today))
	if owes := r.data.Owes[record.ID]; owes != 0 {
		m.Raw(` `)
		tag(m, "bad", lang.T("Owes %s", page.FormatMoney(owes)))
	}
}

func (r customerRows) charge(m *page.Markup, id int64, word string) {
	m.Raw(`<a class="btn" data-ask href="/customers/`)
	m.Int(id)
	m.Raw(`/charge" aria-labelledby="charging c`)
	m.Int(id)
	m.Raw(`">`)
	m.Value(word)
	m.Raw(`</a>`)
}
