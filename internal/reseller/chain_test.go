package reseller

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// chain is a company at the top with three below each other, each of which may
// sell.
func (s *shop) chain(t *testing.T) (root account.Actor, below []account.Actor) {
	t.Helper()
	root = s.root(t, 1000)
	seller := root
	for range 3 {
		plan := s.plan(t, seller)
		child := s.below(t, seller, "type", "subscriber", "plan_id", idText(plan.ID), "periods", "6")
		_, err := s.Transfer(t.Context(), seller, child.Company.ID, ReadCreditRequest(form("amount", fmt.Sprint(900-300*len(below)))))
		must(t, err)
		must(t, s.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE companies SET level = 'master' WHERE id = ?`, child.Company.ID)
			return err
		}))
		seller = s.actor(t, child.Company.ID)
		below = append(below, seller)
	}
	return root, below
}

// wantStopped says of each company of the chain whether it may change anything.
func (s *shop) wantStopped(t *testing.T, below []account.Actor, want ...bool) {
	t.Helper()
	for i, actor := range below {
		now := s.actor(t, actor.Company.ID)
		err := now.Writable(now.Today(s.clock.Now()))
		if stopped := fault.KindOf(err) == fault.KindForbidden; stopped != want[i] {
			t.Errorf("company %d of the chain is stopped: %t (%v)", i+1, stopped, err)
		}
		if now.Company.TellsWebhooks(s.clock.Now()) == want[i] {
			t.Errorf("company %d of the chain tells webhooks: %t", i+1, want[i])
		}
	}
}

func TestStandingHoldsForTheWholeChain(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, below := shop.chain(t)
		var changed []int64
		shop.accounts.Watch(func(_ context.Context, _ *sqldb.Tx, of account.Changes) error {
			for _, change := range of.List {
				changed = append(changed, change.After.ID)
			}
			return nil
		})
		shop.wantStopped(t, below, false, false, false)
		_, err := shop.Suspend(t.Context(), root, below[0].Company.ID)
		must(t, err)
		shop.wantStopped(t, below, true, true, true)
		if want := fmt.Sprint([]int64{below[0].Company.ID, below[1].Company.ID, below[2].Company.ID}); fmt.Sprint(changed) != want {
			t.Errorf("watchers were told of %v, want %s", changed, want)
		}
		_, err = shop.Suspend(t.Context(), below[0], below[1].Company.ID)
		must(t, err)
		_, err = shop.Resume(t.Context(), root, below[0].Company.ID)
		must(t, err)
		shop.wantStopped(t, below, false, true, true) // as they were
		_, err = shop.Resume(t.Context(), below[0], below[1].Company.ID)
		must(t, err)
		shop.wantStopped(t, below, false, false, false)
	})
}

func TestEndOfASubscriptionStopsThoseBelow(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, below := shop.chain(t)
		_, err := shop.Renew(t.Context(), below[0], below[1].Company.ID, ReadRenewRequest(form("periods", "60")))
		must(t, err)
		shop.clock.Advance(200 * 24 * time.Hour) // six months were paid for at the top of the chain
		shop.wantStopped(t, below, true, true, true)
		_, err = shop.Renew(t.Context(), root, below[0].Company.ID, ReadRenewRequest(form("periods", "2")))
		must(t, err)
		shop.wantStopped(t, below, false, false, true) // the third has ended by itself
	})
}

func TestTrialsBelowAStoppedCompanyAreStopped(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, below := shop.chain(t)
		trial := shop.below(t, below[0])
		_, err := shop.Suspend(t.Context(), root, below[0].Company.ID)
		must(t, err)
		shop.wantStopped(t, []account.Actor{trial}, true)
		late := shop.below(t, shop.actor(t, below[0].Company.ID)) // the rule of the edge aside
		shop.wantStopped(t, []account.Actor{late}, true)
	})
}

// A company that is made while one above it is being stopped is stopped with it.
func TestCompaniesMadeMeanwhileAreStoppedToo(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shop := newShop(t, engine)
		root, below := shop.chain(t)
		addresses := make([]string, 12)
		for i := range addresses {
			addresses[i] = shop.email()
		}
		var all sync.WaitGroup
		all.Go(func() {
			_, err := shop.Suspend(t.Context(), root, below[0].Company.ID)
			if err != nil {
				t.Error(err)
			}
		})
		for i, address := range addresses {
			all.Go(func() {
				_, err := shop.Create(t.Context(), below[i%3], ReadNewReseller(form("name", "Loja", "email", address)))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := shop.count(t, `SELECT count(*) FROM companies WHERE parent_id IN (?, ?, ?) AND above_suspended_at IS NULL`,
			below[0].Company.ID, below[1].Company.ID, below[2].Company.ID); n != 0 {
			t.Errorf("%d companies below a suspended one go on", n)
		}
	})
}

func TestBelowTheTopEveryPeriodCostsACredit(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, below := shop.chain(t)
		free := shop.plan(t, root, "credits", "0") // at the top it is the operator's own money
		shop.below(t, root, "type", "subscriber", "plan_id", idText(free.ID))
		_, err := shop.CreatePlan(t.Context(), below[0], ReadNewPlan(form("name", "Free", "value", "0", "credits", "0")))
		wantFields(t, err, "credits")
		plan := shop.plan(t, below[0])
		_, err = shop.UpdatePlan(t.Context(), below[0], plan.ID, ReadPlanChanges(form("credits", "0")))
		wantFields(t, err, "credits")
		must(t, shop.db.Write(t.Context(), func(tx *sqldb.Tx) error { // a plan of an earlier version
			_, err := tx.Exec(t.Context(), `UPDATE subscription_plans SET credits = 0 WHERE company_id = ? AND id = ?`, below[0].Company.ID, plan.ID)
			return err
		}))
		before := shop.balance(t, below[0])
		child := shop.below(t, below[0], "type", "subscriber", "plan_id", idText(plan.ID), "periods", "3")
		_, err = shop.Renew(t.Context(), below[0], child.Company.ID, ReadRenewRequest(form()))
		must(t, err)
		if spent := before - shop.balance(t, below[0]); spent != 4 {
			t.Errorf("four periods cost %d credits", spent)
		}
	})
}

func TestNothingIsSoldForMoreThanTenYearsAhead(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 1000)
		years := shop.plan(t, root, "period", "5year")
		_, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "A", "email", shop.email(), "type", "subscriber", "plan_id", idText(years.ID), "periods", "3")))
		wantFields(t, err, "periods")
		child := shop.below(t, root, "type", "subscriber", "plan_id", idText(years.ID), "periods", "2")
		_, err = shop.Renew(t.Context(), root, child.Company.ID, ReadRenewRequest(form()))
		wantFields(t, err, "periods")
		if shop.balance(t, root) != 998 {
			t.Errorf("%d credits are left", shop.balance(t, root))
		}
	})
}

func TestCompanyAboveSeesNumbersOfWhatIsBelow(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, below := shop.chain(t)
		shop.below(t, below[1])
		_, err := shop.Suspend(t.Context(), below[1], below[2].Company.ID)
		must(t, err)
		got, err := shop.Below(t.Context(), root, below[0].Company.ID)
		if want := (Below{Total: 3, Trial: 1, Active: 1, Suspended: 1}); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		_, err = shop.Below(t.Context(), root, below[1].Company.ID)
		wantKind(t, err, fault.KindNotFound)
	})
}

// Once a user of a company has set a password, no company above gets in: not by
// an invitation, even if another owner has no password yet, nor by another
// address.
func TestNoWayInFromAbove(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		made, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "beto@example.com")))
		must(t, err)
		child := shop.actor(t, made.ID)
		// The owner invites a second one and steps down: the first owner of the list has no password.
		_, err = shop.accounts.UsePasswordLink(t.Context(), codeOf(t, made.InvitationLink), account.ReadNewPassword(form("password", "correct horse")), account.Visitor{})
		must(t, err)
		owner, err := shop.accounts.Owner(t.Context(), child)
		must(t, err)
		_, _, err = shop.accounts.CreateUser(t.Context(), child, account.ReadNewUser(form("name", "Lia", "email", "lia@example.com", "role", "owner")))
		must(t, err)
		_, err = shop.accounts.UpdateUser(t.Context(), child, owner.ID, account.ReadUserChanges(form("role", "staff")))
		must(t, err)
		_, err = shop.Invite(t.Context(), root, made.ID)
		wantKind(t, err, fault.KindConflict)
		_, err = shop.Update(t.Context(), root, made.ID, ReadChanges(form("email", "ours@example.com")))
		wantFields(t, err, "email")
		_, err = shop.Update(t.Context(), root, made.ID, ReadChanges(form("email", "lia@example.com", "name", "Loja"))) // what was read is sent back
		must(t, err)
	})
}

// An invitation that was not used ends with the first password of the company.
func TestInvitationEndsWithTheFirstPassword(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		made, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Beto", "email", "beto@example.com")))
		must(t, err)
		child := shop.actor(t, made.ID)
		_, link, err := shop.accounts.CreateUser(t.Context(), child, account.ReadNewUser(form("name", "Lia", "email", "lia@example.com", "role", "owner")))
		must(t, err)
		_, err = shop.accounts.UsePasswordLink(t.Context(), link, account.ReadNewPassword(form("password", "correct horse")), account.Visitor{})
		must(t, err)
		_, err = shop.accounts.UsePasswordLink(t.Context(), codeOf(t, made.InvitationLink), account.ReadNewPassword(form("password", "correct horse")), account.Visitor{})
		wantKind(t, err, fault.KindNotFound)
	})
}
