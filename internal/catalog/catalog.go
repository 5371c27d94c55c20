// Package catalog owns what a company sells: plans, which say what a customer
// pays and for how long, and products, which say what for. It does not own
// the customers who buy them, nor the subscription plans of resellers.
package catalog

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/platform/watch"
)

// Ref names a record that another one refers to.
type Ref struct {
	ID   int64
	Name string
}

// Limits of the free texts.
const (
	maxName        = 255
	maxDescription = 5000
)

// Filter chooses plans or products.
type Filter struct {
	Search     string
	OnlyActive *bool
}

// ReadFilter reads search and active from a query.
func ReadFilter(in *input.Form) Filter {
	filter := Filter{Search: in.Line("search", maxName).Value}
	if active := in.Choice("active", "true", "false", "1", "0"); active.HasValue() {
		yes := active.Value == "true" || active.Value == "1"
		filter.OnlyActive = &yes
	}
	return filter
}

// Service has the use cases.
type Service struct {
	db           *sqldb.DB
	planWatchers watch.List[PlanChanges]
}

// New makes the service.
func New(db *sqldb.DB) *Service { return &Service{db: db} }

// Action is what happened to a plan or a product.
type Action string

// The actions. A plan or product that a customer or an invoice has is never
// deleted: it becomes inactive.
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

// WatchPlans registers a callback that runs after the row of a plan was
// written. It is not called for plans that an import makes, because the
// import's customers are watched, nor for deleted plans, because no customer
// has one.
func (s *Service) WatchPlans(watcher watch.Watcher[PlanChanges]) {
	s.planWatchers.Watch(watcher)
}

// applyPlan writes a change of a plan and draws its consequences: row, audit
// line, watchers. Plans have no counts and no events. Only AddPlan, for an
// import, writes a plan's row elsewhere.
func (s *Service) applyPlan(ctx context.Context, tx account.Tx, change *PlanChange) (err error) {
	before := &change.Before
	if change.Action == ActionCreated {
		before = nil
		change.After.ID, err = insertPlan(ctx, tx, change.After)
	} else {
		err = tx.Do(ctx, `
			UPDATE customer_plans SET `+storedPlan.Columns("", " = ?")+`, product_id = ?, search = ?, updated_at = ?
			WHERE company_id = ? AND id = ?`, append(storedPlan.Values(&change.After),
			sqldb.RefTo(change.After.Product.ID), text.Fold(change.After.Name), tx.Now().UnixMicro(), tx.Company.ID, change.After.ID)...)
	}
	if err != nil {
		return err
	}
	if err := account.AuditChange(ctx, tx, "plan", before, &change.After, auditedPlan); err != nil {
		return err
	}
	return s.planWatchers.Tell(ctx, tx.Tx, PlanChanges{Actor: tx.Actor, List: []PlanChange{*change}})
}

// productChange is one change of a product. No room watches products.
type productChange struct {
	action        Action
	before, after Product
}

// applyProduct writes a change of a product and draws its consequences: row and
// audit line. Only AddProduct, for an import, writes a product's row elsewhere.
func (s *Service) applyProduct(ctx context.Context, tx account.Tx, change *productChange) (err error) {
	before := &change.before
	if change.action == ActionCreated {
		before = nil
		change.after.ID, err = insertProduct(ctx, tx, change.after)
	} else {
		err = tx.Do(ctx, `
			UPDATE products SET `+storedProduct.Columns("", " = ?")+`, search = ?, updated_at = ?
			WHERE company_id = ? AND id = ?`, append(storedProduct.Values(&change.after),
			text.Fold(change.after.Name), tx.Now().UnixMicro(), tx.Company.ID, change.after.ID)...)
	}
	if err != nil {
		return err
	}
	return account.AuditChange(ctx, tx, "product", before, &change.after, auditedProduct)
}

func auditedPlan(plan *Plan) account.Audited {
	return account.Audited{ID: plan.ID, Name: plan.Name, Fields: PlanFields.Audit(plan)}
}

func auditedProduct(product *Product) account.Audited {
	return account.Audited{ID: product.ID, Name: product.Name, Fields: ProductFields.Audit(product)}
}

// DeletePlan deletes a plan that neither a customer nor an invoice has.
func (s *Service) DeletePlan(ctx context.Context, actor account.Actor, id int64) (plan Plan, err error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (plan Plan, err error) {
		if plan, err = lockPlan(ctx, tx, id); err != nil {
			return plan, err
		}
		if err := deletePlan(ctx, tx, id); err != nil {
			return plan, inUse(err, "customers or invoices have this plan; take it off sale instead")
		}
		return plan, account.AuditChange(ctx, tx, "plan", &plan, nil, auditedPlan)
	})
}

// DeleteProduct deletes a product that no plan, customer or invoice has.
func (s *Service) DeleteProduct(ctx context.Context, actor account.Actor, id int64) (product Product, err error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (product Product, err error) {
		if product, err = lockProduct(ctx, tx, id); err != nil {
			return product, err
		}
		if err := deleteProduct(ctx, tx, id); err != nil {
			return product, inUse(err, "plans, customers or invoices have this product; take it off sale instead")
		}
		return product, account.AuditChange(ctx, tx, "product", &product, nil, auditedProduct)
	})
}

// inUse is the refusal for a row that others refer to.
func inUse(err error, reason string) error {
	if errors.Is(err, sqldb.ErrForeignKey) {
		return fault.Conflict(reason)
	}
	return err
}

// AddPlan makes a plan that an import has checked, inside its transaction. The
// import has one audit line for the whole file.
func AddPlan(ctx context.Context, tx account.Tx, plan Plan) (_ Plan, err error) {
	plan.Active, plan.CreatedAt = true, tx.Now()
	plan.ID, err = insertPlan(ctx, tx, plan)
	return plan, err
}

// AddProduct is AddPlan for a product.
func AddProduct(ctx context.Context, tx account.Tx, product Product) (_ Product, err error) {
	product.Active, product.CreatedAt = true, tx.Now()
	product.ID, err = insertProduct(ctx, tx, product)
	return product, err
}

// RemovePlan takes back a plan that AddPlan made for an import that came to
// nothing. One that is used by now fails with sqldb.ErrForeignKey.
func RemovePlan(ctx context.Context, tx account.Tx, id int64) error {
	return deletePlan(ctx, tx, id)
}

// RemoveProduct is RemovePlan for a product.
func RemoveProduct(ctx context.Context, tx account.Tx, id int64) error {
	return deleteProduct(ctx, tx, id)
}
