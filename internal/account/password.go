package account

import (
	"context"
	_ "embed"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// linkLife is how long a link to set a password works.
const linkLife = 7 * 24 * time.Hour

// purpose is what a link is for.
type purpose string

const (
	forPassword   purpose = "password"   // from a colleague or the operator
	forInvitation purpose = "invitation" // from the company above
	forReset      purpose = "reset"      // by e-mail, to who forgot it
	forConfirm    purpose = "confirm"    // by e-mail: not a password, but the address
	forRelease    purpose = "release"    // by e-mail: the address goes to another user
	forRestore    purpose = "restore"    // by e-mail, to a former address: it comes back
)

// newPasswordLink is a link to set a password that is to be stored.
type newPasswordLink struct {
	hash    []byte
	purpose purpose
	life    time.Duration
	email   string // the former address that it brings back; empty: none
}

// replacePasswordLink stores a link to set a password. Older ones stop working.
func replacePasswordLink(ctx context.Context, tx *sqldb.Tx, user User, link newPasswordLink) error {
	if err := deletePasswordLinks(ctx, tx, user); err != nil {
		return err
	}
	return insertPasswordLink(ctx, tx, user, link)
}

// NewPasswordLink makes a link by which a user sets another password, once.
// Older links stop working.
func (s *Service) NewPasswordLink(ctx context.Context, actor Actor, userID int64) (User, string, error) {
	link, hash := newLink()
	var user storedUser
	err := actor.Write(ctx, s.db, func(tx Tx) (err error) {
		if user, err = lockUser(ctx, tx.Tx, actor.Company.ID, userID); err != nil {
			return err
		}
		err = replacePasswordLink(ctx, tx.Tx, user.User, newPasswordLink{hash: hash, purpose: forPassword, life: linkLife})
		if err != nil {
			return err
		}
		return s.applyUser(ctx, tx, happened(PasswordLinkMade, user.User))
	})
	return user.User, link, err
}

// LinkedUser finds the user of a link to set a password.
func (s *Service) LinkedUser(ctx context.Context, link string) (User, error) {
	user, err := userByLink(ctx, s.db, linkHash(link), s.db.Real())
	return user.User, err
}

// NewPassword is the password that a user wants to have.
type NewPassword struct {
	Password string
	Current  string // the one before, where it is asked for

	Problems input.Problems // what the form had wrong
}

// ReadNewPassword reads the field password.
func ReadNewPassword(in *input.Form) NewPassword {
	in.Require("password")
	return NewPassword{Password: ReadPassword(in), Problems: in.Problems()}
}

// ReadPasswordChange reads the fields password and current_password.
func ReadPasswordChange(in *input.Form) NewPassword {
	in.Require("password")
	password := NewPassword{Password: ReadPassword(in)}
	in.Require("current_password")
	password.Current = in.Text("current_password", maxPassword).Value
	password.Problems = in.Problems()
	return password
}

// UsePasswordLink sets a password, once, and signs the user out everywhere
// else. The second factor stays.
func (s *Service) UsePasswordLink(ctx context.Context, link string, password NewPassword, from Visitor) (User, error) {
	var user storedUser
	if err := s.linkWorks(ctx, from, func() (err error) {
		user, err = userByLink(ctx, s.db, linkHash(link), s.db.Real())
		return err
	}); err != nil {
		return User{}, err
	}
	if err := s.acceptable(ctx, user.User, password); err != nil {
		return User{}, err
	}
	hash, err := HashPassword(ctx, password.Password)
	if err != nil {
		return User{}, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		var purpose purpose
		if user, purpose, err = claimPasswordLink(ctx, tx, link); err != nil {
			return err
		}
		set := passwordSet{PasswordSet, user.User, hash, purpose == forReset}
		if err := s.setPassword(ctx, actorOf(user.User, from).In(tx), set); err != nil {
			return err
		}
		if err := dropOldDevices(ctx, tx, user.User, 0); err != nil { // a person who knew the old password may have had one
			return err
		}
		return endSessions(ctx, tx, user.CompanyID, user.ID, 0)
	})
	return user.User, err
}

// linkWorks looks a link up before anything expensive is done for it. Links
// that do not exist are counted by network.
func (s *Service) linkWorks(ctx context.Context, from Visitor, find func() error) error {
	quotas := networkQuotas("link:", from)
	if err := s.refuseSpent(ctx, quotas); err != nil {
		return err
	}
	err := find()
	if fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	if counted := s.countAttempt(ctx, quotas); counted != nil {
		return counted
	}
	return err
}

// claimPasswordLink uses a link up and returns its user.
func claimPasswordLink(ctx context.Context, tx *sqldb.Tx, link string) (storedUser, purpose, error) {
	user, err := userByLink(ctx, tx, linkHash(link), tx.Real())
	if err != nil {
		return user, "", err
	}
	purpose, err := purposeOfLink(ctx, tx, user.User, linkHash(link))
	if err == nil && purpose == forInvitation {
		err = invitedInTime(ctx, tx, user.User)
	}
	if err != nil {
		return user, purpose, err
	}
	used, err := usePasswordLink(ctx, tx, user.User, linkHash(link))
	if err == nil && !used { // by another request at this moment
		err = fault.NotFound("link")
	}
	return user, purpose, err
}

// acceptable refuses a password that its user should not have.
func (s *Service) acceptable(ctx context.Context, user User, password NewPassword) error {
	if err := password.Problems.Err(); err != nil {
		return err
	}
	company, err := FindCompany(ctx, s.db, user.CompanyID)
	if err != nil {
		return err
	}
	return RefusePassword(password.Password, company.Name, user.Email)
}

