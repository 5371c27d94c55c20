package reseller

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/test/kit/sqldbtest"
)

// inParallel runs work at once and returns what came of each.
func inParallel(n int, work func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = work(i) })
	}
	wg.Wait()
	return errs
}

// successes counts the calls without an error.
func successes(errs []error) (n int) {
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	return n
}

func TestFiftyCreatesOnTenCreditsMakeTen(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		plan := shop.plan(t, root)
		errs := inParallel(50, func(i int) error {
			_, err := shop.Create(t.Context(), root, ReadNewReseller(form("name", "Loja", "email", fmt.Sprintf("loja%d@example.com", i), "type", "subscriber", "plan_id", idText(plan.ID))))
			return err
		})
		if n := successes(errs); n != 10 {
			t.Errorf("%d were made", n)
		}
		for _, err := range errs {
			if err != nil {
				wantFields(t, err, "credits")
			}
		}
		if _, n, err := shop.List(t.Context(), root, Filter{}, page(1, 50)); err != nil || n != 10 || shop.balance(t, root) != 0 {
			t.Errorf("%d resellers, %d credits, %v", n, shop.balance(t, root), err)
		}
		if n := shop.count(t, `SELECT count(*) FROM users WHERE email LIKE 'loja%'`); n != 10 {
			t.Errorf("%d owners", n)
		}
		wantSums(t, shop)
	})
}

func TestParallelRenewalsLoseNeitherPeriodNorCredit(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 100)
		plan := shop.plan(t, root, "credits", "3", "period", "1day")
		actor := shop.below(t, root, "type", "subscriber", "plan_id", idText(plan.ID)) // 1 February, 97 left
		errs := inParallel(40, func(int) error {
			_, err := shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form()))
			return err
		})
		if n := successes(errs); n != 32 {
			t.Errorf("%d renewals for 97 credits", n)
		}
		got, err := shop.Find(t.Context(), root, actor.Company.ID)
		must(t, err)
		if want := civil.MustParse("2026-02-01").AddDays(32); got.Subscription.ExpiresOn != want || shop.balance(t, root) != 1 {
			t.Errorf("it ends on %v with %d credits left, want %v with 1", got.Subscription.ExpiresOn, shop.balance(t, root), want)
		}
		wantSums(t, shop)
	})
}

// A plan that gets a function while others are put on it leaves none of them
// behind.
func TestPlanThatChangesDuringCreatesLeavesNobodyBehind(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 100)
		plan := shop.plan(t, root, "functions", "api")
		actor := shop.below(t, root, "plan_id", idText(plan.ID))
		errs := inParallel(21, func(i int) (err error) {
			switch {
			case i == 10:
				_, err = shop.UpdatePlan(t.Context(), root, plan.ID, ReadPlanChanges(form("functions", "webhooks")))
			case i%2 == 0:
				_, err = shop.Create(t.Context(), root, ReadNewReseller(form("name", "Loja", "email", fmt.Sprintf("loja%d@example.com", i), "plan_id", idText(plan.ID))))
			default:
				_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form()))
			}
			return err
		})
		if n := successes(errs); n != 21 {
			t.Errorf("%d of 21 succeeded: %v", n, errs)
		}
		if n := shop.count(t, `SELECT count(*) FROM companies WHERE parent_id IS NOT NULL AND functions <> ',api,webhooks,'`); n != 0 {
			t.Errorf("%d companies have not got the function", n)
		}
	})
}

// wantSums checks what the ledger promises: balances are the sums of their
// entries, each entry has the balance after it, nothing is negative, and all
// balances together are what was granted minus what was spent.
func wantSums(t *testing.T, shop *shop) {
	t.Helper()
	if n := shop.count(t, `SELECT count(*) FROM credit_balances b WHERE b.balance < 0 OR b.balance <>
		(SELECT COALESCE(SUM(amount), 0) FROM credit_entries e WHERE e.company_id = b.company_id)`); n != 0 {
		t.Errorf("%d balances are not the sum of their entries", n)
	}
	if n := shop.count(t, `SELECT count(*) FROM (
		SELECT balance, SUM(amount) OVER (PARTITION BY company_id ORDER BY id) AS upto FROM credit_entries) AS e WHERE balance <> upto`); n != 0 {
		t.Errorf("%d entries bear a wrong balance", n)
	}
	balances := shop.count(t, `SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM credit_balances`)
	granted := shop.count(t, `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM credit_entries WHERE kind = 'grant'`)
	spent := shop.count(t, `SELECT CAST(COALESCE(-SUM(amount), 0) AS BIGINT) FROM credit_entries WHERE kind IN ('create', 'renew')`)
	if balances != granted-spent {
		t.Errorf("balances of %d, with %d granted and %d spent", balances, granted, spent)
	}
}

