//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

func (d *driver) handler(answers answers) http.Handler {
	serve := func(work func(*http.Request) error, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if err := work(r); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			write(w, body)
		}
	}
	return routes(serve(d.listCustomers, answers.list), serve(d.readCustomer, answers.read), serve(d.createCustomer, answers.create))
}

// admit looks the token up, as every call must.
func (d *driver) admit(r *http.Request) (companyID int64, err error) {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	var parent, lead, created, tokenID int64
	var name, level, zone, from string
	var onPayment bool
	err = d.row(r.Context(), tokenSQL, hash[:]).Scan(
		&companyID, &parent, &name, &level, &zone, &from, &onPayment, &lead, &created, &tokenID)
	return companyID, err
}

const (
	pageSize  = 50
	deepPages = 4096 // from this offset on the product finds the page through its buckets
)

func (d *driver) listCustomers(r *http.Request) error {
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	var total int64
	if err := d.row(ctx, totalSQL, companyID, companyID).Scan(&total); err != nil {
		return err
	}
	number, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
	from := max(0, number-1) * pageSize
	if from <= deepPages {
		return readRows(d.query(ctx, pageSQL, companyID, pageSize, from, companyID))
	}
	below, skipped, err := d.skipTo(ctx, companyID, from)
	if err != nil {
		return err
	}
	return readRows(d.query(ctx, pageBelowSQL, companyID, below, pageSize, from-skipped, companyID))
}

func (d *driver) skipTo(ctx context.Context, companyID, from int64) (below, skipped int64, err error) {
	rows, err := d.query(ctx, skipSQL, companyID, companyID)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells what matters
	for rows.Next() {
		var bucket, n int64
		if err := rows.Scan(&bucket, &n); err != nil {
			return 0, 0, err
		}
		switch {
		case below != 0:
		case skipped+n > from:
			below = (bucket + 1) * deepPages
		default:
			skipped += n
		}
	}
	return below, skipped, rows.Err()
}

// record is all columns of a customer.
type record struct {
	id, ownDay, planID, value, productID, created, updated                       int64
	uuid, name, whatsapp, email, usuario, planName, productName, notes, external string
	dueOn                                                                        sql.NullString
}

func (c *record) columns() []any {
	return []any{
		&c.id, &c.uuid, &c.name, &c.whatsapp, &c.email, &c.usuario, &c.dueOn, &c.ownDay, &c.planID, &c.planName, &c.value,
		&c.productID, &c.productName, &c.notes, &c.external, &c.created, &c.updated,
	}
}

func readRows(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells what matters
	list := make([]record, 0, pageSize)
	for rows.Next() {
		list = append(list, record{})
		if err := rows.Scan(list[len(list)-1].columns()...); err != nil {
			return err
		}
	}
	if len(list) != pageSize {
		return errors.New("the page is not full")
	}
	return rows.Err()
}

func (d *driver) readCustomer(r *http.Request) error {
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return err
	}
	var c record
	return d.row(r.Context(), oneSQL, companyID, id).Scan(c.columns()...)
}
