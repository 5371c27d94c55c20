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
// one address, of all persons from one address, and of one person from all
// addresses. The last is wider, or a stranger could lock a person out.
const (
	attemptWindow     = 15 * time.Minute
	attemptsOfPair    = 10
	attemptsOfAddress = 50
	attemptsOfPerson  = 100
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

// Credentials are what a user signs in with.
type Credentials struct {
	Email, Password string

	Problems input.Problems // what the form had wrong
}

// ReadCredentials reads the fields email and password.
func ReadCredentials(in *input.Form) Credentials {
	in.Require("email")
	in.Require("password")
	c := Credentials{Email: in.Line("email", 254).Value, Password: in.Text("password", maxPassword).Value}
	c.Problems = in.Problems()
	return c
}

// SignIn starts a session. It takes the same time whether the address is known
// or not.
func (s *Service) SignIn(ctx context.Context, c Credentials, from Visitor) (SignedIn, error) {
	if err := c.Problems.Err(); err != nil {
		return SignedIn{}, err
	}
	ctx, leave, err := secret.TakePlace(ctx) // before the attempt is counted: a crowd is not the visitor's fault
	if err != nil {
		return SignedIn{}, err
	}
	defer leave()
	person := text.Lower(c.Email)
	if err := s.countAttempt(ctx, person, from); err != nil {
		return SignedIn{}, err
	}
	found, err := userByEmail(ctx, s.db, person)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return SignedIn{}, err
	}
	ok, err := passwordFits(ctx, found, c.Password)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		s.auditRefusal(ctx, found, from)
		return SignedIn{}, errWrongPassword()
	}
	return s.signIn(ctx, found, c.Password, from)
}

// countAttempt refuses one too many.
func (s *Service) countAttempt(ctx context.Context, person string, from Visitor) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		keys := attemptKeys(person, from)
		counts, err := addAttempt(ctx, tx, keys, tx.Now().Add(-attemptWindow))
		if err != nil {
			return err
		}
		if counts[0] > attemptsOfPair || counts[1] > attemptsOfAddress || counts[2] > attemptsOfPerson {
			return errTooMany()
		}
		return nil
	})
}

func attemptKeys(person string, from Visitor) []string {
	return []string{"pair:" + person + " " + from.Address, "address:" + from.Address, "person:" + person}
}

// passwordFits takes as long for an unknown user as for a known one.
func passwordFits(ctx context.Context, u storedUser, password string) (bool, error) {
	if u.passwordHash == "" {
		return false, secret.CheckNobody(ctx, password)
	}
	return secret.CheckPassword(ctx, u.passwordHash, password)
}

// auditRefusal leaves a line in the audit log. A failure to do so must not tell
// the visitor anything.
func (s *Service) auditRefusal(ctx context.Context, u storedUser, from Visitor) {
	if u.ID == 0 {
		return
	}
	_ = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return s.applyUser(ctx, tx, actorOf(u.User, from), happened(UserSignInRefused, u.User))
	})
}

func actorOf(u User, from Visitor) Actor {
	return Actor{Company: Company{ID: u.CompanyID}, UserID: u.ID, Role: u.Role, Name: u.Name, From: from.Address}
}

// signIn starts the session of a user whose password was right.
func (s *Service) signIn(ctx context.Context, u storedUser, password string, from Visitor) (SignedIn, error) {
	renewed := ""
	if secret.NeedsRehash(u.passwordHash) {
		var err error
		if renewed, err = secret.HashPassword(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	in := SignedIn{User: u.User, NeedsCode: u.totp != ""}
	err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if err := s.rehash(ctx, tx, u, renewed); err != nil {
			return err
		}
		if err := uncountAttempts(ctx, tx, text.Lower(u.Email), from); err != nil {
			return err
		}
		start := sessionStart{user: u.User, from: from, pending: in.NeedsCode}
		if in.Token, err = startSession(ctx, tx, start); err != nil || in.NeedsCode {
			return err
		}
		return s.applyUser(ctx, tx, actorOf(u.User, from), happened(UserSignedIn, u.User))
	})
	return in, err
}

// rehash stores the hash of a password anew, with the cost of today; "" stores
// nothing. A password that was changed since it was checked stays.
func (s *Service) rehash(ctx context.Context, tx *sqldb.Tx, checked storedUser, hash string) error {
	if hash == "" {
		return nil
	}
	before, err := lockUser(ctx, tx, checked.CompanyID, checked.ID)
	if err != nil || before.passwordHash != checked.passwordHash {
		return err
	}
	change := userChange{unseen, before, before}
	change.after.passwordHash = hash
	return s.applyUser(ctx, tx, System(Company{ID: before.CompanyID}, "rehash"), &change)
}

// uncountAttempts takes a good attempt out of the count, and those of its pair.
func uncountAttempts(ctx context.Context, tx *sqldb.Tx, person string, from Visitor) error {
	keys := attemptKeys(person, from)
	if err := deleteAttempts(ctx, tx, keys[0]); err != nil {
		return err
	}
	for _, key := range keys[1:] {
		if err := undoAttempt(ctx, tx, key); err != nil {
			return err
		}
	}
	return nil
}

// Code is a code of the second factor, or a recovery code.
type Code struct {
	Text string

	Problems input.Problems // what the form had wrong
}

// ReadCode reads the field code.
func ReadCode(in *input.Form) Code {
	in.Require("code")
	c := Code{Text: in.Line("code", 40).Value}
	c.Problems = in.Problems()
	return c
}

// ConfirmCode turns a session that waits for its code into one that is signed
// in, with another token. The code is one of the second factor or a recovery
// code, which works once.
func (s *Service) ConfirmCode(ctx context.Context, token string, code Code, from Visitor) (SignedIn, error) {
	if err := code.Problems.Err(); err != nil {
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
		if err := s.useCode(ctx, tx, v.User, code.Text); err != nil {
			return err
		}
		if err := uncountAttempts(ctx, tx, person, from); err != nil {
			return err
		}
		if n, err := endSession(ctx, tx, v.User.CompanyID, v.User.ID, v.Session.ID); err != nil || n == 0 {
			return errors.Join(err, signedOut())
		}
		if out.Token, err = startSession(ctx, tx, sessionStart{user: v.User, from: from}); err != nil {
			return err
		}
		return s.applyUser(ctx, tx, actorOf(v.User, from), happened(UserSignedIn, v.User))
	})
	return out, err
}
