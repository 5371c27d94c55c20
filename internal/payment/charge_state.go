package payment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// chargeState is the state of a charge in our records.
type chargeState string

// The states. A charge can be paid while it is pending; while it is reserved or
// cancelling only the gateway knows. The others are closed, which does not keep
// money from arriving: a closed charge is checked for a month more.
//
//	reserved ──► pending ──► paid
//	    │           ├──────► expired
//	    │           └──► cancelling ──► cancelled
//	    └─► refused         (reserved too, where it is no longer wanted)
const (
	reserved   chargeState = "reserved"
	pending    chargeState = "pending"
	cancelling chargeState = "cancelling"
	paid       chargeState = "paid"
	cancelled  chargeState = "cancelled"
	expired    chargeState = "expired"
	refused    chargeState = "refused"
)

// transitions is the state machine of a charge: applyCharge refuses any other
// step. Every state leads to paid, since money may arrive at any time. A closed
// charge that turns out to exist at the gateway is cancelled once more.
var transitions = map[chargeState][]chargeState{
	"":         {reserved},
	reserved:   {pending, cancelling, paid, cancelled, expired, refused},
	pending:    {cancelling, paid, cancelled, expired},
	cancelling: {paid, cancelled, expired, refused},
	cancelled:  {cancelling, paid},
	expired:    {cancelling, paid},
	refused:    {cancelling, paid},
	paid:       {},
}

func (s chargeState) leadsTo(next chargeState) bool {
	return s == next || slices.Contains(transitions[s], next)
}

func (s chargeState) closed() bool {
	return s == paid || s == cancelled || s == expired || s == refused
}

// wanted reports whether the charge was not given up here: what ends it now is
// the doing of the payer, the bank or the gateway.
func (s chargeState) wanted() bool { return s == reserved || s == pending }

// charge is a Charge as we keep it.
type charge struct {
	Charge // as the gateway made it; ID is empty while that is unknown

	id           int64
	companyID    int64
	gatewayID    int64
	provider     string
	invoiceID    int64
	customerID   int64
	customerName string
	order        Order      // reference and amount are all that is stored of it
	payableOn    civil.Date // the day of the payable amount that it asks for; zero: a charge from before there were terms
	debit        debit      // of a charge that the payer's bank pays by itself; zero: the payer does
	dueTerms     string     // what the bank computes the amount by; empty: it asks for the order's
	state        chargeState
	problem      string
	closedAt     time.Time
	nextCheck    time.Time // zero: nothing is left to do
	checks       int       // since the charge entered its state
	hintedAt     time.Time
	claim        string
	createdAt    time.Time
}

func (c charge) ref() Ref { return Ref{Reference: c.order.Reference, ID: c.ID} }

// busy reports whether another worker has claimed the charge.
func (c charge) busy(now time.Time) bool {
	return c.claim != "" && c.nextCheck.After(now)
}

// flow is how a charge is paid. Some gateways do both.
func (c charge) flow() Flow {
	if c.PixCode == "" {
		return FlowRedirect
	}
	return FlowPix
}

// enter moves a charge to a state and counts its checks from zero.
func (c *charge) enter(state chargeState, now time.Time) {
	if c.state == state {
		return
	}
	c.state, c.checks = state, 0
	c.closedAt = time.Time{}
	if state.closed() {
		c.closedAt = now
	}
}

// end closes a charge that can be paid no more: it expired, or it was cancelled
// before its time.
func (c *charge) end(now time.Time) {
	if c.ExpiresAt.After(now) {
		c.enter(cancelled, now)
	} else {
		c.enter(expired, now)
	}
}

// merge fills in what the gateway says of its charge.
func (c *charge) merge(made Charge) {
	if c.ID == "" { // a gateway may name a charge by what paid it, too
		c.ID = made.ID
	}
	if made.PixCode != "" {
		c.PixCode = made.PixCode
	}
	if made.CheckoutURL != "" {
		c.CheckoutURL = made.CheckoutURL
	}
	at := made.ExpiresAt.Truncate(time.Microsecond)
	if !at.IsZero() && (at.Before(c.ExpiresAt) || !c.endsEarly()) {
		c.ExpiresAt = at
	}
}

