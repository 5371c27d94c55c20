package asaas

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// charge is what Asaas calls a payment, made or only asked for.
type charge struct {
	ID                string
	Status            string
	Value             json.Number
	ExternalReference string
	InvoiceURL        string // the page on which it is paid
	Deleted           bool
	PaymentDate       string
	ClientPaymentDate string
	ConfirmedDate     string
	DueDate           string
	// PixQrCodeID is the code of an authorisation that it was paid by.
	PixQrCodeID string
	// PixAutomaticAuthorizationID is what it is debited by.
	PixAutomaticAuthorizationID string
	Refunds                     []struct {
		Status      string
		Value       json.Number
		DateCreated string
	}
}

// states are the states of a charge, by Asaas's names. Overdue ones can be
// paid; money that is asked back was received before. One marked at Asaas as
// received in cash is paid, because the company said so.
var states = map[string]payment.State{
	"PENDING":                      payment.StatePending,
	"OVERDUE":                      payment.StatePending,
	"AWAITING_RISK_ANALYSIS":       payment.StatePending,
	"DUNNING_REQUESTED":            payment.StatePending,
	"RECEIVED":                     payment.StatePaid,
	"CONFIRMED":                    payment.StatePaid,
	"RECEIVED_IN_CASH":             payment.StatePaid,
	"DUNNING_RECEIVED":             payment.StatePaid,
	"REFUNDED":                     payment.StatePaid,
	"REFUND_REQUESTED":             payment.StatePaid,
	"REFUND_IN_PROGRESS":           payment.StatePaid,
	"CHARGEBACK_REQUESTED":         payment.StatePaid,
	"CHARGEBACK_DISPUTE":           payment.StatePaid,
	"AWAITING_CHARGEBACK_REVERSAL": payment.StatePaid,
}

// returned are the states in which all of the money is gone: given back, or
// taken back by the payer's bank. What was only asked for may still fail.
var returned = map[string]bool{
	"REFUNDED": true, "CHARGEBACK_REQUESTED": true, "CHARGEBACK_DISPUTE": true,
	"AWAITING_CHARGEBACK_REVERSAL": true,
}

// refunded is how much of the amount went back, and when the last of it did.
func (c *charge) refunded(amount money.Cents) (sum money.Cents, last time.Time, err error) {
	for _, refund := range c.Refunds {
		if refund.Status != "DONE" {
			continue
		}
		back, err := wire.Cents(refund.Value)
		if err != nil {
			return 0, last, err
		}
		sum += back
		if at := wire.Time(refund.DateCreated); at.After(last) {
			last = at
		}
	}
	if returned[c.Status] {
		return amount, last, nil
	}
	return sum, last, nil
}

// state is empty for an unknown one of Asaas.
func (c *charge) state() payment.State {
	state := states[c.Status]
	if c.Deleted && state != payment.StatePaid {
		return payment.StateCancelled
	}
	return state
}

// page is where the payer chooses how to pay.
func (c *charge) page() (string, error) {
	if !strings.HasPrefix(c.InvoiceURL, "https://") {
		return "", fmt.Errorf("charge %s of Asaas lacks its page", c.ID)
	}
	return c.InvoiceURL, nil
}

// received is the payment of a charge. Asaas gives its day and no more: noon in
// Brasília is that day in all of Brazil.
func (c *charge) received(now time.Time) ([]payment.Received, error) {
	if c.state() != payment.StatePaid {
		return nil, nil
	}
	amount, err := wire.Cents(c.Value)
	if err != nil {
		return nil, err
	}
	at := wire.Time(wire.Pick(c.ClientPaymentDate, c.PaymentDate, c.ConfirmedDate)).Add(12 * time.Hour)
	if at.Before(now.AddDate(-10, 0, 0)) || at.After(now) {
		at = now
	}
	refunded, last, err := c.refunded(amount)
	if err != nil {
		return nil, err
	}
	return []payment.Received{{ID: c.ID, Amount: amount, Currency: "BRL", At: at, Refunded: refunded, RefundedAt: last}}, nil
}

// byReference finds the charge that was made for one of ours: of several, the
// one that was paid, and then the one that could be.
func (g *gateway) byReference(ctx context.Context, reference string) (charge, error) {
	list, err := listOf[charge](ctx, g, chargesPath, url.Values{"externalReference": {reference}, "limit": {"20"}})
	if err != nil {
		return charge{}, err
	}
	for _, state := range []payment.State{payment.StatePaid, payment.StatePending, "", payment.StateCancelled} {
		for _, charge := range list {
			if charge.ExternalReference == reference && charge.state() == state {
				return charge, nil
			}
		}
	}
	return charge{}, payment.ErrNoCharge
}

func (g *gateway) find(ctx context.Context, ref payment.Ref) (c charge, state payment.State, err error) {
	if ref.ID == "" {
		c, err = g.byReference(ctx, ref.Reference)
	} else {
		err = g.readByID(ctx, chargesPath, ref.ID, &c)
		err = wire.Expect(err, c.ID == ref.ID, "asked for charge %s, got %.40q", ref.ID, c.ID)
	}
	state = c.state()
	return c, state, wire.Expect(err, state != "", "a charge of Asaas has the unknown status %.40q", c.Status)
}

