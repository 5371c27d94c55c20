//go:build linux

package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
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
	pocket  *pocket // nil unless PocketBase is measured too
}

// tenant is a company with what is needed to call the API for it.
type tenant struct {
	account.Actor

	token    string
	plans    []catalog.Plan
	products []catalog.Product
}

// dataset makes a database with a company of size customers, on SQLite one of
// PocketBase too, and checks that the product finds in it what was put there.
func (b *bench) dataset(ctx context.Context, engine sqldb.Engine, size int) (d *dataset, err error) {
	d = &dataset{engine: engine, size: size}
	if d.url, err = b.address(ctx, engine, strconv.Itoa(size)); err != nil {
		return nil, err
	}
	if err := d.seed(ctx); err != nil {
		return nil, fmt.Errorf("seed %d customers: %w", size, err)
	}
	if err := b.verify(ctx, d); err != nil {
		return nil, err
	}
	if b.pocket && engine == sqldb.SQLite && size != b.big && len(b.works()) > 0 {
		err = b.addPocket(ctx, d)
	}
	return d, err
}

func (d *dataset) seed(ctx context.Context) (err error) {
	db, err := sqldb.Open(ctx, d.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if d.listed, err = newTenant(ctx, db, "listed"); err != nil {
		return err
	}
	if d.created, err = newTenant(ctx, db, "created"); err != nil {
		return err
	}
	d.today = d.listed.Today(db.Now())
	if err := d.insertCustomers(ctx, db); err != nil {
		return err
	}
	return d.settle(ctx)
}

// verify asks the product for the pages at both ends. The seed writes tables that
// are not its own, and must notice when the product has changed its mind about them.
func (b *bench) verify(ctx context.Context, d *dataset) error {
	client, stop, err := called(ctx, b.startProduct, d)
	if err != nil {
		return err
	}
	defer stop()
	for _, page := range []int{1, d.size / pageSize} {
		body, err := client.do(get(&d.listed, "/customers?page="+strconv.Itoa(page)))
		if err != nil {
			return err
		}
		var got struct {
			Data []struct{ ID int64 }
			Meta struct{ Total int }
		}
		if err := json.Unmarshal(body, &got); err != nil {
			return err
		}
		want := int64(d.size - (page-1)*pageSize)
		if got.Meta.Total != d.size || len(got.Data) != pageSize || got.Data[0].ID != want {
			return fmt.Errorf("page %d of %d customers has %d of %d", page, d.size, len(got.Data), got.Meta.Total)
		}
	}
	return nil
}

func newTenant(ctx context.Context, db *sqldb.DB, name string) (tenant tenant, err error) {
	accounts, sells := account.New(db, account.Config{}), catalog.New(db)
	form := func(pairs ...string) *input.Form {
		values := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			values[pairs[i]] = pairs[i+1]
		}
		return input.FromStrings(values)
	}
	if tenant.Company, _, err = accounts.CreateCompany(ctx, account.NewCompany{Name: name, Email: name + "@example.com"}); err != nil {
		return tenant, err
	}
	tenant.Actor = account.Operator(tenant.Company)
	if _, tenant.token, err = accounts.CreateToken(ctx, tenant.Actor, account.NewToken{Name: "bench"}); err != nil {
		return tenant, err
	}
	for i := range planShare {
		if i%3 == 0 {
			product, err := sells.CreateProduct(ctx, tenant.Actor, catalog.ReadNewProduct(form("name", fmt.Sprintf("Fibra %d Mb", 100*(i+1)))))
			if err != nil {
				return tenant, err
			}
			tenant.products = append(tenant.products, product)
		}
		product := tenant.products[len(tenant.products)-1]
		plan, err := sells.CreatePlan(ctx, tenant.Actor, catalog.ReadNewPlan(form("name", fmt.Sprintf("Mensal %d", i+1), "value", "99.90",
			"period", "1month", "product_id", strconv.FormatInt(product.ID, 10))))
		if err != nil {
			return tenant, err
		}
		tenant.plans = append(tenant.plans, plan)
	}
	return tenant, nil
}

// importChunk is how many customers are imported at once.
const importChunk = 10_000

// insertCustomers goes the way of `carteira import`, so that the tables are
// filled as the product fills them.
func (d *dataset) insertCustomers(ctx context.Context, db *sqldb.DB) error {
	customers := customer.New(db, &event.Log{})
	fmt.Printf("seeding %s with %s customers\n", engineNames[d.engine], grouped(d.size))
	for from := 0; from < d.size; from += importChunk {
		to := min(from+importChunk, d.size)
		var first error
		done, err := intake.New(db, customers).Import(ctx, d.listed.Actor, d.rows(from, to),
			intake.ImportOptions{KeepGoing: true, Problem: func(problem intake.Problem) {
				first = cmp.Or(first, fmt.Errorf("customer %d: %s %q: %s", problem.Line, problem.Field, problem.Value, problem.Reason))
			}})
		if err := cmp.Or(err, first); err != nil {
			return fmt.Errorf("seed customers, %d done: %w", from+done.Imported, err)
		}
		if err := tally.Compact(ctx, db); err != nil { // as a server does
			return err
		}
	}
	return d.tellExpired(ctx, db)
}

func (d *dataset) rows(from, to int) intake.Rows {
	return func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			for i := from; i < to; i++ {
				if !yield(sheet.Row{Line: i, Values: d.values(personOf(i, d.today))}, nil) {
					return
				}
			}
		}
	}
}

func (d *dataset) values(person person) map[string]string {
	v := map[string]string{
		"name": person.name, "whatsapp": person.phone, "email": person.email, "usuario": person.usuario,
		"external_id": person.external, "notes": person.notes, "data_de_vencimento": person.due.String(),
	}
	if person.plan >= 0 {
		v["plan_id"] = strconv.FormatInt(d.listed.plans[person.plan].ID, 10)
	}
	return v
}

// tellExpired marks passed due dates as recorded, which the server would
// otherwise do in the middle of a measurement.
func (d *dataset) tellExpired(ctx context.Context, db *sqldb.DB) error {
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE customers SET expiry_on = NULL, expired = TRUE WHERE company_id = ? AND due_on < ?`,
			d.listed.Company.ID, d.today)
		return err
	})
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
