package kit

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// ListColumn is a column of a list that a user may do without.
type ListColumn struct {
	Name  string
	label string
	usual bool // shown to who has not chosen
}

// The columns next to the one that names the record.
var (
	ColumnsOfCustomers = []ListColumn{
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
	ColumnsOfInvoices = []ListColumn{
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

// ColumnsOf are the columns of each list.
var ColumnsOf = map[account.List][]ListColumn{
	account.CustomerList: ColumnsOfCustomers,
	account.InvoiceList:  ColumnsOfInvoices,
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
	Chip
	ID int64
}

type columnBox struct {
	Name, Label string
	Shown       bool
}

// Shows reports whether a column is shown.
func (a arrangement) Shows(name string) bool { return a.shown[name] }

// arranged reads how the user has a list.
func (s *Panel) arranged(req *Request, list account.List) arrangement {
	found := arrangement{
		List: list, Query: viewQuery(req.URL.Query()), Back: req.URL.RequestURI(), Form: page.NewForm(), shown: map[string]bool{},
	}
	saved, chosen, err := s.Accounts.Arranged(req.Context(), req.Actor, list)
	req.Note(err)
	found.Usual = len(chosen) == 0
	for _, view := range saved {
		found.Views = append(found.Views, viewLink{
			Chip{Label: view.Name, URL: viewPath(view, req.URL.Path), Current: view.Query == found.Query}, view.ID,
		})
	}
	for _, column := range ColumnsOf[list] {
		shown := column.usual
		if len(chosen) > 0 {
			shown = slices.Contains(chosen, column.Name)
		}
		found.shown[column.Name] = shown
		found.Columns = append(found.Columns, columnBox{column.Name, req.Lang.T(column.label), shown})
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

// SaveView keeps the filter of a list under a name.
func (s *Panel) SaveView(req *Request) error {
	draft := account.ReadView(req.Input())
	values, err := url.ParseQuery(draft.Query)
	if err != nil {
		return fault.New(fault.KindInvalid, "the form could not be read")
	}
	draft.Query = viewQuery(values)
	view, err := s.Accounts.SaveView(req.Context(), req.Actor, draft)
	if err != nil {
		return req.Complain(req.Back("/"), err)
	}
	at, _, _ := strings.Cut(req.Back("/"), "?")
	return req.Done(viewPath(view, at), "The view %s was saved.", view.Name)
}

// DeleteView forgets a view.
func (s *Panel) DeleteView(req *Request) error {
	view, err := s.Accounts.DeleteView(req.Context(), req.Actor, req.ID)
	return req.Did(err, req.Back("/"+string(view.List)), "The view %s was deleted.", view.Name)
}

// ChooseColumns keeps which columns the user wants of a list.
func (s *Panel) ChooseColumns(req *Request) error {
	choice := account.ReadColumns(req.InputWith([]string{"columns"}))
	choice.Names = slices.DeleteFunc(choice.Names, func(name string) bool {
		return !slices.ContainsFunc(ColumnsOf[choice.List], func(known ListColumn) bool { return known.Name == name })
	})
	err := s.Accounts.ChooseColumns(req.Context(), req.Actor, choice)
	return req.Did(err, req.Back("/"+string(choice.List)), "The columns were saved.")
}

// tags are the words in which lists and pages show the state of a record, and what
// else their rows need, as functions of the templates.
func tags(lang page.Lang) template.FuncMap {
	return template.FuncMap{
		"customertag": func(status customer.Status) template.HTML {
			return tag(customerTones[status], Word(lang, string(status)))
		},
		"invoicetag":  func(status billing.Status, overdue bool) template.HTML { return invoiceTag(lang, status, overdue) },
		"deliverytag": func(status webhook.Status) template.HTML { return tag(deliveryTones[status], lang.T(string(status))) },
		"taxid":       taxid.Format,
		"paymentid":   ShownPaymentID,
	}
}

// tag is a word in a colour; "" has none.
func tag(tone, word string) template.HTML {
	if tone != "" {
		tone = ` data-tone="` + tone + `"`
	}
	return template.HTML(`<span class="tag"` + tone + `>` + template.HTMLEscapeString(word) + `</span>`) //nolint:gosec // escaped
}

// customerTones are the colours of the statuses of customers.
var customerTones = map[customer.Status]string{customer.Active: "good", customer.DueToday: "warn", customer.Expired: "bad"}

func invoiceTag(lang page.Lang, status billing.Status, overdue bool) template.HTML {
	switch {
	case overdue:
		return tag("bad", lang.T("Overdue"))
	case status == billing.Paid:
		return tag("good", lang.T("Paid // invoice"))
	case status == billing.Cancelled:
		return tag("", lang.T("Void"))
	}
	return tag("note", lang.T("Open"))
}

// deliveryTones are the colours of the statuses of deliveries.
var deliveryTones = map[webhook.Status]string{
	webhook.Delivered: "good", webhook.Pending: "note", webhook.Parked: "warn", webhook.Refused: "bad", webhook.Failed: "bad",
}

// Chip is a filter that one click sets: a link, so that it works everywhere.
type Chip struct {
	Label, URL string
	Current    bool
}

// ChipLine is chips that exclude one another.
type ChipLine struct {
	Label string // for who does not see it
	Chips []Chip
}

// Filtered is the list's address with other filters; empty ones go, and the list
// begins at its first page.
func Filtered(req *Request, pairs ...string) string {
	values := req.URL.Query()
	values.Del("page")
	for pair := range slices.Chunk(pairs, 2) {
		values.Del(pair[0])
		if value := pair[len(pair)-1]; value != "" {
			values.Set(pair[0], value)
		}
	}
	if len(values) == 0 {
		return req.URL.Path
	}
	return req.URL.Path + "?" + values.Encode()
}

// preset is a span of days that has a name.
type preset struct {
	label    string
	from, to civil.Date
}

// presets are the spans that people ask for. Of what lies ahead the next days
// count, of what was paid the last ones.
func presets(today civil.Date, ahead bool) []preset {
	first := today.AddDays(1 - today.Day())
	before, next := first.AddDays(-1), first.AddDays(31)
	week := preset{"Last 7 days", today.AddDays(-6), today}
	if ahead {
		week = preset{"Next 7 days", today, today.AddDays(6)}
	}
	return []preset{
		{"Today", today, today},
		week,
		{"This month", first, next.AddDays(-next.Day())},
		{"Last month", before.AddDays(1 - before.Day()), before},
	}
}

// DateChips are presets for the fields from and to of a filter.
func DateChips(req *Request, from, to string, ahead bool) ChipLine {
	query := req.URL.Query()
	line := ChipLine{Label: req.Lang.T("Period"), Chips: []Chip{{
		Label:   req.Lang.T("Any date"),
		URL:     Filtered(req, from, "", to, ""),
		Current: query.Get(from) == "" && query.Get(to) == "",
	}}}
	for _, span := range presets(req.Today, ahead) {
		line.Chips = append(line.Chips, Chip{
			Label:   req.Lang.T(span.label),
			URL:     Filtered(req, from, span.from.String(), to, span.to.String()),
			Current: query.Get(from) == span.from.String() && query.Get(to) == span.to.String(),
		})
	}
	return line
}

// hiddenFilters are the filters of the address that a form hands on, without
// those that it shows.
func hiddenFilters(req *Request, shown ...string) map[string]string {
	values := req.URL.Query()
	for _, name := range append(shown, "page") {
		values.Del(name)
	}
	kept := map[string]string{}
	for name := range values {
		kept[name] = values.Get(name)
	}
	return kept
}

// Badge is a number next to an entry of the menu: what waits for a person
// there.
type Badge struct {
	Count int64
	Words string // what it counts, for who does not see where it is
}

// mostOfABadge is from where on a badge does not say how many more.
const mostOfABadge = 999

// Text is the number as it is shown.
func (b Badge) Text() string {
	if b.Count > mostOfABadge {
		return page.FormatInt(mostOfABadge) + "+"
	}
	return page.FormatInt(b.Count)
}

// badges are the numbers of the menu, by path. Counters know them, so that every
// page can have them.
func (s *Panel) badges(req *Request) map[string]Badge {
	overdue := ReadOf(req, s.Billing.Count, billing.Filter{Overdue: "true"})
	shown := map[string]Badge{"/invoices": {overdue, req.Lang.T("overdue")}}
	if Allows(req.User.Role, Viewer) && req.Actor.May(Payments) {
		shown["/payments"] = Badge{ReadOf(req, s.Payments.CountReviews, payment.ReviewFilter{Open: true}), req.Lang.T("for review")}
	}
	return shown
}

// ShownPaymentID is what the bank or the gateway calls a payment; "" of one that a
// person registered without it.
func ShownPaymentID(id string) string {
	if strings.HasPrefix(id, "hand:") || strings.HasPrefix(id, "credit:") {
		return ""
	}
	id, _, _ = strings.Cut(id, "#undone-")
	return id
}
