//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/tally"
	"carteira/internal/platform/text"
)

// dataset is a database filled for measuring. Customers are created in a
// company of their own, so that the one that is listed keeps its size.
type dataset struct {
	engine  sqldb.Engine
	url     string
	size    int
	today   civil.Date
	listed  tenant
	created tenant
}

// tenant is a company with what is needed to call the API for it.
type tenant struct {
	account.Actor

	token    string
	plans    []catalog.Plan
	products []catalog.Product
}

// seed fills an empty database with a company of size customers.
func seed(ctx context.Context, engine sqldb.Engine, url string, size int) (d *dataset, err error) {
	db, err := sqldb.Open(ctx, url, sqldb.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	d = &dataset{engine: engine, url: url, size: size}
	if d.listed, err = newTenant(ctx, db, "listed"); err != nil {
		return nil, err
	}
	if d.created, err = newTenant(ctx, db, "created"); err != nil {
		return nil, err
	}
	d.today = d.listed.Today(db.Now())
	if err := d.insertCustomers(ctx, db); err != nil {
		return nil, err
	}
	if err := d.count(ctx, db); err != nil {
		return nil, err
	}
	return d, d.settle(ctx)
}

func newTenant(ctx context.Context, db *sqldb.DB, name string) (t tenant, err error) {
	accounts, sells := account.New(db, 0), catalog.New(db)
	form := func(pairs ...string) *input.Form {
		values := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			values[pairs[i]] = pairs[i+1]
		}
		return input.FromStrings(values)
	}
	if t.Company, _, err = accounts.CreateCompany(ctx, form("name", name, "email", name+"@example.com")); err != nil {
		return t, err
	}
	if _, t.token, err = accounts.CreateToken(ctx, t.Actor, form("name", "bench")); err != nil {
		return t, err
	}
	for i := range planShare {
		if i%3 == 0 {
			product, err := sells.CreateProduct(ctx, t.Actor, form("name", fmt.Sprintf("Fibra %d Mb", 100*(i+1))))
			if err != nil {
				return t, err
			}
			t.products = append(t.products, product)
		}
		product := t.products[len(t.products)-1]
		plan, err := sells.CreatePlan(ctx, t.Actor, form("name", fmt.Sprintf("Mensal %d", i+1), "value", "99.90",
			"period", "1month", "product_id", strconv.FormatInt(product.ID, 10)))
		if err != nil {
			return t, err
		}
		t.plans = append(t.plans, plan)
	}
	return t, nil
}

// A statement inserts perStatement rows and a transaction perCommit: large
// enough to be fast, small enough for the databases' bounds on arguments.
const (
	perStatement = 500
	perCommit    = 10_000
)

func (d *dataset) insertCustomers(ctx context.Context, db *sqldb.DB) error {
	bar := newProgress(fmt.Sprintf("seeding %s with %s customers", d.engine, grouped(d.size)))
	for from := 0; from < d.size; from += perCommit {
		to := min(from+perCommit, d.size)
		err := db.Write(ctx, func(tx *sqldb.Tx) error {
			for i := from; i < to; i += perStatement {
				if err := d.insertRows(ctx, tx, i, min(i+perStatement, to)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("seed customers: %w", err)
		}
		bar.show(to, d.size)
	}
	return nil
}

func (d *dataset) insertRows(ctx context.Context, tx *sqldb.Tx, from, to int) error {
	const columns = 16
	var b strings.Builder
	b.WriteString(`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id,
		due_on, own_day, plan_id, product_id, notes, search, created_at, updated_at) VALUES `)
	args := make([]any, 0, columns*(to-from))
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(',')
		}
		b.WriteString("(" + sqldb.Marks(columns) + ")")
		p := personOf(i, d.today)
		planID, productID := d.sold(p)
		day := 0
		if !p.due.IsZero() {
			day = p.due.Day()
		}
		at := tx.Now().Add(-time.Duration(d.size-i) * time.Minute).UnixMicro()
		args = append(args, d.listed.Company.ID, id.NewUUID(), p.name, p.phone, p.email, p.usuario, text.Lower(p.usuario), p.external,
			p.due, day, sqldb.RefTo(planID), sqldb.RefTo(productID), p.notes, p.search(), at, at)
	}
	_, err := tx.Exec(ctx, b.String(), args...)
	return err
}

// count tells the product's book of the new customers. Ids of a fresh database
// begin with 1; verify would see if they did not.
func (d *dataset) count(ctx context.Context, db *sqldb.DB) error {
	const book tally.Book = "customers"
	places := map[tally.Place]int64{}
	for i := range d.size {
		p := personOf(i, d.today)
		planID, productID := d.sold(p)
		places[tally.Place{Bucket: tally.BucketOf(int64(i + 1)), Day: p.due.String(), PlanID: planID, ProductID: productID}]++
	}
	changes := make([]tally.Change, 0, len(places))
	for place, n := range places {
		changes = append(changes, tally.Change{Place: place, N: n})
	}
	err := db.Write(ctx, func(tx *sqldb.Tx) error {
		return book.Add(ctx, tx, d.listed.Company.ID, changes...)
	})
	if err != nil {
		return err
	}
	return tally.Fold(ctx, db)
}

// sold is the plan and the product of a person; 0: none.
func (d *dataset) sold(p person) (planID, productID int64) {
	if p.plan < 0 {
		return 0, 0
	}
	plan := d.listed.plans[p.plan]
	return plan.ID, plan.Product.ID
}

// settle does at once what PostgreSQL's autovacuum does a little later.
// SQLite has nothing of the kind, and the product never runs ANALYZE there.
func (d *dataset) settle(ctx context.Context) error {
	if d.engine != sqldb.Postgres {
		return nil
	}
	db, err := sql.Open("pgx", d.url)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM (ANALYZE)")
	return errors.Join(err, db.Close())
}
