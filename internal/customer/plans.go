package customer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/tally"
)

// A plan's value or period decides what its customers are worth a month. When it
// changes, that is recounted a batch of customers at a time: the first batch in
// the transaction of the change, so that a plan of few customers is right at
// once, the others each in a transaction of its own, so that no request waits
// for a plan of many. The progress is a row, from which any process continues.

// repriceBatch is how many customers of a plan are recounted at once.
const repriceBatch = 256

// repricing is a plan with customers that are being recounted.
type repricing struct {
	companyID int64
	planID    int64
	on        civil.Date // the company's day of the change; it counts in that month
	wasFree   bool       // the plan cost nothing before
	next      int64      // customers up to this id are done

	plan catalog.Plan // as it is now
}

// Repriced are the customers of a plan with a new value or period, within a span
// of ids.
type Repriced struct {
	Actor    account.Actor
	PlanID   int64
	From, To int64
	WasFree  bool // the plan cost nothing before
}

// WatchRepriced adds a room above this one that acts when a plan of customers
// changes its value or period.
func (s *Service) WatchRepriced(watcher watch.Watcher[Repriced]) { s.repriced.Watch(watcher) }

// PlansChanged begins to recount what customers are worth a month after the
// value or period of their plan has changed. The program has catalog call it.
func (s *Service) PlansChanged(ctx context.Context, tx *sqldb.Tx, changed catalog.PlanChanges) error {
	for _, change := range changed.List {
		before, after := change.Before, change.After
		if before.ID == 0 || before.Value == after.Value && before.Period == after.Period {
			continue
		}
		begun, err := beginRepricing(ctx, tx, repricing{
			companyID: changed.Actor.Company.ID,
			planID:    after.ID,
			on:        changed.Actor.Today(tx.Now()),
			wasFree:   before.Value == 0 && after.Value != 0,
		})
		if err != nil {
			return err
		}
		begun.plan = after
		if err := s.repriceSome(ctx, changed.Actor.In(tx), begun); err != nil {
			return err
		}
	}
	return nil
}

// ContinueRepricing counts on where plans of many customers have changed.
func (s *Service) ContinueRepricing(ctx context.Context) error {
	var yielded time.Time
	for {
		pending, err := anyRepricing(ctx, s.db)
		if err != nil || pending == nil {
			return err
		}
		err = s.db.Write(ctx, func(tx *sqldb.Tx) error { return s.continueOne(ctx, tx, *pending) })
		if err != nil {
			return fmt.Errorf("count the customers of plan %d: %w", pending.planID, err)
		}
		if err := s.db.Yield(ctx, &yielded); err != nil {
			return err
		}
	}
}

// RepricingLook finds whether there are customers to count on with.
func (s *Service) RepricingLook() sqldb.Statement { return sqldb.Statement{Text: anyRepricingText} }

// continueOne counts one more batch. The plan is locked before the row of its
// repricing, as by who changes it.
func (s *Service) continueOne(ctx context.Context, tx *sqldb.Tx, pending repricing) error {
	company, err := account.FindCompany(ctx, tx, pending.companyID)
	if err != nil {
		return err
	}
	actor := account.System(company, "repricing")
	plan, err := catalog.HoldPlan(ctx, actor.In(tx), pending.planID)
	if err != nil {
		return err
	}
	now, err := lockRepricing(ctx, tx, pending)
	if err != nil || now == nil { // another process has ended it
		return err
	}
	now.plan = plan
	return s.repriceSome(ctx, actor.In(tx), *now)
}

// repriceSome recounts a batch of a plan's customers.
func (s *Service) repriceSome(ctx context.Context, tx account.Tx, at repricing) error {
	last, count, err := nextMembers(ctx, tx.Tx, at, repriceBatch)
	if err != nil {
		return err
	}
	if count > 0 {
		of := planMembers{plan: at.plan, today: tx.Today(tx.Now()), on: at.on, ids: span{at.next + 1, last}}
		if err := reprice(ctx, tx, of); err != nil {
			return fmt.Errorf("count what the customers of plan %d are worth: %w", at.planID, err)
		}
		err := s.repriced.Tell(ctx, tx.Tx, Repriced{tx.Actor, at.planID, of.ids.from, of.ids.to, at.wasFree})
		if err != nil {
			return err
		}
	}
	if count < repriceBatch {
		return endRepricing(ctx, tx.Tx, at)
	}
	at.next = last
	return saveRepricing(ctx, tx.Tx, at)
}

// span is some consecutive ids.
type span struct{ from, to int64 }

// alike are customers of a plan who are equal in everything that decides what
// they are worth.
type alike struct {
	Customer
	n int64
}

// reprice writes what members of a plan are worth now, and counts it.
func reprice(ctx context.Context, tx account.Tx, of planMembers) error {
	groups, err := lockAlike(ctx, tx, of)
	if err != nil {
		return err
	}
	var entries []tally.Entry
	prices := map[Price]bool{}
	for _, group := range groups {
		entries = append(entries, group.reprice(of)...)
		prices[group.OwnPrice] = true
	}
	for price := range prices {
		after := Customer{OwnPrice: price}
		after.buys(of.plan)
		if err := updateWorth(ctx, tx, of, after); err != nil {
			return err
		}
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, entries)
}

