package page

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/platform/civil"
)

// Lang is a language that pages are shown in.
type Lang string

// The languages. Portuguese is the default.
const (
	Portuguese Lang = "pt-BR"
	English    Lang = "en"
)

// Langs lists the languages.
var Langs = []Lang{Portuguese, English}

const (
	langCookie  = "carteira_lang"
	themeCookie = "carteira_theme"
)

// LangOf is the language of a request: the one that was chosen, else the one
// that the browser prefers.
func LangOf(r *http.Request) Lang {
	if cookie, err := r.Cookie(langCookie); err == nil {
		for _, lang := range Langs {
			if cookie.Value == string(lang) {
				return lang
			}
		}
	}
	return preferred(r.Header.Get("Accept-Language"))
}

// preferred is the known language with the greatest weight, the first of
// equals.
func preferred(header string) Lang {
	best, most := Portuguese, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, weight, weighted := strings.Cut(strings.TrimSpace(part), ";")
		q := 1.0
		if weighted {
			parsed, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			if err != nil {
				continue
			}
			q = parsed
		}
		base, _, _ := strings.Cut(strings.ToLower(tag), "-")
		for _, lang := range Langs {
			if known, _, _ := strings.Cut(string(lang), "-"); known == base && q > most {
				best, most = lang, q
			}
		}
	}
	return best
}

func themeOf(r *http.Request) string {
	cookie, err := r.Cookie(themeCookie)
	if err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		return cookie.Value
	}
	return ""
}

// Prefer remembers the language and theme that a form asks for and goes back
// to the page it was sent from. An edge serves it as POST /preferences.
func Prefer(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	for field, name := range map[string]string{"lang": langCookie, "theme": themeCookie} {
		if v := r.PostFormValue(field); v != "" {
			setCookie(w, r, name, v, 365*24*time.Hour)
		}
	}
	http.Redirect(w, r, LocalPath(r.PostFormValue("back")), http.StatusSeeOther)
}

// LocalPath is a path of ours that a form or link named, or / when it leads
// anywhere else.
func LocalPath(p string) string {
	address, err := url.Parse(p)
	if err != nil || address.IsAbs() || address.Host != "" || !strings.HasPrefix(p, "/") ||
		strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\\r\n\t") {
		return "/"
	}
	return p
}

// Secure reports whether the reader came by https, perhaps to a proxy of ours.
func Secure(r *http.Request) bool {
	return r.TLS != nil || r.URL.Scheme == "https"
}

func setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: Secure(r),
		SameSite: http.SameSiteLaxMode,
	})
}

func dropCookie(w http.ResponseWriter, r *http.Request, name string) {
	http.SetCookie(
		w,
		&http.Cookie{
			Name: name, Path: "/", MaxAge: -1, HttpOnly: true, Secure: Secure(r), SameSite: http.SameSiteLaxMode,
		},
	)
}

// The one message catalog: messages/*.txt, a line for each text, English and
// Portuguese with a bar between them. The English text is the key, and may
// have verbs of fmt (%d, %s, %q): a reason that was made with them is found by
// its shape, and what stood in their places goes into the Portuguese in the
// same order. A text that counts has two more parts, the English and the
// Portuguese of one.

//go:embed messages/*.txt
var messageFiles embed.FS

type catalog struct {
	exact  map[string]string
	ones   map[string]singular // by the English of many
	shapes []shape
}

// singular is what a text that counts says of one.
type singular struct{ english, portuguese string }

func (s singular) in(lang Lang) string {
	if lang == Portuguese {
		return s.portuguese
	}
	return s.english
}

type shape struct {
	english    *regexp.Regexp
	portuguese string
	words      int // letters that are not filled in
}

