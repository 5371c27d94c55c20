package panel

import (
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// charging is what the page needs to have an invoice paid.
type charging struct {
	Invoice  billing.Invoice
	Customer customer.Customer
	Overdue  bool
	Link     payment.Link
	Message  string // to send, with the link
	WhatsApp string // opens a chat with the message typed in; empty: no number
	Mail     string // opens a mail with the message typed in; empty: no address
	Through  string // the gateway's name
	Owner    bool   // who may set one up
	QR       template.HTML
	Here     string // where the code is shown
	Dialog   bool   // it is shown over a list
	Back     string // the page that the dialog was opened on; empty: one that does not say
	Mends    []mend // where to mend what the gateway refused the last time
}

// charging of an invoice with something left to pay; nil for others, and for a
// user who may not charge.
func (s *Server) charging(req *kit.Request, invoice billing.Invoice, record customer.Customer) *charging {
	if req.Failed != nil || invoice.PayableOn(req.Actor.Company, req.Today).Rest == 0 || !req.MayCharge() {
		return nil
	}
	link, overdue := kit.ReadOf(req, s.Payments.PaymentLink, invoice.ID), invoice.Overdue(req.Today)
	d := &charging{
		Invoice: invoice, Customer: record, Overdue: overdue, Link: link, Message: s.chargeText(invoice, record, link, overdue),
		Through: s.through(req, link.Provider), Owner: kit.Allows(req.User.Role, owner), Here: invoicePath(invoice.ID),
	}
	if record.Whatsapp != "" {
		d.WhatsApp = kit.ChatWith(record.Whatsapp, d.Message)
	}
	if record.Email != "" {
		d.Mail = mailTo(record.Email, "Fatura de "+req.Actor.Company.Name, d.Message)
	}
	if now := link.Current; now != nil && now.PixCode != "" {
		d.QR = req.QR(now.PixCode)
	}
	return d
}

// mailTo is the address that opens a mail with its words typed in.
func mailTo(address, subject, text string) string {
	words := url.Values{"subject": {subject}, "body": {text}}.Encode()
	return "mailto:" + url.PathEscape(address) + "?" + strings.ReplaceAll(words, "+", "%20")
}

// chargeText is what a customer is sent. It is in Portuguese, in whatever language
// the sender reads the panel. A link that the customer cannot open is left out: the
// code that can be paid now, or the gateway's page, takes its place.
func (s *Server) chargeText(invoice billing.Invoice, record customer.Customer, link payment.Link, overdue bool) string {
	first, _, _ := strings.Cut(record.Name, " ")
	text := "Hello, %s! Your invoice of %s is due on %s."
	if overdue {
		text = "Hello, %s! Your invoice of %s was due on %s."
	}
	words := page.Portuguese.T(text, first, link.Amount.BR(), page.FormatDate(invoice.DueOn))
	switch now := link.Current; {
	case s.Reach == config.Reachable:
		return words + " " + page.Portuguese.T("You can pay it here: %s", link.URL)
	case now != nil && now.PixCode != "":
		return words + " " + page.Portuguese.T("Copy this PIX code and paste it in your bank's app:") + "\n\n" + now.PixCode
	case now != nil && now.CheckoutURL != "":
		return words + " " + page.Portuguese.T("You can pay it here: %s", now.CheckoutURL)
	}
	return words
}

func invoicePath(id int64) string { return "/invoices/" + kit.IDText(id) }

// chargePage offers the ways to charge; a list opens it as a dialog.
func (s *Server) chargePage(req *kit.Request, invoice billing.Invoice) error {
	record := kit.ReadOf(req, s.Customers.Find, invoice.Customer.ID)
	if s.Reach != config.Reachable {
		s.makeCode(req, invoice)
	}
	charging := s.charging(req, invoice, record)
	if charging == nil { // paid or cancelled meanwhile
		return req.GoOn(invoicePath(invoice.ID))
	}
	charging.Dialog, charging.Here = true, invoicePath(invoice.ID)+"/charge"
	if back := req.URL.Query().Get("back"); back != "" {
		charging.Back = page.LocalPath(back)
		charging.Here += "?back=" + url.QueryEscape(charging.Back)
	}
	if attempts := kit.ReadOf(req, s.Payments.Attempts, invoice.ID); len(attempts) > 0 {
		charging.Mends = s.attemptRows(req, record.ID, attempts[:1])[0].Mends
	}
	return req.Show("charge", "Charge", charging)
}

// makeCode has a charge made for an invoice that will be sent without a link. Where
// the gateway refuses, the message goes without a code, and the page says why.
func (s *Server) makeCode(req *kit.Request, invoice billing.Invoice) {
	if req.Failed != nil || !req.MayCharge() || invoice.Status != billing.Open {
		return
	}
	_, err := s.Payments.Charge(req.Context(), req.Actor, invoice.ID, "")
	if !kit.Refused(err) && fault.KindOf(err) != fault.KindUpstream {
		req.Note(err)
	}
}

// owed is the customer of the path, and the invoice that it has owed the longest.
func (s *Server) owed(req *kit.Request) (record customer.Customer, invoice billing.Invoice, found bool) {
	record = kit.ReadOf(req, s.Customers.Find, req.ID)
	invoice, found, err := s.Billing.Owed(req.Context(), req.Actor, record.ID)
	req.Note(err)
	return record, invoice, found
}

// chargeCustomer is the same for what a customer has to pay first.
func (s *Server) chargeCustomer(req *kit.Request) error {
	record, invoice, found := s.owed(req)
	if !found {
		return req.Show("charge_nothing", "Charge", record)
	}
	return s.chargePage(req, invoice)
}

// makePix has the gateway make a code, which the invoice's page then shows.
func (s *Server) makePix(req *kit.Request) error {
	path := req.Back(invoicePath(req.ID))
	if _, err := s.Payments.Charge(req.Context(), req.Actor, req.ID, ""); err != nil {
		return req.Complain(path, err)
	}
	return req.GoOn(path + "#pix")
}

// attemptRow is a charge of the past, in words.
type attemptRow struct {
	payment.Attempt
	Through, Text, Tone string
	Mends               []mend
}

func (s *Server) attemptRows(req *kit.Request, customerID int64, list []payment.Attempt) []attemptRow {
	rows := make([]attemptRow, len(list))
	for n, attempt := range list {
		state := attemptTexts[attempt.State]
		rows[n] = attemptRow{
			attempt, s.through(req, attempt.Provider), req.Lang.T(state.text), state.tone,
			mends(req, refusedCharge{attempt.Problem, attempt.Provider, customerID}),
		}
	}
	return rows
}

// billed is what an invoice's page shows of its charges and payments.
type billed struct {
	Charging *charging // nil: it cannot be charged
	Attempts []attemptRow
	Payments []paymentRow
	ByHand   bool // a person confirms its payment
}

func (s *Server) billed(req *kit.Request, invoice billing.Invoice, record customer.Customer) (billed billed) {
	billed.Payments = s.paymentRows(req, kit.ReadOf(req, s.Payments.Payments, invoice.ID))
	s.addRefunds(req, billed.Payments)
	if !req.Actor.May(payments) {
		return billed
	}
	attempts := kit.ReadOf(req, s.Payments.Attempts, invoice.ID)
	billed.Charging, billed.Attempts = s.charging(req, invoice, record), s.attemptRows(req, record.ID, attempts)
	billed.ByHand = billed.Charging != nil && len(attempts) > 0 && attempts[0].Manual
	return billed
}

// queueData is the next customers to charge from one's own WhatsApp.
type queueData struct {
	charging      // of no invoice: all were charged today
	Number, Total int
	Again, Skip   string // this page; this page without the one it shows
	Paid          string // the form of a payment that comes back here
	Path          string // the list
	Skipped       int    // left for later
}

// queue leads from one debtor of a list to the next. Who was charged today is in the
// audit log, so that the queue can be left and taken up again, by a colleague too.
func (s *Server) queue(req *kit.Request) error {
	chosen, path := queuePicks(req.URL.Query())
	list, err := s.debtors(req, path, chosen)
	if errors.Is(err, kit.ErrTooMany) {
		return req.Complain(path, err)
	}
	if err != nil && !kit.Refused(err) {
		return err
	}
	if len(list) == 0 || !req.MayCharge() {
		return req.Show("queue", "Charge from my WhatsApp", queueData{Path: path})
	}
	slices.SortStableFunc(list, func(a, b billing.Invoice) int { return a.DueOn.Compare(b.DueOn) }) // the oldest debt first
	charged, workers := s.chargedToday(req)
	data := queueData{Path: path, Total: len(list), Number: 1}
	for _, id := range req.URL.Query()["skip"] {
		skipped, _ := strconv.ParseInt(id, 10, 64)
		charged[skipped] = true
		data.Skipped++
	}
	left := slices.DeleteFunc(list, func(invoice billing.Invoice) bool { return charged[invoice.ID] })
	data.Number += data.Total - len(left)
	data.Again = "/queue?" + req.URL.RawQuery
	if len(left) == 0 {
		data.Number = data.Total
		return req.Show("queue", "Charge from my WhatsApp", data)
	}
	next := turnOf(left, slices.Index(workers, req.Actor.UserID), len(workers))
	data.Skip = data.Again + "&skip=" + kit.IDText(next.ID)
	data.Paid = invoicePath(next.ID) + "/pay?back=" + url.QueryEscape(data.Again)
	return s.showQueue(req, data, next)
}

// turnOf is the one to charge next by a person of several who charge today. They share the invoices out, since two
// who have the same page open would both ask the customer; who is done with their share helps from the end.
func turnOf(left []billing.Invoice, worker, workers int) billing.Invoice {
	for _, invoice := range left {
		if int(invoice.ID%int64(workers)) == worker {
			return invoice
		}
	}
	return left[len(left)-1]
}

// showQueue shows one debtor. The code is made now: the text carries it.
func (s *Server) showQueue(req *kit.Request, data queueData, invoice billing.Invoice) error {
	s.makeCode(req, invoice)
	record := kit.ReadOf(req, s.Customers.Find, invoice.Customer.ID)
	charging := s.charging(req, invoice, record)
	if charging == nil { // paid at this moment
		return req.GoOn(data.Skip)
	}
	data.charging = *charging
	if code := data.Link.Current; code != nil && code.PixCode != "" && record.Whatsapp != "" && s.Reach == config.Reachable {
		data.WhatsApp = kit.ChatWith(record.Whatsapp, data.Message+"\n\n"+page.Portuguese.T("Or copy this PIX code:")+"\n\n"+code.PixCode)
	}
	return req.Show("queue", "Charge from my WhatsApp", data)
}

// queueNext marks the one that was shown as charged today, and goes on.
func (s *Server) queueNext(req *kit.Request) error {
	id, err := strconv.ParseInt(req.PostFormValue("invoice"), 10, 64)
	if err != nil {
		return fault.NotFound("invoice")
	}
	if err := s.Billing.NoteCharged(req.Context(), req.Actor, id); err != nil {
		return err
	}
	return req.GoOn(req.Back("/queue"))
}

// queuePicks reads the list of a queue from its address: all that is overdue where
// it names none.
func queuePicks(query url.Values) (chosen kit.Picks, path string) {
	path = "/invoices"
	if query.Get("of") == "customers" {
		path = "/customers"
	}
	for _, text := range query["id"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
			chosen.IDs = append(chosen.IDs, id)
		}
	}
	chosen.All, chosen.Query = len(chosen.IDs) == 0, query.Get("filter")
	if chosen.All && chosen.Query == "" {
		chosen.Query = "overdue=true"
	}
	return chosen, path
}

