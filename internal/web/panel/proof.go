package panel

import (
	"net/http"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// sensitive are the routes that would turn a stolen session into an account, or
// redirect money: they want a recent proof of who is signed in.
var sensitive = map[string]bool{
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
	"GET /webhooks/callback-secret":           true,
	"POST /webhooks/callback-secret":          true,
	"GET /customers/{id}/file":                true,
	"POST /customers/{id}/erase":              true,
	"GET /customers/export":                   true,
	"GET /invoices/export":                    true,
	"GET /payments/export":                    true,
	"GET /payments/month/export":              true,
	"GET /resellers/export":                   true,
	"GET /credits/export":                     true,
	"GET /messages/log/export":                true,
	"GET /webhooks/{id}/export":               true,
	"GET /settings/audit/export":              true,
	"POST /messages/channels/new":             true,
	"POST /messages/channels/{id}/edit":       true,
	"POST /messages/channels/{id}/phone":      true,
	"GET /profile/second-factor":              true,
	"POST /profile/second-factor":             true,
	"POST /profile/email":                     true,
	"POST /profile/second-factor/off":         true,
}

// handedOut are the routes that let data or a secret out of the program, with what
// the audit log says of it.
var handedOut = map[string]string{
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

// noteHandedOut leaves a line in the audit log before anything is let out.
func (s *Server) noteHandedOut(req *request, op route) error {
	action, ok := handedOut[op.pattern()]
	if !ok {
		return nil
	}
	kind, _, _ := strings.Cut(action, ".")
	return s.Accounts.Note(req.Context(), req.Actor, account.AuditEntry{Action: action, Record: kind, ID: req.id})
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
func (s *Server) proved(req *request, op route) (bool, error) {
	if !sensitive[op.pattern()] || req.Session.Proved(s.DB.Real()) {
		return true, nil
	}
	var refusal error
	if given := req.PostForm.Get(proofField); op.method == http.MethodPost && given != "" {
		refusal = s.Accounts.Prove(req.Context(), req.Visit, account.Proof{Text: given})
		if refusal == nil {
			req.PostForm.Del(proofField)
			return true, nil
		}
		if !refused(refusal) {
			return false, refusal
		}
	}
	return false, s.askProof(req, op, refusal)
}

func (s *Server) askProof(req *request, op route, refusal error) error {
	data := proofData{Form: page.NewForm(), Action: req.URL.Path, Cancel: page.LocalPath(req.PostForm.Get("back"))}
	data.Form.Fail(refusal)
	status := http.StatusForbidden
	if op.method == http.MethodGet {
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
		status = statusOf(refusal)
	}
	return s.showProof(req, data, status)
}

func (s *Server) showProof(req *request, data proofData, status int) error {
	var err error
	if data.Factor, _, err = s.Accounts.HasSecondFactor(req.Context(), req.Actor); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "proof", Title: "Is it you?", Status: status, Data: data})
}

// prove takes the proof that a page was asked for with, and leads back to it.
func (s *Server) prove(req *request) error {
	next := page.LocalPath(req.PostFormValue("next"))
	form := input.FromStrings(map[string]string{proofField: req.PostFormValue(proofField)})
	err := s.Accounts.Prove(req.Context(), req.Visit, account.ReadProof(form))
	if refused(err) {
		data := proofData{
			Form:   page.NewForm(),
			Action: "/profile/proof",
			Sent:   []sentField{{"next", next}},
			Takes:  isFile(next),
			Cancel: listOf(next),
		}
		data.Form.Fail(err)
		return s.showProof(req, data, statusOf(err))
	}
	if err != nil {
		return err
	}
	if isFile(next) { // a redirect would leave the question on the screen, with the password in it
		req.w.Header().Set("Refresh", "0; url="+next)
		return s.show(req, page.View{Name: "file_comes", Title: "Your file", Data: fileData{next, listOf(next)}})
	}
	page.Go(req.w, req.Request, next)
	return nil
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
