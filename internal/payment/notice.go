package payment

import (
	"bytes"
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/picture"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Notice is a payer's word that an invoice was paid, with a picture or PDF that
// shows it. It books nothing: a person of the company looks, and registers the
// payment or removes the notice.
type Notice struct {
	ID        int64
	InvoiceID int64
	Kind      NoticeKind
	CreatedAt time.Time
}

// NoticeKind is the media type of a notice's file.
type NoticeKind string

// The kinds of files.
const (
	NoticePicture NoticeKind = "image/png"       // drawn by the program of what came
	NoticePDF     NoticeKind = "application/pdf" // as it came, so it is never shown in a page
)

// Anyone with the link of an invoice can send notices: what they can make us keep and do
// is bounded.
const (
	MaxNoticeFile = 2 << 20
	noticesOfDay  = 3
	noticesKept   = 6 // of one invoice
	noticeUploads = 32
	noticeDays    = 180
)

// noticeBox is what a picture is made to fit: the text of a screenshot is readable.
var noticeBox = picture.Size{Width: 800, Height: 1600}

var pdfHead = []byte("%PDF-")

var (
	errNoticeLate  = fault.Conflict("this invoice is no longer open")
	errNoticeDay   = fault.New(fault.KindRateLimited, "this was sent three times today; wait until tomorrow")
	errNoticesKept = fault.New(fault.KindRateLimited, "this was sent often enough; talk to the company")
	errNoticeBusy  = fault.New(fault.KindRateLimited, "a file is being sent already; wait a moment and try again")
)

// SayPaid records the word of who has the code of an invoice's page. The file is
// read once it is known that it may be kept, one at a time of an invoice.
func (s *Service) SayPaid(ctx context.Context, code string, read func() ([]byte, error)) error {
	companyID, invoiceID, err := invoiceOfCode(ctx, s.db, code)
	if err != nil {
		return err
	}
	if _, busy := s.noticing.LoadOrStore(invoiceID, true); busy {
		return errNoticeBusy
	}
	defer s.noticing.Delete(invoiceID)
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return errNoticeBusy
	}
	company, err := account.FindCompany(ctx, s.db, companyID)
	if err != nil {
		return err
	}
	visitor := account.System(company, "checkout")
	invoice, err := s.billing.Find(ctx, visitor, invoiceID)
	if err == nil {
		err = mayNotice(ctx, s.db, invoice, companyID, s.db.Now())
	}
	if err != nil {
		return err
	}
	file, err := read()
	if err != nil {
		return err
	}
	kind, content, err := noticeFile(ctx, file)
	if err != nil {
		return err
	}
	return visitor.Write(ctx, s.db, func(tx account.Tx) error {
		invoice, err := billing.LockTx(ctx, tx, invoiceID) // others wait, and count this one
		if err != nil {
			return err
		}
		if err := mayNotice(ctx, tx, invoice, companyID, tx.Now()); err != nil {
			return err
		}
		return tx.Do(ctx, `
			INSERT INTO paid_notices (company_id, invoice_id, customer_id, kind, created_at, content) VALUES (?, ?, ?, ?, ?, ?)`,
			companyID, invoice.ID, invoice.Customer.ID, string(kind), tx.Now().UnixMicro(), content)
	})
}

// mayNotice refuses a notice of an invoice that is not open, and one too many.
func mayNotice(ctx context.Context, querier sqldb.Querier, invoice billing.Invoice, companyID int64, now time.Time) error {
	if invoice.Status != billing.Open {
		return errNoticeLate
	}
	list, err := noticesOf(ctx, querier, companyID, invoice.ID)
	if err != nil {
		return err
	}
	today := 0
	for _, notice := range list {
		if notice.CreatedAt.After(now.Add(-24 * time.Hour)) {
			today++
		}
	}
	switch {
	case today >= noticesOfDay:
		return errNoticeDay
	case len(list) >= noticesKept:
		return errNoticesKept
	}
	return nil
}

