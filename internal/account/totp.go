package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 as every authenticator app speaks it
	"encoding/base32"
	"encoding/binary"
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
	// recoveryCodes is how many ways in are left to somebody who lost the phone.
	recoveryCodes = 10
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
	u, err := userByID(ctx, s.db, a.Company.ID, a.UserID)
	if err != nil {
		return Factor{}, err
	}
	if u.totp != "" {
		return Factor{}, fault.Conflict("the second factor is on already")
	}
	if u.totpPending == "" {
		var key [20]byte
		_, _ = rand.Read(key[:]) // never fails: the program ends first
		u.totpPending = s.people.box.Seal(key[:], totpContext(u.ID))
		err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error { return storeTOTP(ctx, tx, u.User, "", u.totpPending, 0) })
		if err != nil {
			return Factor{}, err
		}
	}
	key, err := s.people.box.Open(u.totpPending, totpContext(u.ID))
	if err != nil {
		return Factor{}, err
	}
	f := Factor{Secret: base32Text.EncodeToString(key)}
	label := url.PathEscape("Carteira:" + u.Email)
	f.URL = "otpauth://totp/" + label + "?" + url.Values{"secret": {f.Secret}, "issuer": {"Carteira"}}.Encode()
	return f, nil
}

// ConfirmSecondFactor switches the second factor on with a first code. The
// recovery codes it returns are not shown again.
func (s *Service) ConfirmSecondFactor(ctx context.Context, a Actor, in *input.Form) ([]string, error) {
	in.Require("code")
	code, _ := in.Line("code", 40).Get()
	if err := in.Err(); err != nil {
		return nil, err
	}
	codes := make([]string, recoveryCodes)
	for i := range codes {
		c := strings.ToLower(id.NewCode(10))
		codes[i] = c[:5] + "-" + c[5:]
	}
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		u, err := lockUser(ctx, tx, a.Company.ID, a.UserID)
		if err != nil {
			return err
		}
		if u.totpPending == "" {
			return fault.Conflict("begin again: no second factor is being set up")
		}
		key, err := s.people.box.Open(u.totpPending, totpContext(u.ID))
		if err != nil {
			return err
		}
		step, ok := matchingStep(key, digitsOf(code), tx.Now())
		if !ok {
			return errWrongCode()
		}
		if err := storeTOTP(ctx, tx, u.User, u.totpPending, "", step); err != nil {
			return err
		}
		if err := replaceRecovery(ctx, tx, u.User, codes); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{Action: "second_factor.on", Record: "user", ID: u.ID, Name: u.Name})
	})
	return codes, err
}

// DropSecondFactor switches it off, with the password of the field password.
func (s *Service) DropSecondFactor(ctx context.Context, a Actor, in *input.Form) error {
	u, err := s.reauthenticate(ctx, a, in, "password")
	if err != nil {
		return err
	}
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error { return dropFactor(ctx, tx, a, u.User) })
}

// RemoveSecondFactor switches off that of a user who has lost the app and the
// recovery codes, for an owner of the company.
func (s *Service) RemoveSecondFactor(ctx context.Context, a Actor, userID int64) (User, error) {
	var u storedUser
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if u, err = lockUser(ctx, tx, a.Company.ID, userID); err != nil {
			return err
		}
		return dropFactor(ctx, tx, a, u.User)
	})
	return u.User, err
}

func dropFactor(ctx context.Context, tx *sqldb.Tx, a Actor, u User) error {
	if err := storeTOTP(ctx, tx, u, "", "", 0); err != nil {
		return err
	}
	if err := replaceRecovery(ctx, tx, u, nil); err != nil {
		return err
	}
	return WriteAudit(ctx, tx, a, AuditEntry{Action: "second_factor.off", Record: "user", ID: u.ID, Name: u.Name})
}

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
		err = errWrongCode()
	}
	return err
}

// spendCode reports whether a code is right and was not used before.
func (s *Service) spendCode(ctx context.Context, tx *sqldb.Tx, u storedUser, code string) (bool, error) {
	key, err := s.people.box.Open(u.totp, totpContext(u.ID))
	if err != nil {
		return false, err
	}
	step, ok := matchingStep(key, digitsOf(code), tx.Now())
	if !ok {
		return false, nil
	}
	return spendStep(ctx, tx, u.User, step)
}

// digitsOf takes a code as apps show it, with a space in the middle.
func digitsOf(code string) string { return strings.ReplaceAll(code, " ", "") }

func recoveryHash(code string) []byte {
	return linkHash("recovery " + strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code)))
}

// ResealFactors seals with the current key what an older one sealed.
func (s *Service) ResealFactors(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := factorsSealedBefore(ctx, tx, s.people.box.CurrentID())
		if err != nil {
			return err
		}
		for _, u := range stale {
			fresh := [2]string{}
			for i, sealed := range []string{u.totp, u.totpPending} {
				if sealed == "" {
					continue
				}
				plain, err := s.people.box.Open(sealed, totpContext(u.ID))
				if err != nil {
					return fmt.Errorf("reseal the second factor of user %d: %w", u.ID, err)
				}
				fresh[i] = s.people.box.Seal(plain, totpContext(u.ID))
			}
			if err := storeTOTP(ctx, tx, u.User, fresh[0], fresh[1], u.totpLast); err != nil {
				return err
			}
		}
		return nil
	})
}
