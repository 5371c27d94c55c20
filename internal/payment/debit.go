package payment

import (
	"cmp"
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// debit is what a charge has besides when the payer's bank pays it by itself. All
// else is as for a charge that a payer pays: it is reserved before the gateway is
// called, an invoice has one at a time, it is cancelled when the invoice needs it
// no more, and its money is settled once.
type debit struct {
	authorisationID int64      // also of a charge that authorises when it is paid
	on              civil.Date // of the newest attempt that was asked for; zero: it is no debit
	retries         int
	failure         string // why the newest attempt failed, or who cancelled it; empty: neither happened
}

// isDebit reports whether the payer's bank pays the charge by itself.
func (c charge) isDebit() bool {
	return c.debit.authorisationID != 0 && !c.debit.on.IsZero()
}

const (
	// maxRetries and retryDays are what the policy of PIX Automático allows after
	// the attempt on the due date.
	maxRetries = 3
	retryDays  = 7
	// debitDays is how long after its day a debit is waited for: the retries, and
	// what banks take to report.
	debitDays = retryDays + 3
	// debitsBegin is when banks have debited the first accounts of a day.
	debitsBegin = 6 * time.Hour
)

// bankZone is the zone of the days of PIX, wherever in Brazil a company is.
var bankZone = time.FixedZone("BRT", -3*60*60)

// holds is the day until which a debit keeps its invoice and its customer on time:
// the working day after a due date on which banks rest, as long as the first attempt
// is still to come. It is zero for any other charge.
func (c charge) holds() civil.Date {
	arranged := c.isDebit() && (c.state == pending || c.state == cancelling)
	if !arranged || c.debit.retries > 0 || c.debit.failure != "" || !c.debit.on.After(c.payableOn) {
		return civil.Date{}
	}
	return c.debit.on
}

// holdOnTime keeps invoice and customer on time while a debit is arranged for the
// working day after the due date. After a failed debit the due date counts again;
// a successful one has paid.
func (s *Service) holdOnTime(ctx context.Context, tx *sqldb.Tx, change *chargeChange) error {
	from, to := change.after.payableOn, change.after.holds()
	if was := change.before.holds(); !was.IsZero() && to.IsZero() {
		from, to = was, change.after.payableOn
	}
	if to.IsZero() || to == change.before.holds() || change.after.state == paid {
		return nil
	}
	company, err := account.FindCompany(ctx, tx, change.after.companyID)
	if err != nil {
		return err
	}
	err = s.billing.HoldTx(ctx, account.System(company, "autopay").In(tx), change.after.invoiceID, from, to)
	if fault.KindOf(err) == fault.KindNotFound {
		return nil // deleted
	}
	return err
}

// debitCheckAt is when a debit that is announced must be checked: on its day
// often, before that once a day, since the payer may have ended it.
func (c charge) debitCheckAt(provider Provider, now time.Time) time.Time {
	begins := c.debit.on.At(debitsBegin, bankZone)
	switch {
	case c.debit.failure != "", !begins.After(now):
		return now.Add(worker.Jitter(checkDelays[min(c.checks, len(checkDelays)-1)]))
	case provider.Local, begins.Before(now.Add(day)):
		return begins
	}
	return now.Add(worker.Jitter(day))
}

// followDebit has a debit follow what the gateway says of its attempts. The retry
// that it decides on is stored before the gateway hears of it.
func (c *charge) followDebit(report DebitReport, today civil.Date, now time.Time) {
	switch {
	case report.State == DebitCancelled && c.state == cancelled && c.debit.failure == "":
		c.debit.failure = cmp.Or(report.Reason, "cancelled by the payer or the bank")
	case report.State == DebitFailed && c.state == pending:
		c.failDebit(report, today, now)
	case report.On.After(c.debit.on):
		c.debit.on = report.On
	}
}

// failDebit decides what follows a failed attempt: another one, or the end.
func (c *charge) failDebit(report DebitReport, today civil.Date, now time.Time) {
	c.debit.failure = cmp.Or(report.Reason, "the bank did not say why")
	failedOn := report.On
	unheard := c.debit.on.After(failedOn)
	if failedOn.IsZero() { // only a retry can be of a day to come
		failedOn, unheard = c.debit.on, c.debit.retries > 0
	}
	if unheard && c.debit.on.After(today) {
		return // the gateway has yet to hear of this retry
	}
	if today.After(failedOn) {
		failedOn = today
	}
	next := failedOn.AddWorkingDays(1)
	if c.debit.retries >= maxRetries || next.After(c.payableOn.NextWorkingDay().AddDays(retryDays)) {
		c.enter(cancelling, now)
		return
	}
	c.debit.on = next
	c.debit.retries++
}

// retryDebit has the gateway attempt a debit again on the day that settlement
// decided on. A gateway that fails is asked again at the next check.
func (s *Service) retryDebit(ctx context.Context, work check, report Report) error {
	if report.debit == nil || report.debit.State != DebitFailed {
		return nil
	}
	current, err := chargeByReference(ctx, s.db, work.charge.companyID, work.charge.order.Reference)
	if err != nil || current.state != pending {
		return err
	}
	work.charge = current
	gateway, err := s.openDebits(ctx, work)
	if err == nil {
		about := callAbout{work.setup, "retry", current.order.Reference}
		err = s.call(ctx, about, func(ctx context.Context) error {
			return gateway.RetryDebit(ctx, gateway.ref(current.ref()), current.debit.on)
		})
	}
	crashpoint.Here("debit-retried")
	if err == nil {
		return nil
	}
	return s.finish(ctx, work, err, func(charge *charge, now time.Time) {
		if errors.Is(err, ErrRefused) && charge.state == pending {
			charge.enter(cancelling, now)
		}
	})
}

// openFor makes the gateway that a charge is dealt with at: of a debit, one that
// announces.
func (s *Service) openFor(ctx context.Context, work check) (Gateway, error) {
	switch {
	case work.charge.isDebit():
		return s.openDebits(ctx, work)
	case work.charge.authorises() && work.charge.state == reserved:
		return s.openAuthorising(ctx, work)
	}
	return s.open(work.setup)
}

var errNoDebits = errors.New("the gateway has no PIX Automático")

func (s *Service) openDebits(ctx context.Context, work check) (*debiting, error) {
	gateway, err := s.open(work.setup)
	if err != nil {
		return nil, err
	}
	debitor, can := gateway.(Debitor)
	if !can {
		return nil, errNoDebits
	}
	by, err := authorisationByID(ctx, s.db, work.charge.companyID, work.charge.debit.authorisationID)
	return &debiting{debitor, by.Ref, work.charge.debit.on, work.charge.payableOn.NextWorkingDay()}, err
}

// debiting shows a Debitor as the Gateway of an authorisation's debits, so that
// they take the way of every charge.
type debiting struct {
	Debitor
	authorisation Ref
	on            civil.Date // of the newest attempt
	due           civil.Date // that it was announced for
}

func (d *debiting) ref(ref Ref) DebitRef { return DebitRef{ref, d.authorisation, d.due} }

// Create announces the debit.
func (d *debiting) Create(ctx context.Context, order Order) (Charge, error) {
	report, err := d.Announce(ctx, Debit{
		Reference:     order.Reference,
		Authorisation: d.authorisation,
		Amount:        order.Amount,
		On:            d.on,
		Description:   order.Description,
		Payer:         order.Payer,
	})
	return Charge{ID: report.ID}, err
}

// Fetch reads the debit back. One that has failed is pending: what follows is
// decided here.
func (d *debiting) Fetch(ctx context.Context, ref Ref) (Report, error) {
	debit, err := d.FetchDebit(ctx, d.ref(ref))
	report := Report{
		Charge:    Charge{ID: debit.ID},
		Reference: debit.Reference,
		State:     StatePending,
		Payments:  debit.Payments,
		debit:     &debit,
	}
	switch debit.State {
	case DebitPaid:
		report.State = StatePaid
	case DebitCancelled:
		report.State = StateCancelled
	case DebitAnnounced, DebitRetrying, DebitFailed:
	}
	return report, err
}

// Cancel makes sure that the debit does not happen.
func (d *debiting) Cancel(ctx context.Context, ref Ref) error {
	return d.CancelDebit(ctx, d.ref(ref))
}

// A debit is announced in the working days from announceFrom to announceTo ahead
// of it. An invoice that is later is charged as usual.
const (
	announceFrom = 10
	announceTo   = 2
)

var (
	// errNotDebited says that an invoice is not debited by an authorisation: it is
	// outside of the window, the authorisation has ended, or a debit has failed.
	errNotDebited = errors.New("the invoice is not debited")
	// errCodeIsOut says that a payer has a code for the invoice. It is announced
	// when the code has ended, if it is not too late then.
	errCodeIsOut = errors.New("a payer has a code for the invoice")
	// errBeingDebited says that a debit can no longer be stopped.
	errBeingDebited = fault.Conflict(
		"the invoice is being debited from the customer's account and that can no longer be stopped; " +
			"a code is given out when the debit has failed",
	)
)

// announces reports whether a debit on a day can be announced today.
func announces(on, today civil.Date) bool {
	return !today.Before(on.AddWorkingDays(-announceFrom)) && !today.After(on.AddWorkingDays(-announceTo))
}

// announceDebits announces the invoices of a customer that are due soon. What
// fails is tried again at the next check of the authorisation.
func (s *Service) announceDebits(ctx context.Context, work authorisationCheck) error {
	actor := account.System(work.company, "autopay")
	if !actor.May(account.FunctionPayments) {
		return nil
	}
	today := actor.Today(s.db.Now())
	invoices, _, err := s.billing.List(ctx, actor, billing.Filter{
		CustomerID: work.known.customerID,
		Status:     billing.Open,
		DueFrom:    today,
	}, input.Page{Number: 1, Size: 100})
	if err != nil {
		return err
	}
	var failed []error
	for _, invoice := range invoices {
		if !invoice.Generated || !announces(invoice.DueOn.NextWorkingDay(), today) {
			continue
		}
		err := s.announce(ctx, actor, invoice.ID, work.known.id)
		if !notAnnounced(err) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// notAnnounced reports whether an invoice need not be announced again, or was.
func notAnnounced(err error) bool {
	return err == nil || errors.Is(err, errNotDebited) || errors.Is(err, errCodeIsOut) || errors.Is(err, errBeingDebited) ||
		fault.KindOf(err) == fault.KindInvalid || fault.KindOf(err) == fault.KindNotFound
}

// announce has the debit of an invoice announced. It goes the way of Charge.
func (s *Service) announce(ctx context.Context, actor account.Actor, invoiceID, authorisationID int64) error {
	job := s.newCharging(actor, invoiceID)
	job.debits = authorisationID
	return job.runAlone(ctx)
}

// mayDebit refuses to announce what is not to be debited; of a charge that a
// payer pays it refuses nothing.
func (j *charging) mayDebit(ctx context.Context, tx *sqldb.Tx) error {
	if j.debits == 0 {
		return nil
	}
	by, err := lockAuthorisation(ctx, tx, j.actor.Company.ID, j.debits)
	if err != nil {
		return err
	}
	// A debit that the payer or the bank made fail is not announced again.
	givenUp, err := rows.Some(ctx, tx, `SELECT COUNT(*) FROM charges WHERE company_id = ? AND invoice_id = ?
		AND authorisation_id > 0 AND debit_on <> '' AND (state = 'refused' OR debit_failure <> '')`,
		j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return err
	}
	open := announces(j.debitOn(), j.actor.Today(tx.Now()))
	if givenUp || !open || by.state != authActive || by.gatewayID != j.setup.ID || j.debitAmount() == 0 {
		return errNotDebited
	}
	return nil
}

// debitOn is the day on which the invoice is debited.
func (j *charging) debitOn() civil.Date { return j.invoice.DueOn.NextWorkingDay() }

// debitAmount is what is debited: what pays the invoice on its due date, also
// when banks rest on it.
func (j *charging) debitAmount() money.Cents {
	return j.invoice.PayableOn(j.actor.Company, j.invoice.DueOn).Rest
}

// asDebit makes a charge that is reserved a debit.
func (j *charging) asDebit(charge *charge) {
	charge.debit = debit{authorisationID: j.debits, on: j.debitOn()}
	charge.order.Amount, charge.payableOn = j.debitAmount(), j.invoice.DueOn
	charge.ExpiresAt = j.debitOn().AddDays(debitDays + 1).Start(j.actor.Company.Zone)
}

// fits reports whether a charge that the invoice has is what is wanted.
func (j *charging) fits(known charge, now time.Time) bool {
	switch {
	case j.code == authorisingCode && (known.debit.authorisationID != j.newest.id || !j.newest.state.live()),
		j.code == plainCode && known.authorises():
		return false
	case j.debits == 0:
		return j.owed(now).fits(known)
	}
	return known.debit.authorisationID == j.debits && known.order.Amount == j.debitAmount() &&
		known.payableOn.NextWorkingDay() == j.debitOn()
}

// DebitDays says on which days invoices will be debited, by their ids. Those for
// which no debit is announced are left out.
func (s *Service) DebitDays(ctx context.Context, actor account.Actor, invoiceIDs []int64) (map[int64]civil.Date, error) {
	if len(invoiceIDs) == 0 {
		return map[int64]civil.Date{}, nil
	}
	return announcedOn(ctx, s.db, actor.Company.ID, invoiceIDs...)
}