// endsEarly reports whether a charge ends before its usual time, since its amount
// is right for a day only. Gateways that cannot make so short a charge say a later
// end; the charge is then cancelled at its own.
func (c charge) endsEarly() bool {
	return c.ExpiresAt.Before(c.createdAt.Add(lifetime))
}

// checkDelays are the waits between checks of a charge that can be paid; the
// last one repeats until the charge expires.
var checkDelays = []time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour,
}

// lateChecks are the checks of a charge after it was closed: money may be late,
// and its callback may be lost.
var lateChecks = []time.Duration{10 * time.Minute, time.Hour, day, 3 * day, 7 * day, 14 * day, 30 * day}

const day = 24 * time.Hour

// release ends the claim of a charge and schedules its next check.
func (c *charge) release(provider Provider, now time.Time) {
	c.claim, c.nextCheck = "", c.checkAt(provider, now)
}

// unanswered is what is left of a hint after a look because of answered: nothing, unless it came meanwhile.
func unanswered(hint, answered time.Time) time.Time {
	if hint.Equal(answered) {
		return time.Time{}
	}
	return hint
}

// checkAt is when a charge must be checked again; zero: never.
func (c charge) checkAt(provider Provider, now time.Time) time.Time {
	switch {
	case !c.hintedAt.IsZero():
		return now
	case c.isDebit() && c.state == pending:
		return c.debitCheckAt(provider, now)
	case provider.unasked(c, now):
		return c.ExpiresAt
	case provider.tellsAll() && c.state.closed(), c.state == refused:
		return time.Time{}
	case c.state == cancelling && c.checks == 0:
		return now
	case c.state.closed():
		if c.checks >= len(lateChecks) {
			return time.Time{}
		}
		return c.closedAt.Add(lateChecks[c.checks])
	}
	at := now.Add(worker.Jitter(checkDelays[min(c.checks, len(checkDelays)-1)]))
	if c.state == pending && at.After(c.ExpiresAt) && c.ExpiresAt.After(now) {
		return c.ExpiresAt
	}
	return at
}

// tellsAll reports whether nothing is learned by asking about a charge: it is in
// this program, or nowhere.
func (p Provider) tellsAll() bool { return p.Manual || p.Local }

// unasked reports whether a charge that can be paid is left alone until its end.
func (p Provider) unasked(c charge, now time.Time) bool {
	return c.state == pending && (p.Manual || p.Local && c.ExpiresAt.After(now))
}

// chargeChange is one change of a charge. Before is zero for a charge that is
// reserved.
type chargeChange struct{ before, after charge }

// changeOf begins a change of a charge that this transaction has locked.
func changeOf(locked charge) chargeChange {
	return chargeChange{locked, locked}
}

// applyCharge writes a change of a charge and wakes the engine when the charge
// is due at once. It is the only place that writes a charge's state. A charge is
// no audited fact: what people did is in the audit log as the invoice's status
// or as a payment. Four writes of the schedule alone stay outside: claimCharges,
// endLooks and markHinted, which are the engine's leases, and pauseGateway.
func (s *Service) applyCharge(ctx context.Context, tx *sqldb.Tx, change *chargeChange) error {
	if !change.before.state.leadsTo(change.after.state) {
		return fmt.Errorf("charge %s: no step leads from %q to %q", change.after.order.Reference, change.before.state,
			change.after.state)
	}
	if err := change.writeRow(ctx, tx); err != nil {
		return err
	}
	if !change.after.nextCheck.IsZero() && !change.after.nextCheck.After(tx.Now()) {
		tx.OnCommit(s.wake.Hint)
	}
	if err := s.holdOnTime(ctx, tx, change); err != nil {
		return err
	}
	if err := s.pokeAuthorised(ctx, tx, change); err != nil {
		return err
	}
	if s.options.Ended == nil || change.after.state != expired || change.before.state == expired {
		return nil
	}
	return s.options.Ended(ctx, tx, Ended{change.after.companyID, change.after.order.Reference})
}

func (c *chargeChange) writeRow(ctx context.Context, tx *sqldb.Tx) (err error) {
	if c.before.id != 0 {
		return updateCharge(ctx, tx, c.after)
	}
	c.after.id, err = insertCharge(ctx, tx, c.after)
	return err
}

