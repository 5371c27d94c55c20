package page

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

var vendored = regexp.MustCompile("(?m)^\\| `([^`]+)` .* `([0-9a-f]{64})` \\|$")

func TestVendoredFilesAreThoseOfVendorMD(t *testing.T) {
	text, err := os.ReadFile("static/vendor/VENDOR.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range vendored.FindAllStringSubmatch(string(text), -1) {
		want[line[1]] = line[2]
	}
	dir := os.DirFS("static/vendor")
	err = fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) == ".md" || strings.HasPrefix(name, "LICENSE") {
			return err
		}
		content, err := fs.ReadFile(dir, name)
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("%s has sha256 %s, VENDOR.md says %q", name, got, want[name])
		}
		delete(want, name)
		return err
	})
	if err != nil || len(want) != 0 {
		t.Errorf("%v; VENDOR.md has lines for files that are not there: %v", err, want)
	}
}

// pages is a small edge.
func pages() *Set {
	return New(fstest.MapFS{
		"hello.html": {Data: []byte(`{{template "plain" .}}{{define "content"}}<p>{{t "Cancel"}} {{money .Data.Amount}} {{date .Data.Day}} {{.Time .Data.At}} {{.Data.Text}}</p>{{end}}`)},
		"form.html": {Data: []byte(`{{template "plain" .}}{{define "content"}}<form>{{template "notice" .Data}}` +
			`{{template "field" (field .Data "name" "Name" "required" true "hint" "As people know you")}}` +
			`{{template "tick" (field .Data "on" "On")}}{{template "field" (field .Data "pw" "Password" "type" "password")}}{{template "rest" .Data}}</form>{{end}}`)},
	})
}

func show(t *testing.T, view View, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/x?y=1", nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	pages().Render(w, r, view)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func wantIn(t *testing.T, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in:\n%s", want, body)
		}
	}
}

func TestPageIsShownInTheReadersLanguageAndTheCompanysZone(t *testing.T) {
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	view := View{Name: "hello", Title: "Cancel", Zone: zone, Data: map[string]any{
		"Amount": money.Cents(123456), "Day": civil.MustParse("2027-12-31"), "At": time.Date(2027, 1, 1, 2, 30, 0, 0, time.UTC), "Text": `<b>"x"</b>`,
	}}
	shown := show(t, view)
	wantIn(t, shown.Body.String(), `lang="pt-BR"`, "<title>Cancelar · Carteira</title>",
		"Cancelar R$\u00a01.234,56 31/12/2027 31/12/2026 23:30 &lt;b&gt;&#34;x&#34;&lt;/b&gt;")
	wantIn(t, show(t, view, header("Accept-Language", "en-US,en;q=0.9,pt;q=0.8")).Body.String(), `lang="en"`, "<title>Cancel · Carteira</title>")
	chosen := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: langCookie, Value: "en"}) }
	wantIn(t, show(t, view, chosen, header("Accept-Language", "pt-BR")).Body.String(), `lang="en"`)
	policy := shown.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || shown.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", shown.Header())
	}
	if strings.Contains(shown.Body.String(), "<style") || strings.Contains(shown.Body.String(), " style=") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(shown.Body.String()) {
		t.Error("the page has styles or scripts of its own, which its policy forbids")
	}
}

func TestLanguagePreferences(t *testing.T) {
	for header, want := range map[string]Lang{
		"": Portuguese, "fr, de;q=0.5": Portuguese, "en": English, "en;q=0.3, pt-PT;q=0.9": Portuguese,
		"pt;q=0.3,en-GB;q=0.9": English, "EN": English, "en;q=x": Portuguese, "en;q=0": Portuguese,
	} {
		if got := preferred(header); got != want {
			t.Errorf("%q prefers %s, want %s", header, got, want)
		}
	}
}

