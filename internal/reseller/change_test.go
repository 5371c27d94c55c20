package reseller

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

// planNotAudited are the fields that planFields does not show, with the reason.
var planNotAudited = map[string]string{
	"ID":         "it is the line's",
	"SignupCode": "it opens a door; its change has an action of its own",
	"CreatedAt":  "it is the time of the line that says so",
}

func filledPlan() Plan {
	return Plan{
		Name: "Revenda", Value: 4990, Credits: 2, Period: civil.Period{Unit: civil.Week, Count: 2}, TrialDays: 9,
		Functions: account.FunctionsOf(account.FunctionAPI), SignupCode: "abcdefghijklmnopqrst", Active: true, ID: 1, CreatedAt: noon,
	}
}

func TestEveryFieldOfAPlanIsAuditedWhenItChanges(t *testing.T) {
	housetest.EachField(t, filledPlan(), planNotAudited, func(plan Plan) bool {
		return planFields.Differ(&Plan{}, &plan)
	}, "is missing in planFields")
}

func TestEveryFieldOfAPlanIsStored(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		made := planChange{action: PlanCreated, after: filledPlan()}
		write := func(change *planChange) {
			must(t, shop.db.Write(t.Context(), func(tx *sqldb.Tx) error { return shop.applyPlan(t.Context(), root.In(tx), change) }))
			got, err := shop.FindPlan(t.Context(), root, change.after.ID)
			if got.CreatedAt = got.CreatedAt.UTC(); err != nil || got != change.after {
				t.Errorf("stored %+v, %v\nwant   %+v", got, err, change.after)
			}
		}
		write(&made)
		blank := Plan{ID: made.after.ID, Name: "x", Period: defaultPeriod, SignupCode: "other", CreatedAt: made.after.CreatedAt}
		write(&planChange{action: PlanUpdated, before: made.after, after: blank})
	})
}

func TestEveryFieldOfADraftIsAPlans(t *testing.T) {
	for field := range reflect.TypeFor[PlanDraft]().Fields() {
		name := field.Name
		if name == "Problems" || strings.HasPrefix(name, "Period") {
			continue
		}
		if _, ok := reflect.TypeFor[Plan]().FieldByName(name); !ok {
			t.Errorf("PlanDraft.%s is no field of Plan", name)
		}
	}
}

// actions lists a company's audit log, oldest first, and who did what.
func (s *shop) actions(t *testing.T, company account.Company) (list []string) {
	t.Helper()
	lines, _, err := s.accounts.Audit(t.Context(), account.Operator(company), account.AuditFilter{}, input.Page{Number: 1, Size: 100})
	must(t, err)
	for _, line := range slices.Backward(lines) {
		list = append(list, line.Action+" by "+line.Who)
	}
	return list
}

