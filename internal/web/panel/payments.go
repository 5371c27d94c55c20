package panel

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// paymentTabs is what the pages of payments have above them.
type paymentTabs struct {
	Current              string // received, month, forecast, statement, reviews, autopay or gateway
	Owner, Staff, Totals bool
	Open                 int64 // payments that wait for a person
}

func (s *Server) paymentTabs(req *kit.Request, current string) paymentTabs {
	open := kit.ReadOf(req, s.Payments.CountReviews, payment.ReviewFilter{Open: true})
	return paymentTabs{current, kit.Allows(req.User.Role, owner), kit.Allows(req.User.Role, staff), kit.Allows(req.User.Role, viewer), open}
}

// paymentRow is a payment in words.
type paymentRow struct {
	payment.Payment
	Through string         // the gateway's name
	By      string         // who confirmed it; empty: the gateway
	Refunds []refundOfPaid // on the page of its invoice
}

// refundOfPaid is money that went back, under its payment.
type refundOfPaid struct {
	billing.RefundRecord
	Author string // empty: the gateway
}

// CanRefund reports whether some of the payment can still be given back.
func (r paymentRow) CanRefund() bool {
	return r.Applied() && r.Refund < r.Amount
}

// Undone reports whether a person reported the payment and took it back.
func (r paymentRow) Undone() bool { return strings.Contains(r.ID, "#undone-") }

// CanUndo reports whether a person reported the payment, and all of it is there.
func (r paymentRow) CanUndo() bool {
	return r.Applied() && r.Refund == 0 && (r.Provider == billing.Hand || r.ConfirmedBy != "")
}

func (s *Server) paymentRows(req *kit.Request, list []payment.Payment) []paymentRow {
	by := make([]string, len(list))
	for i, paid := range list {
		by[i] = paid.ConfirmedBy
	}
	names, rows := s.ActorNames(req, by), make([]paymentRow, len(list))
	for i, paid := range list {
		rows[i] = s.paymentRow(req, names, paid)
	}
	return rows
}

func (s *Server) paymentRow(req *kit.Request, names map[string]string, paid payment.Payment) paymentRow {
	return paymentRow{Payment: paid, Through: s.through(req, paid.Via), By: kit.ActorText(req.Lang, names, paid.ConfirmedBy)}
}

// addRefunds has each payment say what of it went back.
func (s *Server) addRefunds(req *kit.Request, rows []paymentRow) {
	records := make([]billing.PaymentRecord, len(rows))
	for n, row := range rows {
		records[n].ID, records[n].Refunded = row.Number, row.Refund
	}
	refunds, err := s.Billing.RefundsOf(req.Context(), req.Actor, records...)
	req.Note(err)
	var by []string
	for _, list := range refunds {
		for _, refund := range list {
			by = append(by, refund.By)
		}
	}
	names := s.ActorNames(req, by)
	for n := range rows {
		for _, refund := range refunds[rows[n].Number] {
			rows[n].Refunds = append(rows[n].Refunds, refundOfPaid{refund, kit.ActorText(req.Lang, names, refund.By)})
		}
	}
}

// through is by what an invoice was paid, as people say it.
func (s *Server) through(req *kit.Request, provider string) string {
	if known := s.provider(provider); known.Name != "" {
		return optionWord(req.Lang, known.Title)
	}
	return kit.Word(req.Lang, provider)
}

// provider is a gateway's kind by its name; without a name where there is none.
func (s *Server) provider(name string) (found payment.Provider) {
	for _, known := range s.Payments.Providers() {
		if known.Name == name {
			found = known
		}
	}
	return found
}

// refundRow is money that went back, in words.
type refundRow struct {
	billing.ListedRefund
	Through string // the gateway's name
	Author  string // empty: the gateway
}

// refundRows are the refunds of a filter by their own days, and how many there
// are. They are paged with the payments: a page has as many of each.
func (s *Server) refundRows(req *kit.Request, filter billing.PaymentFilter, paging input.Page) ([]refundRow, int64) {
	list, total := kit.ReadPage(req, s.Billing.Refunds, filter, paging)
	by := make([]string, len(list))
	for n, refund := range list {
		by[n] = refund.By
	}
	names, rows := s.ActorNames(req, by), make([]refundRow, len(list))
	for n, refund := range list {
		rows[n] = refundRow{refund, s.through(req, refund.Via), kit.ActorText(req.Lang, names, refund.By)}
	}
	return rows, total
}

type receivedData struct {
	kit.Listing
	Tabs       paymentTabs
	List       []paymentRow
	Refunds    []refundRow
	Means      []page.Option
	HasGateway bool
}

// paymentWords are the statuses of payments as chips name them.
var paymentWords = map[billing.PaymentStatus]string{
	billing.PaymentApplied: "Paid an invoice", billing.PaymentPartial: "A part of an invoice",
	billing.PaymentReview: "For review", billing.PaymentRefunded: "Given back", billing.PaymentDismissed: "Undone or not used",
	billing.PaymentCredit: "Kept as credit",
}

