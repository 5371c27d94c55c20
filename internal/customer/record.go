package customer

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/money"
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

// IsCancelled tells that the company has no business with the customer any
// more: no invoices, messages or customer.expired, until it is taken back.
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
