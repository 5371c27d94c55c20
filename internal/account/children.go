package account

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
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
func (s *Service) AddChildTx(ctx context.Context, tx Tx, child NewChild) (Company, error) {
	if err := refuseTaken(ctx, tx.Tx, 0, child.Email); err != nil {
		return Company{}, err
	}
	made := Change{Action: ResellerCreated, owner: newOwner(child.Email, child.PasswordHash)}
	made.After = Profile{OwnerEmail: child.Email, PlanName: child.PlanName, Company: Company{
		ParentID:     tx.Company.ID,
		Name:         child.Name,
		Whatsapp:     child.Whatsapp,
		Level:        LevelUser,
		Zone:         tx.Company.Zone,
		Settings:     DefaultSettings,
		Subscription: child.Subscription,
	}}
	parent, err := lockCompany(ctx, tx.Tx, tx.Company.ID) // it may be stopped at this moment
	if err != nil {
		return Company{}, err
	}
	made.After.Subscription.Above = parent.Subscription.passedDown()
	err = s.applyCompany(ctx, tx, &made)
	return made.After.Company, err
}

// newOwner is the first owner of a company, named by the address until there is
// a better name.
func newOwner(email, passwordHash string) *storedUser {
	name, _, _ := strings.Cut(email, "@")
	return &storedUser{User: User{Name: name, Email: email, Role: RoleOwner}, passwordHash: passwordHash}
}

func errEmailTaken() error { return fault.Field("email", takenReason) }

// refuseTaken refuses an address with which another user than this one signs in.
func refuseTaken(ctx context.Context, tx *sqldb.Tx, userID int64, email string) error {
	taken, err := emailTaken(ctx, tx, userID, text.Lower(email))
	if err == nil && taken {
		err = errEmailTaken()
	}
	return err
}

// EmailTaken reports whether a user of any company signs in with an address.
func EmailTaken(ctx context.Context, querier sqldb.Querier, email string) (bool, error) {
	return emailTaken(ctx, querier, 0, text.Lower(email))
}

// CountTrials counts the children of the actor's company with a running trial.
func CountTrials(ctx context.Context, querier sqldb.Querier, actor Actor, today civil.Date) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM companies WHERE parent_id = ? AND subscription = 'trial' AND expires_on >= ?`, actor.Company.ID, today)
}

// ChildOf reports whether a child of the actor's company has an owner with the
// mailbox of an address, however that is spelled.
func ChildOf(ctx context.Context, querier sqldb.Querier, actor Actor, email string) (bool, error) {
	owners, err := sqldb.Values[string](ctx, querier, `
		SELECT u.email_key FROM companies c JOIN users u ON u.company_id = c.id AND u.role = 'owner' WHERE c.parent_id = ?`,
		actor.Company.ID)
	wanted := mailboxOf(email)
	return slices.ContainsFunc(owners, func(address string) bool { return mailboxOf(address) == wanted }), err
}

// mailboxOf is an address without what its server ignores: case, what follows a plus,
// and the dots of the largest one.
func mailboxOf(email string) string {
	name, server, _ := strings.Cut(text.Lower(email), "@")
	name, _, _ = strings.Cut(name, "+")
	if server == "googlemail.com" {
		server = "gmail.com"
	}
	if server == "gmail.com" {
		name = strings.ReplaceAll(name, ".", "")
	}
	return name + "@" + server
}

// FindChild finds a child of the actor's company.
func FindChild(ctx context.Context, querier sqldb.Querier, actor Actor, id int64) (Company, error) {
	return sqldb.Find(ctx, querier, "reseller", scanCompany,
		`SELECT `+CompanyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ?`, actor.Company.ID, id)
}

// LockChildTx is FindChild for a change: until the commit no other transaction
// changes the child.
func LockChildTx(ctx context.Context, tx Tx, id int64) (Company, error) {
	return sqldb.Find(ctx, tx.Tx, "reseller", scanCompany, `
		SELECT `+CompanyColumns+` FROM companies c WHERE c.parent_id = ? AND c.id = ? {for update}`,
		tx.Company.ID, id)
}

// Contact is what a company shows of itself to its children.
type Contact struct {
	Name     string
	Whatsapp string // digits with country code; "": none
}

// Parent is the company to ask about the subscription of the actor's company. A
// company at the top of the tree has no parent.
func (s *Service) Parent(ctx context.Context, actor Actor) (Contact, error) {
	if actor.Company.ParentID == 0 {
		return Contact{}, nil
	}
	company, err := FindCompany(ctx, s.db, actor.Company.ParentID)
	return Contact{company.Name, company.Whatsapp}, err
}

// InUse reports whether a user of a company has ever had a password.
func InUse(ctx context.Context, querier sqldb.Querier, companyID int64) (bool, error) {
	return rows.Some(ctx, querier, `SELECT count(*) FROM users WHERE company_id = ? AND password_hash <> ''`, companyID)
}

