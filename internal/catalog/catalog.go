// Package catalog owns what a company sells: plans, which say what a customer
// pays and for how long, and products, which say what for. It does not own
// the customers who buy them, nor the subscription plans of resellers.
package catalog

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Plan is what a customer pays for a period.
type Plan struct {
	ID        int64
	Name      string
	Value     money.Cents
	Period    civil.Period
	Product   Ref // ID 0: none
	Active    bool
	CreatedAt time.Time
}

// Product is what a company sells.
type Product struct {
	ID          int64
	Name        string
	Description string
	Active      bool
	CreatedAt   time.Time
}

// Ref names a record that another one refers to.
type Ref struct {
	ID   int64
	Name string
}

// Filter chooses plans or products.
type Filter struct {
	Search     string
	OnlyActive *bool
}

// ReadFilter reads search and active from a query.
func ReadFilter(in *input.Form) Filter {
	var f Filter
	f.Search, _ = in.Line("search", 255).Get()
	if active, ok := in.Choice("active", "true", "false", "1", "0").Get(); ok && active != "" {
		yes := active == "true" || active == "1"
		f.OnlyActive = &yes
	}
	return f
}

// Service has the use cases.
type Service struct {
	db *sqldb.DB
}

// New makes the service.
func New(db *sqldb.DB) *Service { return &Service{db} }

// CreatePlan makes a plan from the fields name, value, period and product_id.
func (s *Service) CreatePlan(ctx context.Context, a account.Actor, in *input.Form) (Plan, error) {
	in.Require("name")
	in.Require("value")
	in.Require("period")
	return s.savePlan(ctx, a, 0, in)
}

// UpdatePlan changes the fields that are given, active among them.
func (s *Service) UpdatePlan(ctx context.Context, a account.Actor, id int64, in *input.Form) (Plan, error) {
	in.MustNotClear("name")
	in.MustNotClear("value")
	in.MustNotClear("period")
	return s.savePlan(ctx, a, id, in)
}

// savePlan makes a plan when id is 0. What it works on is made anew at each
// run of the transaction, which may not be the first.
func (s *Service) savePlan(ctx context.Context, a account.Actor, id int64, in *input.Form) (p Plan, err error) {
	change := readPlan(in)
	if err := in.Err(); err != nil {
		return p, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		p = Plan{Active: true, CreatedAt: tx.Now()}
		if id != 0 {
			if p, err = lockPlan(ctx, tx, a.Company.ID, id); err != nil {
				return err
			}
		}
		before := p
		change(&p)
		if p.Product.ID != 0 {
			product, err := productByID(ctx, tx, a.Company.ID, p.Product.ID)
			if err != nil {
				return refuseMissing(err, "product_id")
			}
			p.Product.Name = product.Name
		}
		d := account.AuditEntry{Action: "plan.updated", Record: "plan", Name: p.Name, Before: planFields(before), After: planFields(p)}
		if id != 0 {
			err = updatePlan(ctx, tx, a.Company.ID, p)
		} else {
			d.Action, d.Before = "plan.created", nil
			p.ID, err = insertPlan(ctx, tx, a.Company.ID, p)
		}
		if err != nil {
			return err
		}
		d.ID = p.ID
		return account.WriteAudit(ctx, tx, a, d)
	})
	return p, err
}

func planFields(p Plan) account.AuditFields {
	return account.AuditFields{"name": p.Name, "value": p.Value.String(), "period": p.Period.String(), "product": p.Product.Name, "active": p.Active}
}

// readPlan returns what the form changes.
func readPlan(in *input.Form) func(*Plan) {
	name, hasName := in.Line("name", 255).Get()
	value, hasValue := in.Money("value").Get()
	label, hasPeriod := in.Line("period", 40).Get()
	product, hasProduct := in.ID("product_id").Get()
	active, hasActive := in.Bool("active").Get()
	period, err := civil.ParsePeriod(label)
	if hasPeriod && label != "" && err != nil {
		in.Refuse("period", err.Error())
	}
	return func(p *Plan) {
		set(&p.Name, name, hasName)
		set(&p.Value, value, hasValue)
		set(&p.Period, period, hasPeriod)
		set(&p.Product, Ref{ID: product}, hasProduct)
		set(&p.Active, active, hasActive)
	}
}

