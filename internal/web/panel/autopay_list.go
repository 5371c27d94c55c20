package panel

import (
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/web/page"
)

// autopayRow is a customer in the list of PIX Automático.
type autopayRow struct {
	autopay
	CustomerID   int64
	CustomerName string // empty: the customer is deleted
}

type autopaysData struct {
	list
	Tabs     *paymentTabs // nil: who reads does not see payments
	List     []autopayRow
	Filtered bool
}

// autopays lists who was asked for PIX Automático, who has authorised and since
// when, what is debited next, and what failed.
func (s *Server) autopays(req *request) error {
	in := req.query()
	paging, filter := in.Page(), payment.ReadAutopayFilter(in)
	data := autopaysData{list: newList(req, "", autopayChips(req))}
	if err := in.Err(); err != nil {
		data.Form.Fail(err)
		filter = payment.AutopayFilter{}
	}
	known, total, err := s.Payments.Autopays(req.Context(), req.Actor, filter, paging)
	if err != nil {
		return err
	}
	for _, one := range known {
		data.List = append(data.List, autopayRow{autopay{Autopay: one.Autopay}, one.CustomerID, one.CustomerName})
	}
	data.Pager, data.Filtered = page.NewPager(req.URL, paging, total), filter != (payment.AutopayFilter{})
	data.Total = counted(req.lang, total, "1 customer", "%s customers")
	if allows(req.User.Role, viewer) {
		tabs, err := s.paymentTabs(req, "autopay")
		if err != nil {
			return err
		}
		data.Tabs = &tabs
	}
	return s.show(req, page.View{Name: "autopays", Title: "PIX Automático", Data: data})
}

func autopayChips(req *request) []chipLine {
	return []chipLine{choiceChips(req, "Status", "state", []page.Option{
		{Value: "", Label: req.lang.T("Everybody")},
		{Value: string(customer.AutopayActive), Label: req.lang.T("Authorised")},
		{Value: string(customer.AutopayAsked), Label: req.lang.T("Waiting for the customer")},
		{Value: "failed", Label: req.lang.T("A debit has failed")},
		{Value: string(customer.AutopayEnded), Label: req.lang.T("Ended")},
	})}
}
