package panel

import (
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

// paymentTabs is what the pages of payments have above them.
type paymentTabs struct {
	Current string // received, reviews or gateway
	Owner   bool
	Open    int64 // payments that wait for a person
}

func (s *Server) paymentTabs(req *request, current string) (paymentTabs, error) {
	_, open, err := s.Payments.Reviews(req.Context(), req.Actor, payment.ReviewFilter{Open: true}, input.Page{Number: 1, Size: 1})
	return paymentTabs{current, allows(req.User.Role, owner), open}, err
}

// paymentRow is a payment in words.
type paymentRow struct {
	payment.Payment
	Through string // the gateway's name
	By      string // who confirmed it; empty: the gateway
}

// CanRefund reports whether some of the payment can still be given back.
func (r paymentRow) CanRefund() bool { return r.Applied() && r.Refund < r.Amount }

// CanUndo reports whether a person reported the payment, and all of it is there.
func (r paymentRow) CanUndo() bool {
	return r.Applied() && r.Refund == 0 && (r.Provider == billing.Hand || r.ConfirmedBy != "")
}

func (s *Server) paymentRows(req *request, list []payment.Payment) ([]paymentRow, error) {
	by := make([]string, len(list))
	for i, p := range list {
		by[i] = p.ConfirmedBy
	}
	names, err := s.actorNames(req, by)
	if err != nil {
		return nil, err
	}
	rows := make([]paymentRow, len(list))
	for i, p := range list {
		rows[i] = s.paymentRow(req, names, p)
	}
	return rows, nil
}

func (s *Server) paymentRow(req *request, names map[string]string, p payment.Payment) paymentRow {
	return paymentRow{p, s.through(req, p.Via), actorText(req.lang, names, p.ConfirmedBy)}
}

// through is by what an invoice was paid, as people say it.
func (s *Server) through(req *request, provider string) string {
	for _, p := range s.Payments.Providers() {
		if p.Name == provider {
			return optionWord(req.lang, p.Title)
		}
	}
	return word(req.lang, provider)
}

type receivedData struct {
	Tabs       paymentTabs
	List       []paymentRow
	Older      string // where the list goes on
	First      bool   // it is the newest page
	HasGateway bool
}

const receivedRows = 25

func (s *Server) received(req *request) error {
	in := req.query()
	before := in.ID("before").Value
	if err := in.Err(); err != nil {
		return fault.NotFound("page")
	}
	d := receivedData{First: before == 0}
	list, next, err := s.Payments.Received(req.Context(), req.Actor, before, receivedRows)
	if err != nil {
		return err
	}
	if d.List, err = s.paymentRows(req, list); err != nil {
		return err
	}
	if next > 0 {
		d.Older = "/payments?before=" + strconv.FormatInt(next, 10)
	}
	if _, d.HasGateway, err = s.gateway(req); err != nil {
		return err
	}
	if d.Tabs, err = s.paymentTabs(req, "received"); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "payments", Title: "Payments", Data: d})
}

type reviewsData struct {
	Tabs     paymentTabs
	List     []reviewRow
	Pager    page.Pager
	Resolved bool // those that were decided are shown
}

type reviewRow struct {
	payment.Review
	Row     paymentRow
	Short   string // why, in a few words
	Decided string // what was
	By      string
}

func (s *Server) reviewRows(req *request, list []payment.Review) ([]reviewRow, error) {
	var by []string
	for _, r := range list {
		by = append(by, r.ResolvedBy, r.Payment.ConfirmedBy)
	}
	names, err := s.actorNames(req, by)
	if err != nil {
		return nil, err
	}
	rows := make([]reviewRow, len(list))
	for i, r := range list {
		rows[i] = reviewRow{
			Review: r, Row: s.paymentRow(req, names, r.Payment), Short: req.lang.T(reviewTexts[r.Reason].short),
			Decided: req.lang.T(resolutionTexts[r.Resolution]), By: actorText(req.lang, names, r.ResolvedBy),
		}
	}
	return rows, nil
}

