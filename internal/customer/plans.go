package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// PlansChanged counts anew what the customers of a plan are worth a month when
// its value or its period changes. The program has catalog call it. It takes a
// few statements for any number of customers.
func (s *Service) PlansChanged(
	ctx context.Context,
	tx *sqldb.Tx,
	changed catalog.PlanChanges,
) error {
	for _, change := range changed.List {
		if change.Before.ID == 0 || change.Before.Value == change.After.Value && change.Before.Period == change.After.Period {
			continue
		}
		if err := repriced(ctx, tx, changed.Actor, change); err != nil {
			return fmt.Errorf(
				"count what the customers of plan %d are worth: %w",
				change.After.ID,
				err,
			)
		}
	}
	return nil
}

// alike are customers of a plan of whom all is the same that decides what they
// are worth.
type alike struct {
	Customer
	n int64
}

func repriced(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	change catalog.PlanChange,
) error {
	today := actor.Today(tx.Now())
	of := planMembers{
		planID: change.After.ID,
		today:  today,
		every:  change.Before.Period != change.After.Period,
	}
	groups, err := lockAlike(ctx, tx, actor.Company.ID, of)
	if err != nil {
		return err
	}
	var entries []tally.Entry
	prices := map[Price]bool{}
	for _, group := range groups {
		entries = append(entries, group.reprice(change, today)...)
		prices[group.OwnPrice] = true
	}
	for price := range prices {
		after := Customer{OwnPrice: price}
		after.buys(change.After)
		if err := updateWorth(ctx, tx, actor.Company.ID, of, after); err != nil {
			return err
		}
	}
	return tally.AddAll(ctx, tx, actor.Company.ID, entries)
}

// reprice is how the counter of recurring revenue moves with a plan.
func (g alike) reprice(planChange catalog.PlanChange, today civil.Date) []tally.Entry {
	change := Change{Action: ActionUpdated, Before: g.Customer, After: g.Customer}
	change.Before.buys(planChange.Before)
	change.After.buys(planChange.After)
	change.settleWorth(today)
	entries := change.countedWorth(today)
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
