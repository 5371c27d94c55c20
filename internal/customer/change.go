package customer

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
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
	ActionAutopay  Action = "customer.autopay"
	ActionHeld     Action = "customer.held" // a debit is arranged for a day after the due date, or no longer
	ActionCredit   Action = "customer.credit"
)

// byCalendar reports whether the calendar did it: no person, and nothing that the
// record shows.
func (a Action) byCalendar() bool { return a == ActionExpired || a == ActionHeld }

// Change is one change of a customer's record. Before is zero for a customer
// who is made, After for one who is deleted.
type Change struct {
	Action        Action
	Before, After Customer
	KeepInvoices  bool // a cancellation leaves open invoices open
	LeaveOverdue  bool // a new due date leaves an overdue invoice where it is
	Reversed      bool // the due date goes back because a renewal is taken back

	on       civil.Date // the day on which a renewal counts
	autopay  AutopayStep
	recorded bool // customer.expired was recorded for this due date before
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

// Watch registers a callback that runs in the transaction of every change:
// after the row is written, or before it is deleted.
func (s *Service) Watch(watcher watch.Watcher[Changes]) {
	s.watchers.Watch(watcher)
}

// apply writes a change and draws its consequences: row, counts, audit line,
// event, watchers. It is the only place that writes a customer's row, but for
// an import, which does the same for many at once. Watchers of a deletion run
// before the row goes, because their rows refer to it.
func (s *Service) apply(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Before.listed {
		return fmt.Errorf("customer %d was read for a list, not for a change", change.Before.ID)
	}
	if change.Action == ActionDeleted {
		if err := s.tellWatchers(ctx, tx, change); err != nil {
			return err
		}
	}
	if err := s.writeRow(ctx, tx, change); err != nil {
		return err
	}
	if err := askToExpire(ctx, tx, change.After); err != nil {
		return err
	}
	if err := s.countChange(ctx, tx, change); err != nil {
		return err
	}
	if err := s.auditChange(ctx, tx, change); err != nil {
		return err
	}
	if err := s.recordEvent(ctx, tx, change); err != nil || change.Action == ActionDeleted {
		return err
	}
	return s.tellWatchers(ctx, tx, change)
}

// errTaken says that another customer has the login or the key.
var errTaken = fault.Conflict("another change was made at the same moment; try again")

func (s *Service) writeRow(ctx context.Context, tx account.Tx, change *Change) error {
	today := tx.Today(tx.Now())
	switch change.Action {
	case ActionCreated:
		change.settleWorth(today)
		if err := s.settleExpiry(ctx, tx, change); err != nil {
			return err
		}
		id, err := insert(ctx, tx, change.After)
		if err == nil && id == 0 {
			return errTaken
		}
		change.After.ID = id
		return err
	case ActionDeleted:
		return remove(ctx, tx, change.Before.ID)
	case ActionExpired:
		change.settleWorth(today)
		first, err := markExpired(ctx, tx, change.After)
		change.After.expiry, change.recorded = expiry{expired: true}, !first
		return err
	default:
		if err := s.settleExpiry(ctx, tx, change); err != nil {
			return err
		}
		change.settleWorth(today) // after the expiry, which may have changed what it was worth
		change.After.UpdatedAt = tx.Now()
		return update(ctx, tx, change.After)
	}
}

func (s *Service) countChange(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Action == ActionRenewed {
		if err := countRenewal(ctx, tx, change); err != nil {
			return err
		}
	}
	return tally.AddAll(ctx, tx.Tx, tx.Company.ID, append(change.counts(), change.countedWorth(tx.Today(tx.Now()))...))
}

func (s *Service) auditChange(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Action.byCalendar() {
		return nil
	}
	subject := change.customer()
	entry := account.AuditEntry{Action: string(change.Action), Record: "customer", ID: subject.ID, Name: subject.Name}
	switch change.Action {
	case ActionCreated:
		entry.Before, entry.After = noAuditFields, auditFields(change.After)
	case ActionDeleted:
		entry.Before = auditFields(change.Before)
	case ActionAutopay:
		entry.Before = account.AuditFields{"autopay": string(change.Before.Autopay)}
		entry.After = account.AuditFields{"autopay": string(change.After.Autopay)}
	case ActionCredit:
		entry.Before = account.AuditFields{"credit": change.Before.Credit.String()}
		entry.After = account.AuditFields{"credit": change.After.Credit.String()}
	default:
		entry.Before, entry.After = auditFields(change.Before), auditFields(change.After)
	}
	return account.WriteAudit(ctx, tx, entry)
}

func (s *Service) recordEvent(ctx context.Context, tx account.Tx, change *Change) error {
	if change.recorded || change.Action == ActionHeld {
		return nil
	}
	name, data := change.event(tx.Actor, tx.Now())
	return s.events.Record(ctx, tx.Tx, tx.Actor.Source(), name, data)
}

func (s *Service) tellWatchers(ctx context.Context, tx account.Tx, change *Change) error {
	if change.Action.byCalendar() {
		return nil // the record is as it was
	}
	return s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: []Change{*change}})
}

// countRenewal counts a customer once per month, however often it is renewed.
func countRenewal(ctx context.Context, tx account.Tx, change *Change) error {
	month := monthOf(change.on)
	first, err := addRenewal(ctx, tx, change.After.ID, month)
	if err != nil || !first {
		return err
	}
	return renewals.Add(ctx, tx.Tx, tx.Company.ID, tally.Change{N: 1, Key: tally.Key{Day: month}})
}

// event is the change as webhooks and the feed carry it.
func (c Change) event(actor account.Actor, now time.Time) (event.Name, any) {
	switch c.Action {
	case ActionCreated, ActionImported:
		return event.CustomerCreated, createdData{describe(c.After, actor, now)}
	case ActionRenewed:
		return event.CustomerRenewed, renewedData{describe(c.After, actor, now), c.Before.DueOn, c.After.DueOn}
	case ActionExpired:
		return event.CustomerExpired, expiredData{describe(c.After, actor, now), c.After.DueOn}
	case ActionDeleted:
		return event.CustomerDeleted, deletedData{contactOf(c.Before)}
	case ActionAutopay:
		return event.AutopayChanged, c.autopayData()
	case ActionCredit:
		return event.CustomerUpdated, updatedData{briefOf(c.After), []string{"credit"}}
	default:
		return event.CustomerUpdated, updatedData{briefOf(c.After), changedFields(c.Before, c.After)}
	}
}
