package customer

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/tally"
)

// Action is what happened to a customer, as the audit log names it.
type Action string

// The actions. An imported customer is a created one without the consequences
// of a creation: nothing is billed at once, and the audit log has one line for
// the whole file.
const (
	ActionCreated  Action = "customer.created"
	ActionImported Action = "customer.imported"
	ActionUpdated  Action = "customer.updated"
	ActionRenewed  Action = "customer.renewed"
	ActionExpired  Action = "customer.expired"
	ActionDeleted  Action = "customer.deleted"
)

// Change is one change of a customer's record. Before is zero for a customer
// who is made, After for one who is deleted.
type Change struct {
	Action        Action
	Before, After Customer
	KeepInvoices  bool // a cancellation leaves open invoices open
	Reversed      bool // the due date goes back because a renewal is taken back

	on       civil.Date // the day on which a renewal counts
	recorded bool       // customer.expired was recorded for this due date before
}

// customer is the record that the change is about.
func (c Change) customer() Customer {
	if c.Action == ActionDeleted {
		return c.Before
	}
	return c.After
}

// Changes are changes of customers.
type Changes = account.ChangesOf[Change]

// Watch adds a room above this one that acts when customers change. It is told
// after the row is written, or before it is deleted.
func (s *Service) Watch(w watch.Watcher[Changes]) { s.watchers.Watch(w) }

// apply writes a change and draws its consequences: row, counts, audit line,
// event, watchers. It is the only place that writes a customer's row, but for
// an import, which does the same for many at once. A deleted customer is told
// to watchers before the row goes, since their rows refer to it.
func (s *Service) apply(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	if c.Action == ActionDeleted {
		if err := s.tellWatchers(ctx, tx, a, c); err != nil {
			return err
		}
	}
	if err := s.writeRow(ctx, tx, a, c); err != nil {
		return err
	}
	if err := s.countChange(ctx, tx, a, c); err != nil {
		return err
	}
	if err := s.auditChange(ctx, tx, a, c); err != nil {
		return err
	}
	if err := s.recordEvent(ctx, tx, a, c); err != nil || c.Action == ActionDeleted {
		return err
	}
	return s.tellWatchers(ctx, tx, a, c)
}

// errTaken says that another customer has the login or the key.
var errTaken = fault.Conflict("another change was made at the same moment; try again")

func (s *Service) writeRow(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	today := a.Today(tx.Now())
	switch c.Action {
	case ActionCreated:
		c.settleWorth(today)
		if err := s.settleExpiry(ctx, tx, a, c); err != nil {
			return err
		}
		id, err := insert(ctx, tx, a.Company.ID, c.After)
		if err == nil && id == 0 {
			return errTaken
		}
		c.After.ID = id
		return err
	case ActionDeleted:
		return remove(ctx, tx, a.Company.ID, c.Before.ID)
	case ActionExpired:
		c.settleWorth(today)
		first, err := markExpired(ctx, tx, a.Company.ID, c.After)
		c.After.expiry, c.recorded = expiry{expired: true}, !first
		return err
	default:
		if err := s.settleExpiry(ctx, tx, a, c); err != nil {
			return err
		}
		c.settleWorth(today) // after the expiry, which may have changed what it was worth
		c.After.UpdatedAt = tx.Now()
		return update(ctx, tx, a.Company.ID, c.After)
	}
}

func (s *Service) countChange(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	if c.Action == ActionRenewed {
		if err := countRenewal(ctx, tx, a, c); err != nil {
			return err
		}
	}
	return tally.AddAll(ctx, tx, a.Company.ID, append(c.counts(), c.countedWorth(a.Today(tx.Now()))...))
}

func (s *Service) auditChange(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	if c.Action == ActionExpired {
		return nil // the calendar did it
	}
	subject := c.customer()
	entry := account.AuditEntry{
		Action: string(c.Action), Record: "customer", ID: subject.ID, Name: subject.Name,
		Before: auditFields(c.Before), After: auditFields(c.After),
	}
	if c.Action == ActionDeleted {
		entry.After = nil
	}
	return account.WriteAudit(ctx, tx, a, entry)
}

func (s *Service) recordEvent(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	if c.recorded {
		return nil
	}
	name, data := c.event(a, tx.Now())
	return s.events.Record(ctx, tx, a.Source(), name, data)
}

func (s *Service) tellWatchers(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	if c.Action == ActionExpired {
		return nil // the record is as it was
	}
	return s.watchers.Tell(ctx, tx, Changes{Actor: a, List: []Change{*c}})
}

// countRenewal counts a customer once per month, however often it is renewed.
func countRenewal(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *Change) error {
	month := monthOf(c.on)
	first, err := addRenewal(ctx, tx, a.Company.ID, c.After.ID, month)
	if err != nil || !first {
		return err
	}
	return renewals.Add(ctx, tx, a.Company.ID, tally.Change{N: 1, Key: tally.Key{Day: month}})
}

// event is what integrators are told of the change.
func (c Change) event(a account.Actor, now time.Time) (event.Name, any) {
	switch c.Action {
	case ActionCreated, ActionImported:
		return event.CustomerCreated, createdData{describe(c.After, a, now)}
	case ActionRenewed:
		return event.CustomerRenewed, renewedData{describe(c.After, a, now), c.Before.DueOn, c.After.DueOn}
	case ActionExpired:
		return event.CustomerExpired, expiredData{describe(c.After, a, now), c.After.DueOn}
	case ActionDeleted:
		return event.CustomerDeleted, deletedData{contactOf(c.Before)}
	default:
		return event.CustomerUpdated, updatedData{briefOf(c.After), changedFields(c.Before, c.After)}
	}
}
