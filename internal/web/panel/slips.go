package panel

import (
	"html/template"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

// slip is an invoice as it is paid on paper.
type slip struct {
	Invoice billing.Invoice
	Due     billing.Payable
	URL     string      // the payer's page; empty: customers cannot open it
	Code    string      // PIX copy and paste; empty: none that can be printed
	Amount  money.Cents // what the code pays
	Until   time.Time   // when the code ends; zero: it does not
	QR      template.HTML
}

// slip has what an open invoice can be paid with on paper: the payer's page, and a
// code that is worth printing. The user who may not charge gets neither.
//
// A code of a gateway ends, mostly within a day: one that ends before the due date
// would be refused by the bank of who holds the paper, so the QR code leads to the
// page instead, which always has a code. A code of the company's own key does not
// end, and no gateway is called to make it. Where customers cannot open the page,
// any code is better than none.
func (s *Server) slip(req *request, invoice billing.Invoice, record customer.Customer) slip {
	shown := slip{Invoice: invoice, Due: invoice.PayableOn(req.Actor.Company, req.today)}
	paying := s.charging(req, invoice, record)
	if paying == nil || !paying.Link.Payable {
		return shown
	}
	own, reachable := s.byHand(paying.Link.Provider), s.Reach == config.Reachable
	if (own || !reachable) && paying.Link.Current == nil {
		s.makeCode(req, invoice)
		if paying = s.charging(req, invoice, record); paying == nil {
			return shown
		}
	}
	if reachable {
		shown.URL = paying.Link.URL
	}
	if now := paying.Link.Current; printable(req, paying, own || !reachable) {
		shown.Code, shown.Amount, shown.QR = now.PixCode, now.Amount, paying.QR
		if !own {
			shown.Until = now.ExpiresAt
		}
	} else if reachable {
		shown.QR = req.qr(shown.URL)
	}
	return shown
}

// printable reports whether there is a code to print: whatever its end, or one that
// lasts to the end of the due date.
func printable(req *request, paying *charging, always bool) bool {
	now := paying.Link.Current
	if now == nil || now.PixCode == "" {
		return false
	}
	return always || !now.ExpiresAt.Before(paying.Invoice.DueOn.AddDays(1).Start(req.Actor.Company.Zone))
}

// byHand reports whether a person confirms the payments of a gateway.
func (s *Server) byHand(provider string) bool {
	for _, known := range s.Payments.Providers() {
		if known.Name == provider {
			return known.Manual
		}
	}
	return false
}

// maxSlips is a year of monthly invoices.
const maxSlips = 12

type slipsData struct {
	Customer            customer.Customer
	TaxID, CompanyTaxID string
	Slips               []slip
	More                int64 // open invoices that are not among them
}

// slips prints the open invoices of a customer, the oldest first. An invoice that
// was not issued yet has no number and no page, and is not printed.
func (s *Server) slips(req *request) error {
	record := readOf(req, s.Customers.Find, req.id)
	query := billing.Query{Filter: billing.Filter{CustomerID: req.id, Status: billing.Open}, Sort: input.ByDueDate}
	invoices, total, err := s.Billing.Sorted(req.Context(), req.Actor, query, input.Page{Number: 1, Size: maxSlips})
	req.note(err)
	data := slipsData{
		Customer: record, TaxID: taxid.Format(record.CpfCnpj), CompanyTaxID: taxid.Format(req.Actor.Company.CpfCnpj),
		More: total - int64(len(invoices)),
	}
	for _, invoice := range invoices {
		data.Slips = append(data.Slips, s.slip(req, invoice, record))
	}
	return s.show(req, page.View{Name: "slips", Title: "Payment booklet", Data: data})
}
