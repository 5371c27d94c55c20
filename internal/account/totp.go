package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 as every authenticator app speaks it
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const (
	totpStep   = 30 * time.Second
	totpDigits = 6
	// recoveryCodes is how many ways in are left to a user who lost the phone.
	recoveryCodes = 10
	// recoveryLength makes a code too long to be found from its hash: about a
	// hundred bits.
	recoveryLength = 20
)

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// totp is the code of RFC 6238 for a step: HMAC-SHA-1, six digits.
func totp(key []byte, step int64) string {
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, step) // to memory
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	n := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}

// matchingStep finds the step whose code this is: the present one, or one
// beside it for clocks that differ.
func matchingStep(key []byte, code string, now time.Time) (int64, bool) {
	current := now.Unix() / int64(totpStep/time.Second)
	for _, step := range []int64{current, current - 1, current + 1} {
		if hmac.Equal([]byte(totp(key, step)), []byte(code)) {
			return step, true
		}
	}
	return 0, false
}

func totpContext(userID int64) string { return fmt.Sprintf("totp:%d", userID) }

// errNoBox is an error of ours: the program was wired without a box.
var errNoBox = errors.New("account: there is no box for second factors")

// openFactor opens the secret of a user's second factor.
func (s *Service) openFactor(u storedUser, sealed string) ([]byte, error) {
	if s.box == nil {
		return nil, errNoBox
	}
	return s.box.Open(sealed, totpContext(u.ID))
}

// Factor is a second factor that is being set up: what an authenticator app
// needs.
type Factor struct {
	Secret string // for typing
	URL    string // for the QR code
}

// HasSecondFactor reports whether the actor's user signs in with a code, and
// how many recovery codes are left.
func (s *Service) HasSecondFactor(ctx context.Context, a Actor) (on bool, recovery int, err error) {
	u, err := userByID(ctx, s.db, a.Company.ID, a.UserID)
	if err != nil || u.totp == "" {
		return false, 0, err
	}
	recovery, err = countRecovery(ctx, s.db, a.Company.ID, a.UserID)
	return true, recovery, err
}

// BeginSecondFactor makes a secret, which takes effect when ConfirmSecondFactor
// is given a code of it. Until then asking again shows the same one.
func (s *Service) BeginSecondFactor(ctx context.Context, a Actor) (Factor, error) {
	if s.box == nil {
		return Factor{}, errNoBox
	}
	var fresh [20]byte
	_, _ = rand.Read(fresh[:]) // never fails: the program ends first
	var u storedUser
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if u, err = lockUser(ctx, tx, a.Company.ID, a.UserID); err != nil {
			return err
		}
		if u.totp != "" {
			return fault.Conflict("the second factor is on already")
		}
		if u.totpPending != "" {
			return nil
		}
		change := userChange{unseen, u, u}
		change.after.totpPending, change.after.totpLast = s.box.Seal(fresh[:], totpContext(u.ID)), 0
		u = change.after
		return s.applyUser(ctx, tx, a, &change)
	})
	if err != nil {
		return Factor{}, err
	}
	return s.shownFactor(u)
}

// shownFactor is the secret that is being set up, as an authenticator app reads
// it.
func (s *Service) shownFactor(u storedUser) (Factor, error) {
	key, err := s.openFactor(u, u.totpPending)
	if err != nil {
		return Factor{}, err
	}
	f := Factor{Secret: base32Text.EncodeToString(key)}
	label := url.PathEscape("Carteira:" + u.Email)
	f.URL = "otpauth://totp/" + label + "?" + url.Values{"secret": {f.Secret}, "issuer": {"Carteira"}}.Encode()
	return f, nil
}

// ConfirmSecondFactor switches the second factor on with a first code, and signs
// the user out everywhere else: who is there may not have the app. The recovery
// codes it returns are not shown again.
func (s *Service) ConfirmSecondFactor(ctx context.Context, v Visit, code Code) ([]string, error) {
	if err := code.Problems.Err(); err != nil {
		return nil, err
	}
	a := v.Actor
	codes := newRecoveryCodes()
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		u, err := lockUser(ctx, tx, a.Company.ID, a.UserID)
		if err != nil {
			return err
		}
		step, err := s.firstStep(u, code, tx.Now())
		if err != nil {
			return err
		}
		change := userChange{SecondFactorOn, u, u}
		change.after.totp, change.after.totpPending, change.after.totpLast = u.totpPending, "", step
		if err := s.applyUser(ctx, tx, a, &change); err != nil {
			return err
		}
		if err := endSessions(ctx, tx, u.CompanyID, u.ID, v.Session.ID); err != nil {
			return err
		}
		return replaceRecovery(ctx, tx, u.User, codes)
	})
	return codes, err
}

