package panel

import (
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// autopayRequest is the form by which a customer's bank is asked to ask them.
type autopayRequest struct {
	Form     *page.Form
	Customer customer.Customer
	Banks    []page.Option
}

// requestAutopayPage asks for the account that the request goes to.
func (s *Server) requestAutopayPage(req *request) error {
	return s.requestAutopayForm(req, page.NewForm(), nil)
}

func (s *Server) requestAutopayForm(req *request, form *page.Form, err error) error {
	record, failed := s.Customers.Find(req.Context(), req.Actor, req.id)
	if failed != nil {
		return failed
	}
	return s.show(req, page.View{
		Name:   "autopay_request",
		Title:  "Ask through the customer's bank",
		Status: statusOf(err),
		Data:   autopayRequest{Form: form, Customer: record, Banks: payerBanks(req.lang)},
	})
}

// otherBank is the choice of a bank that is not in the list: the page then shows
// the field for its ISPB.
const otherBank = "other"

// payerBanks are the banks that people choose from.
func payerBanks(lang page.Lang) []page.Option {
	options := []page.Option{{Value: "", Label: lang.T("Choose the bank")}}
	for _, bank := range payment.PayerBanks {
		options = append(options, page.Option{Value: bank.ISPB, Label: bank.Name})
	}
	return append(options, page.Option{Value: otherBank, Label: lang.T("Another bank, by its ISPB")})
}

// requestAutopay has the customer's bank ask them. A bank from the list counts for
// more than what is left in the field for another one, which the page then hides.
func (s *Server) requestAutopay(req *request) error {
	in := req.form()
	bank, _ := in.Line("bank", 8).Get()
	draft := payment.ReadAutopayRequest(in)
	draft.Journey = payment.JourneyRequest
	if bank != "" && bank != otherBank {
		draft.Account.ISPB = bank
	}
	_, err := s.Payments.AskAutopay(req.Context(), req.Actor, req.id, draft)
	if refused(err) || fault.KindOf(err) == fault.KindUpstream {
		form := page.Sent(req.Request, err)
		if bank == "" {
			form.Set("bank", otherBank) // whose field says what is missing
		}
		return s.requestAutopayForm(req, form, err)
	}
	if err != nil {
		return err
	}
	return req.done(customerPath(req.id)+"#autopay", "The customer's bank was asked.")
}
