package account

import (
	"cmp"
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
	resetsOfPerson     = 3 // in an hour
	probesOfDay        = 20
	resetsFromAnywhere = 12 // in an hour
	changesOfUser      = 3  // of the address, in a day
	changesOfCompany   = 10 // of all of its users', in a day
)

const takenReason = "is taken by another user"

// ReadEmail reads the field email.
func ReadEmail(in *input.Form) NewEmail {
	in.Require("email")
	return NewEmail{Email: in.Email("email").Value, Problems: in.Problems()}
}

// NewEmail is an address as it was given.
type NewEmail struct {
	Email string

	Problems input.Problems // what the form had wrong
}

// Forget writes to the user of an address a link by which to set another
// password. What it answers is the same whether there is one or not.
func (s *Service) Forget(ctx context.Context, email NewEmail, from Visitor) error {
	if err := email.Problems.Err(); err != nil {
		return err
	}
	if !s.SendsMail() {
		return fault.NotFound("page")
	}
	person := text.Lower(email.Email)
	user, err := userByEmail(ctx, s.db, person)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	known, err := s.knows(ctx, user.User, from)
	if err != nil {
		return err
	}
	quotas := forgotQuotas(person, from, known)
	link, hash := newLink()
	var refused error
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		refused = countAttemptTx(ctx, tx, quotas)
		switch {
		case fault.KindOf(refused) == fault.KindRateLimited: // the count stays
			return nil
		case refused != nil:
			return refused
		case user.ID == 0:
			return sendNothing(ctx, tx, quotas)
		}
		return s.sendLinkTx(ctx, tx, user.User, newPasswordLink{hash: hash, purpose: forReset, life: resetLife}, link)
	})
	return cmp.Or(err, refused)
}

// sendNothing has as many statements and rows as sendLinkTx, so that an unknown
// address takes as long as one of a user.
func sendNothing(ctx context.Context, tx *sqldb.Tx, quotas []quota) error {
	for range 3 {
		if err := touchAttempt(ctx, tx, quotas[0].key); err != nil {
			return err
		}
	}
	return nil
}

// forgotQuotas are those of who has forgotten a password: of a person from one
// network, and of the person from everywhere, so that one stranger does not use up
// what the owner of the address has. A browser in which the person has signed in
// before is counted by itself, so that many strangers do not either.
func forgotQuotas(person string, from Visitor, known bool) []quota {
	if known {
		return []quota{{"forgot device:" + from.deviceKey(), resetsOfPerson, time.Hour}}
	}
	narrow, _ := Networks(from.Address)
	return append(networkQuotas("forgot:", from),
		quota{"forgot pair:" + person + " " + narrow, resetsOfPerson, time.Hour},
		quota{"forgot person:" + person, resetsFromAnywhere, time.Hour})
}

// sendLink makes a link and writes it to its user.
func (s *Service) sendLink(ctx context.Context, user User, newPasswordLink newPasswordLink) error {
	link, hash := newLink()
	newPasswordLink.hash = hash
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return s.sendLinkTx(ctx, tx, user, newPasswordLink, link)
	})
}

func (s *Service) sendLinkTx(ctx context.Context, tx *sqldb.Tx, user User, made newPasswordLink, link string) error {
	if err := deleteLinks(ctx, tx, user, made.purpose); err != nil {
		return err
	}
	if err := insertPasswordLink(ctx, tx, user, made); err != nil {
		return err
	}
	return s.mailTx(ctx, tx, user.CompanyID, s.letters(user, link)[made.purpose])
}

// letters are what is written with each kind of link. Who reads them may not be the
// user: nothing that a user can write is in them but the address.
func (s *Service) letters(user User, link string) map[purpose]Mail {
	return map[purpose]Mail{
		forReset: {
			urgent:  true,
			To:      user.Email,
			Subject: "Carteira: criar outra senha",
			Text: "Olá.\n\n" +
				"Alguém pediu outra senha para " + user.Email + ". Para criá-la, abra este link dentro de uma hora:\n\n" +
				s.publicURL + "/password/" + link + "\n\nSe não foi você, ignore esta mensagem: nada muda.\n",
		},
		forConfirm: {
			To:      user.Email,
			Subject: "Carteira: confirmar o e-mail",
			Text: "Olá.\n\n" +
				"Para confirmar que " + user.Email + " é o seu e-mail, abra este link dentro de três dias:\n\n" +
				s.publicURL + "/email/" + link + "\n\nSe você não tem conta, ignore esta mensagem.\n",
		},
		forRelease: {
			To:      user.Email,
			Subject: "Carteira: alguém quer usar este e-mail",
			Text: "Olá.\n\n" +
				"Alguém quer criar uma conta com " + user.Email + ", que já está em uma conta e nunca foi confirmado.\n\n" +
				"Se essa conta é sua, entre nela e confirme o e-mail. Se não é, abra este link para liberar o e-mail e depois crie a sua:\n\n" +
				s.publicURL + "/email/" + link + "\n",
		},
	}
}

