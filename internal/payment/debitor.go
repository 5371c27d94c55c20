package payment

import (
	"context"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

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
	ExpiresAt time.Time // of a request and of a code that nobody answers
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
	AuthorisationRefused AuthorisationState = "refused" // by the payer or their bank, or nobody answered in time
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
	// Due is the day that the debit was announced for. It is what a gateway finds a
	// debit by whose provider keeps no reference of ours (Woovi).
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
