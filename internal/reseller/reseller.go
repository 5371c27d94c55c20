// Package reseller owns the tree of companies: who may make, see and change
// companies below their own, the subscription plans that those are on, and the
// credits that pay for it. A reseller's row is a company's, which belongs to
// account; this room decides what is written there. It does not own what a
// reseller sells, and to whom.
//
// Whatever a company does about its resellers, plans and credits begins by
// locking its balance. So its own changes stand in line, and no two of them,
// whatever they touch after that, can wait for each other.
package reseller

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Reseller is a company below another, as that one sees it.
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
	counts    tally.Cache
}

// New makes the service. publicURL is what links begin with.
func New(db *sqldb.DB, accounts *account.Service, publicURL string) *Service {
	return &Service{db: db, accounts: accounts, publicURL: publicURL}
}

// Find returns a reseller of the company: one that stands directly below it.
func (s *Service) Find(ctx context.Context, a account.Actor, id int64) (Reseller, error) {
	return s.find(ctx, s.db, a, id)
}

func (s *Service) find(ctx context.Context, q sqldb.Querier, a account.Actor, id int64) (Reseller, error) {
	r, err := byID(ctx, q, a.Company.ID, id)
	if err != nil {
		return r, err
	}
	list := []Reseller{r}
	err = addCustomers(ctx, q, list)
	return list[0], err
}

// addCustomers tells how many customers each reseller has.
func addCustomers(ctx context.Context, q sqldb.Querier, list []Reseller) error {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	totals, err := tally.Customers.Totals(ctx, q, ids)
	for i := range list {
		list[i].Customers = totals[list[i].ID]
	}
	return err
}

// readOnly are the fields of a record that a form may carry and that change
// nothing, so that what was read can be sent back.
var readOnly = []string{
	"id", "level", "status", "credits", "plan", "expires_at", "customers_count", "created_at", "invitation_link", "credits_spent", "credits_balance",
}

const maxName = 255

// Update changes name, email and whatsapp; what is not given stays.
func (s *Service) Update(ctx context.Context, a account.Actor, id int64, in *input.Form) (r Reseller, err error) {
	in.MustNotClear("name")
	in.MustNotClear("email")
	in.Ignore(readOnly...)
	name, hasName := in.Line("name", maxName).Get()
	email, hasEmail := in.Email("email").Get()
	whatsapp, hasWhatsapp := in.Phone("whatsapp").Get()
	if in.Sent("plan_id") {
		in.Refuse("plan_id", "cannot be changed here; another plan is chosen when the subscription is renewed")
	}
	err = s.change(ctx, a, id, "reseller.updated", func(tx *sqldb.Tx, c *account.Company) error {
		if err := in.Err(); err != nil {
			return err
		}
		set(&c.Name, name, hasName)
		set(&c.Whatsapp, whatsapp, hasWhatsapp)
		if !hasEmail {
			return nil
		}
		return s.accounts.SetOwnerEmailTx(ctx, tx, *c, email)
	}, &r)
	return r, err
}

// Suspend stops a reseller: it can sign in and read, and nothing else, until it
// is resumed or renewed. Its days go on.
func (s *Service) Suspend(ctx context.Context, a account.Actor, id int64) (r Reseller, err error) {
	err = s.change(ctx, a, id, "reseller.suspended", func(tx *sqldb.Tx, c *account.Company) error {
		if c.Subscription.SuspendedAt.IsZero() {
			c.Subscription.SuspendedAt = tx.Now()
		}
		return nil
	}, &r)
	return r, err
}

// Resume takes a suspension back.
func (s *Service) Resume(ctx context.Context, a account.Actor, id int64) (r Reseller, err error) {
	err = s.change(ctx, a, id, "reseller.resumed", func(_ *sqldb.Tx, c *account.Company) error {
		c.Subscription.SuspendedAt = account.Subscription{}.SuspendedAt
		return nil
	}, &r)
	return r, err
}

// Invite makes a new invitation for the owner of a reseller who has no
// password yet, and returns its link. The one before stops working.
func (s *Service) Invite(ctx context.Context, a account.Actor, id int64) (link string, err error) {
	invitation := account.NewInvitation()
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c, err := account.LockBelowTx(ctx, tx, a, id)
		if err != nil {
			return err
		}
		if err := s.accounts.InviteTx(ctx, tx, c, invitation); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{Action: "reseller.invited", Record: "reseller", ID: id, Name: c.Name})
	})
	return s.invitationLink(invitation), err
}

// invitationLink leads to the panel's page on which a password is set.
func (s *Service) invitationLink(i account.Invitation) string {
	return s.publicURL + "/password/" + i.Code
}

// change runs a change of one reseller in a transaction, writes down that it was
// done, and reads the record that comes of it.
func (s *Service) change(ctx context.Context, a account.Actor, id int64, action string, do func(*sqldb.Tx, *account.Company) error, r *Reseller) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		locked, err := account.LockBelowTx(ctx, tx, a, id)
		if err != nil {
			return err
		}
		before, err := s.find(ctx, tx, a, id)
		if err != nil {
			return err
		}
		after := locked
		if err := do(tx, &after); err != nil {
			return err
		}
		if err := s.accounts.SaveTx(ctx, tx, locked, after); err != nil {
			return err
		}
		if *r, err = s.find(ctx, tx, a, id); err != nil {
			return err
		}
		return note(ctx, tx, a, action, before.fields(), *r)
	})
}

// note writes into the audit log what was done to a reseller. before is nil for
// one that is new.
func note(ctx context.Context, tx *sqldb.Tx, a account.Actor, action string, before account.AuditFields, r Reseller) error {
	return account.WriteAudit(ctx, tx, a, account.AuditEntry{
		Action: action, Record: "reseller", ID: r.ID, Name: r.Name, Before: before, After: r.fields(),
	})
}

func (r Reseller) fields() account.AuditFields {
	return account.AuditFields{
		"name": r.Name, "email": r.Email, "whatsapp": r.Whatsapp, "level": r.Level, "plan": r.Plan.Name,
		"expires_at": r.Subscription.ExpiresOn, "suspended": !r.Subscription.SuspendedAt.IsZero(),
	}
}

func set[T any](field *T, value T, given bool) {
	if given {
		*field = value
	}
}

// refuseMissing turns a plan that is not there into a refusal of the field
// that named it.
func refuseMissing(err error, in *input.Form) error {
	if fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	in.Refuse("plan_id", "does not exist")
	return nil
}
