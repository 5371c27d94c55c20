package checkout

import (
	"io/fs"
	"net/http"

	"carteira/internal/reminder"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// optOut is the page behind the List-Unsubscribe of mails.
type optOut struct {
	reminders *reminder.Service
	pages     *page.Set
}

// oneClick is what a mail program posts, by RFC 8058, when its reader presses the
// button; the button of the page posts the same.
const oneClickField, oneClickValue = "List-Unsubscribe", "One-Click"

// RegisterOptOut adds /unsubscribe/{token}. A mail program posts from wherever it
// is, and nothing but the link itself gives it the right to: there is no session
// that another site could abuse, so posts from other sites are taken.
func RegisterOptOut(mux *http.ServeMux, reminders *reminder.Service) {
	sub, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // embedded
	}
	o := &optOut{reminders, page.New(sub)}
	for pattern, open := range map[string]func(http.ResponseWriter, *http.Request) (reminder.OptOutLink, error){
		"GET /unsubscribe/{token}":  o.show,
		"POST /unsubscribe/{token}": o.leave,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			web.ExchangeOf(r.Context()).Path = "/unsubscribe/…" // who reads the log must not act for customers
			w.Header().Set("Cache-Control", "no-store")
			link, err := open(w, r)
			if err != nil {
				o.pages.FailGuest(w, r, err)
				return
			}
			web.ExchangeOf(r.Context()).CompanyID = link.Company.ID
			o.pages.Render(w, r, page.View{
				Name: "unsubscribe", Title: "Messages", Data: &link, Zone: link.Company.Zone,
			})
		})
	}
}

func (o *optOut) show(_ http.ResponseWriter, r *http.Request) (reminder.OptOutLink, error) {
	return o.reminders.OpenOptOut(r.Context(), r.PathValue("token"))
}

// leave opts the customer out when the one click was posted; whatever else is
// posted only shows the page.
func (o *optOut) leave(w http.ResponseWriter, r *http.Request) (reminder.OptOutLink, error) {
	r.Body = http.MaxBytesReader(w, r.Body, ownBody)
	if r.PostFormValue(oneClickField) != oneClickValue {
		return o.show(w, r)
	}
	return o.reminders.OptOutByLink(r.Context(), r.PathValue("token"), web.Caller(r))
}
