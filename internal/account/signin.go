package account

import (
	"context"
	"errors"
	"strconv"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// How many attempts to sign in are let through in a window: of one person from
// one address, from one address whoever it says it is, and for one person from
// wherever. The last is wider, or a stranger could lock a person out.
const (
	attemptWindow      = 15 * time.Minute
	attemptsOfPair     = 10
	attemptsOfAddress  = 50
	attemptsForAddress = 100
)

// SignedIn is what a browser gets: a token to keep, and whether the code of the
// second factor is still to come.
type SignedIn struct {
	Token     string
	NeedsCode bool
	User      User
}

func errWrongPassword() error {
	return fault.New(fault.KindInvalid, "the e-mail address or the password is wrong")
}

func errTooMany() error {
	return fault.New(fault.KindRateLimited, "too many attempts to sign in; wait 15 minutes and try again")
}

// SignIn starts a session from the fields email and password. It takes the same
// time whether the address is known or not.
func (s *Service) SignIn(ctx context.Context, in *input.Form, from Visitor) (SignedIn, error) {
	in.Require("email")
	in.Require("password")
	email, _ := in.Line("email", 254).Get()
	password, _ := in.Text("password", 1000).Get()
	if err := in.Err(); err != nil {
		return SignedIn{}, err
	}
	if secret.HashingIsFull() { // before the attempt is counted: it is not the visitor's fault
		return SignedIn{}, secret.ErrBusy
	}
	key := text.Lower(email)
	if err := s.countAttempt(ctx, key, from); err != nil {
		return SignedIn{}, err
	}
	found, err := userByEmail(ctx, s.db, key)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return SignedIn{}, err
	}
	ok, err := passwordFits(ctx, found, password)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		s.noteRefused(ctx, found, from)
		return SignedIn{}, errWrongPassword()
	}
	return s.open(ctx, found, password, key, from)
}

// countAttempt refuses one too many.
func (s *Service) countAttempt(ctx context.Context, person string, from Visitor) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		keys := attemptKeys(person, from)
		counts, err := noteAttempt(ctx, tx, keys, tx.Now().Add(-attemptWindow))
		if err != nil {
			return err
		}
		if counts[0] > attemptsOfPair || counts[1] > attemptsOfAddress || counts[2] > attemptsForAddress {
			return errTooMany()
		}
		return nil
	})
}

func attemptKeys(person string, from Visitor) []string {
	return []string{"pair:" + person + " " + from.Address, "address:" + from.Address, "person:" + person}
}

// passwordFits takes as long for nobody as for somebody.
func passwordFits(ctx context.Context, u storedUser, password string) (bool, error) {
	if u.passwordHash == "" {
		return false, secret.CheckNobody(ctx, password)
	}
	return secret.CheckPassword(ctx, u.passwordHash, password)
}

// noteRefused writes down that somebody tried. A failure to do so must not
// tell the visitor anything.
func (s *Service) noteRefused(ctx context.Context, u storedUser, from Visitor) {
	if u.ID == 0 {
		return
	}
	_ = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return WriteAudit(ctx, tx, actorOf(u.User, from), AuditEntry{Action: "signin.refused", Record: "user", ID: u.ID, Name: u.Name})
	})
}

func actorOf(u User, from Visitor) Actor {
	return Actor{Company: Company{ID: u.CompanyID}, UserID: u.ID, Role: u.Role, Name: u.Name, From: from.Address}
}

// open starts the session of somebody whose password was right.
func (s *Service) open(ctx context.Context, u storedUser, password, person string, from Visitor) (SignedIn, error) {
	renewed := ""
	if secret.NeedsRehash(u.passwordHash) {
		var err error
		if renewed, err = secret.HashPassword(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	in := SignedIn{User: u.User, NeedsCode: u.totp != ""}
	err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if renewed != "" {
			if err := storePassword(ctx, tx, u.User, renewed); err != nil {
				return err
			}
		}
		if err := succeeded(ctx, tx, person, from); err != nil {
			return err
		}
		if in.Token, err = openTx(ctx, tx, u.User, from, in.NeedsCode); err != nil || in.NeedsCode {
			return err
		}
		return WriteAudit(ctx, tx, actorOf(u.User, from), AuditEntry{Action: "signin", Record: "user", ID: u.ID, Name: u.Name})
	})
	return in, err
}

// succeeded takes a good attempt out of the count, and those of its pair.
func succeeded(ctx context.Context, tx *sqldb.Tx, person string, from Visitor) error {
	keys := attemptKeys(person, from)
	if err := forget(ctx, tx, keys[0]); err != nil {
		return err
	}
	for _, key := range keys[1:] {
		if err := forgive(ctx, tx, key); err != nil {
			return err
		}
	}
	return nil
}

// ConfirmCode turns a session that waits for its code into one that is signed
// in, with another token. The code is one of the second factor or a recovery
// code, which works once.
func (s *Service) ConfirmCode(ctx context.Context, token string, in *input.Form, from Visitor) (SignedIn, error) {
	in.Require("code")
	code, _ := in.Line("code", 40).Get()
	if err := in.Err(); err != nil {
		return SignedIn{}, err
	}
	v, err := s.visit(ctx, token)
	if err != nil || !v.Session.pending {
		return SignedIn{}, errors.Join(err, signedOut())
	}
	person := "code " + strconv.FormatInt(v.User.ID, 10)
	if err := s.countAttempt(ctx, person, from); err != nil {
		return SignedIn{}, err
	}
	out := SignedIn{User: v.User}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if err := s.useCode(ctx, tx, v.User, code); err != nil {
			return err
		}
		if err := succeeded(ctx, tx, person, from); err != nil {
			return err
		}
		if n, err := endSession(ctx, tx, v.User.CompanyID, v.User.ID, v.Session.ID); err != nil || n == 0 {
			return errors.Join(err, signedOut())
		}
		if out.Token, err = openTx(ctx, tx, v.User, from, false); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, actorOf(v.User, from), AuditEntry{Action: "signin", Record: "user", ID: v.User.ID, Name: v.User.Name})
	})
	return out, err
}
