// Package checkout is the payer's page, /pay/{code}: what is owed, the company,
// and the code that pays it. It needs no sign-in; the code in its address is
// all that opens it. It holds no rule: payment decides what can be paid, and
// this edge shows it, in the reader's language, with or without scripts.
package checkout

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/color"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/reminder"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

//go:embed templates/*.html
var files embed.FS

type edge struct {
	payments *payment.Service
	pages    *page.Set
	now      func() time.Time
}

// Register adds the payer's pages to mux.
func Register(mux *http.ServeMux, payments *payment.Service, now func() time.Time) {
	sub, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // embedded
	}
	e := &edge{payments, page.New(sub), now}
	ours := http.NewCrossOriginProtection()
	for pattern, handlerFunc := range map[string]http.HandlerFunc{
		"GET /pay/{code}":            e.show,
		"GET /pay/{code}/state":      e.state,
		"GET /pay/{code}/qr.png":     e.picture,
		"GET /pay/{code}/receipt":    e.receipt,
		"GET /pay/{code}/sandbox":    e.simulator,
		"POST /pay/{code}/simulate":  e.simulate,
		"GET /pay/{code}/paid":       e.askPaid,
		"POST /pay/{code}/paid":      e.sayPaid,
		"POST /pay/{code}/instead":   e.exchange(payments.PayInstead),
		"POST /pay/{code}/authorise": e.exchange(payments.PayAndAuthorise),
	} {
		// The codes of pages stay out of the log: a code is all that is needed to see a customer's debt.
		mux.Handle(pattern, ours.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			web.ExchangeOf(r.Context()).Path = "/pay/…"
			handlerFunc.ServeHTTP(w, r)
		})))
	}
}

// content is what a page shows.
type content struct {
	payment.Page
	Code    string
	State   string // what the script compares
	Failure string // of the gateway, fit to show
	Refused bool   // the gateway will not take this invoice: asking again is of no use
	Wait    int    // seconds until it may be tried again
	Now     time.Time
	Noticed time.Time // when a payer last said that it was paid; zero: never
}

// Shown is the amount in large letters: what is to pay, or what was paid.
func (c *content) Shown() money.Cents {
	switch c.Invoice.Status {
	case billing.Open:
		return c.Due.Rest
	case billing.Paid:
		return c.Invoice.Received
	case billing.Cancelled:
	}
	return c.Invoice.Amount
}

// Detailed reports whether it takes more than the invoice's amount to explain
// what is shown.
func (c *content) Detailed() bool {
	return !c.Due.Plain() || c.Invoice.Status == billing.Open && c.Invoice.Received > 0
}

// The states of a page.
const (
	statePaid      = "paid"
	stateCancelled = "cancelled"
	stateNone      = "none"    // the company has no gateway
	stateFailing   = "failing" // the gateway does not work
	stateDebit     = "debit"   // it will be debited by itself
	stateExpired   = "expired" // there is no charge that can be paid, and none was asked for
)

// stateOf names the state of a page in one word. Each charge that can be paid has
// a word of its own.
func stateOf(p payment.Page) string {
	switch {
	case p.Invoice.Status == billing.Paid:
		return statePaid
	case p.Invoice.Status == billing.Cancelled:
		return stateCancelled
	case p.Provider.Name == "":
		return stateNone
	case p.Ready:
		sum := sha256.Sum256([]byte(p.Payable.PixCode + p.Payable.CheckoutURL))
		return "open-" + hex.EncodeToString(sum[:6])
	case !p.DebitOn.IsZero():
		return stateDebit
	}
	return stateExpired
}

func (e *edge) show(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	p, err := e.payments.OpenPage(r.Context(), code)
	if err != nil && fault.KindOf(err) != fault.KindUpstream {
		e.pages.FailGuest(w, r, err)
		return
	}
	c := content{Page: p, Code: code, State: stateOf(p), Now: e.now()}
	view := page.View{Name: "pay", Title: "Payment", Data: &c, Zone: p.Company.Zone}
	noticed, failed := e.noticed(r.Context(), p)
	if failed != nil {
		e.pages.FailGuest(w, r, failed)
		return
	}
	c.Noticed = noticed
	if err != nil {
		web.ExchangeOf(r.Context()).Err = err
		c.State, c.Failure, view.Status = stateFailing, fault.Public(err), http.StatusBadGateway
		c.Refused = p.Refused
		c.Wait = max(5, int(p.RetryAt.Sub(e.now())/time.Second)+1)
	}
	e.pages.Render(w, r, view)
}

