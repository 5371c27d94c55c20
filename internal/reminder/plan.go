package reminder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
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

// reasonLate is why a message was not sent if no process ran on its day.
const reasonLate = "too late: its day is over"

// Plan makes the messages of all companies that are due soon. Each rule
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
	for _, ref := range due {
		err := worker.Guard(ctx, func() error {
			n, err := s.planRule(ctx, ref)
			total += n
			return err
		})
		if err != nil { // keeps no other rule waiting
			failures = append(failures, fmt.Errorf("plan rule %d of company %d: %w", ref.ruleID, ref.companyID, err))
		}
	}
	if total > 0 {
		s.wake.Hint()
	}
	return total, errors.Join(failures...)
}

// PlanLook finds whether there is a rule to plan.
func (s *Service) PlanLook() sqldb.Statement {
	return sqldb.DueLook(s.db, ruleTimes)
}

func (s *Service) planRule(ctx context.Context, ref ruleRef) (total int, err error) {
	actor, err := s.accounts.Program(ctx, ref.companyID, "plan messages")
	for more := true; more && err == nil; {
		made := 0
		err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			made, more, err = s.planSome(ctx, actor.In(tx), ref.ruleID)
			return err
		})
		total += made
	}
	return total, err
}

// planSome takes a rule further through the due dates. It holds the rule, so
// that a concurrent change of a customer's date either is seen here or sees
// how far the rule has come.
func (s *Service) planSome(ctx context.Context, tx account.Tx, ruleID int64) (made int, more bool, err error) {
	rule, err := lockRule(ctx, tx, ruleID)
	if fault.KindOf(err) == fault.KindNotFound || err == nil && (!rule.Active || rule.planAt.After(tx.Now())) {
		return 0, false, nil // another process was faster
	}
	if err != nil {
		return 0, false, err
	}
	company, err := account.FindCompany(ctx, tx, tx.Company.ID) // as it is now that the rule is locked
	if err != nil {
		return 0, false, err
	}
	tx.Actor = account.System(company, "plan messages")
	quiet, err := quietOf(ctx, tx, tx.Company.ID)
	if err != nil {
		return 0, false, err
	}
	if mutedReason(tx.Company, tx.Now()) != "" {
		return 0, false, s.skipAhead(ctx, tx, rule, quiet)
	}
	today := tx.Today(tx.Now())
	horizon := today.AddDays(ahead - rule.OffsetDays)
	for left := planBatch; left > 0 && !rule.cursorOn.After(horizon); {
		list, err := dueCustomers(ctx, tx, tx.Company.ID, rule, left)
		if err != nil {
			return 0, false, err
		}
		n, err := s.schedule(ctx, tx, rule, quiet, list)
		if err != nil {
			return 0, false, err
		}
		made += n
		if len(list) == left {
			rule.cursorID = list[len(list)-1].ID
			return made, true, saveCursor(ctx, tx, rule)
		}
		left -= len(list)
		rule.cursorOn, rule.cursorID = rule.cursorOn.AddDays(1), 0
		left-- // an empty day is work too
	}
	more = !rule.cursorOn.After(horizon)
	if !more {
		rule.planAt = today.AddDays(1).Start(tx.Company.Zone)
	}
	return made, more, saveCursor(ctx, tx, rule)
}

// schedule makes the messages of a rule for customers who have it coming. One
// that exists already stays, unless it was not sent and its time comes again.
func (s *Service) schedule(
	ctx context.Context, tx account.Tx, rule Rule, quiet Quiet, list []customer.Customer,
) (int, error) {
	var fresh []Message
	for _, record := range list {
		if !rule.meets(record) {
			continue
		}
		at, late := rule.moment(record.DueOn, quiet, tx.Company.Zone)
		message := Message{
			Key:        "msg_" + id.NewCode(24),
			RuleID:     rule.ID,
			CustomerID: record.ID,
			DueOn:      record.DueOn,
			Status:     Scheduled,
			ChannelID:  rule.Channels[0],
			RunAt:      at,
		}
		if !tx.Now().Before(late) {
			message.Status, message.Reason = Skipped, reasonLate
		}
		fresh = append(fresh, message)
	}
	n, err := insertMessages(ctx, tx, onceADate, fresh)
	return int(n), err
}

// restart puts a rule's cursor at the first due date with a message that
// still lies ahead.
func (s *Service) restart(ctx context.Context, tx account.Tx, rule *Rule) error {
	quiet, err := quietOf(ctx, tx, tx.Company.ID)
	if err != nil {
		return err
	}
	rule.restart(tx.Actor, quiet, tx.Now())
	tx.OnCommit(s.wake.Hint)
	return nil
}

func (r *Rule) restart(actor account.Actor, quiet Quiet, now time.Time) {
	if r.On == OnPaid {
		r.cursorOn, r.cursorID, r.planAt = actor.Today(now), 0, never
		return
	}
	// Quiet hours may have moved yesterday's into today.
	r.cursorOn, r.cursorID, r.planAt = actor.Today(now).AddDays(-r.OffsetDays-1), 0, now
	for at, _ := r.moment(r.cursorOn, quiet, actor.Company.Zone); !at.After(now); at, _ = r.moment(r.cursorOn, quiet, actor.Company.Zone) {
		r.cursorOn = r.cursorOn.AddDays(1)
	}
}

// replan takes back what a changed rule has not sent, and starts its planning
// again: messages that are due or being sent go on by the new rule. So do all
// receipts, which nothing would plan again.
func (s *Service) replan(ctx context.Context, tx account.Tx, change change[Rule]) error {
	rule := change.after
	clear := unscheduleAhead
	switch {
	case !rule.Active:
		clear = unscheduleRule
	case rule.On == OnPaid && change.before.Active:
		return nil
	}
	if err := clear(ctx, tx.Tx, tx.Company.ID, rule.ID); err != nil {
		return err
	}
	return s.restart(ctx, tx, rule)
}

