package page

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

const flashCookie = "carteira_flash"

// Flash is a message that is shown once, on the next page.
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

func leave(w http.ResponseWriter, r *http.Request, flash Flash) {
	encoded, err := json.Marshal(flash)
	if err != nil {
		panic(err) // texts and numbers
	}
	setCookie(w, r, flashCookie, base64.RawURLEncoding.EncodeToString(encoded), time.Minute)
}

// In is the message in a language.
func (f Flash) In(lang Lang) string {
	if len(f.Args) == 0 {
		return lang.Reason(f.Text)
	}
	return lang.T(f.Text, f.Args...)
}

func takeFlash(w http.ResponseWriter, r *http.Request) *Flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	dropCookie(w, r, flashCookie)
	encoded, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	var flash Flash
	if err != nil || json.Unmarshal(encoded, &flash) != nil {
		return nil
	}
	for i, arg := range flash.Args {
		if n, ok := arg.(float64); ok { // which JSON makes of every number
			flash.Args[i] = int64(n)
		}
	}
	return &flash
}

// Go sends the reader to another page of ours after a form was carried out.
func Go(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther)
}
