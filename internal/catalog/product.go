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

// ProductFields are the fields of a product.
var ProductFields = account.Table[Product, ProductDraft]{
	{Name: "id", At: func(p *Product) any { return &p.ID }, Except: account.InAudit},
	account.Drafted("name", "name", func(p *Product, d *ProductDraft) (*string, *input.Opt[string]) {
		return &p.Name, &d.Name
	}, account.Line(maxName)),
	account.Drafted("description", "description", func(p *Product, d *ProductDraft) (*string, *input.Opt[string]) {
		return &p.Description, &d.Description
	}, func(in *input.Form, name string) input.Opt[string] { return in.Text(name, maxDescription) }),
	account.Drafted("active", "active", func(p *Product, d *ProductDraft) (*bool, *input.Opt[bool]) {
		return &p.Active, &d.Active
	}, (*input.Form).Bool),
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

func readProduct(in *input.Form) (draft ProductDraft) {
	in.Ignore("id", "customers_count", "created_at")
	ProductFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

// to sets what the draft gives.
func (d ProductDraft) to(product *Product) error {
	ProductFields.To(&d, product)
	if product.Name == "" {
		return fault.Field("name", "must not be empty")
	}
	return nil
}

// CreateProduct makes a product.
func (s *Service) CreateProduct(ctx context.Context, actor account.Actor, draft ProductDraft) (Product, error) {
	if err := draft.Problems.Err(); err != nil {
		return Product{}, err
	}
	var change productChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		change = productChange{action: ActionCreated, after: Product{Active: true, CreatedAt: tx.Now()}}
		if err := draft.to(&change.after); err != nil {
			return err
		}
		return s.applyProduct(ctx, tx, &change)
	})
	return change.after, err
}

// UpdateProduct changes the fields that are given. Nothing is recorded when
// nothing changes.
func (s *Service) UpdateProduct(ctx context.Context, actor account.Actor, id int64, draft ProductDraft) (Product, error) {
	if err := draft.Problems.Err(); err != nil {
		return Product{}, err
	}
	var change productChange
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockProduct(ctx, tx, id)
		if err != nil {
			return err
		}
		change = productChange{action: ActionUpdated, before: before, after: before}
		err = draft.to(&change.after)
		if err != nil || !ProductFields.Differ(&change.before, &change.after) {
			return err
		}
		return s.applyProduct(ctx, tx, &change)
	})
	return change.after, err
}

// Product finds a product.
func (s *Service) Product(ctx context.Context, actor account.Actor, id int64) (Product, error) {
	return productByID(ctx, s.db, actor.Company.ID, id)
}

// Products lists products, newest first, with how many there are in all.
func (s *Service) Products(
	ctx context.Context, actor account.Actor, filter Filter, page input.Page,
) ([]Product, int64, error) {
	return products(ctx, s.db, actor.Company.ID, filter, page)
}

// FindProduct finds a product for another use case, inside its transaction.
func FindProduct(ctx context.Context, querier sqldb.Querier, actor account.Actor, id int64) (Product, error) {
	return productByID(ctx, querier, actor.Company.ID, id)
}

// AllProducts returns every product of the company for another use case.
func AllProducts(ctx context.Context, querier sqldb.Querier, actor account.Actor) ([]Product, error) {
	return sqldb.All(ctx, querier, scanProduct, productSelect+` WHERE p.company_id = ? ORDER BY p.id`, actor.Company.ID)
}