// customersChanged plans for new customers, plans again after a change of
// date, plan or product, and removes the messages of a deleted one.
func (s *Service) customersChanged(ctx context.Context, tx *sqldb.Tx, changed customer.Changes) error {
	actor := changed.Actor
	var fresh []customer.Customer
	for _, change := range changed.List {
		var err error
		switch change.Action {
		case customer.ActionCreated, customer.ActionImported:
			fresh = append(fresh, change.After)
		case customer.ActionDeleted:
			err = s.customerDeleting(ctx, actor.In(tx), change.Before)
		default:
			err = s.customerChanged(ctx, actor.In(tx), change.Before, change.After)
		}
		if err != nil {
			return err
		}
	}
	return s.customersImported(ctx, actor.In(tx), fresh)
}

// customersImported plans for customers with due dates that their rules have
// passed already; the others are found when the rules get there.
func (s *Service) customersImported(ctx context.Context, tx account.Tx, list []customer.Customer) error {
	return s.planPassed(ctx, tx, slices.DeleteFunc(slices.Clone(list), func(record customer.Customer) bool {
		return record.DueOn.IsZero() || record.IsCancelled()
	}), nil)
}

// planPassed plans for customers and for debts what rules have passed already and
// still lies ahead. A debt is a customer at the due date of an open invoice, and
// only rules after the due date go by it.
func (s *Service) planPassed(ctx context.Context, tx account.Tx, list, debts []customer.Customer) error {
	if len(list)+len(debts) == 0 || mutedReason(tx.Company, tx.Now()) != "" {
		return nil
	}
	active, err := activeRules(ctx, tx)
	if err != nil || len(active) == 0 {
		return err
	}
	quiet, err := quietOf(ctx, tx, tx.Company.ID)
	if err != nil {
		return err
	}
	for _, rule := range active {
		wanted := list
		if rule.OffsetDays > 0 {
			wanted = slices.Concat(list, debts)
		}
		var passed []customer.Customer
		for _, record := range wanted {
			at, _ := rule.moment(record.DueOn, quiet, tx.Company.Zone)
			if rule.hasPassed(record) && at.After(tx.Now()) {
				passed = append(passed, record)
			}
		}
		if _, err := s.schedule(ctx, tx, rule, quiet, passed); err != nil {
			return err
		}
	}
	return nil
}

// debtsOpened plans for invoices that were opened, or moved to another day. One
// that a due date brings is planned for with that.
func (s *Service) debtsOpened(ctx context.Context, tx *sqldb.Tx, changed billing.Changes) error {
	var ids []int64
	for _, change := range changed.List {
		opened := change.After.Status == billing.Open &&
			(change.Before.Status != billing.Open || change.Before.DueOn != change.After.DueOn)
		if opened && (change.Action != billing.ActionCreated || !change.After.Generated) {
			ids = append(ids, change.After.Customer.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	debts, err := debtsOf(ctx, changed.Actor.In(tx), ids)
	if err != nil {
		return err
	}
	return s.planPassed(ctx, changed.Actor.In(tx), nil, debts)
}

// hasPassed reports whether the rule is already past a customer's due date.
func (r Rule) hasPassed(record customer.Customer) bool {
	return record.DueOn.Before(r.cursorOn) || record.DueOn == r.cursorOn && record.ID <= r.cursorID
}

// customerChanged takes back what was scheduled for a due date that is none any
// more, and plans for the new one.
func (s *Service) customerChanged(ctx context.Context, tx account.Tx, before, after customer.Customer) error {
	turned := before.IsCancelled() != after.IsCancelled()
	if before.DueOn == after.DueOn && before.Plan.ID == after.Plan.ID && before.Product.ID == after.Product.ID && !turned {
		return nil
	}
	if before.DueOn != after.DueOn || turned {
		// Rules that are being planned see either the old date or the new one.
		if _, err := activeRules(ctx, tx); err != nil {
			return err
		}
		if err := unscheduleOthers(ctx, tx, after); err != nil {
			return err
		}
	}
	if after.IsCancelled() {
		return nil
	}
	debts, err := debtsOf(ctx, tx, []int64{after.ID})
	if err != nil {
		return err
	}
	if after.DueOn.IsZero() {
		return s.planPassed(ctx, tx, nil, debts)
	}
	debts = slices.DeleteFunc(debts, func(debt customer.Customer) bool { return debt.DueOn == after.DueOn })
	return s.planPassed(ctx, tx, []customer.Customer{after}, debts)
}

// customerDeleting removes a customer's messages, those that were sent too.
func (s *Service) customerDeleting(ctx context.Context, tx account.Tx, record customer.Customer) error {
	if _, err := activeRules(ctx, tx); err != nil {
		return err
	}
	return removeOfCustomer(ctx, tx, record.ID)
}

// Prune removes messages that were finished long ago, a few at a time.
func (s *Service) Prune(ctx context.Context) error {
	const step = 500
	before := s.db.Now().Add(-s.options.Keep)
	for removed := step; removed == step; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			gone, err := sqldb.All(ctx, tx, account.ScanPruned, `
				DELETE FROM reminder_messages WHERE (company_id, id) IN (
					SELECT company_id, id FROM reminder_messages WHERE status IN ('sent', 'failed', 'skipped', 'dismissed')
					AND updated_at < ? ORDER BY updated_at LIMIT ?
				) RETURNING company_id, id /* every company_id */`, before.UnixMicro(), step)
			if err != nil {
				return err
			}
			removed = len(gone)
			return account.TellPruned(ctx, tx, s.options.Pruned, account.PrunedRows{Kind: "message.pruned", Rows: gone})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
