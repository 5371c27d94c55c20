package account

import (
	"context"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// NewChild is a company that is to be made as the child of another, and its
// owner.
type NewChild struct {
	Name         string
	Email        string // the owner's
	Whatsapp     string
	PasswordHash string // "": the owner cannot sign in until one is set
	Subscription Subscription
	PlanName     string // of the subscription's plan
}

// AddChildTx makes a child of the actor's company, with its calendar, inside
// another use case's transaction.
func (s *Service) AddChildTx(ctx context.Context, tx *sqldb.Tx, a Actor, n NewChild) (Company, error) {
	taken, err := EmailTaken(ctx, tx, n.Email)
	if err != nil {
		return Company{}, err
	}
	if taken {
		return Company{}, errEmailTaken()
	}
	made := Change{Action: ResellerCreated, owner: newOwner(n.Email, n.PasswordHash)}
	made.After = Profile{OwnerEmail: n.Email, PlanName: n.PlanName, Company: Company{
		ParentID: a.Company.ID, Name: n.Name, Whatsapp: n.Whatsapp, Level: LevelUser, Zone: a.Company.Zone,
		Settings: DefaultSettings, Subscription: n.Subscription,
	}}
	parent, err := lockCompany(ctx, tx, a.Company.ID) // it may be stopped at this moment
	if err != nil {
		return Company{}, err
	}
	made.After.Subscription.Above = parent.Subscription.passedDown()
	err = s.applyCompany(ctx, tx, a, &made)
	return made.After.Company, err
}

// newOwner is the first owner of a company, named by the address until there is
// a better name.
func newOwner(email, passwordHash string) *storedUser {
	name, _, _ := strings.Cut(email, "@")
	return &storedUser{User: User{Name: name, Email: email, Role: RoleOwner}, passwordHash: passwordHash}
}

func errEmailTaken() error { return fault.Field("email", takenReason) }

// EmailTaken reports whether a user of any company signs in with an address.
func EmailTaken(ctx context.Context, q sqldb.Querier, email string) (bool, error) {
	return emailTaken(ctx, q, 0, text.Lower(email))
}

// FindChild finds a child of the actor's company.
func FindChild(ctx context.Context, q sqldb.Querier, a Actor, id int64) (Company, error) {
	return childByID(ctx, q, a.Company.ID, id)
}

// LockChildTx is FindChild for a change: until the commit no other transaction
// changes the child.
func LockChildTx(ctx context.Context, tx *sqldb.Tx, a Actor, id int64) (Company, error) {
	return lockChild(ctx, tx, a.Company.ID, id)
}

// Contact is what a company shows of itself to its children.
type Contact struct {
	Name     string
	Whatsapp string // digits with country code; "": none
}

// Parent is whom the actor's company talks to about its subscription. A company
// at the top of the tree has no parent.
func (s *Service) Parent(ctx context.Context, a Actor) (Contact, error) {
	if a.Company.ParentID == 0 {
		return Contact{}, nil
	}
	c, err := companyByID(ctx, s.db, a.Company.ParentID)
	return Contact{c.Name, c.Whatsapp}, err
}

// InUse reports whether a user of a company has ever had a password.
func InUse(ctx context.Context, q sqldb.Querier, c Company) (bool, error) { return inUse(ctx, q, c.ID) }

// SetOwnerEmailTx gives the owner of a company another address, which no other
// user may have. The audit line is that of the change of the company. The
// address of a company that is in use is its own: who could replace it could
// lock the owner out, or in the place of the owner ask for a new password.
func (s *Service) SetOwnerEmailTx(ctx context.Context, tx *sqldb.Tx, c Company, email string) error {
	owner, err := ownerOf(ctx, tx, c.ID)
	if err != nil || owner.Email == email {
		return err
	}
	if _, err := lockUser(ctx, tx, c.ID, owner.ID); err != nil { // a password may be set at this moment
		return err
	}
	used, err := inUse(ctx, tx, c.ID)
	if err != nil {
		return err
	}
	if used {
		return fault.Field("email", "cannot be changed from here: the owner signs in with it, and alone can change it")
	}
	if err := deletePasswordLinks(ctx, tx, owner); err != nil { // they were sent to the address before
		return err
	}
	taken, err := emailTaken(ctx, tx, owner.ID, text.Lower(email))
	if err != nil {
		return err
	}
	if taken {
		return errEmailTaken()
	}
	before, err := lockUser(ctx, tx, c.ID, owner.ID)
	if err != nil {
		return err
	}
	change := userChange{unseen, before, before}
	change.after.Email = email
	return s.applyUser(ctx, tx, System(c, "owner's address"), &change)
}

// SetFunctionsTx gives functions to all children that are on a plan of the
// actor's company.
func (s *Service) SetFunctionsTx(ctx context.Context, tx *sqldb.Tx, a Actor, c FunctionsChange) error {
	return s.applyFunctions(ctx, tx, a, c)
}

// FunctionsChange is a change of the functions of all companies on a plan.
type FunctionsChange struct {
	PlanID        int64
	Before, After Functions
}

// applyFunctions is applyCompany for the functions of all children on a plan. It
// is one statement, so that all have them at the same moment, and one more for
// the lines in their audit logs; in that of the actor the line is the plan's.
// Watchers are not called: functions only become more, and what was recorded
// while one was missing can be replayed.
func (s *Service) applyFunctions(ctx context.Context, tx *sqldb.Tx, a Actor, c FunctionsChange) error {
	if err := updateFunctions(ctx, tx, a.Company.ID, c); err != nil {
		return err
	}
	return auditFunctions(ctx, tx, a, c)
}

// searchText is what a company is found by among the children of its parent.
func searchText(c Company, email string) string {
	return sqldb.Searchable(strings.Join([]string{text.Fold(c.Name), text.Fold(email), c.Whatsapp}, "\n"))
}
