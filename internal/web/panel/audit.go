package panel

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/text"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

type auditData struct {
	list
	List    []deedRow
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
	options := optionsOf(auditKinds, func(kind page.Option) page.Option { return page.Option{Value: kind.Value, Label: lang.T(kind.Label)} })
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
	here := slices.ContainsFunc(options, func(option page.Option) bool { return option.Value == idText(chosen) })
	if !here && len(lines) > 0 {
		options = append(options, page.Option{Value: idText(chosen), Label: lines[0].Who})
	}
	return options
}

// linkRecords has the names of customers, invoices and users lead to those that
// are still there.
func (s *Server) linkRecords(req *request, rows []deedRow, users []account.Person) {
	ids := map[string][]int64{}
	for _, row := range rows {
		ids[row.Record] = append(ids[row.Record], row.RecID)
	}
	customers := readOf(req, s.Customers.Names, ids["customer"])
	invoices := readOf(req, s.Billing.Existing, ids["invoice"])
	for n, row := range rows {
		_, known := customers[row.RecID]
		switch {
		case row.Record == "customer" && known:
			rows[n].Link = customerPath(row.RecID)
		case row.Record == "invoice" && invoices[row.RecID]:
			rows[n].Link = invoicePath(row.RecID)
		case row.Record == "user" && slices.ContainsFunc(users, func(user account.Person) bool { return user.ID == row.RecID }):
			rows[n].Link = "/settings/users/" + idText(row.RecID)
		}
	}
}

