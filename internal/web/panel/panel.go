// Package panel is what a company works in all day: pages over the same use
// cases as the API. It owns the table of routes, who may open which, the
// session cookie and the contents of each page. It has no rule of the
// business: a handler reads a form, calls a use case and shows what it
// returns. docs/panel.md says how a page is made.
package panel

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/dashboard"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/privacy"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/sandbox"
	"carteira/internal/web"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

const (
	maxForm   = 1 << 20
	timeLimit = 30 * time.Second
)

// maxForm bounds the form of a route: who is not known sends little.
func (op route) maxForm() int64 {
	if op.role == public {
		return 64 << 10
	}
	return maxForm
}

// Deps are the capabilities behind the panel.
type Deps struct {
	DB        *sqldb.DB
	Accounts  *account.Service
	Catalog   *catalog.Service
	Customers *customer.Service
	Intake    *intake.Service
	Billing   *billing.Service
	Dashboard *dashboard.Service
	Webhooks  *webhook.Service
	Payments  *payment.Service
	Resellers *reseller.Service
	Reminders *reminder.Service
	Privacy   *privacy.Service
	PublicURL string           // what links begin with
	Reach     config.Reach     // whether customers can open such links
	Sandbox   *sandbox.Service // nil: a real installation
}

// Server answers the panel.
type Panel struct {
	Deps
	fair   web.Fair
	pages  *page.Set
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
}

// request is a request for a page. Visit is empty on public pages.
type request struct {
	*http.Request
	account.Visit
	panel     *Panel
	unlimited *http.Request // the same without the limits of time and size
	w         http.ResponseWriter
	id        int64 // of the path, when the route has one
	today     civil.Date
	lang      page.Lang
	failed    error // the first part of a page that could not be read
}

// handler is one page, or one form that is sent.
type handler func(*request) error

// long lifts the limits of time and size off a handler that reads or writes as
// long as it takes, and reads a file out of its body by itself.
func long(handle handler) handler {
	return func(req *request) error {
		req.Request = req.unlimited
		return handle(req)
	}
}

// newPanel makes a panel without pages, of what is behind it and its templates.
func newPanel(deps Deps, templates fs.FS) *Panel {
	panel := &Panel{
		Deps: deps, pages: page.New(templates, tags), mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
	}
	panel.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		panel.serve(w, r, nowhere) //nolint:contextcheck // it is the request's
	})
	return panel
}

// answerTo adds pages.
func (s *Panel) answerTo(routes []route) {
	for _, route := range routes {
		s.mux.HandleFunc(route.pattern(), func(w http.ResponseWriter, request *http.Request) {
			s.serve(w, request, route) //nolint:contextcheck // it is the request's
		})
	}
}

// ServeHTTP answers one request.
func (s *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mux.ServeHTTP(w, r)
}

// nowhere is the route of addresses that lead to no page.
var nowhere = route{
	path: "/", role: self, handler: func(*request) error { return fault.NotFound("page") },
}

// serve answers a request, and shows what went wrong: in the frame of the panel
// for who is signed in.
func (s *Panel) serve(w http.ResponseWriter, r *http.Request, op route) {
	req := &request{panel: s, unlimited: r, w: w, lang: page.LangOf(r)}
	err := s.answer(req, op)
	if err == nil {
		return
	}
	switch signedOut := fault.KindOf(err) == fault.KindUnauthenticated; {
	case signedOut && op.method == nowhere.method:
		s.pages.Fail(w, r, fault.NotFound("page"))
		return
	case signedOut || req.User.ID == 0:
		s.fail(w, r, err)
		return
	}
	req.Request, req.failed = r, nil // the time limit of the page was for the page
	view := page.Failed(w, r, "failed", err)
	if fault.KindOf(err) == fault.KindForbidden {
		view.Name, view.Data = "forbidden", forbidden{fault.Public(err), s.owners(req)}
	}
	if s.render(req, view) != nil { // what the frame needs cannot be had either
		s.pages.Fail(w, r, err)
	}
}

