package panel

// The kit of all pages: what they read from a request, what they offer in
// selects and how they answer.

import (
	"cmp"
	"context"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// form is what was sent, for a use case. Amounts may be written as in Brazil.
func (req *request) form(amounts ...string) *input.Form {
	return req.formWith(nil, amounts...)
}

func (req *request) formWith(lists []string, amounts ...string) *input.Form {
	values := maps.Clone(req.PostForm)
	for _, name := range amounts {
		if cents, err := money.ParseBR(req.PostFormValue(name)); err == nil {
			values[name] = []string{cents.String()}
		}
	}
	return input.FromForm(values, lists...)
}

// rowsOfAPage is how many rows a list shows unless the address asks for another
// number: as many as a page of 40 KB has room for.
const rowsOfAPage = 36

// query is what the address asks for.
func (req *request) query() *input.Form { return req.queryWith(rowsOfAPage) }

// queryWith is query for a list with longer or shorter rows than usual.
func (req *request) queryWith(rows int) *input.Form {
	values := req.URL.Query()
	if !values.Has("per_page") {
		values.Set("per_page", strconv.Itoa(rows))
	}
	return input.FromQuery(values)
}

// show shows a page in the frame of the panel, unless a part of it could not be read.
func (req *request) show(name, title string, data any) error {
	return req.showForm(name, title, nil, data)
}

// render shows a page in the frame.
func (s *Panel) render(req *request, view page.View) error {
	if req.failed != nil {
		return req.failed
	}
	view.Frame, view.Zone = s.frame(req), req.Actor.Company.Zone
	if req.failed != nil {
		return req.failed
	}
	s.pages.Render(req.w, req.Request, view)
	return nil
}

// formPage shows a form: as it is opened where form is nil, or as it was sent and
// why it was refused.
type formPage func(req *request, form *page.Form, refusal error) error

// opened shows a form for the first time.
func opened(show formPage) handler {
	return func(req *request) error { return show(req, nil, nil) }
}

// showForm shows the page of a form, with the status of its refusal.
func (req *request) showForm(name, title string, refusal error, data any) error {
	return req.panel.render(req, page.View{Name: name, Title: title, Status: statusOf(refusal), Data: data})
}

// again shows a form with what was sent and why it was refused; other errors are
// returned.
func (req *request) again(err error, show formPage) error {
	if !refused(err) {
		return err
	}
	return show(req, page.Sent(req.Request, err), err)
}

// sent ends a form: it says what was done and goes on, or shows the form again.
func (req *request) sent(err error, show formPage, to, text string, args ...any) error {
	if err != nil {
		return req.again(err, show)
	}
	return req.done(to, text, args...)
}

// did ends what a button did: it says so, or why it was refused, and goes on.
func (req *request) did(err error, to, text string, args ...any) error {
	if err != nil {
		return req.complain(to, err)
	}
	return req.done(to, text, args...)
}

// of makes a handler of one that is for the record of the path.
func of[T any](find func(context.Context, account.Actor, int64) (T, error), handle func(*request, T) error) handler {
	return func(req *request) error {
		record := readOf(req, find, req.id)
		if req.failed != nil {
			return req.failed
		}
		return handle(req, record)
	}
}

// asked makes a handler that asks about the record of the path, before the form at
// the same address does what it asks about.
func asked[T any](find func(context.Context, account.Actor, int64) (T, error), confirm func(T) page.Confirm) handler {
	return of(find, func(req *request, record T) error { return req.ask(confirm(record)) })
}

// note keeps the first failure of a request. What reads a page goes on with nothing
// after it, and the page is not shown.
func (req *request) note(err error) {
	if req.failed == nil {
		req.failed = err
	}
}

// read is what a room has for the company. After a failure nothing is read.
func read[T any](req *request, from func(context.Context, account.Actor) (T, error)) (found T) {
	if req.failed == nil {
		found, req.failed = from(req.Context(), req.Actor)
	}
	return found
}

// readOf is what a room has of a record, or for a question.
func readOf[Q, T any](req *request, from func(context.Context, account.Actor, Q) (T, error), of Q) (found T) {
	if req.failed == nil {
		found, req.failed = from(req.Context(), req.Actor, of)
	}
	return found
}

// goOn leads to another page of the panel.
func (req *request) goOn(to string) error {
	if req.failed != nil {
		return req.failed
	}
	page.Go(req.w, req.Request, to)
	return nil
}

// done says what was done and goes on.
func (req *request) done(to, text string, args ...any) error {
	return req.doneUndo("", to, text, args...)
}

// batch is the actor of work that can be undone as a whole.
func (req *request) batch() account.Actor {
	actor := req.Actor
	actor.Batch = id.NewCode(16)
	return actor
}

// doneUndo is done with a button that takes a batch back; "" has none.
func (req *request) doneUndo(batch, to, text string, args ...any) error {
	if req.failed == nil {
		page.SayUndo(req.w, req.Request, batch, text, args...)
	}
	return req.goOn(to)
}

// refused reports whether a form is to be shown again; other errors are for
// the page of errors.
func refused(err error) bool {
	kind := fault.KindOf(err)
	return err != nil &&
		(kind == fault.KindInvalid || kind == fault.KindConflict || kind == fault.KindRateLimited)
}

// complain says why something was refused and goes on; other errors are
// returned.
func (req *request) complain(to string, err error) error {
	if !refused(err) && fault.KindOf(err) != fault.KindUpstream {
		return err
	}
	text := fault.Public(err)
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, text = fields.First()
	}
	page.Complain(req.w, req.Request, text)
	return req.goOn(to)
}