func TestPreferencesAreKeptAndLeadBackToUsOnly(t *testing.T) {
	for back, want := range map[string]string{
		"/customers?page=2": "/customers?page=2", "": "/", "https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/",
	} {
		r := httptest.NewRequest(http.MethodPost, "/preferences", strings.NewReader(url.Values{"lang": {"en"}, "theme": {"dark"}, "back": {back}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		Prefer(w, r)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(w.Result().Cookies()) != 2 {
			t.Errorf("back to %q: %d %v", back, w.Code, w.Header())
		}
	}
}

func TestRefusedFormKeepsItsValuesAndSaysWhy(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/x", strings.NewReader(url.Values{"name": {"Ana <b>"}, "on": {"false", "true"}, "pw": {"secret!!"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := r.ParseForm(); err != nil {
		t.Fatal(err)
	}
	var fields fault.Fields
	fields.Add("name", "must have at most 255 characters")
	fields.Add("elsewhere", "is required")
	body := show(t, View{Name: "form", Data: Sent(r, fields.Err())}).Body.String()
	wantIn(t, body, "Nada foi salvo", `value="Ana &lt;b&gt;"`, "deve ter no máximo 255 caracteres", `aria-invalid="true"`,
		`aria-describedby="f-name-hint f-name-error"`, "é obrigatório", `value="true" checked`)
	if strings.Contains(body, "secret!!") {
		t.Error("a password was sent back")
	}
	fresh := show(t, View{Name: "form", Data: NewForm("name", "Bia")}).Body.String()
	wantIn(t, fresh, `value="Bia"`)
	if strings.Contains(fresh, `role="alert"`) || strings.Contains(fresh, "checked") {
		t.Errorf("a fresh form complains: %s", fresh)
	}
}

func TestErrorsHavePages(t *testing.T) {
	for err, want := range map[error][]string{
		fault.NotFound("customer"):                                 {"404", "Esta página não existe", "cliente não encontrado"},
		fault.Forbidden("is not active"):                           {"403", "Você não pode fazer isso"},
		errors.New("password=hunter2"):                             {"500", "Algo deu errado", "erro interno"},
		fmt.Errorf("x: %w", fault.Field("a", "no answer in time")): {"422", "Não foi possível fazer isto"},
	} {
		w := httptest.NewRecorder()
		pages().Fail(w, httptest.NewRequest(http.MethodGet, "/", nil), err)
		wantIn(t, fmt.Sprint(w.Code, w.Body.String()), want...)
		if strings.Contains(w.Body.String(), "hunter2") {
			t.Error("the cause is shown")
		}
	}
}

func TestFlashIsShownOnceAndTranslated(t *testing.T) {
	w := httptest.NewRecorder()
	Say(w, httptest.NewRequest(http.MethodPost, "/", nil), "%d h ago", 3)
	cookie := w.Result().Cookies()[0]
	shown := show(t, View{Name: "form", Data: NewForm()}, func(r *http.Request) { r.AddCookie(cookie) })
	wantIn(t, shown.Body.String(), "há 3 h", `role="status"`)
	if dropped := shown.Result().Cookies(); len(dropped) != 1 || dropped[0].MaxAge >= 0 {
		t.Errorf("the message stays: %v", dropped)
	}
	bad := show(t, View{Name: "form", Data: NewForm()}, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: flashCookie, Value: "%%%"}) })
	if bad.Code != http.StatusOK || strings.Contains(bad.Body.String(), `role="status"`) {
		t.Errorf("a damaged message: %d", bad.Code)
	}
}

// A cookie comes from a browser, which may be anyone's.
func TestMessagesThatABrowserMadeUpAreNotShown(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, flash := range []Flash{
		{Kind: "error", Text: "%999999999d", Args: []any{1}},
		{Kind: "error", Text: "%[1]*[1]d", Args: []any{999_999}},
		{Kind: "error", Text: strings.Repeat("%[1]999999d", 900), Args: []any{1}},
		{Kind: "error", Text: "Call 0800 and say your password"},
		{Kind: "error", Text: "%s was saved.", Args: []any{long}},
		{Kind: "error", Text: "%s was saved.", Args: []any{[]any{long}}},
		{Kind: "error", Text: "%s was saved.", Args: []any{map[string]any{"a": 1}}},
		{Kind: "error", Text: "%s was saved.", Args: []any{1, 2, 3, 4, 5, 6}},
		{Kind: "error", Text: "%s was saved.", Args: []any{"Bia"}, Undo: long},
		{Kind: "error", Text: long},
	} {
		encoded, err := json.Marshal(flash)
		if err != nil {
			t.Fatal(err)
		}
		cookie := &http.Cookie{Name: flashCookie, Value: base64.RawURLEncoding.EncodeToString(encoded)}
		shown := show(t, View{Name: "form", Data: NewForm()}, func(r *http.Request) { r.AddCookie(cookie) }).Body.String()
		if strings.Contains(shown, `role="status"`) || len(shown) > 20_000 {
			t.Errorf("%.80s: %d bytes, shown: %v", encoded, len(shown), strings.Contains(shown, `role="status"`))
		}
	}
}