// forbidden is what is said of a page that a role does not open.
type forbidden struct {
	Reason string
	Owners []string // who can give access
}

// owners are the names of the company's owners; none where they cannot be had.
func (s *Panel) owners(req *request) (names []string) {
	people, err := s.Accounts.Users(req.Context(), req.Actor)
	if err != nil {
		return nil
	}
	for _, person := range people {
		if person.Role == account.RoleOwner && person.ID != req.User.ID {
			names = append(names, person.Name)
		}
	}
	return names
}

func (s *Panel) answer(req *request, op route) error {
	w, r := req.w, req.unlimited
	if op.method != nowhere.method {
		web.ExchangeOf(r.Context()).Route = op.pattern()
	}
	if strings.Contains(op.path, "{link}") { // a reader of the log must not be able to use it
		web.ExchangeOf(r.Context()).Path = op.path
	}
	if err := s.origin.Check(r); err != nil {
		return fault.Forbidden("this form was sent from another site")
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeLimit)
	defer cancel()
	limited := r.WithContext(ctx)
	limited.Body = http.MaxBytesReader(w, r.Body, op.maxForm())
	req.Request = limited
	if err := s.admit(req, op); err != nil {
		return err
	}
	if barred, err := op.permit(req.Actor, req.today); err != nil {
		return s.bar(req, op, barred, err)
	}
	if err := req.read(op); err != nil {
		return err
	}
	if ok, err := s.proved(req, op); err != nil || !ok {
		return err
	}
	if outgoing[op.pattern()] {
		if err := s.Accounts.CountOutgoing(req.Context(), req.Actor); err != nil {
			return err
		}
	}
	if err := s.noteHandedOut(req, op); err != nil {
		return err
	}
	return s.runHandler(req, op)
}

// runHandler runs the handler. A page takes a place of its company; a file that is
// written as long as it takes does not.
func (s *Panel) runHandler(req *request, op route) error {
	if op.method == http.MethodGet && req.Actor.Company.ID != 0 && !strings.HasSuffix(op.path, "/export") {
		leave, err := s.fair.Enter(req.Context(), req.Actor.Company.ID)
		if err != nil {
			return err
		}
		defer leave()
	}
	if err := op.handler(req); err != nil {
		return err
	}
	return req.failed
}

// admit finds out who asks and whether they may. It is the one place where a
// role is held against a page.
func (s *Panel) admit(req *request, op route) error {
	if op.role == public {
		return nil
	}
	visit, err := s.Accounts.Authenticate(req.Context(), token(req.Request), visitor(req.Request))
	if err != nil {
		return err
	}
	req.Visit, req.today = visit, visit.Actor.Today(s.DB.Now())
	web.ExchangeOf(req.Context()).CompanyID = visit.Actor.Company.ID
	if !allows(visit.User.Role, op.role) {
		return fault.Forbidden("your access does not include this; an owner of the company can give it to you")
	}
	return nil
}

// read takes the id out of the path and the form out of the body.
func (req *request) read(op route) error {
	if strings.Contains(op.path, "{id}") {
		id, err := strconv.ParseInt(req.PathValue("id"), 10, 64)
		if err != nil || id <= 0 || req.PathValue("id")[0] == '+' {
			return fault.NotFound("page")
		}
		req.id = id
	}
	if op.method != http.MethodPost {
		return nil
	}
	err := req.ParseForm()
	if err == nil && fileForms[op.pattern()] {
		err = req.readFiles()
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.KindTooLarge, "the form is too large")
	}
	if err != nil {
		return fault.New(fault.KindInvalid, "the form could not be read")
	}
	return nil
}

// fail shows an error; who is signed out is led to the sign-in instead.
func (s *Panel) fail(w http.ResponseWriter, r *http.Request, err error) {
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

func visitor(r *http.Request) account.Visitor {
	return account.Visitor{Address: web.Caller(r), Agent: r.UserAgent(), Device: cookieValue(r, deviceCookie)}
}
