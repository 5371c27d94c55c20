package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

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
func (s *Service) SetAutopayTx(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	customerID int64,
	step AutopayStep,
) error {
	before, err := lock(ctx, tx, actor.Company.ID, customerID)
	if err != nil || before.Autopay == step.To {
		return err
	}
	change := Change{Action: ActionAutopay, Before: before, After: before, autopay: step}
	change.After.Autopay = step.To
	return s.apply(ctx, tx, actor, &change)
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

// auditAutopay is what the audit log shows of a step.
func auditAutopay(customer Customer) account.AuditFields {
	return account.AuditFields{"autopay": string(customer.Autopay)}
}
