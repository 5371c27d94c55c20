package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Flow is how a payer gets from the invoice to the money.
type Flow string

// The flows.
const (
	FlowPix      Flow = "pix"      // a code to copy or scan
	FlowRedirect Flow = "redirect" // the gateway's own page
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

// TryGateway asks the provider of a draft whether its options work, and keeps
// nothing of them: a gateway that works is not given up for one that does not.
func (s *Service) TryGateway(ctx context.Context, actor account.Actor, draft GatewayDraft) error {
	if err := draft.check(s); err != nil {
		return err
	}
	var setup Setup
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		before, err := s.previousSetup(ctx, actor.In(tx), s.providers[draft.Provider])
		setup = before.with(draft, tx.Now())
		return err
	})
	if err != nil {
		return err
	}
	if err := s.checkOptions(setup); err != nil {
		return err
	}
	gateway, err := setup.Provider.Open(setup.plain, s.env(setup))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	return explain(setup, s.call(ctx, callAbout{setup, "check", ""}, gateway.Check))
}

// gatewayAction is what happened to a gateway's configuration, as the audit log
// names it.
type gatewayAction string

const (
	gatewaySet     gatewayAction = "gateway.set"
	gatewayCleared gatewayAction = "gateway.cleared"
)

// gatewayChange is one change of a gateway's configuration; both sides have
// their options in the clear. Before has no ID when the company never chose the
// provider.
type gatewayChange struct {
	action        gatewayAction
	before, after Setup
}

// applyGateway writes a change of a gateway's configuration and its audit line.
// It is the only place that writes one. These writes stay outside: Reseal, which
// changes the key and no option; Prune, which drops the options of a gateway that
// was left; and the health of a gateway (recordGatewayHealth, setAside, spaceOut),
// which is the engine's.
func (s *Service) applyGateway(ctx context.Context, tx account.Tx, change *gatewayChange) error {
	if err := deactivateAll(ctx, tx); err != nil {
		return err
	}
	if change.action == gatewaySet {
		if err := s.writeSetup(ctx, tx.Tx, &change.after); err != nil {
			return err
		}
	}
	if s.options.Told != nil {
		if err := s.options.Told(ctx, tx, change.after.Provider.Title); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, change.audit())
}

// writeSetup stores a setup. Its options are sealed for its id, so a new one is
// inserted without them.
func (s *Service) writeSetup(ctx context.Context, tx *sqldb.Tx, setup *Setup) error {
	plain, err := json.Marshal(setup.plain)
	if err != nil {
		return err
	}
	if setup.ID == 0 {
		if setup.ID, err = insertSetup(ctx, tx, *setup); err != nil {
			return err
		}
	}
	setup.sealed = s.box.Seal(plain, optionsContext(setup.ID))
	return updateSetup(ctx, tx, *setup)
}

func (c *gatewayChange) audit() account.AuditEntry {
	entry := account.AuditEntry{
		Action: string(c.action),
		Record: "gateway",
		ID:     c.after.ID,
		Name:   c.after.Provider.Title,
		Before: auditSetup(c.before),
	}
	if c.action == gatewaySet {
		entry.After = auditSetup(c.after)
	}
	return entry
}

// setupFields are what the audit log shows of a setup besides the options of its
// provider.
var setupFields = []struct {
	name string
	of   func(Setup) any
}{
	{"provider", func(setup Setup) any { return setup.name }},
	{"active", func(setup Setup) any { return setup.Active }},
}

// auditSetup is a setup as the audit log shows it: of a secret, how it ends.
func auditSetup(setup Setup) account.AuditFields {
	fields := account.AuditFields{}
	for _, field := range setupFields {
		fields[field.name] = field.of(setup)
	}
	for name, value := range setup.shown() {
		fields[name] = value
	}
	return fields
}

// shown are the options that people may see: of a secret, how it ends.
func (u Setup) shown() map[string]string {
	options := map[string]string{}
	for _, option := range u.Provider.Options {
		value := u.plain[option.Name]
		if option.Secret && value != "" {
			value = masked(value)
		}
		if value != "" {
			options[option.Name] = value
		}
	}
	return options
}

// masked shows how a secret ends, where it is long enough for that to give
// nothing away.
func masked(secret string) string {
	const shown = 4
	if runes := []rune(secret); len(runes) >= 4*shown {
		return "…" + string(runes[len(runes)-shown:])
	}
	return "…"
}
