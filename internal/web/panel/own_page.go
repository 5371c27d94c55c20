package panel

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// ownPage is what a customer's record shows of the customer's own page.
type ownPage struct {
	payment.CustomerLink
	WhatsApp string // opens a chat with the link typed in; empty: no number
}

func (s *Server) ownPage(req *request, record customer.Customer) (shown ownPage) {
	if !allows(req.User.Role, desk) {
		return shown // the link opens the page: who only reads does not hand it out
	}
	shown.CustomerLink = readOf(req, s.Payments.CustomerPageLink, record.ID)
	if shown.URL != "" && record.Whatsapp != "" && s.Reach == config.Reachable {
		first, _, _ := strings.Cut(record.Name, " ")
		text := page.Portuguese.T("Hello, %s! Here are your invoices, second copies and receipts: %s", first, shown.URL)
		shown.WhatsApp = chatWith(record.Whatsapp, text)
	}
	return shown
}

// chatWith opens a chat with a text typed in.
func chatWith(number, text string) string {
	return "https://wa.me/" + number + "?text=" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// saveLogo takes the picture. Its size is bounded before it is read.
func (s *Server) saveLogo(req *request) error {
	_ = http.NewResponseController(req.w).SetReadDeadline(time.Now().Add(time.Minute))
	req.Body = http.MaxBytesReader(req.w, req.Body, account.MaxLogoFile+maxForm)
	content, err := readLogo(req.Request)
	if err == nil {
		err = s.Accounts.SetLogo(req.Context(), req.Actor, content)
	}
	return req.sent(err, func(req *request, _ *page.Form, refusal error) error {
		form := s.settingsValues(req)
		form.Fail(refusal)
		return s.settings(req, form, refusal)
	}, "/settings#brand", "The logo was saved.")
}

func readLogo(r *http.Request) ([]byte, error) {
	_, content, err := readFileOf(r, "logo")
	if _, large := errors.AsType[*http.MaxBytesError](err); large || len(content) > account.MaxLogoFile {
		return nil, fault.Field("logo", "must not be larger than 2 MiB")
	}
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil, fault.Field("logo", "choose a file")
	}
	return content, err
}

func (s *Server) removeLogo(req *request) error {
	return req.did(s.Accounts.RemoveLogo(req.Context(), req.Actor), "/settings#brand", "The logo was removed.")
}

// customerFile is everything that is kept about a customer, to hand to them.
func (s *Server) customerFile(req *request) error {
	content := readOf(req, s.Privacy.CustomerFile, req.id)
	return sendBytes(req, "cliente-"+idText(req.id)+".json", "application/json; charset=utf-8", content)
}
