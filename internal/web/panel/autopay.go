package panel

import (
	"time"

	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/web/page"
)

// autopay is what a customer's record shows of PIX Automático.
type autopay struct {
	payment.Autopay
	Askable   bool // the customer's plan has a period that PIX Automático has
	Simulated bool // no bank is asked: there are buttons that pretend
}

func (s *Server) autopay(req *request, record customer.Customer) (*autopay, error) {
	if !allows(req.User.Role, desk) || !req.Actor.May(payments) {
		return nil, nil //nolint:nilnil // the page has no such part then
	}
	known, err := s.Payments.Autopay(req.Context(), req.Actor, record.ID)
	if err != nil {
		return nil, err
	}
	shown := &autopay{Autopay: known, Askable: payment.Debitable(record)}
	shown.Simulated = shown.Live() && s.Payments.SimulatesPayers(known.Newest.Provider)
	return shown, nil
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

// Waiting is the journey whose answer is waited for; empty: none is.
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
		payment.ByExpiry:  "for want of an answer",
	}[a.Newest.EndedBy]
}

// payerDeed is a button of a simulated customer.
type payerDeed struct{ Name, Label string }

// Deeds are what a simulated customer can do now.
func (a *autopay) Deeds() []payerDeed {
	if a.Waiting() == payment.JourneyPayCode { // who pays the code authorises
		return []payerDeed{{"refuse", "Refuse"}}
	}
	if a.State == customer.AutopayAsked {
		return []payerDeed{{"authorise", "Authorise"}, {"refuse", "Refuse"}}
	}
	return []payerDeed{{"end", "End"}, {"fail", "Leave the account empty once"}}
}

func (s *Server) askAutopay(req *request) error {
	draft := payment.AutopayRequestDraft{Journey: payment.JourneyCode}
	if _, err := s.Payments.AskAutopay(req.Context(), req.Actor, req.id, draft); err != nil {
		return req.complain(customerPath(req.id)+"#autopay", err)
	}
	return req.done(customerPath(req.id)+"#autopay", "The customer was asked.")
}

func (s *Server) askEndAutopay(req *request) error {
	record, err := s.Customers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "End PIX Automático of %s?",
		Args:     []any{record.Name},
		Danger:   true,
		Button:   "End PIX Automático",
		Back:     customerPath(record.ID),
		Action:   customerPath(record.ID) + "/autopay/end",
		Effects: []string{
			"Debits that are announced are cancelled, as far as the bank can still stop them.",
			"The customer pays by code from then on, and can be asked again.",
		},
	})
}

func (s *Server) endAutopay(req *request) error {
	if _, err := s.Payments.EndAutopay(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done(customerPath(req.id)+"#autopay", "PIX Automático was ended.")
}

// simulateAutopay is a button of a simulated customer.
func (s *Server) simulateAutopay(req *request) error {
	form := req.form()
	deed := form.Choice("what", "authorise", "refuse", "end", "fail")
	if err := form.Err(); err != nil {
		return err
	}
	if _, err := s.Payments.SimulateAutopay(req.Context(), req.Actor, req.id, deed.Value); err != nil {
		return err
	}
	return req.done(customerPath(req.id)+"#autopay", "The customer has answered.")
}
