package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// The links that are sent by e-mail live shorter than those that people hand on.
const (
	resetLife   = time.Hour
	confirmLife = 3 * 24 * time.Hour
)

// How often an address is written to by those who may not be its owner.
const (
	resetsOfPerson = 3 // in an hour
	probesOfDay    = 20
)

const takenReason = "is taken by another user"

// ReadEmail reads the field email.
func ReadEmail(in *input.Form) NewEmail {
	in.Require("email")
	e := NewEmail{Email: in.Email("email").Value}
	e.Problems = in.Problems()
	return e
}

// NewEmail is an address that somebody gives.
type NewEmail struct {
	Email string

	Problems input.Problems // what the form had wrong
}

// Forget writes to the user of an address a link by which to set another
// password. What it answers is the same whether there is one or not.
func (s *Service) Forget(ctx context.Context, e NewEmail, from Visitor) error {
	if err := e.Problems.Err(); err != nil {
		return err
	}
	if !s.SendsMail() {
		return fault.NotFound("page")
	}
	person := text.Lower(e.Email)
	quotas := append(networkQuotas("forgot:", from), quota{"forgot person:" + person, resetsOfPerson, time.Hour})
	if err := s.countAttempt(ctx, quotas); err != nil {
		return err
	}
	u, err := userByEmail(ctx, s.db, person)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.sendLink(ctx, u.User, newPasswordLink{purpose: forReset, life: resetLife})
}

// sendLink makes a link and writes it to its user.
func (s *Service) sendLink(ctx context.Context, u User, l newPasswordLink) error {
	link, hash := newLink()
	l.hash = hash
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := deleteLinks(ctx, tx, u, l.purpose); err != nil {
			return err
		}
		if err := insertPasswordLink(ctx, tx, u, l); err != nil {
			return err
		}
		return s.mailTx(ctx, tx, u.CompanyID, s.letters(u, link)[l.purpose])
	})
}

// letters are what is written with each kind of link.
func (s *Service) letters(u User, link string) map[purpose]Mail {
	return map[purpose]Mail{
		forReset: {To: u.Email, Subject: "Carteira: criar outra senha", Text: "Olá, " + u.Name + ".\n\n" +
			"Alguém pediu outra senha para " + u.Email + ". Para criá-la, abra este link dentro de uma hora:\n\n" +
			s.publicURL + "/password/" + link + "\n\nSe não foi você, ignore esta mensagem: nada muda.\n"},
		forConfirm: {To: u.Email, Subject: "Carteira: confirmar o e-mail", Text: "Olá, " + u.Name + ".\n\n" +
			"Para confirmar que " + u.Email + " é o seu e-mail, abra este link dentro de três dias:\n\n" +
			s.publicURL + "/email/" + link + "\n\nSe você não tem conta, ignore esta mensagem.\n"},
		forRelease: {To: u.Email, Subject: "Carteira: alguém quer usar este e-mail", Text: "Olá.\n\n" +
			"Alguém quer criar uma conta com " + u.Email + ", que já está em uma conta e nunca foi confirmado.\n\n" +
			"Se essa conta é sua, entre nela e confirme o e-mail. Se não é, abra este link para liberar o e-mail e depois crie a sua:\n\n" +
			s.publicURL + "/email/" + link + "\n"},
	}
}

// known is what is written to a confirmed address that somebody wants to use
// again.
func alreadyKnown(u User, publicURL string) Mail {
	return Mail{To: u.Email, Subject: "Carteira: você já tem uma conta", Text: "Olá, " + u.Name + ".\n\n" +
		"Alguém quis criar uma conta com " + u.Email + ", que já tem uma. Entre com ela:\n\n" + publicURL + "/login\n\n" +
		"Se esqueceu a senha, peça outra nessa página. Se não foi você, ignore esta mensagem.\n"}
}

// AddressWantedTx is called when somebody wants an address that a user has: the
// mailbox is told, and where nobody has confirmed the address it can be released
// from there.
func (s *Service) AddressWantedTx(ctx context.Context, tx *sqldb.Tx, email string) error {
	if !s.SendsMail() {
		return nil
	}
	u, err := userByEmail(ctx, tx, text.Lower(email))
	if err != nil {
		return sqldb.Found(err, "user")
	}
	if err := countAttemptTx(ctx, tx, []quota{{"wanted:" + text.Lower(email), resetsOfPerson, time.Hour}}); err != nil {
		if fault.KindOf(err) == fault.KindRateLimited {
			return nil // the mailbox was told already
		}
		return err
	}
	if u.confirmedAt != 0 {
		return s.mailTx(ctx, tx, u.CompanyID, alreadyKnown(u.User, s.publicURL))
	}
	link, hash := newLink()
	if err := deleteLinks(ctx, tx, u.User, forRelease); err != nil {
		return err
	}
	if err := insertPasswordLink(ctx, tx, u.User, newPasswordLink{hash, forRelease, confirmLife}); err != nil {
		return err
	}
	return s.mailTx(ctx, tx, u.CompanyID, s.letters(u.User, link)[forRelease])
}

// ConfirmAddress writes to the actor's user a link by which the address is
// confirmed.
func (s *Service) ConfirmAddress(ctx context.Context, v Visit) error {
	if !s.SendsMail() {
		return fault.NotFound("page")
	}
	if err := s.countAttempt(ctx, []quota{{"confirm:" + strconv.FormatInt(v.User.ID, 10), resetsOfPerson, time.Hour}}); err != nil {
		return err
	}
	return s.sendLink(ctx, v.User, newPasswordLink{purpose: forConfirm, life: confirmLife})
}

