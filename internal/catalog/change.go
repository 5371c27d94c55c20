package catalog

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Action is what happened to a plan or a product.
type Action string

// The actions. Neither plans nor products are deleted: they become inactive.
const (
	ActionCreated Action = "created"
	ActionUpdated Action = "updated"
)

// PlanChange is one change of a plan. Before is zero for a plan that is made.
type PlanChange struct {
	Action        Action
	Before, After Plan
}

// PlanChanges are changes of plans.
type PlanChanges = account.ChangesOf[PlanChange]

// WatchPlans adds a room above this one that acts when plans change. It is
// called after the row is written. Plans that an import makes are not among the
// changes: its customers are.
func (s *Service) WatchPlans(w watch.Watcher[PlanChanges]) { s.planWatchers.Watch(w) }

// applyPlan writes a change of a plan and draws its consequences: row, audit
// line, watchers. Plans have no counts and no events. Only AddPlan, for an
// import, writes a plan's row elsewhere.
func (s *Service) applyPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *PlanChange) (err error) {
	var before account.AuditFields
	if c.Action == ActionCreated {
		c.After.ID, err = insertPlan(ctx, tx, a.Company.ID, c.After)
	} else {
		before = planFields.Of(&c.Before)
		err = updatePlan(ctx, tx, a.Company.ID, c.After)
	}
	if err != nil {
		return err
	}
	err = account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "plan." + string(c.Action), Record: "plan", ID: c.After.ID, Name: c.After.Name,
		Before: before, After: planFields.Of(&c.After),
	})
	if err != nil {
		return err
	}
	return s.planWatchers.Tell(ctx, tx, PlanChanges{Actor: a, List: []PlanChange{*c}})
}

// productChange is one change of a product. No room watches products.
type productChange struct {
	action        Action
	before, after Product
}

// applyProduct writes a change of a product and draws its consequences: row and
// audit line. Only AddProduct, for an import, writes a product's row elsewhere.
func (s *Service) applyProduct(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *productChange) (err error) {
	var before account.AuditFields
	if c.action == ActionCreated {
		c.after.ID, err = insertProduct(ctx, tx, a.Company.ID, c.after)
	} else {
		before = productFields.Of(&c.before)
		err = updateProduct(ctx, tx, a.Company.ID, c.after)
	}
	if err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: "product." + string(c.action), Record: "product", ID: c.after.ID, Name: c.after.Name,
		Before: before, After: productFields.Of(&c.after),
	})
}

// AddPlan makes a plan that an import has checked, inside its transaction. The
// import has one audit line for the whole file.
func AddPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, p Plan) (_ Plan, err error) {
	p.Active, p.CreatedAt = true, tx.Now()
	p.ID, err = insertPlan(ctx, tx, a.Company.ID, p)
	return p, err
}

// AddProduct is AddPlan for a product.
func AddProduct(ctx context.Context, tx *sqldb.Tx, a account.Actor, p Product) (_ Product, err error) {
	p.Active, p.CreatedAt = true, tx.Now()
	p.ID, err = insertProduct(ctx, tx, a.Company.ID, p)
	return p, err
}

// RemovePlan takes back a plan that AddPlan made for an import that came to
// nothing. One that is used by now fails with sqldb.ErrForeignKey.
func RemovePlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) error {
	return deletePlan(ctx, tx, a.Company.ID, id)
}

// RemoveProduct is RemovePlan for a product.
func RemoveProduct(ctx context.Context, tx *sqldb.Tx, a account.Actor, id int64) error {
	return deleteProduct(ctx, tx, a.Company.ID, id)
}