// state is what the script of the page asks for. It calls no gateway.
func (e *edge) state(w http.ResponseWriter, r *http.Request) {
	p, err := e.payments.Page(r.Context(), r.PathValue("code"))
	if err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	web.Write(w, http.StatusOK, web.AppendAnswer(nil, web.Answer{Data: web.JSON(map[string]string{"state": stateOf(p)})}))
}

// picture is the QR code of the charge that can be paid.
func (e *edge) picture(w http.ResponseWriter, r *http.Request) {
	p, err := e.payments.Page(r.Context(), r.PathValue("code"))
	if err == nil && !p.Ready {
		err = fault.NotFound("QR code")
	}
	var png []byte
	if err == nil {
		png, err = p.Payable.QR()
	}
	if err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(png) // a reader who has gone away is not our failure
}

// receipt is the paper of an invoice that is paid.
func (e *edge) receipt(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	p, err := e.payments.Page(r.Context(), code)
	if err == nil && p.Invoice.Status != billing.Paid {
		err = fault.NotFound("invoice")
	}
	if err != nil {
		e.pages.FailGuest(w, r, err)
		return
	}
	e.pages.Render(w, r, receiptView(&ownReceipt{
		Company: p.Company, Invoice: p.Invoice, Due: p.Due, Back: "/pay/" + code, Paying: true,
	}))
}

// simulator is the page of a gateway that only pretends, where a redirect leads.
func (e *edge) simulator(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	p, err := e.payments.Page(r.Context(), code)
	if err == nil && !p.Simulated {
		err = fault.NotFound("page")
	}
	if err != nil {
		e.pages.FailGuest(w, r, err)
		return
	}
	if !p.Ready {
		page.Go(w, r, "/pay/"+code)
		return
	}
	e.pages.Render(w, r, page.View{
		Name: "sandbox", Title: "Simulated payment", Zone: p.Company.Zone,
		Data: &content{Page: p, Code: code, State: stateOf(p), Now: e.now()},
	})
}

// exchange is the button of a payer who wants another code, or one for what would
// be debited.
func (e *edge) exchange(get func(ctx context.Context, code string) (payment.Page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		code := r.PathValue("code")
		if _, err := get(r.Context(), code); err != nil {
			e.pages.FailGuest(w, r, err)
			return
		}
		page.Go(w, r, "/pay/"+code)
	}
}

// simulate is the button of a gateway that only pretends.
func (e *edge) simulate(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	err := e.payments.Simulate(r.Context(), code)
	if err != nil && !errors.Is(err, payment.ErrNoCharge) {
		e.pages.FailGuest(w, r, err)
		return
	}
	page.Go(w, r, "/pay/"+code)
}

// forever is for answers that their address says all about.
const forever = "public, max-age=31536000, immutable"

// RegisterBrand serves logos and the stylesheets of companies' colors, which the
// policy of the pages does not allow inside them.
func RegisterBrand(mux *http.ServeMux, accounts *account.Service) {
	mux.HandleFunc("GET /brand/{color}", style)
	mux.HandleFunc("GET /logo/{file}", func(w http.ResponseWriter, r *http.Request) {
		version, isPNG := strings.CutSuffix(r.PathValue("file"), ".png")
		content, err := accounts.Logo(r.Context(), version)
		if err == nil && !isPNG {
			err = fault.NotFound("page")
		}
		if err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", forever)
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(content) //nolint:gosec // a picture that the program drew; a reader who has gone away is not our failure
	})
}

// style is the stylesheet of a color. The address has all of it, so that it
// reveals nothing about any company.
func style(w http.ResponseWriter, r *http.Request) {
	text, isCSS := strings.CutSuffix(r.PathValue("color"), ".css")
	chosen, err := color.Parse(text)
	if err != nil || !isCSS {
		refuse(w, r, fault.NotFound("page"))
		return
	}
	w.Header().Set("Cache-Control", forever)
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = fmt.Fprint(w, stylesheet(chosen)) //nolint:gosec // numbers only; a reader who has gone away is not our failure
}

// stylesheet gives buttons a color. Its selectors are stronger than those of the
// house's own colors.
func stylesheet(chosen color.RGB) string {
	light, night := variables(chosen), variables(chosen.OnDark())
	return ":root:root{" + light + "}\n" +
		"@media (prefers-color-scheme: dark){:root:root:not([data-theme=\"light\"]){" + night + "}}\n" +
		":root:root[data-theme=\"dark\"]{" + night + "}\n"
}

// variables are what the color sets in a stylesheet.
func variables(chosen color.RGB) string {
	text := chosen.Readable().String()
	return "--primary:" + chosen.String() + ";--primary-foreground:" + text + ";--ring:" + chosen.String()
}

// refuse answers what is not a page.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	err = web.Explain(err)
	web.ExchangeOf(r.Context()).Err = err
	web.WriteFault(w, err)
}

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
