package panel

import (
	"net/url"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// listColumn is a column of a list that a user may do without.
type listColumn struct {
	Name  string
	label string
	usual bool // shown to who has not chosen
}

// The columns next to the one that names the record.
var (
	columnsOfCustomers = []listColumn{
		{"whatsapp", "WhatsApp", true},
		{"email", "E-mail", false},
		{"cpf_cnpj", "CPF or CNPJ", false},
		{"external_id", "Your own code", false},
		{"plan", "Plan", true},
		{"product", "Product", false},
		{"amount", "Amount", true},
		{input.ByDueDate, "Due date", true},
		{"status", "Status", true},
		{"created_at", "Created on", false},
		{input.ByUpdated, "Last change", false},
	}
	columnsOfInvoices = []listColumn{
		{"number", "Number", false},
		{"description", "Description", true},
		{"plan", "Plan", false},
		{input.ByDueDate, "Due date", true},
		{"paid_on", "Paid on", true},
		{"status", "Status", true},
		{"amount", "Amount", true},
		{"created_at", "Created on", false},
		{input.ByUpdated, "Last change", false},
	}
)

// columnsOf are the columns of each list.
var columnsOf = map[account.List][]listColumn{
	account.CustomerList: columnsOfCustomers,
	account.InvoiceList:  columnsOfInvoices,
	account.PaymentList: {
		{input.ByPaidDay, "Received on", true},
		{"through", "Through", true},
		{"payment_id", "Payment id", true},
		{"status", "Status", true},
		{"amount", "Amount", true},
	},
	account.MessageList: {
		{input.ByDueDate, "Due date", true},
		{"rule", "Rule", true},
		{"status", "Status", true},
		{"when", "When", true},
		{"channel", "Channel", true},
	},
	account.ResellerList: {
		{"status", "Status", true},
		{"plan", "Plan", true},
		{input.ByExpiry, "Ends on", true},
		{"level", "Level", true},
		{"customers", "Customers", true},
		{"credits", "Credits", true},
	},
	account.CreditList: {
		{"what", "What", true},
		{"who", "Who did it", true},
		{"amount", "Credits", true},
		{"balance", "Balance after", true},
	},
	account.AuditList: {
		{"who", "Who", true}, {"what", "What", true}, {"from", "From", true},
	},
	account.DeliveryList: {
		{"when", "When", true},
		{"status", "Status", true},
		{"attempts", "Attempts", true},
		{"answer", "Answer", true},
		{"took", "Took", true},
	},
}

// arrangement is how the user has a list: saved views and chosen columns.
type arrangement struct {
	List    account.List
	Views   []viewLink
	Query   string // what a view of the list as it is would be
	Back    string
	Form    *page.Form
	Columns []columnBox
	Usual   bool // the user has chosen no columns
	shown   map[string]bool
}

type viewLink struct {
	chip
	ID int64
}

type columnBox struct {
	Name, Label string
	Shown       bool
}

// Shows reports whether a column is shown.
func (a arrangement) Shows(name string) bool { return a.shown[name] }

// arranged reads how the user has a list.
func (s *Server) arranged(req *request, list account.List) arrangement {
	found := arrangement{
		List: list, Query: viewQuery(req.URL.Query()), Back: req.URL.RequestURI(), Form: page.NewForm(), shown: map[string]bool{},
	}
	saved, chosen, err := s.Accounts.Arranged(req.Context(), req.Actor, list)
	req.note(err)
	found.Usual = len(chosen) == 0
	for _, view := range saved {
		found.Views = append(found.Views, viewLink{
			chip{Label: view.Name, URL: viewPath(view, req.URL.Path), Current: view.Query == found.Query}, view.ID,
		})
	}
	for _, column := range columnsOf[list] {
		shown := column.usual
		if len(chosen) > 0 {
			shown = slices.Contains(chosen, column.Name)
		}
		found.shown[column.Name] = shown
		found.Columns = append(found.Columns, columnBox{column.Name, req.lang.T(column.label), shown})
	}
	return found
}

// viewQuery is what a view keeps of a list's address: everything but the page,
// in one order.
func viewQuery(values url.Values) string {
	kept := url.Values{}
	for name := range values {
		if value := values.Get(name); value != "" && name != "page" {
			kept.Set(name, value)
		}
	}
	return kept.Encode()
}

// viewPath is where a view leads. One of deliveries leads to those of the webhook
// on the user's page; at is the path of the page.
func viewPath(view account.View, at string) string {
	path := "/" + string(view.List)
	if view.List == account.DeliveryList && strings.HasPrefix(at, path+"/") {
		path = at
	}
	if view.Query == "" {
		return path
	}
	return path + "?" + view.Query
}

func (s *Server) saveView(req *request) error {
	draft := account.ReadView(req.form())
	values, err := url.ParseQuery(draft.Query)
	if err != nil {
		return fault.New(fault.KindInvalid, "the form could not be read")
	}
	draft.Query = viewQuery(values)
	view, err := s.Accounts.SaveView(req.Context(), req.Actor, draft)
	if err != nil {
		return req.complain(req.back("/"), err)
	}
	at, _, _ := strings.Cut(req.back("/"), "?")
	return req.done(viewPath(view, at), "The view %s was saved.", view.Name)
}

func (s *Server) deleteView(req *request) error {
	view, err := s.Accounts.DeleteView(req.Context(), req.Actor, req.id)
	return req.did(err, req.back("/"+string(view.List)), "The view %s was deleted.", view.Name)
}

func (s *Server) chooseColumns(req *request) error {
	choice := account.ReadColumns(req.formWith([]string{"columns"}))
	choice.Names = slices.DeleteFunc(choice.Names, func(name string) bool {
		return !slices.ContainsFunc(columnsOf[choice.List], func(known listColumn) bool { return known.Name == name })
	})
	err := s.Accounts.ChooseColumns(req.Context(), req.Actor, choice)
	return req.did(err, req.back("/"+string(choice.List)), "The columns were saved.")
}
