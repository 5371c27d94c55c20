package kit

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// lowest is the level from which on a company has the pages of a function. All
// others have theirs at every level.
var lowest = map[account.Function]account.Level{Resellers: account.LevelReseller}

// outgoing are the routes that call another machine while the browser waits.
// They are counted: a company could make our server call many addresses.
var outgoing = map[string]bool{
	"POST /webhooks/{id}/test":           true,
	"POST /deliveries/{id}/resend":       true,
	"POST /messages/channels/{id}/test":  true,
	"POST /messages/channels/{id}/phone": true,
	"POST /payments/gateway/check":       true,
	"POST /payments/gateway/webhook":     true,
	"POST /payments/gateways/{provider}": true,
}

// TakesAway are the routes that take access away, or erase a person as the law
// wants it: a company may always do that, whatever its standing.
var TakesAway = map[string]bool{
	"POST /api/tokens/{id}/delete":       true,
	"POST /settings/users/{id}/remove":   true,
	"POST /customers/{id}/page/withdraw": true,
	"POST /customers/{id}/erase":         true,
}

// barrier is what keeps a company from a page.
type barrier string

const (
	byLevel    barrier = "level"
	byPlan     barrier = "plan"     // it lacks the function
	byStanding barrier = "standing" // expired or suspended
)

// permit is the one place where the panel refuses what a company may not do:
// what is above its level, what its plan does not have, and every change when
// its subscription has ended. What people do about themselves (sign out,
// password, sessions, second factor) is never refused.
func (op Route) permit(actor account.Actor, today civil.Date) (barrier, error) {
	if op.Role == Public || op.Role == Self {
		return "", nil
	}
	if needs := lowest[op.Function]; !actor.Company.Level.AtLeast(needs) {
		return byLevel, fault.Forbidden("level: these pages need the level " + string(needs) + " or higher")
	}
	for _, function := range op.Functions() {
		if err := actor.Allow(function); err != nil {
			return byPlan, err
		}
	}
	if op.Method == http.MethodGet || TakesAway[op.Pattern()] {
		return "", nil
	}
	return byStanding, actor.Writable(today)
}

// Functions are those that a route needs: its own, and the export's where it sends
// a list as a file.
func (op Route) Functions() []account.Function {
	if strings.HasSuffix(op.Path, "/export") {
		return []account.Function{op.Function, Exports}
	}
	return []account.Function{op.Function}
}

// lacking is the first function that a company has not.
func (op Route) lacking(actor account.Actor) account.Function {
	for _, function := range op.Functions() {
		if !actor.May(function) {
			return function
		}
	}
	return Basic
}

type barData struct {
	Barrier  barrier
	Function account.FunctionEntry // that the plan lacks
	Parent   account.Contact
}

// bar shows in the frame of the panel why a page is not for the company, and
// who can help.
func (s *Panel) bar(req *Request, op Route, barrier barrier, why error) error {
	web.ExchangeOf(req.Context()).Err = why
	data := barData{Barrier: barrier, Parent: Read(req, s.Accounts.Parent)}
	i := slices.IndexFunc(account.FunctionCatalog, func(entry account.FunctionEntry) bool {
		return entry.Name == op.lacking(req.Actor)
	})
	if i >= 0 {
		data.Function = account.FunctionCatalog[i]
	}
	return s.render(req, page.View{Name: "barred", Title: BarTitles[barrier], Status: web.Status(why), Data: data})
}

// BarTitles are the titles of the pages that say why.
var BarTitles = map[barrier]string{
	byLevel:    "Your level does not include this",
	byPlan:     "Your plan does not include this",
	byStanding: "Nothing can be changed at the moment",
}

// NoticeDays is how long before its end a subscription is spoken of.
const NoticeDays = 7

// notice is what every page says about the company's subscription.
type notice struct {
	Standing account.Standing
	Above    bool // a company above this one is stopped, and this one with it
	Trial    bool
	EndsOn   civil.Date
	Days     int // until then
	Parent   account.Contact
}

