package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/text"
	"carteira/internal/web/page"
)

type auditData struct {
	list
	List     []deedRow
	Kinds    []page.Option // what records the lines are about
	Filtered bool
	Bounded  bool // there are more than the list leads to
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
	options := make([]page.Option, 0, len(auditKinds)+1)
	for _, kind := range auditKinds {
		options = append(options, page.Option{Value: kind.Value, Label: lang.T(kind.Label)})
	}
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

// auditFilter reads the kind and the days of a query, which are the company's.
func auditFilter(req *request, in *input.Form) (filter account.AuditFilter) {
	filter.Record = in.Choice("kind", auditKindNames()...).Value
	zone := req.Actor.Company.Zone
	if from := in.Date("from").Value; !from.IsZero() {
		filter.Since = from.Start(zone)
	}
	if to := in.Date("to").Value; !to.IsZero() {
		filter.Until = to.AddDays(1).Start(zone)
	}
	return filter
}

func (s *Server) audit(req *request) error {
	in := req.query()
	paging, filter := in.Page(), auditFilter(req, in)
	chips := []chipLine{dateChips(req, "from", "to", false)}
	data := auditData{list: newList(req, "/settings/audit/export", chips, "kind", "from", "to"), Kinds: auditKindOptions(req.lang)}
	data.Heads, paging.Sort = timeHeads(req), sortIn(req.URL.Query(), input.ByID)
	if err := in.Err(); err != nil {
		data.Form.Fail(err)
		filter = account.AuditFilter{}
	}
	lines, total, err := s.Accounts.Audit(req.Context(), req.Actor, filter, paging)
	if err != nil {
		return err
	}
	data.List, data.Pager = deedRows(req, lines), page.NewPager(req.URL, paging, total)
	data.Filtered, data.Bounded = filter != (account.AuditFilter{}), total == account.Countable
	if data.Arranged, err = s.arranged(req, account.AuditList); err != nil {
		return err
	}
	data.Total = countedTo(req.lang, total, account.Countable, "1 line", "%s lines")
	return s.show(req, page.View{Name: "audit", Title: "Audit log", Data: data})
}
