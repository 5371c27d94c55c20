package webhook

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// stand gives the company another subscription, as the room of resellers does.
func (w *world) stand(s account.Subscription) {
	w.t.Helper()
	accounts := account.New(w.db, account.Config{})
	accounts.Watch(w.CompanyChanged)
	must(w.t, w.db.Write(w.t.Context(), func(tx *sqldb.Tx) error {
		before, err := account.FindCompany(w.t.Context(), tx, w.actor.Company.ID)
		if err != nil {
			return err
		}
		w.actor = account.System(before, "test")
		w.actor.Company.Subscription = s
		return accounts.SaveTx(w.t.Context(), tx, w.actor, &account.Change{
			Action: account.CompanyUpdated, Before: account.Profile{Company: before}, After: account.Profile{Company: w.actor.Company},
		})
	}))
}

func live(until string) account.Subscription {
	return account.Subscription{Kind: account.Subscriber, ExpiresOn: civil.MustParse(until), Functions: account.EveryFunction}
}

// stopped are the ways in which webhooks stop.
func stopped() map[string]account.Subscription {
	suspended, without := live("2026-12-31"), live("2026-12-31")
	suspended.SuspendedAt = noon
	without.Functions = account.EveryFunction &^ account.FunctionsOf(account.FunctionWebhooks)
	return map[string]account.Subscription{"suspended": suspended, "expired": live("2026-01-30"), "without the function": without}
}

func TestWebhooksStopWithTheSubscriptionAndGoOnWithIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, subscription := range stopped() {
			r := newReceiver(t)
			id, _ := w.subscribe(r.URL, event.CustomerCreated)
			off, _ := w.subscribe(r.URL, event.CustomerCreated)
			w.put(off, `{"active":false}`)
			r.answer(503)
			w.stand(live("2026-01-31")) // its last day is today
			first := w.happen(2, event.CustomerCreated)
			if n := w.rounds(); n == 0 || w.count(id)[Pending] != 2 {
				t.Fatalf("%s: %d attempts, %v", name, n, w.count(id))
			}
			w.stand(subscription)
			if n := w.count(id); n[Parked] != 2 {
				t.Errorf("%s: what was on its way is not parked: %v", name, n)
			}
			unsent := w.happen(3, event.CustomerCreated)
			if _, err := w.StartReplay(t.Context(), w.actor, id, noon); fault.KindOf(err) != fault.KindConflict {
				t.Errorf("%s: a replay was begun: %v", name, err)
			}
			w.clock.Advance(time.Minute * 2)
			if n := w.rounds(); n != 0 {
				t.Errorf("%s: %d deliveries were sent", name, n)
			}
			if n := w.count(id); n[Parked] != 2 || len(w.history(id)) != 2 {
				t.Errorf("%s: %v", name, n)
			}
			r.answer(200)
			w.stand(live("2026-12-31"))
			after := w.happen(1, event.CustomerCreated)
			w.rounds()
			if n := w.count(id); n[Delivered] != 3 || len(w.history(off)) != 0 {
				t.Errorf("%s, and renewed: %v", name, n)
			}
			_, err := w.StartReplay(t.Context(), w.actor, id, noon)
			must(t, err)
			must(t, w.ContinueReplays(t.Context()))
			w.rounds()
			times := r.times()
			for _, e := range append(append(first, unsent...), after...) {
				if times[e] == 0 {
					t.Errorf("%s: %s never came", name, e)
				}
			}
			must(t, w.Delete(t.Context(), w.actor, id))
			must(t, w.Delete(t.Context(), w.actor, off))
			w.clock.Set(noon)
		}
	})
}

// The end of a subscription changes no row: the next round of the calendar parks
// what is on its way.
func TestMidnightOfTheLastDayHoldsWhatIsPending(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := newReceiver(t)
		r.answer(503)
		id, _ := w.subscribe(r.URL, event.CustomerCreated)
		w.stand(live("2026-01-31"))
		w.clock.Set(time.Date(2026, 2, 1, 2, 59, 0, 0, time.UTC)) // a minute before midnight in São Paulo
		w.happen(1, event.CustomerCreated)
		w.rounds()
		must(t, w.Hold(t.Context(), w.actor))
		if n := w.count(id); n[Pending] != 1 {
			t.Errorf("on the last day: %v", n)
		}
		w.clock.Advance(time.Minute)
		for range 2 {
			must(t, w.Hold(t.Context(), w.actor))
			if n := w.count(id); n[Parked] != 1 {
				t.Errorf("after it: %v", n)
			}
		}
		w.happen(1, event.CustomerCreated)
		if list := w.history(id); len(list) != 1 {
			t.Errorf("%d deliveries after the end", len(list))
		}
		recorded, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM events`)
		if err != nil || recorded != 2 {
			t.Errorf("%d events were recorded, %v; want both", recorded, err)
		}
	})
}
