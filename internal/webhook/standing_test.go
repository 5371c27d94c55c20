package webhook_test

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/webhooktest"
)

// stand gives the company another subscription, as the room of resellers does.
func stand(world *webhooktest.World, subscription account.Subscription) {
	world.T.Helper()
	accounts := account.New(world.DB, account.Config{})
	accounts.Watch(world.CompanyChanged)
	webhooktest.Must(world.T, world.DB.Write(world.T.Context(), func(tx *sqldb.Tx) error {
		before, err := account.FindCompany(world.T.Context(), tx, world.Actor.Company.ID)
		if err != nil {
			return err
		}
		world.Actor = account.System(before, "test")
		world.Actor.Company.Subscription = subscription
		return accounts.SaveTx(world.T.Context(), world.Actor.In(tx), &account.Change{
			Action: account.CompanyUpdated, Before: account.Profile{Company: before}, After: account.Profile{Company: world.Actor.Company},
		})
	}))
}

func live(until string) account.Subscription {
	return account.Subscription{Kind: account.Subscriber, ExpiresOn: civil.MustParse(until), Functions: account.EveryFunction}
}

// stopped are the ways in which webhooks stop.
func stopped() map[string]account.Subscription {
	suspended, without := live("2026-12-31"), live("2026-12-31")
	suspended.SuspendedAt = webhooktest.Morning
	without.Functions = account.EveryFunction &^ account.FunctionsOf(account.FunctionWebhooks)
	below, ended := live("2026-12-31"), live("2026-12-31")
	below.Above.SuspendedAt, ended.Above.ExpiresOn = webhooktest.Morning, civil.MustParse("2026-01-30")
	return map[string]account.Subscription{"below a suspended one": below, "below an expired one": ended, "suspended": suspended, "expired": live("2026-01-30"), "without the function": without}
}

func TestWebhooksStopWithTheSubscriptionAndGoOnWithIt(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		for name, subscription := range stopped() {
			receiver := webhooktest.NewReceiver(t)
			id, _ := world.Subscribe(receiver.URL, event.CustomerCreated)
			off, _ := world.Subscribe(receiver.URL, event.CustomerCreated)
			world.Put(off, `{"active":false}`)
			receiver.Answer(503)
			stand(world, live("2026-01-31")) // its last day is today
			first := world.Happen(2, event.CustomerCreated)
			if n := world.Rounds(); n == 0 || world.Count(id)[webhook.Pending] != 2 {
				t.Fatalf("%s: %d attempts, %v", name, n, world.Count(id))
			}
			stand(world, subscription)
			if n := world.Count(id); n[webhook.Parked] != 2 {
				t.Errorf("%s: what was on its way is not parked: %v", name, n)
			}
			unsent := world.Happen(3, event.CustomerCreated)
			if _, err := world.StartReplay(t.Context(), world.Actor, id, webhooktest.Morning); fault.KindOf(err) != fault.KindConflict {
				t.Errorf("%s: a replay was begun: %v", name, err)
			}
			world.Clock.Advance(time.Minute * 2)
			if n := world.Rounds(); n != 0 {
				t.Errorf("%s: %d deliveries were sent", name, n)
			}
			if n := world.Count(id); n[webhook.Parked] != 2 || len(world.History(id)) != 2 {
				t.Errorf("%s: %v", name, n)
			}
			receiver.Answer(200)
			stand(world, live("2026-12-31"))
			after := world.Happen(1, event.CustomerCreated)
			world.Rounds()
			if n := world.Count(id); n[webhook.Delivered] != 3 || len(world.History(off)) != 0 {
				t.Errorf("%s, and renewed: %v", name, n)
			}
			_, err := world.StartReplay(t.Context(), world.Actor, id, webhooktest.Morning)
			webhooktest.Must(t, err)
			webhooktest.Must(t, world.ContinueReplays(t.Context()))
			world.Rounds()
			times := receiver.Times()
			for _, e := range append(append(first, unsent...), after...) {
				if times[e] == 0 {
					t.Errorf("%s: %s never came", name, e)
				}
			}
			webhooktest.Must(t, world.Delete(t.Context(), world.Actor, id))
			webhooktest.Must(t, world.Delete(t.Context(), world.Actor, off))
			world.Clock.Set(webhooktest.Morning)
		}
	})
}

// The end of a subscription changes no row: the next round of the calendar parks
// what is on its way.
func TestMidnightOfTheLastDayHoldsWhatIsPending(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, world *webhooktest.World) {
		receiver := webhooktest.NewReceiver(t)
		receiver.Answer(503)
		id, _ := world.Subscribe(receiver.URL, event.CustomerCreated)
		stand(world, live("2026-01-31"))
		world.Clock.Set(time.Date(2026, 2, 1, 2, 59, 0, 0, time.UTC)) // a minute before midnight in São Paulo
		world.Happen(1, event.CustomerCreated)
		world.Rounds()
		webhooktest.Must(t, world.Hold(t.Context()))
		if n := world.Count(id); n[webhook.Pending] != 1 {
			t.Errorf("on the last day: %v", n)
		}
		world.Clock.Advance(time.Minute)
		for range 2 {
			webhooktest.Must(t, world.Hold(t.Context()))
			if n := world.Count(id); n[webhook.Parked] != 1 {
				t.Errorf("after it: %v", n)
			}
		}
		world.Happen(1, event.CustomerCreated)
		if list := world.History(id); len(list) != 1 {
			t.Errorf("%d deliveries after the end", len(list))
		}
		recorded, err := sqldb.Value[int64](t.Context(), world.DB, `SELECT count(*) FROM events`)
		if err != nil || recorded != 2 {
			t.Errorf("%d events were recorded, %v; want both", recorded, err)
		}
	})
}