// What we say ourselves fits what a browser keeps, whatever it names.
func TestMessagesOfOursAreShortEnoughToComeBack(t *testing.T) {
	for _, name := range []string{strings.Repeat("\"", 999), strings.Repeat("\u2028", 999), strings.Repeat("\x00\xff", 999), strings.Repeat("ç", 999)} {
		for _, leave := range []func(http.ResponseWriter, *http.Request){
			func(w http.ResponseWriter, r *http.Request) {
				Complain(w, r, "%d of %d: done. The others were refused: %s", 1, 2, name)
			},
			func(w http.ResponseWriter, r *http.Request) { Complain(w, r, "no such thing: "+name) },
			func(w http.ResponseWriter, r *http.Request) { Say(w, r, "%s: due date is now %s.", name, name) },
		} {
			w := httptest.NewRecorder()
			leave(w, httptest.NewRequest(http.MethodPost, "/", nil))
			cookie := w.Result().Cookies()[0]
			if len(cookie.String()) > 4096 {
				t.Errorf("a cookie of %d bytes", len(cookie.String()))
			}
			shown := show(t, View{Name: "form", Data: NewForm()}, func(r *http.Request) { r.AddCookie(cookie) })
			wantIn(t, shown.Body.String(), `role="status"`)
		}
	}
}

func TestReasonsOfCallersAreTranslatedThreeLevelsDeep(t *testing.T) {
	deep := strings.Repeat("not sent in time: ", 50) + "x"
	if said := Portuguese.Reason(deep); strings.Count(said, "not sent in time: ") < 40 {
		t.Errorf("every level was held against every shape: %.200s", said)
	}
	long := "not sent in time: " + strings.Repeat("x", longestReason)
	if said := Portuguese.Reason(long); said != long {
		t.Errorf("translated: %.80s", said)
	}
}

func TestAssetsAreKeptForeverUnderTheirVersion(t *testing.T) {
	mux := http.NewServeMux()
	Register(mux)
	get := func(path string, gzipped bool) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if gzipped {
			r.Header.Set("Accept-Encoding", "br, gzip")
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	for name, media := range map[string]string{
		"carteira.css": "text/css; charset=utf-8", "basecoat.css": "text/css; charset=utf-8", "htmx.js": "text/javascript; charset=utf-8",
		"inter.woff2": "font/woff2", "mark.svg": "image/svg+xml", iconFile: "image/svg+xml",
	} {
		w := get(Asset(name), false)
		if w.Code != 200 || w.Header().Get("Content-Type") != media || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
		packed := get(Asset(name), true)
		if packed.Header().Get("Content-Encoding") == "gzip" {
			reader, err := gzip.NewReader(packed.Body)
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := io.ReadAll(reader); err != nil || string(plain) != w.Body.String() {
				t.Errorf("%s is another file when packed: %v", name, err)
			}
		}
	}
	if w := get(Static+"old/carteira.css", false); w.Code != 200 || strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("under an old version: %d %v", w.Code, w.Header())
	}
	for _, missing := range []string{Static + "x/LICENSE.htmx", Static + "x/VENDOR.md", Static + "x/y.css"} {
		if w := get(missing, false); w.Code != 404 {
			t.Errorf("%s: %d", missing, w.Code)
		}
	}
}

func TestPagerKeepsTheFilters(t *testing.T) {
	address, err := url.Parse("/customers?search=ana&page=2")
	if err != nil {
		t.Fatal(err)
	}
	pager := NewPager(address, input.Page{Number: 2, Size: 50}, 120)
	want := Pager{Total: 120, Number: 2, Last: 3, From: 51, To: 100, Prev: "/customers?page=1&search=ana", Next: "/customers?page=3&search=ana"}
	if pager != want {
		t.Errorf("pager %+v", pager)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		FormatInt(0): "0", FormatInt(-1234567): "-1.234.567", FormatInt(999): "999",
		FormatPhone("5511987654321"): "+55 (11) 98765-4321", FormatPhone("551132654321"): "+55 (11) 3265-4321", FormatPhone("351912345678"): "+351912345678",
		FormatDate(civil.MustParse("2027-02-03")): "03/02/2027", FormatDate(civil.Date{}) + FormatPhone("") + FormatTime(time.Time{}, nil): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBarsFitTheChart(t *testing.T) {
	bars := NewBars("x", []Bar{{Value: 0}, {Value: 1}, {Value: 730_00}})
	if bars.Lines[4].Value != 800_00 || bars.Lines[1].Value != 200_00 || bars.Empty {
		t.Errorf("lines %v", bars.Lines)
	}
	if bars.Columns[0].H != 0 || bars.Columns[1].H != 2 || bars.Columns[2].Y < chartTop || bars.Columns[2].Y+bars.Columns[2].H != chartHeight-chartBottom {
		t.Errorf("columns %+v", bars.Columns)
	}
	if empty := NewBars("x", nil); !empty.Empty {
		t.Error("a chart of nothing is not empty")
	}
}
