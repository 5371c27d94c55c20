package panel

import (
	"cmp"
	"context"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
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
