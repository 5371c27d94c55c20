package billing

import (
	"database/sql/driver"
	"fmt"

	"carteira/internal/platform/money"
)

// OwnDiscount is the discount until the due date that a person gave an invoice,
// in place of the company's. The zero OwnDiscount is none: the company's counts.
type OwnDiscount struct {
	Amount money.Cents
	Given  bool
}

// String is the amount, or nothing.
func (d OwnDiscount) String() string {
	if !d.Given {
		return ""
	}
	return d.Amount.String()
}

// Value stores the amount, and none as NULL.
func (d OwnDiscount) Value() (driver.Value, error) {
	if !d.Given {
		return nil, nil
	}
	return int64(d.Amount), nil
}

// Scan reads what Value stored.
func (d *OwnDiscount) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*d = OwnDiscount{}
	case int64:
		*d = OwnDiscount{money.Cents(src), true}
	default:
		return fmt.Errorf("scan a discount from %T", src)
	}
	return nil
}
