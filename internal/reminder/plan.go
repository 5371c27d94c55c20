package reminder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// ahead is how many days before it is sent a message is planned, so that it
// can be seen in the log.
const ahead = 2

// planBatch bounds one transaction of Plan.
const planBatch = 500

// reasonLate is why a message was not sent that nobody was there to send.
const reasonLate = "too late: its day is over"

// Plan makes the messages of all companies whose day is near. Each rule
// remembers how far it has come through the due dates, so that a run with
// nothing to plan costs one look and any other as much as is due; what was
// missed while no process ran is found by the next run, and any number of
// processes may run it at once. It returns how many it made.
func (s *Service) Plan(ctx context.Context) (int, error) {
	due, err := rulesToPlan(ctx, s.db, s.db.Now())
	if err != nil {
		return 0, err
	}
	total := 0
	var failures []error
	for _, r := range due {
		err := worker.Guard(ctx, func() error {
			n, err := s.planRule(ctx, r)
			total += n
			return err
		})
		if err != nil { // keeps no other rule waiting
			failures = append(failures, fmt.Errorf("plan rule %d of company %d: %w", r.ruleID, r.companyID, err))
		}
	}
	if total > 0 {
		s.wake.Hint()
	}
	return total, errors.Join(failures...)
}

func (s *Service) planRule(ctx context.Context, r ruleRef) (total int, err error) {
	a, err := s.accounts.Program(ctx, r.companyID, "plan messages")
	for more := true; more && err == nil; {
		made := 0
		err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			made, more, err = s.planSome(ctx, tx, a, r.ruleID)
			return err
		})
		total += made
	}
	return total, err
}

// planSome takes a rule further through the due dates. It holds the rule, so
// that a customer whose date changes at the same time either is seen here or
// sees how far the rule has come.
func (s *Service) planSome(ctx context.Context, tx *sqldb.Tx, a account.Actor, ruleID int64) (made int, more bool, err error) {
	r, err := lockRule(ctx, tx, a.Company.ID, ruleID)
	if fault.KindOf(err) == fault.KindNotFound || err == nil && (!r.Active || r.planAt.After(tx.Now())) {
		return 0, false, nil // somebody else was faster
	}
	if err != nil {
		return 0, false, err
	}
	company, err := account.FindCompany(ctx, tx, a.Company.ID) // as it is now that the rule is locked
	if err != nil {
		return 0, false, err
	}
	a = account.System(company, "plan messages")
	q, err := quietOf(ctx, tx, a.Company.ID)
	if err != nil {
		return 0, false, err
	}
	if mutedReason(a.Company, tx.Now()) != "" {
		return 0, false, s.skipAhead(ctx, tx, a, r, q)
	}
	today := a.Today(tx.Now())
	horizon := today.AddDays(ahead - r.OffsetDays)
	for left := planBatch; left > 0 && !r.cursorOn.After(horizon); {
		list, err := dueCustomers(ctx, tx, a.Company.ID, r.cursorOn, r.cursorID, left)
		if err != nil {
			return 0, false, err
		}
		n, err := s.schedule(ctx, tx, a, r, q, list)
		if err != nil {
			return 0, false, err
		}
		made += n
		if len(list) == left {
			r.cursorID = list[len(list)-1].ID
			return made, true, saveCursor(ctx, tx, a.Company.ID, r)
		}
		left -= len(list)
		r.cursorOn, r.cursorID = r.cursorOn.AddDays(1), 0
		left-- // an empty day is work too
	}
	more = !r.cursorOn.After(horizon)
	if !more {
		r.planAt = today.AddDays(1).Start(a.Company.Zone)
	}
	return made, more, saveCursor(ctx, tx, a.Company.ID, r)
}

// schedule makes the messages of a rule for customers who have it coming. One
// that exists already stays, unless it was not sent and its time comes again.
func (s *Service) schedule(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Rule, q Quiet, list []customer.Customer) (int, error) {
	var fresh []Message
	for _, c := range list {
		if !r.meets(c) {
			continue
		}
		at, late := r.moment(c.DueOn, q, a.Company.Zone)
		m := Message{
			Key: "msg_" + id.NewCode(24), RuleID: r.ID, CustomerID: c.ID, DueOn: c.DueOn,
			Status: Scheduled, ChannelID: r.Channels[0], RunAt: at,
		}
		if !tx.Now().Before(late) {
			m.Status, m.Reason = Skipped, reasonLate
		}
		fresh = append(fresh, m)
	}
	n, err := insertMessages(ctx, tx, a.Company.ID, fresh)
	return int(n), err
}

