package webhook_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/webhook"
	"carteira/test/kit/webhooktest"
)

// Every page of every filter in both orders is what a look at all deliveries finds.
func TestPagesOfDeliveriesAreThoseOfAModel(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		id, _ := world.Subscribe(receiver.URL, event.InvoicePaid, event.CustomerCreated)
		world.Subscribe(receiver.URL, event.InvoicePaid) // has a history of its own
		for _, status := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusOK} {
			receiver.Answer(status)
			world.Happen(4, event.InvoicePaid)
			world.Happen(5, event.CustomerCreated)
			world.Rounds()
			world.Clock.Advance(24 * time.Hour)
		}
		world.Happen(6, event.InvoicePaid) // pending
		var all []webhook.Delivery
		webhooktest.Must(t, world.WalkDeliveries(t.Context(), world.Actor, id, webhook.DeliveryFilter{}, func(delivery webhook.Delivery) error {
			all = append(all, delivery)
			return nil
		}))
		if len(all) != 33 {
			t.Fatalf("%d deliveries", len(all))
		}
		random := rand.New(rand.NewPCG(21, 22))
		for range 100 {
			filter := webhook.DeliveryFilter{
				Status: []webhook.Status{"", webhook.Delivered, webhook.Refused, webhook.Pending, webhook.Parked}[random.IntN(5)],
				Event:  []event.Name{"", event.InvoicePaid, event.CustomerCreated}[random.IntN(3)],
			}
			if random.IntN(2) == 0 {
				filter.From = world.Actor.Today(all[random.IntN(len(all))].CreatedAt)
			}
			if random.IntN(2) == 0 {
				filter.To = world.Actor.Today(all[random.IntN(len(all))].CreatedAt)
			}
			page := input.Page{Number: 1 + random.Int64N(4), Size: 1 + random.Int64N(12), Sort: []input.Sort{"", "id", "-id"}[random.IntN(3)]}
			want := deliveriesOf(filter, all, page.Sort, world.Actor.Today)
			total := int64(len(want))
			want = want[min(page.Offset(), total):min(page.Offset()+page.Size, total)]
			list, count, err := world.Deliveries(t.Context(), world.Actor, id, filter, page)
			same := slices.EqualFunc(list, want, func(a, b webhook.Delivery) bool { return a.ID == b.ID && a.Status == b.Status })
			if err != nil || count != total || !same {
				t.Fatalf("%+v, %+v: %d of %d, %v, want %d of %d", filter, page, len(list), count, err, len(want), total)
			}
		}
	})
}

// deliveriesOf is what a filter has of all deliveries, newest or oldest first.
func deliveriesOf(filter webhook.DeliveryFilter, all []webhook.Delivery, sort input.Sort, day func(time.Time) civil.Date) []webhook.Delivery {
	list := slices.DeleteFunc(slices.Clone(all), func(delivery webhook.Delivery) bool {
		made := day(delivery.CreatedAt)
		return filter.Status != "" && delivery.Status != filter.Status || filter.Event != "" && delivery.Event != filter.Event ||
			!filter.From.IsZero() && made.Before(filter.From) || !filter.To.IsZero() && made.After(filter.To)
	})
	if sort == "id" {
		slices.Reverse(list)
	}
	return list
}
