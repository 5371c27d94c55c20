package account

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/rows"
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
	return Credentials{Email: in.Line("email", 254).Value, Password: in.Text("password", maxPassword).Value, Problems: in.Problems()}
}

// SignIn starts a session. It takes the same time whether the address is known
// or not.
func (s *Service) SignIn(ctx context.Context, credentials Credentials, from Visitor) (SignedIn, error) {
	if err := credentials.Problems.Err(); err != nil {
		return SignedIn{}, err
	}
	person := text.Lower(credentials.Email)
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
	ctx = from.lane(ctx, person, known)
	if found.ID == 0 {
		if pretended, err := s.pretendPassword(ctx, a); pretended || err != nil {
			return SignedIn{}, err
		}
	}
	ctx, leave, err := secret.TakePlace(ctx) // before the attempt is counted: a crowd is not the visitor's fault
	if err != nil {
		return SignedIn{}, err
	}
	defer leave()
	return s.tryPassword(ctx, a, credentials.Password)
}

// attempt is an attempt to sign in; the user has no ID where no user has that
// address.
type attempt struct {
	user   storedUser
	from   Visitor
	quotas []quota
}

// lane is where the visitor waits for the hash of a person's password.
func (v Visitor) lane(ctx context.Context, person string, known bool) context.Context {
	if known {
		return secret.InLane(ctx, secret.LaneKnown, secret.Caller{})
	}
	narrow, _ := Networks(v.Address)
	return secret.InLane(ctx, secret.LaneSignIn, secret.Caller{Network: narrow, Subject: person})
}

// pretendPassword refuses the password for an unknown address without a hash,
// while others wait for theirs.
func (s *Service) pretendPassword(ctx context.Context, attempt attempt) (pretended bool, err error) {
	pretended, err = secret.Pretend(ctx)
	if !pretended || err != nil {
		return pretended, err
	}
	if err := s.countAttempt(ctx, attempt.quotas); err != nil {
		return true, err
	}
	return true, s.refusePassword(ctx, attempt)
}

// refusePassword leaves a line in the audit log of a user. For an unknown address it
// writes as much elsewhere, so that the answer takes as long.
func (s *Service) refusePassword(ctx context.Context, attempt attempt) error {
	if attempt.user.ID != 0 {
		s.auditRefusal(ctx, attempt.user.User, attempt.from, UserSignInRefused)
		return errWrongPassword()
	}
	_ = s.db.Write(ctx, func(tx *sqldb.Tx) error { return touchAttempt(ctx, tx, attempt.quotas[0].key) })
	return errWrongPassword()
}

func (s *Service) tryPassword(ctx context.Context, attempt attempt, password string) (SignedIn, error) {
	if err := s.countAttempt(ctx, attempt.quotas); err != nil {
		return SignedIn{}, err
	}
	ok, err := passwordFits(ctx, attempt.user, password)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		return SignedIn{}, s.refusePassword(ctx, attempt)
	}
	return s.signIn(ctx, attempt, password)
}

// passwordFits takes as long for an unknown user as for a known one.
func passwordFits(ctx context.Context, user storedUser, password string) (bool, error) {
	if user.passwordHash == "" {
		return false, secret.CheckNobody(ctx, password)
	}
	return secret.CheckPassword(ctx, user.passwordHash, password)
}

// auditRefusal leaves a line in the audit log. A failure to do so must not tell
// the visitor anything.
func (s *Service) auditRefusal(ctx context.Context, user User, from Visitor, what Action) {
	_ = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return s.applyUser(ctx, actorOf(user, from).In(tx), happened(what, user))
	})
}

func actorOf(user User, from Visitor) Actor {
	company := Company{ID: user.CompanyID}
	return Actor{Company: company, UserID: user.ID, Role: user.Role, Name: user.Name, From: from.Address}
}

// signIn starts the session of a user after the right password.
func (s *Service) signIn(ctx context.Context, attempt attempt, password string) (SignedIn, error) {
	user, renewed := attempt.user, ""
	if secret.NeedsRehash(user.passwordHash) {
		var err error
		if renewed, err = secret.HashPassword(ctx, password); err != nil {
			return SignedIn{}, err
		}
	}
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (in SignedIn, err error) {
		if err := s.rehash(ctx, tx, user, renewed); err != nil {
			return in, err
		}
		if err := uncountAttempt(ctx, tx, attempt.quotas); err != nil {
			return in, err
		}
		if user.totp != "" {
			in = SignedIn{User: user.User, NeedsCode: true}
			in.Token, err = startSession(ctx, tx, sessionStart{user: user.User, from: attempt.from, pending: true})
			return in, err
		}
		return s.welcome(ctx, tx, user.User, attempt.from)
	})
}

