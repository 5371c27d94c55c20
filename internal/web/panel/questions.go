package panel

import (
	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
)

const (
	templatesPath = "/messages/templates"
	channelsPath  = "/messages/channels"
)

// questions are what is asked before something is done that cannot be taken back.
func (s *Server) questions() []kit.Question {
	const record, resold = "/customers/{id}", "/subscription-plans/{id}"
	customers := kit.Named(s.Customers.Find, customerName)
	return []kit.Question{
		{
			Path: record + "/delete", Role: staff, Of: customers,
			Ask: page.Confirm{Question: "Delete %s?", Button: "Delete customer", Back: record, Effects: []string{
				"Its invoices are deleted too. The numbers of past months stay.", "Messages that are scheduled for it are not sent.",
				"Webhooks are told that the customer was deleted.", "This cannot be undone.",
			}},
			Do: s.Customers.Delete, To: "/customers", Said: "%s was deleted.",
		},
		{
			Path: record + "/page/withdraw", Role: desk, Of: customers,
			Ask: page.Confirm{Question: "Withdraw the link of %s?", Button: "Withdraw the link", Back: record, Effects: []string{
				"The link stops working at once, for everybody who has it.", "You can make another one whenever you like.",
			}},
			Do: s.Payments.WithdrawCustomerPage, To: record + "#own-page", Said: "The link was withdrawn.",
		},
		{
			Path: record + "/autopay/end", Role: desk, Function: payments, Of: customers,
			Ask: page.Confirm{Question: "End PIX Automático of %s?", Button: "End PIX Automático", Back: record, Effects: []string{
				"Debits that are announced are cancelled, as far as the bank can still stop them.",
				"The customer pays by code from then on, and can be asked again.",
			}},
			Do: kit.Quietly(s.Payments.EndAutopay), To: record + "#autopay", Said: "PIX Automático was ended.",
		},
		{
			Path: record + "/erase", Role: owner, Of: customers,
			Ask: page.Confirm{Question: "Erase everything about %s?", Button: "Erase", Back: record, Effects: []string{
				"The customer, invoices, messages, events and what the audit log says of them are gone for good.",
				"The money that came stays in the books without a name, as the law wants it.", "This cannot be undone.",
			}},
			Do: s.Privacy.Erase, To: "/customers", Said: "Everything about the customer was erased.",
		},
		{
			Path: "/messages/rules/{id}/delete", Role: staff, Function: reminders, Of: kit.Named(s.Reminders.FindRule, ruleName),
			Ask: page.Confirm{Question: "Delete the rule %s?", Button: "Delete rule", Back: "/messages", Effects: []string{
				"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteRule, To: "/messages", Said: "The rule was deleted.",
		},
		{
			Path: templatesPath + "/{id}/delete", Role: staff, Function: reminders, Of: kit.Named(s.Reminders.FindTemplate, templateName),
			Ask: page.Confirm{Question: "Delete the template %s?", Button: "Delete template", Back: templatesPath, Effects: []string{
				"A template that a rule sends cannot be deleted.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteTemplate, To: templatesPath, Said: "The template was deleted.",
		},
		{
			Path: channelsPath + "/{id}/delete", Role: owner, Function: reminders, Of: kit.Named(s.Reminders.FindChannel, channelName),
			Ask: page.Confirm{Question: "Delete the channel %s?", Button: "Delete channel", Back: channelsPath + "/{id}", Effects: []string{
				"A channel that a rule uses cannot be deleted.", "Its credentials are deleted.",
				"What waits for it is not sent.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteChannel, To: channelsPath, Said: "The channel was deleted.",
		},
		{
			Path: "/api/tokens/{id}/delete", Role: owner, Function: api, Of: kit.Named(s.Accounts.Token, tokenName),
			Ask: page.Confirm{Question: "Delete the token %s?", Button: "Delete token", Back: "/api", Effects: []string{
				"The very next call with it fails.", "This cannot be undone.",
			}},
			Do: s.Accounts.DeleteToken, To: "/api", Said: "The token was deleted.",
		},
		{
			Path: "/webhooks/{id}/delete", Role: owner, Function: webhooks, Of: kit.Named(s.Webhooks.Find, hookName),
			Ask: page.Confirm{Question: "Delete the webhook to %s?", Button: "Delete webhook", Back: "/webhooks/{id}", Effects: []string{
				"Its history goes with it, and so do deliveries that are pending.", "A new one gets another secret.", "This cannot be undone.",
			}},
			Do: s.Webhooks.Delete, To: "/webhooks", Said: "The webhook was deleted.",
		},
		{
			Path: "/resellers/{id}/suspend", Role: owner, Function: resellers, Of: kit.Named(s.Resellers.Find, sellerName),
			Ask: page.Confirm{Question: "Suspend %s?", Button: "Suspend reseller", Back: "/resellers/{id}", Effects: []string{
				"It can sign in and look, and change nothing. Its webhooks stop.",
				"Its days go on: the subscription ends when it would have.", "You can resume it at any time. A renewal resumes it too.",
			}},
			Do: kit.Quietly(s.Resellers.Suspend), To: "/resellers/{id}", Said: "%s is suspended.",
		},
		{
			Path: resold + "/link", Role: owner, Function: resellers, Of: kit.Named(s.Resellers.FindPlan, resoldPlanName),
			Ask: page.Confirm{Question: "Replace the signup link of %s?", Button: "Replace the link", Back: resold, Effects: []string{
				"The link that you have given out stops working at once, wherever it stands.",
				"Whoever has signed up with it keeps everything.", "This cannot be undone.",
			}},
			Do: kit.Quietly(s.Resellers.RenewSignupLink), To: resold, Said: "%s has a new signup link.",
		},
	}
}

// The names by which people know records.
func customerName(record customer.Customer) (int64, string)   { return record.ID, record.Name }
func ruleName(rule reminder.Rule) (int64, string)             { return rule.ID, rule.Name }
func templateName(template reminder.Template) (int64, string) { return template.ID, template.Name }
func channelName(channel reminder.Channel) (int64, string)    { return channel.ID, channel.Name }
func tokenName(token account.Token) (int64, string)           { return token.ID, token.Name }
func hookName(hook webhook.Webhook) (int64, string)           { return hook.ID, hook.URL }
func sellerName(seller reseller.Reseller) (int64, string)     { return seller.ID, seller.Name }
func resoldPlanName(plan reseller.Plan) (int64, string)       { return plan.ID, plan.Name }