// TestLedgerAddsUpUnderRandomConcurrentWork lets several people of a tree of
// companies do everything that moves credits, at random and at once.
func TestLedgerAddsUpUnderRandomConcurrentWork(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		tree := shop.tree(t)
		steps, workers := 60, 8
		if sqldbtest.Raced {
			steps = 15
		}
		var mu sync.Mutex
		expected := map[int64]int64{} // what the use cases said they did to each balance
		errs := inParallel(workers, func(w int) error {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for i := range steps {
				moved, err := shop.randomStep(t, tree, random, fmt.Sprintf("w%d-%d@example.com", w, i))
				if err != nil && fault.KindOf(err) != fault.KindInvalid {
					return err
				}
				mu.Lock()
				for id, n := range moved {
					expected[id] += n
				}
				mu.Unlock()
			}
			return nil
		})
		if n := successes(errs); n != workers {
			t.Fatal(errs)
		}
		wantSums(t, shop)
		for _, actor := range tree {
			if got := shop.balance(t, actor); got != expected[actor.Company.ID] {
				t.Errorf("company %d has %d credits, and was told of %d", actor.Company.ID, got, expected[actor.Company.ID])
			}
		}
	})
}

// tree makes three companies in a line, each with a plan, and one sibling.
func (s *shop) tree(t *testing.T) []account.Actor {
	t.Helper()
	root := s.root(t, 0)
	middle := s.below(t, root)
	leaf, beside := s.below(t, middle), s.below(t, root)
	tree := []account.Actor{root, middle, leaf, beside}
	for _, actor := range tree {
		s.plan(t, actor, "credits", "2", "period", "1day")
	}
	return tree
}

// randomStep does one thing and returns what it did to which balances; nothing
// when it was refused.
func (s *shop) randomStep(t *testing.T, tree []account.Actor, random *rand.Rand, email string) (map[int64]int64, error) {
	t.Helper()
	ctx, amount := t.Context(), random.Int64N(12)+1
	root := tree[0]
	pairs := [][2]account.Actor{{root, tree[1]}, {tree[1], tree[2]}, {root, tree[3]}}
	pair := pairs[random.IntN(len(pairs))]
	above, below := pair[0], pair[1]
	amountForm := form("amount", idText(amount))
	switch random.IntN(5) {
	case 0:
		_, err := s.Grant(ctx, root, ReadCreditRequest(amountForm))
		return unless(err, root, amount, nil), err
	case 1:
		_, err := s.Transfer(ctx, above, below.Company.ID, ReadCreditRequest(amountForm))
		return unless(err, above, -amount, &below), err
	case 2:
		_, err := s.TakeBack(ctx, above, below.Company.ID, ReadCreditRequest(amountForm))
		return unless(err, above, amount, &below), err
	case 3:
		plans, _, err := s.Plans(ctx, above, PlanFilter{}, page(1, 1))
		if err != nil {
			return nil, err
		}
		paid, err := s.Renew(ctx, above, below.Company.ID, ReadRenewRequest(form("plan_id", idText(plans[0].ID), "periods", idText(amount%3+1))))
		return unless(err, above, -paid.CreditsSpent, nil), err
	}
	plans, _, err := s.Plans(ctx, above, PlanFilter{}, page(1, 1))
	if err != nil {
		return nil, err
	}
	paid, err := s.Create(ctx, above, ReadNewReseller(form("name", "Loja", "email", email, "type", "subscriber", "plan_id", idText(plans[0].ID))))
	return unless(err, above, -paid.CreditsSpent, nil), err
}

func unless(err error, actor account.Actor, amount int64, other *account.Actor) map[int64]int64 {
	if err != nil {
		return nil
	}
	moved := map[int64]int64{actor.Company.ID: amount}
	if other != nil {
		moved[other.Company.ID] = -amount
	}
	return moved
}
