package customer

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Price is what a customer pays in place of the plan's value. The zero Price
// is none: the plan's value counts.
type Price struct {
	Amount money.Cents
	Own    bool
}

// String is the amount, or nothing.
func (p Price) String() string {
	if !p.Own {
		return ""
	}
	return p.Amount.String()
}

// Value stores the amount, and none as NULL.
func (p Price) Value() (driver.Value, error) {
	if !p.Own {
		return nil, nil
	}
	return int64(p.Amount), nil
}

// Scan reads what Value stored.
func (p *Price) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*p = Price{}
	case int64:
		*p = Price{money.Cents(src), true}
	default:
		return fmt.Errorf("scan a price from %T", src)
	}
	return nil
}

// Price is what the customer pays for a period: its own price or the plan's.
func (c Customer) Price() money.Cents {
	if c.OwnPrice.Own {
		return c.OwnPrice.Amount
	}
	return c.Plan.Value
}

// Custom has the fields that a company gives its customers, as the JSON object
// that is stored and answered; "": none. Lists hand it through without reading
// it.
type Custom string

// NewCustom makes a Custom of names and texts.
func NewCustom(texts map[string]string) Custom {
	if len(texts) == 0 {
		return ""
	}
	encoded, err := json.Marshal(texts) // in the order of the names
	if err != nil {
		panic(err) // texts are always JSON
	}
	return Custom(encoded)
}

// Map returns names and texts.
func (c Custom) Map() map[string]string {
	texts := map[string]string{}
	if c != "" {
		_ = json.Unmarshal([]byte(c), &texts) // NewCustom wrote it
	}
	return texts
}

// CustomField is one of a company's own fields.
type CustomField struct{ Name, Text string }

// Fields lists the fields by name.
func (c Custom) Fields() []CustomField {
	texts := c.Map()
	list := make([]CustomField, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, CustomField{name, texts[name]})
	}
	return list
}

// Lines writes one field per line, as the panel's form takes them.
func (c Custom) Lines() string {
	var lines strings.Builder
	for _, field := range c.Fields() {
		lines.WriteString(field.Name + ": " + field.Text + "\n")
	}
	return lines.String()
}

// IsCancelled reports whether the customer is cancelled: no invoices,
// messages or customer.expired, until it is taken back.
func (c Customer) IsCancelled() bool { return !c.CancelledAt.IsZero() }

// cancel sets what a draft says of the cancellation.
func (d Draft) cancel(customer *Customer, now time.Time) {
	switch cancelled := d.Cancelled.Or(customer.IsCancelled()); {
	case cancelled && !customer.IsCancelled():
		customer.CancelledAt = now
	case !cancelled:
		customer.CancelledAt, customer.CancelReason = time.Time{}, ""
	}
}

// Autopay is how far a customer is with having invoices debited by PIX Automático.
type Autopay string

// The states. The payment room decides which one it is.
const (
	AutopayNone   Autopay = "none"
	AutopayAsked  Autopay = "asked"
	AutopayActive Autopay = "active"
	AutopayEnded  Autopay = "ended"
)

// AutopayStep is a step to another state of autopay, with who made it and why.
type AutopayStep struct {
	To     Autopay
	By     string // payer, company, bank, expiry
	Reason string // for people; may be empty
}

// SetAutopayTx records a step of a customer's autopay for the payment room, with
// the event autopay.changed. A step to the state that the customer has is none.
func (s *Service) SetAutopayTx(ctx context.Context, tx account.Tx, customerID int64, step AutopayStep) error {
	before, err := LockTx(ctx, tx, customerID)
	if err != nil || before.Autopay == step.To {
		return err
	}
	change := Change{Action: ActionAutopay, Before: before, After: before, autopay: step}
	change.After.Autopay = step.To
	return s.apply(ctx, tx, &change)
}

// autopayData is the data of autopay.changed.
type autopayData struct {
	Customer brief   `json:"customer"`
	Autopay  Autopay `json:"autopay"`
	Previous Autopay `json:"previous"`
	By       *string `json:"by"`
	Reason   *string `json:"reason"`
}

func (c Change) autopayData() autopayData {
	return autopayData{
		Customer: briefOf(c.After),
		Autopay:  c.After.Autopay,
		Previous: c.Before.Autopay,
		By:       orNull(c.autopay.By),
		Reason:   orNull(c.autopay.Reason),
	}
}

// AddCreditTx changes a customer's credit for the billing room, inside its
// transaction.
func (s *Service) AddCreditTx(
	ctx context.Context, tx account.Tx, customerID int64, amount money.Cents,
) (Customer, error) {
	before, err := LockTx(ctx, tx, customerID)
	if err != nil {
		return before, err
	}
	change := Change{Action: ActionCredit, Before: before, After: before}
	change.After.Credit += amount
	err = s.apply(ctx, tx, &change)
	return change.After, err
}

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	return account.ReadKept(ctx, querier, []any{actor.Company.ID, subject.CustomerID},
		`SELECT id, uuid, name, whatsapp, email, usuario, external_id, cpf_cnpj, address, custom, notes, due_on, own_day, plan_id,
			product_id, price_cents, cancelled_at, cancel_reason, autopay, credit_cents, created_at, created_on, updated_at, name_key
			FROM customers WHERE company_id = ? AND id = ? AND `+Visible,
		`SELECT text FROM customer_texts WHERE company_id = ? AND id = ?`,
		`SELECT due_on FROM customer_expiries WHERE company_id = ? AND customer_id = ? ORDER BY due_on`,
		`SELECT month, n FROM customer_renewals WHERE company_id = ? AND customer_id = ? ORDER BY month`)
}

// EraseTx deletes a customer without saying who it was: neither the event nor
// the audit line of the deletion has a name, a phone or an address.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, customer Customer) error {
	nameless := customer
	nameless.Name, nameless.Whatsapp, nameless.Email, nameless.Usuario, nameless.Notes = "", "", "", "", ""
	nameless.ExternalID, nameless.CpfCnpj, nameless.CancelReason = "", "", ""
	nameless.Address, nameless.Custom = Customer{}.Address, Customer{}.Custom
	return s.apply(ctx, tx, &Change{Action: ActionDeleted, Before: nameless})
}