// cancelCharges has the charges of invoices cancelled at the gateway. A charge
// that a worker has claimed at the moment keeps its lease: the worker finds the
// new state when it records its result.
func (s *Service) cancelCharges(ctx context.Context, tx account.Tx, invoiceIDs []int64) error {
	charges, err := lockUnsettled(ctx, tx, invoiceIDs)
	if err != nil {
		return err
	}
	return s.cancelLocked(ctx, tx.Tx, charges)
}

// cancelLocked is cancelCharges for charges that this transaction has locked.
func (s *Service) cancelLocked(ctx context.Context, tx *sqldb.Tx, charges []charge) error {
	for _, locked := range charges {
		if locked.state == cancelling {
			continue
		}
		change := changeOf(locked)
		change.after.enter(cancelling, tx.Now())
		if !locked.busy(tx.Now()) {
			change.after.nextCheck = tx.Now()
		}
		if err := s.applyCharge(ctx, tx, &change); err != nil {
			return err
		}
	}
	return nil
}

// owed is an invoice at an instant, by the terms of its company: what a charge
// made now asks for, and for how long that is right.
type owed struct {
	company account.Company
	invoice billing.Invoice
	now     time.Time
}

func (o owed) today() civil.Date { return civil.Of(o.now.In(o.company.Zone)) }

func (o owed) due() billing.Payable {
	return o.invoice.PayableOn(o.company, o.today())
}

func (o owed) rest() money.Cents { return o.due().Rest }

// changes reports whether another amount is to pay on the day after.
func (o owed) changes() bool {
	return o.invoice.PayableChangesAfter(o.company, o.today())
}

// expiry is when a charge made now ends: after its usual time, or with the
// company's day, when another amount is to pay on the day after.
func (o owed) expiry() time.Time {
	usual := o.now.Add(lifetime)
	if !o.changes() {
		return usual
	}
	if midnight := o.today().AddDays(1).Start(o.company.Zone); midnight.Before(usual) {
		return midnight
	}
	return usual
}

// dueDays is how long after its due date a charge can be paid if the bank
// computes the amount.
const dueDays = 30

// byDue is what a bank computes the invoice's amount by.
func (o owed) byDue() Due {
	return Due{
		On:           o.invoice.DueOn,
		Face:         o.invoice.Amount,
		Discount:     o.invoice.PayableOn(o.company, o.invoice.DueOn).Discount,
		LateFee:      o.company.Settings.LateFeePercent,
		LateInterest: o.company.Settings.LateInterestPercent,
		Days:         dueDays,
	}
}

// computable reports whether a charge made now can be left to the bank: it is of
// use when the amount depends on the day, and banks want a due date to come and
// the whole amount.
func (o owed) computable() bool {
	due := o.byDue()
	varies := due.Discount > 0 || due.LateFee > 0 || due.LateInterest > 0
	return varies && o.invoice.Received == 0 && !due.On.Before(o.today())
}

// fits reports whether a charge asks for what is to pay now, and no longer than
// that is right. The terms may have changed since it was made.
func (o owed) fits(charge charge) bool {
	if charge.isDebit() { // no payer can pay it
		return false
	}
	if charge.dueTerms != "" {
		same := charge.dueTerms == o.byDue().String() && o.invoice.Received == 0
		return same && charge.ExpiresAt.After(o.now)
	}
	outlives := o.changes() && charge.ExpiresAt.After(o.expiry())
	return charge.order.Amount == o.rest() && charge.ExpiresAt.After(o.now) && !outlives
}

// Due is what a bank computes the amount of a charge by.
type Due struct {
	On           civil.Date
	Face         money.Cents
	Discount     money.Cents   // off the face amount until On
	LateFee      money.Percent // once, after On
	LateInterest money.Percent // a month, after On
	Days         int           // after On on which it can be paid
}

// String is different for different ones.
func (d Due) String() string {
	return fmt.Sprintf("%s %s -%s +%s +%s/month %d", d.On, d.Face, d.Discount, d.LateFee, d.LateInterest, d.Days)
}

// Flow is how a payer gets from the invoice to the money.
type Flow string

// The flows.
const (
	FlowPix      Flow = "pix"      // a code to copy or scan
	FlowRedirect Flow = "redirect" // the gateway's own page
)