// statusOf is the status of a page with a refused form.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return web.Status(err)
}

func urlQuery(s string) string { return url.QueryEscape(s) }

var catalogAll catalog.Filter

// maxChoices is how many plans or products a select offers.
const maxChoices = 200

// queryForm shows what the address asks for.
func queryForm(req *request) *page.Form {
	var pairs []string
	for name, values := range req.URL.Query() {
		pairs = append(pairs, name, values[0])
	}
	return page.NewForm(pairs...)
}

// choices are the plans and products that a select offers. Filters offer those
// that are no longer sold too.
func (s *Panel) choices(req *request, inactive bool) (plans, products []page.Option) {
	all := input.Page{Number: 1, Size: maxChoices}
	planList, _, err := s.Catalog.Plans(req.Context(), req.Actor, catalogAll, all)
	req.note(err)
	productList, _, err := s.Catalog.Products(req.Context(), req.Actor, catalogAll, all)
	req.note(err)
	none := req.option("", either(inactive, "All", "None"))
	planList = slices.DeleteFunc(planList, func(plan catalog.Plan) bool { return !plan.Active && !inactive })
	productList = slices.DeleteFunc(productList, func(product catalog.Product) bool { return !product.Active && !inactive })
	plans = namedOptions(planList, func(plan catalog.Plan) (int64, string) { return plan.ID, plan.Name + " · " + plan.Value.BR() }, none)
	return plans, namedOptions(productList, productName, none)
}

// optionsOf are the options of a list after those that come first.
func optionsOf[T any](list []T, option func(T) page.Option, first ...page.Option) []page.Option {
	for _, one := range list {
		first = append(first, option(one))
	}
	return first
}

// namedOptions are the records of a list by their ids, after those that come first.
func namedOptions[T any](list []T, of func(T) (int64, string), first ...page.Option) []page.Option {
	return optionsOf(list, func(one T) page.Option {
		id, name := of(one)
		return page.Option{Value: idText(id), Label: name}
	}, first...)
}

// wordOptions are values by the words that people read, after those that come first.
func wordOptions[T ~string](req *request, list []T, texts map[T]string, first ...page.Option) []page.Option {
	return optionsOf(list, func(one T) page.Option {
		return req.option(string(one), cmp.Or(texts[one], words[string(one)], string(one)))
	}, first...)
}

// options are choices of values and English texts in turn.
func (req *request) options(pairs ...string) (list []page.Option) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, req.option(pair[0], pair[1]))
	}
	return list
}

// option is a choice with its text in the reader's language.
func (req *request) option(value, label string) page.Option {
	return page.Option{Value: value, Label: req.lang.T(label)}
}

// either is the first text where something is so, else the other.
func either(so bool, text, other string) string {
	if so {
		return text
	}
	return other
}

// readActive reads the button that turns a record on or off.
func (req *request) readActive() input.Opt[bool] {
	return input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active")
}

func idText(id int64) string { return either(id == 0, "", strconv.FormatInt(id, 10)) }

// ask shows a question in the panel's frame. Its button sends a form to the same
// address, unless the question says another.
func (req *request) ask(confirm page.Confirm) error {
	confirm.Action = cmp.Or(confirm.Action, req.URL.Path)
	return req.show("ask", "Are you sure?", confirm)
}

// back is where a form leads to that is on several pages.
func (req *request) back(otherwise string) string {
	if b := req.PostFormValue("back"); b != "" {
		return page.LocalPath(b)
	}
	return otherwise
}

// qr is the picture of a text.
func (req *request) qr(text string) template.HTML {
	picture, err := page.QR(text)
	req.note(err)
	return picture
}

// reasonOf is why something was refused.
func reasonOf(err error) string {
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, reason := fields.First()
		return reason
	}
	return fault.Public(err)
}

func boolText(on bool) string { return strconv.FormatBool(on) }

// amountText is an amount as a form shows it; empty: none.
func amountText(amount money.Cents) string {
	if amount == 0 {
		return ""
	}
	return strings.TrimPrefix(amount.BR(), "R$ ")
}

// units offers the units of a period in the reader's language.
func (req *request) units() []page.Option {
	return req.options("day", "days", "week", "weeks", "month", "months", "year", "years")
}

// mayCharge reports whether the user may have charges made.
func (req *request) mayCharge() bool {
	return allows(req.User.Role, desk) && req.Actor.May(payments) && req.Actor.Writable(req.today) == nil
}

// sells reports whether the company has the pages of resellers.
func (req *request) sells() bool {
	return req.Actor.Company.Level.AtLeast(lowest[resellers]) && req.Actor.May(resellers)
}

// sends reports whether the company's plan has messages, for pages that show
// some among other things.
func (req *request) sends() bool {
	return req.Actor.May(account.FunctionReminders)
}
