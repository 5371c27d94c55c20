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
func (k record[T]) routes(who role, function account.Function) []pathRow {
	send := func(save func(*request) (T, error)) handler {
		return func(req *request) error { return k.send(req, save) }
	}
	list := []pathRow{
		{k.path + "/new", who, function, opened(k.show), send(k.create)},
		{k.path + "/{id}", who, function, opened(k.show), send(k.update)},
	}
	if k.deleted != nil {
		list = append(list, pathRow{k.path + "/{id}/delete", who, function, k.askDelete(), k.delete})
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
func (k record[T]) show(req *request, form *page.Form, refusal error) error {
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
	return req.showForm(k.form, data.title(k.fresh, k.edit), refusal, shown)
}

// send creates or changes a record by the form that was sent.
func (k record[T]) send(req *request, save func(*request) (T, error)) error {
	saved, err := save(req)
	switch {
	case err != nil:
		return req.again(err, k.show)
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

func (k record[T]) askDelete() handler {
	return of(k.find, func(req *request, current T) error {
		return req.ask(page.Confirm{
			Question: "Delete %s?", Args: []any{k.name(current)}, Danger: true, Button: k.deleted.button, Back: k.at(req),
			Effects: []string{k.deleted.unused, "This cannot be undone."},
		})
	})
}

// delete deletes a record that nothing uses. One that a message rule is for is
// refused: the rule would reach no one, and say nothing.
func (k record[T]) delete(req *request) error {
	rules := read(req, req.panel.Reminders.Rules)
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

// named reads what the record of the path is called.
func named[T any](find func(context.Context, account.Actor, int64) (T, error), name func(T) (int64, string)) func(*request) string {
	return func(req *request) string {
		_, called := name(readOf(req, find, req.id))
		return called
	}
}

// question is what is asked about the record of a path before something is done with
// it that cannot be taken back.
type question struct {
	path     string
	role     role
	function account.Function
	of       func(*request) string // what the record is called
	ask      page.Confirm
	do       useCase
	to, said string // where it leads, and what is said there; it may name the record
}

// route is the path of a question.
func (q question) route() pathRow {
	return pathRow{q.path, q.role, q.function, func(req *request) error {
		ask := q.ask
		ask.Args, ask.Back, ask.Danger = []any{q.of(req)}, req.at(ask.Back), true
		return req.ask(ask)
	}, func(req *request) error {
		name := q.of(req)
		if req.failed != nil {
			return req.failed
		}
		if err := q.do(req.Context(), req.Actor, req.id); err != nil {
			return req.complain(req.at(q.ask.Back), err)
		}
		if strings.Contains(q.said, "%s") {
			return req.done(req.at(q.to), q.said, name)
		}
		return req.done(req.at(q.to), q.said)
	}}
}
