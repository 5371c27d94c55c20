package kit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/internal/web/page"
)

// Record is a kind of record that a person makes, edits and deletes with one
// form: a plan, a product, a subscription plan.
type Record[T any] struct {
	Path, Input string // the path of its list, the name of the page of its form
	Fresh, Edit string // titles of the form
	Named       func(T) (int64, string)
	Blank       func(*Request) *page.Form // the form of a new one
	Shown       func(T) *page.Form        // the form of one that exists
	Find        func(context.Context, account.Actor, int64) (T, error)
	Create      func(*Request) (T, error)
	Update      func(*Request) (T, error)
	Page        func(*Request, RecordForm, T) any // what its form shows; nil: no more than the form
	Created     func(*Request, T) error           // where a new one leads; nil: to the list
	Saved       func(*Request, T) error           // where a changed one leads; nil: to the list
	Deleted     *Deletion[T]                      // nil: it cannot be deleted
}

// Deletion is how a record that is not in use is deleted.
type Deletion[T any] struct {
	Button, Unused string // the word of the button, and which ones can be deleted
	Remove         func(context.Context, account.Actor, int64) (T, error)
	UsedBy         func(reminder.Rule) int64 // the record that a message rule is for
}

// RecordForm is what the page of a form shows that makes a record or changes one.
type RecordForm struct {
	Form   *page.Form
	Action string
	Back   string // the record, or the list where it is new
	New    bool
	ID     int64 // 0: it is new
}

// RecordForm is the form of a new record of a list, or of the one that the path names.
func (req *Request) RecordForm(list string, form *page.Form) RecordForm {
	if req.ID != 0 {
		list += "/" + IDText(req.ID)
	}
	return RecordForm{Form: form, Action: req.URL.Path, Back: list, New: req.ID == 0, ID: req.ID}
}

// Title is that of a new record, or of one that is changed.
func (f RecordForm) Title(fresh, edit string) string { return Either(f.New, fresh, edit) }

// Routes are the form's pages, for those who may change such records.
func (k Record[T]) Routes(who Role, function account.Function) []PathRow {
	send := func(save func(*Request) (T, error)) Handler {
		return func(req *Request) error { return k.send(req, save) }
	}
	list := []PathRow{
		{k.Path + "/new", who, function, Opened(k.show), send(k.Create)},
		{k.Path + "/{id}", who, function, Opened(k.show), send(k.Update)},
	}
	if k.Deleted != nil {
		list = append(list, PathRow{k.Path + "/{id}/delete", who, function, k.askDelete(), k.delete})
	}
	return list
}

func (k Record[T]) at(req *Request) string { return k.Path + "/" + IDText(req.ID) }

func (k Record[T]) name(of T) string {
	_, name := k.Named(of)
	return name
}

// show shows the form: of a new record, or of the one that the path names. Without
// a form it has what the record has.
func (k Record[T]) show(req *Request, form *page.Form, refusal error) error {
	var current T
	if req.ID == 0 {
		form = cmp.Or(form, k.Blank(req))
	} else {
		current = ReadOf(req, k.Find, req.ID)
	}
	data := req.RecordForm(k.Path, cmp.Or(form, k.Shown(current)))
	var shown any = data
	if k.Page != nil {
		shown = k.Page(req, data, current)
	}
	return req.ShowForm(k.Input, data.Title(k.Fresh, k.Edit), refusal, shown)
}

// send creates or changes a record by the form that was sent.
func (k Record[T]) send(req *Request, save func(*Request) (T, error)) error {
	saved, err := save(req)
	switch {
	case err != nil:
		return req.Again(err, k.show)
	case req.ID == 0 && k.Created != nil:
		return k.Created(req, saved)
	case req.ID == 0:
		return req.Done(req.another(k.Path), "%s was created.", k.name(saved))
	case k.Saved != nil:
		return k.Saved(req, saved)
	}
	return req.Done(k.Path, "%s was saved.", k.name(saved))
}

// another is where a person goes on after creating something: to the list, or to
// the form of the next.
func (req *Request) another(list string) string {
	if req.PostFormValue("another") != "" {
		return list + "/new"
	}
	return list
}

func (k Record[T]) askDelete() Handler {
	return Of(k.Find, func(req *Request, current T) error {
		return req.Ask(page.Confirm{
			Question: "Delete %s?", Args: []any{k.name(current)}, Danger: true, Button: k.Deleted.Button, Back: k.at(req),
			Effects: []string{k.Deleted.Unused, "This cannot be undone."},
		})
	})
}

// delete deletes a record that nothing uses. One that a message rule is for is
// refused: the rule would reach no one, and say nothing.
func (k Record[T]) delete(req *Request) error {
	rules := Read(req, req.panel.Reminders.Rules)
	if req.Failed != nil {
		return req.Failed
	}
	if slices.ContainsFunc(rules, func(rule reminder.Rule) bool { return k.Deleted.UsedBy(rule) == req.ID }) {
		return req.Complain(k.Path, fault.Conflict("a message rule is for it; change the rule first"))
	}
	gone, err := k.Deleted.Remove(req.Context(), req.Actor, req.ID)
	if err != nil {
		return req.Complain(k.at(req), err)
	}
	return req.Done(k.Path, "%s was deleted.", k.name(gone))
}

// useCase does something with a record.
type useCase func(context.Context, account.Actor, int64) error

// Quietly is a use case without what it returns.
func Quietly[T any](do func(context.Context, account.Actor, int64) (T, error)) useCase {
	return func(ctx context.Context, actor account.Actor, id int64) error {
		_, err := do(ctx, actor, id)
		return err
	}
}

// at is a path of the panel with the record of the request in the place of {id}.
func (req *Request) at(path string) string { return strings.ReplaceAll(path, "{id}", IDText(req.ID)) }

// Deed is what a button does with the record of the path, where it leads and what is
// said there.
func Deed(do useCase, to, said string) Handler {
	return func(req *Request) error { return req.Did(do(req.Context(), req.Actor, req.ID), req.at(to), said) }
}

// Named reads what the record of the path is called.
func Named[T any](find func(context.Context, account.Actor, int64) (T, error), name func(T) (int64, string)) func(*Request) string {
	return func(req *Request) string {
		_, called := name(ReadOf(req, find, req.ID))
		return called
	}
}

// Question is what is asked about the record of a path before something is done with
// it that cannot be taken back.
type Question struct {
	Path     string
	Role     Role
	Function account.Function
	Of       func(*Request) string // what the record is called
	Ask      page.Confirm
	Do       useCase
	To, Said string // where it leads, and what is said there; it may name the record
}

// Route is the path of a question.
func (q Question) Route() PathRow {
	return PathRow{q.Path, q.Role, q.Function, func(req *Request) error {
		ask := q.Ask
		ask.Args, ask.Back, ask.Danger = []any{q.Of(req)}, req.at(ask.Back), true
		return req.Ask(ask)
	}, func(req *Request) error {
		name := q.Of(req)
		if req.Failed != nil {
			return req.Failed
		}
		if err := q.Do(req.Context(), req.Actor, req.ID); err != nil {
			return req.Complain(req.at(q.Ask.Back), err)
		}
		if strings.Contains(q.Said, "%s") {
			return req.Done(req.at(q.To), q.Said, name)
		}
		return req.Done(req.at(q.To), q.Said)
	}}
}
