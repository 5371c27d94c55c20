// Package panel is what a company works in all day: pages over the same use
// cases as the API. It owns the table of routes, who may open which, the
// session cookie and what stands on each page. No rule of the business stands
// here: a handler reads a form, calls a use case and shows what it returns.
// docs/panel.md says how a page is made.
package panel

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

//go:embed templates/*.html
var templates embed.FS

const (
	maxForm   = 1 << 20
	timeLimit = 30 * time.Second
)

// Deps are the capabilities behind the panel.
type Deps struct {
	DB        *sqldb.DB
	Accounts  *account.Service
	Catalog   *catalog.Service
	Customers *customer.Service
	Billing   *billing.Service
	Dashboard *dashboard.Service
	Webhooks  *webhook.Service
	Payments  *payment.Service
	Resellers *reseller.Service
	Reminders *reminder.Service
	PublicURL string // what links begin with
}

// Server answers the panel.
type Server struct {
	Deps
	pages  *page.Set
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
}

// request is a page that somebody asked for. Visit is empty on public pages.
type request struct {
	*http.Request
	account.Visit
	w     http.ResponseWriter
	id    int64 // of the path, when the route has one
	today civil.Date
	lang  page.Lang
}

// handler is one page, or one form that is sent.
type handler func(q *request) error

// New makes the panel of what is behind it.
func New(d Deps) *Server {
	files, err := fs.Sub(templates, "templates")
	if err != nil {
		panic(err) // embedded
	}
	s := &Server{Deps: d, pages: page.New(files), mux: http.NewServeMux(), origin: http.NewCrossOriginProtection()}
	for _, r := range s.table() {
		s.mux.HandleFunc(r.pattern(), func(w http.ResponseWriter, h *http.Request) {
			if err := s.answer(w, h, r); err != nil {
				s.fail(w, h, err)
			}
		})
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.pages.Fail(w, r, fault.NotFound("page")) })
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) answer(w http.ResponseWriter, r *http.Request, op route) error {
	web.ExchangeOf(r.Context()).Route = op.pattern()
	if strings.Contains(op.path, "{link}") { // whoever reads the log must not be able to use it
		web.ExchangeOf(r.Context()).Path = op.path
	}
	if err := s.origin.Check(r); err != nil {
		return fault.Forbidden("this form was sent from another site")
	}
	if !op.long {
		ctx, cancel := context.WithTimeout(r.Context(), timeLimit)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	q := &request{Request: r, w: w, lang: page.LangOf(r)}
	if err := s.admit(q, op); err != nil { //nolint:contextcheck // it is the request's, which q holds
		return err
	}
	if barred, err := op.permit(q.Actor, q.today); err != nil {
		return s.bar(q, op, barred, err) //nolint:contextcheck // it is the request's, which q holds
	}
	if err := q.read(op); err != nil {
		return err
	}
	return op.handler(q)
}

// admit finds out who asks and whether they may. It is the one place where a
// role is held against a page.
func (s *Server) admit(q *request, op route) error {
	if op.role == public {
		return nil
	}
	v, err := s.Accounts.Authenticate(q.Context(), token(q.Request), visitor(q.Request))
	if err != nil {
		return err
	}
	q.Visit, q.today = v, v.Actor.Today(s.DB.Now())
	web.ExchangeOf(q.Context()).CompanyID = v.Actor.Company.ID
	if !allows(v.User.Role, op.role) {
		return fault.Forbidden("your role does not allow this; ask an owner of the company")
	}
	return nil
}

// read takes the id out of the path and the form out of the body.
func (q *request) read(op route) error {
	if strings.Contains(op.path, "{id}") {
		id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
		if err != nil || id <= 0 || q.PathValue("id")[0] == '+' {
			return fault.NotFound("page")
		}
		q.id = id
	}
	if op.method != http.MethodPost || op.long {
		return nil
	}
	err := q.ParseForm()
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.KindTooLarge, "the form is too large")
	}
	if err != nil {
		return fault.New(fault.KindInvalid, "the form could not be read")
	}
	return nil
}

// fail shows an error; who is signed out is led to the sign-in instead.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if fault.KindOf(err) != fault.KindUnauthenticated {
		s.pages.Fail(w, r, err)
		return
	}
	login := "/login"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		login += "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
	}
	if r.Header.Get("Hx-Request") != "" {
		w.Header().Set("Hx-Redirect", login)
		return
	}
	page.Go(w, r, login)
}

// form is what was sent, for a use case. Amounts may be written as in Brazil.
func (q *request) form(amounts ...string) *input.Form { return q.formWith(nil, amounts...) }

func (q *request) formWith(lists []string, amounts ...string) *input.Form {
	values := maps.Clone(q.PostForm)
	for _, name := range amounts {
		if cents, err := money.ParseBR(q.PostFormValue(name)); err == nil {
			values[name] = []string{cents.String()}
		}
	}
	return input.FromForm(values, lists...)
}

// query is what the address asks for.
func (q *request) query() *input.Form { return input.FromQuery(q.URL.Query()) }

// show shows a page in the frame of the panel.
func (s *Server) show(q *request, v page.View) error {
	f, err := s.frame(q)
	if err != nil {
		return err
	}
	v.Frame, v.Zone = f, q.Actor.Company.Zone
	s.pages.Render(q.w, q.Request, v)
	return nil
}

// done says what was done and goes on.
func (q *request) done(to, text string, args ...any) error {
	page.Say(q.w, q.Request, text, args...)
	page.Go(q.w, q.Request, to)
	return nil
}

// refused reports whether a form is to be shown again; other errors are for
// the page of errors.
func refused(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && (kind == fault.KindInvalid || kind == fault.KindConflict || kind == fault.KindRateLimited)
}

// complain says why something was refused and goes on; other errors are
// returned.
func (q *request) complain(to string, err error) error {
	if !refused(err) && fault.KindOf(err) != fault.KindUpstream {
		return err
	}
	text := fault.Public(err)
	if fields := fault.FieldsOf(err); !fields.Empty() {
		_, text = fields.First()
	}
	page.Complain(q.w, q.Request, text)
	page.Go(q.w, q.Request, to)
	return nil
}

// statusOf is the status of a page whose form was refused.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return web.Status(err)
}

func visitor(r *http.Request) account.Visitor {
	return account.Visitor{Address: web.Caller(r), Agent: r.UserAgent()}
}
