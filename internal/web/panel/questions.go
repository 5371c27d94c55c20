package panel

import "carteira/internal/web/page"

const (
	templatesPath = "/messages/templates"
	channelsPath  = "/messages/channels"
)

// questions are what is asked before something is done that cannot be taken back.
func (s *Server) questions() []question {
	const record = "/customers/{id}"
	customers := named(s.Customers.Find, customerName)
	return []question{
		{
			path: record + "/delete", role: staff, of: customers,
			ask: page.Confirm{Question: "Delete %s?", Button: "Delete customer", Back: record, Effects: []string{
				"Its invoices are deleted too. The numbers of past months stay.", "Messages that are scheduled for it are not sent.",
				"Webhooks are told that the customer was deleted.", "This cannot be undone.",
			}},
			do: s.Customers.Delete, to: "/customers", said: "%s was deleted.",
		},
		{
			path: record + "/page/withdraw", role: desk, of: customers,
			ask: page.Confirm{Question: "Withdraw the link of %s?", Button: "Withdraw the link", Back: record, Effects: []string{
				"The link stops working at once, for everybody who has it.", "You can make another one whenever you like.",
			}},
			do: s.Payments.WithdrawCustomerPage, to: record + "#own-page", said: "The link was withdrawn.",
		},
		{
			path: record + "/autopay/end", role: desk, function: payments, of: customers,
			ask: page.Confirm{Question: "End PIX Automático of %s?", Button: "End PIX Automático", Back: record, Effects: []string{
				"Debits that are announced are cancelled, as far as the bank can still stop them.",
				"The customer pays by code from then on, and can be asked again.",
			}},
			do: quietly(s.Payments.EndAutopay), to: record + "#autopay", said: "PIX Automático was ended.",
		},
		{
			path: record + "/erase", role: owner, of: customers,
			ask: page.Confirm{Question: "Erase everything about %s?", Button: "Erase", Back: record, Effects: []string{
				"The customer, invoices, messages, events and what the audit log says of them are gone for good.",
				"The money that came stays in the books without a name, as the law wants it.", "This cannot be undone.",
			}},
			do: s.Privacy.Erase, to: "/customers", said: "Everything about the customer was erased.",
		},
		{
			path: "/messages/rules/{id}/delete", role: staff, function: reminders, of: named(s.Reminders.FindRule, ruleName),
			ask: page.Confirm{Question: "Delete the rule %s?", Button: "Delete rule", Back: "/messages", Effects: []string{
				"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone.",
			}},
			do: s.Reminders.DeleteRule, to: "/messages", said: "The rule was deleted.",
		},
		{
			path: templatesPath + "/{id}/delete", role: staff, function: reminders, of: named(s.Reminders.FindTemplate, templateName),
			ask: page.Confirm{Question: "Delete the template %s?", Button: "Delete template", Back: templatesPath, Effects: []string{
				"A template that a rule sends cannot be deleted.", "This cannot be undone.",
			}},
			do: s.Reminders.DeleteTemplate, to: templatesPath, said: "The template was deleted.",
		},
		{
			path: channelsPath + "/{id}/delete", role: owner, function: reminders, of: named(s.Reminders.FindChannel, channelName),
			ask: page.Confirm{Question: "Delete the channel %s?", Button: "Delete channel", Back: channelsPath + "/{id}", Effects: []string{
				"A channel that a rule uses cannot be deleted.", "Its credentials are deleted.",
				"What waits for it is not sent.", "This cannot be undone.",
			}},
			do: s.Reminders.DeleteChannel, to: channelsPath, said: "The channel was deleted.",
		},
		{
			path: "/api/tokens/{id}/delete", role: owner, function: api, of: named(s.Accounts.Token, tokenName),
			ask: page.Confirm{Question: "Delete the token %s?", Button: "Delete token", Back: "/api", Effects: []string{
				"The very next call with it fails.", "This cannot be undone.",
			}},
			do: s.Accounts.DeleteToken, to: "/api", said: "The token was deleted.",
		},
		{
			path: "/webhooks/{id}/delete", role: owner, function: webhooks, of: named(s.Webhooks.Find, hookName),
			ask: page.Confirm{Question: "Delete the webhook to %s?", Button: "Delete webhook", Back: "/webhooks/{id}", Effects: []string{
				"Its history goes with it, and so do deliveries that are pending.", "A new one gets another secret.", "This cannot be undone.",
			}},
			do: s.Webhooks.Delete, to: "/webhooks", said: "The webhook was deleted.",
		},
		{
			path: "/resellers/{id}/suspend", role: owner, function: resellers, of: named(s.Resellers.Find, sellerName),
			ask: page.Confirm{Question: "Suspend %s?", Button: "Suspend reseller", Back: "/resellers/{id}", Effects: []string{
				"It can sign in and look, and change nothing. Its webhooks stop.",
				"Its days go on: the subscription ends when it would have.", "You can resume it at any time. A renewal resumes it too.",
			}},
			do: quietly(s.Resellers.Suspend), to: "/resellers/{id}", said: "%s is suspended.",
		},
		{
			path: "/subscription-plans/{id}/link", role: owner, function: resellers, of: named(s.Resellers.FindPlan, resoldPlanName),
			ask: page.Confirm{Question: "Replace the signup link of %s?", Button: "Replace the link", Back: "/subscription-plans/{id}", Effects: []string{
				"The link that you have given out stops working at once, wherever it stands.",
				"Whoever has signed up with it keeps everything.", "This cannot be undone.",
			}},
			do: quietly(s.Resellers.RenewSignupLink), to: "/subscription-plans/{id}", said: "%s has a new signup link.",
		},
	}
}
