// Package reseller owns the tree of companies: who may make, see and change the
// children of a company, the subscription plans that those are on, and the
// credits that pay for it. A reseller's row is a company's, which belongs to
// account; this room decides what is written there. It does not own a
// reseller's customers and sales.
//
// What a company does about its plans and credits begins by locking its
// balance. So its own changes run one after the other, and no two of them can
// wait for each other, however many rows they lock after that.
package reseller

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Reseller is a company as its parent sees it.
type Reseller struct {
	account.Company
	Email     string // the owner's
	Plan      Ref    // ID 0: none
	Credits   int64
	Customers int64
}

// Ref names a record that another one refers to.
type Ref struct {
	ID   int64
	Name string
}

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	accounts  *account.Service
	publicURL string
}

// New makes the service. publicURL is what links begin with.
func New(db *sqldb.DB, accounts *account.Service, publicURL string) *Service {
	return &Service{db: db, accounts: accounts, publicURL: publicURL}
}

// Find returns a reseller of the company: one of its children.
func (s *Service) Find(ctx context.Context, actor account.Actor, id int64) (Reseller, error) {
	return s.find(ctx, s.db, actor, id)
}

func (s *Service) find(ctx context.Context, querier sqldb.Querier, actor account.Actor, id int64) (Reseller, error) {
	reseller, err := byID(ctx, querier, actor.Company.ID, id)
	if err != nil {
		return reseller, err
	}
	list := []Reseller{reseller}
	err = addCustomers(ctx, querier, list)
	return list[0], err
}

// addCustomers sets how many customers each reseller has.
func addCustomers(ctx context.Context, querier sqldb.Querier, list []Reseller) error {
	ids := make([]int64, len(list))
	for i, reseller := range list {
		ids[i] = reseller.ID
	}
	totals, err := tally.Customers.Totals(ctx, querier, ids)
	for i := range list {
		list[i].Customers = totals[list[i].ID]
	}
	return err
}

// Update changes name, email and whatsapp.
func (s *Service) Update(
	ctx context.Context, actor account.Actor, id int64, changes Changes,
) (reseller Reseller, err error) {
	err = s.accounts.LimitProbes(ctx, actor, changes.Email.Value, func() error {
		reseller, err = s.update(ctx, actor, id, changes)
		return err
	})
	return reseller, err
}

func (s *Service) update(ctx context.Context, actor account.Actor, id int64, changes Changes) (Reseller, error) {
	return s.change(ctx, actor, edit{id, account.ResellerUpdated, func(tx *sqldb.Tx, after *account.Profile) error {
		changes.Name.To(&after.Name)
		changes.Whatsapp.To(&after.Whatsapp)
		changes.Email.To(&after.OwnerEmail)
		err := changes.Problems.With(changes.refused()).Err()
		if err != nil || !changes.Email.Given() {
			return err
		}
		return s.accounts.SetOwnerEmailTx(ctx, tx, after.Company, after.OwnerEmail)
	}})
}

// refused are the fields that cannot be empty; those of a form are among its
// problems.
func (c Changes) refused() (refused fault.Fields) {
	for _, field := range []struct {
		name  string
		value input.Opt[string]
	}{{"name", c.Name}, {"email", c.Email}} {
		if field.value.Given() && field.value.Value == "" {
			refused.Add(field.name, "must not be empty")
		}
	}
	return refused
}

// Suspend stops a reseller: it can sign in and read, and nothing else, until it
// is resumed or renewed. Its days go on.
func (s *Service) Suspend(ctx context.Context, actor account.Actor, id int64) (Reseller, error) {
	return s.change(ctx, actor, edit{id, account.ResellerSuspended, func(tx *sqldb.Tx, after *account.Profile) error {
		if after.Subscription.SuspendedAt.IsZero() {
			after.Subscription.SuspendedAt = tx.Now()
		}
		return nil
	}})
}

// Resume ends a suspension.
func (s *Service) Resume(ctx context.Context, actor account.Actor, id int64) (Reseller, error) {
	return s.change(ctx, actor, edit{id, account.ResellerResumed, func(_ *sqldb.Tx, after *account.Profile) error {
		after.Subscription.SuspendedAt = account.Subscription{}.SuspendedAt
		return nil
	}})
}

// Invite makes a new invitation for the owner of a reseller who has no
// password yet, and returns its link. The one before stops working.
func (s *Service) Invite(ctx context.Context, actor account.Actor, id int64) (link string, err error) {
	invitation := account.NewInvitation()
	_, err = s.change(ctx, actor, edit{id, account.ResellerInvited, func(tx *sqldb.Tx, after *account.Profile) error {
		return s.accounts.InviteTx(ctx, tx, after.Company, invitation)
	}})
	return s.invitationLink(invitation), err
}