// notice is nil while there is nothing to say.
func (s *Panel) notice(req *Request) *notice {
	sub := req.Actor.Company.Subscription
	n := &notice{Standing: sub.Standing(req.Today), Trial: sub.Kind == account.Trial, EndsOn: sub.ExpiresOn}
	live := n.Standing == account.StandingTrial || n.Standing == account.StandingActive
	n.Above = live && sub.StoppedAbove(req.Today)
	if live && !n.Above {
		if sub.ExpiresOn.IsZero() {
			return nil // nothing to say
		}
		if n.Days = sub.ExpiresOn.Sub(req.Today); n.Days > NoticeDays {
			return nil // nothing to say
		}
	}
	n.Parent = Read(req, s.Accounts.Parent)
	return n
}

// Sensitive are the routes that would turn a stolen session into an account, or
// redirect money: they want a recent proof of who is signed in.
var Sensitive = map[string]bool{
	"POST /settings/users/new":                true,
	"POST /settings/users/{id}":               true,
	"POST /settings/users/{id}/link":          true,
	"POST /settings/users/{id}/second-factor": true,
	"POST /settings/users/{id}/remove":        true,
	"POST /api/tokens":                        true,
	"POST /api/tokens/{id}/delete":            true,
	"POST /payments/gateways/{provider}":      true,
	"POST /payments/gateway/clear":            true,
	"POST /payments/gateway/webhook":          true,
	"POST /webhooks/new":                      true,
	"POST /webhooks/{id}/edit":                true,
	"POST /webhooks/{id}/secret":              true,
	"POST /webhooks/callback-secret":          true,
	"POST /customers/{id}/erase":              true,
	"POST /messages/channels/new":             true,
	"POST /messages/channels/{id}/edit":       true,
	"POST /messages/channels/{id}/phone":      true,
	"GET /profile/second-factor":              true,
	"POST /profile/second-factor":             true,
	"POST /profile/email":                     true,
	"POST /profile/second-factor/off":         true,
}

// HandedOut are the routes that let data or a secret out of the program, with what
// the audit log says of it.
var HandedOut = map[string]string{
	"GET /customers/export":         "export.customers",
	"GET /invoices/export":          "export.invoices",
	"GET /payments/export":          "export.payments",
	"GET /payments/month/export":    "export.month",
	"GET /resellers/export":         "export.resellers",
	"GET /credits/export":           "export.credits",
	"GET /messages/log/export":      "export.messages",
	"GET /webhooks/{id}/export":     "export.deliveries",
	"GET /settings/audit/export":    "export.audit",
	"GET /customers/{id}/file":      "export.customer_file",
	"GET /webhooks/callback-secret": "callback_secret.shown",
}

// WantsProof reports whether a route asks who it is: what is handed out does, too.
func (op Route) WantsProof() bool { return Sensitive[op.Pattern()] || HandedOut[op.Pattern()] != "" }

// noteHandedOut leaves a line in the audit log before anything is let out.
func (s *Panel) noteHandedOut(req *Request, op Route) error {
	action, ok := HandedOut[op.Pattern()]
	if !ok {
		return nil
	}
	kind, _, _ := strings.Cut(action, ".")
	return s.Accounts.Note(req.Context(), req.Actor, account.AuditEntry{Action: action, Record: kind, ID: req.ID})
}

// proofField is the field of a form that carries a proof in addition to its own
// fields.
const proofField = "proof"

type proofData struct {
	Form   *page.Form
	Action string // where the form is sent, with what it had
	Sent   []sentField
	Factor bool // a code of the second factor is as good as the password
	Takes  bool // what is asked for is a file with customers' data
	Cancel string
}

// isFile reports whether a page is a file to be saved, after which the browser stays
// where it was.
func isFile(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return strings.HasSuffix(path, "/export") || strings.HasSuffix(path, "/file")
}

type sentField struct{ Name, Value string }

// proved reports whether the user has proved recently who they are, or proves it
// with this request. Otherwise it shows the question: what was sent is kept in
// the page, so that nothing has to be typed twice.
func (s *Panel) proved(req *Request, op Route) (bool, error) {
	if !op.WantsProof() || req.Session.Proved(s.DB.Real()) {
		return true, nil
	}
	var refusal error
	if given := req.PostForm.Get(proofField); op.Method == http.MethodPost && given != "" {
		refusal = s.Accounts.Prove(req.Context(), req.Visit, account.Proof{Text: given})
		if refusal == nil {
			req.PostForm.Del(proofField)
			return true, nil
		}
		if !Refused(refusal) {
			return false, refusal
		}
	}
	return false, s.askProof(req, op, refusal)
}