// What a company does to one of its children is in the audit logs of both. That
// of the child names the company, and not the person.
func TestWhatAParentDoesIsInTheLogOfTheChild(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		top := shop.root(t, 20)
		ana := account.Actor{Company: top.Company, UserID: 1, Name: "Ana", Role: account.RoleOwner, From: "192.0.2.1"}
		ctx := t.Context()
		plan := shop.plan(t, top, "functions", "api")
		made, err := shop.Create(ctx, ana, NewReseller{Name: "Beto", Email: "beto@example.com", PlanID: plan.ID})
		must(t, err)
		steps := []func() error{
			func() error {
				_, err := shop.Update(ctx, ana, made.ID, Changes{Email: input.Some("b@example.com")})
				return err
			},
			func() error {
				_, err := shop.SetLevel(ctx, ana, made.ID, LevelRequest{Level: account.LevelReseller})
				return err
			},
			func() error { _, err := shop.Suspend(ctx, ana, made.ID); return err },
			func() error { _, err := shop.Resume(ctx, ana, made.ID); return err },
			func() error { _, err := shop.Invite(ctx, ana, made.ID); return err },
			func() error { _, err := shop.Renew(ctx, ana, made.ID, RenewRequest{}); return err },
			func() error { _, err := shop.Transfer(ctx, ana, made.ID, CreditRequest{Amount: 3}); return err },
			func() error { _, err := shop.TakeBack(ctx, ana, made.ID, CreditRequest{Amount: 1}); return err },
			func() error {
				_, err := shop.UpdatePlan(ctx, ana, plan.ID, PlanDraft{Functions: input.Some([]string{"import"})})
				return err
			},
		}
		for _, step := range steps {
			must(t, step())
		}
		ours := []string{
			"company.created by ", "reseller.created by Ana", "reseller.updated by Ana", "reseller.level by Ana", "reseller.suspended by Ana",
			"reseller.resumed by Ana", "reseller.invited by Ana", "reseller.renewed by Ana", "credits.sent by Ana", "credits.taken_back by Ana",
			"subscription_plan.updated by Ana",
		}
		if got := shop.actions(t, top.Company); !slices.Equal(got, ours) {
			t.Errorf("the parent's log: %q", got)
		}
		theirs := []string{
			"company.created", "company.updated", "company.level", "company.suspended", "company.resumed", "company.invited",
			"company.renewed", "credits.received", "credits.returned", "company.updated",
		}
		for i := range theirs {
			theirs[i] += " by " + top.Company.Name
		}
		if got := shop.actions(t, made.Company); !slices.Equal(got, theirs) {
			t.Errorf("the child's log: %q", got)
		}
		if n := shop.count(t, `SELECT count(*) FROM audit_log WHERE company_id = ? AND (user_id IS NOT NULL OR address <> '')`, made.ID); n != 0 {
			t.Errorf("%d lines show the child who of the parent's people acted", n)
		}
	})
}

func TestAuditLineOfARenewalNamesThePlan(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 20)
		first, second := shop.plan(t, root, "name", "Início"), shop.plan(t, root, "name", "Pro", "functions", "api")
		actor := shop.below(t, root, "plan_id", idText(first.ID))
		root = account.Operator(root.Company)
		_, err := shop.Renew(t.Context(), root, actor.Company.ID, RenewRequest{PlanID: second.ID})
		must(t, err)
		filter := account.AuditFilter{Record: "reseller", ID: actor.Company.ID}
		lines, _, err := shop.accounts.Audit(t.Context(), root, filter, input.Page{Number: 1, Size: 10})
		must(t, err)
		var changed []string
		for _, change := range lines[0].Changes {
			changed = append(changed, change.Field+": "+change.After)
		}
		want := []string{"expires_at: 2026-03-07", "functions: api", "plan: Pro", "type: subscriber"}
		if !slices.Equal(changed, want) {
			t.Errorf("%q, want %q", changed, want)
		}
	})
}

var errGivenUp = errors.New("given up")

// A group commit that is taken back runs everybody again. T1 makes a reseller
// with an address and gives up when it runs again; T2 wants the same address and
// is refused in the first run; T3 fails after it has written, so that the group
// is taken back. T2 must find the address free in its second run.
func TestRefusalOfARunThatWasTakenBackIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t, sqldb.SQLite)
		root := shop.root(t, 0)
		add := func(tx *sqldb.Tx, email string) error {
			_, err := shop.accounts.AddChildTx(t.Context(), root.In(tx), account.NewChild{Name: "X", Email: email})
			return err
		}
		var waiting sync.WaitGroup
		var refused, failed error
		runs := 0
		first := shop.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if runs++; runs > 1 {
				return errGivenUp
			}
			waiting.Go(func() {
				_, refused = shop.Create(t.Context(), root, NewReseller{Name: "Beto", Email: "beto@example.com"})
			})
			synctest.Wait()
			waiting.Go(func() {
				failed = shop.db.Write(t.Context(), func(tx *sqldb.Tx) error {
					return errors.Join(add(tx, "other@example.com"), errGivenUp)
				})
			})
			synctest.Wait()
			return add(tx, "beto@example.com")
		})
		waiting.Wait()
		if !errors.Is(first, errGivenUp) || !errors.Is(failed, errGivenUp) || runs != 2 {
			t.Fatalf("the group was not taken back: %v, %v, %d runs", first, failed, runs)
		}
		if refused != nil {
			t.Errorf("no user has the address, but: %v", refused)
		}
	})
}
