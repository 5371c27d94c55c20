// Package api is the REST API under /api/v1. It owns the table of operations,
// the rules that hold for all of them (authentication first, then the rate
// limit, then the operation) and the JSON of each record. It has no rule of
// the business: a handler reads a form, calls one use case and writes what it
// returns.
package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/sandbox"
	"carteira/internal/web"
	"carteira/internal/web/idempotency"
	"carteira/internal/webhook"
)

// Prefix is the path of the API.
const Prefix = "/api/v1"

const (
	maxBody = 1 << 20
	// timeLimit bounds a request.
	timeLimit = 30 * time.Second
)

// Deps are the capabilities behind the API.
type Deps struct {
	DB          *sqldb.DB
	Accounts    *account.Service
	Catalog     *catalog.Service
	Customers   *customer.Service
	Billing     *billing.Service
	Resellers   *reseller.Service
	Dashboard   *dashboard.Service
	Webhooks    *webhook.Service
	Events      *event.Feed
	Payments    *payment.Service
	Idempotency *idempotency.Service
	PublicURL   string           // what the addresses in answers begin with
	Sandbox     *sandbox.Service // nil: a real installation
}

// Server answers the API.
type Server struct {
	Deps
	fair  web.Fair
	paths map[string]methods // by pattern without method
	mux   *http.ServeMux     // from a path to its pattern
}

type methods map[string]route

// handler is one operation.
type handler func(ctx context.Context, c *call) (web.Answer, error)

// call is a request that has been let in.
type call struct {
	actor account.Actor
	id    int64  // of the path, when the route has one
	event string // instead of id, where a delivery is named by its event
	today civil.Date
	http  *http.Request
	body  []byte
	base  string // what the addresses in the answer begin with
	// payAt are the pages on which the invoices of the answer can be paid, by
	// invoice; payPages fills it before the records are written.
	payAt map[int64]string
}

// form reads the body.
func (c *call) form() (*input.Form, error) { return input.FromJSON(c.body) }

// query reads the query string. A parameter that the operation does not know is
// refused.
func (c *call) query() *input.Form {
	return input.FromParameters(c.http.URL.Query())
}

// New makes the API of what is behind it.
func New(deps Deps) *Server {
	server := &Server{Deps: deps, paths: map[string]methods{}, mux: http.NewServeMux()}
	for _, route := range server.routes() {
		if server.paths[route.path] == nil {
			server.paths[route.path] = methods{}
			if route.path != externalPath {
				server.mux.Handle(Prefix+route.path, http.NotFoundHandler())
			}
		}
		server.paths[route.path][route.method] = route
	}
	return server
}

// Operations lists what is served, as "METHOD /path".
func (s *Server) Operations() []string {
	var list []string
	for _, route := range s.routes() {
		list = append(list, route.method+" "+route.path)
	}
	return list
}

// ServeHTTP answers one request. Without a valid token the answer reveals
// nothing else, not even which paths exist.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeLimit)
	defer cancel()
	w.Header().Set("Cache-Control", "no-store")
	status, body := s.answer(ctx, w, r)
	if packed, ok := pack(w.Header(), r, body); ok {
		web.Write(w, status, packed)
	} else {
		web.Write(w, status, body)
	}
	if reads(r) { // the answer to another may be stored under its idempotency key
		keepBody(body)
	}
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// answer lets a request in and carries it out.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request) (int, []byte) {
	pattern := s.patternOf(r)
	actor, quota, err := s.Accounts.Admit(ctx, bearer(r))
	defer func() { quotaHeaders(w.Header(), quota) }()
	if err != nil {
		return failure(ctx, w, err)
	}
	actor.From = web.Caller(r)
	web.ExchangeOf(ctx).CompanyID = actor.Company.ID
	if reads(r) && pattern != eventsPath { // which waits for what comes
		leave, err := s.fair.Enter(ctx, actor.Company.ID)
		if err != nil {
			return failure(ctx, w, err)
		}
		defer leave()
	}
	return s.operate(ctx, w, r, admitted{actor, pattern})
}

// admitted is the sender of a request, and the path of the table that it is
// for.
type admitted struct {
	actor   account.Actor
	pattern string
}

// operate finds the operation and runs it, once per idempotency key.
func (s *Server) operate(ctx context.Context, w http.ResponseWriter, r *http.Request, let admitted) (int, []byte) {
	op, call, err := s.match(ctx, w, r, let)
	if err != nil {
		return failure(ctx, w, err)
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Method != http.MethodPost {
		return run(ctx, w, op, call)
	}
	if reason := idempotency.Refuse(key); reason != "" {
		return failure(ctx, w, fault.Field("Idempotency-Key", reason))
	}
	req := idempotency.Request{
		Key:         key,
		Fingerprint: sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), call.body...)),
	}
	answer, repeated, err := s.Idempotency.Run(ctx, let.actor, req, idempotency.Work{
		Do: func(marked account.Actor) (stored idempotency.Stored) {
			call.actor = marked
			stored.Status, stored.Body = run(ctx, w, op, call)
			return stored
		},
		Reread: func(recordID int64) (stored idempotency.Stored) {
			stored.Status, stored.Body = s.reread(ctx, w, op, call, recordID)
			return stored
		},
	})
	if err != nil && answer.Status == 0 {
		return failure(ctx, w, err)
	}
	if err != nil {
		web.ExchangeOf(ctx).Err = err
	}
	if repeated {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	return answer.Status, answer.Body
}

