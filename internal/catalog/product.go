package catalog

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Product is what a company sells.
type Product struct {
	ID          int64
	Name        string
	Description string
	Active      bool
	CreatedAt   time.Time
}

// ProductDraft is what a caller wants a product to be: a change leaves alone
// what is not given.
type ProductDraft struct {
	Name        input.Opt[string]
	Description input.Opt[string]
	Active      input.Opt[bool]

	Problems input.Problems // what the form had wrong
}

// ReadNewProduct reads the draft of a new product from the fields name,
// description and active.
func ReadNewProduct(in *input.Form) ProductDraft {
	in.Require("name")
	return readProduct(in)
}

// ReadProductChanges reads the draft of a change.
func ReadProductChanges(in *input.Form) ProductDraft {
	in.MustNotClear("name")
	return readProduct(in)
}

func readProduct(in *input.Form) ProductDraft {
	d := ProductDraft{
		Name:        in.Line("name", maxName),
		Description: in.Text("description", maxDescription),
		Active:      in.Bool("active"),
	}
	d.Problems = in.Problems()
	return d
}

// to sets what the draft gives.
func (d ProductDraft) to(p *Product) error {
	d.Name.To(&p.Name)
	d.Description.To(&p.Description)
	d.Active.To(&p.Active)
	if p.Name == "" {
		return fault.Field("name", "must not be empty")
	}
	return nil
}

// CreateProduct makes a product.
func (s *Service) CreateProduct(ctx context.Context, a account.Actor, d ProductDraft) (Product, error) {
	if err := d.Problems.Err(); err != nil {
		return Product{}, err
	}
	var c productChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c = productChange{action: ActionCreated, after: Product{Active: true, CreatedAt: tx.Now()}}
		if err := d.to(&c.after); err != nil {
			return err
		}
		return s.applyProduct(ctx, tx, a, &c)
	})
	return c.after, err
}

// UpdateProduct changes the fields that are given. Nothing is recorded when
// nothing changes.
func (s *Service) UpdateProduct(ctx context.Context, a account.Actor, id int64, d ProductDraft) (Product, error) {
	if err := d.Problems.Err(); err != nil {
		return Product{}, err
	}
	var c productChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockProduct(ctx, tx, a.Company.ID, id)
		if err != nil {
			return err
		}
		c = productChange{action: ActionUpdated, before: before, after: before}
		if err := d.to(&c.after); err != nil || !productFields.Differ(&c.before, &c.after) {
			return err
		}
		return s.applyProduct(ctx, tx, a, &c)
	})
	return c.after, err
}

// Product finds a product.
func (s *Service) Product(ctx context.Context, a account.Actor, id int64) (Product, error) {
	return productByID(ctx, s.db, a.Company.ID, id)
}

// Products lists products, newest first, with how many there are in all.
func (s *Service) Products(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Product, int64, error) {
	return products(ctx, s.db, a.Company.ID, f, page)
}

// FindProduct finds a product for another use case, inside its transaction.
func FindProduct(ctx context.Context, q sqldb.Querier, a account.Actor, id int64) (Product, error) {
	return productByID(ctx, q, a.Company.ID, id)
}

// AllProducts returns every product of the company for another use case.
func AllProducts(ctx context.Context, q sqldb.Querier, a account.Actor) ([]Product, error) {
	return allProducts(ctx, q, a.Company.ID)
}
