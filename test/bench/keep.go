//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// place is the address of a database for a dataset, and whether an earlier run has
// left it there. A million customers take ten minutes to seed.
func (b *bench) place(ctx context.Context, engine sqldb.Engine, size int) (url string, kept bool, err error) {
	if b.keep == "" {
		url, err = b.address(ctx, engine, size)
		return url, false, err
	}
	if engine == sqldb.Postgres {
		return b.postgres.find(ctx, size)
	}
	if err := os.MkdirAll(b.keep, 0o750); err != nil {
		return "", false, err
	}
	path := filepath.Join(b.keep, fmt.Sprintf("%d-%s.db", size, time.Now().Format(time.DateOnly)))
	_, err = os.Stat(path)
	return "sqlite:" + path, err == nil, nil
}

// fill makes a dataset, or finds the one that an earlier run has left.
func (b *bench) fill(ctx context.Context, engine sqldb.Engine, size int) (d *dataset, err error) {
	url, kept, err := b.place(ctx, engine, size)
	if err != nil {
		return nil, err
	}
	find := (*dataset).seed
	if kept {
		find = (*dataset).findKept
	}
	db, err := sqldb.Open(ctx, url, sqldb.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	d = &dataset{engine: engine, url: url, size: size, stays: b.keep != ""}
	return d, find(d, ctx, db)
}

// findKept finds what an earlier run has left. Those who are created now are numbered
// after those whom it has created.
func (d *dataset) findKept(ctx context.Context, db *sqldb.DB) (err error) {
	if err := d.warm(); err != nil {
		return err
	}
	for id, tenant := range map[int64]*tenant{1: &d.listed, 2: &d.created} {
		if *tenant, err = keptTenant(ctx, db, id); err != nil {
			return err
		}
	}
	d.today = d.listed.Today(db.Now())
	last, err := sqldb.Value[int64](ctx, db, `
		SELECT COALESCE(MAX(CAST(SUBSTR(usuario, 5) AS INTEGER)), 0) FROM customers WHERE company_id = ?`, d.created.Company.ID)
	created.Store(max(created.Load(), last))
	return err
}

// warm has the system read a file that an earlier run has left, as it has read one
// that was made just now.
func (d *dataset) warm() error {
	path, ok := strings.CutPrefix(d.url, "sqlite:")
	if !ok {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}

func keptTenant(ctx context.Context, db *sqldb.DB, id int64) (tenant tenant, err error) {
	accounts, sells := account.New(db, account.Config{}), catalog.New(db)
	if tenant.Actor, err = accounts.Actor(ctx, id); err != nil {
		return tenant, err
	}
	if _, tenant.token, err = accounts.CreateToken(ctx, tenant.Actor, account.NewToken{Name: "bench"}); err != nil {
		return tenant, err
	}
	all := input.Page{Number: 1, Size: 100}
	if tenant.plans, _, err = sells.Plans(ctx, tenant.Actor, catalog.Filter{}, all); err != nil {
		return tenant, err
	}
	tenant.products, _, err = sells.Products(ctx, tenant.Actor, catalog.Filter{}, all)
	slices.Reverse(tenant.plans)
	slices.Reverse(tenant.products)
	return tenant, err
}