// noticeFile is what is kept of a file. A picture is drawn anew, which leaves out
// where and with what it was taken.
func noticeFile(ctx context.Context, file []byte) (NoticeKind, []byte, error) {
	switch {
	case len(file) == 0:
		return "", nil, fault.Field("file", "choose a file")
	case len(file) > MaxNoticeFile:
		return "", nil, fault.Field("file", "must not be larger than 2 MiB")
	case bytes.HasPrefix(file, pdfHead):
		return NoticePDF, file, nil
	}
	drawn, err := picture.Fit(ctx, file, noticeBox)
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case errors.Is(err, picture.ErrFormat):
		return "", nil, fault.Field("file", "must be a PNG or JPEG picture, or a PDF")
	case err != nil:
		return "", nil, fault.Field("file", err.Error())
	}
	return NoticePicture, drawn, nil
}

// Notices are what was said about an invoice, newest first.
func (s *Service) Notices(ctx context.Context, actor account.Actor, invoiceID int64) ([]Notice, error) {
	return noticesOf(ctx, s.db, actor.Company.ID, invoiceID)
}

// Noticed is the last notice of each open invoice that has one, newest first, and
// how many invoices there are.
func (s *Service) Noticed(ctx context.Context, actor account.Actor, page input.Page) ([]Notice, int64, error) {
	total, err := sqldb.Value[int64](ctx, s.db, `
		SELECT COUNT(DISTINCT p.invoice_id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
		WHERE p.company_id = ? AND i.status = ?`, actor.Company.ID, string(billing.Open))
	if err != nil || total == 0 {
		return nil, 0, err
	}
	list, err := sqldb.All(ctx, s.db, scanNotice, `
		SELECT `+noticeColumns+` FROM paid_notices n WHERE n.company_id = ? AND n.id IN (
			SELECT MAX(p.id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
			WHERE p.company_id = ? AND i.status = ? GROUP BY p.invoice_id)
		ORDER BY n.id DESC LIMIT ? OFFSET ?`,
		actor.Company.ID, actor.Company.ID, string(billing.Open), page.Size, (page.Number-1)*page.Size)
	return list, total, err
}

// SayingPaid is how many customers say that they have paid what is open.
func (s *Service) SayingPaid(ctx context.Context, actor account.Actor) (int64, error) {
	return sqldb.Value[int64](ctx, s.db, `
		SELECT COUNT(DISTINCT i.customer_id) FROM paid_notices p JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id
		WHERE p.company_id = ? AND i.status = ?`, actor.Company.ID, string(billing.Open))
}

// NoticeFile is what came with a notice.
func (s *Service) NoticeFile(ctx context.Context, actor account.Actor, id int64) (Notice, []byte, error) {
	return noticeWithFile(ctx, s.db, actor.Company.ID, id)
}

// DismissNotices removes what was said about the invoice of a notice: the money was
// not found.
func (s *Service) DismissNotices(ctx context.Context, actor account.Actor, id int64) (Notice, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (notice Notice, err error) {
		if notice, _, err = noticeWithFile(ctx, tx, actor.Company.ID, id); err != nil {
			return notice, err
		}
		return notice, tx.Do(ctx, `DELETE FROM paid_notices WHERE company_id = ? AND invoice_id = ?`,
			tx.Company.ID, notice.InvoiceID)
	})
}

const noticeColumns = `n.id, n.invoice_id, n.kind, n.created_at`

func scanNotice(row sqldb.Row) (notice Notice, err error) {
	err = row.Scan(&notice.ID, &notice.InvoiceID, &notice.Kind, (*civil.Instant)(&notice.CreatedAt))
	return notice, err
}

func noticesOf(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) ([]Notice, error) {
	return sqldb.All(ctx, querier, scanNotice, `
		SELECT `+noticeColumns+` FROM paid_notices n WHERE n.company_id = ? AND n.invoice_id = ? ORDER BY n.id DESC`,
		companyID, invoiceID)
}

func noticeWithFile(ctx context.Context, querier sqldb.Querier, companyID, id int64) (notice Notice, content []byte, err error) {
	notice, err = sqldb.One(ctx, querier, rows.Into(func(notice *Notice) []any {
		return []any{&notice.ID, &notice.InvoiceID, &notice.Kind, (*civil.Instant)(&notice.CreatedAt), &content}
	}), `SELECT `+noticeColumns+`, n.content FROM paid_notices n WHERE n.company_id = ? AND n.id = ?`, companyID, id)
	return notice, content, sqldb.Found(err, "page")
}