// readByID reads a record of a list. ErrNoCharge: there is none.
func (g *gateway) readByID(ctx context.Context, list, id string, record any) error {
	return wire.Known(g.api.Get(ctx, list+"/"+url.PathEscape(id), nil, record))
}

// listOf reads records of a list.
func listOf[R any](ctx context.Context, g *gateway, path string, query url.Values) ([]R, error) {
	var page struct{ Data []R }
	err := g.api.Get(ctx, path, query, &page)
	return page.Data, wire.Expect(err, page.Data != nil, "GET %s: answered without data", path)
}

// Fetch reads the charge back. The code costs one more call of a quota that
// Asaas is strict about, so it is read only when it is not stored yet.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	charge, state, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	report := payment.Report{Charge: payment.Charge{ID: charge.ID}, Reference: charge.ExternalReference, State: state}
	if report.Payments, err = charge.received(g.env.Now()); err != nil {
		return report, fmt.Errorf("look at charge %s: %w", charge.ID, err)
	}
	if g.flow == payment.FlowRedirect {
		report.CheckoutURL, err = charge.page()
		return report, err
	}
	if ref.ID == "" && report.State == payment.StatePending {
		if report.PixCode, err = g.code(ctx, charge.ID); err != nil && !wire.Changed(err) {
			return report, err
		}
	}
	return report, nil
}

// Cancel removes the charge.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Cancel(ctx, ref, g.find, g.remove)
}

func (g *gateway) remove(ctx context.Context, c charge) error {
	var answer struct{ Deleted bool }
	err := g.api.Send(ctx, http.MethodDelete, chargesPath+"/"+url.PathEscape(c.ID), nil, &answer)
	return wire.Expect(err, answer.Deleted, "charge %s was not removed", c.ID)
}

// customer is a payer as Asaas knows one.
type customer struct {
	ID                   string `json:"id,omitempty"`
	Name                 string `json:"name"`
	CpfCnpj              string `json:"cpfCnpj"`
	Email                string `json:"email,omitempty"`
	MobilePhone          string `json:"mobilePhone,omitempty"`
	Phone                string `json:"phone,omitempty"`
	PostalCode           string `json:"postalCode,omitempty"`
	Address              string `json:"address,omitempty"`
	AddressNumber        string `json:"addressNumber,omitempty"`
	Complement           string `json:"complement,omitempty"`
	Province             string `json:"province,omitempty"` // the district
	ExternalReference    string `json:"externalReference"`
	NotificationDisabled bool   `json:"notificationDisabled"`
	Deleted              bool   `json:"deleted,omitempty"`
}

// customerOf is the payer with a tax id. The notices of Asaas are switched off:
// they would cost the company money and tell payers twice.
func customerOf(payer payment.Payer, taxID string) customer {
	c := customer{
		Name:                 payer.Name,
		CpfCnpj:              taxID,
		Email:                payer.Email,
		ExternalReference:    "carteira-" + payer.Reference,
		NotificationDisabled: true,
		PostalCode:           payer.Address.CEP,
		Address:              payer.Address.Street,
		AddressNumber:        payer.Address.Number,
		Complement:           payer.Address.Complement,
		Province:             payer.Address.District,
	}
	if national, ok := strings.CutPrefix(payer.Phone, "55"); ok {
		switch len(national) {
		case 11:
			c.MobilePhone = national
		case 10:
			c.Phone = national
		}
	}
	return c
}

// bare is the customer without what Asaas can do without.
func (c customer) bare() customer {
	return customer{
		Name:                 c.Name,
		CpfCnpj:              c.CpfCnpj,
		Email:                c.Email,
		ExternalReference:    c.ExternalReference,
		NotificationDisabled: true,
	}
}

// customer finds or makes the payer. One that was booked under another tax id,
// such as the company's own while the customer had none, is not used again.
func (g *gateway) customer(ctx context.Context, payer payment.Payer) (string, error) {
	taxID := wire.Pick(payer.TaxID, g.payerTaxID)
	if taxID == "" {
		return "", &payment.Refusal{Reason: "Asaas needs the customer's CPF or CNPJ; enter one, or the option payer_tax_id for all who have none"}
	}
	wanted := customerOf(payer, taxID)
	if id, err := g.findCustomer(ctx, wanted); id != "" || err != nil {
		return id, err
	}
	id, err := g.makeCustomer(ctx, wanted)
	if wire.Changed(err) && wanted != wanted.bare() { // a phone or a postal code that Asaas does not believe
		return g.makeCustomer(ctx, wanted.bare())
	}
	return id, err
}

const customersPath = "/v3/customers"

func (g *gateway) makeCustomer(ctx context.Context, wanted customer) (string, error) {
	var made customer
	err := g.api.Send(ctx, http.MethodPost, customersPath, wanted, &made)
	return made.ID, wire.Expect(err, made.ID != "", "POST %s: the answer lacks an id", customersPath)
}

func (g *gateway) findCustomer(ctx context.Context, wanted customer) (string, error) {
	query := url.Values{"externalReference": {wanted.ExternalReference}, "limit": {"100"}}
	list, err := listOf[customer](ctx, g, customersPath, query)
	for _, customer := range list {
		if customer.ExternalReference == wanted.ExternalReference && customer.CpfCnpj == wanted.CpfCnpj && !customer.Deleted {
			return customer.ID, err
		}
	}
	return "", err
}
