package panel

import (
	"html/template"

	"carteira/internal/web/page"
)

// Rows are the deliveries of the list.
func (d webhookData) Rows(view page.View) template.HTML {
	resend := view.Lang.T("Resend")
	var m page.Markup
	for _, row := range d.List {
		m.Raw(`<li><span class="grow"><a class="mono" id="d`)
		m.Int(row.ID)
		m.Raw(`" data-ask href="/deliveries/`)
		m.Int(row.ID)
		m.Raw(`">`)
		m.Value(string(row.Event))
		m.Raw(`</a> `)
		deliveryTag(&m, view.Lang, row.Status)
		m.Raw(` <span class="small muted">`)
		m.Value(view.Time(row.CreatedAt))
		row.writeLast(&m)
		m.Raw(`</span></span><form method="post" action="/deliveries/`)
		m.Int(row.ID)
		m.Raw(`/resend"><input type="hidden" name="back" value="`)
		m.Value(d.Back)
		m.Raw(`"><button class="btn" data-variant="ghost" data-size="sm" aria-describedby="d`)
		m.Int(row.ID)
		m.Raw(`">`)
		m.Icon("rotate-cw")
		m.Value(resend)
		m.Raw(`</button></form></li>`)
	}
	return m.HTML()
}

// writeLast says what the last attempt came to.
func (d deliveryRow) writeLast(m *page.Markup) {
	last := d.Last()
	if last == nil {
		return
	}
	m.Raw(` · `)
	if last.ResponseStatus != 0 {
		m.Int(int64(last.ResponseStatus))
		m.Raw(` · `)
	}
	m.Int(last.Duration.Milliseconds())
	m.Raw(` ms`)
}