// AddressConfirmed reports whether the actor's user has confirmed the address.
func (s *Service) AddressConfirmed(ctx context.Context, a Actor) (bool, error) {
	u, err := userByID(ctx, s.db, a.Company.ID, a.UserID)
	return u.confirmedAt != 0, err
}

// AddressLink is a link of an e-mail about an address.
type AddressLink struct {
	User    User
	Release bool // it releases the address; otherwise it confirms it
}

// FindAddressLink finds what a link of an e-mail is for.
func (s *Service) FindAddressLink(ctx context.Context, link string) (AddressLink, error) {
	u, purpose, err := userByAddressLink(ctx, s.db, linkHash(link), s.db.Now())
	return AddressLink{u.User, purpose == forRelease}, err
}

// UseAddressLink confirms or releases an address, once.
func (s *Service) UseAddressLink(ctx context.Context, link string, from Visitor) (AddressLink, error) {
	if err := s.linkWorks(ctx, from, func() error {
		_, err := s.FindAddressLink(ctx, link)
		return err
	}); err != nil {
		return AddressLink{}, err
	}
	var used AddressLink
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		u, purpose, err := userByAddressLink(ctx, tx, linkHash(link), tx.Now())
		if err != nil {
			return err
		}
		if ok, err := usePasswordLink(ctx, tx, u.User, linkHash(link)); err != nil || !ok {
			return errors.Join(err, fault.NotFound("link"))
		}
		used = AddressLink{u.User, purpose == forRelease}
		return s.settleAddress(ctx, tx, used, from)
	})
	return used, err
}

// settleAddress confirms an address, or takes it from a user who has never
// confirmed it.
func (s *Service) settleAddress(ctx context.Context, tx *sqldb.Tx, l AddressLink, from Visitor) error {
	before, err := lockUser(ctx, tx, l.User.CompanyID, l.User.ID)
	if err != nil {
		return err
	}
	change := userChange{EmailConfirmed, before, before}
	switch {
	case !l.Release:
		change.after.confirmedAt = tx.Now().UnixMicro()
	case before.confirmedAt != 0:
		return fault.NotFound("link")
	default:
		change.action = EmailReleased
		change.after.Email = fmt.Sprintf("liberado-%d@invalid", before.ID)
	}
	return s.applyUser(ctx, tx, actorOf(before.User, from), &change)
}

// EmailChange is another address for the actor's user.
type EmailChange struct {
	Email string

	Problems input.Problems // what the form had wrong
}

// ReadEmailChange reads the field email.
func ReadEmailChange(in *input.Form) EmailChange {
	in.Require("email")
	c := EmailChange{Email: in.Email("email").Value}
	c.Problems = in.Problems()
	return c
}

// ChangeEmail gives the actor's user another address to sign in with, and writes
// to it where there is a mail server.
func (s *Service) ChangeEmail(ctx context.Context, v Visit, c EmailChange) error {
	if err := c.Problems.Err(); err != nil {
		return err
	}
	err := s.LimitProbes(ctx, v.Actor, c.Email, func() error {
		return s.db.Write(ctx, func(tx *sqldb.Tx) error { return s.changeEmailTx(ctx, tx, v, c.Email) })
	})
	if err != nil || !s.SendsMail() {
		return err
	}
	u, err := userByID(ctx, s.db, v.Actor.Company.ID, v.User.ID)
	if err != nil || u.Email == v.User.Email {
		return err
	}
	return s.sendLink(ctx, u.User, newPasswordLink{purpose: forConfirm, life: confirmLife})
}

func (s *Service) changeEmailTx(ctx context.Context, tx *sqldb.Tx, v Visit, email string) error {
	before, err := lockUser(ctx, tx, v.Actor.Company.ID, v.User.ID)
	if err != nil || before.Email == email {
		return err
	}
	taken, err := emailTaken(ctx, tx, before.ID, text.Lower(email))
	if err != nil {
		return err
	}
	if taken {
		return errEmailTaken()
	}
	if err := deletePasswordLinks(ctx, tx, before.User); err != nil {
		return err
	}
	change := userChange{EmailChanged, before, before}
	change.after.Email, change.after.confirmedAt = email, 0
	return s.applyUser(ctx, tx, v.Actor, &change)
}

// LimitProbes runs a use case that refuses an address which another user has,
// and counts such refusals for the company: who asks for many wants to know who
// has an account. The operator is not counted.
func (s *Service) LimitProbes(ctx context.Context, a Actor, email string, do func() error) error {
	if a.UserID == 0 && a.TokenID == 0 {
		return do()
	}
	quotas := []quota{{"probe:" + strconv.FormatInt(a.Company.ID, 10), probesOfDay, dayWindow}}
	if err := s.refuseSpent(ctx, quotas); err != nil {
		return errProbing()
	}
	err := do()
	if slices.Contains(fault.FieldsOf(err).Get("email"), takenReason) {
		return errors.Join(err, s.countProbe(ctx, a, email, quotas))
	}
	return err
}

func errProbing() error {
	return fault.Later(fault.New(fault.KindRateLimited, "too many e-mail addresses of other users were tried; try again tomorrow"), time.Hour)
}

// countProbe counts a refusal, tells the mailbox, and leaves a line in the audit
// log of who asked.
func (s *Service) countProbe(ctx context.Context, a Actor, email string, quotas []quota) error {
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := countAttemptTx(ctx, tx, quotas); err != nil {
			return err
		}
		if err := s.AddressWantedTx(ctx, tx, email); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{
			Action: "email.refused", Record: "user", Name: email, After: AuditFields{"email": email},
		})
	})
	if fault.KindOf(err) == fault.KindRateLimited {
		return nil // the next one is refused
	}
	return err
}
