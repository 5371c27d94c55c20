package page

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
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