// invitationLink leads to the panel's page on which a password is set.
func (s *Service) invitationLink(invitation account.Invitation) string {
	return s.publicURL + "/password/" + invitation.Code
}

// edit is a change of one reseller.
type edit struct {
	id     int64
	action account.Action
	do     func(tx *sqldb.Tx, after *account.Profile) error
}

// change runs an edit in a transaction and reads the record that comes of it.
func (s *Service) change(ctx context.Context, actor account.Actor, edit edit) (reseller Reseller, err error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (reseller Reseller, err error) {
		before, err := s.lock(ctx, tx, edit.id)
		if err != nil {
			return reseller, err
		}
		change := account.Change{Action: edit.action, Before: before.profile(), After: before.profile()}
		if err := edit.do(tx.Tx, &change.After); err != nil {
			return reseller, err
		}
		if err := s.accounts.SaveTx(ctx, tx, &change); err != nil {
			return reseller, err
		}
		return s.find(ctx, tx, actor, edit.id)
	})
}

// lock reads a reseller for a change: until the commit no other transaction
// changes it.
func (s *Service) lock(ctx context.Context, tx account.Tx, id int64) (Reseller, error) {
	if _, err := account.LockChildTx(ctx, tx, id); err != nil {
		return Reseller{}, err
	}
	return s.find(ctx, tx, tx.Actor, id)
}

// profile is the reseller as account changes it.
func (r Reseller) profile() account.Profile {
	return account.Profile{Company: r.Company, OwnerEmail: r.Email, PlanName: r.Plan.Name}
}

// promotion is the table of the contract: up to which level a company of each
// level may promote a reseller. A level that is not in it may not.
var promotion = map[account.Level]account.Level{
	account.LevelUltraMaster: account.LevelMaster,
	account.LevelMaster:      account.LevelReseller,
}

// mayChange reports whether a company of level caller may give a reseller of
// level present the level wanted. A level can be taken away only by a company
// that may give it.
func mayChange(caller, present, wanted account.Level) bool {
	highest, any := promotion[caller]
	return any && highest.AtLeast(present) && highest.AtLeast(wanted)
}

// SetLevel changes the level of a reseller.
func (s *Service) SetLevel(ctx context.Context, actor account.Actor, id int64, request LevelRequest) (Reseller, error) {
	return s.change(ctx, actor, edit{id, account.ResellerLevel, func(_ *sqldb.Tx, after *account.Profile) error {
		if err := request.Problems.Err(); err != nil {
			return err
		}
		if !mayChange(actor.Company.Level, after.Level, request.Level) {
			return refuseLevel(actor.Company.Level, after.Level, request.Level)
		}
		after.Level = request.Level
		return nil
	}})
}

func refuseLevel(caller, present, wanted account.Level) error {
	highest, any := promotion[caller]
	if !any {
		return fault.Forbidden(fmt.Sprintf("level: a company of the level %s cannot change levels", caller))
	}
	over := wanted
	if !highest.AtLeast(present) {
		over = present
	}
	return fault.Forbidden(fmt.Sprintf("level: a company of the level %s changes levels up to %s, not %s", caller,
		highest, over))
}

// Below counts the companies below a reseller, at any depth, by standing.
// Their names and data are for the reseller alone.
type Below struct {
	Total, Trial, Active, Expired, Suspended int64
}

// Below counts the companies below a reseller of the actor's company, by the
// day of that company.
func (s *Service) Below(ctx context.Context, actor account.Actor, id int64) (Below, error) {
	if _, err := account.FindChild(ctx, s.db, actor, id); err != nil {
		return Below{}, err
	}
	return countBelow(ctx, s.db, id, actor.Today(s.db.Now()))
}

// CheckCredits compares the balances with the sums of their entries.
func (s *Service) CheckCredits(ctx context.Context) (checkup.Finding, error) {
	wrong, err := sqldb.Values[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT c.id FROM companies c
		LEFT JOIN credit_balances b ON b.company_id = c.id
		LEFT JOIN (SELECT company_id, SUM(amount) AS total FROM credit_entries GROUP BY company_id) AS e ON e.company_id = c.id
		WHERE COALESCE(b.balance, 0) <> COALESCE(e.total, 0) ORDER BY c.id LIMIT 100 /* every company_id */`)
	if err != nil || len(wrong) == 0 {
		return checkup.Good("all balances are the sums of their entries"), err
	}
	return checkup.Bad("restore a backup from before it happened; the entries are the truth",
		"the credits of %d companies are not the sums of their entries, the first are %v",
		len(wrong), wrong[:min(len(wrong), 5)]), nil
}
