package panel

import (
	"context"

	"carteira/internal/account"
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
	statuses := optionsOf(deliveryStatuses, func(status webhook.Status) page.Option {
		return req.option(string(status), string(status))
	}, req.option("", "All deliveries"))
	return []chipLine{choiceChips(req, "Status", "status", statuses), dateChips(req, "from", "to", false)}
}

// eventOptions are the events, for a filter.
func eventOptions(req *request) []page.Option {
	return optionsOf(event.Catalog, func(entry event.Entry) page.Option {
		return page.Option{Value: string(entry.Name), Label: string(entry.Name)}
	}, req.option("", "All events"))
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

func (s *Server) delivery(req *request, found webhook.Delivery) error {
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
	return at.place(req, s.deliveryList(webhookID).nth(req, func(record webhook.Delivery) int64 { return record.ID }))
}

// deliveryList is how the deliveries of a webhook are listed.
func (s *Server) deliveryList(webhookID int64) source[webhook.DeliveryFilter, webhook.Delivery] {
	rows := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, at input.Page) ([]webhook.Delivery, int64, error) {
		return s.Webhooks.Deliveries(ctx, actor, webhookID, filter, at)
	}
	return source[webhook.DeliveryFilter, webhook.Delivery]{account.DeliveryList, webhook.ReadDeliveryFilter, byTime, rows}
}

func (s *Server) resendDelivery(req *request) error {
	delivery, err := s.Webhooks.Resend(context.WithoutCancel(req.Context()), req.Actor, "", req.id)
	if err == nil && delivery.Status != webhook.Delivered {
		err = fault.Upstream("it was sent again, and not accepted; see its attempts", nil)
	}
	return req.did(err, req.back("/webhooks"), "It was delivered.")
}
