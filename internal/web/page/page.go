// Package page is the kit of the pages that people read: the panel, the
// checkout, the signup. It owns layout, styles, scripts, icons, languages with
// their one message catalog, how amounts and dates are written, forms with
// their errors, and the Content-Security-Policy. It knows no room and no rule
// of the business: an edge gives it a template and data.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/web"
)

// policy allows what comes from us and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

//go:embed templates/*.html
var ownTemplates embed.FS

// View is one page to show.
type View struct {
	Name   string         // of the template file, without .html
	Title  string         // in English, shown translated
	Status int            // 0: 200
	Data   any            // .Data in the template
	Frame  any            // .Frame: what the edge's own layout needs, such as its menu
	Zone   *time.Location // in which instants are shown; nil: UTC

	// Render fills in the rest.
	Lang    Lang
	Theme   string // "", light or dark
	Path    string // of the request, with its query
	Flash   *Flash
	Sandbox bool // nothing on the page is real: it wears a band that says so
}

// SandboxHeader marks every answer of a sandbox.
const SandboxHeader = "X-Sandbox"

// Time writes an instant in the view's zone: 31/12/2027 23:59.
func (v View) Time(at time.Time) string { return FormatTime(at, v.Zone) }

// OwnTime writes an instant by the clock that its record was written with, which
// may not be the view's: the company may have moved since. The first instant of a day
// is a day that a person typed, without an hour.
func (v View) OwnTime(at time.Time) string {
	if at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 && at.Nanosecond() == 0 {
		return at.Format("02/01/2006")
	}
	return FormatTime(at, at.Location())
}

// Day writes the day of an instant in the view's zone.
func (v View) Day(at time.Time) string {
	return formatIn(at, v.Zone, "02/01/2006")
}

// Clock writes the time of day of an instant in the view's zone, to the second.
func (v View) Clock(at time.Time) string {
	return formatIn(at, v.Zone, "15:04:05")
}

// Set is the pages of one edge, ready in every language.
type Set struct {
	pages map[Lang]map[string]func() *template.Template
}

// New makes a Set of the files *.html. Names that begin with _ are partials and
// layouts that every page of the set can use, in addition to the kit's own. They
// are parsed when a page is first shown; one that does not parse panics: they are
// in the binary. more are functions of the edge's own templates.
func New(files fs.FS, more ...func(Lang) template.FuncMap) *Set {
	set := &Set{pages: map[Lang]map[string]func() *template.Template{}}
	for _, lang := range Langs {
		common := sync.OnceValue(func() *template.Template {
			common := template.New("").Funcs(funcs(lang))
			for _, functions := range more {
				common.Funcs(functions(lang))
			}
			parse(common, mustSub(ownTemplates, "templates"), isPartial)
			parse(common, files, isPartial)
			return common
		})
		set.pages[lang] = map[string]func() *template.Template{}
		set.add(lang, common, mustSub(ownTemplates, "templates"))
		set.add(lang, common, files)
	}
	return set
}

func (s *Set) add(lang Lang, common func() *template.Template, files fs.FS) {
	for _, name := range htmlFiles(files) {
		if isPartial(name) {
			continue
		}
		// Made when it is first shown: all of them in all languages are most of
		// what the program would hold, and of the time that it takes to start.
		s.pages[lang][strings.TrimSuffix(name, ".html")] = sync.OnceValue(func() *template.Template {
			parsed := template.Must(common().Clone())
			return template.Must(parsed.New(name).Parse(mustRead(files, name)))
		})
	}
}

// Names lists the pages of the set.
func (s *Set) Names() []string {
	var names []string
	for name := range s.pages[Portuguese] {
		names = append(names, name)
	}
	return names
}

func isPartial(name string) bool {
	return strings.HasPrefix(path.Base(name), "_")
}

func parse(parsed *template.Template, files fs.FS, which func(string) bool) {
	for _, name := range htmlFiles(files) {
		if which(name) {
			template.Must(parsed.New(name).Parse(mustRead(files, name)))
		}
	}
}

func htmlFiles(files fs.FS) []string {
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return names
}

func mustRead(files fs.FS, name string) string {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

func mustSub(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // embedded
	}
	return sub
}

// Render shows a page.
func (s *Set) Render(w http.ResponseWriter, r *http.Request, view View) {
	view.Lang, view.Theme, view.Path = LangOf(r), themeOf(r), r.URL.RequestURI()
	view.Flash = takeFlash(w, r)
	view.Sandbox = w.Header().Get(SandboxHeader) != ""
	made := s.pages[view.Lang][view.Name]
	if made == nil {
		panic("no page " + view.Name)
	}
	var out bytes.Buffer
	if err := made().Execute(&out, view); err != nil {
		// Nothing was sent, so the outermost handler can still say what happened.
		panic(fmt.Errorf("page %s: %w", view.Name, err))
	}
	send(w, r, view, out.Bytes())
}

func send(w http.ResponseWriter, r *http.Request, view View, body []byte) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", string(view.Lang))
	header.Set("Cache-Control", "no-store")
	// The default, no-referrer, would hide the Origin that forms are checked by.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Vary", "Accept-Encoding")
	if packed, ok := web.Pack(r, body); ok {
		header.Set("Content-Encoding", "gzip")
		body = packed
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(max(view.Status, http.StatusOK))
	_, _ = w.Write(body) //nolint:gosec // html/template has made it; a reader who has gone away is not our failure
}

// Fail shows the page of an error. The log gets its cause.
func (s *Set) Fail(w http.ResponseWriter, r *http.Request, err error) {
	s.failOn(w, r, "error", err)
}

func (s *Set) failOn(w http.ResponseWriter, r *http.Request, name string, err error) {
	s.Render(w, r, Failed(w, r, name, err))
}

// Failed is the view of an error for a page of the edge's own, which it names. The
// log gets the cause.
func Failed(w http.ResponseWriter, r *http.Request, name string, err error) View {
	err = web.Explain(err)
	web.ExchangeOf(r.Context()).Err = err
	web.RetryAfter(w.Header(), err)
	return failView(r, name, err)
}

func failView(r *http.Request, name string, err error) View {
	return View{
		Name: name, Title: failTitle(err), Status: web.Status(err),
		Data: failure{
			Reason: fault.Public(err), RequestID: web.ExchangeOf(r.Context()).RequestID,
			Internal: web.Status(err) >= http.StatusInternalServerError,
			Missing:  fault.KindOf(err) == fault.KindNotFound && strings.HasSuffix(fault.Public(err), " not found"),
		},
	}
}

// FailGuest is Fail on a page of people who have no account: it offers no way
// into the panel.
func (s *Set) FailGuest(w http.ResponseWriter, r *http.Request, err error) {
	s.failOn(w, r, "guest", err)
}

type failure struct {
	Reason, RequestID string
	Internal          bool
	Missing           bool // there is nothing to say but that it is not there
}

// failTitle names the kinds of errors that a person can meet.
func failTitle(err error) string {
	switch fault.KindOf(err) {
	case fault.KindNotFound:
		return "This page does not exist"
	case fault.KindForbidden:
		return "You may not do this"
	case fault.KindRateLimited:
		return "Too many attempts"
	case fault.KindInvalid, fault.KindConflict, fault.KindTooLarge, fault.KindUnsupportedMedia,
		fault.KindMethodNotAllowed, fault.KindUnauthenticated:
		return "This did not work"
	case fault.KindUnavailable, fault.KindUpstream:
		return "Not available at the moment"
	default:
		return "Something went wrong on our side"
	}
}
