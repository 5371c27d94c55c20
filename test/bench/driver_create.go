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
	who, err := d.admit(r)
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
	defer tx.Rollback()
	creation := creation{driver: d, tx: tx, who: who, in: in, now: time.Now()}
	if err := creation.run(r.Context()); err != nil {
		return err
	}
	return tx.Commit()
}

// creation is one customer being created.
type creation struct {
	driver *driver
	tx     *sql.Tx
	who    caller
	in     newCustomer
	now    time.Time
	plan   soldPlan
}

// soldPlan is a plan as the product reads it.
type soldPlan struct {
	id, value, periods, productID, created int64
	name, unit, productName                string
	active                                 bool
}

// row runs a prepared statement in the transaction, which closes what it made.
func (c *creation) row(ctx context.Context, text string, args ...any) *sql.Row {
	return c.tx.StmtContext(ctx, c.driver.prepared[text]).QueryRowContext(ctx, args...)
}

func (c *creation) exec(ctx context.Context, text string, args ...any) error {
	_, err := c.tx.StmtContext(ctx, c.driver.prepared[text]).ExecContext(ctx, args...)
	return err
}

func (c *creation) run(ctx context.Context) error {
	p := &c.plan
	if err := c.row(ctx, planSQL, c.who.companyID, c.in.PlanID).Scan(
		&p.id, &p.name, &p.value, &p.unit, &p.periods, &p.productID, &p.productName, &p.active, &p.created); err != nil {
		return err
	}
	customerID, err := c.insert(ctx)
	if err != nil {
		return err
	}
	invoiceID, err := c.invoice(ctx, customerID)
	if err != nil {
		return err
	}
	if err := c.exec(ctx, rulesSQL, c.who.companyID); err != nil {
		return err
	}
	if err := c.audit(ctx, customerID); err != nil {
		return err
	}
	if err := c.owe(ctx, customerID, invoiceID); err != nil {
		return err
	}
	if err := c.count(ctx, customerID, invoiceID); err != nil {
		return err
	}
	return c.record(ctx, "customer.created", "invoice.created")
}

func (c *creation) micros() int64 { return c.now.UnixMicro() }

func (c *creation) today() string { return c.now.Format(time.DateOnly) }

func (c *creation) product() any {
	if c.plan.productID == 0 {
		return nil
	}
	return c.plan.productID
}

func (c *creation) insert(ctx context.Context) (customerID int64, err error) {
	in := c.in
	err = c.row(ctx, insertSQL, c.who.companyID, id.NewUUID(), in.Name, in.Whatsapp, in.Email, in.Usuario, in.Due,
		1, in.Usuario, c.plan.id, c.product(), in.search(), c.micros(), c.today(), -10800, c.micros(), in.Due, false,
		c.plan.value, c.today()[:7]).Scan(&customerID)
	return customerID, err
}

func (c *creation) invoice(ctx context.Context, customerID int64) (invoiceID int64, err error) {
	err = c.row(ctx, invoiceSQL, c.who.companyID, customerID, c.plan.value, c.plan.name, c.in.Due, c.in.Due, c.plan.id, c.product(),
		c.plan.unit, c.plan.periods, c.micros(), c.today(), -10800, c.micros()).Scan(&invoiceID)
	return invoiceID, err
}

func (c *creation) audit(ctx context.Context, customerID int64) error {
	changes, err := json.Marshal(c.in)
	if err != nil {
		return err
	}
	company := c.who.companyID
	return c.exec(ctx, auditSQL, company, c.micros(), c.who.tokenID, company, c.who.tokenID, "127.0.0.1", "customer.created",
		"customer", customerID, c.in.Name, string(changes))
}

// owe writes the debt, and the address of the page on which it is paid.
func (c *creation) owe(ctx context.Context, customerID, invoiceID int64) error {
	company := c.who.companyID
	if err := c.exec(ctx, debtorSQL, company, customerID, c.in.Due, c.plan.id, c.plan.productID); err != nil {
		return err
	}
	return c.exec(ctx, linkSQL, company, invoiceID, id.NewLink(c.now), c.micros())
}

func (c *creation) count(ctx context.Context, customerID, invoiceID int64) error {
	company, due, plan, product := c.who.companyID, c.in.Due, c.plan.id, c.plan.productID
	return c.exec(ctx, deltasSQL,
		company, "customers", customerID/deepPages, due, plan, product, "", 1, 0,
		company, "created", 0, c.today(), plan, product, "", 1, 0,
		company, "recurring", 0, c.today()[:7], plan, product, "new", 1, c.plan.value,
		company, "invoices", invoiceID/deepPages, due, plan, product, "open", 1, c.plan.value,
		company, "debtors", 0, due, plan, product, "", 1, 0)
}

// record writes events about as long as the product's, and their deliveries.
func (c *creation) record(ctx context.Context, names ...string) error {
	company := c.who.companyID
	var ids []string
	var values []any
	for _, name := range names {
		eventID := id.NewEvent(c.now)
		body, err := json.Marshal(map[string]any{
			"event": name, "platform": "carteira", "id": eventID, "api_version": "v1", "occurred_at": c.now, "company_id": company,
			"data": map[string]any{"customer": c.in, "plan": c.plan.name, "product": c.plan.productName},
		})
		if err != nil {
			return err
		}
		ids, values = append(ids, eventID), append(values, company, eventID, name, c.micros(), string(body))
	}
	if err := c.exec(ctx, eventsSQL, values...); err != nil {
		return err
	}
	if err := c.exec(ctx, deliverySQL, company, company, ids, c.today(), c.today()); err != nil {
		return err
	}
	return c.exec(ctx, queueSQL, company, company, ids)
}

// search is the folded text that the product stores.
func (in newCustomer) search() string {
	phone := in.Whatsapp[:4] + in.Whatsapp[5:] // without its ninth digit
	return strings.Join([]string{text.Fold(in.Name), text.Fold(in.Email), text.Fold(in.Usuario), in.Whatsapp, phone}, "\n")
}
