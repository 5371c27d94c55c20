package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/api"
	"carteira/internal/web/panel"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// hostile are texts that a database may be unable to store or compare.
var hostile = []string{
	"\x00", "a\x00b", "\xff", "Jo\xe3o", "\xed\xa0\x80", "ends\xe2\x80", "💥", "'\"\\", strings.Repeat("ã", 3000),
}

var ownPattern = regexp.MustCompile(`"((?:GET|POST) /[^" ]*)"`)

// others are the patterns that neither the API nor the panel answers, as their source
// has them, and one that nothing answers.
func others(t *testing.T) []string {
	t.Helper()
	patterns := []string{"GET /static/{file}", "GET /{nowhere}"}
	for _, folder := range []string{".", "../web/checkout", "../web/callback", "../web/docs"} {
		files, err := os.ReadDir(folder)
		housetest.Must(t, err)
		for _, file := range files {
			if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
				continue
			}
			source, err := os.ReadFile(folder + "/" + file.Name())
			housetest.Must(t, err)
			for _, found := range ownPattern.FindAllSubmatch(source, -1) {
				patterns = append(patterns, string(found[1]))
			}
		}
	}
	if len(patterns) < 25 {
		t.Fatalf("found only %q: is the source written differently now?", patterns)
	}
	return patterns
}

// attacker sends requests that no browser would send, signed in as an owner.
type attacker struct {
	t       *testing.T
	handler http.Handler
	cookie  string
	token   string
}

func newApp(tb testing.TB, engine sqldb.Engine) *App {
	tb.Helper()
	program, err := Open(tb.Context(), config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: tb.TempDir(), DatabaseURL: sqldbtest.URL(tb, engine),
		SecretKeys: []secret.Key{secret.NewKey()}, WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 30, AuditDays: 30,
	}, slog.New(slog.DiscardHandler))
	housetest.Must(tb, err)
	tb.Cleanup(func() { housetest.Must(tb, program.Close(context.WithoutCancel(tb.Context()))) })
	return program
}

func newAttacker(t *testing.T, program *App) *attacker {
	t.Helper()
	company, _, err := program.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form(
		"name", "Rede Clara", "email", "ana@example.com", "password", "correct horse staple", "user_name", "Ana")))
	housetest.Must(t, err)
	_, token, err := program.Accounts.CreateToken(t.Context(), account.Operator(company), account.ReadNewToken(housetest.Form("name", "CRM")))
	housetest.Must(t, err)
	in, err := program.Accounts.SignIn(t.Context(), account.ReadCredentials(housetest.Form("email", "ana@example.com", "password", "correct horse staple")),
		account.Visitor{Address: "192.0.2.1"})
	housetest.Must(t, err)
	return &attacker{t, program.Handler(), in.Token, token}
}

// send wants an answer that is the caller's fault, or none at all.
func (x *attacker) send(what string, r *http.Request) {
	x.t.Helper()
	r.Header.Set("Authorization", "Bearer "+x.token)
	r.AddCookie(&http.Cookie{Name: "carteira_session", Value: x.cookie})
	r.RemoteAddr = "192.0.2.1:1234"
	w := httptest.NewRecorder()
	x.handler.ServeHTTP(w, r)
	if w.Code >= 500 && w.Code != http.StatusBadGateway {
		x.t.Errorf("%s answered %d: %.300s", what, w.Code, w.Body.String())
	}
}

func request(method, target string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(context.Background(), method, target, body)
	if err != nil {
		panic(err) // targets are escaped
	}
	return r
}

var variable = regexp.MustCompile(`\{[a-z$]*\}`)

// fill puts a text into the variables of a pattern, escaped byte by byte.
func fill(pattern, text string) (method, target string) {
	method, target, _ = strings.Cut(pattern, " ")
	var escaped strings.Builder
	for _, b := range []byte(text) {
		fmt.Fprintf(&escaped, "%%%02X", b)
	}
	target = strings.Replace(target, "{$}", "", 1)
	return method, variable.ReplaceAllLiteralString(target, escaped.String())
}

