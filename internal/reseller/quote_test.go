package reseller

import (
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// The renewal does what the quote said, and the quote itself changes nothing.
func TestQuoteIsWhatTheRenewalDoes(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		plan, dear := shop.plan(t, root, "credits", "2"), shop.plan(t, root, "credits", "9")
		actor := shop.below(t, root)
		quote, err := shop.QuoteRenewal(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", idText(plan.ID), "periods", "3")))
		if err != nil || quote.Cost != 6 || quote.Balance != 10 || quote.Left() != 4 || !quote.Enough() || quote.Plan.ID != plan.ID || quote.Periods != 3 {
			t.Errorf("%+v, %v", quote, err)
		}
		if shop.balance(t, root) != 10 || shop.actor(t, actor.Company.ID).Company.Subscription != actor.Company.Subscription {
			t.Error("a quote changed something")
		}
		got, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadAgreedRenewal(form("plan_id", idText(plan.ID), "periods", "3", "agreed", "6")))
		if err != nil || got.CreditsSpent != quote.Cost || got.CreditsBalance != quote.Left() || got.Subscription.ExpiresOn != quote.ExpiresOn {
			t.Errorf("%+v, %v after %+v", got, err, quote)
		}
		quote, err = shop.QuoteRenewal(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", idText(dear.ID))))
		if err != nil || quote.Enough() || quote.Cost != 9 {
			t.Errorf("%+v, %v", quote, err)
		}
		shop.clock.Advance(400 * 24 * time.Hour) // an ended one counts from today
		quote, err = shop.QuoteRenewal(t.Context(), root, actor.Company.ID, ReadRenewRequest(form()))
		if err != nil || quote.ExpiresOn.Before(root.Today(shop.clock.Now())) || quote.Plan.ID != plan.ID {
			t.Errorf("%+v, %v", quote, err)
		}
		quote, err = shop.QuoteRenewal(t.Context(), root, actor.Company.ID, ReadRenewRequest(form("plan_id", "999", "periods", "0")))
		if wantFields(t, err, "plan_id", "periods"); quote.Reseller.ID != actor.Company.ID || quote.Balance != 4 {
			t.Errorf("beside the refusal: %+v", quote)
		}
	})
}

func TestRenewalAtAnotherPriceIsRefused(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		plan := shop.plan(t, root, "credits", "2")
		actor := shop.below(t, root, "plan_id", idText(plan.ID))
		_, err := shop.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(form("credits", "1")))
		must(t, err)
		_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadAgreedRenewal(form("agreed", "2")))
		wantKind(t, err, fault.KindConflict)
		_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadAgreedRenewal(form()))
		wantFields(t, err, "agreed")
		if shop.balance(t, root) != 10 {
			t.Error("it was paid")
		}
		wantSums(t, shop)
	})
}

func TestQuoteOfATransferIsWhatItDoes(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		actor := shop.below(t, root)
		in := func() *input.Form { return form("amount", "4", "note", "lote") }
		movement, err := shop.QuoteTransfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(in()))
		if err != nil || movement.After != (Moved{6, 4}) || movement.Amount != 4 || movement.Note != "lote" || shop.balance(t, root) != 10 {
			t.Errorf("%+v, %v", movement, err)
		}
		moved, err := shop.Transfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(in()))
		if err != nil || moved != movement.After {
			t.Errorf("%+v, %v", moved, err)
		}
		movement, err = shop.QuoteTakeBack(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "3")))
		if err != nil || movement.After != (Moved{9, 1}) || shop.balance(t, root) != 6 {
			t.Errorf("%+v, %v", movement, err)
		}
		for _, refused := range []struct {
			quote func() (Movement, error)
			field string
		}{
			{func() (Movement, error) {
				return shop.QuoteTransfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "7")))
			}, "credits"},
			{func() (Movement, error) {
				return shop.QuoteTakeBack(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "5")))
			}, "credits"},
			{func() (Movement, error) {
				return shop.QuoteTakeBack(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "x")))
			}, "amount"},
		} {
			movement, err := refused.quote()
			if wantFields(t, err, refused.field); movement.Reseller.ID != actor.Company.ID || movement.Balance != 6 {
				t.Errorf("beside the refusal: %+v", movement)
			}
		}
	})
}

func TestOwnerWaitsUntilItHasAPassword(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		invited, ready := shop.below(t, root), shop.below(t, root, "password", "correct horse")
		for r, want := range map[int64]bool{invited.Company.ID: true, ready.Company.ID: false} {
			if got, err := shop.Waiting(t.Context(), root, r); err != nil || got != want {
				t.Errorf("waiting %v, %v", got, err)
			}
		}
	})
}

func TestLevelsOfferedAreThoseOfTheTable(t *testing.T) {
	for caller, rows := range cells {
		for i, present := range account.Levels {
			var want []account.Level
			for j, wanted := range account.Levels {
				if rows[i][j] == 'y' && wanted != present {
					want = append(want, wanted)
				}
			}
			got, why := LevelsFor(caller, present)
			if !slices.Equal(got, want) || (why == nil) != (len(want) > 0) {
				t.Errorf("%s may make of %s: %v (%v), want %v", caller, present, got, why, want)
			}
		}
	}
}

// The audit log of the company that moved credits has an entry.
func TestMovedCreditsStandInTheAuditLog(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		actor := shop.below(t, root)
		root = account.Operator(root.Company)
		_, err := shop.Transfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "4")))
		must(t, err)
		_, err = shop.TakeBack(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "1")))
		must(t, err)
		_, err = shop.Transfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "99")))
		wantFields(t, err, "credits")
		_, err = shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", "5")))
		must(t, err)
		list, n, err := shop.accounts.Audit(t.Context(), root, account.AuditFilter{}, input.Page{Number: 1, Size: 10})
		if err != nil || n != 4 || list[0].Action != "credits.grant" || list[1].Action != "credits.taken_back" || list[2].Action != "credits.sent" ||
			list[2].Changes[0] != (account.FieldChange{Field: "credits", After: "4"}) || list[2].RecID != actor.Company.ID {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestCompanyKnowsWhomToTalkTo(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		actor := shop.below(t, root)
		_, err := shop.accounts.SetCompany(t.Context(), root, account.ReadCompanyDraft(form("whatsapp", "(11) 98765-4321")))
		must(t, err)
		got, err := shop.accounts.Parent(t.Context(), actor)
		if err != nil || got != (account.Contact{Name: "Rede Clara", Whatsapp: "5511987654321"}) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := shop.accounts.Parent(t.Context(), root); err != nil || got != (account.Contact{}) {
			t.Errorf("above the top: %+v, %v", got, err)
		}
	})
}