// known is the mail to a confirmed address that was given once more.
func alreadyKnown(user User, publicURL string) Mail {
	return Mail{
		To:      user.Email,
		Subject: "Carteira: você já tem uma conta",
		Text: "Olá, " + user.Name + ".\n\n" +
			"Alguém quis criar uma conta com " + user.Email + ", que já tem uma. Entre com ela:\n\n" + publicURL + "/login\n\n" +
			"Se esqueceu a senha, peça outra nessa página. Se não foi você, ignore esta mensagem.\n",
	}
}

// AddressWantedTx is called when a given address already belongs to a user: the
// mailbox gets a mail, and an address that was never confirmed can be released
// from there.
func (s *Service) AddressWantedTx(ctx context.Context, tx *sqldb.Tx, email string) error {
	if !s.SendsMail() {
		return nil
	}
	user, err := userByEmail(ctx, tx, text.Lower(email))
	if err != nil {
		return sqldb.Found(err, "user")
	}
	err = countAttemptTx(ctx, tx, []quota{{"wanted:" + text.Lower(email), resetsOfPerson, time.Hour}})
	if fault.KindOf(err) == fault.KindRateLimited {
		return nil // the mailbox got the mail already
	}
	if err != nil {
		return err
	}
	if user.confirmedAt != 0 {
		return s.mailTx(ctx, tx, user.CompanyID, alreadyKnown(user.User, s.publicURL))
	}
	link, hash := newLink()
	return s.sendLinkTx(ctx, tx, user.User, newPasswordLink{hash: hash, purpose: forRelease, life: confirmLife}, link)
}

// ConfirmAddress writes to the actor's user a link by which the address is
// confirmed.
func (s *Service) ConfirmAddress(ctx context.Context, visit Visit) error {
	if !s.SendsMail() {
		return fault.NotFound("page")
	}
	err := s.countAttempt(ctx, []quota{{"confirm:" + strconv.FormatInt(visit.User.ID, 10), resetsOfPerson, time.Hour}})
	if err != nil {
		return err
	}
	return s.sendLink(ctx, visit.User, newPasswordLink{purpose: forConfirm, life: confirmLife})
}

// AddressConfirmed reports whether the actor's user has confirmed the address.
func (s *Service) AddressConfirmed(ctx context.Context, actor Actor) (bool, error) {
	user, err := userByID(ctx, s.db, actor.Company.ID, actor.UserID)
	return user.confirmedAt != 0, err
}

// AddressLink is a link of an e-mail about an address.
type AddressLink struct {
	User    User
	Release bool // it releases the address; otherwise it confirms it, or restores one

	Restores string // the former address that it brings back; empty: none
	Password string // of one that was brought back: the link to set another password
}

// FindAddressLink finds what a link of an e-mail is for.
func (s *Service) FindAddressLink(ctx context.Context, link string) (AddressLink, error) {
	return addressLink(ctx, s.db, linkHash(link), s.db.Real())
}

// UseAddressLink confirms, releases or restores an address, once.
func (s *Service) UseAddressLink(ctx context.Context, link string, from Visitor) (AddressLink, error) {
	var used AddressLink
	if err := s.linkWorks(ctx, from, func() (err error) {
		used, err = s.FindAddressLink(ctx, link)
		return err
	}); err != nil {
		return AddressLink{}, err
	}
	back, err := s.newReturn(ctx, used)
	if err != nil {
		return AddressLink{}, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if used, err = addressLink(ctx, tx, linkHash(link), tx.Real()); err != nil {
			return err
		}
		if ok, err := usePasswordLink(ctx, tx, used.User, linkHash(link)); err != nil || !ok {
			return errors.Join(err, fault.NotFound("link"))
		}
		if used.Restores != "" {
			used.Password = back.link
			return s.restoreAddress(ctx, tx, used, back, from)
		}
		return s.settleAddress(ctx, tx, used, from)
	})
	return used, err
}