// fieldNames are the names of all fields of all forms.
func fieldNames(t *testing.T) []string {
	t.Helper()
	var names []string
	seen := map[string]bool{}
	for _, folder := range []string{"../web/panel/templates", "../web/checkout/templates"} {
		files, err := os.ReadDir(folder)
		housetest.Must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(folder + "/" + file.Name())
			housetest.Must(t, err)
			for _, found := range regexp.MustCompile(`(?:name="|field [$.A-Za-z]+ ")([a-z_0-9]+)"`).FindAllStringSubmatch(string(text), -1) {
				if !seen[found[1]] && found[1] != "website" {
					names, seen[found[1]] = append(names, found[1]), true
				}
			}
		}
	}
	return append(names, "search", "page", "status", "month", "next", "plan_id", "from", "to")
}

func TestNoRouteFailsOverTextsThatCannotBeStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := newApp(t, engine)
		attacker := newAttacker(t, program)
		patterns := append(panel.New(panel.Deps{}).Patterns(), api.New(api.Deps{}).Patterns()...)
		forms := formsOf(hostile, fieldNames(t))
		for _, pattern := range append(patterns, others(t)...) {
			if pattern == "POST /logout" {
				continue
			}
			for i, text := range hostile {
				method, target := fill(pattern, text)
				if strings.Contains(pattern, "{") {
					attacker.send(fmt.Sprintf("%s with %.20q in the path", pattern, text), request(method, target, http.NoBody))
				}
				if i%4 == 0 {
					attacker.sendValues(pattern, text, forms[text])
				}
			}
		}
	})
}

// formValue is the most bytes of a text that each field of a form gets: more than fields of one
// line take, and so few that all fields together are read. Of megabytes a route reads nothing.
const formValue = 600

// formsOf has each text as the value of every name, and as a name. They are encoded once
// for all routes.
func formsOf(texts, names []string) map[string]string {
	forms := map[string]string{}
	for _, text := range texts {
		short := text[:min(len(text), formValue)]
		values := url.Values{short: {"x"}}
		for _, name := range names {
			values.Set(name, short)
		}
		forms[text] = values.Encode()
	}
	return forms
}

// sendValues sends the form of a text as the query, or as the fields.
func (x *attacker) sendValues(pattern, text, form string) {
	x.t.Helper()
	method, target := fill(pattern, "1")
	what := fmt.Sprintf("%s with %.20q as values", pattern, text)
	if method == http.MethodGet || method == http.MethodDelete {
		x.send(what, request(method, target+"?"+form, nil))
		return
	}
	r := request(method, target, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	x.send(what, r)
	r = request(method, target, strings.NewReader(`{"name":"`+text+`","email":"`+text+`"}`))
	r.Header.Set("Content-Type", "application/json")
	x.send(what+" of JSON", r)
}

func TestHeadersThatCannotBeStoredAreNoFailure(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		attacker := newAttacker(t, newApp(t, engine))
		for _, text := range append(hostile, strings.Repeat("a", 299)+"ã") {
			for _, header := range []string{"User-Agent", "Accept-Language", "Referer", "X-Forwarded-For", "X-Request-Id", "Idempotency-Key", "Origin"} {
				form := url.Values{"email": {"ana@example.com"}, "password": {"correct horse staple"}}
				for _, r := range []*http.Request{
					request(http.MethodPost, "/login", strings.NewReader(form.Encode())),
					request(http.MethodPost, api.Prefix+"/customers", strings.NewReader(`{"name":"Ana"}`)),
				} {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					if strings.HasPrefix(r.URL.Path, api.Prefix) {
						r.Header.Set("Content-Type", "application/json")
					}
					r.Header.Set(header, text)
					attacker.send(fmt.Sprintf("%s with %s %.20q", r.URL.Path, header, text), r)
				}
			}
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			part, err := form.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {`form-data; name="file"; filename="` + strings.NewReplacer("\"", "", "\\", "").Replace(text) + `.csv"`},
			})
			housetest.Must(t, err)
			_, _ = part.Write([]byte("nome;vencimento\nAna;31/12/2026\n"))
			housetest.Must(t, form.Close())
			r := request(http.MethodPost, "/imports", &body)
			r.Header.Set("Content-Type", form.FormDataContentType())
			attacker.send(fmt.Sprintf("a file called %.20q", text), r)
		}
	})
}
