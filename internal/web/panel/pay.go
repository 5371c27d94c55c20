package panel

import (
	"html/template"
	"net/url"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// payData is the one form for money that came, however it did.
type payData struct {
	Invoice     billing.Invoice
	Due         billing.Payable
	Form        *page.Form
	Means       []page.Option
	Less        []page.Option // what less money than is to pay may mean
	ByHand      bool          // a PIX code of the company's own key is out
	Renews      bool
	Back, Today string
	Open        bool // all fields are in sight, since one is wrong
}

// payPage asks how much came, how and when; lists open it as a dialog.
func (s *Server) payPage(req *kit.Request, invoice billing.Invoice) error {
	back := page.LocalPath(req.URL.Query().Get("back"))
	switch query := req.URL.Query(); {
	case query.Has("list"): // it was asked for in the list of invoices
		back = page.LocalPath("/invoices?" + query.Get("list"))
	case !query.Has("back"):
		back = invoicePath(invoice.ID)
	}
	if invoice.Status != billing.Open { // paid or cancelled meanwhile
		return req.GoOn(invoicePath(invoice.ID))
	}
	return s.showPay(req, invoice, nil, back)
}

// receivedFrom asks about money of a customer, for the invoice that is owed the
// longest; who owes nothing has a record to look at.
func (s *Server) receivedFrom(req *kit.Request) error {
	record, invoice, found := s.owed(req)
	if !found {
		return req.Done(customerPath(record.ID), "%s has no open invoice.", record.Name)
	}
	back := page.LocalPath(req.URL.Query().Get("back"))
	return s.showPay(req, invoice, nil, back)
}

func (s *Server) showPay(req *kit.Request, invoice billing.Invoice, refusal error, back string) error {
	due := invoice.PayableOn(req.Actor.Company, req.Today)
	day := req.Today
	if said, err := civil.Parse(req.URL.Query().Get("on")); err == nil && said.Before(day) { // the day of the payer's proof
		day = said
	}
	form := page.NewForm("amount", kit.Decimal(due.Rest), "paid_via", "pix", "paid_at", day.String())
	if refusal != nil {
		form = page.Sent(req.Request, inWords(refusal))
	}
	return req.ShowForm("pay", "Register a payment", refusal, payData{
		Invoice: invoice, Due: due, Form: form, Means: means(req), Less: append(differences(req), writtenOff(req)),
		ByHand: s.ownCode(req, invoice),
		Renews: invoice.Generated && req.Actor.Company.Settings.RenewOnPayment, Back: back, Today: req.Today.String(), Open: refusal != nil,
	})
}

// inWords says of money that is less than was to pay what the form asks, where the
// API names the values of a field.
func inWords(refusal error) error {
	if len(fault.FieldsOf(refusal).Get("difference")) == 0 {
		return refusal
	}
	return fault.Field("difference", "less came than is to pay: choose whether the rest is still to come or is a discount")
}

// ownCode reports whether the last charge of an invoice is a code of the
// company's own key: only a person reports its payment.
func (s *Server) ownCode(req *kit.Request, invoice billing.Invoice) bool {
	if !req.Actor.May(payments) {
		return false
	}
	attempts := kit.ReadOf(req, s.Payments.Attempts, invoice.ID)
	return len(attempts) > 0 && attempts[0].Manual
}

// registerPayment records money that a person reports. With the id that a bank
// gave it, it is known again when it is reported twice.
func (s *Server) registerPayment(req *kit.Request) error {
	back, actor := req.Back(invoicePath(req.ID)), req.Batch()
	var out billing.Outcome
	var err error
	if req.PostFormValue("payment_id") != "" && req.Actor.May(payments) {
		out, err = s.Payments.ConfirmByHand(req.Context(), actor, payment.ReadConfirmation(req.Input("amount"), req.ID))
	} else {
		req.PostForm.Del("payment_id")
		req.PostForm.Set("status", billing.Paid.String())
		out, err = s.Billing.SetStatus(req.Context(), actor, req.ID, billing.ReadStatusChange(req.Input("amount")))
	}
	if kit.Refused(err) {
		return s.refusePayment(req, err, back)
	}
	if err != nil {
		return err
	}
	return req.DoneUndo(actor.Batch, back, paidText(out), out.Customer.Name)
}

// refusePayment shows the form again, with what is wrong.
func (s *Server) refusePayment(req *kit.Request, refusal error, back string) error {
	return s.showPay(req, kit.ReadOf(req, s.Billing.Find, req.ID), refusal, back)
}

func paidText(out billing.Outcome) string {
	switch {
	case out.Renewed:
		return "%s: the invoice is paid, and the customer renewed."
	case out.Status == billing.Open:
		return "%s: a part was received; the invoice is still open."
	}
	return "%s: the invoice is paid."
}

// receiptData is what a paid invoice looks like on paper.
type receiptData struct {
	Invoice    billing.Invoice
	Customer   customer.Customer
	TaxID, Via string
	Due        billing.Payable

	CompanyTaxID string
	Slip         slip // how it is paid, while it is open
}

// receipt shows an invoice as it is on paper: a receipt once it is paid.
func (s *Server) receipt(req *kit.Request, invoice billing.Invoice) error {
	record := kit.ReadOf(req, s.Customers.Find, invoice.Customer.ID)
	title := kit.Either(invoice.Status == billing.Paid, "Receipt", "Invoice")
	return req.Show("receipt", title, receiptData{
		Invoice: invoice, Customer: record, TaxID: taxid.Format(record.CpfCnpj), Via: s.through(req, invoice.PaidVia),
		Due: invoice.PayableOn(req.Actor.Company, req.Today), CompanyTaxID: taxid.Format(req.Actor.Company.CpfCnpj),
		Slip: s.slip(req, invoice, record),
	})
}

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
func (s *Server) slip(req *kit.Request, invoice billing.Invoice, record customer.Customer) slip {
	shown := slip{Invoice: invoice, Due: invoice.PayableOn(req.Actor.Company, req.Today)}
	paying := s.charging(req, invoice, record)
	if paying == nil || !paying.Link.Payable {
		return shown
	}
	own, reachable := s.provider(paying.Link.Provider).Manual, s.Reach == config.Reachable
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
		shown.QR = req.QR(shown.URL)
	}
	return shown
}

