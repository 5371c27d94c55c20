package kit

// What pages read from a request, what they offer in selects and how they answer.

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

// Input is what was sent, for a use case. Amounts may be written as in Brazil.
func (req *Request) Input(amounts ...string) *input.Form {
	return req.InputWith(nil, amounts...)
}

// InputWith is Input with fields that have several values.
func (req *Request) InputWith(lists []string, amounts ...string) *input.Form {
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

// Query is what the address asks for.
func (req *Request) Query() *input.Form { return req.queryWith(rowsOfAPage) }

// queryWith is query for a list with longer or shorter rows than usual.
func (req *Request) queryWith(rows int) *input.Form {
	values := req.URL.Query()
	if !values.Has("per_page") {
		values.Set("per_page", strconv.Itoa(rows))
	}
	return input.FromQuery(values)
}

// Show shows a page in the frame of the panel, unless a part of it could not be read.
func (req *Request) Show(name, title string, data any) error {
	return req.ShowForm(name, title, nil, data)
}

// render shows a page in the frame.
func (s *Panel) render(req *Request, view page.View) error {
	if req.Failed != nil {
		return req.Failed
	}
	view.Frame, view.Zone = s.frame(req), req.Actor.Company.Zone
	if req.Failed != nil {
		return req.Failed
	}
	s.Pages.Render(req.Writer, req.Request, view)
	return nil
}

// formPage shows a form: as it is opened where form is nil, or as it was sent and
// why it was refused.
type formPage func(req *Request, form *page.Form, refusal error) error

// Opened shows a form for the first time.
func Opened(show formPage) Handler {
	return func(req *Request) error { return show(req, nil, nil) }
}

// ShowForm shows the page of a form, with the status of its refusal.
func (req *Request) ShowForm(name, title string, refusal error, data any) error {
	return req.panel.render(req, page.View{Name: name, Title: title, Status: StatusOf(refusal), Data: data})
}

// Again shows a form with what was sent and why it was refused; other errors are
// returned.
func (req *Request) Again(err error, show formPage) error {
	if !Refused(err) {
		return err
	}
	return show(req, page.Sent(req.Request, err), err)
}

// Sent ends a form: it says what was done and goes on, or shows the form again.
func (req *Request) Sent(err error, show formPage, to, text string, args ...any) error {
	if err != nil {
		return req.Again(err, show)
	}
	return req.Done(to, text, args...)
}

// Did ends what a button did: it says so, or why it was refused, and goes on.
func (req *Request) Did(err error, to, text string, args ...any) error {
	if err != nil {
		return req.Complain(to, err)
	}
	return req.Done(to, text, args...)
}

// Of makes a handler of one that is for the record of the path.
func Of[T any](find func(context.Context, account.Actor, int64) (T, error), handle func(*Request, T) error) Handler {
	return func(req *Request) error {
		record := ReadOf(req, find, req.ID)
		if req.Failed != nil {
			return req.Failed
		}
		return handle(req, record)
	}
}

// Asked makes a handler that asks about the record of the path, before the form at
// the same address does what it asks about.
func Asked[T any](find func(context.Context, account.Actor, int64) (T, error), confirm func(T) page.Confirm) Handler {
	return Of(find, func(req *Request, record T) error { return req.Ask(confirm(record)) })
}

// Note keeps the first failure of a request. What reads a page goes on with nothing
// after it, and the page is not shown.
func (req *Request) Note(err error) {
	if req.Failed == nil {
		req.Failed = err
	}
}

// Read is what a room has for the company. After a failure nothing is read.
func Read[T any](req *Request, from func(context.Context, account.Actor) (T, error)) (found T) {
	if req.Failed == nil {
		found, req.Failed = from(req.Context(), req.Actor)
	}
	return found
}

// ReadOf is what a room has of a record, or for a question.
func ReadOf[Q, T any](req *Request, from func(context.Context, account.Actor, Q) (T, error), of Q) (found T) {
	if req.Failed == nil {
		found, req.Failed = from(req.Context(), req.Actor, of)
	}
	return found
}

// ReadPage is a page of a room's list, and how much comes of all.
func ReadPage[Q, T, N any](
	req *Request, from func(context.Context, account.Actor, Q, input.Page) (T, N, error), of Q, at input.Page,
) (found T, all N) {
	if req.Failed == nil {
		found, all, req.Failed = from(req.Context(), req.Actor, of, at)
	}
	return found, all
}

// GoOn leads to another page of the panel.
func (req *Request) GoOn(to string) error {
	if req.Failed != nil {
		return req.Failed
	}
	page.Go(req.Writer, req.Request, to)
	return nil
}

// Done says what was done and goes on.
func (req *Request) Done(to, text string, args ...any) error {
	return req.DoneUndo("", to, text, args...)
}

// Batch is the actor of work that can be undone as a whole.
func (req *Request) Batch() account.Actor {
	actor := req.Actor
	actor.Batch = id.NewCode(16)
	return actor
}

// DoneUndo is done with a button that takes a batch back; "" has none.
func (req *Request) DoneUndo(batch, to, text string, args ...any) error {
	if req.Failed == nil {
		page.SayUndo(req.Writer, req.Request, batch, text, args...)
	}
	return req.GoOn(to)
}

// Refused reports whether a form is to be shown again; other errors are for
// the page of errors.
func Refused(err error) bool {
	kind := fault.KindOf(err)
	return err != nil &&
		(kind == fault.KindInvalid || kind == fault.KindConflict || kind == fault.KindRateLimited)
}

// Complain says why something was refused and goes on; other errors are
// returned.
func (req *Request) Complain(to string, err error) error {
	if !Refused(err) && fault.KindOf(err) != fault.KindUpstream {
		return err
	}
	text := fault.Public(err)
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, text = fields.First()
	}
	page.Complain(req.Writer, req.Request, text)
	return req.GoOn(to)
}