// maxPaymentSearch bounds what is typed to find a customer.
const maxPaymentSearch = 255

// paymentSort is the order of the list of payments: the newest day first, unless the
// address asks for another.
func paymentSort(query url.Values) input.Sort {
	if query.Get("sort") == "" {
		return "-" + input.ByPaidDay
	}
	return kit.SortsBy(input.ByPaidDay)(query)
}

// readPayments reads a filter of payments.
func readPayments(in *input.Form) billing.PaymentFilter {
	filter := billing.ReadPaymentFilter(in)
	filter.Search = in.Text("search", maxPaymentSearch).Value
	return filter
}

func paymentChips(req *kit.Request) []kit.ChipLine {
	statuses := kit.WordOptions(req, billing.PaymentStatuses, paymentWords, req.Option("", "All payments"))
	return []kit.ChipLine{kit.ChoiceChips(req, "Status", "status", statuses), kit.DateChips(req, "from", "to", false)}
}

func (s *Server) received(req *kit.Request) error {
	data := receivedData{Listing: kit.NewList(req, "/payments/export", paymentChips(req), "from", "to", "paid_via")}
	from := kit.ListOf(account.PaymentList, readPayments, paymentSort, s.Payments.List)
	data.Heads = from.Heads(req, input.ByPaidDay, "Received on")
	list, filter := kit.Fill(req, &data.Listing, from)
	at, total, refunds := req.Query().Page(), data.Pager.Total, int64(0)
	at.Sort = paymentSort(req.URL.Query())
	data.Refunds, refunds = s.refundRows(req, filter, at)
	data.Pager, data.Total = page.NewPager(req.URL, at, max(total, refunds)), s.paymentsFoot(req, filter, total, refunds)
	data.List, data.Means, data.Tabs = s.paymentRows(req, list), s.paidThrough(req), s.paymentTabs(req, "received")
	_, data.HasGateway = s.gateway(req)
	return req.Show("payments", "Payments", data)
}

// paymentsFoot is how many payments and refunds a filter has, and what came less
// what went back.
func (s *Server) paymentsFoot(req *kit.Request, filter billing.PaymentFilter, count, refunds int64) string {
	text := kit.Counted(req.Lang, count, "1 payment", "%s payments")
	if refunds > 0 {
		text += " · " + kit.Counted(req.Lang, refunds, "1 refund", "%s refunds")
	}
	worth, known, err := s.Billing.PaymentsWorth(req.Context(), req.Actor, filter, count+refunds)
	if req.Note(err); !known {
		return text
	}
	text += " · " + worth.BR()
	means := kit.ReadOf(req, s.Billing.PaymentsByMeans, filter)
	by := make([]string, len(means))
	for n, figure := range means {
		by[n] = s.through(req, figure.Key) + " " + figure.Amount.BR()
	}
	if len(by) > 1 {
		text += " (" + strings.Join(by, " · ") + ")"
	}
	return text
}

