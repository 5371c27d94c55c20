package panel

import (
	"strconv"

	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// paymentTabs is what the pages of payments have above them.
type paymentTabs struct {
	Current string // received, reviews or gateway
	Owner   bool
	Open    int64 // payments that wait for a person
}

func (s *Server) paymentTabs(q *request, current string) (paymentTabs, error) {
	_, open, err := s.Payments.Reviews(q.Context(), q.Actor, payment.ReviewFilter{Open: true}, input.Page{Number: 1, Size: 1})
	return paymentTabs{current, allows(q.User.Role, owner), open}, err
}

// paymentRow is a payment in words.
type paymentRow struct {
	payment.Payment
	Through string // the gateway's name
	By      string // who confirmed it; empty: the gateway
}

func (s *Server) paymentRows(q *request, list []payment.Payment) ([]paymentRow, error) {
	by := make([]string, len(list))
	for i, p := range list {
		by[i] = p.ConfirmedBy
	}
	names, err := s.actorNames(q, by)
	if err != nil {
		return nil, err
	}
	rows := make([]paymentRow, len(list))
	for i, p := range list {
		rows[i] = s.paymentRow(q, names, p)
	}
	return rows, nil
}

func (s *Server) paymentRow(q *request, names map[string]string, p payment.Payment) paymentRow {
	return paymentRow{p, s.through(q, p.Provider), actorText(q.lang, names, p.ConfirmedBy)}
}

// through is by what an invoice was paid, as people say it.
func (s *Server) through(q *request, provider string) string {
	for _, p := range s.Payments.Providers() {
		if p.Name == provider {
			return optionWord(q.lang, p.Title)
		}
	}
	return word(q.lang, provider)
}

type receivedData struct {
	Tabs       paymentTabs
	List       []paymentRow
	Older      string // where the list goes on
	First      bool   // it is the newest page
	HasGateway bool
}

const receivedRows = 25

func (s *Server) received(q *request) error {
	in := q.query()
	before := in.ID("before").Value
	if err := in.Err(); err != nil {
		return fault.NotFound("page")
	}
	d := receivedData{First: before == 0}
	list, next, err := s.Payments.Received(q.Context(), q.Actor, before, receivedRows)
	if err != nil {
		return err
	}
	if d.List, err = s.paymentRows(q, list); err != nil {
		return err
	}
	if next > 0 {
		d.Older = "/payments?before=" + strconv.FormatInt(next, 10)
	}
	if _, d.HasGateway, err = s.gateway(q); err != nil {
		return err
	}
	if d.Tabs, err = s.paymentTabs(q, "received"); err != nil {
		return err
	}
	return s.show(q, page.View{Name: "payments", Title: "Payments", Data: d})
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

func (s *Server) reviewRows(q *request, list []payment.Review) ([]reviewRow, error) {
	var by []string
	for _, r := range list {
		by = append(by, r.ResolvedBy, r.Payment.ConfirmedBy)
	}
	names, err := s.actorNames(q, by)
	if err != nil {
		return nil, err
	}
	rows := make([]reviewRow, len(list))
	for i, r := range list {
		rows[i] = reviewRow{
			Review: r, Row: s.paymentRow(q, names, r.Payment), Short: q.lang.T(reviewTexts[r.Reason].short),
			Decided: q.lang.T(resolutionTexts[r.Resolution]), By: actorText(q.lang, names, r.ResolvedBy),
		}
	}
	return rows, nil
}

func (s *Server) reviews(q *request) error {
	d := reviewsData{Resolved: q.URL.Query().Get("state") == "resolved"}
	in := q.query()
	p := in.Page()
	if in.Err() != nil {
		return fault.NotFound("page")
	}
	list, total, err := s.Payments.Reviews(q.Context(), q.Actor, payment.ReviewFilter{Open: !d.Resolved, Resolved: d.Resolved}, p)
	if err != nil {
		return err
	}
	if d.List, err = s.reviewRows(q, list); err != nil {
		return err
	}
	d.Pager = page.NewPager(q.URL, p, total)
	if d.Tabs, err = s.paymentTabs(q, "reviews"); err != nil {
		return err
	}
	return s.show(q, page.View{Name: "reviews", Title: "Payments for review", Data: d})
}

type reviewData struct {
	reviewRow
	Form    *page.Form
	Why     string
	Advice  string
	Invoice *billing.Invoice // nil: it was deleted
	Renews  bool
}

func (s *Server) review(q *request) error { return s.reviewPage(q, page.NewForm(), nil) }

func (s *Server) reviewPage(q *request, form *page.Form, refusal error) error {
	r, err := s.Payments.Review(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	rows, err := s.reviewRows(q, []payment.Review{r})
	if err != nil {
		return err
	}
	texts := reviewTexts[r.Reason]
	d := reviewData{reviewRow: rows[0], Form: form, Why: texts.why, Advice: texts.advice, Renews: q.Actor.Company.Settings.RenewOnPayment}
	i, err := s.Billing.Find(q.Context(), q.Actor, r.Payment.InvoiceID)
	switch {
	case err == nil:
		d.Invoice = &i
	case fault.KindOf(err) != fault.KindNotFound:
		return err
	}
	return s.show(q, page.View{Name: "review", Title: "Payment for review", Status: statusOf(refusal), Data: d})
}

func (s *Server) resolveReview(q *request) error {
	r, err := s.Payments.Decide(q.Context(), q.Actor, payment.ReadDecision(q.form(), q.id))
	if refused(err) {
		return s.reviewPage(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	if r.Resolution == payment.Applied {
		return q.done("/payments/reviews", "The payment was applied, and the invoice is paid.")
	}
	return q.done("/payments/reviews", "The payment was dismissed.")
}

// troubles are what the home page says about payments.
type troubles struct {
	Reviews int64
	Gateway *payment.Setup // that fails; nil: none does
	Title   string         // its name
}

// paymentTroubles finds what the people of the company should act on.
func (s *Server) paymentTroubles(q *request) (t troubles, err error) {
	if !allows(q.User.Role, staff) || !q.Actor.May(payments) {
		return t, nil
	}
	tabs, err := s.paymentTabs(q, "")
	if err != nil {
		return t, err
	}
	t.Reviews = tabs.Open
	u, found, err := s.gateway(q)
	if found && u.Failing() {
		t.Gateway, t.Title = &u, optionWord(q.lang, u.Provider.Title)
	}
	return t, err
}
