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
	"time"
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

// caller is the company and the token of a call.
type caller struct{ companyID, tokenID int64 }

// admit looks the token up, as every call must.
func (d *driver) admit(r *http.Request) (caller, error) {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	places := slots(tokenKinds)
	err := d.row(r.Context(), tokenSQL, hash[:], time.Now().UnixMicro()).Scan(places...)
	return caller{*places[0].(*int64), *places[len(places)-2].(*int64)}, err
}

const (
	pageSize  = 50
	nearPages = 200  // up to this offset the product reads a page on one walk along its rows
	deepPages = 4096 // from this offset on the product finds the page through its buckets
)

func (d *driver) listCustomers(r *http.Request) error {
	who, err := d.admit(r)
	if err != nil {
		return err
	}
	ctx, companyID := r.Context(), who.companyID
	var total int64
	if err := d.row(ctx, totalSQL, companyID, companyID).Scan(&total); err != nil {
		return err
	}
	number, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
	from := max(0, number-1) * pageSize
	if from <= nearPages {
		return readRows(d.query(ctx, nearSQL, companyID, pageSize, from))
	}
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
	defer rows.Close()
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

func readRows(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	read := 0
	for places := slots(columnKinds); rows.Next(); read++ {
		if err := rows.Scan(places...); err != nil {
			return err
		}
	}
	if read != pageSize {
		return errors.New("the page is not full")
	}
	return rows.Err()
}

func (d *driver) readCustomer(r *http.Request) error {
	who, err := d.admit(r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return err
	}
	return d.row(r.Context(), oneSQL, who.companyID, id).Scan(slots(columnKinds)...)
}