func run(ctx context.Context, w http.ResponseWriter, op route, call *call) (int, []byte) {
	answer, err := op.handler(ctx, call)
	if err != nil {
		return failure(ctx, w, err)
	}
	maps.Copy(w.Header(), answer.Header)
	body := web.AppendAnswer(newBody(answer.SizeHint()), answer)
	if answer.Tagged && call.has(w.Header(), body) {
		return http.StatusNotModified, nil
	}
	return http.StatusOK, body
}

// has gives the answer its ETag, and reports whether the caller has it already.
func (c *call) has(header http.Header, body []byte) bool {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	for given := range strings.SplitSeq(c.http.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(given), "W/") == tag {
			return true
		}
	}
	return false
}

// match finds the operation of a request and reads what it needs of it.
func (s *Server) match(ctx context.Context, w http.ResponseWriter, r *http.Request, let admitted) (route, *call, error) {
	actor, known := let.actor, s.paths[let.pattern]
	if known == nil {
		return route{}, nil, fault.NotFound("path")
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, ok := known[method]
	if !ok {
		w.Header().Set("Allow", known.allow())
		return route{}, nil, fault.New(fault.KindMethodNotAllowed, "method not allowed; allowed: "+known.allow())
	}
	web.ExchangeOf(ctx).Route = op.method + " " + Prefix + op.path
	c := &call{actor: actor, today: actor.Today(s.DB.Now()), http: r, base: s.PublicURL}
	err := op.permit(actor, s.DB.Now())
	if err != nil {
		return route{}, nil, err
	}
	if op.record != "" {
		if c.id, c.event, err = pathID(r.URL, op); err != nil {
			return route{}, nil, err
		}
	}
	if !op.takesQuery() {
		if err := c.query().Err(); err != nil {
			return route{}, nil, err
		}
	}
	c.body, err = readBody(w, r)
	return op, c, err
}

// patternOf is the path of the table that a request is for; "" when there is
// none.
func (s *Server) patternOf(r *http.Request) string {
	if _, ok := externalID(r.URL); ok {
		return externalPath
	}
	if path.Clean(r.URL.Path) != r.URL.Path {
		return ""
	}
	_, pattern := s.mux.Handler(r)
	return strings.TrimPrefix(pattern, Prefix)
}

// permit is the one place where the API refuses what a company may not do:
// what is above its level, what its plan does not have, and every change when
// its subscription has ended or its token may only read.
func (op route) permit(actor account.Actor, now time.Time) error {
	if err := actor.Allow(account.FunctionAPI); err != nil {
		return err
	}
	if !actor.Company.Level.AtLeast(op.level) {
		return fault.Forbidden("level: this operation needs the level " + string(op.level) + " or higher")
	}
	if actor.Scope == account.ScopeRead && op.method != http.MethodGet {
		return fault.Forbidden("scope: this token may only read; changes need one with the scope full")
	}
	return actor.Permit(op.function, op.method != http.MethodGet, now)
}

func (m methods) allow() string {
	var list []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		known := method
		if method == http.MethodHead {
			known = http.MethodGet
		}
		if _, ok := m[known]; ok {
			list = append(list, method)
		}
	}
	return strings.Join(list, ", ")
}

// pathID reads {id}. Anything but a positive whole number names no record,
// and is answered like one that does not exist; only a delivery may also be
// named by its event. The mux has matched the path by segments, in which an
// escaped slash does not end one.
func pathID(address *url.URL, op route) (id int64, event string, err error) {
	wanted, got := strings.Split(op.path, "/"), strings.Split(address.EscapedPath(), "/")
	got = got[len(got)-len(wanted):]
	segment, err := url.PathUnescape(got[slices.Index(wanted, "{id}")])
	if err == nil && op.record == "delivery" && isEventID(segment) {
		return 0, segment, nil
	}
	id, notNumber := strconv.ParseInt(segment, 10, 64)
	if err != nil || notNumber != nil || id <= 0 || segment[0] == '+' {
		return 0, "", fault.NotFound(op.record)
	}
	return id, "", nil
}

// isEventID keeps away from the database what it could not even compare.
func isEventID(s string) bool {
	rest, ok := strings.CutPrefix(s, "evt_")
	return ok && strings.Trim(rest, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost && r.Method != http.MethodPut || r.ContentLength == 0 {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, fault.New(fault.KindTooLarge, "the body must not be larger than 1 MiB")
	}
	if err != nil {
		return nil, fault.New(fault.KindInvalid, "the body could not be read to its end")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if len(body) > 0 && (err != nil || media != "application/json" && !strings.HasSuffix(media, "+json")) {
		return nil, fault.New(fault.KindUnsupportedMedia, "send the body as JSON, with Content-Type: application/json")
	}
	return body, nil
}

// bearer is the token of the Authorization header, or "".
func bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

func quotaHeaders(header http.Header, quota account.Quota) {
	if quota.Limit > 0 {
		// Spelled as the contract has them, not as Go would.
		header["X-RateLimit-Limit"] = []string{strconv.Itoa(quota.Limit)}
		header["X-RateLimit-Remaining"] = []string{strconv.Itoa(quota.Remaining)}
	}
	if quota.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(quota.RetryAfter/time.Second)))
	}
}

// failure is the answer to an error; the log gets its cause.
func failure(ctx context.Context, w http.ResponseWriter, err error) (int, []byte) {
	err = web.Explain(err)
	web.ExchangeOf(ctx).Err = err
	web.RetryAfter(w.Header(), err)
	if fault.KindOf(err) == fault.KindUnauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	return web.Status(err), web.AppendFault(nil, err)
}
