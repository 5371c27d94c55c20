package api

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/web"
	"carteira/test/kit/housetest"
)

// The fields of records that the API does not show, each with a reason.
var (
	notInCustomer = map[string]string{
		"OwnDay": "how renewals count is ours",
	}
	notInInvoice = map[string]string{
		"Generated":  "the contract does not tell them apart",
		"PaidOn":     "paid_at has the day",
		"Note":       "the company's own; the panel shows it",
		"IssuedFor":  "due_date is what a payer reads",
		"Edited":     "why an invoice follows nobody is the company's own; the panel shows it",
		"Superseded": "as Edited", "Withdrawn": "as Edited",
		"Settled": "for the sums of days; amount_received is what is left", "Given": "as Settled", "TakenOff": "as Settled",
		"WrittenOff": "as Settled", "WrittenOffOn": "as Settled",
	}
)

// differs reports whether the JSON of two records differs.
func differs[T any](write func(*web.Object, *T), one, other T) bool {
	text := func(record T) string {
		return string(web.One(func(object *web.Object) { write(object, &record) })(nil))
	}
	return text(one) != text(other)
}

// shows reports whether a record's JSON differs from that of an empty one.
func shows[T any](write func(*web.Object, *T)) func(T) bool {
	var empty T
	return func(record T) bool { return differs(write, record, empty) }
}

func TestEveryFieldOfARecordIsInItsJSON(t *testing.T) {
	due := civil.MustParse("2026-01-31")
	plan, product := customer.Plan{ID: 1, Name: "Mensal", Value: 3500}, customer.Product{ID: 1, Name: "Fibra"}
	c := &call{actor: account.Actor{Company: account.Company{Zone: time.UTC}}, today: due}
	writeWhole := func(object *web.Object, invoice *billing.Invoice) {
		c.writeInvoice(object, invoice)
		writeBought(object, invoice)
	}
	const complaint = "the API does not show it"

	var full customer.Customer
	housetest.Fill(t, &full, due, plan, product, address.Address{City: "Santos"}, customer.Price{Amount: 1, Own: true},
		customer.NewCustom(map[string]string{"mac": "00"}))
	housetest.EachField(t, full, notInCustomer, shows(c.writeCustomer), complaint)

	housetest.EachField(t, billing.Invoice{
		ID: 1, Customer: billing.Customer{ID: 1, UUID: "u", Name: "Ana"}, Generated: true, Status: billing.Open, Amount: 1, Description: "d",
		DueOn: due, Plan: plan, Product: product, PaidAt: housetest.Morning, PaidOn: due, PaidVia: "efi", Note: "n", CreatedAt: housetest.Morning, UpdatedAt: housetest.Morning,
		Period: civil.Period{Unit: civil.Month, Count: 1}, Received: 1, LateFee: 1, LateInterest: 1, Discount: 1, Forgiven: 1,
		Settled: 1, Given: 1, TakenOff: 1, WrittenOff: 1, WrittenOffOn: due,
		IssuedFor:   due,
		OwnDiscount: billing.OwnDiscount{Amount: 1, Given: true}, Edited: true, Superseded: true, Withdrawn: "moved",
	}, notInInvoice, func(invoice billing.Invoice) bool { // the terms of a paid one are frozen, those of an open one computed
		open, paid := invoice, invoice
		open.Status, open.Amount, open.DueOn = billing.Open, 100, due
		paid.Status = billing.Paid
		return shows(writeWhole)(invoice) || differs(writeWhole, paid, billing.Invoice{Status: billing.Paid}) ||
			differs(writeWhole, open, billing.Invoice{Status: billing.Open, Amount: 100, DueOn: due})
	}, complaint)

	housetest.EachField(t, catalog.Plan{
		ID: 1, Name: "Mensal", Value: 1, Period: civil.Period{Unit: civil.Month, Count: 1}, Product: catalog.Ref{ID: 1, Name: "Fibra"},
		Active: true, CreatedAt: housetest.Morning,
	}, nil, shows(func(object *web.Object, chosen *catalog.Plan) { c.writePlan(object, chosen, 0) }), complaint)

	housetest.EachField(t, catalog.Product{
		ID: 1, Name: "Fibra", Description: "d", Active: true, CreatedAt: housetest.Morning,
	}, nil, shows(func(object *web.Object, p *catalog.Product) { c.writeProduct(object, p, 0) }), complaint)
}
