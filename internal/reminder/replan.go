package reminder

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// timetable is what decides, together with a rule, when a message goes out.
type timetable struct {
	quiet Quiet
	zone  *time.Location
	now   time.Time
}

// replanAll moves what waits to the hours that a company's new time zone or
// quiet hours give it. Nothing is taken back: a message that waits for the
// morning goes out in the morning, whatever is changed in the night. The rules
// stay where they are among the due dates, and go on at once.
func (s *Service) replanAll(ctx context.Context, tx account.Tx, quiet Quiet) error {
	list, err := lockRules(ctx, tx)
	if err != nil {
		return err
	}
	for _, rule := range list {
		err := moveWaiting(ctx, tx, rule, timetable{quiet, tx.Company.Zone, tx.Now()})
		if err != nil {
			return err
		}
		if rule.On == OnPaid {
			continue
		}
		rule.planAt = tx.Now()
		if err := saveCursor(ctx, tx, rule); err != nil {
			return err
		}
	}
	tx.OnCommit(s.wake.Hint)
	return nil
}

// restartAll restarts every rule of a company that may send again at the
// first due date with a message that still lies ahead.
func (s *Service) restartAll(ctx context.Context, tx account.Tx, quiet Quiet) error {
	list, err := lockRules(ctx, tx)
	if err != nil {
		return err
	}
	for _, rule := range list {
		if rule.On == OnPaid {
			continue
		}
		rule.restart(tx.Actor, quiet, tx.Now())
		if err := saveCursor(ctx, tx, rule); err != nil {
			return err
		}
	}
	return nil
}

// moveWaiting moves the messages of a rule that wait for their hour: those of
// one due date together, and each that waits for another try, or is a receipt, by
// itself.
func moveWaiting(ctx context.Context, tx account.Tx, rule Rule, times timetable) error {
	if rule.On == OnDue {
		if err := moveDates(ctx, tx, rule, times); err != nil {
			return err
		}
	}
	// Receipts are among them, tried or not.
	tries, err := sqldb.All(ctx, tx, rows.Into(func(moved *moved) []any {
		return []any{&moved.id, (*civil.Instant)(&moved.at)}
	}), `SELECT id, run_at FROM reminder_messages WHERE `+waiting+` AND (attempts > 0 OR invoice_id <> 0) ORDER BY id {for update}`,
		tx.Company.ID, rule.ID, tx.Now().UnixMicro())
	if err != nil {
		return err
	}
	for _, try := range tries {
		try.at, try.late = times.from(try.at)
		if rule.On == OnPaid {
			try.late = receiptLate(try.at, times.zone)
		}
		if err := moveTry(ctx, tx, try); err != nil {
			return err
		}
	}
	return nil
}

// moveDates moves the messages that were not tried, by their due dates.
func moveDates(ctx context.Context, tx account.Tx, rule Rule, times timetable) error {
	dates, err := sqldb.Values[civil.Date](ctx, tx,
		`SELECT DISTINCT due_on FROM reminder_messages WHERE `+waiting+` AND attempts = 0 ORDER BY due_on`,
		tx.Company.ID, rule.ID, tx.Now().UnixMicro())
	if err != nil {
		return err
	}
	for _, dueOn := range dates {
		at, late := times.from(rule.own(dueOn, times.zone))
		err := moveDate(ctx, tx, rule.ID, moved{dueOn: dueOn, at: at, late: late})
		if err != nil {
			return err
		}
	}
	return nil
}

// moved is a waiting message, or all of a due date, and its new hour.
type moved struct {
	id       int64
	dueOn    civil.Date
	at, late time.Time
}

// from is the first instant at which a message with the hour at may go out,
// and when it is too late: when that day is over.
func (t timetable) from(at time.Time) (first, late time.Time) {
	first = t.quiet.after(maxTime(at, t.now), t.zone)
	return first, civil.Of(first.In(t.zone)).AddDays(1).Start(t.zone)
}

// Look is the design of a mail, apart from its words.
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
		return look // the customer is not asked to pay, and a code would cancel the debit
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

// Mark names one attempt to a carrier that gives it back in its reports. A report
// may come before the attempt is recorded, or after a crash in the middle of it,
// when the carrier's name for the message is not stored yet.
type Mark struct {
	MessageID int64
	Key       string // of the message
	Number    int    // of the attempt
}

const markPrefix = "carteira:"

// String is the mark as a carrier gets it; empty for the zero Mark.
func (m Mark) String() string {
	if m == (Mark{}) {
		return ""
	}
	return fmt.Sprintf("%s%d:%d:%s", markPrefix, m.MessageID, m.Number, m.Key)
}

// ParseMark reads a mark that a carrier gave back. What is no mark of ours is the
// zero Mark: the carrier's account may have other users.
func ParseMark(text string) Mark {
	rest, ours := strings.CutPrefix(text, markPrefix)
	parts := strings.SplitN(rest, ":", 3)
	if !ours || len(parts) != 3 || parts[2] == "" {
		return Mark{}
	}
	messageID, idErr := strconv.ParseInt(parts[0], 10, 64)
	number, numberErr := strconv.Atoi(parts[1])
	if idErr != nil || numberErr != nil || messageID <= 0 || number <= 0 {
		return Mark{}
	}
	return Mark{MessageID: messageID, Key: parts[2], Number: number}
}

// KeptAbout lists what this room keeps about a customer.
func (s *Service) KeptAbout(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject,
) ([]account.Kept, error) {
	return account.ReadKept(ctx, querier, []any{actor.Company.ID, subject.CustomerID},
		`SELECT id, due_on, status, reason, channel_id, address, subject, body, sent_at, arrival, arrival_at, created_at
			FROM reminder_messages WHERE company_id = ? AND customer_id = ? ORDER BY id`)
}

// EraseTx removes every message to a customer, those that were sent too.
func (s *Service) EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error {
	return tx.Do(ctx, `DELETE FROM reminder_messages WHERE company_id = ? AND customer_id = ?`,
		tx.Company.ID, subject.CustomerID)
}
