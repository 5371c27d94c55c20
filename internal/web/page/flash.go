package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode"
)

const (
	flashCookie = "carteira_flash"
	// What a message may hold. The cookie comes back from a browser, which may
	// be anyone's: more than this is not ours, and is not shown.
	maxFlash     = 4 << 10 // bytes of the cookie, which is what browsers keep
	maxFlashArgs = 4
	maxFlashArg  = 300 // bytes
	plainFlash   = "%s"
)

// Flash is a message that is shown once, on the next page. Its text is a key of
// the catalog: a text that a browser made up is never a format.
type Flash struct {
	Kind string `json:"k"` // success or error
	Text string `json:"t"` // in English, shown translated
	Args []any  `json:"a,omitempty"`
	Undo string `json:"u,omitempty"` // the work that a button takes back; "": none
}

// Say leaves a message of success for the next page.
func Say(w http.ResponseWriter, r *http.Request, text string, args ...any) {
	leave(w, r, Flash{Kind: "success", Text: text, Args: args})
}

// SayUndo is Say with a button that takes a piece of work back.
func SayUndo(w http.ResponseWriter, r *http.Request, undo, text string, args ...any) {
	leave(w, r, Flash{"success", text, args, undo})
}

// ComplainUndo is Complain with a button that takes back what was done.
func ComplainUndo(w http.ResponseWriter, r *http.Request, undo, text string, args ...any) {
	leave(w, r, Flash{"error", text, args, undo})
}

// Complain leaves a message of failure for the next page.
func Complain(w http.ResponseWriter, r *http.Request, text string, args ...any) {
	leave(w, r, Flash{Kind: "error", Text: text, Args: args})
}

// leave writes the cookie. A room's reason is not a key of the catalog, so it is
// translated here.
func leave(w http.ResponseWriter, r *http.Request, flash Flash) {
	if !Known(flash.Text) {
		flash.Text, flash.Args = plainFlash, []any{spoken(LangOf(r), flash)}
	}
	for i, arg := range flash.Args {
		if text, ok := arg.(string); ok {
			flash.Args[i] = short(text)
		}
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(flash); err != nil {
		panic(err) // texts and numbers
	}
	setCookie(w, r, flashCookie, base64.RawURLEncoding.EncodeToString(encoded.Bytes()), time.Minute)
}

func spoken(lang Lang, flash Flash) string {
	if len(flash.Args) == 0 {
		return lang.Reason(flash.Text)
	}
	return lang.T(flash.Text, flash.Args...)
}

// short is a text without signs that JSON makes long, cut where an argument ends.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) <= maxFlashArg {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:maxFlashArg-len(more)], "") + more
}

// In is the message in a language.
func (f Flash) In(lang Lang) string { return lang.T(f.Text, f.Args...) }

func takeFlash(w http.ResponseWriter, r *http.Request) *Flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	dropCookie(w, r, flashCookie)
	if len(cookie.Value) > maxFlash {
		return nil
	}
	encoded, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	var flash Flash
	if err != nil || json.Unmarshal(encoded, &flash) != nil || !flash.ours() {
		return nil
	}
	return &flash
}

// ours reports whether a message is one that leave can have written, and makes the
// numbers whole again.
func (f *Flash) ours() bool {
	if f.Text != plainFlash && !Known(f.Text) || len(f.Args) != len(verb.FindAllString(f.Text, -1)) || len(f.Args) > maxFlashArgs ||
		len(f.Undo) > maxFlashArg {
		return false
	}
	for i, arg := range f.Args {
		switch arg := arg.(type) {
		case string:
			if len(arg) > maxFlashArg {
				return false
			}
		case float64: // which JSON makes of every number
			f.Args[i] = int64(arg)
		default:
			return false
		}
	}
	return true
}

// Go redirects to another page of ours after a form was carried out.
func Go(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther)
}
