package account

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Person is a user as the company's owner sees one.
type Person struct {
	User
	Ready        bool // has a password
	SecondFactor bool
	SeenAt       time.Time // zero: never signed in, or signed out everywhere
}

// Users lists the company's users, oldest first.
func (s *Service) Users(ctx context.Context, actor Actor) ([]Person, error) {
	return sqldb.All(ctx, s.db, func(row sqldb.Row) (person Person, err error) {
		err = row.Scan(userPlaces(&person.User, &person.Ready, &person.SecondFactor, (*civil.Instant)(&person.SeenAt))...)
		return person, err
	}, `SELECT `+userColumns+`, u.password_hash <> '', u.totp <> '',
			COALESCE((SELECT max(s.seen_at) FROM sessions s WHERE s.company_id = u.company_id AND s.user_id = u.id), 0)
		FROM users u WHERE u.company_id = ? ORDER BY u.id`, actor.Company.ID)
}

// User finds one of them.
func (s *Service) User(ctx context.Context, actor Actor, userID int64) (User, error) {
	user, err := userByID(ctx, s.db, actor.Company.ID, userID)
	return user.User, err
}

// UserDraft is what a caller wants a user to be; what is not given stays. The
// address is given for a new user and cannot be changed.
type UserDraft struct {
	Name  input.Opt[string]
	Email input.Opt[string]
	Role  input.Opt[Role]

	Problems input.Problems // what the form had wrong
}

var neededOfUser = []string{"name", "email", "role"}

// ReadNewUser reads a new user from the fields of UserFields.
func ReadNewUser(in *input.Form) UserDraft {
	for _, name := range neededOfUser {
		in.Require(name)
	}
	draft := UserDraft{Email: in.Email("email")}
	UserFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

// ReadUserChanges reads the fields name and role of a change.
func ReadUserChanges(in *input.Form) UserDraft {
	in.MustNotClear("name")
	in.MustNotClear("role")
	var draft UserDraft
	UserFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

// CreateUser makes a user. The link it returns lets the user set a password,
// once.
func (s *Service) CreateUser(ctx context.Context, actor Actor, draft UserDraft) (User, string, error) {
	made := User{CompanyID: actor.Company.ID}
	UserFields.To(&draft, &made)
	if err := draft.Problems.With(missing(made, draft.Problems)).Err(); err != nil {
		return User{}, "", err
	}
	link, hash := newLink()
	var change userChange
	err := s.LimitProbes(ctx, actor, made.Email, func() error {
		return actor.Write(ctx, s.db, func(tx Tx) error {
			change = userChange{action: UserCreated, after: storedUser{User: made}}
			change.after.CreatedAt = tx.Now()
			if err := s.applyUser(ctx, tx, &change); err != nil {
				return err
			}
			link := newPasswordLink{hash: hash, purpose: forPassword, life: linkLife}
			return replacePasswordLink(ctx, tx.Tx, change.after.User, link)
		})
	})
	return change.after.User, link, err
}

// missing are the fields that a Go caller has left out; those of a form are
// among its problems.
func missing(user User, found input.Problems) (refused fault.Fields) {
	if found.Any() {
		return refused
	}
	for name, value := range UserFields.In(InRecord, &user) {
		if slices.Contains(neededOfUser, name) && fmt.Sprint(value) == "" {
			refused.Add(name, "is required")
		}
	}
	return refused
}

// UpdateUser changes name and role. The last owner stays one.
func (s *Service) UpdateUser(ctx context.Context, actor Actor, userID int64, draft UserDraft) (User, error) {
	var change userChange
	err := actor.Write(ctx, s.db, func(tx Tx) error {
		if err := LockTx(ctx, tx); err != nil {
			return err
		}
		before, err := lockUser(ctx, tx.Tx, actor.Company.ID, userID)
		if err != nil {
			return err
		}
		change = userChange{UserUpdated, before, before}
		draft.Email = input.Opt[string]{}
		UserFields.To(&draft, &change.after.User)
		if err := draft.Problems.Err(); err != nil {
			return err
		}
		if before.Role == RoleOwner && change.after.Role != RoleOwner {
			if err := keepAnOwner(ctx, tx.Tx, before.User, "role"); err != nil {
				return err
			}
		}
		return s.applyUser(ctx, tx, &change)
	})
	return change.after.User, err
}

// keepAnOwner refuses a change that leaves the company without an owner. The
// company is locked, so that two owners cannot demote each other at once.
func keepAnOwner(ctx context.Context, tx *sqldb.Tx, user User, field string) error {
	others, err := sqldb.Value[int](ctx, tx,
		`SELECT count(*) FROM users WHERE company_id = ? AND role = 'owner' AND id <> ?`, user.CompanyID, user.ID)
	if err == nil && others == 0 {
		err = fault.Field(field, "the company must keep an owner")
	}
	return err
}

// RemoveUser deletes a user, ends its sessions, and deletes the tokens that the
// user made unless they are to be kept. A user cannot remove itself, and the last
// owner stays.
func (s *Service) RemoveUser(ctx context.Context, actor Actor, userID int64, keepTokens bool) error {
	if userID == actor.UserID {
		return fault.Conflict("you cannot remove yourself; another owner can")
	}
	return actor.Write(ctx, s.db, func(tx Tx) error {
		if err := LockTx(ctx, tx); err != nil {
			return err
		}
		user, err := lockUser(ctx, tx.Tx, actor.Company.ID, userID)
		if err != nil {
			return err
		}
		if user.Role == RoleOwner {
			if err := keepAnOwner(ctx, tx.Tx, user.User, "id"); err != nil {
				return err
			}
		}
		if !keepTokens {
			if err := s.deleteTokensOf(ctx, tx, userID); err != nil {
				return err
			}
		}
		return s.applyUser(ctx, tx, &userChange{UserRemoved, user, user})
	})
}

// Invitation lets the owner of a company who has no password yet set one: a
// password link that the company's parent hands on. It is made before the
// transaction that stores it, which may run again.
type Invitation struct {
	Code string // of the link; shown once, and kept as a hash
	hash []byte
}

// NewInvitation makes one that is not stored yet.
func NewInvitation() Invitation {
	code, hash := newLink()
	return Invitation{code, hash}
}

// InviteTx stores the invitation of a company's owner inside another use case's
// transaction, which writes the audit line. An older one stops working. Once
// any user of the company has had a password it is in use, and no company above
// can get in: an owner who was made later is invited by those who are in.
func (s *Service) InviteTx(ctx context.Context, tx *sqldb.Tx, company Company, invitation Invitation) error {
	owner, used, err := lockOwner(ctx, tx, company.ID)
	switch {
	case err != nil:
		return err
	case used:
		return fault.Conflict("the owner has a password already")
	}
	return replacePasswordLink(ctx, tx, owner.User,
		newPasswordLink{hash: invitation.hash, purpose: forInvitation, life: linkLife})
}

// deleteTokensOf deletes what a user made, so that a person who leaves keeps no
// way in.
func (s *Service) deleteTokensOf(ctx context.Context, tx Tx, userID int64) error {
	made, err := tokensMadeBy(ctx, tx, tx.Company.ID, userID)
	if err != nil {
		return err
	}
	for _, token := range made {
		if err := s.applyToken(ctx, tx, &tokenChange{action: TokenDeleted, token: token}); err != nil {
			return err
		}
	}
	return nil
}
