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
	"carteira/internal/webhook/webhooktest"
)

// stand gives the company another subscription, as the room of resellers does.
func stand(w *webhooktest.World, s account.Subscription) {
	w.T.Helper()
	accounts := account.New(w.DB, account.Config{})
	accounts.Watch(w.CompanyChanged)
	webhooktest.Must(w.T, w.DB.Write(w.T.Context(), func(tx *sqldb.Tx) error {
		before, err := account.FindCompany(w.T.Context(), tx, w.Actor.Company.ID)
		if err != nil {
			return err
		}
		w.Actor = account.System(before, "test")
		w.Actor.Company.Subscription = s
		return accounts.SaveTx(w.T.Context(), tx, w.Actor, &account.Change{
			Action: account.CompanyUpdated, Before: account.Profile{Company: before}, After: account.Profile{Company: w.Actor.Company},
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
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		for name, subscription := range stopped() {
			r := webhooktest.NewReceiver(t)
			id, _ := w.Subscribe(r.URL, event.CustomerCreated)
			off, _ := w.Subscribe(r.URL, event.CustomerCreated)
			w.Put(off, `{"active":false}`)
			r.Answer(503)
			stand(w, live("2026-01-31")) // its last day is today
			first := w.Happen(2, event.CustomerCreated)
			if n := w.Rounds(); n == 0 || w.Count(id)[webhook.Pending] != 2 {
				t.Fatalf("%s: %d attempts, %v", name, n, w.Count(id))
			}
			stand(w, subscription)
			if n := w.Count(id); n[webhook.Parked] != 2 {
				t.Errorf("%s: what was on its way is not parked: %v", name, n)
			}
			unsent := w.Happen(3, event.CustomerCreated)
			if _, err := w.StartReplay(t.Context(), w.Actor, id, webhooktest.Morning); fault.KindOf(err) != fault.KindConflict {
				t.Errorf("%s: a replay was begun: %v", name, err)
			}
			w.Clock.Advance(time.Minute * 2)
			if n := w.Rounds(); n != 0 {
				t.Errorf("%s: %d deliveries were sent", name, n)
			}
			if n := w.Count(id); n[webhook.Parked] != 2 || len(w.History(id)) != 2 {
				t.Errorf("%s: %v", name, n)
			}
			r.Answer(200)
			stand(w, live("2026-12-31"))
			after := w.Happen(1, event.CustomerCreated)
			w.Rounds()
			if n := w.Count(id); n[webhook.Delivered] != 3 || len(w.History(off)) != 0 {
				t.Errorf("%s, and renewed: %v", name, n)
			}
			_, err := w.StartReplay(t.Context(), w.Actor, id, webhooktest.Morning)
			webhooktest.Must(t, err)
			webhooktest.Must(t, w.ContinueReplays(t.Context()))
			w.Rounds()
			times := r.Times()
			for _, e := range append(append(first, unsent...), after...) {
				if times[e] == 0 {
					t.Errorf("%s: %s never came", name, e)
				}
			}
			webhooktest.Must(t, w.Delete(t.Context(), w.Actor, id))
			webhooktest.Must(t, w.Delete(t.Context(), w.Actor, off))
			w.Clock.Set(webhooktest.Morning)
		}
	})
}

// The end of a subscription changes no row: the next round of the calendar parks
// what is on its way.
func TestMidnightOfTheLastDayHoldsWhatIsPending(t *testing.T) {
	webhooktest.Each(t, func(t *testing.T, w *webhooktest.World) {
		r := webhooktest.NewReceiver(t)
		r.Answer(503)
		id, _ := w.Subscribe(r.URL, event.CustomerCreated)
		stand(w, live("2026-01-31"))
		w.Clock.Set(time.Date(2026, 2, 1, 2, 59, 0, 0, time.UTC)) // a minute before midnight in São Paulo
		w.Happen(1, event.CustomerCreated)
		w.Rounds()
		webhooktest.Must(t, w.Hold(t.Context(), w.Actor))
		if n := w.Count(id); n[webhook.Pending] != 1 {
			t.Errorf("on the last day: %v", n)
		}
		w.Clock.Advance(time.Minute)
		for range 2 {
			webhooktest.Must(t, w.Hold(t.Context(), w.Actor))
			if n := w.Count(id); n[webhook.Parked] != 1 {
				t.Errorf("after it: %v", n)
			}
		}
		w.Happen(1, event.CustomerCreated)
		if list := w.History(id); len(list) != 1 {
			t.Errorf("%d deliveries after the end", len(list))
		}
		recorded, err := sqldb.Value[int64](t.Context(), w.DB, `SELECT count(*) FROM events`)
		if err != nil || recorded != 2 {
			t.Errorf("%d events were recorded, %v; want both", recorded, err)
		}
	})
}