// StatusOf is the status of a page with a refused form.
func StatusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return web.Status(err)
}

// MaxChoices is how many plans or products a select offers.
const MaxChoices = 200

// QueryForm shows what the address asks for.
func QueryForm(req *Request) *page.Form {
	var pairs []string
	for name, values := range req.URL.Query() {
		pairs = append(pairs, name, values[0])
	}
	return page.NewForm(pairs...)
}

// Choices are the plans and products that a select offers. Filters offer those
// that are no longer sold too.
func (s *Panel) Choices(req *Request, inactive bool) (plans, products []page.Option) {
	all := input.Page{Number: 1, Size: MaxChoices}
	planList, _ := ReadPage(req, s.Catalog.Plans, catalog.Filter{}, all)
	productList, _ := ReadPage(req, s.Catalog.Products, catalog.Filter{}, all)
	none := req.Option("", Either(inactive, "All", "None"))
	planList = slices.DeleteFunc(planList, func(plan catalog.Plan) bool { return !plan.Active && !inactive })
	productList = slices.DeleteFunc(productList, func(product catalog.Product) bool { return !product.Active && !inactive })
	plans = NamedOptions(planList, func(plan catalog.Plan) (int64, string) { return plan.ID, plan.Name + " · " + plan.Value.BR() }, none)
	return plans, NamedOptions(productList, ProductName, none)
}

// OptionsOf are the options of a list after those that come first.
func OptionsOf[T any](list []T, option func(T) page.Option, first ...page.Option) []page.Option {
	for _, one := range list {
		first = append(first, option(one))
	}
	return first
}

// NamedOptions are the records of a list by their ids, after those that come first.
func NamedOptions[T any](list []T, of func(T) (int64, string), first ...page.Option) []page.Option {
	return OptionsOf(list, func(one T) page.Option {
		id, name := of(one)
		return page.Option{Value: IDText(id), Label: name}
	}, first...)
}

