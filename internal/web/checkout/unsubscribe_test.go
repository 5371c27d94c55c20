package checkout_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func (s *shop) optedOut(t *testing.T) bool {
	t.Helper()
	out, err := s.reminders.OptedOut(t.Context(), s.Actor, s.invoice.Customer.ID)
	housetest.Must(t, err)
	return out
}

// Programs that look through mails follow every link in them.
func TestOpeningTheOptOutLinkOptsNobodyOut(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		link := shop.reminders.OptOutURL(shop.Actor.Company.ID, shop.invoice.Customer.ID)
		for range 2 {
			shop.get(t, link).want(t, 200, "Rede &lt;Clara&gt; &amp; Filhos", "Não receber mais mensagens?", `name="List-Unsubscribe" value="One-Click"`).
				lacks(t, "Ana Lima", "ana@")
		}
		shop.post(t, link, url.Values{}).want(t, 200, "Não receber mais mensagens?")
		shop.post(t, link, url.Values{"List-Unsubscribe": {"Two-Clicks"}}).want(t, 200)
		if shop.optedOut(t) {
			t.Error("the customer is opted out")
		}
		shop.get(t, link+"x").want(t, 404)
		shop.post(t, shop.url+"/unsubscribe/guess", url.Values{"List-Unsubscribe": {"One-Click"}}).want(t, 404)
		if strings.Contains(shop.log.String(), link[strings.LastIndex(link, "/")+1:]) {
			t.Error("the log has the link")
		}
	})
}

// A mail program posts by RFC 8058: as a form of either kind, without cookies, from
// wherever it is, perhaps more than once.
func TestOneClickOptsOut(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		link := shop.reminders.OptOutURL(shop.Actor.Company.ID, shop.invoice.Customer.ID)
		for range 2 {
			shop.post(t, link, url.Values{"List-Unsubscribe": {"One-Click"}}, "Sec-Fetch-Site", "cross-site", "Origin", "https://mail.example").
				want(t, 200, "Você não recebe mais mensagens")
		}
		if !shop.optedOut(t) {
			t.Fatal("the customer still gets messages")
		}
		shop.get(t, link, "Accept-Language", "en").want(t, 200, "You get no more messages").lacks(t, "One-Click")
		lines, _, err := shop.Accounts.Audit(t.Context(), shop.Actor, account.AuditFilter{Record: "customer", ID: shop.invoice.Customer.ID}, input.Page{Number: 1, Size: 9})
		housetest.Must(t, err)
		if lines[0].Action != "customer.opted_out" || lines[0].Who != "Ana Lima" || lines[0].Address == "" || len(lines) != 1 {
			t.Errorf("%+v", lines)
		}
		housetest.Must(t, shop.reminders.SetOptOut(t.Context(), shop.Actor, shop.invoice.Customer.ID, false)) // by the company
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		housetest.Must(t, form.WriteField("List-Unsubscribe", "One-Click"))
		housetest.Must(t, form.Close())
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, &body)
		housetest.Must(t, err)
		request.Header.Set("Content-Type", form.FormDataContentType())
		shop.send(t, request).want(t, 200)
		if !shop.optedOut(t) {
			t.Error("a form of several parts is not understood")
		}
	})
}
