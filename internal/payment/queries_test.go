package payment

import (
	"testing"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func TestReceivedGoesBackPageByPage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for range 5 {
			p := w.charged(t, w.invoice(t).ID)
			w.bank.pay(t, p.PixCode, 3500)
			w.later(t, time.Minute)
		}
		var seen []int64
		for before := int64(0); ; {
			list, next, err := w.Received(t.Context(), w.actor, before, 2)
			must(t, err)
			for _, p := range list {
				if len(seen) > 0 && p.Number >= seen[len(seen)-1] || p.Amount != 3500 || !p.Applied() || p.ReviewID != 0 {
					t.Errorf("after %v: %+v", seen, p)
				}
				seen = append(seen, p.Number)
			}
			if before = next; next == 0 {
				break
			}
		}
		if len(seen) != 5 {
			t.Errorf("seen %v", seen)
		}
		if list, next, err := w.Received(t.Context(), w.newCompany(t), 0, 2); err != nil || len(list) != 0 || next != 0 {
			t.Errorf("another company sees %v, %d, %v", list, next, err)
		}
	})
}

func TestPaymentTellsWhatIsToBeDecided(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3000)
		w.later(t, time.Minute)
		review := w.wantReviews(t, ReasonWrongAmount)[0]
		list, _, err := w.Received(t.Context(), w.actor, 0, 10)
		must(t, err)
		if len(list) != 1 || list[0].ReviewID != review.ID || list[0].Applied() {
			t.Errorf("got %+v", list)
		}
		one, err := w.Review(t.Context(), w.actor, review.ID)
		must(t, err)
		if one.Reason != ReasonWrongAmount || one.Payment.Amount != 3000 || one.Payment.InvoiceID != i.ID {
			t.Errorf("got %+v", one)
		}
		_, err = w.Review(t.Context(), w.newCompany(t), review.ID)
		wantKind(t, err, fault.KindNotFound)

		_, err = w.Decide(t.Context(), w.actor, ReadDecision(values("resolution", "dismissed"), review.ID))
		must(t, err)
		for f, want := range map[ReviewFilter]int64{{}: 1, {Open: true}: 0, {Resolved: true}: 1} {
			all, n, err := w.Reviews(t.Context(), w.actor, f, input.Page{Number: 1, Size: 10})
			if err != nil || n != want || int64(len(all)) != want {
				t.Errorf("%+v: %d (%d), %v; want %d", f, n, len(all), err, want)
			}
		}
		if list, _, err = w.Received(t.Context(), w.actor, 0, 10); err != nil || list[0].ReviewID != 0 {
			t.Errorf("decided, and still %+v, %v", list, err)
		}
	})
}

func TestAttemptsAreTheChargesOfAnInvoice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.charged(t, i.ID)
		w.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, i.ID)
		second := w.charged(t, i.ID)
		list, err := w.Attempts(t.Context(), w.actor, i.ID)
		must(t, err)
		if len(list) != 2 || list[0].State != "pending" || list[0].Amount != 4000 || list[1].State != "cancelled" || list[1].ClosedAt.IsZero() ||
			list[0].Provider != "fake" || list[0].Manual || !list[0].ExpiresAt.Equal(second.ExpiresAt) {
			t.Errorf("got %+v", list)
		}
		if list, err = w.Attempts(t.Context(), w.newCompany(t), i.ID); err != nil || len(list) != 0 {
			t.Errorf("another company sees %+v, %v", list, err)
		}
		link, err := w.PaymentLink(t.Context(), w.actor, i.ID)
		must(t, err)
		if link.Current == nil || link.Current.PixCode != second.PixCode || link.Current.Amount != 4000 {
			t.Errorf("the link has %+v", link.Current)
		}
	})
}

func TestLiveCountsWhatCanBePaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		want := func(charges int64) {
			t.Helper()
			if got, err := w.Live(t.Context(), w.actor); err != nil || got.Charges != charges || int64(got.Amount) != charges*3500 {
				t.Errorf("%+v, %v; want %d", got, err, charges)
			}
		}
		want(0)
		w.charged(t, w.invoice(t).ID)
		w.charged(t, w.invoice(t).ID)
		want(2)
		w.gateway(t, "provider", "other", "secret", "x")
		want(0) // which are those of the gateway before
		w.charged(t, w.invoice(t).ID)
		want(1)
		w.clock.Advance(25 * time.Hour)
		want(0)
		must(t, w.ClearGateway(t.Context(), w.actor))
		want(0)
	})
}

func TestSetupOfAnyProvider(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.gateway(t, "provider", "other", "secret", "another-secret-of-it")
		left, err := w.SetupOf(t.Context(), w.actor, "fake")
		must(t, err)
		if left.ID == 0 || left.Active || left.Options["secret"] != "…pany" {
			t.Errorf("got %+v", left)
		}
		never, err := w.SetupOf(t.Context(), w.actor, "hand")
		must(t, err)
		if never.ID != 0 || never.Active || never.Provider.Name != "hand" || len(never.Options) != 0 {
			t.Errorf("got %+v", never)
		}
		if theirs, err := w.SetupOf(t.Context(), w.newCompany(t), "fake"); err != nil || theirs.ID != 0 || len(theirs.Options) != 0 {
			t.Errorf("another company sees %+v, %v", theirs, err)
		}
		_, err = w.SetupOf(t.Context(), w.actor, "paypal")
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestFailingGatewayIsWorthALook(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.bank.fail("check", errBank)
		for n := 1; n <= breakerAt; n++ {
			_ = w.CheckGateway(t.Context(), w.actor)
			u := w.setup(t)
			if u.Failures != n || u.Failing() != (n >= failingAt) || u.PausedUntil.IsZero() != (n < breakerAt) {
				t.Errorf("after %d: failing %v, paused until %s", n, u.Failing(), u.PausedUntil)
			}
		}
		w.clock.Advance(breakerLimit)
		if u := w.setup(t); !u.PausedUntil.IsZero() || !u.Failing() {
			t.Errorf("after the pause: %+v", u)
		}
		w.bank.fail("check", &Refusal{"the token is wrong"})
		_ = w.CheckGateway(t.Context(), w.actor)
		if u := w.setup(t); u.Failures != 0 || !u.Failing() {
			t.Errorf("refused: %+v", u)
		}
		w.bank.fail("check", nil)
		must(t, w.CheckGateway(t.Context(), w.actor))
		if w.setup(t).Failing() {
			t.Error("it works, and is failing")
		}
	})
}
