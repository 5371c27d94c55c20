package panel

import (
	"html/template"

	"carteira/internal/web/page"
)

// Rows are the rows of the list. One form is around all of them, and the button of
// a row says where it leads.
func (d webhookData) Rows(view page.View) template.HTML {
	lang, resend := view.Lang, view.Lang.T("Resend")
	return tableRows(d.List, shownCells(d.Arranged, []cell[deliveryRow]{
		{"", "title", "", d.title},
		{"when", "", lang.T("When"), func(m *page.Markup, _ int, row deliveryRow) { m.Value(view.Time(row.CreatedAt)) }},
		{"status", "", lang.T("Status"), func(m *page.Markup, _ int, row deliveryRow) { deliveryTag(m, lang, row.Status) }},
		{"attempts", "num", lang.T("Attempts"), func(m *page.Markup, _ int, row deliveryRow) { m.Int(int64(len(row.Attempts))) }},
		{"answer", "num", lang.T("Answer"), func(m *page.Markup, _ int, row deliveryRow) { row.writeAnswer(m) }},
		{"took", "num", lang.T("Took"), func(m *page.Markup, _ int, row deliveryRow) { row.writeDuration(m) }},
		{"", "actions", "", func(m *page.Markup, _ int, row deliveryRow) { row.writeResend(m, resend) }},
	}))
}

func (d webhookData) title(m *page.Markup, at int, row deliveryRow) {
	m.Raw(`<a class="name mono" id="d`)
	m.Int(row.ID)
	m.Raw(`" data-ask href="/deliveries/`)
	m.Int(row.ID)
	placeQuery(m, d.Query, d.Pager.At(at))
	m.Raw(`">`)
	m.Value(string(row.Event))
	m.Raw(`</a>`)
}

// writeAnswer writes the status that the receiver answered the last attempt with;
// a dash where no answer came.
func (d deliveryRow) writeAnswer(m *page.Markup) {
	last := d.Last()
	switch {
	case last == nil:
	case last.ResponseStatus == 0:
		m.Raw(`—`)
	default:
		m.Int(int64(last.ResponseStatus))
	}
}

// writeDuration writes how long the last attempt took.
func (d deliveryRow) writeDuration(m *page.Markup) {
	if last := d.Last(); last != nil {
		m.Int(last.Duration.Milliseconds())
		m.Raw(` ms`)
	}
}

func (d deliveryRow) writeResend(m *page.Markup, word string) {
	m.Raw(`<button class="btn" formaction="/deliveries/`)
	m.Int(d.ID)
	m.Raw(`/resend" aria-describedby="d`)
	m.Int(d.ID)
	m.Raw(`">`)
	m.Value(word)
	m.Raw(`</button>`)
}
