package payment

import (
	"context"
	"errors"
	"net/http"
	"time"

	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// What a gateway may answer besides a plain failure. After a failure that is none
// of these the outcome is unknown, and reconciliation finds it out.
var (
	// ErrNoCharge says that the gateway does not know the charge.
	ErrNoCharge = errors.New("the gateway does not know the charge")
	// ErrRefused says that the gateway understood and refused: nothing was made,
	// and the same call would be refused again. Refusal wraps it with a reason.
	ErrRefused = errors.New("refused by the gateway")
	// ErrPaid says that a charge cannot be cancelled because it was paid.
	ErrPaid = errors.New("the charge was paid")
	// ErrForged says that a callback does not prove that the gateway sent it.
	ErrForged = errors.New("the callback does not prove where it comes from")
)

// Refusal is an ErrRefused with a reason that the company may read. It never
// holds a credential.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string {
	return "refused by the gateway: " + r.Reason
}

// Unwrap makes it an ErrRefused.
func (r *Refusal) Unwrap() error { return ErrRefused }

// WebhookTaken is an ErrRefused: what we would be called back by calls another
// system, and is not taken away from that in silence.
type WebhookTaken struct {
	// URL is what is called now, without its parameters, which may be secret.
	URL string
}

func (t *WebhookTaken) Error() string {
	return "the webhook of the PIX key calls another system: " + t.URL
}

// Unwrap makes it an ErrRefused.
func (t *WebhookTaken) Unwrap() error { return ErrRefused }

// Provider is a kind of gateway that a company can choose.
type Provider struct {
	Name    string // as the API says it: mercadopago
	Title   string // as people say it: Mercado Pago
	Flow    Flow
	Manual  bool // a person confirms: the gateway knows of no payment and is never asked
	Local   bool // the gateway is in this program: a charge is checked when it is paid and at its end, and not in between
	Options []Option
	// Pace is the time between two looks at the charges of one company, where the
	// provider's quota wants more than the usual.
	Pace time.Duration
	// Computes reports whether a gateway with these options has the bank compute
	// what a late payment costs; nil: none does.
	Computes func(options map[string]string) bool
	// Open makes the gateway of one company from its options, which are those
	// declared and nothing else. It checks them without calling anybody; what is
	// wrong with one is a fault of that field.
	Open func(options map[string]string, env Env) (Gateway, error)
}

// Option is one setting of a provider.
type Option struct {
	Name     string
	Title    string
	Help     string
	Secret   bool // stored encrypted, never shown again
	Required bool
	Choices  []string // empty: anything
	Lines    bool     // it is a text of several lines
	Files    string   // kinds of files that may hold it, as a page accepts them; empty: none
	// As is how banks show what was entered; nil: as it is.
	As func(value string) string
}

// Env is what the program gives to a gateway.
type Env struct {
	Client      *http.Client // bounded in time, follows no redirect; a gateway with certificates of its own copies its limits
	CallbackURL string       // where the gateway is to call back for this company
	ReturnURL   string       // where a payer is sent back to from a redirect
	Now         func() time.Time
}

// Order is a charge to be made.
type Order struct {
	// Reference is ours: 32 letters and digits, unique for ever. It is stored
	// before the gateway is called and is the key by which a repeated call makes
	// no second charge.
	Reference   string
	Amount      money.Cents
	Description string
	ExpiresAt   time.Time
	Payer       Payer
	PayURL      string // our own page for this charge
	// Due has the bank compute the amount by the day on which it is paid; nil: the
	// charge asks for Amount. Only a provider that Computes gets one.
	Due *Due
}

// Payer is who is asked for the money; anything but the name may be empty.
type Payer struct {
	Reference string // ours for the customer
	Name      string
	Email     string
	TaxID     string // CPF or CNPJ, without punctuation
	Phone     string // digits with country code
	Address   address.Address
}

// Charge is what the gateway made of an order.
type Charge struct {
	ID          string // the gateway's own
	PixCode     string // the copy-and-paste code; empty when flow is redirect
	CheckoutURL string // the gateway's page; empty when flow is pix
	ExpiresAt   time.Time
}

// Ref names a charge at the gateway. ID is empty while its making is unknown.
type Ref struct {
	Reference string
	ID        string
}

// State is the state of a charge at the gateway.
type State string

// The states.
const (
	StatePending   State = "pending"
	StatePaid      State = "paid"
	StateCancelled State = "cancelled" // it can be paid no more
)

// Report is what the gateway says of a charge when it is asked.
type Report struct {
	Charge
	Reference string // ours, as the gateway has it
	State     State
	Payments  []Received // of all states: a cancelled charge may have been paid before

	debit *DebitReport // of a debit: what it was made of
}

// Received is one payment of a charge. A charge that is paid twice has
// two of them.
type Received struct {
	ID       string // the gateway's or the end-to-end id: unique at the provider
	Amount   money.Cents
	Currency string // ISO 4217
	At       time.Time
	Refunded money.Cents // how much of it was given back, in all
	// RefundedAt is when the newest part of that was; zero: the gateway does not
	// say.
	RefundedAt time.Time
}

// Callback is a request that claims to come from a gateway.
type Callback struct {
	Header http.Header
	Query  map[string][]string
	Body   []byte // as it came, for the signature
}

// Hint names a charge that a callback is about. It is never believed: the charge
// is fetched from the gateway.
type Hint struct {
	EventID string   // the gateway's, to know a repeated one by; may be empty
	Ref     Ref      // Reference or ID, or both
	Kind    HintKind // what Ref names
}

// HintKind is what a hint is about.
type HintKind string

// The kinds. The zero one is a charge.
const (
	HintCharge        HintKind = ""
	HintAuthorisation HintKind = "authorisation"
	HintDebit         HintKind = "debit"
	// HintAccount is about what the provider lets the company do: every authorisation may have ended. It names none.
	HintAccount HintKind = "account"
)

// Gateway speaks to a provider for one company. Every call returns within the
// time of its context.
type Gateway interface {
	// Create makes the charge, or returns the one that was made before under the
	// same reference.
	Create(ctx context.Context, order Order) (Charge, error)
	// Fetch reads the charge back, by its id or else by our reference.
	Fetch(ctx context.Context, ref Ref) (Report, error)
	// Cancel makes sure that the charge can be paid no more. A charge that is
	// cancelled, expired or unknown already is no error.
	Cancel(ctx context.Context, ref Ref) error
	// Check finds out whether the credentials work, and makes nothing that could
	// be paid.
	Check(ctx context.Context) error
	// VerifyCallback checks a callback's proof and returns the charges that it is
	// about. No hint and no error: it is genuine and of no interest.
	VerifyCallback(ctx context.Context, callback Callback) ([]Hint, error)
}

// Registrar is a gateway that can tell its provider by itself where to call
// back. Of the others, a person enters Env.CallbackURL at the provider, or every
// charge carries it.
type Registrar interface {
	// Register makes the provider call back to Env.CallbackURL. It is done after
	// the options changed, and repeating it does no harm. An address that is not
	// https is of no use to a provider, and is left alone without an error.
	Register(ctx context.Context) error
}

// Replacer is a Registrar for a provider with room for one address, which
// another system may have: Register leaves that alone and returns a
// *WebhookTaken.
type Replacer interface {
	Registrar
	// Replace is Register over the address of a WebhookTaken, as long as it is
	// still that one.
	Replace(ctx context.Context, agreed string) error
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
