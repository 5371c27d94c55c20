package panel

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// The names by which people know records.
func customerName(record customer.Customer) (int64, string)   { return record.ID, record.Name }
func planName(plan catalog.Plan) (int64, string)              { return plan.ID, plan.Name }
func productName(product catalog.Product) (int64, string)     { return product.ID, product.Name }
func ruleName(rule reminder.Rule) (int64, string)             { return rule.ID, rule.Name }
func templateName(template reminder.Template) (int64, string) { return template.ID, template.Name }
func channelName(channel reminder.Channel) (int64, string)    { return channel.ID, channel.Name }
func tokenName(token account.Token) (int64, string)           { return token.ID, token.Name }
func hookName(hook webhook.Webhook) (int64, string)           { return hook.ID, hook.URL }
func sellerName(seller reseller.Reseller) (int64, string)     { return seller.ID, seller.Name }
func resoldPlanName(plan reseller.Plan) (int64, string)       { return plan.ID, plan.Name }

// useCase does something with a record.
type useCase func(context.Context, account.Actor, int64) error

// quietly is a use case without what it returns.
func quietly[T any](do func(context.Context, account.Actor, int64) (T, error)) useCase {
	return func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := do(ctx, actor, id)
		return err
	}
}

// at is a path of the panel with the record of the request in the place of {id}.
func (req *request) at(path string) string { return strings.ReplaceAll(path, "{id}", idText(req.id)) }

// deed is what a button does with the record of the path, where it leads and what is
// said there.
func deed(do useCase, to, said string) handler {
	return func(req *request) error { return req.did(do(req.Context(), req.Actor, req.id), req.at(to), said) }
}

// before asks about the record of a path before something is done with it that cannot
// be taken back. What is said when it is done may name the record.
func before[T any](
	s *Server, row pathRow, find func(context.Context, account.Actor, int64) (T, error), name func(T) (int64, string),
	confirm page.Confirm, do useCase, to, said string,
) pathRow {
	row.get = of(find, func(req *request, record T) error {
		_, named := name(record)
		ask := confirm
		ask.Args, ask.Back, ask.Danger = []any{named}, req.at(confirm.Back), true
		return s.ask(req, ask)
	})
	row.post = of(find, func(req *request, record T) error {
		if err := do(req.Context(), req.Actor, req.id); err != nil {
			return req.complain(req.at(confirm.Back), err)
		}
		if _, named := name(record); strings.Contains(said, "%s") {
			return req.done(req.at(to), said, named)
		}
		return req.done(req.at(to), said)
	})
	return row
}

// customerQuestions are asked about customers.
func (s *Server) customerQuestions() []pathRow {
	const at = "/customers/{id}"
	return []pathRow{
		before(s, pathRow{path: at + "/delete", role: staff}, s.Customers.Find, customerName, page.Confirm{
			Question: "Delete %s?", Button: "Delete customer", Back: at, Effects: []string{
				"Its invoices are deleted too. The numbers of past months stay.", "Messages that are scheduled for it are not sent.",
				"Webhooks are told that the customer was deleted.", "This cannot be undone.",
			},
		}, s.Customers.Delete, "/customers", "%s was deleted."),
		before(s, pathRow{path: at + "/page/withdraw", role: desk}, s.Customers.Find, customerName, page.Confirm{
			Question: "Withdraw the link of %s?", Button: "Withdraw the link", Back: at, Effects: []string{
				"The link stops working at once, for everybody who has it.", "You can make another one whenever you like.",
			},
		}, s.Payments.WithdrawCustomerPage, at+"#own-page", "The link was withdrawn."),
		before(s, pathRow{path: at + "/autopay/end", role: desk, function: payments}, s.Customers.Find, customerName, page.Confirm{
			Question: "End PIX Automático of %s?", Button: "End PIX Automático", Back: at, Effects: []string{
				"Debits that are announced are cancelled, as far as the bank can still stop them.",
				"The customer pays by code from then on, and can be asked again.",
			},
		}, quietly(s.Payments.EndAutopay), at+"#autopay", "PIX Automático was ended."),
		before(s, pathRow{path: at + "/erase", role: owner}, s.Customers.Find, customerName, page.Confirm{
			Question: "Erase everything about %s?", Button: "Erase", Back: at, Effects: []string{
				"The customer, invoices, messages, events and what the audit log says of them are gone for good.",
				"The money that came stays in the books without a name, as the law wants it.", "This cannot be undone.",
			},
		}, s.Privacy.Erase, "/customers", "Everything about the customer was erased."),
	}
}

