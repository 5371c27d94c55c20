package panel

import (
	"cmp"
	"time"

	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// autopay is what a customer's record shows of PIX Automático.
type autopay struct {
	payment.Autopay
	Askable   bool // the customer's plan has a period that PIX Automático has
	Simulated bool // no bank is asked: there are buttons that pretend
}

func (s *Server) autopay(req *kit.Request, record customer.Customer) *autopay {
	if !kit.Allows(req.User.Role, desk) || !req.Actor.May(payments) {
		return nil // the page has no such part then
	}
	shown := &autopay{Autopay: kit.ReadOf(req, s.Payments.Autopay, record.ID), Askable: payment.Debitable(record)}
	shown.Simulated = shown.Live() && s.Payments.SimulatesPayers(shown.Newest.Provider)
	return shown
}

// Live reports whether there is something to end.
func (a *autopay) Live() bool {
	return a.State == customer.AutopayAsked || a.State == customer.AutopayActive
}

// Label names the state.
func (a *autopay) Label() string {
	return map[customer.Autopay]string{
		customer.AutopayNone:   "Not asked",
		customer.AutopayAsked:  "Waiting for the customer",
		customer.AutopayActive: "Authorised",
		customer.AutopayEnded:  "Ended",
	}[a.State]
}

// Tone is the colour of the state.
func (a *autopay) Tone() string {
	return map[customer.Autopay]string{
		customer.AutopayAsked:  "warn",
		customer.AutopayActive: "good",
	}[a.State]
}

// Waiting is the journey that waits for an answer; empty: none does.
func (a *autopay) Waiting() payment.Journey {
	if a.State != customer.AutopayAsked || a.Newest == nil {
		return ""
	}
	return a.Newest.Journey
}

// OnPaying reports whether a customer can be asked on the payment page alone.
func (a *autopay) OnPaying() bool {
	return a.Asks(payment.JourneyPayCode) && !a.Asks(payment.JourneyCode) && !a.Asks(payment.JourneyRequest)
}

// Since is when the present state began.
func (a *autopay) Since() time.Time {
	switch a.State {
	case customer.AutopayActive:
		return a.Newest.ActiveAt
	case customer.AutopayEnded:
		return a.Newest.EndedAt
	case customer.AutopayAsked, customer.AutopayNone:
	}
	return a.Newest.AskedAt
}

// By says who ended it; empty: it has not ended.
func (a *autopay) By() string {
	return map[payment.EndedBy]string{
		payment.ByPayer:   "by the customer",
		payment.ByCompany: "by the company",
		payment.ByBank:    "by the bank",
		payment.ByExpiry:  "no answer came",
	}[a.Newest.EndedBy]
}

// payerDeed is a button of a simulated customer.
type payerDeed struct{ Name, Label string }

// Deeds are the possible actions of a simulated customer.
func (a *autopay) Deeds() []payerDeed {
	if a.Waiting() == payment.JourneyPayCode { // who pays the code authorises
		return []payerDeed{{"refuse", "Refuse"}}
	}
	if a.State == customer.AutopayAsked {
		return []payerDeed{{"authorise", "Authorise"}, {"refuse", "Refuse"}}
	}
	return []payerDeed{{"end", "End"}, {"fail", "Leave the account empty once"}}
}

func (s *Server) askAutopay(req *kit.Request) error {
	draft := payment.AutopayRequestDraft{Journey: payment.JourneyCode}
	_, err := s.Payments.AskAutopay(req.Context(), req.Actor, req.ID, draft)
	return req.Did(err, customerPath(req.ID)+"#autopay", "The request was sent.")
}

// simulateAutopay is a button of a simulated customer.
func (s *Server) simulateAutopay(req *kit.Request) error {
	form := req.Input()
	deed := form.Choice("what", "authorise", "refuse", "end", "fail")
	if err := form.Err(); err != nil {
		return err
	}
	_, err := s.Payments.SimulateAutopay(req.Context(), req.Actor, req.ID, deed.Value)
	return req.Did(err, customerPath(req.ID)+"#autopay", "The customer has answered.")
}

// autopayRow is a customer in the list of PIX Automático.
type autopayRow struct {
	autopay
	CustomerID   int64
	CustomerName string // empty: the customer is deleted
}

type autopaysData struct {
	kit.Listing
	Tabs *paymentTabs // nil: who reads does not see payments
	List []autopayRow
}

// autopays lists who was asked for PIX Automático, who has authorised and since
// when, what is debited next, and what failed.
func (s *Server) autopays(req *kit.Request) error {
	data := autopaysData{Listing: kit.NewList(req, "", autopayChips(req))}
	known, _ := kit.Fill(req, &data.Listing, kit.ListOf("", payment.ReadAutopayFilter, kit.SortsBy(), s.Payments.Autopays))
	for _, one := range known {
		data.List = append(data.List, autopayRow{autopay{Autopay: one.Autopay}, one.CustomerID, one.CustomerName})
	}
	data.Total = kit.Counted(req.Lang, data.Pager.Total, "1 customer", "%s customers")
	if kit.Allows(req.User.Role, viewer) {
		tabs := s.paymentTabs(req, "autopay")
		data.Tabs = &tabs
	}
	return req.Show("autopays", "PIX Automático", data)
}

func autopayChips(req *kit.Request) []kit.ChipLine {
	return []kit.ChipLine{kit.ChoiceChips(req, "Status", "state", req.Options("", "Everybody", string(customer.AutopayActive), "Authorised",
		string(customer.AutopayAsked), "Waiting for the customer", "failed", "A debit has failed", string(customer.AutopayEnded), "Ended"))}
}

// autopayRequest is the form by which a customer's bank is asked to ask them.
type autopayRequest struct {
	Form     *page.Form
	Customer customer.Customer
	Banks    []page.Option
}

// requestAutopayForm asks for the account that the request goes to.
func (s *Server) requestAutopayForm(req *kit.Request, form *page.Form, refusal error) error {
	record := kit.ReadOf(req, s.Customers.Find, req.ID)
	data := autopayRequest{Form: cmp.Or(form, page.NewForm()), Customer: record, Banks: payerBanks(req)}
	return req.ShowForm("autopay_request", "Ask through the customer's bank", refusal, data)
}

// otherBank is the choice of a bank that is not in the list: the page then shows
// the field for its ISPB.
const otherBank = "other"

// payerBanks are the banks that people choose from.
func payerBanks(req *kit.Request) []page.Option {
	return append(kit.OptionsOf(payment.PayerBanks, func(bank payment.PayerBank) page.Option {
		return page.Option{Value: bank.ISPB, Label: bank.Name}
	}, req.Option("", "Choose the bank")), req.Option(otherBank, "Another bank, by its ISPB"))
}

// requestAutopay has the customer's bank ask them. A bank from the list counts for
// more than what is left in the field for another one, which the page then hides.
func (s *Server) requestAutopay(req *kit.Request) error {
	in := req.Input()
	bank, _ := in.Line("bank", 8).Get()
	draft := payment.ReadAutopayRequest(in)
	draft.Journey = payment.JourneyRequest
	if bank != "" && bank != otherBank {
		draft.Account.ISPB = bank
	}
	_, err := s.Payments.AskAutopay(req.Context(), req.Actor, req.ID, draft)
	if kit.Refused(err) || fault.KindOf(err) == fault.KindUpstream {
		form := page.Sent(req.Request, err)
		if bank == "" {
			form.Set("bank", otherBank) // its field says what is missing
		}
		return s.requestAutopayForm(req, form, err)
	}
	if err != nil {
		return err
	}
	return req.Done(customerPath(req.ID)+"#autopay", "The customer's bank was asked.")
}
