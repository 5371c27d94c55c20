package app

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/web/api"
	"carteira/internal/web/panel"
	"carteira/test/kit/housetest"
)

// The most that an answer may weigh: what a page of ours weighs, and a few times
// what was sent, which links and forms of a list repeat.
const (
	heaviestAnswer = 300 << 10
	echoes         = 30
)

// bombs are short values that a careless reader makes long.
var bombs = []string{
	"%999999999d", "%[1]*[1]d", strings.Repeat("%[1]999999d", 300), strings.Repeat("q=0.1,", 900), strings.Repeat("not sent in time: ", 300),
	base64.RawURLEncoding.EncodeToString([]byte(`{"k":"error","t":"` + strings.Repeat("%[1]99999d", 60) + `","a":[1]}`)),
	base64.RawURLEncoding.EncodeToString([]byte(`{"k":"error","t":"%[1]*[1]d","a":[999999]}`)),
}

// read is what the program reads of a request by name.
type read struct{ cookies, headers, queries []string }

var readers = map[string]*regexp.Regexp{
	"cookie": regexp.MustCompile(`Cookie += "([a-z_]+)"`),
	"header": regexp.MustCompile(`Header\.(?:Get|Values)\("([A-Za-z0-9-]+)"\)`),
	"query":  regexp.MustCompile(`(?:Query\(\)|query|values|form|filter|in)\.(?:[A-Z][A-Za-z]*)\("([a-z_]+)"`),
}

// whatIsRead finds the names in the source, so that a new one is tried as well.
func whatIsRead(t *testing.T) read {
	t.Helper()
	found := map[string]map[string]bool{"cookie": {}, "header": {}, "query": {}}
	housetest.Must(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for kind, reader := range readers {
			for _, match := range reader.FindAllSubmatch(source, -1) {
				found[kind][string(match[1])] = true
			}
		}
		return err
	}))
	sorted := func(kind string) (names []string) {
		for name := range found[kind] {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	return read{sorted("cookie"), sorted("header"), sorted("query")}
}

// sized sends a request and wants an answer that is not much longer than what was sent.
func (x *attacker) sized(what string, signedIn bool, r *http.Request) {
	x.t.Helper()
	if signedIn {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+x.token)
		}
		r.AddCookie(&http.Cookie{Name: "carteira_session", Value: x.cookie})
	}
	sent := len(r.URL.String())
	for name, values := range r.Header {
		sent += len(name) + len(strings.Join(values, ""))
	}
	w := httptest.NewRecorder()
	x.handler.ServeHTTP(w, r)
	if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
		x.t.Errorf("%s answered %d: %.300s", what, w.Code, w.Body.String())
	}
	for name, values := range w.Header() {
		if size := len(strings.Join(values, "")); size > 4*sent+8<<10 {
			x.t.Errorf("%s answered %d bytes in %s", what, size, name)
		}
	}
	if most := heaviestAnswer + echoes*sent; w.Body.Len() > most {
		x.t.Errorf("%s: %d bytes were answered with %d", what, sent, w.Body.Len())
	}
}

// A stranger's words are never a format, and no list of them is held against
// everything: each cookie, header and parameter that the source reads is tried.
func TestNoWordOfACallerMakesALongAnswer(t *testing.T) {
	attacker := newAttacker(t, newApp(t, sqldb.SQLite)) // answers are made alike on both databases
	names := whatIsRead(t)
	for kind, least := range map[string]int{"cookies": 5, "headers": 10, "queries": 40} {
		have := map[string][]string{"cookies": names.cookies, "headers": names.headers, "queries": names.queries}[kind]
		if len(have) < least {
			t.Fatalf("found only %q as %s: is the source read differently now?", have, kind)
		}
	}
	patterns := append(panel.New(panel.Deps{}).Patterns(), api.New(api.Deps{}).Patterns()...)
	for n, pattern := range append(patterns, others(t)...) {
		method, target := fill(pattern, "1")
		if method != http.MethodGet || strings.HasPrefix(target, "/docs/") || strings.HasPrefix(target, "/static/") || strings.HasPrefix(target, "/openapi") {
			continue // files, which read nothing but what they are called
		}
		bomb := bombs[n%len(bombs)]
		attacker.bombard(pattern, target, bomb, names)
	}
	for _, target := range []string{"/login", "/customers", api.Prefix + "/customers"} {
		for _, bomb := range bombs {
			attacker.bombard("GET "+target, target, bomb, names)
			for _, name := range names.headers {
				r := request(http.MethodGet, target, http.NoBody)
				r.Header.Set(name, bomb)
				attacker.sized(fmt.Sprintf("GET %s with %s %.30q", target, name, bomb), true, r)
			}
		}
	}
}

// bombard sends a bomb in every cookie, every header and every parameter at once.
func (x *attacker) bombard(pattern, target, bomb string, names read) {
	x.t.Helper()
	for _, signedIn := range []bool{false, true} {
		cookies := request(http.MethodGet, target, http.NoBody)
		for _, name := range names.cookies {
			cookies.AddCookie(&http.Cookie{Name: name, Value: bomb})
			cookies.AddCookie(&http.Cookie{Name: "__Host-" + name, Value: bomb})
		}
		x.sized(fmt.Sprintf("%s with cookies %.30q", pattern, bomb), signedIn, cookies)
		headers := request(http.MethodGet, target, http.NoBody)
		for _, name := range names.headers {
			headers.Header.Set(name, bomb)
		}
		x.sized(fmt.Sprintf("%s with headers %.30q", pattern, bomb), signedIn, headers)
	}
	for chunk := range slices.Chunk(names.queries, 60) {
		values := url.Values{}
		for _, name := range chunk {
			values.Set(name, bomb[:min(len(bomb), 300)])
		}
		x.sized(fmt.Sprintf("%s with parameters %.30q", pattern, bomb), true, request(http.MethodGet, target+"?"+values.Encode(), http.NoBody))
	}
}

// The public URL says how people reach the program, whether or not a proxy does.
func TestPublicHTTPSMakesCookiesSecure(t *testing.T) {
	program := newApp(t, sqldb.SQLite)
	for url, secure := range map[string]bool{"https://carteira.example": true, "http://127.0.0.1": false} {
		program.Config.PublicURL = url
		r := request(http.MethodPost, "/preferences", strings.NewReader("lang=en&back=/"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		program.Handler().ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		if len(cookies) != 1 || cookies[0].Secure != secure || (w.Header().Get("Strict-Transport-Security") != "") != secure {
			t.Errorf("%s: %v, %q", url, cookies, w.Header().Get("Strict-Transport-Security"))
		}
	}
}
