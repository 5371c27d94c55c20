package account

import (
	"context"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// linkLife is how long a link to set a password works.
const linkLife = 7 * 24 * time.Hour

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

// CreateUser makes a user from the fields name, email and role. The link it
// returns lets the user set a password, once.
func (s *Service) CreateUser(ctx context.Context, a Actor, in *input.Form) (User, string, error) {
	in.Require("name")
	in.Require("email")
	in.Require("role")
	u := User{CompanyID: a.Company.ID}
	u.Name, _ = in.Line("name", 255).Get()
	u.Email, _ = in.Email("email").Get()
	readRole(in, &u)
	if err := in.Err(); err != nil {
		return User{}, "", err
	}
	link, hash := newLink()
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		u.CreatedAt = tx.Now()
		if u.ID, err = insertUser(ctx, tx, u, text.Lower(u.Email), ""); err != nil {
			return err
		}
		if u.ID == 0 {
			return fault.Field("email", "is taken by another user")
		}
		if err := insertPasswordLink(ctx, tx, u, hash, tx.Now().Add(linkLife)); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{Action: "user.created", Record: "user", ID: u.ID, Name: u.Name, After: userFields(u)})
	})
	return u, link, err
}

func readRole(in *input.Form, u *User) {
	if v, ok := in.Choice("role", string(RoleOwner), string(RoleStaff), string(RoleReadOnly)).Get(); ok && v != "" {
		u.Role = Role(v)
	}
}

func userFields(u User) AuditFields {
	return AuditFields{"name": u.Name, "email": u.Email, "role": u.Role}
}

// UpdateUser changes name and role; what is not given stays. The last owner
// stays one.
func (s *Service) UpdateUser(ctx context.Context, a Actor, userID int64, in *input.Form) (User, error) {
	in.MustNotClear("name")
	in.MustNotClear("role")
	var after User
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := LockTx(ctx, tx, a); err != nil {
			return err
		}
		before, err := lockUser(ctx, tx, a.Company.ID, userID)
		if err != nil {
			return err
		}
		after = before.User
		if v, ok := in.Line("name", 255).Get(); ok {
			after.Name = v
		}
		readRole(in, &after)
		if err := in.Err(); err != nil {
			return err
		}
		if before.Role == RoleOwner && after.Role != RoleOwner {
			if err := keepAnOwner(ctx, tx, a, userID, "role"); err != nil {
				return err
			}
		}
		if err := updateUser(ctx, tx, after); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{
			Action: "user.updated", Record: "user", ID: userID, Name: after.Name, Before: userFields(before.User), After: userFields(after),
		})
	})
	return after, err
}

// keepAnOwner refuses to take the last owner away. The company is locked, so
// that two owners cannot take each other away at once.
func keepAnOwner(ctx context.Context, tx *sqldb.Tx, a Actor, userID int64, field string) error {
	others, err := otherOwners(ctx, tx, a.Company.ID, userID)
	if err == nil && others == 0 {
		err = fault.Field(field, "the company must keep an owner")
	}
	return err
}

// RemoveUser takes a user away and ends its sessions. Nobody removes
// themselves, and the last owner stays.
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
			if err := keepAnOwner(ctx, tx, a, userID, "id"); err != nil {
				return err
			}
		}
		if err := deleteUser(ctx, tx, u.User); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{Action: "user.removed", Record: "user", ID: userID, Name: u.Name, Before: userFields(u.User)})
	})
}

// NewPasswordLink makes a link by which a user sets another password, once.
// Older links stop working.
func (s *Service) NewPasswordLink(ctx context.Context, a Actor, userID int64) (User, string, error) {
	link, hash := newLink()
	var u storedUser
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if u, err = lockUser(ctx, tx, a.Company.ID, userID); err != nil {
			return err
		}
		if err := deletePasswordLinks(ctx, tx, u.User); err != nil {
			return err
		}
		if err := insertPasswordLink(ctx, tx, u.User, hash, tx.Now().Add(linkLife)); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{Action: "user.password_link", Record: "user", ID: userID, Name: u.Name})
	})
	return u.User, link, err
}

// LinkedUser finds whom a link to set a password is for.
func (s *Service) LinkedUser(ctx context.Context, link string) (User, error) {
	u, err := userByLink(ctx, s.db, linkHash(link), s.db.Now())
	return u.User, err
}

// UsePasswordLink sets the password of the field password, once, and signs the
// user out everywhere else. The second factor stays.
func (s *Service) UsePasswordLink(ctx context.Context, link string, in *input.Form, from Visitor) (User, error) {
	in.Require("password")
	password := readPassword(in)
	if err := in.Err(); err != nil {
		return User{}, err
	}
	hash, err := hashPassword(ctx, password)
	if err != nil {
		return User{}, err
	}
	var u storedUser
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if u, err = userByLink(ctx, tx, linkHash(link), tx.Now()); err != nil {
			return err
		}
		used, err := usePasswordLink(ctx, tx, u.User, linkHash(link))
		if err != nil {
			return err
		}
		if !used { // by another request at this moment
			return fault.NotFound("link")
		}
		if err := storePassword(ctx, tx, u.User, hash); err != nil {
			return err
		}
		if err := endSessions(ctx, tx, u.CompanyID, u.ID, 0); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, actorOf(u.User, from), AuditEntry{Action: "user.password_set", Record: "user", ID: u.ID, Name: u.Name})
	})
	return u.User, err
}

// ChangePassword takes the fields current_password and password. It signs the
// user out everywhere but here.
func (s *Service) ChangePassword(ctx context.Context, v Visit, in *input.Form) error {
	in.Require("password")
	password := readPassword(in)
	u, err := s.reauthenticate(ctx, v.Actor, in, "current_password")
	if err != nil {
		return err
	}
	hash, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := storePassword(ctx, tx, u.User, hash); err != nil {
			return err
		}
		if err := endSessions(ctx, tx, u.CompanyID, u.ID, v.Session.ID); err != nil {
			return err
		}
		if err := deletePasswordLinks(ctx, tx, u.User); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, v.Actor, AuditEntry{Action: "user.password_changed", Record: "user", ID: u.ID, Name: u.Name})
	})
}

// reauthenticate asks the actor's user for the password again: a browser that
// was left open must not be enough. Attempts are counted as those to sign in.
func (s *Service) reauthenticate(ctx context.Context, a Actor, in *input.Form, field string) (storedUser, error) {
	in.Require(field)
	password, _ := in.Text(field, 1000).Get()
	if err := in.Err(); err != nil {
		return storedUser{}, err
	}
	u, err := userByID(ctx, s.db, a.Company.ID, a.UserID)
	if err != nil {
		return u, err
	}
	person, from := text.Lower(u.Email), Visitor{Address: a.From}
	if err := s.countAttempt(ctx, person, from); err != nil {
		return u, err
	}
	ok, err := passwordFits(ctx, u, password)
	if err != nil {
		return u, err
	}
	if !ok {
		return u, fault.Field(field, "is wrong")
	}
	return u, a.Write(ctx, s.db, func(tx *sqldb.Tx) error { return succeeded(ctx, tx, person, from) })
}
