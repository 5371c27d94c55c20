// Package kit is what the pages of the panel are made of: who asks and what they may
// open, forms, lists, questions, files and work over many records. It answers
// requests; the pages themselves, and the table of their paths, are not here.
package kit

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

// MaxForm is how large a form may be.
const MaxForm = 1 << 20

const timeLimit = 30 * time.Second

// maxForm bounds the form of a route: who is not known sends little.
func (op Route) maxForm() int64 {
	if op.Role == Public {
		return 64 << 10
	}
	return MaxForm
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

// Panel answers requests.
type Panel struct {
	Deps
	Fair   web.Fair
	Pages  *page.Set
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
}

// Request is a request for a page. Visit is empty on public pages.
type Request struct {
	*http.Request
	account.Visit
	panel     *Panel
	unlimited *http.Request // the same without the limits of time and size
	Writer    http.ResponseWriter
	ID        int64 // of the path, when the route has one
	Today     civil.Date
	Lang      page.Lang
	Failed    error // the first part of a page that could not be read
}

// Handler is one page, or one form that is sent.
type Handler func(*Request) error

// Long lifts the limits of time and size off a handler that reads or writes as
// long as it takes, and reads a file out of its body by itself.
func Long(handle Handler) Handler {
	return func(req *Request) error {
		req.Request = req.unlimited
		return handle(req)
	}
}

// New makes a panel without pages, of what is behind it and its templates.
func New(deps Deps, templates fs.FS) *Panel {
	panel := &Panel{
		Deps: deps, Pages: page.New(templates, tags), mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
	}
	panel.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		panel.serve(w, r, nowhere) //nolint:contextcheck // it is the request's
	})
	return panel
}

// AnswerTo adds pages.
func (s *Panel) AnswerTo(routes []Route) {
	for _, route := range routes {
		s.mux.HandleFunc(route.Pattern(), func(w http.ResponseWriter, request *http.Request) {
			s.serve(w, request, route) //nolint:contextcheck // it is the request's
		})
	}
}

// ServeHTTP answers one request.
func (s *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mux.ServeHTTP(w, r)
}

// nowhere is the route of addresses that lead to no page.
var nowhere = Route{
	Path: "/", Role: Self, handler: func(*Request) error { return fault.NotFound("page") },
}

// serve answers a request, and shows what went wrong: in the frame of the panel
// for who is signed in.
func (s *Panel) serve(w http.ResponseWriter, r *http.Request, op Route) {
	req := &Request{panel: s, unlimited: r, Writer: w, Lang: page.LangOf(r)}
	err := s.answer(req, op)
	if err == nil {
		return
	}
	switch signedOut := fault.KindOf(err) == fault.KindUnauthenticated; {
	case signedOut && op.Method == nowhere.Method:
		s.Pages.Fail(w, r, fault.NotFound("page"))
		return
	case signedOut || req.User.ID == 0:
		s.fail(w, r, err)
		return
	}
	req.Request, req.Failed = r, nil // the time limit of the page was for the page
	view := page.Failed(w, r, "failed", err)
	if fault.KindOf(err) == fault.KindForbidden {
		view.Name, view.Data = "forbidden", forbidden{fault.Public(err), s.owners(req)}
	}
	if s.render(req, view) != nil { // what the frame needs cannot be had either
		s.Pages.Fail(w, r, err)
	}
}

// forbidden is what is said of a page that a role does not open.
type forbidden struct {
	Reason string
	Owners []string // who can give access
}

// owners are the names of the company's owners; none where they cannot be had.
func (s *Panel) owners(req *Request) (names []string) {
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

func (s *Panel) answer(req *Request, op Route) error {
	w, r := req.Writer, req.unlimited
	if op.Method != nowhere.Method {
		web.ExchangeOf(r.Context()).Route = op.Pattern()
	}
	if strings.Contains(op.Path, "{link}") { // a reader of the log must not be able to use it
		web.ExchangeOf(r.Context()).Path = op.Path
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
	if barred, err := op.permit(req.Actor, req.Today); err != nil {
		return s.bar(req, op, barred, err)
	}
	if err := req.read(op); err != nil {
		return err
	}
	if ok, err := s.proved(req, op); err != nil || !ok {
		return err
	}
	if outgoing[op.Pattern()] {
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
func (s *Panel) runHandler(req *Request, op Route) error {
	if op.Method == http.MethodGet && req.Actor.Company.ID != 0 && !strings.HasSuffix(op.Path, "/export") {
		leave, err := s.Fair.Enter(req.Context(), req.Actor.Company.ID)
		if err != nil {
			return err
		}
		defer leave()
	}
	if err := op.handler(req); err != nil {
		return err
	}
	return req.Failed
}

// admit finds out who asks and whether they may. It is the one place where a
// role is held against a page.
func (s *Panel) admit(req *Request, op Route) error {
	if op.Role == Public {
		return nil
	}
	visit, err := s.Accounts.Authenticate(req.Context(), Token(req.Request), req.Visitor())
	if err != nil {
		return err
	}
	req.Visit, req.Today = visit, visit.Actor.Today(s.DB.Now())
	web.ExchangeOf(req.Context()).CompanyID = visit.Actor.Company.ID
	if !Allows(visit.User.Role, op.Role) {
		return fault.Forbidden("your access does not include this; an owner of the company can give it to you")
	}
	return nil
}

// read takes the id out of the path and the form out of the body.
func (req *Request) read(op Route) error {
	if strings.Contains(op.Path, "{id}") {
		id, err := strconv.ParseInt(req.PathValue("id"), 10, 64)
		if err != nil || id <= 0 || req.PathValue("id")[0] == '+' {
			return fault.NotFound("page")
		}
		req.ID = id
	}
	if op.Method != http.MethodPost {
		return nil
	}
	err := req.ParseForm()
	if err == nil && fileForms[op.Pattern()] {
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
		s.Pages.Fail(w, r, err)
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

// Visitor is who asks, before they are known.
func (req *Request) Visitor() account.Visitor {
	return account.Visitor{Address: web.Caller(req.Request), Agent: req.UserAgent(), Device: CookieValue(req.Request, deviceCookie)}
}