// restart puts a rule's cursor at the first due date whose message still lies
// ahead.
func (s *Service) restart(ctx context.Context, tx *sqldb.Tx, a account.Actor, r *Rule) error {
	q, err := quietOf(ctx, tx, a.Company.ID)
	if err != nil {
		return err
	}
	r.restart(a, q, tx.Now())
	tx.OnCommit(s.wake.Hint)
	return nil
}

func (r *Rule) restart(a account.Actor, q Quiet, now time.Time) {
	// Quiet hours may have moved yesterday's into today.
	r.cursorOn, r.cursorID, r.planAt = a.Today(now).AddDays(-r.OffsetDays-1), 0, now
	for at, _ := r.moment(r.cursorOn, q, a.Company.Zone); !at.After(now); at, _ = r.moment(r.cursorOn, q, a.Company.Zone) {
		r.cursorOn = r.cursorOn.AddDays(1)
	}
}

// unplan takes back what a changed rule has not sent, and starts its planning
// again: messages that are being sent, or whose hour has come, go on by the new
// rule.
func (s *Service) unplan(ctx context.Context, tx *sqldb.Tx, a account.Actor, r *Rule) error {
	clear := unscheduleAhead
	if !r.Active {
		clear = unscheduleRule
	}
	if err := clear(ctx, tx, a.Company.ID, r.ID); err != nil {
		return err
	}
	return s.restart(ctx, tx, a, r)
}

// customersChanged plans for new customers, plans anew for those whose date,
// plan or product changed, and removes the messages of a deleted one.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	a := changed.Actor
	var fresh []customer.Customer
	for _, c := range changed.List {
		var err error
		switch c.Action {
		case customer.ActionCreated, customer.ActionImported:
			fresh = append(fresh, c.After)
		case customer.ActionDeleted:
			err = s.customerDeleting(ctx, tx, a, c.Before)
		default:
			err = s.customerChanged(ctx, tx, a, c.Before, c.After)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, tx, a, fresh)
}

// customersImported plans for customers whose due date lies where their rules
// have passed already; the others are found when the rules get there.
func (s *Service) customersImported(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []customer.Customer) error {
	list = slices.DeleteFunc(slices.Clone(list), func(c customer.Customer) bool { return c.DueOn.IsZero() || c.IsCancelled() })
	if len(list) == 0 || mutedReason(a.Company, tx.Now()) != "" {
		return nil
	}
	active, err := activeRules(ctx, tx, a.Company.ID)
	if err != nil || len(active) == 0 {
		return err
	}
	q, err := quietOf(ctx, tx, a.Company.ID)
	if err != nil {
		return err
	}
	for _, r := range active {
		var passed []customer.Customer
		for _, c := range list {
			if at, _ := r.moment(c.DueOn, q, a.Company.Zone); r.hasPassed(c) && at.After(tx.Now()) {
				passed = append(passed, c)
			}
		}
		if _, err := s.schedule(ctx, tx, a, r, q, passed); err != nil {
			return err
		}
	}
	return nil
}

// hasPassed tells whether the rule will not come by a customer's due date any
// more.
func (r Rule) hasPassed(c customer.Customer) bool {
	return c.DueOn.Before(r.cursorOn) || c.DueOn == r.cursorOn && c.ID <= r.cursorID
}

// customerChanged takes back what was scheduled for a due date that is none any
// more, and plans for the new one.
func (s *Service) customerChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, before, after customer.Customer) error {
	turned := before.IsCancelled() != after.IsCancelled()
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID && before.Product.ID == after.Product.ID && !turned {
		return nil
	}
	if before.DueOn != after.DueOn || turned {
		// Rules that are being planned see either the old date or the new one.
		if _, err := activeRules(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		if err := unscheduleOthers(ctx, tx, a.Company.ID, after.ID, remindedOf(after)); err != nil {
			return err
		}
	}
	return s.customersImported(ctx, tx, a, []customer.Customer{after})
}

// remindedOf is the due date that a customer gets messages about; a cancelled
// one gets none.
func remindedOf(c customer.Customer) civil.Date {
	if c.IsCancelled() {
		return civil.Date{}
	}
	return c.DueOn
}

// customerDeleting removes a customer's messages, those that were sent too.
func (s *Service) customerDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, c customer.Customer) error {
	if _, err := activeRules(ctx, tx, a.Company.ID); err != nil {
		return err
	}
	return removeOfCustomer(ctx, tx, a.Company.ID, c.ID)
}

// Prune removes messages that were finished long ago, a few at a time.
func (s *Service) Prune(ctx context.Context) error {
	const step = 500
	before := s.db.Now().Add(-s.options.Keep)
	for n := int64(step); n == step; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			n, err = pruneMessages(ctx, tx, before, step)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
