package kit

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
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// ChangeNames are what forms call the fields that the audit log has, by the field
// or by the kind of record and the field. Options of gateways and channels, which
// have no name here, keep their own.
var ChangeNames = withCompany(map[string]string{
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

// ChangeWords are the values that forms offer as words, by the field.
var ChangeWords = map[string]map[string]string{
	"status": Words, "paid_via": Words, "role": Words,
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
		string(account.LevelUser):        LevelWords[account.LevelUser],
		string(account.LevelReseller):    LevelWords[account.LevelReseller],
		string(account.LevelMaster):      LevelWords[account.LevelMaster],
		string(account.LevelUltraMaster): LevelWords[account.LevelUltraMaster],
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

// Worded are the changes of a line with the names and values that forms have.
func Worded(lang page.Lang, zone *time.Location, line account.AuditLine) []account.FieldChange {
	list := make([]account.FieldChange, len(line.Changes))
	for n, change := range line.Changes {
		name := change.Field
		if known := cmp.Or(ChangeNames[line.Record+"."+name], ChangeNames[name]); known != "" {
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
	if english, ok := ChangeWords[field][value]; ok {
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
	case field == "status" && StatusWords[reminder.Status(value)] != "":
		return lang.T(StatusWords[reminder.Status(value)])
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

// DeedText is what a line of the audit log says was done.
func DeedText(lang page.Lang, line account.AuditLine) string {
	deed := ""
	switch changed := ChangesOf(line); line.Action {
	case string(billing.ActionUpdated):
		deed = invoiceDeeds[changed["status"].After]
	case string(customer.ActionUpdated):
		deed = customerDeed(changed)
	}
	if deed != "" {
		return lang.T(deed)
	}
	return Word(lang, line.Action)
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

// ActorNames are the names of the company's users and tokens by what Actor.By
// calls them. It reads users and tokens only where one of the list needs them.
func (s *Panel) ActorNames(req *Request, by []string) map[string]string {
	names := map[string]string{}
	needs := func(prefix string) bool {
		return slices.ContainsFunc(by, func(who string) bool { return strings.HasPrefix(who, prefix) })
	}
	if needs("user:") {
		for _, user := range Read(req, s.Accounts.Users) {
			names[account.Actor{UserID: user.ID}.By()] = user.Name
		}
	}
	if needs("token:") {
		for _, token := range Read(req, s.Accounts.Tokens) {
			names[account.Actor{TokenID: token.ID}.By()] = "API · " + token.Name
		}
	}
	return names
}

// ActorText is the name of an actor in a record. Records of the first edition
// have "user 3 Ana Lima" in place of "user:3".
func ActorText(lang page.Lang, names map[string]string, by string) string {
	if name, known := names[by]; known {
		return name
	}
	kind, rest, _ := strings.Cut(by, " ")
	id, name, _ := strings.Cut(rest, " ")
	switch {
	case by == "":
		return ""
	case strings.HasPrefix(by, "user:"):
		return lang.T("a user who was removed")
	case strings.HasPrefix(by, "token:"):
		return lang.T("a token that was deleted")
	case kind == "token":
		return lang.T("token %s", id)
	case kind == "user" && name != "":
		return name
	case kind == "user":
		return lang.T("user %s", id)
	}
	return lang.T(account.CommandLine)
}

// ChangesOf are the changes of a line by their fields.
func ChangesOf(line account.AuditLine) map[string]account.FieldChange {
	changed := map[string]account.FieldChange{}
	for _, change := range line.Changes {
		changed[change.Field] = change
	}
	return changed
}

// AuditLines are the newest lines of the audit log that a filter has.
func (s *Panel) AuditLines(req *Request, filter account.AuditFilter, most int64) []account.AuditLine {
	lines, _ := ReadPage(req, s.Accounts.Audit, filter, input.Page{Number: 1, Size: most})
	return lines
}

// UndoOffer is the button that takes back the work of a line.
type UndoOffer struct{ Batch, Back, Label string }

// DeedRow is a line of the audit log with its text.
type DeedRow struct {
	account.AuditLine
	Text    string
	Link    string // to the record; "": it is gone, or has no page
	Undo    *UndoOffer
	Changed []account.FieldChange // as forms have it
}

// DeedRows are lines of the audit log with their texts.
func DeedRows(req *Request, list []account.AuditLine) []DeedRow {
	rows := make([]DeedRow, len(list))
	for i, line := range list {
		rows[i] = DeedRow{AuditLine: line, Text: DeedText(req.Lang, line), Changed: Worded(req.Lang, req.Actor.Company.Zone, line)}
	}
	return rows
}
