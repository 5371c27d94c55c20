package panel

import (
	"net/url"

	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// noticeRow is a payer's word that an invoice was paid.
type noticeRow struct {
	payment.Notice
	Invoice billing.Invoice
	Pay     string // leads to the form of a payment, with the day of the word
	Picture bool   // it can be shown in a page; a PDF is only handed out
}

func noticeRowOf(req *request, notice payment.Notice, invoice billing.Invoice, back string) noticeRow {
	query := url.Values{"on": {req.Actor.Today(notice.CreatedAt).String()}, "back": {back}}
	return noticeRow{notice, invoice, invoicePath(invoice.ID) + "/pay?" + query.Encode(), notice.Kind == payment.NoticePicture}
}

type noticesData struct {
	List  []noticeRow
	Pager page.Pager
}

// notices lists the open invoices that customers say to have paid.
func (s *Server) notices(req *request) error {
	paging := req.query().Page()
	list, total, err := s.Payments.Noticed(req.Context(), req.Actor, paging)
	req.note(err)
	data := noticesData{Pager: page.NewPager(req.URL, paging, total)}
	for _, notice := range list {
		invoice, err := s.Billing.Find(req.Context(), req.Actor, notice.InvoiceID)
		if fault.KindOf(err) == fault.KindNotFound {
			continue // deleted since it was listed
		}
		req.note(err)
		data.List = append(data.List, noticeRowOf(req, notice, invoice, "/notices"))
	}
	return s.show(req, page.View{Name: "notices", Title: "They say to have paid", Data: data})
}

// noticesOf is what the payer said about one invoice.
func (s *Server) noticesOf(req *request, invoice billing.Invoice) (rows []noticeRow) {
	for _, notice := range readOf(req, s.Payments.Notices, invoice.ID) {
		rows = append(rows, noticeRowOf(req, notice, invoice, invoicePath(invoice.ID)))
	}
	return rows
}

// noticeFile hands out what a payer sent. A stranger made it: a browser must run
// nothing of it, nor take it for a page.
func (s *Server) noticeFile(req *request) error {
	notice, content, err := s.Payments.NoticeFile(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	req.w.Header().Set("X-Content-Type-Options", "nosniff")
	req.w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	name := ""
	if notice.Kind != payment.NoticePicture {
		name = "comprovante-" + idText(notice.InvoiceID) + ".pdf"
	}
	return sendBytes(req, name, string(notice.Kind), content)
}

// dismissNotices removes the word of a payer whose money was not found.
func (s *Server) dismissNotices(req *request) error {
	notice, err := s.Payments.DismissNotices(req.Context(), req.Actor, req.id)
	return req.did(err, req.back(invoicePath(notice.InvoiceID)), "The notice was removed. The invoice stays open.")
}
