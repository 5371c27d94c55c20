package checkout

import (
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/taxid"
	"carteira/internal/reminder"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// own is the customer's own page: what is to pay, what was paid, and whether
// the customer wants messages.
type own struct {
	payments  *payment.Service
	reminders *reminder.Service
	pages     *page.Set
	now       func() time.Time
}

// ownBody bounds a form that anybody with a link may send.
const ownBody = 4 << 10

// RegisterOwn adds the customers' own pages, /my/{code}, to mux. The code in the
// address is all that opens one, and the company can withdraw it.
func RegisterOwn(mux *http.ServeMux, payments *payment.Service, reminders *reminder.Service, now func() time.Time) {
	sub, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // embedded
	}
	o := &own{payments, reminders, page.New(sub), now}
	ours := http.NewCrossOriginProtection()
	for pattern, answer := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /my/{code}":               o.show,
		"GET /my/{code}/pay/{id}":      o.pay,
		"GET /my/{code}/receipts/{id}": o.receipt,
		"POST /my/{code}/messages":     o.messages,
	} {
		mux.Handle(pattern, ours.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			web.ExchangeOf(r.Context()).Path = "/my/…" // who reads the log must not be able to open the page
			if err := answer(w, r); err != nil {
				o.pages.FailGuest(w, r, err)
			}
		})))
	}
}

// ownData is what the page shows.
type ownData struct {
	payment.CustomerPage
	Code     string
	Messages bool // there is something to opt out of, or to come back to
	OptedOut bool
}

func (o *own) show(w http.ResponseWriter, r *http.Request) error {
	code := r.PathValue("code")
	shown, err := o.payments.CustomerPage(r.Context(), code)
	if err != nil {
		return err
	}
	web.ExchangeOf(r.Context()).CompanyID = shown.Company.ID
	data := ownData{CustomerPage: shown, Code: code}
	visitor := account.System(shown.Company, "customer's page")
	data.OptedOut, err = o.reminders.OptedOut(r.Context(), visitor, shown.Customer.ID)
	if err != nil {
		return err
	}
	data.Messages = data.OptedOut || shown.Company.Subscription.Functions.Has(account.FunctionReminders)
	o.pages.Render(w, r, page.View{Name: "own", Title: "My invoices", Data: &data, Zone: shown.Company.Zone})
	return nil
}

// idOf is the invoice that an address names.
func idOf(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.NotFound("invoice")
	}
	return id, nil
}

// pay leads to the page where an invoice is paid: its second copy.
func (o *own) pay(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	path, err := o.payments.CustomerPayURL(r.Context(), r.PathValue("code"), id)
	if err != nil {
		return err
	}
	page.Go(w, r, path)
	return nil
}

// ownReceipt is a paid invoice on paper.
type ownReceipt struct {
	Company account.Company
	Invoice billing.Invoice
	Due     billing.Payable
	TaxID   string // of the company, with its punctuation
	Back    string // the page that it is a paper of
	Paying  bool   // that is the page on which it was paid
}

// receiptView is the page of a receipt, to be read, saved and printed.
func receiptView(receipt *ownReceipt) page.View {
	receipt.TaxID = taxid.Format(receipt.Company.CpfCnpj)
	return page.View{Name: "ownreceipt", Title: "Receipt", Zone: receipt.Company.Zone, Data: receipt}
}

func (o *own) receipt(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	code := r.PathValue("code")
	company, invoice, err := o.payments.CustomerInvoice(r.Context(), code, id)
	if err == nil && invoice.Status != billing.Paid {
		err = fault.NotFound("invoice")
	}
	if err != nil {
		return err
	}
	today := account.Actor{Company: company}.Today(o.now())
	o.pages.Render(w, r, receiptView(&ownReceipt{
		Company: company, Invoice: invoice, Due: invoice.PayableOn(company, today), Back: "/my/" + code,
	}))
	return nil
}

// messages is the customer's word on whether messages are welcome.
func (o *own) messages(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, ownBody)
	if err := r.ParseForm(); err != nil {
		return fault.New(fault.KindInvalid, "the form could not be read")
	}
	code, out := r.PathValue("code"), r.PostForm.Get("opted_out") == "true"
	actor, customerID, err := o.payments.CustomerActor(r.Context(), code, web.Caller(r))
	if err != nil {
		return err
	}
	if err := o.reminders.SetOptOut(r.Context(), actor, customerID, out); err != nil {
		return err
	}
	said := "You get messages again."
	if out {
		said = "You get no more messages."
	}
	page.Say(w, r, said)
	page.Go(w, r, "/my/"+code)
	return nil
}
