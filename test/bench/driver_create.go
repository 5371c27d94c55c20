//go:build linux

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"carteira/internal/platform/id"
	"carteira/internal/platform/text"
)

// newCustomer is the body of the create request.
type newCustomer struct {
	Name     string `json:"name"`
	Whatsapp string `json:"whatsapp"`
	Email    string `json:"email"`
	Usuario  string `json:"usuario"`
	Due      string `json:"data_de_vencimento"`
	PlanID   int64  `json:"plan_id"`
}

func (d *driver) createCustomer(r *http.Request) error {
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	var in newCustomer
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return err
	}
	tx, err := d.db.BeginTx(r.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it does nothing
	if err := d.createTx(r.Context(), tx, companyID, in); err != nil {
		return err
	}
	return tx.Commit()
}

// rowIn runs a prepared statement in a transaction, which closes what it made.
func (d *driver) rowIn(ctx context.Context, tx *sql.Tx, text string, args ...any) *sql.Row {
	return tx.StmtContext(ctx, d.prepared[text]).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // closed with the transaction
}

func (d *driver) execIn(ctx context.Context, tx *sql.Tx, text string, args ...any) error {
	_, err := tx.StmtContext(ctx, d.prepared[text]).ExecContext(ctx, args...) //nolint:sqlclosecheck // closed with the transaction
	return err
}

// soldPlan is a plan as the product reads it.
type soldPlan struct {
	id, value, periods, productID, created int64
	name, unit, productName                string
	active                                 bool
}

func (d *driver) createTx(ctx context.Context, tx *sql.Tx, companyID int64, in newCustomer) error {
	var p soldPlan
	if err := d.rowIn(ctx, tx, planSQL, companyID, in.PlanID).Scan(
		&p.id, &p.name, &p.value, &p.unit, &p.periods, &p.productID, &p.productName, &p.active, &p.created); err != nil {
		return err
	}
	now := time.Now()
	var customerID int64
	if err := d.rowIn(ctx, tx, insertSQL, companyID, id.NewUUID(), in.Name, in.Whatsapp, in.Email, in.Usuario, in.Usuario, "",
		in.Due, 1, p.id, p.productID, "", in.search(), now.UnixMicro(), now.UnixMicro()).Scan(&customerID); err != nil {
		return err
	}
	if err := d.execIn(ctx, tx, deltaSQL, companyID, "customers", customerID/deepPages, in.Due, p.id, p.productID, "", 0); err != nil {
		return err
	}
	if err := d.record(ctx, tx, companyID, "customer.created", now, in, p); err != nil {
		return err
	}
	return d.invoice(ctx, tx, companyID, customerID, now, in, p)
}

func (d *driver) invoice(
	ctx context.Context,
	tx *sql.Tx,
	companyID, customerID int64,
	now time.Time,
	in newCustomer,
	soldPlan soldPlan,
) error {
	var invoiceID int64
	if err := d.rowIn(ctx, tx, invoiceSQL, companyID, customerID, true, soldPlan.value, soldPlan.name, in.Due,
		soldPlan.id, soldPlan.productID, now.UnixMicro(), in.Due, now.UnixMicro()).Scan(&invoiceID); err != nil {
		return err
	}
	if err := d.execIn(ctx, tx, deltaSQL, companyID, "invoices", invoiceID/deepPages, in.Due,
		soldPlan.id, soldPlan.productID, "open", soldPlan.value); err != nil {
		return err
	}
	return d.record(ctx, tx, companyID, "invoice.created", now, in, soldPlan)
}

// record writes an event about as long as the product's.
func (d *driver) record(
	ctx context.Context,
	tx *sql.Tx,
	companyID int64,
	name string,
	now time.Time,
	in newCustomer,
	soldPlan soldPlan,
) error {
	body, err := json.Marshal(map[string]any{
		"event": name, "platform": "carteira", "id": id.NewEvent(now), "api_version": "v1", "occurred_at": now, "company_id": companyID,
		"data": map[string]any{"customer": in, "plan": soldPlan.name, "product": soldPlan.productName},
	})
	if err != nil {
		return err
	}
	var eventID int64
	return d.rowIn(ctx, tx, eventSQL, companyID, id.NewEvent(now), name, now.UnixMicro(), string(body)).Scan(&eventID)
}

// search is the folded text that the product stores.
func (in newCustomer) search() string {
	phone := in.Whatsapp[:4] + in.Whatsapp[5:] // without its ninth digit
	return strings.Join([]string{text.Fold(in.Name), text.Fold(in.Email), text.Fold(in.Usuario), in.Whatsapp, phone}, "\n")
}