// lockOwner locks the owner of a company, who may be setting a password at this moment, and
// reports whether the company is in use.
func lockOwner(ctx context.Context, tx *sqldb.Tx, companyID int64) (owner storedUser, used bool, err error) {
	found, err := ownerOf(ctx, tx, companyID)
	if err != nil {
		return owner, false, err
	}
	if owner, err = lockUser(ctx, tx, companyID, found.ID); err != nil {
		return owner, false, err
	}
	used, err = InUse(ctx, tx, companyID)
	return owner, used, err
}

// SetOwnerEmailTx gives the owner of a company another address, which no other
// user may have. The audit line is that of the change of the company. The
// address of a company that is in use is its own: who could replace it could
// lock the owner out, or in the place of the owner ask for a new password.
func (s *Service) SetOwnerEmailTx(ctx context.Context, tx *sqldb.Tx, company Company, email string) error {
	owner, used, err := lockOwner(ctx, tx, company.ID)
	switch {
	case err != nil || owner.User.Email == email:
		return err
	case used:
		return fault.Field("email", "cannot be changed from here: the owner signs in with it, and alone can change it")
	}
	if err := deletePasswordLinks(ctx, tx, owner.User); err != nil { // they were sent to the address before
		return err
	}
	if err := refuseTaken(ctx, tx, owner.User.ID, email); err != nil {
		return err
	}
	change := userChange{unseen, owner, owner}
	change.after.Email = email
	return s.applyUser(ctx, System(company, "owner's address").In(tx), &change)
}

// SetFunctionsTx gives functions to all children that are on a plan of the
// actor's company.
func (s *Service) SetFunctionsTx(ctx context.Context, tx Tx, change FunctionsChange) error {
	return s.applyFunctions(ctx, tx, change)
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
func (s *Service) applyFunctions(ctx context.Context, tx Tx, change FunctionsChange) error {
	err := tx.Do(ctx, `
		UPDATE companies SET functions = ?, updated_at = ? WHERE parent_id = ? AND subscription_plan_id = ?`,
		change.After, tx.Now().UnixMicro(), tx.Company.ID, change.PlanID)
	if err != nil {
		return err
	}
	return auditFunctions(ctx, tx, change)
}

// searchText is what a company is found by among the children of its parent.
func searchText(company Company, email string) string {
	return text.Searchable(strings.Join([]string{text.Fold(company.Name), text.Fold(email), company.Whatsapp}, "\n"))
}

// counter counts the children of a company by last day, plan, level, kind and
// time zone, which are what lists of resellers are filtered by.
const counter = tally.Resellers

// counted is a company as the counter of its parent sees it.
func counted(company Company, n int64) tally.Change {
	return tally.Change{N: n, Key: tally.Key{
		Day:    company.Subscription.ExpiresOn.String(),
		PlanID: company.Subscription.PlanID,
		State: CountedState{
			company.Level, company.Subscription.Kind, !company.Subscription.SuspendedAt.IsZero(),
			company.Zone.String(),
		}.String(),
	}}
}

// CountedState is by what the counter distinguishes resellers besides plan and
// last day. The zone is part of it because it decides which day it is.
type CountedState struct {
	Level     Level
	Kind      SubscriptionKind
	Suspended bool
	Zone      string
}

// The words of CountedState.Suspended.
const (
	countedSuspended = "suspended"
	countedRunning   = ""
)

// String is the state as the counter has it, such as user/trial//America/Manaus.
// The zone comes last, since its name has slashes too.
func (s CountedState) String() string {
	suspended := countedRunning
	if s.Suspended {
		suspended = countedSuspended
	}
	return strings.Join([]string{string(s.Level), string(s.Kind), suspended, s.Zone}, "/")
}

// ParseCountedState reads what String wrote, and nothing else.
func ParseCountedState(stored string) (CountedState, error) {
	parts := strings.SplitN(stored, "/", 4)
	if len(parts) != 4 {
		return CountedState{}, fmt.Errorf("counted state %q has no four parts", stored)
	}
	state := CountedState{Level(parts[0]), SubscriptionKind(parts[1]), parts[2] == countedSuspended, parts[3]}
	if state.String() != stored {
		return CountedState{}, fmt.Errorf("counted state %q is neither suspended nor running", stored)
	}
	return state, nil
}

// Recounts count the companies below a company again, as counted does.
func Recounts() []tally.Recount {
	return []tally.Recount{{Counter: counter, Records: func(scope tally.Scope) tally.Records {
		return tally.Records{SQL: childRecords, Args: []any{scope.CompanyID}}
	}}}
}

const childRecords = `SELECT COALESCE(expires_on, '') AS day, COALESCE(subscription_plan_id, 0) AS plan_id,
	0 AS product_id,
	level || '/' || subscription || '/' || CASE WHEN suspended_at IS NULL THEN '' ELSE 'suspended' END || '/' || timezone AS state,
	1 AS n, 0 AS cents
	FROM companies WHERE parent_id = ?`