// settleAddress confirms an address, or takes it from a user who has never
// confirmed it.
func (s *Service) settleAddress(ctx context.Context, tx *sqldb.Tx, link AddressLink, from Visitor) error {
	before, err := lockUser(ctx, tx, link.User.CompanyID, link.User.ID)
	if err != nil {
		return err
	}
	change := userChange{EmailConfirmed, before, before}
	switch {
	case !link.Release:
		change.after.confirmedAt = tx.Now().UnixMicro()
	case before.confirmedAt != 0:
		return fault.NotFound("link")
	default:
		change.action = EmailReleased
		change.after.Email = fmt.Sprintf("liberado-%d@invalid", before.ID)
	}
	return s.applyUser(ctx, actorOf(before.User, from).In(tx), &change)
}

// ChangeEmail gives the actor's user another address to sign in with, and writes
// to both where there is a mail server.
func (s *Service) ChangeEmail(ctx context.Context, visit Visit, wanted NewEmail) error {
	if err := wanted.Problems.Err(); err != nil {
		return err
	}
	return s.LimitProbes(ctx, visit.Actor, wanted.Email, func() error {
		return s.db.Write(ctx, func(tx *sqldb.Tx) error {
			if err := s.countEmailChange(ctx, tx, visit, wanted.Email); err != nil {
				return err
			}
			return s.changeEmailTx(ctx, tx, visit, wanted.Email)
		})
	})
}

// countEmailChange counts a change that writes to an address of the user's choice,
// and refuses one too many: our letters are not for strangers.
func (s *Service) countEmailChange(ctx context.Context, tx *sqldb.Tx, visit Visit, email string) error {
	if email == visit.User.Email {
		return nil
	}
	err := countAttemptTx(ctx, tx, []quota{
		{"address of user:" + strconv.FormatInt(visit.User.ID, 10), changesOfUser, dayWindow},
		{"address of company:" + strconv.FormatInt(visit.Actor.Company.ID, 10), changesOfCompany, dayWindow},
	})
	if fault.KindOf(err) == fault.KindRateLimited {
		return fault.New(fault.KindRateLimited, "the e-mail address was changed too often; try again tomorrow")
	}
	return err
}

func (s *Service) changeEmailTx(ctx context.Context, tx *sqldb.Tx, visit Visit, email string) error {
	before, err := lockUser(ctx, tx, visit.Actor.Company.ID, visit.User.ID)
	if err != nil || before.Email == email {
		return err
	}
	if err := refuseTaken(ctx, tx, before.ID, email); err != nil {
		return err
	}
	if err := deletePasswordLinks(ctx, tx, before.User); err != nil {
		return err
	}
	change := userChange{EmailChanged, before, before}
	change.after.Email, change.after.confirmedAt = email, 0
	if err := s.applyUser(ctx, visit.Actor.In(tx), &change); err != nil || !s.SendsMail() {
		return err
	}
	link, hash := newLink()
	return s.sendLinkTx(ctx, tx, change.after.User, newPasswordLink{hash: hash, purpose: forConfirm, life: confirmLife}, link)
}

// LimitProbes runs a use case that refuses an address which another user has,
// and counts such refusals for the company: who asks for many wants to know who
// has an account. The operator is not counted.
func (s *Service) LimitProbes(ctx context.Context, actor Actor, email string, do func() error) error {
	if actor.UserID == 0 && actor.TokenID == 0 {
		return do()
	}
	quotas := []quota{{"probe:" + strconv.FormatInt(actor.Company.ID, 10), probesOfDay, dayWindow}}
	if err := s.refuseSpent(ctx, quotas); err != nil {
		return errProbing()
	}
	err := do()
	if slices.Contains(fault.FieldsOf(err).Get("email"), takenReason) {
		return errors.Join(err, s.countProbe(ctx, actor, email, quotas))
	}
	return err
}

func errProbing() error {
	refused := fault.New(fault.KindRateLimited, "too many e-mail addresses of other users were tried; try again tomorrow")
	return fault.Later(refused, time.Hour)
}

// countProbe counts a refusal, sends the mail, and leaves a line in the audit
// log of the company that asked.
func (s *Service) countProbe(ctx context.Context, actor Actor, email string, quotas []quota) error {
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := countAttemptTx(ctx, tx, quotas); err != nil {
			return err
		}
		if err := s.AddressWantedTx(ctx, tx, email); err != nil {
			return err
		}
		entry := AuditEntry{Action: "email.refused", Record: "user", Name: email, After: AuditFields{"email": email}}
		return WriteAudit(ctx, actor.In(tx), entry)
	})
	if fault.KindOf(err) == fault.KindRateLimited {
		return nil // the next one is refused
	}
	return err
}