// paidThrough are the ways by which money comes, for a filter.
func (s *Server) paidThrough(req *kit.Request) []page.Option {
	options := kit.OptionsOf(s.Payments.Providers(), func(provider payment.Provider) page.Option {
		return page.Option{Value: provider.Name, Label: s.through(req, provider.Name)}
	}, req.Option("", "All means"))
	return append(options, means(req)...)
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

func (s *Server) reviewRows(req *kit.Request, list []payment.Review) []reviewRow {
	var by []string
	for _, review := range list {
		by = append(by, review.ResolvedBy, review.Payment.ConfirmedBy)
	}
	names, rows := s.ActorNames(req, by), make([]reviewRow, len(list))
	for i, review := range list {
		rows[i] = reviewRow{
			Review: review, Row: s.paymentRow(req, names, review.Payment),
			Short: req.Lang.T(reviewTexts[review.Reason].short), Decided: req.Lang.T(resolutionTexts[review.Resolution]),
			By: kit.ActorText(req.Lang, names, review.ResolvedBy),
		}
	}
	return rows
}

func (s *Server) reviews(req *kit.Request) error {
	data := reviewsData{Resolved: req.URL.Query().Get("state") == "resolved"}
	in := req.Query()
	paging := in.Page()
	if in.Err() != nil {
		return fault.NotFound("page")
	}
	filter := payment.ReviewFilter{Open: !data.Resolved, Resolved: data.Resolved}
	list, total := kit.ReadPage(req, s.Payments.Reviews, filter, paging)
	data.List, data.Pager, data.Tabs = s.reviewRows(req, list), page.NewPager(req.URL, paging, total), s.paymentTabs(req, "reviews")
	return req.Show("reviews", "Payments for review", data)
}

type reviewData struct {
	reviewRow
	Form        *page.Form
	Why, Advice string
	Invoice     *billing.Invoice // nil: it was deleted
	Renews      bool
	Rest        money.Cents   // to pay on the day on which the money came; 0: the invoice is not open
	Less        []page.Option // what less money than is to pay may mean; empty: it is enough
	Others      []page.Option // the open invoices of the customer
	Known       bool          // the customer was not deleted
}

func (s *Server) review(req *kit.Request, form *page.Form, refusal error) error {
	review := kit.ReadOf(req, s.Payments.Review, req.ID)
	texts := reviewTexts[review.Reason]
	data := reviewData{
		reviewRow: s.reviewRows(req, []payment.Review{review})[0], Form: cmp.Or(form, page.NewForm()), Why: texts.why, Advice: texts.advice,
		Renews: req.Actor.Company.Settings.RenewOnPayment,
	}
	invoice, err := s.Billing.Find(req.Context(), req.Actor, review.Payment.InvoiceID)
	switch {
	case err == nil:
		data.Invoice = &invoice
		data.Rest = invoice.PayableOn(req.Actor.Company, req.Actor.Today(review.Payment.PaidAt)).Rest
		if review.Payment.Amount < data.Rest {
			data.Less = differences(req)
		}
	case fault.KindOf(err) != fault.KindNotFound:
		return err
	}
	if review.ResolvedAt.IsZero() {
		s.openOf(req, review.Payment, &data)
	}
	return req.ShowForm("review", "Payment for review", refusal, data)
}

// maxOthers bounds the open invoices among which a person chooses.
const maxOthers = 50

// openOf finds the invoices that money in review may pay.
func (s *Server) openOf(req *kit.Request, paid payment.Payment, data *reviewData) {
	_, err := s.Customers.Find(req.Context(), req.Actor, paid.CustomerID)
	if fault.KindOf(err) == fault.KindNotFound {
		return
	}
	req.Note(err)
	data.Known = true
	list, _ := kit.ReadPage(req, s.Billing.List, billing.Filter{CustomerID: paid.CustomerID, Status: billing.Open},
		input.Page{Number: 1, Size: maxOthers})
	today := req.Actor.Today(paid.PaidAt)
	for _, invoice := range list {
		rest := invoice.PayableOn(req.Actor.Company, today).Rest
		data.Others = append(data.Others, page.Option{
			Value: strconv.FormatInt(invoice.ID, 10),
			Label: fmt.Sprintf("%s · %s · %s", page.FormatDate(invoice.DueOn), cmp.Or(invoice.Description, "—"), rest.BR()),
		})
		if paid.Amount-paid.Refund < rest {
			data.Less = differences(req)
		}
	}
}

// differences are what less money than is to pay may mean.
func differences(req *kit.Request) []page.Option {
	return req.Options("", "Choose", string(billing.DifferencePartial), "A part: the rest is still to come",
		string(billing.DifferenceDiscount), "Enough: the rest is a discount")
}

// writtenOff is the rest of an invoice that will never come.
func writtenOff(req *kit.Request) page.Option {
	return req.Option(string(billing.DifferenceWriteOff), "Lost: the rest will never come (say why in the note)")
}

func (s *Server) resolveReview(req *kit.Request) error {
	review, err := s.Payments.Decide(req.Context(), req.Actor, payment.ReadDecision(req.Input(), req.ID))
	switch {
	case review.Resolution == payment.Applied && review.Payment.Status == billing.PaymentPartial:
		return req.Sent(err, s.review, "/payments/reviews", "The payment was applied as a part; the invoice is still open.")
	case review.Resolution == payment.Applied:
		return req.Sent(err, s.review, "/payments/reviews", "The payment was applied, and the invoice is paid.")
	case review.Resolution == payment.Credited:
		return req.Sent(err, s.review, "/payments/reviews", "The payment is the customer's credit.")
	}
	return req.Sent(err, s.review, "/payments/reviews", "The payment was dismissed.")
}

// maxOrphans is how many payments without a page a step in the list passes over.
const maxOrphans = 20

// amongPayments adds the neighbours in the list of payments to the place of an
// invoice. A payment has no page of its own: its record is the invoice, so that
// two parts of one invoice are two neighbours with the same page.
func (s *Server) amongPayments(req *kit.Request, found kit.Place) kit.Place {
	list, err := url.Parse(found.Back)
	if err != nil || list.Path != "/payments" || !kit.Allows(req.User.Role, viewer) || !req.Actor.May(payments) {
		return found // an invalid address has no neighbours
	}
	query := list.Query()
	in := input.FromQuery(query)
	filter := readPayments(in)
	if in.Err() != nil {
		return found // the same
	}
	found.Besides(req, func(at, step int64) string {
		for passed := 0; at > 0 && passed < maxOrphans; passed, at = passed+1, at+step {
			page := input.Page{Number: at, Size: 1, Sort: paymentSort(query)}
			paid, _ := kit.ReadPage(req, s.Billing.Payments, filter, page)
			if len(paid) == 0 {
				return ""
			}
			if paid[0].InvoiceStatus == "" { // deleted with its customer
				continue
			}
			place := url.Values{"from": {found.Back}, "at": {strconv.FormatInt(at, 10)}}
			return invoicePath(paid[0].InvoiceID) + "?" + place.Encode()
		}
		return ""
	})
	return found
}
