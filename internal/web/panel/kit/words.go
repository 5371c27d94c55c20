package kit

import (
	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// Words are the English texts of values that records have, under which the
// catalog has their Portuguese.
var Words = map[string]string{
	string(customer.Active):       "Active",
	string(customer.DueToday):     "Due today",
	string(customer.Expired):      "Expired",
	billing.Open.String():         "Open",
	billing.Paid.String():         "Paid",
	billing.Cancelled.String():    "Cancelled",
	billing.Manual:                "not said",
	"cash":                        "cash",
	"pix":                         "PIX",
	"card":                        "card",
	"transfer":                    "bank transfer",
	"boleto":                      "boleto",
	"other":                       "another way",
	"credit":                      "credit of the customer",
	string(account.RoleOwner):     "Owner",
	string(account.RoleStaff):     "Staff",
	string(account.RoleAttendant): "Attendant",
	string(account.RoleReadOnly):  "Read-only",

	// what the audit log says
	"company.created":             "Company created",
	"company.updated":             "Settings changed",
	"company.level":               "Level changed",
	"company.renewed":             "Subscription renewed",
	"company.suspended":           "Company suspended",
	"company.resumed":             "Suspension ended",
	"company.invited":             "Owner invited again",
	"customer.created":            "Customer created",
	"customer.updated":            "Customer changed",
	"customer.deleted":            "Customer deleted",
	"customer.renewed":            "Customer renewed",
	"customer.imported":           "Customers imported",
	"customer.page_shared":        "Customer's page opened",
	"customer.page_withdrawn":     "Customer's page withdrawn",
	"customer.autopay":            "PIX Automático of a customer changed",
	"customer.credit":             "Credit of a customer changed",
	"customer.opted_out":          "Messages to a customer switched",
	"invoice.created":             "Invoice made",
	"invoice.updated":             "Invoice changed",
	string(billing.ActionCharged): "Charged by hand",
	"plan.created":                "Plan created",
	"plan.updated":                "Plan changed",
	"plan.deleted":                "Plan deleted",
	"product.created":             "Product created",
	"product.updated":             "Product changed",
	"product.deleted":             "Product deleted",
	"token.created":               "Token created",
	"token.deleted":               "Token deleted",
	"webhook.created":             "Webhook created",
	"webhook.updated":             "Webhook changed",
	"webhook.secret_replaced":     "Secret of a webhook replaced",
	"webhook.deleted":             "Webhook deleted",
	"webhook.replayed":            "Deliveries sent again",
	"callback_secret.replaced":    "Callback secret replaced",
	"callback_secret.shown":       "Callback secret shown",
	"export.customers":            "Customers exported",
	"export.invoices":             "Invoices exported",
	"export.payments":             "Payments exported",
	"export.month":                "Month exported",
	"export.resellers":            "Resellers exported",
	"export.credits":              "Credits exported",
	"export.messages":             "Messages exported",
	"export.deliveries":           "Deliveries exported",
	"export.audit":                "Audit log exported",
	"export.customer_file":        "File of a customer exported",
	"delivery.resent":             "Delivery sent again",
	"signin":                      "Signed in",
	"signin.refused":              "Sign-in refused",
	"session.ended":               "Session ended",
	"second_factor.on":            "Second factor switched on",
	"second_factor.off":           "Second factor switched off",
	"second_factor.refused":       "Wrong code of the second factor",
	"rule.created":                "Message rule created",
	"rule.updated":                "Message rule changed",
	"rule.deleted":                "Message rule deleted",
	"round.created":               "Reminder sent to many",
	"template.created":            "Template created",
	"template.updated":            "Template changed",
	"template.deleted":            "Template deleted",
	"channel.created":             "Channel created",
	"channel.updated":             "Channel changed",
	"channel.deleted":             "Channel deleted",
	"channel.phone_connected":     "Phone of a channel connected",
	"channel.phone_disconnected":  "Phone of a channel disconnected",
	"quiet_hours.updated":         "Quiet hours changed",
	"message.decided":             "Message decided about",
	"user.created":                "User created",
	"user.updated":                "User changed",
	"user.removed":                "User removed",
	"user.email_confirmed":        "E-mail address confirmed",
	"user.email_changed":          "E-mail address changed",
	"user.email_released":         "E-mail address released to its owner",
	"user.email_restored":         "Former e-mail address brought back",
	"user.password_link":          "Password link made",
	"user.password_set":           "Password set",
	"user.password_changed":       "Password changed",
	"reseller.created":            "Reseller created",
	"reseller.updated":            "Reseller changed",
	"reseller.level":              "Level of a reseller changed",
	"reseller.renewed":            "Reseller renewed",
	"reseller.suspended":          "Reseller suspended",
	"reseller.resumed":            "Suspension of a reseller ended",
	"reseller.invited":            "Reseller invited again",
	"subscription_plan.created":   "Subscription plan created",
	"subscription_plan.updated":   "Subscription plan changed",
	"subscription_plan.link":      "Signup link renewed",
	"gateway.set":                 "Gateway set up",
	"gateway.cleared":             "Gateway left",
	"payment.reviewed":            "Payment decided about",
	"payment.confirmed":           "Payment confirmed",
	"email.refused":               "E-mail address of another user refused",
	"credits.grant":               "Credits granted",
	"credits.sent":                "Credits sent",
	"credits.taken_back":          "Credits taken back",
	"credits.received":            "Credits received",
	"credits.returned":            "Credits taken back by the company above",
	"sandbox.clock":               "Clock of the sandbox moved",
}

// Word is a value of a record in the reader's language.
func Word(lang page.Lang, value string) string {
	if english, ok := Words[value]; ok {
		return lang.T(english)
	}
	return value
}

// StatusWords are the English texts of the statuses of messages.
var StatusWords = map[reminder.Status]string{
	reminder.Scheduled: "Scheduled", reminder.Sending: "Being sent", reminder.Sent: "Sent",
	reminder.Failed:  "Not sent",
	reminder.Skipped: "Skipped", reminder.Unknown: "In doubt", reminder.Dismissed: "Dismissed // message",
}

// LevelWords are the levels as people read them.
var LevelWords = map[account.Level]string{
	account.LevelUser: "Basic", account.LevelReseller: "Reseller", account.LevelMaster: "Master",
	account.LevelUltraMaster: "Ultra master",
}
