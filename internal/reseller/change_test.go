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
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
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
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		made := planChange{action: PlanCreated, after: filledPlan()}
		write := func(c *planChange) {
			must(t, s.db.Write(t.Context(), func(tx *sqldb.Tx) error { return s.applyPlan(t.Context(), tx, root, c) }))
			got, err := s.FindPlan(t.Context(), root, c.after.ID)
			if got.CreatedAt = got.CreatedAt.UTC(); err != nil || got != c.after {
				t.Errorf("stored %+v, %v\nwant   %+v", got, err, c.after)
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
func (s *shop) actions(t *testing.T, c account.Company) (list []string) {
	t.Helper()
	lines, _, err := s.accounts.Audit(t.Context(), account.Operator(c), account.AuditFilter{}, input.Page{Number: 1, Size: 100})
	must(t, err)
	for _, line := range slices.Backward(lines) {
		list = append(list, line.Action+" by "+line.Who)
	}
	return list
}

// What a company does to one of its children is in the audit logs of both. That
// of the child names the company, and not the person.
func TestWhatAParentDoesIsInTheLogOfTheChild(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		top := s.root(t, 20)
		ana := account.Actor{Company: top.Company, UserID: 1, Name: "Ana", Role: account.RoleOwner, From: "192.0.2.1"}
		ctx := t.Context()
		plan := s.plan(t, top, "functions", "api")
		made, err := s.Create(ctx, ana, NewReseller{Name: "Beto", Email: "beto@example.com", PlanID: plan.ID})
		must(t, err)
		steps := []func() error{
			func() error {
				_, err := s.Update(ctx, ana, made.ID, Changes{Email: input.Some("b@example.com")})
				return err
			},
			func() error {
				_, err := s.SetLevel(ctx, ana, made.ID, LevelRequest{Level: account.LevelReseller})
				return err
			},
			func() error { _, err := s.Suspend(ctx, ana, made.ID); return err },
			func() error { _, err := s.Resume(ctx, ana, made.ID); return err },
			func() error { _, err := s.Invite(ctx, ana, made.ID); return err },
			func() error { _, err := s.Renew(ctx, ana, made.ID, RenewRequest{}); return err },
			func() error { _, err := s.Transfer(ctx, ana, made.ID, CreditRequest{Amount: 3}); return err },
			func() error { _, err := s.TakeBack(ctx, ana, made.ID, CreditRequest{Amount: 1}); return err },
			func() error {
				_, err := s.UpdatePlan(ctx, ana, plan.ID, PlanDraft{Functions: input.Some([]string{"import"})})
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
		if got := s.actions(t, top.Company); !slices.Equal(got, ours) {
			t.Errorf("the parent's log: %q", got)
		}
		theirs := []string{
			"company.created", "company.updated", "company.level", "company.suspended", "company.resumed", "company.invited",
			"company.renewed", "credits.received", "credits.returned", "company.updated",
		}
		for i := range theirs {
			theirs[i] += " by " + top.Company.Name
		}
		if got := s.actions(t, made.Company); !slices.Equal(got, theirs) {
			t.Errorf("the child's log: %q", got)
		}
		if n := s.count(t, `SELECT count(*) FROM audit_log WHERE company_id = ? AND (user_id IS NOT NULL OR address <> '')`, made.ID); n != 0 {
			t.Errorf("%d lines show the child who of the parent's people acted", n)
		}
	})
}

func TestAuditLineOfARenewalNamesThePlan(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 20)
		first, second := s.plan(t, root, "name", "Início"), s.plan(t, root, "name", "Pro", "functions", "api")
		r := s.below(t, root, "plan_id", idText(first.ID))
		root = account.Operator(root.Company)
		_, err := s.Renew(t.Context(), root, r.Company.ID, RenewRequest{PlanID: second.ID})
		must(t, err)
		filter := account.AuditFilter{Record: "reseller", ID: r.Company.ID}
		lines, _, err := s.accounts.Audit(t.Context(), root, filter, input.Page{Number: 1, Size: 10})
		must(t, err)
		var changed []string
		for _, c := range lines[0].Changes {
			changed = append(changed, c.Field+": "+c.After)
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
		s := newShop(t, sqldb.SQLite)
		root := s.root(t, 0)
		add := func(tx *sqldb.Tx, email string) error {
			_, err := s.accounts.AddChildTx(t.Context(), tx, root, account.NewChild{Name: "X", Email: email})
			return err
		}
		var waiting sync.WaitGroup
		var refused, failed error
		runs := 0
		first := s.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if runs++; runs > 1 {
				return errGivenUp
			}
			waiting.Go(func() {
				_, refused = s.Create(t.Context(), root, NewReseller{Name: "Beto", Email: "beto@example.com"})
			})
			synctest.Wait()
			waiting.Go(func() {
				failed = s.db.Write(t.Context(), func(tx *sqldb.Tx) error {
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