var messages = sync.OnceValue(func() catalog {
	c := catalog{exact: map[string]string{}, ones: map[string]singular{}}
	names, err := fs.Glob(messageFiles, "messages/*.txt")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		for line := range strings.Lines(mustRead(messageFiles, name)) {
			parts := strings.Split(strings.TrimSpace(line), " | ")
			if len(parts) < 2 || strings.HasPrefix(parts[0], "#") {
				continue
			}
			c.add(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]))
			if len(parts) == 4 {
				c.ones[strings.TrimSpace(parts[0])] = singular{strings.TrimSpace(parts[2]), strings.TrimSpace(parts[3])}
			}
		}
	}
	// Of two shapes that a reason has, the one that says more is meant.
	slices.SortStableFunc(c.shapes, func(a, b shape) int { return b.words - a.words })
	return c
})

var verb = regexp.MustCompile(`%(\[\d\])?[sdqv]`)

func (c *catalog) add(english, portuguese string) {
	c.exact[english] = portuguese
	if !verb.MatchString(english) {
		return
	}
	var pattern strings.Builder
	rest := english
	for {
		at := verb.FindStringIndex(rest)
		if at == nil {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		switch rest[at[1]-1] {
		case 'd':
			pattern.WriteString(`(-?\d+)`)
		case 'q':
			pattern.WriteString(`("(?:[^"\\]|\\.)*")`)
		default:
			pattern.WriteString(`(.+?)`)
		}
		rest = rest[at[1]:]
	}
	pattern.WriteString(regexp.QuoteMeta(rest))
	c.shapes = append(c.shapes, shape{
		regexp.MustCompile(`(?s)^` + pattern.String() + `$`),
		verb.ReplaceAllString(portuguese, "%${1}s"), len(verb.ReplaceAllString(english, "")),
	})
}

// Known reports whether the catalog has Portuguese for an English text.
func Known(english string) bool {
	_, ok := messages().exact[english]
	return ok
}

// context separates a text from what it is said of, where Portuguese writes one
// English text in two ways: "Paid // invoice" is "Paga".
const context = " // "

// T translates a text of a page and fills in its verbs.
func (l Lang) T(english string, args ...any) string {
	text, _, _ := strings.Cut(english, context)
	if l == Portuguese {
		if translated, ok := messages().exact[english]; ok {
			text = translated
		}
	}
	if len(args) == 0 {
		return text
	}
	if one, ok := messages().ones[english]; ok && (fmt.Sprint(args[0]) == "1") {
		text = one.in(l)
	}
	return fmt.Sprintf(text, args...)
}

// What a reason may be to be translated: it may quote what a caller has sent, and
// each level of reasons inside it is held against every shape.
const (
	longestReason = 2 << 10
	deepestReason = 3
)

// Reason translates a text that a room made: the reason of a refused field,
// the message of a fault.
func (l Lang) Reason(english string) string { return l.reason(english, deepestReason) }

func (l Lang) reason(english string, levels int) string {
	if l != Portuguese || len(english) > longestReason || levels == 0 {
		return english
	}
	catalog := messages()
	if translated, ok := catalog.exact[english]; ok {
		return translated
	}
	for _, shape := range catalog.shapes {
		found := shape.english.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		args := make([]any, len(found)-1)
		for i, part := range found[1:] {
			args[i] = l.part(part, english, levels)
		}
		return fmt.Sprintf(shape.portuguese, args...)
	}
	return english
}

// part translates a part of a reason: a reason inside another, as after "not sent
// in time:", is one itself.
func (l Lang) part(part, whole string, levels int) string {
	if strings.Contains(part, ": ") && len(part) < len(whole) {
		return l.reason(part, levels-1)
	}
	return l.word(part)
}

var amount = regexp.MustCompile(`^\d+\.\d\d$`)

// word translates a part of a reason where the catalog has it as a whole, and
// writes an amount and a day as they are typed.
func (l Lang) word(part string) string {
	if translated, ok := messages().exact[part]; ok {
		return translated
	}
	if amount.MatchString(part) {
		return strings.Replace(part, ".", ",", 1)
	}
	if day, err := civil.Parse(part); err == nil {
		return FormatDate(day)
	}
	return part
}