// printable reports whether there is a code to print: whatever its end, or one that
// lasts to the end of the due date.
func printable(req *kit.Request, paying *charging, always bool) bool {
	now := paying.Link.Current
	if now == nil || now.PixCode == "" {
		return false
	}
	return always || !now.ExpiresAt.Before(paying.Invoice.DueOn.AddDays(1).Start(req.Actor.Company.Zone))
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
func (s *Server) slips(req *kit.Request) error {
	record := kit.ReadOf(req, s.Customers.Find, req.ID)
	query := billing.Query{Filter: billing.Filter{CustomerID: req.ID, Status: billing.Open}, Sort: input.ByDueDate}
	invoices, total := kit.ReadPage(req, s.Billing.Sorted, query, input.Page{Number: 1, Size: maxSlips})
	data := slipsData{
		Customer: record, TaxID: taxid.Format(record.CpfCnpj), CompanyTaxID: taxid.Format(req.Actor.Company.CpfCnpj),
		More: total - int64(len(invoices)),
	}
	for _, invoice := range invoices {
		data.Slips = append(data.Slips, s.slip(req, invoice, record))
	}
	return req.Show("slips", "Payment booklet", data)
}

// noticeRow is a payer's word that an invoice was paid.
type noticeRow struct {
	payment.Notice
	Invoice billing.Invoice
	On      civil.Date  // the day of the word, on which the money came
	Rest    money.Cents // what was to pay then, which one click books
	Pay     string      // leads to the form of a payment, for another amount
	Picture bool        // it can be shown in a page; a PDF is only handed out
}

func noticeRowOf(req *kit.Request, notice payment.Notice, invoice billing.Invoice, back string) noticeRow {
	on := req.Actor.Today(notice.CreatedAt)
	query := url.Values{"on": {on.String()}, "back": {back}}
	return noticeRow{
		Notice: notice, Invoice: invoice, On: on, Rest: invoice.PayableOn(req.Actor.Company, on).Rest,
		Pay: invoicePath(invoice.ID) + "/pay?" + query.Encode(), Picture: notice.Kind == payment.NoticePicture,
	}
}

type noticesData struct {
	List  []noticeRow
	Pager page.Pager
}

// notices lists the open invoices that customers say to have paid.
func (s *Server) notices(req *kit.Request) error {
	paging := req.Query().Page()
	list, total, err := s.Payments.Noticed(req.Context(), req.Actor, paging)
	req.Note(err)
	data := noticesData{Pager: page.NewPager(req.URL, paging, total)}
	for _, notice := range list {
		invoice, err := s.Billing.Find(req.Context(), req.Actor, notice.InvoiceID)
		if fault.KindOf(err) == fault.KindNotFound {
			continue // deleted since it was listed
		}
		req.Note(err)
		data.List = append(data.List, noticeRowOf(req, notice, invoice, "/notices"))
	}
	return req.Show("notices", "They say to have paid", data)
}

// noticesOf is what the payer said about one invoice.
func (s *Server) noticesOf(req *kit.Request, invoice billing.Invoice) (rows []noticeRow) {
	for _, notice := range kit.ReadOf(req, s.Payments.Notices, invoice.ID) {
		rows = append(rows, noticeRowOf(req, notice, invoice, invoicePath(invoice.ID)))
	}
	return rows
}

// noticeFile hands out what a payer sent. A stranger made it: a browser must run
// nothing of it, nor take it for a page.
func (s *Server) noticeFile(req *kit.Request) error {
	notice, content, err := s.Payments.NoticeFile(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	req.Writer.Header().Set("X-Content-Type-Options", "nosniff")
	req.Writer.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	name := ""
	if notice.Kind != payment.NoticePicture {
		name = "comprovante-" + kit.IDText(notice.InvoiceID) + ".pdf"
	}
	return kit.SendBytes(req, name, string(notice.Kind), content)
}

// dismissNotices removes what a payer said about money that was not found.
func (s *Server) dismissNotices(req *kit.Request) error {
	notice, err := s.Payments.DismissNotices(req.Context(), req.Actor, req.ID)
	return req.Did(err, req.Back(invoicePath(notice.InvoiceID)), "The notice was removed. The invoice stays open.")
}