// queuePath is the address of the queue of what was picked in a list.
func queuePath(path string, chosen kit.Picks) string {
	query := url.Values{}
	if path == "/customers" {
		query.Set("of", "customers")
	}
	if chosen.All {
		query.Set("filter", chosen.Query)
	}
	for _, id := range chosen.IDs {
		query.Add("id", kit.IDText(id))
	}
	return "/queue?" + query.Encode()
}

// debtors are the open invoices of what was picked; of customers, what each owes first.
func (s *Server) debtors(req *kit.Request, path string, chosen kit.Picks) ([]billing.Invoice, error) {
	if path == "/invoices" {
		list, err := s.invoicesOf(req, chosen, limitOf("remind"))
		var open []billing.Invoice
		for _, invoice := range list {
			if invoice.Status == billing.Open {
				open = append(open, invoice)
			}
		}
		return open, err
	}
	customers, err := s.customersOf(req, chosen, limitOf("remind"))
	var owed []billing.Invoice
	for _, record := range customers {
		invoice, found, err := s.Billing.Owed(req.Context(), req.Actor, record.ID)
		if err != nil {
			return nil, err
		}
		if found {
			owed = append(owed, invoice)
		}
	}
	return owed, err
}

// chargedToday are the invoices for which customers were asked by hand today, and the users who did, with the one who
// asks.
func (s *Server) chargedToday(req *kit.Request) (charged map[int64]bool, workers []int64) {
	charged, workers = map[int64]bool{}, []int64{req.Actor.UserID}
	filter := account.AuditFilter{Batch: billing.ChargedOn(req.Today)}
	req.Note(s.Accounts.WalkAudit(req.Context(), req.Actor, filter, func(line account.AuditLine) error {
		charged[line.RecID] = true
		workers = append(workers, line.UserID)
		return nil
	}))
	slices.Sort(workers)
	return charged, slices.Compact(workers)
}

// ownPage is what a customer's record shows of the customer's own page.
type ownPage struct {
	payment.CustomerLink
	WhatsApp string // opens a chat with the link typed in; empty: no number
}

func (s *Server) ownPage(req *kit.Request, record customer.Customer) (shown ownPage) {
	if !kit.Allows(req.User.Role, desk) {
		return shown // the link opens the page: who only reads does not hand it out
	}
	shown.CustomerLink = kit.ReadOf(req, s.Payments.CustomerPageLink, record.ID)
	if shown.URL != "" && record.Whatsapp != "" && s.Reach == config.Reachable {
		first, _, _ := strings.Cut(record.Name, " ")
		text := page.Portuguese.T("Hello, %s! Here are your invoices, second copies and receipts: %s", first, shown.URL)
		shown.WhatsApp = kit.ChatWith(record.Whatsapp, text)
	}
	return shown
}