// WordOptions are values by the words that people read, after those that come first.
func WordOptions[T ~string](req *Request, list []T, texts map[T]string, first ...page.Option) []page.Option {
	return OptionsOf(list, func(one T) page.Option {
		return req.Option(string(one), cmp.Or(texts[one], Words[string(one)], string(one)))
	}, first...)
}

// Options are choices of values and English texts in turn.
func (req *Request) Options(pairs ...string) (list []page.Option) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, req.Option(pair[0], pair[1]))
	}
	return list
}

// Option is a choice with its text in the reader's language.
func (req *Request) Option(value, label string) page.Option {
	return page.Option{Value: value, Label: req.Lang.T(label)}
}

// Either is the first text where something is so, else the other.
func Either(so bool, text, other string) string {
	if so {
		return text
	}
	return other
}

// ReadActive reads the button that turns a record on or off.
func (req *Request) ReadActive() input.Opt[bool] {
	return input.FromStrings(map[string]string{"active": req.PostFormValue("active")}).Bool("active")
}

// IDText is an id as addresses and forms have it; "" for none.
func IDText(id int64) string { return Either(id == 0, "", strconv.FormatInt(id, 10)) }

// Ask shows a question in the panel's frame. Its button sends a form to the same
// address, unless the question says another.
func (req *Request) Ask(confirm page.Confirm) error {
	confirm.Action = cmp.Or(confirm.Action, req.URL.Path)
	return req.Show("ask", "Are you sure?", confirm)
}

// Back is where a form leads to that is on several pages.
func (req *Request) Back(otherwise string) string {
	if b := req.PostFormValue("back"); b != "" {
		return page.LocalPath(b)
	}
	return otherwise
}

// QR is the picture of a text.
func (req *Request) QR(text string) template.HTML {
	picture, err := page.QR(text)
	req.Note(err)
	return picture
}

// ReasonOf is why something was refused.
func ReasonOf(err error) string {
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, reason := fields.First()
		return reason
	}
	return fault.Public(err)
}

// BoolText is a box of a form.
func BoolText(on bool) string { return strconv.FormatBool(on) }

// AmountText is an amount as a form shows it; empty: none.
func AmountText(amount money.Cents) string {
	if amount == 0 {
		return ""
	}
	return strings.TrimPrefix(amount.BR(), "R$ ")
}

// Units offers the units of a period in the reader's language.
func (req *Request) Units() []page.Option {
	return req.Options("day", "days", "week", "weeks", "month", "months", "year", "years")
}

// MayCharge reports whether the user may have charges made.
func (req *Request) MayCharge() bool {
	return Allows(req.User.Role, Desk) && req.Actor.May(Payments) && req.Actor.Writable(req.Today) == nil
}

// Sells reports whether the company has the pages of resellers.
func (req *Request) Sells() bool {
	return req.Actor.Company.Level.AtLeast(lowest[Resellers]) && req.Actor.May(Resellers)
}

// Sends reports whether the company's plan has messages, for pages that show
// some among other things.
func (req *Request) Sends() bool {
	return req.Actor.May(account.FunctionReminders)
}

// PlanName is the name of a plan.
func PlanName(plan catalog.Plan) (int64, string) { return plan.ID, plan.Name }

// ProductName is the name of a product.
func ProductName(product catalog.Product) (int64, string) { return product.ID, product.Name }

// RenewChoices are what may become of the open invoice of a renewal by hand.
func RenewChoices(req *Request) []page.Option {
	return req.Options("keep", "still owed", "paid", "paid with the renewal", "cancelled", "cancelled")
}

// ChatWith opens a chat with a text typed in.
func ChatWith(number, text string) string {
	return "https://wa.me/" + number + "?text=" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// Inviting is what an invitation says.
func Inviting(name, link string) string {
	return page.Portuguese.T("Hello, %s! Choose your password here to begin: %s (it works once, for 7 days)", name, link)
}
