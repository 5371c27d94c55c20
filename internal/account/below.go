package account

import (
	"context"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/platform/watch"
	"carteira/internal/tally"
)

// Newcomer is a company that is to stand below another, and its owner.
type Newcomer struct {
	Name         string
	Email        string // the owner's
	Whatsapp     string
	PasswordHash string // "": the owner cannot sign in until one is set
	Subscription Subscription
}

// ReadPassword reads and checks the field password; "" when it is not given.
func ReadPassword(in *input.Form) string { return readPassword(in) }

// HashPassword is what is stored of a password; "" of none. It takes a while,
// and belongs before a transaction.
func HashPassword(ctx context.Context, password string) (string, error) {
	return hashPassword(ctx, password)
}

// AddTx makes a company below another, with its calendar, inside another use
// case's transaction.
func (s *Service) AddTx(ctx context.Context, tx *sqldb.Tx, above Company, n Newcomer) (Company, User, error) {
	c := Company{
		ParentID: above.ID, Name: n.Name, Level: LevelUser, Zone: above.Zone, Whatsapp: n.Whatsapp, Settings: DefaultSettings,
		Subscription: n.Subscription, CreatedAt: tx.Now(),
	}
	owner := User{Email: n.Email, Role: RoleOwner, CreatedAt: tx.Now()}
	owner.Name, _, _ = strings.Cut(n.Email, "@")
	taken, err := EmailTaken(ctx, tx, n.Email)
	if err != nil {
		return c, owner, err
	}
	if taken {
		return c, owner, errEmailTaken()
	}
	err = insertWithOwner(ctx, tx, &c, &owner, n.PasswordHash)
	return c, owner, err
}

// insertWithOwner writes a company and its owner, and counts the company where
// it stands below another.
func insertWithOwner(ctx context.Context, tx *sqldb.Tx, c *Company, owner *User, passwordHash string) (err error) {
	if c.ID, err = insertCompany(ctx, tx, *c, searchText(*c, owner.Email)); err != nil {
		return err
	}
	owner.CompanyID = c.ID
	owner.ID, err = insertUser(ctx, tx, *owner, text.Lower(owner.Email), passwordHash)
	if err == nil && owner.ID == 0 {
		return errEmailTaken()
	}
	if err != nil || c.ParentID == 0 {
		return err
	}
	return counter.Add(ctx, tx, c.ParentID, counted(*c, 1))
}

func errEmailTaken() error { return fault.Field("email", "is taken by another user") }

// EmailTaken reports whether a user of any company signs in with an address.
func EmailTaken(ctx context.Context, q sqldb.Querier, email string) (bool, error) {
	return emailTaken(ctx, q, 0, text.Lower(email))
}

// FindBelow finds a company that stands directly below the actor's.
func FindBelow(ctx context.Context, q sqldb.Querier, a Actor, id int64) (Company, error) {
	return companyBelow(ctx, q, a.Company.ID, id)
}

// Contact is what a company shows of itself to those below it.
type Contact struct {
	Name     string
	Whatsapp string // digits with country code; "": none
}

// Above tells whom the actor's company talks to about its subscription. A
// company at the top of the tree has nobody.
func (s *Service) Above(ctx context.Context, a Actor) (Contact, error) {
	if a.Company.ParentID == 0 {
		return Contact{}, nil
	}
	c, err := companyByID(ctx, s.db, a.Company.ParentID)
	return Contact{c.Name, c.Whatsapp}, err
}

// OwnerReady reports whether the owner of a company has a password.
func OwnerReady(ctx context.Context, q sqldb.Querier, c Company) (bool, error) {
	owner, err := ownerOf(ctx, q, c.ID)
	if err != nil {
		return false, err
	}
	return hasPassword(ctx, q, owner)
}

// LockBelowTx is FindBelow for a change: until the commit nobody else changes
// it.
func LockBelowTx(ctx context.Context, tx *sqldb.Tx, a Actor, id int64) (Company, error) {
	return lockBelow(ctx, tx, a.Company.ID, id)
}

// SaveTx writes a company that was locked, keeps the counts of the company
// above true, and tells watchers.
func (s *Service) SaveTx(ctx context.Context, tx *sqldb.Tx, before, after Company) error {
	owner, err := ownerOf(ctx, tx, after.ID)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	if err := updateCompany(ctx, tx, after, searchText(after, owner.Email)); err != nil {
		return err
	}
	if after.ParentID != 0 {
		if err := counter.Move(ctx, tx, after.ParentID, counted(before, 1), counted(after, 1)); err != nil {
			return err
		}
	}
	return s.watchers.Tell(ctx, tx, CompanyChange{before, after})
}

// CompanyChange is a change of a company's record.
type CompanyChange struct{ Before, After Company }

// Watch adds a room above this one that acts when a company changes.
func (s *Service) Watch(w watch.Watcher[CompanyChange]) { s.watchers.Watch(w) }

// SetOwnerEmailTx gives the owner of a company another address, which nobody
// else may have.
func (s *Service) SetOwnerEmailTx(ctx context.Context, tx *sqldb.Tx, c Company, email string) error {
	owner, err := ownerOf(ctx, tx, c.ID)
	if err != nil || owner.Email == email {
		return err
	}
	taken, err := emailTaken(ctx, tx, owner.ID, text.Lower(email))
	if err != nil {
		return err
	}
	if taken {
		return errEmailTaken()
	}
	return updateEmail(ctx, tx, owner, email, text.Lower(email))
}

// SetFunctionsTx gives functions to all companies on a plan of the actor's
// company. It is one statement, so that all have them at the same moment.
func (s *Service) SetFunctionsTx(ctx context.Context, tx *sqldb.Tx, a Actor, planID int64, f Functions) error {
	return updateFunctions(ctx, tx, a.Company.ID, planID, f)
}

// book counts the companies below a company by last day, plan, level, kind and
// time zone, which are what lists of resellers are filtered by.
const counter = tally.Resellers

// counted is a company as the book of the one above sees it.
func counted(c Company, n int64) tally.Change {
	return tally.Change{N: n, Key: tally.Key{
		Bucket: tally.BucketOf(c.ID), Day: c.Subscription.ExpiresOn.String(), PlanID: c.Subscription.PlanID,
		State: CountedState{c.Level, c.Subscription.Kind, !c.Subscription.SuspendedAt.IsZero(), c.Zone.String()}.String(),
	}}
}

// CountedState is what the book tells resellers apart by besides plan and last
// day. The zone is part of it because it decides which day it is.
type CountedState struct {
	Level     Level
	Kind      SubscriptionKind
	Suspended bool
	Zone      string
}

// String is the state as the book has it, such as user/trial//America/Manaus.
func (s CountedState) String() string {
	suspended := ""
	if s.Suspended {
		suspended = "suspended"
	}
	return strings.Join([]string{string(s.Level), string(s.Kind), suspended, s.Zone}, "/")
}

// ParseCountedState reads what String wrote.
func ParseCountedState(stored string) (s CountedState) {
	if parts := strings.SplitN(stored, "/", 4); len(parts) == 4 {
		s = CountedState{Level(parts[0]), SubscriptionKind(parts[1]), parts[2] != "", parts[3]}
	}
	return s
}

// searchText is what a company is found by among those below another.
func searchText(c Company, email string) string {
	return sqldb.Searchable(strings.Join([]string{text.Fold(c.Name), text.Fold(email), c.Whatsapp}, "\n"))
}
