package reminder

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/outbound"
)

// Reach is what a channel needs to know of a customer.
type Reach string

// What channels need.
const (
	ByEmail    Reach = "email"
	ByWhatsapp Reach = "whatsapp"
	ByAny      Reach = "any" // whatever there is: the receiver chooses
)

// Kind is a kind of channel that a company can have.
type Kind struct {
	Name      string // as commands say it: whatsapp_cloud
	Title     string // as people say it: WhatsApp (Meta)
	About     string // what it is, and what one needs to have for it
	Reach     Reach
	PerMinute int // how fast a new channel sends; 0: as fast as it goes
	// Idempotent says that the receiver drops a message that it has had: it is
	// sent again when nobody knows whether it arrived. On any other kind that is
	// left to a person.
	Idempotent bool
	// Approved says that it sends only templates that somebody has approved, so
	// that a text is not enough.
	Approved bool
	Options  []Option
	Presets  []Preset // services whose options are known
	// Open makes the sender of one channel from its options, which are those
	// declared and nothing else. It checks them without calling anybody; what is
	// wrong with one is a fault of that field.
	Open func(options map[string]string, env Env) (Sender, error)
	// Check says whether the addresses among the options may be reached, when a
	// channel is saved. Nil: there are none.
	Check func(ctx context.Context, options map[string]string, env Env) error
	// Reporter understands what the carrier tells later of messages that it has
	// taken. Nil: it tells nothing.
	Reporter Reporter
}

// Option is one thing that a kind has to be told.
type Option struct {
	Name      string
	Title     string
	Help      string
	Default   string
	Secret    bool // stored encrypted, never shown again
	Required  bool
	Generated bool     // made by us when it is not given, and shown once
	Choices   []string // empty: anything
}

// Preset is a service of a kind, with the options that are the same for all its
// customers.
type Preset struct {
	Name    string // in addresses: gmail
	Title   string // as people say it
	Options map[string]string
	Hint    string // what one has to know, or to do there first
}

// Env is what channels get from the house.
type Env struct {
	// Gate decides which mail servers and bridges may be reached; Once calls
	// them and never repeats a call by itself.
	Gate *outbound.Gate
	Once *outbound.Client
	// WebhookGate and Webhooks are for receivers that know a repeated message.
	WebhookGate *outbound.Gate
	Webhooks    *outbound.Client
	RootCAs     *x509.CertPool // nil for the machine's
	Log         *slog.Logger
}

// Letter is a message as a sender gets it.
type Letter struct {
	ID        string // the same at every attempt
	CompanyID int64
	Company   string
	To        string // e-mail address or digits of a phone; for ByAny it may be empty
	Name      string // of the customer
	Subject   string
	Text      string
	Template  ApprovedTemplate
	At        time.Time // of the attempt, in the company's zone
	Mark      Mark      // zero in a test: nobody waits for reports of it
	Look      *Look     // of a mail; nil: plain text
	Test      bool

	CustomerID   int64
	CustomerUUID string
	Whatsapp     string
	Email        string
	DueOn        civil.Date
}

// ApprovedTemplate is a text that the carrier knows, and what fills its gaps.
type ApprovedTemplate struct {
	Name     string
	Language string
	Params   []string
}

// Sender sends for one channel. It returns within the time of its context: no
// error, and what the carrier calls the message; a Refusal; a Passing; or any
// other error, after which nobody knows whether the message was sent.
type Sender interface {
	Send(ctx context.Context, letter Letter) (receipt string, err error)
}

// Refusal says that the message was not sent and never will be this way. Its
// reason may be shown; it holds no credential.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "refused: " + r.Reason }

// Passing says that the message was not sent, and that trying later may do.
type Passing struct {
	Reason string
	After  time.Duration // how long the carrier asked to be left alone
}

func (p *Passing) Error() string { return "not now: " + p.Reason }

// Doubt says that nobody knows whether the message was sent, with a reason
// that may be shown.
type Doubt struct{ Reason string }

func (d *Doubt) Error() string { return "unknown: " + d.Reason }

// CallFailed tells what a call that has no answer means: a Refusal when the
// address may not be called, a Passing when nothing left the house, else a
// Doubt.
func CallFailed(err error) error {
	switch reason := outbound.Public(err); {
	case errors.Is(err, outbound.ErrRefused):
		return &Refusal{Reason: "the address " + reason}
	case outbound.Unsent(err) || errors.Is(err, outbound.ErrLocal):
		return &Passing{Reason: reason}
	default:
		return &Doubt{Reason: reason}
	}
}

// kind finds a kind by its name.
func (s *Service) kind(name string) (Kind, bool) {
	i := slices.IndexFunc(s.options.Kinds, func(kind Kind) bool { return kind.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return s.options.Kinds[i], true
}

// reachOf is what a channel needs to know of a customer.
func (s *Service) reachOf(channel Channel) Reach {
	kind, _ := s.kind(channel.Kind)
	return kind.Reach
}

// Kinds lists the kinds of channels there are.
func (s *Service) Kinds() []Kind { return s.options.Kinds }

// address is where a customer is reached, or why not.
func (r Reach) address(whatsapp, email string) (to, missing string) {
	switch {
	case r == ByEmail && email == "":
		return "", "no e-mail"
	case r == ByEmail:
		return email, ""
	case r == ByWhatsapp && whatsapp == "":
		return "", "no WhatsApp number"
	case r == ByAny && whatsapp == "":
		return email, ""
	}
	return whatsapp, ""
}