func set[T any](field *T, value T, given bool) {
	if given {
		*field = value
	}
}

// CreateProduct makes a product from the fields name and description.
func (s *Service) CreateProduct(ctx context.Context, a account.Actor, in *input.Form) (Product, error) {
	in.Require("name")
	return s.saveProduct(ctx, a, 0, in)
}

// UpdateProduct changes the fields that are given, active among them.
func (s *Service) UpdateProduct(ctx context.Context, a account.Actor, id int64, in *input.Form) (Product, error) {
	in.MustNotClear("name")
	return s.saveProduct(ctx, a, id, in)
}

// saveProduct makes a product when id is 0.
func (s *Service) saveProduct(ctx context.Context, a account.Actor, id int64, in *input.Form) (p Product, err error) {
	name, hasName := in.Line("name", 255).Get()
	description, hasDescription := in.Text("description", 5000).Get()
	active, hasActive := in.Bool("active").Get()
	if err := in.Err(); err != nil {
		return p, err
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		p = Product{Active: true, CreatedAt: tx.Now()}
		if id != 0 {
			if p, err = lockProduct(ctx, tx, a.Company.ID, id); err != nil {
				return err
			}
		}
		before := p
		set(&p.Name, name, hasName)
		set(&p.Description, description, hasDescription)
		set(&p.Active, active, hasActive)
		d := account.AuditEntry{Action: "product.updated", Record: "product", Name: p.Name, Before: productFields(before), After: productFields(p)}
		if id != 0 {
			err = updateProduct(ctx, tx, a.Company.ID, p)
		} else {
			d.Action, d.Before = "product.created", nil
			p.ID, err = insertProduct(ctx, tx, a.Company.ID, p)
		}
		if err != nil {
			return err
		}
		d.ID = p.ID
		return account.WriteAudit(ctx, tx, a, d)
	})
	return p, err
}

func productFields(p Product) account.AuditFields {
	return account.AuditFields{"name": p.Name, "description": p.Description, "active": p.Active}
}

// Plan finds a plan.
func (s *Service) Plan(ctx context.Context, a account.Actor, id int64) (Plan, error) {
	return planByID(ctx, s.db, a.Company.ID, id)
}

// Plans lists plans, newest first, with how many there are in all.
func (s *Service) Plans(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Plan, int64, error) {
	return plans(ctx, s.db, a.Company.ID, f, page)
}

// Product finds a product.
func (s *Service) Product(ctx context.Context, a account.Actor, id int64) (Product, error) {
	return productByID(ctx, s.db, a.Company.ID, id)
}

// Products lists products, newest first, with how many there are in all.
func (s *Service) Products(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Product, int64, error) {
	return products(ctx, s.db, a.Company.ID, f, page)
}

// FindPlan finds a plan for another use case, inside its transaction.
func FindPlan(ctx context.Context, q sqldb.Querier, a account.Actor, id int64) (Plan, error) {
	return planByID(ctx, q, a.Company.ID, id)
}

// FindProduct finds a product for another use case, inside its transaction.
func FindProduct(ctx context.Context, q sqldb.Querier, a account.Actor, id int64) (Product, error) {
	return productByID(ctx, q, a.Company.ID, id)
}

// AllPlans returns every plan of the company for another use case.
func AllPlans(ctx context.Context, q sqldb.Querier, a account.Actor) ([]Plan, error) {
	return allPlans(ctx, q, a.Company.ID)
}

// AllProducts returns every product of the company for another use case.
func AllProducts(ctx context.Context, q sqldb.Querier, a account.Actor) ([]Product, error) {
	return allProducts(ctx, q, a.Company.ID)
}

// AddPlan makes a plan that another use case has checked, inside its
// transaction.
func AddPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, p Plan) (_ Plan, err error) {
	p.Active, p.CreatedAt = true, tx.Now()
	p.ID, err = insertPlan(ctx, tx, a.Company.ID, p)
	return p, err
}

// AddProduct makes a product that another use case has checked, inside its
// transaction.
func AddProduct(ctx context.Context, tx *sqldb.Tx, a account.Actor, p Product) (_ Product, err error) {
	p.Active, p.CreatedAt = true, tx.Now()
	p.ID, err = insertProduct(ctx, tx, a.Company.ID, p)
	return p, err
}
