package reminder

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
)

// Look is what a mail has beside its words.
type Look struct {
	Color     string // the company's, as #05694b; empty: the house's
	Logo      []byte // PNG; empty: none
	PayURL    string // of the page where the invoice is paid; empty: no button
	QR        []byte // PNG of the PIX code; empty: none
	OptOutURL string // where the customer stops messages; empty: nowhere
}

// lookTimeout bounds what is asked only for the sake of a mail's look.
const lookTimeout = 5 * time.Second

// brandLook has the company's face.
func (s *Service) brandLook(ctx context.Context, company account.Company) *Look {
	look := &Look{Color: company.Brand.Color}
	if company.Brand.Logo == "" {
		return look
	}
	content, err := s.accounts.Logo(ctx, company.Brand.Logo)
	if err != nil {
		s.options.Env.Log.WarnContext(ctx, "mail goes without the logo", "company_id", company.ID, "error", err)
		return look
	}
	look.Logo = content
	return look
}

// mailLook is how a mail about a due date looks. The button and the picture are
// extras: where they cannot be had, the mail goes without them. The picture is
// drawn where the words ask for a code or lead to the payment, since only then is
// the mail about paying.
func (s *Service) mailLook(ctx context.Context, actor account.Actor, candidate candidate, prepared prepared) *Look {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	look := s.brandLook(ctx, actor.Company)
	look.OptOutURL = s.OptOutURL(actor.Company.ID, candidate.customer.ID)
	if s.options.Links == nil || candidate.invoice.id == 0 || candidate.invoice.status != billing.Open {
		return look
	}
	if !prepared.debitOn.IsZero() {
		return look // nobody is asked to pay, and a code would cancel the debit
	}
	if !s.options.Unreachable {
		look.PayURL = prepared.link
	}
	if look.PayURL == "" && !s.options.Unreachable {
		look.PayURL = extra(s.options.Links.PaymentLink(ctx, actor, candidate.invoice.id))
	}
	code := prepared.pix
	if link, _ := asks(candidate.template.texts()...); link && code == "" {
		code = extra(s.options.Links.PixCode(ctx, actor, candidate.invoice.id))
	}
	look.QR = s.draw(ctx, code)
	return look
}

// extra is what was asked for, or nothing where it cannot be had.
func extra(text string, err error) string {
	if err != nil {
		return ""
	}
	return text
}

// draw draws a code; nothing where there is none.
func (s *Service) draw(ctx context.Context, code string) []byte {
	if code == "" || s.options.Links == nil {
		return nil
	}
	picture, err := s.options.Links.Picture(code)
	if err != nil {
		s.options.Env.Log.WarnContext(ctx, "mail goes without the QR code", "error", err)
	}
	return picture
}
