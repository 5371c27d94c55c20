package reseller

import (
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// What a quote tells is what the renewal then does, and a quote does nothing.
func TestQuoteIsWhatTheRenewalDoes(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		plan, dear := s.plan(t, root, "credits", "2"), s.plan(t, root, "credits", "9")
		r := s.below(t, root)
		q, err := s.QuoteRenewal(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", idText(plan.ID), "periods", "3")))
		if err != nil || q.Cost != 6 || q.Balance != 10 || q.Left() != 4 || !q.Enough() || q.Plan.ID != plan.ID || q.Periods != 3 {
			t.Errorf("%+v, %v", q, err)
		}
		if s.balance(t, root) != 10 || s.actor(t, r.Company.ID).Company.Subscription != r.Company.Subscription {
			t.Error("a quote changed something")
		}
		got, err := s.Renew(t.Context(), root, r.Company.ID, ReadAgreedRenewal(form("plan_id", idText(plan.ID), "periods", "3", "agreed", "6")))
		if err != nil || got.CreditsSpent != q.Cost || got.CreditsBalance != q.Left() || got.Subscription.ExpiresOn != q.ExpiresOn {
			t.Errorf("%+v, %v after %+v", got, err, q)
		}
		q, err = s.QuoteRenewal(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", idText(dear.ID))))
		if err != nil || q.Enough() || q.Cost != 9 {
			t.Errorf("%+v, %v", q, err)
		}
		s.clock.Advance(400 * 24 * time.Hour) // an ended one counts from today
		q, err = s.QuoteRenewal(t.Context(), root, r.Company.ID, ReadRenewRequest(form()))
		if err != nil || q.ExpiresOn.Before(root.Today(s.clock.Now())) || q.Plan.ID != plan.ID {
			t.Errorf("%+v, %v", q, err)
		}
		q, err = s.QuoteRenewal(t.Context(), root, r.Company.ID, ReadRenewRequest(form("plan_id", "999", "periods", "0")))
		if wantFields(t, err, "plan_id", "periods"); q.Reseller.ID != r.Company.ID || q.Balance != 4 {
			t.Errorf("beside the refusal: %+v", q)
		}
	})
}

func TestRenewalAtAnotherPriceIsRefused(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		plan := s.plan(t, root, "credits", "2")
		r := s.below(t, root, "plan_id", idText(plan.ID))
		_, err := s.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(form("credits", "1")))
		must(t, err)
		_, err = s.Renew(t.Context(), root, r.Company.ID, ReadAgreedRenewal(form("agreed", "2")))
		wantKind(t, err, fault.KindConflict)
		_, err = s.Renew(t.Context(), root, r.Company.ID, ReadAgreedRenewal(form()))
		wantFields(t, err, "agreed")
		if s.balance(t, root) != 10 {
			t.Error("it was paid")
		}
		wantSums(t, s)
	})
}

func TestQuoteOfATransferIsWhatItDoes(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		r := s.below(t, root)
		in := func() *input.Form { return form("amount", "4", "note", "lote") }
		q, err := s.QuoteTransfer(t.Context(), root, r.Company.ID, ReadCreditRequest(in()))
		if err != nil || q.After != (Moved{6, 4}) || q.Amount != 4 || q.Note != "lote" || s.balance(t, root) != 10 {
			t.Errorf("%+v, %v", q, err)
		}
		m, err := s.Transfer(t.Context(), root, r.Company.ID, ReadCreditRequest(in()))
		if err != nil || m != q.After {
			t.Errorf("%+v, %v", m, err)
		}
		q, err = s.QuoteTakeBack(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "3")))
		if err != nil || q.After != (Moved{9, 1}) || s.balance(t, root) != 6 {
			t.Errorf("%+v, %v", q, err)
		}
		for _, refused := range []struct {
			quote func() (Movement, error)
			field string
		}{
			{func() (Movement, error) {
				return s.QuoteTransfer(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "7")))
			}, "credits"},
			{func() (Movement, error) {
				return s.QuoteTakeBack(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "5")))
			}, "credits"},
			{func() (Movement, error) {
				return s.QuoteTakeBack(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "x")))
			}, "amount"},
		} {
			q, err := refused.quote()
			if wantFields(t, err, refused.field); q.Reseller.ID != r.Company.ID || q.Balance != 6 {
				t.Errorf("beside the refusal: %+v", q)
			}
		}
	})
}

func TestOwnerWaitsUntilItHasAPassword(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		invited, ready := s.below(t, root), s.below(t, root, "password", "correct horse")
		for r, want := range map[int64]bool{invited.Company.ID: true, ready.Company.ID: false} {
			if got, err := s.Waiting(t.Context(), root, r); err != nil || got != want {
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

// Credits that go up or down stand in the audit log of whoever moved them.
func TestMovedCreditsStandInTheAuditLog(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		r := s.below(t, root)
		root = account.Operator(root.Company)
		_, err := s.Transfer(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "4")))
		must(t, err)
		_, err = s.TakeBack(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "1")))
		must(t, err)
		_, err = s.Transfer(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "99")))
		wantFields(t, err, "credits")
		_, err = s.Grant(t.Context(), root, ReadCreditRequest(form("amount", "5")))
		must(t, err)
		list, n, err := s.accounts.Audit(t.Context(), root, account.AuditFilter{}, input.Page{Number: 1, Size: 10})
		if err != nil || n != 4 || list[0].Action != "credits.grant" || list[1].Action != "credits.taken_back" || list[2].Action != "credits.sent" ||
			list[2].Changes[0] != (account.FieldChange{Field: "credits", After: "4"}) || list[2].RecID != r.Company.ID {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestCompanyKnowsWhomToTalkTo(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		r := s.below(t, root)
		_, err := s.accounts.SetCompany(t.Context(), root, account.ReadCompanyDraft(form("whatsapp", "(11) 98765-4321")))
		must(t, err)
		got, err := s.accounts.Parent(t.Context(), r)
		if err != nil || got != (account.Contact{Name: "Rede Clara", Whatsapp: "5511987654321"}) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := s.accounts.Parent(t.Context(), root); err != nil || got != (account.Contact{}) {
			t.Errorf("above the top: %+v, %v", got, err)
		}
	})
}