// firstStep is the step of a first code of the factor that is being set up.
func (s *Service) firstStep(u storedUser, code Code, now time.Time) (int64, error) {
	if u.totpPending == "" {
		return 0, fault.Conflict("begin again: no second factor is being set up")
	}
	key, err := s.openFactor(u, u.totpPending)
	if err != nil {
		return 0, err
	}
	step, ok := matchingStep(key, digitsOf(code.Text), now)
	if !ok {
		return 0, errWrongCode()
	}
	return step, nil
}

func newRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		code := strings.ToLower(id.NewCode(recoveryLength))
		codes[i] = strings.Join([]string{code[:5], code[5:10], code[10:15], code[15:]}, "-")
	}
	return codes
}

// PasswordProof is the password of a user who is signed in, asked for again.
type PasswordProof struct {
	Password string

	Problems input.Problems // what the form had wrong
}

// ReadPasswordProof reads the field password.
func ReadPasswordProof(in *input.Form) PasswordProof {
	in.Require("password")
	p := PasswordProof{Password: in.Text("password", maxPassword).Value}
	p.Problems = in.Problems()
	return p
}

// DropSecondFactor switches the second factor of the actor's user off.
func (s *Service) DropSecondFactor(ctx context.Context, a Actor, proof PasswordProof) error {
	if err := proof.Problems.Err(); err != nil {
		return err
	}
	u, err := s.reauthenticate(ctx, a, "password", proof.Password)
	if err != nil {
		return err
	}
	_, err = s.RemoveSecondFactor(ctx, a, u.ID)
	return err
}

// RemoveSecondFactor switches off that of a user who has lost the app and the
// recovery codes, for an owner of the company.
func (s *Service) RemoveSecondFactor(ctx context.Context, a Actor, userID int64) (User, error) {
	var u storedUser
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if u, err = lockUser(ctx, tx, a.Company.ID, userID); err != nil {
			return err
		}
		change := userChange{SecondFactorOff, u, u}
		change.after.totp, change.after.totpPending, change.after.totpLast = "", "", 0
		if err := s.applyUser(ctx, tx, a, &change); err != nil {
			return err
		}
		return replaceRecovery(ctx, tx, u.User, nil)
	})
	return u.User, err
}

// errGuess says that a code is wrong; callers count and tell it.
var errGuess = errors.New("account: the code is wrong or has been used")

func errWrongCode() error { return fault.Field("code", "is wrong or has been used") }

// useCode spends a code of the app or a recovery code. What was spent does not
// work again, also when two requests bring it at once.
func (s *Service) useCode(ctx context.Context, tx *sqldb.Tx, owner User, code string) error {
	u, err := lockUser(ctx, tx, owner.CompanyID, owner.ID)
	if err != nil {
		return err
	}
	spend := s.spendCode
	if len(digitsOf(code)) != totpDigits { // also where the key that sealed the secret is lost
		spend = func(ctx context.Context, tx *sqldb.Tx, u storedUser, code string) (bool, error) {
			return spendRecovery(ctx, tx, u.User, code)
		}
	}
	spent, err := spend(ctx, tx, u, code)
	if err == nil && !spent {
		err = errGuess
	}
	return err
}

// spendCode reports whether a code is right and was not used before.
func (s *Service) spendCode(ctx context.Context, tx *sqldb.Tx, u storedUser, code string) (bool, error) {
	key, err := s.openFactor(u, u.totp)
	if err != nil {
		return false, err
	}
	step, ok := matchingStep(key, digitsOf(code), tx.Now())
	if !ok {
		return false, nil
	}
	return spendStep(ctx, tx, u.User, step)
}

// digitsOf accepts a code as apps show it, with a space in the middle.
func digitsOf(code string) string { return strings.ReplaceAll(code, " ", "") }

func recoveryHash(code string) []byte {
	return linkHash("recovery " + strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code)))
}

// ResealFactors seals with the current key what an older one sealed.
func (s *Service) ResealFactors(ctx context.Context) error {
	if s.box == nil {
		return errNoBox
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := factorsSealedBefore(ctx, tx, s.box.CurrentID())
		if err != nil {
			return err
		}
		for _, u := range stale {
			if err := s.reseal(ctx, tx, u.User); err != nil {
				return fmt.Errorf("reseal the second factor of user %d: %w", u.ID, err)
			}
		}
		return nil
	})
}

func (s *Service) reseal(ctx context.Context, tx *sqldb.Tx, u User) error {
	before, err := lockUser(ctx, tx, u.CompanyID, u.ID)
	if err != nil {
		return err
	}
	change := userChange{unseen, before, before}
	for _, sealed := range []*string{&change.after.totp, &change.after.totpPending} {
		if *sealed == "" {
			continue
		}
		plain, err := s.box.Open(*sealed, totpContext(u.ID))
		if err != nil {
			return err
		}
		*sealed = s.box.Seal(plain, totpContext(u.ID))
	}
	return s.applyUser(ctx, tx, System(Company{ID: u.CompanyID}, "reseal"), &change)
}
