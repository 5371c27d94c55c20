package panel

import (
	"slices"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/web/page"
)

// words are the English texts of values that records have, under which the
// catalog has their Portuguese.
var words = map[string]string{
	string(customer.Active): "Active", string(customer.DueToday): "Due today",
	string(customer.Expired): "Expired",
	billing.Open.String():    "Open", billing.Paid.String(): "Paid",
	billing.Cancelled.String(): "Cancelled",
	billing.Manual:             "not said",
	"cash":                     "cash", "pix": "PIX", "card": "card", "transfer": "bank transfer",
	"boleto": "boleto", "other": "another way", "credit": "credit of the customer",
	string(account.RoleOwner): "Owner", string(account.RoleStaff): "Staff",
	string(account.RoleAttendant): "Attendant", string(account.RoleReadOnly): "Read-only",

	// what the audit log says
	"company.created": "Company created", "company.updated": "Settings changed",
	"company.level":   "Level changed",
	"company.renewed": "Subscription renewed", "company.suspended": "Company suspended",
	"company.resumed":  "Suspension ended",
	"company.invited":  "Owner invited again",
	"customer.created": "Customer created", "customer.updated": "Customer changed",
	"customer.deleted": "Customer deleted",
	"customer.renewed": "Customer renewed", "customer.imported": "Customers imported",
	"invoice.created": "Invoice made", "invoice.updated": "Invoice changed",
	string(billing.ActionCharged): "Charged by hand",
	"plan.created":                "Plan created", "plan.updated": "Plan changed", "plan.deleted": "Plan deleted",
	"product.created": "Product created", "product.updated": "Product changed", "product.deleted": "Product deleted",
	"token.created": "Token created", "token.deleted": "Token deleted",
	"webhook.created": "Webhook created", "webhook.updated": "Webhook changed",
	"webhook.secret_replaced":  "Secret of a webhook replaced",
	"webhook.deleted":          "Webhook deleted",
	"callback_secret.replaced": "Callback secret replaced",
	"callback_secret.shown":    "Callback secret shown",
	"export.customers":         "Customers exported",
	"export.invoices":          "Invoices exported",
	"export.payments":          "Payments exported",
	"export.month":             "Month exported",
	"export.resellers":         "Resellers exported",
	"export.credits":           "Credits exported",
	"export.messages":          "Messages exported",
	"export.deliveries":        "Deliveries exported",
	"export.audit":             "Audit log exported",
	"export.customer_file":     "File of a customer exported",
	"delivery.resent":          "Delivery sent again",
	"webhook.replayed":         "Deliveries sent again",
	"signin":                   "Signed in", "signin.refused": "Sign-in refused",
	"session.ended":         "Session ended",
	"second_factor.on":      "Second factor switched on",
	"second_factor.off":     "Second factor switched off",
	"second_factor.refused": "Wrong code of the second factor",
	"rule.created":          "Message rule created", "rule.updated": "Message rule changed",
	"rule.deleted":     "Message rule deleted",
	"round.created":    "Reminder sent to many",
	"template.created": "Template created", "template.updated": "Template changed",
	"template.deleted": "Template deleted",
	"channel.created":  "Channel created", "channel.updated": "Channel changed",
	"channel.deleted":         "Channel deleted",
	"channel.phone_connected": "Phone of a channel connected", "channel.phone_disconnected": "Phone of a channel disconnected",
	"quiet_hours.updated": "Quiet hours changed", "message.decided": "Message decided about",
	"customer.page_shared":    "Customer's page opened",
	"customer.page_withdrawn": "Customer's page withdrawn",
	"customer.autopay":        "PIX Automático of a customer changed",
	"customer.credit":         "Credit of a customer changed",
	"customer.opted_out":      "Messages to a customer switched",
	"user.created":            "User created", "user.updated": "User changed",
	"user.removed":     "User removed",
	"reseller.created": "Reseller created", "reseller.updated": "Reseller changed",
	"reseller.level":   "Level of a reseller changed",
	"reseller.renewed": "Reseller renewed", "reseller.suspended": "Reseller suspended",
	"reseller.resumed":          "Suspension of a reseller ended",
	"reseller.invited":          "Reseller invited again",
	"subscription_plan.created": "Subscription plan created",
	"subscription_plan.updated": "Subscription plan changed",
	"subscription_plan.link":    "Signup link renewed",
	"gateway.set":               "Gateway set up", "gateway.cleared": "Gateway left",
	"payment.reviewed":     "Payment decided about",
	"payment.confirmed":    "Payment confirmed",
	"user.email_confirmed": "E-mail address confirmed",
	"user.email_changed":   "E-mail address changed",
	"user.email_released":  "E-mail address released to its owner",
	"user.email_restored":  "Former e-mail address brought back",
	"email.refused":        "E-mail address of another user refused",
	"user.password_link":   "Password link made", "user.password_set": "Password set",
	"user.password_changed": "Password changed",
	"credits.grant":         "Credits granted", "credits.sent": "Credits sent",
	"credits.taken_back": "Credits taken back",
	"credits.received":   "Credits received",
	"credits.returned":   "Credits taken back by the company above",
	"sandbox.clock":      "Clock of the sandbox moved",
}

// word is a value of a record in the reader's language.
func word(lang page.Lang, value string) string {
	if english, ok := words[value]; ok {
		return lang.T(english)
	}
	return value
}

// invoiceDeeds are what a change of an invoice's status is called.
var invoiceDeeds = map[string]string{
	billing.Paid.String():      "Invoice paid",
	billing.Cancelled.String(): "Invoice cancelled",
	billing.Open.String():      "Invoice opened again",
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

// deedRow is a line of the audit log with its text.
type deedRow struct {
	account.AuditLine
	Text    string
	Link    string // to the record; "": it is gone, or has no page
	Undo    *undoOffer
	Changed []account.FieldChange // as forms have it
}

func deedRows(req *request, list []account.AuditLine) []deedRow {
	rows := make([]deedRow, len(list))
	for i, line := range list {
		rows[i] = deedRow{AuditLine: line, Text: deedText(req.lang, line), Changed: worded(req.lang, req.Actor.Company.Zone, line)}
	}
	return rows
}

// historyRows is how many lines the page of a customer shows.
const historyRows = 12

// history is what was done with a customer and with the invoices that the page
// shows, so that a payment and its undoing are next to the renewal. Only
// owners see it; the others see what they can still undo.
func (s *Server) history(req *request, record customer.Customer, invoices []billing.Invoice) []deedRow {
	ids := make([]int64, len(invoices))
	for n, invoice := range invoices {
		ids[n] = invoice.ID
	}
	lines, err := s.Accounts.History(req.Context(), req.Actor, []account.AuditSubject{
		{Record: "customer", IDs: []int64{record.ID}}, {Record: "invoice", IDs: ids},
	}, historyRows)
	req.note(err)
	rows := deedRows(req, lines)
	s.offerUndo(req, rows)
	for n, line := range lines { // the page names the customer
		rows[n].Name = ""
		if line.Record == "invoice" {
			rows[n].Name, rows[n].Link = req.lang.T("no. %d", line.RecID), invoicePath(line.RecID)
		}
	}
	if !allows(req.User.Role, owner) {
		rows = slices.DeleteFunc(rows, func(row deedRow) bool { return row.Undo == nil })
	}
	return rows
}
