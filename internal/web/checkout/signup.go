// Package checkout is the pages that people see without an account: where a
// payer pays, and where a reseller signs up. It holds no rule: it reads a form,
// calls one use case and shows what came of it.
package checkout

import (
	"embed"
	"io/fs"
	"net/http"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

//go:embed templates/signup*.html
var signupFiles embed.FS

// signup is the page of a signup link.
type signup struct {
	resellers *reseller.Service
	pages     *page.Set
}

// signupBody bounds a form that anybody may send.
const signupBody = 64 << 10

// RegisterSignup serves /signup/{code}.
func RegisterSignup(mux *http.ServeMux, resellers *reseller.Service) {
	templates, err := fs.Sub(signupFiles, "templates")
	if err != nil {
		panic(err) // embedded
	}
	s := &signup{resellers, page.New(templates)}
	mux.HandleFunc("GET /signup/{code}", s.show)
	// A form on a foreign page must not sign people up.
	mux.Handle("POST /signup/{code}", http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.send)))
}

// signupPage is what the template shows.
type signupPage struct {
	Offer reseller.Offer
	Price string // "" when it costs nothing
	Form  *page.Form
}

func (s *signup) show(w http.ResponseWriter, r *http.Request) {
	offer, err := s.resellers.FindOffer(r.Context(), r.PathValue("code"))
	if err != nil {
		s.pages.FailGuest(w, r, err)
		return
	}
	web.ExchangeOf(r.Context()).CompanyID = offer.Company.ID
	if r.URL.Query().Has("done") {
		s.pages.Render(w, r, page.View{
			Name:  "signupdone",
			Title: "Your account is ready",
			Data:  signupPage{Offer: offer},
		})
		return
	}
	s.form(w, r, offer, page.NewForm(), http.StatusOK)
}

func (s *signup) form(w http.ResponseWriter, r *http.Request, offer reseller.Offer, form *page.Form, status int) {
	s.pages.Render(w, r, page.View{
		Name: "signup", Title: "Create your account", Status: status,
		Data: signupPage{offer, price(page.LangOf(r), offer.Plan), form},
	})
}

func (s *signup) send(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	r.Body = http.MaxBytesReader(w, r.Body, signupBody)
	if err := r.ParseForm(); err != nil {
		s.pages.FailGuest(w, r, fault.New(fault.KindInvalid, "the form could not be read"))
		return
	}
	if r.PostForm.Get("website") != "" {
		// People do not see this field. A program that fills it in gets the answer of a success.
		page.Go(w, r, r.URL.Path+"?done")
		return
	}
	request := reseller.ReadSignup(input.FromQuery(r.PostForm))
	request.Code, request.Address = code, web.Caller(r)
	_, err := s.resellers.SignUp(r.Context(), request)
	if err == nil {
		page.Go(w, r, r.URL.Path+"?done")
		return
	}
	offer, gone := s.resellers.FindOffer(r.Context(), code)
	kind := fault.KindOf(err)
	if gone != nil || kind != fault.KindInvalid && kind != fault.KindRateLimited {
		s.pages.FailGuest(w, r, err)
		return
	}
	s.form(w, r, offer, page.Sent(r, err), web.Status(err))
}

// price is what a plan costs after its trial, in words.
func price(lang page.Lang, plan reseller.Plan) string {
	if plan.Value == 0 {
		return ""
	}
	value, count := plan.Value.BR(), plan.Period.Count
	switch {
	case plan.Period.Unit == civil.Day && count == 1:
		return lang.T("%s a day", value)
	case plan.Period.Unit == civil.Week && count == 1:
		return lang.T("%s a week", value)
	case plan.Period.Unit == civil.Month && count == 1:
		return lang.T("%s a month", value)
	case plan.Period.Unit == civil.Year && count == 1:
		return lang.T("%s a year", value)
	case plan.Period.Unit == civil.Day:
		return lang.T("%s every %d days", value, count)
	case plan.Period.Unit == civil.Week:
		return lang.T("%s every %d weeks", value, count)
	case plan.Period.Unit == civil.Month:
		return lang.T("%s every %d months", value, count)
	}
	return lang.T("%s every %d years", value, count)
}
