package checkout_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func (s *shop) ownPage(t *testing.T) string {
	t.Helper()
	link, err := s.payments.ShareCustomerPage(t.Context(), account.Operator(s.Actor.Company), s.invoice.Customer.ID)
	housetest.Must(t, err)
	return link.URL
}

func (s *shop) post(t *testing.T, address string, form url.Values, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	housetest.Must(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(t, req)
}

func TestCustomersOwnPageLeadsToPaymentAndReceipts(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		mine := shop.ownPage(t)
		shown := shop.get(t, mine).want(t, 200, "Olá, Ana Lima", "R$\u00a01.234,56", "05/02/2026", "Fibra 300", "Rede &lt;Clara&gt; &amp; Filhos", "Não receber mais mensagens")
		shown.lacks(t, "Recibo")
		if policy := shown.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("policy %q", policy)
		}
		paying := shop.get(t, fmt.Sprintf("%s/pay/%d", mine, shop.invoice.ID)).want(t, 200, "Copiar código PIX")
		if !strings.HasPrefix(paying.at, "/pay/") {
			t.Errorf("led to %s", paying.at)
		}
		shop.get(t, fmt.Sprintf("%s/receipts/%d", mine, shop.invoice.ID)).want(t, 404)
		shop.get(t, shop.url+strings.SplitN(paying.at, "?", 2)[0]+"/receipt").want(t, 404)
		shop.status(t, billing.Paid)
		shop.get(t, mine).want(t, 200, "Pagas", fmt.Sprintf("/receipts/%d", shop.invoice.ID))
		shop.get(t, fmt.Sprintf("%s/receipts/%d", mine, shop.invoice.ID)).want(t, 200, "Recibo", "recebeu de Ana Lima", "R$\u00a01.234,56", "data-print")
		paid := shop.url + strings.SplitN(paying.at, "?", 2)[0]
		shop.get(t, paid).want(t, 200, "Pagamento recebido", "Ver recibo", "/receipt")
		shop.get(t, paid+"/receipt").want(t, 200, "recebeu de Ana Lima", fmt.Sprintf("Nº %d", shop.invoice.ID), "data-print")
		shop.get(t, shop.url+"/pay/none/receipt").want(t, 404)
		shop.get(t, mine, "Accept-Language", "en").want(t, 200, "Hello, Ana Lima", "Get no more messages")
		if logged := shop.log.String(); strings.Contains(logged, mine[strings.LastIndex(mine, "/")+1:]) {
			t.Error("the log has the code of the page")
		}
	})
}

func TestWithdrawnPageSaysWhomToAskAndNothingElse(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		mine := shop.ownPage(t)
		housetest.Must(t, shop.payments.WithdrawCustomerPage(t.Context(), account.Operator(shop.Actor.Company), shop.invoice.Customer.ID))
		for _, address := range []string{mine, mine + "/pay/1", mine + "/receipts/1", shop.url + "/my/none", shop.url + "/pay/none"} {
			shop.get(t, address).want(t, 404, "Este link está incompleto ou não existe mais", "Peça um novo a quem o enviou").
				lacks(t, "Rede", "Ana", `href="/"`)
		}
		shop.post(t, mine+"/messages", url.Values{"opted_out": {"true"}}).want(t, 404)
	})
}

func TestCustomerDecidesAboutMessagesAndTheCompanySeesWho(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		mine := shop.ownPage(t)
		shop.post(t, mine+"/messages", url.Values{"opted_out": {"true"}}, "Sec-Fetch-Site", "cross-site").want(t, 403)
		shop.get(t, mine).want(t, 200, "Não receber mais mensagens")
		shop.post(t, mine+"/messages", url.Values{"opted_out": {"true"}}).want(t, 200, "Você não receberá mais mensagens.", "Voltar a receber mensagens")
		out, err := shop.reminders.OptedOut(t.Context(), shop.Actor, shop.invoice.Customer.ID)
		if housetest.Must(t, err); !out {
			t.Error("the customer still gets messages")
		}
		lines, _, err := shop.Accounts.Audit(t.Context(), shop.Actor, account.AuditFilter{Record: "customer", ID: shop.invoice.Customer.ID}, input.Page{Number: 1, Size: 9})
		housetest.Must(t, err)
		if lines[0].Action != "customer.opted_out" || lines[0].Who != "Ana Lima" || lines[0].Address == "" {
			t.Errorf("%+v", lines[0])
		}
		shop.post(t, mine+"/messages", url.Values{"opted_out": {"false"}}).want(t, 200, "Você voltou a receber mensagens.")
	})
}

func TestPagesHaveTheCompanysFace(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		shop.get(t, shop.link(t)).want(t, 200).lacks(t, "/brand/", "/logo/", "wa.me")
		var file bytes.Buffer
		housetest.Must(t, png.Encode(&file, image.NewPaletted(image.Rect(0, 0, 900, 300), color.Palette{color.White})))
		operator := account.Operator(shop.Actor.Company)
		housetest.Must(t, shop.Accounts.SetLogo(t.Context(), operator, file.Bytes()))
		_, err := shop.Accounts.SetCompany(t.Context(), operator, account.ReadCompanyDraft(housetest.Form("color", "#7A1FA2", "whatsapp", "11987654321")))
		housetest.Must(t, err)
		for _, address := range []string{shop.link(t), shop.ownPage(t)} {
			shown := shop.get(t, address).want(t, 200, `href="/brand/7a1fa2.css"`, `src="/logo/`, "https://wa.me/5511987654321")
			logo := shop.get(t, shop.url+regexp.MustCompile(`/logo/[0-9a-f]+\.png`).FindString(shown.body))
			if logo.status != 200 || logo.header.Get("Content-Type") != "image/png" || !strings.Contains(logo.header.Get("Cache-Control"), "immutable") {
				t.Errorf("logo: %d %v", logo.status, logo.header)
			}
		}
		housetest.Must(t, shop.Accounts.RemoveLogo(t.Context(), operator))
		shop.get(t, shop.link(t)).want(t, 200).lacks(t, "/logo/")
	})
}

func TestStylesheetOfAColorIsReadable(t *testing.T) {
	shop := open(t, sqldb.SQLite)
	for color, wants := range map[string][]string{
		"7a1fa2": {"--primary:#7a1fa2;--primary-foreground:#ffffff"},
		"ffeb3b": {"--primary:#ffeb3b;--primary-foreground:#000000"},
		"000000": {"--primary:#000000;--primary-foreground:#ffffff", "prefers-color-scheme: dark"},
	} {
		answer := shop.get(t, shop.url+"/brand/"+color+".css").want(t, 200, wants...)
		if media := answer.header.Get("Content-Type"); media != "text/css; charset=utf-8" {
			t.Errorf("%s is %s", color, media)
		}
	}
	if dark := shop.get(t, shop.url+"/brand/000000.css").body; strings.Count(dark, "--primary:#000000") != 1 {
		t.Errorf("a black button on a dark page: %s", dark)
	}
	for _, path := range []string{"/brand/red.css", "/brand/7a1fa2", "/brand/7a1fa2f.css", "/brand/+a1fa2.css", "/brand/%7d.css", "/logo/none.png"} {
		shop.get(t, shop.url+path).want(t, 404)
	}
}