func (s *Panel) askProof(req *Request, op Route, refusal error) error {
	data := proofData{Form: page.NewForm(), Action: req.URL.Path, Cancel: page.LocalPath(req.PostForm.Get("back"))}
	data.Form.Fail(refusal)
	status := http.StatusForbidden
	if op.Method == http.MethodGet {
		data.Action, status = "/profile/proof", http.StatusOK
		data.Sent = []sentField{{"next", req.URL.RequestURI()}}
		data.Takes, data.Cancel = isFile(req.URL.Path), listOf(req.URL.Path)
	}
	for name, values := range req.PostForm {
		for _, value := range values {
			if name != proofField {
				data.Sent = append(data.Sent, sentField{name, value})
			}
		}
	}
	slices.SortStableFunc(data.Sent, func(a, b sentField) int {
		return strings.Compare(a.Name, b.Name)
	})
	if refusal != nil {
		status = StatusOf(refusal)
	}
	return s.showProof(req, data, status)
}

func (s *Panel) showProof(req *Request, data proofData, status int) (err error) {
	data.Factor, _, err = s.Accounts.HasSecondFactor(req.Context(), req.Actor)
	req.Note(err)
	return s.render(req, page.View{Name: "proof", Title: "Is it you?", Status: status, Data: data})
}

// Prove takes the proof that a page was asked for with, and leads back to it.
func (s *Panel) Prove(req *Request) error {
	next := page.LocalPath(req.PostFormValue("next"))
	form := input.FromStrings(map[string]string{proofField: req.PostFormValue(proofField)})
	err := s.Accounts.Prove(req.Context(), req.Visit, account.ReadProof(form))
	if Refused(err) {
		data := proofData{
			Form: page.NewForm(), Action: "/profile/proof", Sent: []sentField{{"next", next}}, Takes: isFile(next),
			Cancel: listOf(next),
		}
		data.Form.Fail(err)
		return s.showProof(req, data, StatusOf(err))
	}
	if err != nil {
		return err
	}
	if isFile(next) { // a redirect would leave the question on the screen, with the password in it
		req.Writer.Header().Set("Refresh", "0; url="+next)
		return req.Show("file_comes", "Your file", fileData{next, listOf(next)})
	}
	return req.GoOn(next)
}

// fileData is a file that the browser fetches by itself, and where to go on.
type fileData struct{ File, Back string }

// listOf is the page on which a file is offered; the home page for others.
func listOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	for _, end := range []string{"/export", "/file"} {
		if list, found := strings.CutSuffix(path, end); found {
			return page.LocalPath(list)
		}
	}
	return "/"
}

// The cookies: one of the session, and one by which a browser is known again
// after it has ended.
const (
	SessionCookie = "carteira_session"
	deviceCookie  = "carteira_device"
)

// CookieName is that of a cookie here. Under https it is bound to the host: a
// neighbour under the same domain cannot put one of its own in its place.
func CookieName(r *http.Request, name string) string {
	if page.Secure(r) {
		return "__Host-" + name
	}
	return name
}

// CookieValue is what a cookie holds; "" without it.
func CookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(CookieName(r, name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Token is what the browser holds; "" when it holds nothing.
func Token(r *http.Request) string { return CookieValue(r, SessionCookie) }

// SetCookie gives the browser a cookie for a time.
func (req *Request) SetCookie(name, value string, life time.Duration) {
	http.SetCookie(req.Writer, &http.Cookie{
		Name: CookieName(req.Request, name), Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true,
		Secure: page.Secure(req.Request), SameSite: http.SameSiteLaxMode,
	})
}

// Remember gives the browser what a sign-in has made.
func (req *Request) Remember(in account.SignedIn) {
	req.SetCookie(SessionCookie, in.Token, account.SessionLife)
	if in.Device != "" {
		req.SetCookie(deviceCookie, in.Device, account.DeviceLife)
	}
}
