package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

type auditData struct {
	kit.Listing
	List    []kit.DeedRow
	Kinds   []page.Option // what records the lines are about
	People  []page.Option // who did it
	Tokens  []page.Option // with which; only the first, of any, where the company has none
	Bounded bool          // there are more than the list leads to
}

// auditKinds are the records that lines of the audit log are about, with the
// words for all of a kind.
var auditKinds = []page.Option{
	{Value: "customer", Label: "Customers"},
	{Value: "invoice", Label: "Invoices"},
	{Value: "plan", Label: "Plans"},
	{Value: "product", Label: "Products"},
	{Value: "gateway", Label: "Payment gateways"},
	{Value: "rule", Label: "Message rules"},
	{Value: "template", Label: "Templates"},
	{Value: "channel", Label: "Channels"},
	{Value: "message", Label: "Messages"},
	{Value: "round", Label: "Reminders to many"},
	{Value: "user", Label: "Users and sign-ins"},
	{Value: "company", Label: "Settings"},
	{Value: "token", Label: "Tokens"},
	{Value: "webhook", Label: "Webhooks"},
	{Value: "delivery", Label: "Deliveries"},
	{Value: "reseller", Label: "Resellers and credits"},
	{Value: "subscription_plan", Label: "Subscription plans"},
	{Value: "sandbox", Label: "Clock of the sandbox"},
}

// auditKindOptions are the kinds in the reader's language, by their words.
func auditKindOptions(lang page.Lang) []page.Option {
	options := kit.OptionsOf(auditKinds, func(kind page.Option) page.Option {
		return page.Option{Value: kind.Value, Label: lang.T(kind.Label)}
	})
	slices.SortFunc(options, func(a, b page.Option) int { return strings.Compare(text.Fold(a.Label), text.Fold(b.Label)) })
	return slices.Insert(options, 0, page.Option{Label: lang.T("All kinds")})
}

func auditKindNames() []string {
	names := make([]string, len(auditKinds))
	for n, kind := range auditKinds {
		names[n] = kind.Value
	}
	return names
}

// withChosen adds the user or the token that is chosen though it is gone: its lines
// stay, under the name that they have.
func withChosen(options []page.Option, chosen int64, lines []account.AuditLine) []page.Option {
	here := slices.ContainsFunc(options, func(option page.Option) bool { return option.Value == kit.IDText(chosen) })
	if !here && len(lines) > 0 {
		options = append(options, page.Option{Value: kit.IDText(chosen), Label: lines[0].Who})
	}
	return options
}

// linkRecords has the names of customers, invoices and users lead to those that
// are still there.
func (s *Server) linkRecords(req *kit.Request, rows []kit.DeedRow, users []account.Person) {
	ids := map[string][]int64{}
	for _, row := range rows {
		ids[row.Record] = append(ids[row.Record], row.RecID)
	}
	customers := kit.ReadOf(req, s.Customers.Names, ids["customer"])
	invoices := kit.ReadOf(req, s.Billing.Existing, ids["invoice"])
	for n, row := range rows {
		_, known := customers[row.RecID]
		switch {
		case row.Record == "customer" && known:
			rows[n].Link = customerPath(row.RecID)
		case row.Record == "invoice" && invoices[row.RecID]:
			rows[n].Link = invoicePath(row.RecID)
		case row.Record == "user" && slices.ContainsFunc(users, func(user account.Person) bool { return user.ID == row.RecID }):
			rows[n].Link = "/settings/users/" + kit.IDText(row.RecID)
		}
	}
}

// auditFilter reads who, the kind and the days of a query, which are the company's.
func auditFilter(req *kit.Request, in *input.Form) (filter account.AuditFilter) {
	filter.Record = in.Choice("kind", auditKindNames()...).Value
	filter.UserID, filter.TokenID = in.ID("who").Value, in.ID("token").Value
	zone := req.Actor.Company.Zone
	if from := in.Date("from").Value; !from.IsZero() {
		filter.Since = from.Start(zone)
	}
	if to := in.Date("to").Value; !to.IsZero() {
		filter.Until = to.AddDays(1).Start(zone)
	}
	return filter
}

func (s *Server) audit(req *kit.Request) error {
	chips := []kit.ChipLine{kit.DateChips(req, "from", "to", false)}
	data := auditData{
		Listing: kit.NewList(req, "/settings/audit/export", chips, "who", "token", "kind", "from", "to"),
		Kinds:   auditKindOptions(req.Lang),
	}
	data.Heads = kit.TimeHeads(req)
	filterOf := func(in *input.Form) account.AuditFilter { return auditFilter(req, in) }
	from := kit.ListOf(account.AuditList, filterOf, kit.ByTime, s.Accounts.Audit)
	lines, filter := kit.Fill(req, &data.Listing, from)
	users, tokens := kit.Read(req, s.Accounts.Users), kit.Read(req, s.Accounts.Tokens)
	data.List = kit.DeedRows(req, lines)
	data.People = kit.NamedOptions(users, func(user account.Person) (int64, string) { return user.ID, user.Name }, req.Option("", "Everyone"))
	data.Tokens = kit.NamedOptions(tokens, tokenName, req.Option("", "Any"))
	data.People, data.Tokens = withChosen(data.People, filter.UserID, lines), withChosen(data.Tokens, filter.TokenID, lines)
	s.linkRecords(req, data.List, users)
	s.offerUndo(req, data.List)
	data.Bounded = data.Pager.Total == account.Countable
	data.Total = kit.CountedTo(req.Lang, data.Pager.Total, account.Countable, "1 line", "%s lines")
	return req.Show("audit", "Audit log", data)
}

// historyRows is how many lines the page of a customer shows.
const historyRows = 12

// history is what was done with a customer and with the invoices that the page
// shows, so that a payment and its undoing are next to the renewal. Only
// owners see it; the others see what they can still undo.
func (s *Server) history(req *kit.Request, record customer.Customer, invoices []billing.Invoice) []kit.DeedRow {
	ids := make([]int64, len(invoices))
	for n, invoice := range invoices {
		ids[n] = invoice.ID
	}
	lines, err := s.Accounts.History(req.Context(), req.Actor, []account.AuditSubject{
		{Record: "customer", IDs: []int64{record.ID}}, {Record: "invoice", IDs: ids},
	}, historyRows)
	req.Note(err)
	rows := kit.DeedRows(req, lines)
	s.offerUndo(req, rows)
	for n, line := range lines { // the page names the customer
		rows[n].Name = ""
		if line.Record == "invoice" {
			rows[n].Name, rows[n].Link = req.Lang.T("no. %d", line.RecID), invoicePath(line.RecID)
		}
	}
	if !kit.Allows(req.User.Role, owner) {
		rows = slices.DeleteFunc(rows, func(row kit.DeedRow) bool { return row.Undo == nil })
	}
	return rows
}
