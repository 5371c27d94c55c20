package payment

import (
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func TestReceivedGoesBackPageByPage(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for range 5 {
			payable := world.charged(t, world.invoice(t).ID)
			world.bank.pay(t, payable.PixCode, 3500)
			world.later(t, time.Minute)
		}
		var seen []int64
		for number := int64(1); number <= 3; number++ {
			list, total, err := world.List(t.Context(), world.actor, billing.PaymentFilter{}, input.Page{Number: number, Size: 2})
			if must(t, err); total != 5 {
				t.Errorf("%d in all", total)
			}
			for _, payment := range list {
				if len(seen) > 0 && payment.Number >= seen[len(seen)-1] || payment.Amount != 3500 || !payment.Applied() || payment.ReviewID != 0 {
					t.Errorf("after %v: %+v", seen, payment)
				}
				seen = append(seen, payment.Number)
			}
		}
		if len(seen) != 5 {
			t.Errorf("seen %v", seen)
		}
		if list, total, err := world.List(t.Context(), world.newCompany(t), billing.PaymentFilter{}, firstPage); err != nil || len(list) != 0 || total != 0 {
			t.Errorf("another company sees %v, %d, %v", list, total, err)
		}
	})
}

var firstPage = input.Page{Number: 1, Size: 10}

func TestPaymentTellsWhatIsToBeDecided(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3000)
		world.later(t, time.Minute)
		review := world.wantReviews(t, ReasonWrongAmount)[0]
		list, _, err := world.List(t.Context(), world.actor, billing.PaymentFilter{}, firstPage)
		must(t, err)
		if len(list) != 1 || list[0].ReviewID != review.ID || list[0].Applied() {
			t.Errorf("got %+v", list)
		}
		one, err := world.Review(t.Context(), world.actor, review.ID)
		must(t, err)
		if one.Reason != ReasonWrongAmount || one.Payment.Amount != 3000 || one.Payment.InvoiceID != invoice.ID {
			t.Errorf("got %+v", one)
		}
		_, err = world.Review(t.Context(), world.newCompany(t), review.ID)
		wantKind(t, err, fault.KindNotFound)

		_, err = world.Decide(t.Context(), world.actor, ReadDecision(values("resolution", "dismissed"), review.ID))
		must(t, err)
		for filter, want := range map[ReviewFilter]int64{{}: 1, {Open: true}: 0, {Resolved: true}: 1} {
			all, n, err := world.Reviews(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 10})
			if err != nil || n != want || int64(len(all)) != want {
				t.Errorf("%+v: %d (%d), %v; want %d", filter, n, len(all), err, want)
			}
		}
		if list, _, err = world.List(t.Context(), world.actor, billing.PaymentFilter{}, firstPage); err != nil || list[0].ReviewID != 0 {
			t.Errorf("decided, and still %+v, %v", list, err)
		}
	})
}

func TestAttemptsAreTheChargesOfAnInvoice(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		world.exec(t, `UPDATE invoices SET amount_cents = 4000 WHERE id = ?`, invoice.ID)
		second := world.charged(t, invoice.ID)
		list, err := world.Attempts(t.Context(), world.actor, invoice.ID)
		must(t, err)
		if len(list) != 2 || list[0].State != "pending" || list[0].Amount != 4000 || list[1].State != "cancelled" || list[1].ClosedAt.IsZero() ||
			list[0].Provider != "fake" || list[0].Manual || !list[0].ExpiresAt.Equal(second.ExpiresAt) {
			t.Errorf("got %+v", list)
		}
		if list, err = world.Attempts(t.Context(), world.newCompany(t), invoice.ID); err != nil || len(list) != 0 {
			t.Errorf("another company sees %+v, %v", list, err)
		}
		link, err := world.PaymentLink(t.Context(), world.actor, invoice.ID)
		must(t, err)
		if link.Current == nil || link.Current.PixCode != second.PixCode || link.Current.Amount != 4000 {
			t.Errorf("the link has %+v", link.Current)
		}
	})
}

func TestLiveCountsWhatCanBePaid(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		want := func(charges int64) {
			t.Helper()
			if got, err := world.Live(t.Context(), world.actor); err != nil || got.Charges != charges || int64(got.Amount) != charges*3500 {
				t.Errorf("%+v, %v; want %d", got, err, charges)
			}
		}
		want(0)
		world.charged(t, world.invoice(t).ID)
		world.charged(t, world.invoice(t).ID)
		want(2)
		world.gateway(t, "provider", "other", "secret", "x")
		want(0) // which are those of the gateway before
		world.charged(t, world.invoice(t).ID)
		want(1)
		world.clock.Advance(25 * time.Hour)
		want(0)
		must(t, world.ClearGateway(t.Context(), world.actor))
		want(0)
	})
}

func TestSetupOfAnyProvider(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.gateway(t, "provider", "other", "secret", "another-secret-of-it")
		left, err := world.SetupOf(t.Context(), world.actor, "fake")
		must(t, err)
		if left.ID == 0 || left.Active || left.Options["secret"] != "…pany" {
			t.Errorf("got %+v", left)
		}
		never, err := world.SetupOf(t.Context(), world.actor, "hand")
		must(t, err)
		if never.ID != 0 || never.Active || never.Provider.Name != "hand" || len(never.Options) != 0 {
			t.Errorf("got %+v", never)
		}
		if theirs, err := world.SetupOf(t.Context(), world.newCompany(t), "fake"); err != nil || theirs.ID != 0 || len(theirs.Options) != 0 {
			t.Errorf("another company sees %+v, %v", theirs, err)
		}
		_, err = world.SetupOf(t.Context(), world.actor, "paypal")
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestFailingGatewayIsWorthALook(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.bank.fail("check", errBank)
		for n := 1; n <= breakerAt; n++ {
			_ = world.CheckGateway(t.Context(), world.actor)
			setup := world.setup(t)
			if setup.Failures != n || setup.Failing() != (n >= failingAt) || setup.PausedUntil.IsZero() != (n < breakerAt) {
				t.Errorf("after %d: failing %v, paused until %s", n, setup.Failing(), setup.PausedUntil)
			}
		}
		world.clock.Advance(breakerLimit)
		if setup := world.setup(t); !setup.PausedUntil.IsZero() || !setup.Failing() {
			t.Errorf("after the pause: %+v", setup)
		}
		world.bank.fail("check", &Refusal{"the token is wrong"})
		_ = world.CheckGateway(t.Context(), world.actor)
		if setup := world.setup(t); setup.Failures != 0 || !setup.Failing() {
			t.Errorf("refused: %+v", setup)
		}
		world.bank.fail("check", nil)
		must(t, world.CheckGateway(t.Context(), world.actor))
		if world.setup(t).Failing() {
			t.Error("it works, and is failing")
		}
	})
}
