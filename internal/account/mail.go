package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Mail is what a user is written, in the language that people read here.
type Mail struct {
	ID      string // the same at every attempt
	To      string
	Subject string
	Text    string
	urgent  bool // it goes before all that are not
}

// Mailer hands a mail to the operator's mail server.
type Mailer func(ctx context.Context, mail Mail) error

// SendsMail reports whether the operator has set a mail server.
func (s *Service) SendsMail() bool { return s.mailer != nil && s.box != nil }

// mailWaits are the pauses after attempts to send a mail that failed. After the
// last it is given up: most of what is written is of use for an hour.
var mailWaits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour}

const (
	mailBatch = 20
	// mailLease is how long the process that sends a mail has it for itself.
	mailLease = 2 * time.Minute
)

func mailContext(companyID int64) string {
	return fmt.Sprintf("mail:%d", companyID)
}

// mailTx puts a mail into the queue, in the transaction of what it is about.
// Without a mail server nothing is written.
func (s *Service) mailTx(ctx context.Context, tx *sqldb.Tx, companyID int64, mail Mail) error {
	if !s.SendsMail() {
		return nil
	}
	content, err := json.Marshal(mail)
	if err != nil {
		return err
	}
	return insertMail(ctx, tx, companyID, queuedMail{
		to:      mail.To,
		content: s.box.Seal(content, mailContext(companyID)),
		urgent:  mail.urgent,
	})
}

// queuedMail is a mail on its way.
type queuedMail struct {
	id, companyID int64
	to            string
	content       string // sealed
	attempts      int
	urgent        bool
	runAt         time.Time
}

// SendMails sends what is due. Any number of processes may do so at once.
func (s *Service) SendMails(ctx context.Context) error {
	if !s.SendsMail() {
		return nil
	}
	due, err := sqldb.All(ctx, s.db, rows.Into(func(mail *queuedMail) []any {
		return []any{&mail.id, &mail.companyID, &mail.to, &mail.content, &mail.attempts, (*civil.Instant)(&mail.runAt)}
	}), `SELECT id, company_id, address, content, attempts, run_at FROM user_mails WHERE run_at <= ?
		ORDER BY run_at, id LIMIT CAST(? AS BIGINT) /* every company_id */`, s.db.Real().UnixMicro(), mailBatch)
	if err != nil {
		return err
	}
	var failures []error
	for _, mail := range due {
		if err := s.sendMail(ctx, mail); err != nil {
			failures = append(failures, fmt.Errorf("send mail %d: %w", mail.id, err))
		}
	}
	return errors.Join(failures...)
}

func (s *Service) sendMail(ctx context.Context, mail queuedMail) error {
	var mine bool
	err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		// Another process may have taken the mail since it was read.
		mine, err = rows.Changed(ctx, tx,
			`UPDATE user_mails SET run_at = ?, attempts = attempts + 1 WHERE company_id = ? AND id = ? AND run_at = ?`,
			tx.Real().Add(mailLease).UnixMicro(), mail.companyID, mail.id, mail.runAt.UnixMicro())
		return err
	})
	if err != nil || !mine {
		return err
	}
	content, err := s.box.Open(mail.content, mailContext(mail.companyID))
	var open Mail
	if err == nil {
		err = json.Unmarshal(content, &open)
	}
	if err == nil {
		open.ID = fmt.Sprintf("mail-%d-%d", mail.companyID, mail.id)
		err = s.mailer(ctx, open)
	}
	return errors.Join(err, s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err == nil || mail.attempts >= len(mailWaits) {
			return tx.Do(ctx, `DELETE FROM user_mails WHERE company_id = ? AND id = ?`, mail.companyID, mail.id)
		}
		return tx.Do(ctx, `UPDATE user_mails SET run_at = ? WHERE company_id = ? AND id = ?`,
			tx.Real().Add(mailWaits[mail.attempts]).UnixMicro(),
			mail.companyID, mail.id)
	}))
}
