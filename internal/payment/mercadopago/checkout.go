package mercadopago

import (
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

var checkoutMethods = []string{"pix", "all"}

// page is what an order has for Mercado Pago's own page (Checkout Pro). Two terms keep
// codes that are shown there from being paid longer than the page.
type page struct {
	Expires string      `json:"expiration_time,omitempty"`
	Items   []item      `json:"items,omitempty"`
	Config  *pageConfig `json:"config,omitempty"`
}

type item struct {
	Title    string `json:"title"`
	Quantity int    `json:"quantity"`
	Price    string `json:"unit_price"`
}

type pageConfig struct {
	Expires string `json:"default_payment_due_date"`
	Online  online `json:"online,omitzero"`
	Methods struct {
		Excluded []string `json:"not_allowed_types"`
	} `json:"payment_method,omitzero"`
}

// online is where the page sends payers back to.
type online struct {
	Success    string `json:"success_url"`
	Pending    string `json:"pending_url"`
	Failure    string `json:"failure_url"`
	AutoReturn string `json:"auto_return"`
}

// allButPix are the types of payment that Mercado Pago names in its document, without
// PIX, which is a bank transfer. Its page has digital_currency for wallets too.
var allButPix = []string{
	"account_money",
	"atm",
	"credit_card",
	"crypto",
	"debit_card",
	"digital_currency",
	"prepaid_card",
	"ticket",
	"voucher_card",
}

func (g *gateway) pageOf(order payment.Order) page {
	lives := g.timeToPay(order.ExpiresAt)
	config := pageConfig{Expires: lives}
	if back := wire.Pick(g.env.ReturnURL, order.PayURL); strings.HasPrefix(back, "https://") {
		config.Online = online{Success: back, Pending: back, Failure: back, AutoReturn: "approved"}
	}
	if g.methods == "pix" {
		config.Methods.Excluded = allButPix
	}
	return page{
		Expires: lives,
		Items:   []item{{Title: wire.Cut(order.Description, maxDescription), Quantity: 1, Price: order.Amount.String()}},
		Config:  &config,
	}
}
