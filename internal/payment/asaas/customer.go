package asaas

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

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

func (g *gateway) makeCustomer(ctx context.Context, wanted customer) (string, error) {
	var made customer
	err := g.api.Do(
		ctx,
		wire.Request{Method: http.MethodPost, Path: "/v3/customers", Body: wanted},
		&made,
	)
	if err == nil && made.ID == "" {
		err = errors.New("POST /v3/customers: the answer lacks an id")
	}
	return made.ID, err
}

func (g *gateway) findCustomer(ctx context.Context, wanted customer) (string, error) {
	var page struct{ Data []customer }
	err := g.api.Do(ctx, wire.Request{
		Method: http.MethodGet, Path: "/v3/customers",
		Query: url.Values{"externalReference": {wanted.ExternalReference}, "limit": {"100"}},
	}, &page)
	if err == nil && page.Data == nil {
		err = errors.New("GET /v3/customers: answered without data")
	}
	for _, customer := range page.Data {
		if customer.ExternalReference == wanted.ExternalReference && customer.CpfCnpj == wanted.CpfCnpj && !customer.Deleted {
			return customer.ID, err
		}
	}
	return "", err
}
