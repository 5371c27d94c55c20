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
	"carteira/internal/platform/rows"
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

// matchingStep finds the step of a code: the present one, or a neighbouring
// one for clocks that differ.
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
func (s *Service) openFactor(user storedUser, sealed string) ([]byte, error) {
	if s.box == nil {
		return nil, errNoBox
	}
	return s.box.Open(sealed, totpContext(user.ID))
}

// Factor is a second factor that is being set up: what an authenticator app
// needs.
type Factor struct {
	Secret string // for typing
	URL    string // for the QR code
}

// HasSecondFactor reports whether the actor's user signs in with a code, and
// how many recovery codes are left.
func (s *Service) HasSecondFactor(ctx context.Context, actor Actor) (on bool, recovery int, err error) {
	user, err := userByID(ctx, s.db, actor.Company.ID, actor.UserID)
	if err != nil || user.totp == "" {
		return false, 0, err
	}
	recovery, err = countRecovery(ctx, s.db, actor.Company.ID, actor.UserID)
	return true, recovery, err
}

// BeginSecondFactor makes a secret, which takes effect when ConfirmSecondFactor
// is given a code of it. Until then asking again shows the same one.
func (s *Service) BeginSecondFactor(ctx context.Context, actor Actor) (Factor, error) {
	if s.box == nil {
		return Factor{}, errNoBox
	}
	var fresh [20]byte
	_, _ = rand.Read(fresh[:]) // never fails: the program ends first
	var user storedUser
	err := actor.Write(ctx, s.db, func(tx Tx) (err error) {
		if user, err = lockUser(ctx, tx.Tx, actor.Company.ID, actor.UserID); err != nil {
			return err
		}
		if user.totp != "" {
			return fault.Conflict("the second factor is on already")
		}
		if user.totpPending != "" {
			return nil
		}
		change := userChange{unseen, user, user}
		change.after.totpPending, change.after.totpLast = s.box.Seal(fresh[:], totpContext(user.ID)), 0
		user = change.after
		return s.applyUser(ctx, tx, &change)
	})
	if err != nil {
		return Factor{}, err
	}
	return s.shownFactor(user)
}

// shownFactor is the secret that is being set up, as an authenticator app reads
// it.
func (s *Service) shownFactor(user storedUser) (Factor, error) {
	key, err := s.openFactor(user, user.totpPending)
	if err != nil {
		return Factor{}, err
	}
	factor := Factor{Secret: base32Text.EncodeToString(key)}
	label := url.PathEscape("Carteira:" + user.Email)
	factor.URL = "otpauth://totp/" + label + "?" + url.Values{"secret": {factor.Secret}, "issuer": {"Carteira"}}.Encode()
	return factor, nil
}

// ConfirmSecondFactor switches the second factor on with a first code, and signs
// the user out everywhere else: who is there may not have the app. The recovery
// codes it returns are not shown again.
func (s *Service) ConfirmSecondFactor(ctx context.Context, visit Visit, code Code) ([]string, error) {
	if err := code.Problems.Err(); err != nil {
		return nil, err
	}
	actor := visit.Actor
	codes := newRecoveryCodes()
	err := actor.Write(ctx, s.db, func(tx Tx) error {
		user, err := lockUser(ctx, tx.Tx, actor.Company.ID, actor.UserID)
		if err != nil {
			return err
		}
		step, err := s.firstStep(user, code, tx.Real())
		if err != nil {
			return err
		}
		change := userChange{SecondFactorOn, user, user}
		change.after.totp, change.after.totpPending, change.after.totpLast = user.totpPending, "", step
		if err := s.applyUser(ctx, tx, &change); err != nil {
			return err
		}
		if err := endSessions(ctx, tx.Tx, user.CompanyID, user.ID, visit.Session.ID); err != nil {
			return err
		}
		return replaceRecovery(ctx, tx.Tx, user.User, codes)
	})
	return codes, err
}