// otherQuestions are asked about what messages are made of and what connects the company
// with others.
func (s *Server) otherQuestions() []pathRow {
	return []pathRow{
		before(s, pathRow{path: "/messages/rules/{id}/delete", role: staff, function: reminders}, s.Reminders.FindRule, ruleName, page.Confirm{
			Question: "Delete the rule %s?", Button: "Delete rule", Back: "/messages",
			Effects: []string{"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone."},
		}, s.Reminders.DeleteRule, "/messages", "The rule was deleted."),
		before(s, pathRow{path: templatesPath + "/{id}/delete", role: staff, function: reminders}, s.Reminders.FindTemplate, templateName,
			page.Confirm{
				Question: "Delete the template %s?", Button: "Delete template", Back: templatesPath,
				Effects: []string{"A template that a rule sends cannot be deleted.", "This cannot be undone."},
			}, s.Reminders.DeleteTemplate, templatesPath, "The template was deleted."),
		before(s, pathRow{path: channelsPath + "/{id}/delete", role: owner, function: reminders}, s.Reminders.FindChannel, channelName,
			page.Confirm{Question: "Delete the channel %s?", Button: "Delete channel", Back: channelsPath + "/{id}", Effects: []string{
				"A channel that a rule uses cannot be deleted.", "Its credentials are deleted.",
				"What waits for it is not sent.", "This cannot be undone.",
			}}, s.Reminders.DeleteChannel, channelsPath, "The channel was deleted."),
		before(s, pathRow{path: "/api/tokens/{id}/delete", role: owner, function: api}, s.Accounts.Token, tokenName, page.Confirm{
			Question: "Delete the token %s?", Button: "Delete token", Back: "/api",
			Effects: []string{"The very next call with it fails.", "This cannot be undone."},
		}, s.Accounts.DeleteToken, "/api", "The token was deleted."),
		before(s, pathRow{path: "/webhooks/{id}/delete", role: owner, function: webhooks}, s.Webhooks.Find, hookName, page.Confirm{
			Question: "Delete the webhook to %s?", Button: "Delete webhook", Back: "/webhooks/{id}", Effects: []string{
				"Its history goes with it, and so do deliveries that are pending.", "A new one gets another secret.", "This cannot be undone.",
			},
		}, s.Webhooks.Delete, "/webhooks", "The webhook was deleted."),
		before(s, pathRow{path: "/resellers/{id}/suspend", role: owner, function: resellers}, s.Resellers.Find, sellerName, page.Confirm{
			Question: "Suspend %s?", Button: "Suspend reseller", Back: "/resellers/{id}", Effects: []string{
				"It can sign in and look, and change nothing. Its webhooks stop.",
				"Its days go on: the subscription ends when it would have.", "You can resume it at any time. A renewal resumes it too.",
			},
		}, quietly(s.Resellers.Suspend), "/resellers/{id}", "%s is suspended."),
		before(s, pathRow{path: "/subscription-plans/{id}/link", role: owner, function: resellers}, s.Resellers.FindPlan, resoldPlanName,
			page.Confirm{Question: "Replace the signup link of %s?", Button: "Replace the link", Back: "/subscription-plans/{id}", Effects: []string{
				"The link that you have given out stops working at once, wherever it stands.",
				"Whoever has signed up with it keeps everything.", "This cannot be undone.",
			}}, quietly(s.Resellers.RenewSignupLink), "/subscription-plans/{id}", "%s has a new signup link."),
	}
}