// invitedInTime refuses an invitation from above to a company that is in use by
// now: it would be a way in.
func invitedInTime(ctx context.Context, tx *sqldb.Tx, user User) error {
	used, err := InUse(ctx, tx, user.CompanyID)
	if err == nil && used {
		err = fault.NotFound("link")
	}
	return err
}

// passwordSet is a password that a user gets.
type passwordSet struct {
	action   Action
	user     User
	hash     string
	confirms bool // the address: the link was sent there
}

func (s *Service) setPassword(ctx context.Context, tx Tx, set passwordSet) error {
	before, err := lockUser(ctx, tx.Tx, set.user.CompanyID, set.user.ID)
	if err != nil {
		return err
	}
	change := userChange{set.action, before, before}
	change.after.passwordHash = set.hash
	if set.confirms {
		change.after.confirmedAt = tx.Real().UnixMicro()
	}
	return s.applyUser(ctx, tx, &change)
}

// ChangePassword sets another password for a user who knows the current one. It
// signs the user out everywhere but here.
func (s *Service) ChangePassword(ctx context.Context, visit Visit, password NewPassword) error {
	if err := s.acceptable(ctx, visit.User, password); err != nil {
		return err
	}
	user, err := s.reauthenticate(ctx, visit.Actor, "current_password", password.Current)
	if err != nil {
		return err
	}
	hash, err := HashPassword(ctx, password.Password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		err := s.setPassword(ctx, visit.Actor.In(tx), passwordSet{action: PasswordChanged, user: user.User, hash: hash})
		if err != nil {
			return err
		}
		if err := endSessions(ctx, tx, user.CompanyID, user.ID, visit.Session.ID); err != nil {
			return err
		}
		return deletePasswordLinks(ctx, tx, user.User)
	})
}

// reauthenticate checks the password of the actor's user again: a browser that
// was left open must not be enough. Attempts are counted as those to sign in. A
// wrong password is a refusal of the field.
func (s *Service) reauthenticate(ctx context.Context, actor Actor, field, password string) (storedUser, error) {
	user, err := userByID(ctx, s.db, actor.Company.ID, actor.UserID)
	if err != nil {
		return user, err
	}
	quotas := proofQuotas(user.ID)
	if err := s.countAttempt(ctx, quotas); err != nil {
		return user, err
	}
	fits, err := passwordFits(ctx, user, password)
	if err != nil {
		return user, err
	}
	if !fits {
		s.auditRefusal(ctx, user.User, Visitor{Address: actor.From}, UserSignInRefused)
		return user, fault.Field(field, "is wrong")
	}
	return user, s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return uncountAttempt(ctx, tx, quotas)
	})
}

//go:embed common.txt
var commonFile string

// commonWords are what the most used passwords are made of.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(commonFile) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			words[word] = true
		}
	}
	return words
})

// letters are what digits and signs stand for in words.
var letters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i")

// weakness says why a password is among the first that anybody would try; ""
// when it is not.
func weakness(password string) string {
	plain := text.Fold(password)
	switch {
	case utf8.RuneCountInString(password) < MinPassword:
		return "must have at least 8 characters"
	case isCommon(plain), isPattern(plain):
		return "is among the passwords that are tried first; choose another, such as a few words that do not belong together"
	}
	return ""
}

// isCommon takes off what people add to a word, and looks the word up.
func isCommon(plain string) bool {
	for end := len(plain); end > 0; end-- { // the end may be part of the word, as in s3nh4123
		word := onlyLetters(letters.Replace(plain[:end]))
		if commonWords()[word] || commonWords()[onlyLetters(plain[:end])] {
			return true
		}
		if unicode.IsLetter(rune(plain[end-1])) {
			break
		}
	}
	start := strings.TrimLeftFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) })
	return start != plain && start != "" && isCommon(start)
}

func onlyLetters(value string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) {
			return -1
		}
		return c
	}, value)
}

// keyRows are what fingers find in order.
var keyRows = []string{
	"01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz",
	"1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "1qaz2wsx3edc4rfv5tgb", "147258369", "159357",
}

// isPattern reports whether a password is a repetition of a few characters, or
// runs along a row of keys.
func isPattern(plain string) bool {
	for size := 1; size <= 4; size++ {
		if len(plain) >= 2*size && strings.Repeat(plain[:size], len(plain)/size+1)[:len(plain)] == plain {
			return true
		}
	}
	for _, row := range keyRows {
		for _, run := range []string{row, reversed(row)} {
			if strings.Contains(run+run, plain) {
				return true
			}
		}
	}
	return false
}

func reversed(s string) string {
	data := []byte(s)
	for i, j := 0, len(data)-1; i < j; i, j = i+1, j-1 {
		data[i], data[j] = data[j], data[i]
	}
	return string(data)
}

// RefusePassword refuses a password that is made of a name that everybody knows
// of its user, such as the company's or the address, with little added. "" is no password, and
// not refused.
func RefusePassword(password string, names ...string) error {
	plain := onlyLetters(letters.Replace(text.Fold(password)))
	spelled := onlyLetters(text.Fold(password))
	for _, name := range names {
		known := onlyLetters(text.Fold(mailbox(name)))
		if len(known) < 3 || password == "" {
			continue
		}
		for _, word := range []string{plain, spelled} {
			if strings.Contains(word, known) && len(word)-len(known) <= 3 {
				return fault.Field("password", "must not be the name of the company or the address")
			}
		}
	}
	return nil
}

// mailbox is the part of an address that names its owner; of a name, all of it.
func mailbox(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}