// firstStep is the step of a first code of the factor that is being set up.
func (s *Service) firstStep(user storedUser, code Code, now time.Time) (int64, error) {
	if user.totpPending == "" {
		return 0, fault.Conflict("begin again: no second factor is being set up")
	}
	key, err := s.openFactor(user, user.totpPending)
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

// ReadPasswordProof reads the field password: no code will do instead.
func ReadPasswordProof(in *input.Form) Proof {
	in.Require("password")
	return Proof{Text: in.Text("password", maxPassword).Value, Problems: in.Problems()}
}

// DropSecondFactor switches the second factor of the actor's user off.
func (s *Service) DropSecondFactor(ctx context.Context, actor Actor, proof Proof) error {
	if err := proof.Problems.Err(); err != nil {
		return err
	}
	user, err := s.reauthenticate(ctx, actor, "password", proof.Text)
	if err != nil {
		return err
	}
	_, err = s.RemoveSecondFactor(ctx, actor, user.ID)
	return err
}

// RemoveSecondFactor switches off that of a user who has lost the app and the
// recovery codes, for an owner of the company.
func (s *Service) RemoveSecondFactor(ctx context.Context, actor Actor, userID int64) (User, error) {
	var user storedUser
	err := actor.Write(ctx, s.db, func(tx Tx) (err error) {
		if user, err = lockUser(ctx, tx.Tx, actor.Company.ID, userID); err != nil {
			return err
		}
		change := userChange{SecondFactorOff, user, user}
		change.after.totp, change.after.totpPending, change.after.totpLast = "", "", 0
		if err := s.applyUser(ctx, tx, &change); err != nil {
			return err
		}
		return replaceRecovery(ctx, tx.Tx, user.User, nil)
	})
	return user.User, err
}

// errGuess says that a code is wrong; callers count and tell it.
var errGuess = errors.New("account: the code is wrong or has been used")

func errWrongCode() error {
	return fault.Field("code", "is wrong or has been used")
}

// useCode spends a code of the app or a recovery code. What was spent does not
// work again, also when two requests bring it at once.
func (s *Service) useCode(ctx context.Context, tx *sqldb.Tx, owner User, code string) error {
	user, err := lockUser(ctx, tx, owner.CompanyID, owner.ID)
	if err != nil {
		return err
	}
	recovery := len(digitsOf(code)) != totpDigits // also where the key that sealed the secret is lost
	var spent bool
	if recovery {
		spent, err = rows.Changed(ctx, tx, `DELETE FROM recovery_codes WHERE company_id = ? AND user_id = ?
			AND hash = ?`, user.User.CompanyID, user.User.ID, recoveryHash(code))
	} else {
		spent, err = s.spendCode(ctx, tx, user, code)
	}
	switch {
	case err != nil:
		return err
	case !spent:
		return errGuess
	case recovery:
		return s.tellOfRecovery(ctx, tx, user)
	}
	return nil
}

// spendCode reports whether a code is right and was not used before.
func (s *Service) spendCode(ctx context.Context, tx *sqldb.Tx, user storedUser, code string) (bool, error) {
	key, err := s.openFactor(user, user.totp)
	if err != nil {
		return false, err
	}
	step, ok := matchingStep(key, digitsOf(code), tx.Real())
	if !ok {
		return false, nil
	}
	return rows.Changed(ctx, tx, `UPDATE users SET totp_step = ? WHERE company_id = ? AND id = ?
		AND totp_step < ?`, step, user.User.CompanyID, user.User.ID, step)
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
		for _, user := range stale {
			if err := s.reseal(ctx, tx, user.User); err != nil {
				return fmt.Errorf("reseal the second factor of user %d: %w", user.ID, err)
			}
		}
		return nil
	})
}

func (s *Service) reseal(ctx context.Context, tx *sqldb.Tx, user User) error {
	before, err := lockUser(ctx, tx, user.CompanyID, user.ID)
	if err != nil {
		return err
	}
	change := userChange{unseen, before, before}
	for _, sealed := range []*string{&change.after.totp, &change.after.totpPending} {
		if *sealed == "" {
			continue
		}
		plain, err := s.box.Open(*sealed, totpContext(user.ID))
		if err != nil {
			return err
		}
		*sealed = s.box.Seal(plain, totpContext(user.ID))
	}
	return s.applyUser(ctx, System(Company{ID: user.CompanyID}, "reseal").In(tx), &change)
}