func (s *Server) reviews(req *request) error {
	d := reviewsData{Resolved: req.URL.Query().Get("state") == "resolved"}
	in := req.query()
	p := in.Page()
	if in.Err() != nil {
		return fault.NotFound("page")
	}
	list, total, err := s.Payments.Reviews(req.Context(), req.Actor, payment.ReviewFilter{Open: !d.Resolved, Resolved: d.Resolved}, p)
	if err != nil {
		return err
	}
	if d.List, err = s.reviewRows(req, list); err != nil {
		return err
	}
	d.Pager = page.NewPager(req.URL, p, total)
	if d.Tabs, err = s.paymentTabs(req, "reviews"); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "reviews", Title: "Payments for review", Data: d})
}

type reviewData struct {
	reviewRow
	Form    *page.Form
	Why     string
	Advice  string
	Invoice *billing.Invoice // nil: it was deleted
	Renews  bool
	Rest    money.Cents   // to pay on the day on which the money came; 0: the invoice is not open
	Less    []page.Option // what less money than is to pay may mean; empty: it is enough
}

func (s *Server) review(req *request) error { return s.reviewPage(req, page.NewForm(), nil) }

func (s *Server) reviewPage(req *request, form *page.Form, refusal error) error {
	r, err := s.Payments.Review(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	rows, err := s.reviewRows(req, []payment.Review{r})
	if err != nil {
		return err
	}
	texts := reviewTexts[r.Reason]
	d := reviewData{reviewRow: rows[0], Form: form, Why: texts.why, Advice: texts.advice, Renews: req.Actor.Company.Settings.RenewOnPayment}
	i, err := s.Billing.Find(req.Context(), req.Actor, r.Payment.InvoiceID)
	switch {
	case err == nil:
		d.Invoice = &i
		d.Rest = i.PayableOn(req.Actor.Company, req.Actor.Today(r.Payment.PaidAt)).Rest
		if r.Payment.Amount < d.Rest {
			d.Less = differences(req)
		}
	case fault.KindOf(err) != fault.KindNotFound:
		return err
	}
	return s.show(req, page.View{Name: "review", Title: "Payment for review", Status: statusOf(refusal), Data: d})
}

// differences are what less money than is to pay may mean.
func differences(req *request) []page.Option {
	return []page.Option{
		{Value: "", Label: req.lang.T("Choose")},
		{Value: string(billing.DifferencePartial), Label: req.lang.T("A part: the rest is still to come")},
		{Value: string(billing.DifferenceDiscount), Label: req.lang.T("Enough: the rest is a discount")},
	}
}

func (s *Server) resolveReview(req *request) error {
	r, err := s.Payments.Decide(req.Context(), req.Actor, payment.ReadDecision(req.form(), req.id))
	if refused(err) {
		return s.reviewPage(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	if r.Resolution == payment.Applied && r.Payment.Status == billing.PaymentPartial {
		return req.done("/payments/reviews", "The payment was applied as a part; the invoice is still open.")
	}
	if r.Resolution == payment.Applied {
		return req.done("/payments/reviews", "The payment was applied, and the invoice is paid.")
	}
	return req.done("/payments/reviews", "The payment was dismissed.")
}

// troubles are what the home page says about payments.
type troubles struct {
	Reviews int64
	Gateway *payment.Setup // that fails; nil: none does
	Title   string         // its name
}

// paymentTroubles finds what the people of the company should act on.
func (s *Server) paymentTroubles(req *request) (t troubles, err error) {
	if !allows(req.User.Role, staff) || !req.Actor.May(payments) {
		return t, nil
	}
	tabs, err := s.paymentTabs(req, "")
	if err != nil {
		return t, err
	}
	t.Reviews = tabs.Open
	u, found, err := s.gateway(req)
	if found && u.Failing() {
		t.Gateway, t.Title = &u, optionWord(req.lang, u.Provider.Title)
	}
	return t, err
}