// auditFilter reads who, the kind and the days of a query, which are the company's.
func auditFilter(req *request, in *input.Form) (filter account.AuditFilter) {
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

func (s *Server) audit(req *request) error {
	chips := []chipLine{dateChips(req, "from", "to", false)}
	data := auditData{
		list:  newList(req, "/settings/audit/export", chips, "who", "token", "kind", "from", "to"),
		Kinds: auditKindOptions(req.lang),
	}
	data.Heads = timeHeads(req)
	filterOf := func(in *input.Form) account.AuditFilter { return auditFilter(req, in) }
	from := source[account.AuditFilter, account.AuditLine]{account.AuditList, filterOf, byTime, s.Accounts.Audit}
	lines, filter := fill(s, req, &data.list, from)
	users, tokens := read(req, s.Accounts.Users), read(req, s.Accounts.Tokens)
	data.List = deedRows(req, lines)
	data.People = namedOptions(users, func(user account.Person) (int64, string) { return user.ID, user.Name }, req.option("", "Everyone"))
	data.Tokens = namedOptions(tokens, tokenName, req.option("", "Any"))
	data.People, data.Tokens = withChosen(data.People, filter.UserID, lines), withChosen(data.Tokens, filter.TokenID, lines)
	s.linkRecords(req, data.List, users)
	s.offerUndo(req, data.List)
	data.Bounded = data.Pager.Total == account.Countable
	data.Total = countedTo(req.lang, data.Pager.Total, account.Countable, "1 line", "%s lines")
	return s.show(req, page.View{Name: "audit", Title: "Audit log", Data: data})
}

// changeNames are what forms call the fields that the audit log has, by the field
// or by the kind of record and the field. Options of gateways and channels, which
// have no name here, keep their own.
var changeNames = withCompany(map[string]string{
	"name": "Name", "email": "E-mail", "whatsapp": "WhatsApp", "cpf_cnpj": "CPF or CNPJ", "address": "Address",
	"active": "Switched on", "status": "Status", "description": "Description", "note": "Note", "plan": "Plan",
	"product": "Product", "plan_id": "Plan", "product_id": "Product", "period": "Period", "value": "Value (R$)",
	"functions": "Functions", "level": "Level", "expires_at": "Ends on", "type": "Kind", "suspended": "Suspended",
	"credits": "Credits",

	"usuario": "Login", "data_de_vencimento": "Due date", "own_day": "Day of the month", "notes": "Notes",
	"external_id": "Your own code", "price": "Own price", "custom": "Your own fields", "cancelled": "Cancelled",
	"cancel_reason": "Reason", "autopay": "PIX Automático", "credit": "Credits", "opted_out": "Wants no messages",
	"customers": "Customers",

	"total_amount": "Amount (R$)", "due_date": "Due date", "issued_for": "Due date that it bills", "paid_on": "Paid on",
	"paid_via": "Paid through", "amount_received": "Amount that came (R$)", "late_fee": "Late fee",
	"late_interest": "Late interest", "discount": "Discount", "forgiven": "Forgiven (R$)",
	"own_discount": "Discount until the due date (R$)", "edited": "Changed by hand",
	"superseded": "Replaced by another invoice", "withdrawn": "Why the program cancelled it", "amount": "Amount (R$)",
	"payment_id": "Payment id", "reason": "Reason", "resolution": "Decision", "provider": "Payment gateway",

	"quiet_from": "They begin at", "quiet_to": "They end at",

	"role": "Role", "scope": "What it may do", "plan.active": "On sale", "product.active": "On sale",
	"subscription_plan.active": "On sale", "subscription_plan.value": "The reseller pays (R$)",
	"trial_days": "Trial days", "now": "The clock",

	"url": "Address", "events": "Events", "retry_refused": "Try again what was refused", "since": "Since",
	"on": "Occasion", "offset_days": "Days", "hour": "Hour", "channels": "Channels", "template_id": "Template",
	"subject": "Subject of the e-mail", "text": "Text", "kind": "Kind", "per_minute": "Messages a minute",
	"whatsapp_name": "Name at Meta", "whatsapp_language": "Language at Meta", "whatsapp_params": "What fills the gaps",
	"whatsapp_header": "What fills the header", "whatsapp_button": "What fills the button's link",
})

// withCompany adds what forms call the fields of a company.
func withCompany(names map[string]string) map[string]string {
	for _, field := range account.CompanyFields {
		if field.Label != "" {
			names[field.Name] = field.Label
		}
	}
	return names
}

// changeWords are the values that forms offer as words, by the field.
var changeWords = map[string]map[string]string{
	"status": words, "paid_via": words, "role": words,
	"autopay":    {"none": "Not asked", "asked": "Waiting for the customer", "active": "Authorised", "ended": "Ended"},
	"scope":      {"full": "Read and change everything", "read": "Only read"},
	"renew_from": {"due_date": "the due date, as if nothing had happened", "today": "the day of the renewal"},
	"renew_invoice": {
		"keep": "still owed", "paid": "paid with the renewal", "cancelled": "cancelled",
	},
	"withdrawn": {
		"free": "there is nothing to bill", "moved": "the new due date has an invoice", "undone": "the renewal was undone",
		"customer": "the customer was cancelled",
	},
	"level": {
		string(account.LevelUser):        levelWords[account.LevelUser],
		string(account.LevelReseller):    levelWords[account.LevelReseller],
		string(account.LevelMaster):      levelWords[account.LevelMaster],
		string(account.LevelUltraMaster): levelWords[account.LevelUltraMaster],
	},
}

// amountsChanged and percentsChanged are the fields with money and with a
// percentage, which the audit log has with a point.
var (
	amountsChanged = map[string]bool{
		"total_amount": true, "amount_received": true, "late_fee": true, "late_interest": true, "discount": true, "forgiven": true,
		"own_discount": true, "price": true, "value": true, "credit": true, "amount": true, "discount_amount": true,
	}
	percentsChanged = map[string]bool{"late_fee_percent": true, "late_interest_percent": true, "discount_percent": true}
)

// worded are the changes of a line with the names and values that forms have.
func worded(lang page.Lang, zone *time.Location, line account.AuditLine) []account.FieldChange {
	list := make([]account.FieldChange, len(line.Changes))
	for n, change := range line.Changes {
		name := change.Field
		if known := cmp.Or(changeNames[line.Record+"."+name], changeNames[name]); known != "" {
			name = lang.T(known)
		}
		list[n] = account.FieldChange{
			Field:  name,
			Before: changedValue(lang, zone, change.Field, change.Before),
			After:  changedValue(lang, zone, change.Field, change.After),
		}
	}
	return list
}

// changedValue is a value of the audit log as a form has it. One that is not of
// the field's kind stays as it is: old lines are never changed.
func changedValue(lang page.Lang, zone *time.Location, field, value string) string {
	if english, ok := changeWords[field][value]; ok {
		return lang.T(english)
	}
	switch {
	case value == "true":
		return lang.T("Yes")
	case value == "false":
		return lang.T("No")
	case field == "whatsapp":
		return page.FormatPhone(value)
	case field == "custom":
		return strings.ReplaceAll(strings.TrimSpace(customer.Custom(value).Lines()), "\n", "; ")
	case field == "status" && statusWords[reminder.Status(value)] != "":
		return lang.T(statusWords[reminder.Status(value)])
	case field == "cpf_cnpj":
		return taxid.Format(value)
	case field == "period":
		if period, err := civil.ParsePeriod(value); err == nil {
			return lang.Period(period)
		}
	case amountsChanged[field]:
		if cents, err := money.Parse(value); err == nil {
			return cents.BR()
		}
	case percentsChanged[field]:
		return strings.Replace(value, ".", ",", 1)
	}
	return changedTime(zone, value)
}

// changedTime is a day or an instant as people write it; another text stays.
func changedTime(zone *time.Location, value string) string {
	if day, err := civil.Parse(value); err == nil {
		return page.FormatDate(day)
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return page.FormatTime(at, zone)
	}
	return value
}

// invoiceDeeds are what a change of an invoice's status is called.
var invoiceDeeds = map[string]string{
	billing.Paid.String(): "Invoice paid", billing.Cancelled.String(): "Invoice cancelled",
	billing.Open.String(): "Invoice opened again",
}

// customerDeeds are what a cancellation of a customer is called, and its end.
var customerDeeds = map[string]string{"true": "Customer cancelled", "false": "Customer reactivated"}

// deedText is what a line of the audit log says was done.
func deedText(lang page.Lang, line account.AuditLine) string {
	deed := ""
	switch changed := changesOf(line); line.Action {
	case string(billing.ActionUpdated):
		deed = invoiceDeeds[changed["status"].After]
	case string(customer.ActionUpdated):
		deed = customerDeed(changed)
	}
	if deed != "" {
		return lang.T(deed)
	}
	return word(lang, line.Action)
}

// customerDeed is what a change of a customer is called; "" for one of many fields.
// A due date goes back when a payment or a renewal is undone. Days are compared as
// texts, which have the year first.
func customerDeed(changed map[string]account.FieldChange) string {
	due, moved := changed["data_de_vencimento"]
	switch _, planned := changed["plan"]; {
	case changed["cancelled"].Field != "":
		return customerDeeds[changed["cancelled"].After]
	case moved && due.After != "" && due.After < due.Before:
		return "Due date moved back"
	case moved && due.Before != "" && due.After > due.Before:
		return "Due date moved on"
	case planned:
		return "Plan of the customer changed"
	}
	return ""
}
