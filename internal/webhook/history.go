package webhook

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/webhook/sender"
)

// Delivery is one event on its way to one receiver, with its history.
type Delivery struct {
	ID          int64
	EventID     string
	Event       event.Name
	WebhookID   int64 // 0: the notification of a single invoice
	URL         string
	Status      Status
	Attempts    []Attempt
	NextAttempt time.Time // zero: none
	Payload     json.RawMessage
	CreatedAt   time.Time
	DeliveredAt time.Time
}

// Attempt is one try to deliver.
type Attempt = sender.Attempt

// DeliveryFilter chooses deliveries of a webhook.
type DeliveryFilter struct {
	Status Status
	Event  event.Name
	From   civil.Date
	To     civil.Date
}

// ReadDeliveryFilter reads a DeliveryFilter from a query.
func ReadDeliveryFilter(in *input.Form) DeliveryFilter {
	names := make([]event.Name, len(event.Catalog))
	for n, entry := range event.Catalog {
		names[n] = entry.Name
	}
	return DeliveryFilter{
		Status: input.OneOf(in, "status", Pending, Delivered, Failed, Refused, Parked).Value,
		Event:  input.OneOf(in, "event", names...).Value,
		From:   in.Date("from").Value,
		To:     in.Date("to").Value,
	}
}

// Deliveries returns a page of a webhook's deliveries with their attempts, newest
// or oldest first, and how many there are.
func (s *Service) Deliveries(
	ctx context.Context, actor account.Actor, webhookID int64, filter DeliveryFilter, page input.Page,
) ([]Delivery, int64, error) {
	if _, err := s.Find(ctx, actor, webhookID); err != nil {
		return nil, 0, err
	}
	list, total, err := deliveryTable.Page(ctx, s.db, filter.query(actor, webhookID), page)
	if err != nil {
		return nil, 0, err
	}
	return list, total, s.addAttempts(ctx, actor, list)
}

// Delivery is one delivery with its attempts.
func (s *Service) Delivery(ctx context.Context, actor account.Actor, id int64) (Delivery, error) {
	delivery, err := deliveryByID(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return Delivery{}, err
	}
	list := []Delivery{delivery}
	err = s.addAttempts(ctx, actor, list)
	return list[0], err
}

// WalkDeliveries calls visit for every delivery of a filter, newest first and
// without attempts.
func (s *Service) WalkDeliveries(
	ctx context.Context, actor account.Actor, webhookID int64, filter DeliveryFilter, visit func(Delivery) error,
) error {
	if _, err := s.Find(ctx, actor, webhookID); err != nil {
		return err
	}
	return deliveryTable.Each(ctx, s.db, filter.query(actor, webhookID), visit)
}

// addAttempts reads the attempts of all deliveries of a page at once.
func (s *Service) addAttempts(ctx context.Context, actor account.Actor, list []Delivery) error {
	ids := make([]int64, len(list))
	place := make(map[int64]int, len(list))
	for i, delivery := range list {
		ids[i], place[delivery.ID] = delivery.ID, i
	}
	return attempts(ctx, s.db, actor.Company.ID, ids, func(deliveryID int64, attempt Attempt) {
		delivery := &list[place[deliveryID]]
		delivery.Attempts = append(delivery.Attempts, attempt)
	})
}

// Test sends a ping to a webhook at once and returns the attempt. It also
// works on a webhook that is switched off. The attempt is in the history and
// does not count as a failure.
func (s *Service) Test(ctx context.Context, actor account.Actor, webhookID int64) (Attempt, bool, error) {
	var job sender.Job
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		webhook, err := webhookByID(ctx, tx, actor.Company.ID, webhookID)
		if err != nil {
			return err
		}
		recorded, err := s.events.RecordEvent(ctx, tx.Tx, actor.Source(), event.Ping, pingData{
			Message: "This is a test of your webhook.",
			Webhook: pingWebhook{webhook.ID, webhook.URL},
		})
		if err != nil {
			return err
		}
		deliveryID, err := insertTest(ctx, tx.Tx, recorded, webhook.ID)
		if err != nil {
			return err
		}
		job, err = s.claimOne(ctx, tx, deliveryID)
		return err
	})
	if err != nil {
		return Attempt{}, false, err
	}
	return s.sender.SendNow(ctx, job)
}

type pingData struct {
	Message string      `json:"message"`
	Webhook pingWebhook `json:"webhook"`
}

type pingWebhook struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
}

// Resend makes one attempt at a delivery at once, with the same id and body;
// if it fails, the usual retries follow. It is named by its id, or by the id of
// its event: then the newest delivery of that event is meant.
func (s *Service) Resend(ctx context.Context, actor account.Actor, name string, deliveryID int64) (Delivery, error) {
	var job sender.Job
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		if strings.HasPrefix(name, "evt_") {
			if deliveryID, err = deliveryOfEvent(ctx, tx, actor.Company.ID, name); err != nil {
				return err
			}
		}
		if err := s.reopen(ctx, tx, deliveryID); err != nil {
			return err
		}
		entry := account.AuditEntry{Action: "delivery.resent", Record: "delivery", ID: deliveryID}
		if err := account.WriteAudit(ctx, tx, entry); err != nil {
			return err
		}
		job, err = s.claimOne(ctx, tx, deliveryID)
		return err
	})
	if err != nil {
		return Delivery{}, err
	}
	if _, _, err := s.sender.SendNow(ctx, job); err != nil {
		return Delivery{}, err
	}
	return s.Delivery(ctx, actor, deliveryID)
}

// reopen puts a delivery back at the beginning of its schedule. One that is
// being sent at the moment is left alone.
func (s *Service) reopen(ctx context.Context, tx account.Tx, deliveryID int64) error {
	delivery, claimed, err := lockDelivery(ctx, tx, deliveryID)
	if err != nil {
		return err
	}
	if claimed {
		return fault.Conflict("this delivery is being sent at the moment")
	}
	if delivery.WebhookID != 0 {
		webhook, err := webhookByID(ctx, tx, tx.Company.ID, delivery.WebhookID)
		if err != nil {
			return err
		}
		if !webhook.Active {
			return fault.Field("active", "the webhook is switched off; switch it on to send again")
		}
	}
	return sender.Requeue(ctx, tx.Tx, tx.Company.ID, deliveryID)
}

// claimOne claims a delivery for an attempt that a person waits for.
func (s *Service) claimOne(ctx context.Context, tx account.Tx, deliveryID int64) (sender.Job, error) {
	job, due, err := s.sender.ClaimNow(ctx, tx.Tx, tx.Company.ID, deliveryID)
	if err == nil && !due {
		err = fault.Conflict("this delivery is being sent at the moment")
	}
	return job, err
}
