package reminder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"carteira/internal/account"
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

// InvoicesChanged watches invoices: it plans for those that are opened, and writes
// the receipts of those that become paid.
func (s *Service) InvoicesChanged(ctx context.Context, tx *sqldb.Tx, changed billing.Changes) error {
	if err := s.debtsOpened(ctx, tx, changed); err != nil {
		return err
	}
	paid := paidBy(changed.List)
	if len(paid) == 0 || mutedReason(changed.Actor.Company, tx.Now()) != "" {
		return nil
	}
	rules, err := receiptRules(ctx, changed.Actor.In(tx))
	if err != nil || len(rules) == 0 {
		return err
	}
	quiet, err := quietOf(ctx, tx, changed.Actor.Company.ID)
	if err != nil {
		return err
	}
	payers, err := catalogsOf(ctx, changed.Actor.In(tx), customersOf(paid))
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
	_, err = insertMessages(ctx, changed.Actor.In(tx), onceAnInvoice, receipts)
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

// unpaid returns why a receipt has nothing to confirm; "" when it has.
func (c candidate) unpaid() string {
	if c.invoice.status != billing.Paid {
		return "not paid any more"
	}
	return ""
}

// Arrival is what a carrier reports of a message after it has taken it.
type Arrival string

// What carriers report. A carrier that reports nothing leaves it empty.
const (
	ArrivalSent      Arrival = "sent" // it has left the carrier
	ArrivalFailed    Arrival = "failed"
	ArrivalDelivered Arrival = "delivered"
	ArrivalRead      Arrival = "read"
)

// Arrivals lists them from the one that says least to the one that says most.
// Reports come twice and in any order; the one that says most counts, so that an
// arrival never goes back. A delivery outweighs a failure: with several devices
// a carrier may report both, and then the customer has the message.
var Arrivals = []Arrival{ArrivalSent, ArrivalFailed, ArrivalDelivered, ArrivalRead}

// outweighs reports whether an arrival says more than another.
func (a Arrival) outweighs(other Arrival) bool {
	return slices.Index(Arrivals, a) > slices.Index(Arrivals, other)
}

// arrived reports whether the customer has the message.
func (a Arrival) arrived() bool { return a == ArrivalDelivered || a == ArrivalRead }

// Call is a request that a carrier made, as it came.
type Call struct {
	Header http.Header
	Body   []byte
}

// Report is what a carrier says of one attempt.
type Report struct {
	Mark    Mark   // what we gave the carrier along with the message; zero: it gave nothing back
	Receipt string // what the carrier calls the message
	Arrival Arrival
	At      time.Time // by the carrier's clock
	Problem error     // of a failure: a Refusal or a Passing
}

// Reporter understands a carrier that reports what became of messages after it
// has taken them.
type Reporter interface {
	// Challenge answers the question by which a carrier makes sure that an address
	// is ours. A question without the token is ErrForged.
	Challenge(token string, query url.Values) (string, error)
	// Reports checks that a call comes from the carrier and reads it. A call that
	// does not prove it is ErrForged, one that cannot be read ErrUnreadable. What
	// a call says of anything but messages of ours is left out.
	Reports(options map[string]string, call Call) ([]Report, error)
}

// debited says that an invoice will be debited by PIX Automático, so that the
// customer is not asked to pay it. A code for it would cancel the debit.
type debited struct{ on civil.Date }

func (d *debited) Error() string { return "the invoice will be debited on " + d.on.BR() }

// refuseDebited returns a *debited for an open invoice with an announced debit.
func (s *Service) refuseDebited(ctx context.Context, actor account.Actor, about about) error {
	if s.options.Links == nil || about.invoice.id == 0 || about.invoice.status != billing.Open {
		return nil
	}
	on, err := s.options.Links.DebitOn(ctx, actor, about.invoice.id)
	if err != nil {
		return fmt.Errorf("debit: %w", err)
	}
	if on.IsZero() {
		return nil
	}
	return &debited{on}
}

// tellDebit has a message that would ask to pay say that the invoice is debited.
func (p *prepared) tellDebit() {
	debited, is := errors.AsType[*debited](p.problem)
	if is {
		p.debitOn, p.problem = debited.on, nil
	}
}

// The text that takes the place of a rule's own, and its subject.
const (
	debitSubject = "Débito em %s"
	debitText    = "Olá, {first_name}! A sua fatura de {value} será debitada da sua conta em %s, pelo PIX Automático. " +
		"Você não precisa fazer nada.\n\n{company}"
)

// debitLetter is what a customer reads of a debit.
func debitLetter(on civil.Date, filling filling) (subject, text string) {
	return fmt.Sprintf(debitSubject, on.BR()), render(fmt.Sprintf(debitText, on.BR()), filling)
}
