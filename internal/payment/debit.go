package payment

import (
	"cmp"
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
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

// Debitor is a gateway that can debit an account by PIX Automático: the payer
// authorises once, and each invoice is announced to their bank and debited on its
// due date. Like Create, every call that makes something is stored under our
// reference before it is sent, and makes nothing twice.
type Debitor interface {
	Gateway
	// Authorise asks the payer for an authorisation, or returns the one that was
	// asked for before under the same reference.
	Authorise(ctx context.Context, mandate Mandate) (Authorisation, error)
	// FetchAuthorisation reads it back, by its id or else by our reference.
	// ErrNoCharge: the gateway does not know it.
	FetchAuthorisation(ctx context.Context, ref Ref) (Authorisation, error)
	// EndAuthorisation makes sure that nothing more is debited by it. One that is
	// ended, refused or unknown already is no error.
	EndAuthorisation(ctx context.Context, ref Ref) error
	// Announce announces the debit of one invoice, or returns the one that was
	// announced before under the same reference.
	Announce(ctx context.Context, debit Debit) (DebitReport, error)
	// FetchDebit reads a debit back.
	FetchDebit(ctx context.Context, ref DebitRef) (DebitReport, error)
	// CancelDebit makes sure that the debit does not happen. ErrPaid: it did, or it
	// can no longer be stopped. One that is cancelled, failed or unknown already is
	// no error.
	CancelDebit(ctx context.Context, ref DebitRef) error
	// RetryDebit asks for one more attempt on a day, where the mandate's policy allows
	// it. Asking again for the same day asks for nothing more.
	RetryDebit(ctx context.Context, ref DebitRef, on civil.Date) error
}

// Journey is how a payer is asked for an authorisation.
type Journey string

// The journeys.
const (
	JourneyRequest Journey = "request"  // the payer's bank asks them in its app
	JourneyCode    Journey = "code"     // a code that authorises, and pays nothing
	JourneyPayCode Journey = "pay_code" // a code that pays this invoice and authorises the next ones
)

// JourneysOf are the journeys that a gateway has: all of them, unless it says
// otherwise. It refuses a mandate with another one.
func JourneysOf(debitor Debitor) []Journey {
	if limited, ok := debitor.(interface{ Journeys() []Journey }); ok {
		return limited.Journeys()
	}
	return []Journey{JourneyRequest, JourneyCode, JourneyPayCode}
}

// Every is how often a mandate debits.
type Every string

// The periods that PIX Automático has.
const (
	EveryWeek     Every = "week"
	EveryMonth    Every = "month"
	EveryQuarter  Every = "quarter"
	EveryHalfYear Every = "half_year"
	EveryYear     Every = "year"
)

// Mandate is an authorisation to be asked for.
type Mandate struct {
	Reference   string // ours: 32 letters and digits, unique for ever
	Journey     Journey
	Description string // what the payer reads: the plan
	Payer       Payer
	Account     *PayerAccount // where a request goes to; only JourneyRequest has one
	// Charge is what a JourneyPayCode pays now: an order as for Create, which is made
	// with it. Its Reference is the charge's own.
	Charge *Order
	Every  Every
	From   civil.Date // the first due date that may be debited
	// Amount is what each debit is of; zero: it varies, and Minimum is the least that
	// the payer's limit must allow.
	Amount    money.Cents
	Minimum   money.Cents
	Retries   bool      // three more attempts within seven days of the due date are allowed
	ExpiresAt time.Time // of a request and of a code without an answer
}

// PayerAccount is the account that a request for an authorisation goes to.
type PayerAccount struct {
	ISPB    string // of the bank, eight digits
	Branch  string
	Account string
}

// AuthorisationState is the state of an authorisation at the gateway.
type AuthorisationState string

// The states.
const (
	AuthorisationAsked   AuthorisationState = "asked"
	AuthorisationActive  AuthorisationState = "active"
	AuthorisationRefused AuthorisationState = "refused" // by the payer or their bank, or by the end of its time
	AuthorisationEnded   AuthorisationState = "ended"
)

// EndedBy is who ended or refused an authorisation.
type EndedBy string

// Those who can.
const (
	ByPayer   EndedBy = "payer"
	ByCompany EndedBy = "company"
	ByBank    EndedBy = "bank"
	ByExpiry  EndedBy = "expiry"
)

// Authorisation is what the gateway says of an authorisation.
type Authorisation struct {
	Ref
	State    AuthorisationState
	PixCode  string // for the payer, of journeys by code while it is asked for
	Charge   *Charge
	EndedBy  EndedBy
	Reason   string // the gateway's, for people; never believed
	ActiveAt time.Time
	EndedAt  time.Time
}

// Debit is a debit to be announced.
type Debit struct {
	Reference     string // ours
	Authorisation Ref
	Amount        money.Cents
	On            civil.Date // a working day; the adjustment to one was made already
	Description   string
	Payer         Payer
}

// DebitRef names a debit at the gateway. ID is empty while its making is unknown.
type DebitRef struct {
	Ref
	Authorisation Ref
	// Due is the day that the debit was announced for. A gateway finds the debit by
	// it if its provider keeps no reference of ours (Woovi).
	Due civil.Date
}

// DebitState is the state of a debit at the gateway.
type DebitState string

// The states.
const (
	DebitAnnounced DebitState = "announced" // it will be attempted on its day
	DebitRetrying  DebitState = "retrying"  // an attempt failed, another one is scheduled
	DebitPaid      DebitState = "paid"
	DebitFailed    DebitState = "failed" // the last attempt so far failed
	DebitCancelled DebitState = "cancelled"
)

// DebitReport is what the gateway says of a debit.
type DebitReport struct {
	DebitRef
	State    DebitState
	On       civil.Date // of the newest attempt
	Attempts int        // that were made, with the one that is scheduled
	Reason   string     // why the newest attempt failed; the gateway's words, or a code
	Payments []Received // a debit that was given back has them too
}
