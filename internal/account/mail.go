package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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
	due, err := dueMails(ctx, s.db, s.db.Real(), mailBatch)
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
		mine, err = claimMail(ctx, tx, mail, tx.Real().Add(mailLease))
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
			return deleteMail(ctx, tx, mail)
		}
		return postponeMail(ctx, tx, mail, tx.Real().Add(mailWaits[mail.attempts]))
	}))
}
