package panel

import (
	"errors"
	"net/url"
	"slices"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

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
func (s *Server) queue(req *request) error {
	chosen, path := queuePicks(req.URL.Query())
	list, err := s.debtors(req, path, chosen)
	if errors.Is(err, errTooMany) {
		return req.complain(path, err)
	}
	if err != nil && !refused(err) {
		return err
	}
	if len(list) == 0 || !req.mayCharge() {
		return s.show(req, page.View{Name: "queue", Title: "Charge from my WhatsApp", Data: queueData{Path: path}})
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
		return s.show(req, page.View{Name: "queue", Title: "Charge from my WhatsApp", Data: data})
	}
	next := turnOf(left, slices.Index(workers, req.Actor.UserID), len(workers))
	data.Skip = data.Again + "&skip=" + idText(next.ID)
	data.Paid = invoicePath(next.ID) + "/pay?back=" + urlQuery(data.Again)
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
func (s *Server) showQueue(req *request, data queueData, invoice billing.Invoice) error {
	s.makeCode(req, invoice)
	record := readOf(req, s.Customers.Find, invoice.Customer.ID)
	charging := s.charging(req, invoice, record)
	if charging == nil { // paid at this moment
		return req.goOn(data.Skip)
	}
	data.charging = *charging
	if code := data.Link.Current; code != nil && code.PixCode != "" && record.Whatsapp != "" && s.Reach == config.Reachable {
		data.WhatsApp = chatWith(record.Whatsapp, data.Message+"\n\n"+page.Portuguese.T("Or copy this PIX code:")+"\n\n"+code.PixCode)
	}
	return s.show(req, page.View{Name: "queue", Title: "Charge from my WhatsApp", Data: data})
}

// queueNext marks the one that was shown as charged today, and goes on.
func (s *Server) queueNext(req *request) error {
	id, err := strconv.ParseInt(req.PostFormValue("invoice"), 10, 64)
	if err != nil {
		return fault.NotFound("invoice")
	}
	if err := s.Billing.NoteCharged(req.Context(), req.Actor, id); err != nil {
		return err
	}
	return req.goOn(req.back("/queue"))
}

// queuePicks reads the list of a queue from its address: all that is overdue where
// it names none.
func queuePicks(query url.Values) (chosen picks, path string) {
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
func queuePath(path string, chosen picks) string {
	query := url.Values{}
	if path == "/customers" {
		query.Set("of", "customers")
	}
	if chosen.All {
		query.Set("filter", chosen.Query)
	}
	for _, id := range chosen.IDs {
		query.Add("id", idText(id))
	}
	return "/queue?" + query.Encode()
}

// debtors are the open invoices of what was picked; of customers, what each owes first.
func (s *Server) debtors(req *request, path string, chosen picks) ([]billing.Invoice, error) {
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
func (s *Server) chargedToday(req *request) (charged map[int64]bool, workers []int64) {
	charged, workers = map[int64]bool{}, []int64{req.Actor.UserID}
	filter := account.AuditFilter{Batch: billing.ChargedOn(req.today)}
	req.note(s.Accounts.WalkAudit(req.Context(), req.Actor, filter, func(line account.AuditLine) error {
		charged[line.RecID] = true
		workers = append(workers, line.UserID)
		return nil
	}))
	slices.Sort(workers)
	return charged, slices.Compact(workers)
}
