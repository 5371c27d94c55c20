package account

import (
	"context"
	"errors"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// SignedIn is what a browser gets: a token to keep, and whether the code of the
// second factor is still to come.
type SignedIn struct {
	Token     string
	Device    string // to keep for longer, by which the browser is known again; "": it has one
	NeedsCode bool
	User      User
}

func errWrongPassword() error {
	return fault.New(fault.KindInvalid, "the e-mail address or the password is wrong")
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
	person := text.Lower(c.Email)
	found, err := userByEmail(ctx, s.db, person)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return SignedIn{}, err
	}
	known, err := s.knows(ctx, found.User, from)
	if err != nil {
		return SignedIn{}, err
	}
	a := attempt{found, from, signInQuotas(person, from, known)}
	if err := s.refuseSpent(ctx, a.quotas); err != nil {
		return SignedIn{}, err
	}
	ctx, leave, err := secret.TakePlace(from.lane(ctx, known)) // before the attempt is counted: a crowd is not the visitor's fault
	if err != nil {
		return SignedIn{}, err
	}
	defer leave()
	return s.tryPassword(ctx, a, c.Password)
}

// attempt is somebody who tries to sign in; the user has no ID where there is
// none with that address.
type attempt struct {
	user   storedUser
	from   Visitor
	quotas []quota
}

// lane is where the visitor waits for a hash.
func (v Visitor) lane(ctx context.Context, known bool) context.Context {
	narrow, _ := Networks(v.Address)
	if known {
		return secret.InLane(ctx, secret.LaneKnown, "")
	}
	return secret.InLane(ctx, secret.LaneSignIn, narrow)
}

func (s *Service) tryPassword(ctx context.Context, a attempt, password string) (SignedIn, error) {
	if err := s.countAttempt(ctx, a.quotas); err != nil {
		return SignedIn{}, err
	}
	ok, err := passwordFits(ctx, a.user, password)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		s.auditRefusal(ctx, a.user.User, a.from, UserSignInRefused)
		return SignedIn{}, errWrongPassword()
	}
	return s.signIn(ctx, a, password)
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
func (s *Service) auditRefusal(ctx context.Context, u User, from Visitor, what Action) {
	if u.ID == 0 {
		return
	}
	_ = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return s.applyUser(ctx, tx, actorOf(u, from), happened(what, u))
	})
}

func actorOf(u User, from Visitor) Actor {
	return Actor{Company: Company{ID: u.CompanyID}, UserID: u.ID, Role: u.Role, Name: u.Name, From: from.Address}
}

// signIn starts the session of a user whose password was right.
func (s *Service) signIn(ctx context.Context, a attempt, password string) (SignedIn, error) {
	u, renewed := a.user, ""
	if secret.NeedsRehash(u.passwordHash) {
		var err error
		if renewed, err = secret.HashPassword(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	var in SignedIn
	err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if err := s.rehash(ctx, tx, u, renewed); err != nil {
			return err
		}
		if err := uncountAttempt(ctx, tx, a.quotas); err != nil {
			return err
		}
		if u.totp != "" {
			in = SignedIn{User: u.User, NeedsCode: true}
			in.Token, err = startSession(ctx, tx, sessionStart{user: u.User, from: a.from, pending: true})
			return err
		}
		in, err = s.welcome(ctx, tx, u.User, a.from)
		return err
	})
	return in, err
}

// welcome starts the session of a user who has proved everything.
func (s *Service) welcome(ctx context.Context, tx *sqldb.Tx, u User, from Visitor) (in SignedIn, err error) {
	in.User = u
	if in.Token, err = startSession(ctx, tx, sessionStart{user: u, from: from}); err != nil {
		return in, err
	}
	if in.Device, err = rememberDevice(ctx, tx, u, from); err != nil {
		return in, err
	}
	return in, s.applyUser(ctx, tx, actorOf(u, from), happened(UserSignedIn, u))
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
	known, err := s.knows(ctx, v.User, from)
	if err != nil {
		return SignedIn{}, err
	}
	quotas := codeQuotas(v.User.ID, from, known)
	if err := s.countAttempt(ctx, quotas); err != nil {
		return SignedIn{}, err
	}
	var out SignedIn
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		out, err = s.confirmTx(ctx, tx, v, guess{code.Text, from, quotas})
		return err
	})
	if errors.Is(err, errGuess) {
		s.auditRefusal(ctx, v.User, from, SecondFactorRefused)
		err = errWrongCode()
	}
	return out, err
}

// guess is a code that somebody sent.
type guess struct {
	code   string
	from   Visitor
	quotas []quota
}

func (s *Service) confirmTx(ctx context.Context, tx *sqldb.Tx, v Visit, g guess) (SignedIn, error) {
	if err := s.useCode(ctx, tx, v.User, g.code); err != nil {
		return SignedIn{}, err
	}
	if err := uncountAttempt(ctx, tx, g.quotas); err != nil {
		return SignedIn{}, err
	}
	if n, err := endSession(ctx, tx, v.User.CompanyID, v.User.ID, v.Session.ID); err != nil || n == 0 {
		return SignedIn{}, errors.Join(err, signedOut())
	}
	return s.welcome(ctx, tx, v.User, g.from)
}
