package account

import (
	"context"
	"time"

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
func (s *Service) Users(ctx context.Context, a Actor) ([]Person, error) {
	return usersOf(ctx, s.db, a.Company.ID)
}

// User finds one of them.
func (s *Service) User(ctx context.Context, a Actor, userID int64) (User, error) {
	u, err := userByID(ctx, s.db, a.Company.ID, userID)
	return u.User, err
}

// UserDraft is what a caller wants a user to be; what is not given stays. The
// address is given for a new user and cannot be changed.
type UserDraft struct {
	Name  input.Opt[string]
	Email input.Opt[string]
	Role  input.Opt[Role]

	Problems input.Problems // what the form had wrong
}

// ReadNewUser reads the fields name, email and role of a new user.
func ReadNewUser(in *input.Form) UserDraft {
	in.Require("name")
	in.Require("email")
	in.Require("role")
	d := UserDraft{Name: in.Line("name", maxName), Email: in.Email("email"), Role: readRole(in)}
	d.Problems = in.Problems()
	return d
}

// ReadUserChanges reads the fields name and role of a change.
func ReadUserChanges(in *input.Form) UserDraft {
	in.MustNotClear("name")
	in.MustNotClear("role")
	d := UserDraft{Name: in.Line("name", maxName), Role: readRole(in)}
	d.Problems = in.Problems()
	return d
}

func readRole(in *input.Form) input.Opt[Role] {
	return choice(in, "role", RoleOwner, RoleStaff, RoleReadOnly)
}

// CreateUser makes a user. The link it returns lets the user set a password,
// once.
func (s *Service) CreateUser(ctx context.Context, a Actor, d UserDraft) (User, string, error) {
	made := User{CompanyID: a.Company.ID, Name: d.Name.Value, Email: d.Email.Value, Role: d.Role.Value}
	if err := d.Problems.With(missing(made, d.Problems)).Err(); err != nil {
		return User{}, "", err
	}
	link, hash := newLink()
	var change userChange
	err := s.LimitProbes(ctx, a, made.Email, func() error {
		return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
			change = userChange{action: UserCreated, after: storedUser{User: made}}
			change.after.CreatedAt = tx.Now()
			if err := s.applyUser(ctx, tx, a, &change); err != nil {
				return err
			}
			return replacePasswordLink(ctx, tx, change.after.User, newPasswordLink{hash, forPassword, linkLife})
		})
	})
	return change.after.User, link, err
}

// missing are the fields that a Go caller has left out; those of a form are
// among its problems.
func missing(u User, found input.Problems) (refused fault.Fields) {
	if found.Any() {
		return refused
	}
	for _, field := range [][2]string{{"name", u.Name}, {"email", u.Email}, {"role", string(u.Role)}} {
		if field[1] == "" {
			refused.Add(field[0], "is required")
		}
	}
	return refused
}

// UpdateUser changes name and role. The last owner stays one.
func (s *Service) UpdateUser(ctx context.Context, a Actor, userID int64, d UserDraft) (User, error) {
	var change userChange
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := LockTx(ctx, tx, a); err != nil {
			return err
		}
		before, err := lockUser(ctx, tx, a.Company.ID, userID)
		if err != nil {
			return err
		}
		change = userChange{UserUpdated, before, before}
		d.Name.To(&change.after.Name)
		d.Role.To(&change.after.Role)
		if err := d.Problems.Err(); err != nil {
			return err
		}
		if before.Role == RoleOwner && change.after.Role != RoleOwner {
			if err := keepAnOwner(ctx, tx, before.User, "role"); err != nil {
				return err
			}
		}
		return s.applyUser(ctx, tx, a, &change)
	})
	return change.after.User, err
}

// keepAnOwner refuses a change that leaves the company without an owner. The
// company is locked, so that two owners cannot demote each other at once.
func keepAnOwner(ctx context.Context, tx *sqldb.Tx, u User, field string) error {
	others, err := otherOwners(ctx, tx, u.CompanyID, u.ID)
	if err == nil && others == 0 {
		err = fault.Field(field, "the company must keep an owner")
	}
	return err
}

// RemoveUser deletes a user and ends its sessions. A user cannot remove itself,
// and the last owner stays.
func (s *Service) RemoveUser(ctx context.Context, a Actor, userID int64) error {
	if userID == a.UserID {
		return fault.Conflict("you cannot remove yourself; another owner can")
	}
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := LockTx(ctx, tx, a); err != nil {
			return err
		}
		u, err := lockUser(ctx, tx, a.Company.ID, userID)
		if err != nil {
			return err
		}
		if u.Role == RoleOwner {
			if err := keepAnOwner(ctx, tx, u.User, "id"); err != nil {
				return err
			}
		}
		return s.applyUser(ctx, tx, a, &userChange{UserRemoved, u, u})
	})
}
