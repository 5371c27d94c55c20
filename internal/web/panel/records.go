package panel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// record is a kind of record that a person makes, edits and deletes with one
// form: a plan, a product, a subscription plan.
type record[T any] struct {
	path, form  string // the path of its list, the name of the page of its form
	fresh, edit string // titles of the form
	named       func(T) (int64, string)
	blank       func(*request) *page.Form // the form of a new one
	shown       func(T) *page.Form        // the form of one that exists
	find        func(context.Context, account.Actor, int64) (T, error)
	create      func(*request) (T, error)
	update      func(*request) (T, error)
	page        func(*request, recordForm, T) any // what its form shows; nil: no more than the form
	created     func(*request, T) error           // where a new one leads; nil: to the list
	saved       func(*request, T) error           // where a changed one leads; nil: to the list
	deleted     *deletion[T]                      // nil: it cannot be deleted
}

// deletion is how a record that is not in use is deleted.
type deletion[T any] struct {
	button, unused string // the word of the button, and which ones can be deleted
	remove         func(context.Context, account.Actor, int64) (T, error)
	usedBy         func(reminder.Rule) int64 // the record that a message rule is for
}

// recordForm is what the page of a form shows that makes a record or changes one.
type recordForm struct {
	Form   *page.Form
	Action string
	Back   string // the record, or the list where it is new
	New    bool
	ID     int64 // 0: it is new
}

// recordForm is the form of a new record of a list, or of the one that the path names.
func (req *request) recordForm(list string, form *page.Form) recordForm {
	if req.id != 0 {
		list += "/" + idText(req.id)
	}
	return recordForm{Form: form, Action: req.URL.Path, Back: list, New: req.id == 0, ID: req.id}
}

func (f recordForm) title(fresh, edit string) string { return either(f.New, fresh, edit) }

// routes are the form's pages, for those who may change such records.
func (k record[T]) routes(s *Server, who role, function account.Function) []pathRow {
	send := func(save func(*request) (T, error)) handler {
		return func(req *request) error { return k.send(s, req, save) }
	}
	list := []pathRow{
		{k.path + "/new", who, function, opened(k.show(s)), send(k.create)},
		{k.path + "/{id}", who, function, opened(k.show(s)), send(k.update)},
	}
	if k.deleted != nil {
		list = append(list, pathRow{k.path + "/{id}/delete", who, function, k.askDelete(s), func(req *request) error { return k.delete(s, req) }})
	}
	return list
}

func (k record[T]) at(req *request) string { return k.path + "/" + idText(req.id) }

func (k record[T]) name(of T) string {
	_, name := k.named(of)
	return name
}

// show shows the form: of a new record, or of the one that the path names. Without
// a form it has what the record has.
func (k record[T]) show(s *Server) formPage {
	return func(req *request, form *page.Form, refusal error) error {
		var current T
		if req.id == 0 {
			form = cmp.Or(form, k.blank(req))
		} else {
			current = readOf(req, k.find, req.id)
		}
		data := req.recordForm(k.path, cmp.Or(form, k.shown(current)))
		var shown any = data
		if k.page != nil {
			shown = k.page(req, data, current)
		}
		return s.showForm(req, k.form, data.title(k.fresh, k.edit), refusal, shown)
	}
}

// send creates or changes a record by the form that was sent.
func (k record[T]) send(s *Server, req *request, save func(*request) (T, error)) error {
	saved, err := save(req)
	switch {
	case err != nil:
		return req.again(err, k.show(s))
	case req.id == 0 && k.created != nil:
		return k.created(req, saved)
	case req.id == 0:
		return req.done(req.another(k.path), "%s was created.", k.name(saved))
	case k.saved != nil:
		return k.saved(req, saved)
	}
	return req.done(k.path, "%s was saved.", k.name(saved))
}

// another is where a person goes on after creating something: to the list, or to
// the form of the next.
func (req *request) another(list string) string {
	if req.PostFormValue("another") != "" {
		return list + "/new"
	}
	return list
}

func (k record[T]) askDelete(s *Server) handler {
	return of(k.find, func(req *request, current T) error {
		return s.ask(req, page.Confirm{
			Question: "Delete %s?", Args: []any{k.name(current)}, Danger: true, Button: k.deleted.button, Back: k.at(req),
			Effects: []string{k.deleted.unused, "This cannot be undone."},
		})
	})
}

// delete deletes a record that nothing uses. One that a message rule is for is
// refused: the rule would reach no one, and say nothing.
func (k record[T]) delete(s *Server, req *request) error {
	rules := read(req, s.Reminders.Rules)
	if req.failed != nil {
		return req.failed
	}
	if slices.ContainsFunc(rules, func(rule reminder.Rule) bool { return k.deleted.usedBy(rule) == req.id }) {
		return req.complain(k.path, fault.Conflict("a message rule is for it; change the rule first"))
	}
	gone, err := k.deleted.remove(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain(k.at(req), err)
	}
	return req.done(k.path, "%s was deleted.", k.name(gone))
}

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
