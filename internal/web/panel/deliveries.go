package panel

import (
	"context"
	"html/template"
	"net/url"

	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// deliveryStatuses are the statuses of deliveries, as lists offer them.
var deliveryStatuses = []webhook.Status{
	webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Refused, webhook.Parked,
}

func deliveryChips(req *request) []chipLine {
	statuses := []page.Option{{Value: "", Label: req.lang.T("All deliveries")}}
	for _, status := range deliveryStatuses {
		statuses = append(statuses, page.Option{Value: string(status), Label: req.lang.T(string(status))})
	}
	return []chipLine{
		choiceChips(req, "Status", "status", statuses),
		dateChips(req, "from", "to", false),
	}
}

// eventOptions are the events, for a filter.
func eventOptions(req *request) []page.Option {
	options := []page.Option{{Value: "", Label: req.lang.T("All events")}}
	for _, entry := range event.Catalog {
		options = append(options, page.Option{Value: string(entry.Name), Label: string(entry.Name)})
	}
	return options
}

// deliveryRow is a delivery as the list and its own page show it.
type deliveryRow struct{ webhook.Delivery }

type deliveryData struct {
	deliveryRow
	Place place
}

// Last is the last attempt; nil when there was none.
func (d deliveryRow) Last() *webhook.Attempt {
	if len(d.Attempts) == 0 {
		return nil
	}
	return &d.Attempts[len(d.Attempts)-1]
}

func (s *Server) delivery(req *request) error {
	found, err := s.Webhooks.Delivery(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	where, err := s.deliveryPlace(req, found.WebhookID)
	if err != nil {
		return err
	}
	return s.show(req, page.View{Name: "delivery", Title: "Delivery", Data: deliveryData{deliveryRow{found}, where}})
}

// deliveryPlace is where a delivery is in the list of its webhook. The notification
// of a single invoice is in none.
func (s *Server) deliveryPlace(req *request, webhookID int64) (place, error) {
	if webhookID == 0 {
		return place{Back: "/webhooks"}, nil
	}
	at := listed{List: webhookPath(webhookID), Records: "/deliveries"}
	list := func(query url.Values, filter webhook.DeliveryFilter, at input.Page) ([]webhook.Delivery, error) {
		at.Sort = sortIn(query, input.ByID)
		found, _, err := s.Webhooks.Deliveries(req.Context(), req.Actor, webhookID, filter, at)
		return found, err
	}
	return at.place(req, nth(webhook.ReadDeliveryFilter, list, func(record webhook.Delivery) int64 { return record.ID }))
}

func (s *Server) resendDelivery(req *request) error {
	delivery, err := s.Webhooks.Resend(context.WithoutCancel(req.Context()), req.Actor, "", req.id)
	if err != nil {
		return req.complain(req.back("/webhooks"), err)
	}
	if delivery.Status == webhook.Delivered {
		return req.done(req.back("/webhooks"), "It was delivered.")
	}
	return req.complain(
		req.back("/webhooks"),
		fault.Upstream("it was sent again, and not accepted; see its attempts", nil),
	)
}

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