// welcome starts the session of a user who has proved everything.
func (s *Service) welcome(ctx context.Context, tx *sqldb.Tx, user User, from Visitor) (in SignedIn, err error) {
	in.User = user
	if in.Token, err = startSession(ctx, tx, sessionStart{user: user, from: from}); err != nil {
		return in, err
	}
	if in.Device, err = rememberDevice(ctx, tx, user, from); err != nil {
		return in, err
	}
	if in.Device != "" {
		if err := s.tellOfDevice(ctx, tx, user, from); err != nil {
			return in, err
		}
	}
	return in, s.applyUser(ctx, actorOf(user, from).In(tx), happened(UserSignedIn, user))
}

// rehash renews the hash of a password at today's cost; "" stores nothing. A
// password that was changed since it was checked stays.
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
	return s.applyUser(ctx, System(Company{ID: before.CompanyID}, "rehash").In(tx), &change)
}

// Code is a code of the second factor, or a recovery code.
type Code struct {
	Text string

	Problems input.Problems // what the form had wrong
}

// ReadCode reads the field code.
func ReadCode(in *input.Form) Code {
	in.Require("code")
	return Code{Text: in.Line("code", 40).Value, Problems: in.Problems()}
}

// ConfirmCode turns a session that waits for its code into one that is signed
// in, with another token. The code is one of the second factor or a recovery
// code, which works once.
func (s *Service) ConfirmCode(ctx context.Context, token string, code Code, from Visitor) (SignedIn, error) {
	if err := code.Problems.Err(); err != nil {
		return SignedIn{}, err
	}
	visit, err := s.visit(ctx, token)
	if err != nil || !visit.Session.pending {
		return SignedIn{}, errors.Join(err, signedOut())
	}
	known, err := s.knows(ctx, visit.User, from)
	if err != nil {
		return SignedIn{}, err
	}
	quotas := codeQuotas(visit.User.ID, from, known)
	if err := s.countAttempt(ctx, quotas); err != nil {
		return SignedIn{}, err
	}
	var out SignedIn
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		out, err = s.confirmTx(ctx, tx, visit, guess{code.Text, from, quotas})
		return err
	})
	if errors.Is(err, errGuess) {
		s.auditRefusal(ctx, visit.User, from, SecondFactorRefused)
		err = errWrongCode()
	}
	return out, err
}

// guess is a code that was sent.
type guess struct {
	code   string
	from   Visitor
	quotas []quota
}

func (s *Service) confirmTx(ctx context.Context, tx *sqldb.Tx, visit Visit, guess guess) (SignedIn, error) {
	if err := s.useCode(ctx, tx, visit.User, guess.code); err != nil {
		return SignedIn{}, err
	}
	if err := uncountAttempt(ctx, tx, guess.quotas); err != nil {
		return SignedIn{}, err
	}
	n, err := endSession(ctx, tx, visit.User.CompanyID, visit.User.ID, visit.Session.ID)
	if err != nil || n == 0 {
		return SignedIn{}, errors.Join(err, signedOut())
	}
	return s.welcome(ctx, tx, visit.User, guess.from)
}

// Networks are the keys under which attempts from an address are counted, to
// distinguish strangers. For IPv4 that is the address; for IPv6, where one
// connection has very many, its /64 and, since some have many of those, its
// /48.
func Networks(address string) (narrow, wide string) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address, ""
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String(), ""
	}
	return prefix(ip, 64), prefix(ip, 48)
}

func prefix(ip netip.Addr, bits int) string {
	network, _ := ip.Prefix(bits) // fails for other bits than an IPv6 address has
	return network.String()
}

// A device in which a user has signed in before waits for no stranger and is
// counted by itself. It proves nothing else: the password is still asked for.
const (
	// DeviceLife is how long a device is remembered after it was last used.
	DeviceLife = 180 * 24 * time.Hour
	maxDevices = 20
)

// knows reports whether a user has signed in from the visitor's device before.
func (s *Service) knows(ctx context.Context, user User, from Visitor) (bool, error) {
	if from.Device == "" {
		return false, nil
	}
	return rows.Some(ctx, s.db, `SELECT count(*) FROM known_devices WHERE company_id = ? AND user_id = ? AND hash = ?`,
		user.CompanyID, user.ID, linkHash(from.Device))
}

// rememberDevice makes the visitor's device one that is known for the user. It
// returns the text for the browser to keep; "" when it has one already.
func rememberDevice(ctx context.Context, tx *sqldb.Tx, user User, from Visitor) (string, error) {
	if from.Device != "" {
		if seen, err := touchDevice(ctx, tx, user, linkHash(from.Device)); err != nil || seen {
			return "", err
		}
	}
	device, hash := newLink()
	if err := insertDevice(ctx, tx, user, hash); err != nil {
		return "", err
	}
	return device, dropOldDevices(ctx, tx, user, maxDevices)
}
