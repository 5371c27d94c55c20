package panel

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
)

// sayPaid is the word of a payer about an invoice.
func (p *person) sayPaid(invoiceID int64, file []byte) payment.Notice {
	p.t.Helper()
	link, err := p.Payments.PaymentLink(p.t.Context(), p.actor, invoiceID)
	if err == nil {
		err = p.Payments.SayPaid(p.t.Context(), link.URL[strings.LastIndex(link.URL, "/")+1:], func() ([]byte, error) { return file, nil })
	}
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := p.Payments.Notices(p.t.Context(), p.actor, invoiceID)
	if err != nil || len(list) == 0 {
		p.t.Fatal(list, err)
	}
	return list[0]
}

// hidden are the names and values of the hidden fields of a form.
func hidden(form string) (pairs []string) {
	for _, field := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		pairs = append(pairs, field[1], field[2])
	}
	return pairs
}

func TestCompanySeesWhoSaysToHavePaid(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/notices").want(t, http.StatusOK, "Ninguém espera por você")
		bia, caio := person.debtor("Bia", ""), person.debtor("Caio", "")
		person.get("/").want(t, http.StatusOK).lacks(t, "diz que pagou")
		var drawn bytes.Buffer
		if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 30, 60))); err != nil {
			t.Fatal(err)
		}
		pdf, picture := person.sayPaid(bia.ID, []byte("%PDF-1.7 <script>")), person.sayPaid(caio.ID, drawn.Bytes())
		person.get("/").want(t, http.StatusOK, "2 clientes dizem que pagaram", `href="/notices"`)
		office.clock.Advance(48 * 3600 * 1e9)
		pay := fmt.Sprintf("/invoices/%d/pay?back=%%2Fnotices&amp;on=2026-01-31", bia.ID)
		person.get("/notices").want(t, http.StatusOK, "Bia", "Caio", pay, "Recebi R$\u00a035,00", "Outro valor", "Não encontrei", fmt.Sprintf(`src="/notices/%d"`, picture.ID)).
			lacks(t, fmt.Sprintf(`src="/notices/%d"`, pdf.ID))
		person.get(invoicePath(bia.ID)).want(t, http.StatusOK, "O cliente diz que pagou", fmt.Sprintf(`href="/notices/%d"`, pdf.ID))
		person.get(strings.ReplaceAll(pay, "&amp;", "&")).want(t, http.StatusOK, `value="2026-01-31"`, `value="/notices"`)

		for id, want := range map[int64][2]string{pdf.ID: {"application/pdf", "attachment; filename"}, picture.ID: {"image/png", ""}} {
			header := person.get(fmt.Sprintf("/notices/%d", id)).want(t, http.StatusOK).header
			if header.Get("Content-Type") != want[0] || !strings.HasPrefix(header.Get("Content-Disposition"), want[1]) ||
				header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
				t.Errorf("%v", header)
			}
		}

		reading := person.colleague(account.RoleReadOnly)
		reading.get("/notices").want(t, http.StatusOK, "Bia").lacks(t, "Recebi", "/dismiss")
		reading.post(fmt.Sprintf("/notices/%d/dismiss", pdf.ID)).want(t, http.StatusForbidden)
		stranger := office.owner(t, "rui@example.com")
		stranger.get("/notices").want(t, http.StatusOK).lacks(t, "Bia")
		stranger.get(fmt.Sprintf("/notices/%d", pdf.ID)).want(t, http.StatusNotFound)
		stranger.post(fmt.Sprintf("/notices/%d/dismiss", pdf.ID)).want(t, http.StatusNotFound)

		attendant := person.colleague(account.RoleAttendant)
		attendant.follow(fmt.Sprintf("/notices/%d/dismiss", pdf.ID), "back", "/notices").want(t, http.StatusOK, "O aviso foi removido.", "Caio").lacks(t, "Bia")
		form := attendant.get("/notices").body // one click is enough
		form = form[strings.Index(form, invoicePath(caio.ID)+`/pay"`):]
		paid := attendant.follow(invoicePath(caio.ID)+"/pay", hidden(form[:strings.Index(form, "</form>")])...)
		attendant.undone(paid.want(t, http.StatusOK, "Ninguém espera por você")).want(t, http.StatusOK, "Desfeito.")
		attendant.follow(invoicePath(caio.ID)+"/pay", "amount", "35,00", "paid_via", "pix", "paid_at", "2026-01-31", "back", "/notices").
			want(t, http.StatusOK, "Ninguém espera por você")
		for id, want := range map[int64]billing.Status{bia.ID: billing.Open, caio.ID: billing.Paid} {
			if invoice, err := office.Billing.Find(t.Context(), person.actor, id); err != nil || invoice.Status != want {
				t.Errorf("%v, %v, want %s", invoice.Status, err, want)
			}
		}
		person.get(invoicePath(caio.ID)).want(t, http.StatusOK, fmt.Sprintf(`src="/notices/%d"`, picture.ID)).lacks(t, "/dismiss")
		person.get("/").want(t, http.StatusOK).lacks(t, "dizem que pagaram", "diz que pagou")
	})
}