// reprice is how the counter of recurring revenue moves with a plan.
func (g alike) reprice(of planMembers) []tally.Entry {
	change := Change{Action: ActionUpdated, Before: g.Customer, After: g.Customer}
	change.Before.buys(of.plan)
	change.After.buys(of.plan)
	change.After.recurring.amount = change.After.monthly(of.today)
	if change.Before.counted() == change.After.counted() {
		return nil
	}
	change.After.recurring.begin(monthOf(of.on), change.Before.counted())
	entries := change.countedWorth(of.today)
	for n := range entries {
		entries[n].N *= g.n
		entries[n].Cents *= g.n
	}
	return entries
}

// buys gives a customer a plan.
func (c *Customer) buys(plan catalog.Plan) {
	c.Plan, c.period = Plan{ID: plan.ID, Name: plan.Name, Value: plan.Value}, plan.Period
}

func scanRepricing(row sqldb.Row) (at repricing, err error) {
	err = row.Scan(&at.companyID, &at.planID, &at.on, &at.wasFree, &at.next)
	return at, err
}

// orNone is nil for a repricing that is not there, which is no error.
func orNone(at repricing, err error) (*repricing, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return &at, err
}

const repricingColumns = `company_id, plan_id, changed_on, was_free, next_id`

// beginRepricing begins with the first customer, also where a change before this
// one has not come to its end: what was free then has not been billed yet.
func beginRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) (repricing, error) {
	return sqldb.One(ctx, tx, scanRepricing, `
		INSERT INTO plan_repricings (`+repricingColumns+`) VALUES (?, ?, ?, ?, 0)
		ON CONFLICT (company_id, plan_id) DO UPDATE SET changed_on = excluded.changed_on, next_id = 0,
			was_free = plan_repricings.was_free OR excluded.was_free
		RETURNING `+repricingColumns, at.companyID, at.planID, at.on, at.wasFree)
}

// anyRepricing finds a plan to go on with; nil: there is none.
func anyRepricing(ctx context.Context, querier sqldb.Querier) (*repricing, error) {
	return orNone(sqldb.One(ctx, querier, scanRepricing, `
		SELECT `+repricingColumns+` FROM plan_repricings ORDER BY company_id, plan_id LIMIT 1 /* every company_id */`))
}

const anyRepricingText = `SELECT 1 FROM plan_repricings /* every company_id */`

// lockRepricing reads how far a repricing has come; nil: it has ended.
func lockRepricing(ctx context.Context, tx *sqldb.Tx, of repricing) (*repricing, error) {
	return orNone(sqldb.One(ctx, tx, scanRepricing, `
		SELECT `+repricingColumns+` FROM plan_repricings WHERE company_id = ? AND plan_id = ? {for update}`,
		of.companyID, of.planID))
}

func saveRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) error {
	_, err := tx.Exec(ctx, `UPDATE plan_repricings SET next_id = ? WHERE company_id = ? AND plan_id = ?`,
		at.next, at.companyID, at.planID)
	return err
}

func endRepricing(ctx context.Context, tx *sqldb.Tx, at repricing) error {
	_, err := tx.Exec(ctx, `DELETE FROM plan_repricings WHERE company_id = ? AND plan_id = ?`, at.companyID, at.planID)
	return err
}

// nextMembers finds the last of the next customers of a plan, and how many they
// are.
func nextMembers(ctx context.Context, tx *sqldb.Tx, at repricing, limit int) (last int64, count int, err error) {
	err = sqldb.Each(ctx, tx, `
		SELECT COALESCE(MAX(id), 0), count(*) FROM (
			SELECT id FROM customers WHERE company_id = ? AND plan_id = ? AND id > ? AND `+Visible+` ORDER BY id LIMIT ?
		) AS batch`, []any{at.companyID, at.planID, at.next, limit}, func(row sqldb.Row) error {
		return row.Scan(&last, &count)
	})
	return last, count, err
}

// OwnPriced is how many customers of a plan have a price of their own, and so do
// not follow the plan's.
func (s *Service) OwnPriced(ctx context.Context, actor account.Actor, planID int64) (int64, error) {
	keys := tally.Filter{Days: []tally.Days{{}}}
	keys.And("plan_id = ?", planID)
	keys.And("state = ?", tally.CustomerOwnPrice)
	count, _, err := counter.Sum(ctx, s.db, actor.Company.ID, keys)
	return count, err
}

// followBatch is how many customers are read at once to follow their plan.
const followBatch = 100

// FollowPlan has the customers of a plan who pay a price of their own pay the
// plan's, and returns how many. Each is a change of its own: what an error leaves
// undone, another call does.
func (s *Service) FollowPlan(ctx context.Context, actor account.Actor, planID int64) (done int, err error) {
	filter := Filter{PlanID: planID, Figure: Figure{OwnPrice: true}}
	for {
		list, err := s.First(ctx, actor, filter, followBatch)
		if err != nil || len(list) == 0 {
			return done, err
		}
		for _, record := range list {
			if _, err := s.Update(ctx, actor, record.ID, Draft{OwnPrice: input.Null[money.Cents]()}); err != nil {
				return done, err
			}
			done++
		}
	}
}
