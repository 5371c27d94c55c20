package reminder

import (
	"context"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
)

// A receipt is the message of a rule on OnPaid. It is written in the transaction
// in which an invoice becomes paid, once for the rule and the invoice, however
// often the payment is undone and made again. Nothing plans it: whether the
// invoice is still paid is decided when it is sent.

// handDelay is how long a receipt waits where a person reported the money: for as
// long as the panel offers to undo that.
const handDelay = 10 * time.Minute

// never is when a rule is planned that nothing plans.
var never = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)

// InvoicesChanged watches invoices: it writes the receipts of those that become
// paid.
func (s *Service) InvoicesChanged(ctx context.Context, tx *sqldb.Tx, changed billing.Changes) error {
	paid := paidBy(changed.List)
	if len(paid) == 0 || mutedReason(changed.Actor.Company, tx.Now()) != "" {
		return nil
	}
	rules, err := receiptRules(ctx, tx, changed.Actor.Company.ID)
	if err != nil || len(rules) == 0 {
		return err
	}
	quiet, err := quietOf(ctx, tx, changed.Actor.Company.ID)
	if err != nil {
		return err
	}
	payers, err := catalogsOf(ctx, tx, changed.Actor.Company.ID, customersOf(paid))
	if err != nil {
		return err
	}
	times := timetable{quiet, changed.Actor.Company.Zone, tx.Now()}
	var receipts []Message
	for _, change := range paid {
		if payer, found := payers[change.After.Customer.ID]; found {
			receipts = append(receipts, receiptsOf{change, rules, times}.messages(payer)...)
		}
	}
	tx.OnCommit(s.wake.Hint)
	_, err = insertMessages(ctx, tx, changed.Actor.Company.ID, onceAnInvoice, receipts)
	return err
}

func customersOf(changes []billing.Change) []int64 {
	ids := make([]int64, len(changes))
	for n, change := range changes {
		ids[n] = change.After.Customer.ID
	}
	return ids
}

// paidBy are the changes by which money pays an invoice.
func paidBy(changes []billing.Change) (paid []billing.Change) {
	for _, change := range changes {
		became := change.Before.Status != billing.Paid && change.After.Status == billing.Paid
		if became && change.Action == billing.ActionUpdated && change.After.Received > 0 {
			paid = append(paid, change)
		}
	}
	return paid
}

// receiptsOf is an invoice that became paid, and the rules that may send a receipt
// for it.
type receiptsOf struct {
	change billing.Change
	rules  []Rule
	times  timetable
}

// messages are the receipts for a payer. A rule sends none for money that came on
// a day before it was switched on.
func (d receiptsOf) messages(payer customer.Customer) (list []Message) {
	at, late := d.moment()
	for _, rule := range d.rules {
		if !rule.meets(payer) || d.change.After.PaidOn.Before(rule.cursorOn) {
			continue
		}
		list = append(list, Message{
			Key:        "msg_" + id.NewCode(24),
			RuleID:     rule.ID,
			CustomerID: payer.ID,
			DueOn:      d.change.After.DueOn,
			InvoiceID:  d.change.After.ID,
			Status:     Scheduled,
			ChannelID:  rule.Channels[0],
			RunAt:      at,
			lateAt:     late,
		})
	}
	return list
}

// moment is when the receipt goes out, and when it is too late for it.
func (d receiptsOf) moment() (at, late time.Time) {
	at = d.times.now
	if !d.change.ByGateway() {
		at = at.Add(handDelay)
	}
	at = d.times.quiet.after(at, d.times.zone)
	return at, receiptLate(at, d.times.zone)
}

// receiptLate is when it is too late for a receipt that was to go out at an
// instant: when the day after is over.
func receiptLate(at time.Time, zone *time.Location) time.Time {
	return civil.Of(at.In(zone)).AddDays(2).Start(zone)
}

// unpaid tells why a receipt has nothing to confirm; "" when it has.
func (c candidate) unpaid() string {
	if c.invoice.status != billing.Paid {
		return "not paid any more"
	}
	return ""
}
