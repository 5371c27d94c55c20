// Package reminder owns scheduled messages: the rules that say who is reminded
// of a due date, when and in which words, the planning that makes one message
// of each, and the engine that sends them through channels, at most once where
// a channel cannot tell a repeated one. A rule may also send a receipt for what
// was paid. It has the contract that every channel in the folders below keeps. It
// does not own due dates or invoices: it watches customers and invoices, and reads
// what was paid.
package reminder

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/platform/worker"
)

// Status is the state of a message.
type Status string

// The statuses. Unknown ones may have been sent: a person decides.
const (
	Scheduled Status = "scheduled"
	Sending   Status = "sending"
	Sent      Status = "sent"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Unknown   Status = "unknown"
	Dismissed Status = "dismissed"
)

// Statuses lists them in the order of a message's life.
var Statuses = []Status{Scheduled, Sending, Sent, Failed, Skipped, Unknown, Dismissed}

// Message is one message to one customer about one due date.
type Message struct {
	ID         int64
	Key        string // by which a receiver knows a repeated one
	RuleID     int64
	RuleName   string   // empty: the rule was deleted
	On         Occasion // of the rule
	CustomerID int64
	Customer   string
	DueOn      civil.Date
	InvoiceID  int64 // what a message of a round asks for, or a receipt is for; 0: what the due date brought
	Status     Status
	Reason     string // why it was not sent, or not yet
	ChannelID  int64
	Channel    string
	Kind       string // of the channel
	Attempts   int
	RunAt      time.Time // when it is due, while it is scheduled
	Address    string    // what was sent, and where
	Subject    string
	Text       string
	Receipt    string    // what the channel calls it
	Arrival    Arrival   // what the carrier reported of it since
	ArrivalAt  time.Time // and when that was
	SentAt     time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time

	manual bool      // a person sends it, whatever the hour
	lateAt time.Time // when it is too late to send it; zero: by its rule
}

// Attempt is one try to send a message.
type Attempt struct {
	Number    int
	ChannelID int64
	Kind      string
	At        time.Time
	Duration  time.Duration
	Outcome   string
	Problem   string

	Arrival        Arrival // what the carrier reported of it since
	ArrivalAt      time.Time
	ArrivalProblem string // of a failure
}

// Links make what a customer pays with. The payment room does; it is called
// outside any transaction.
type Links interface {
	PaymentLink(ctx context.Context, actor account.Actor, invoiceID int64) (string, error)
	PixCode(ctx context.Context, actor account.Actor, invoiceID int64) (string, error)
	// DebitOn is when an invoice will be debited by itself; zero: it is to be paid.
	DebitOn(ctx context.Context, actor account.Actor, invoiceID int64) (civil.Date, error)
	// Picture draws a PIX code as PNG; nil for what is none.
	Picture(code string) ([]byte, error)
}

// Options are the operator's choices and what the house has for channels.
type Options struct {
	Kinds []Kind
	Env   Env
	Links Links         // nil: templates may not ask for a payment link or a PIX code
	Keep  time.Duration // how long history is kept; 0: a year

	// PublicURL is what links begin with; empty: mails have no opt-out link.
	PublicURL string
	// Unreachable: customers cannot open links that begin with PublicURL. Messages
	// carry the PIX code where a text asks for the payment link, and no opt-out link.
	Unreachable bool

	// LaneCap is how many messages of one channel are under way at once; 0: as many
	// as leave the others room when one hangs.
	LaneCap int
	Settled watch.Watcher[Settled] // sees each message that is finished; may be nil

	Pruned watch.Watcher[account.Pruned] // sees the messages that are removed; may be nil
}

// Settled is a message that is finished.
type Settled struct {
	CompanyID, MessageID int64
	Status               Status
}

// Service has the use cases.
type Service struct {
	db       *sqldb.DB
	box      *secret.Box
	accounts *account.Service
	options  Options
	wake     worker.Wake
	strikes  worker.Strikes // panics over messages
	metrics  *metrics
}

// New makes the service, which from then on watches customers: after a change
// of the due date it plans again, and it deletes the messages of a deleted
// customer.
func New(db *sqldb.DB, box *secret.Box, accounts *account.Service, customers *customer.Service, options Options) *Service {
	if options.Keep == 0 {
		options.Keep = 365 * 24 * time.Hour
	}
	if options.LaneCap == 0 {
		options.LaneCap = laneCap
	}
	if options.Settled == nil {
		options.Settled = func(context.Context, *sqldb.Tx, Settled) error { return nil }
	}
	if options.Env.Log == nil {
		options.Env.Log = slog.New(slog.DiscardHandler)
	}
	service := &Service{
		db:       db,
		box:      box,
		accounts: accounts,
		options:  options,
		wake:     worker.NewWake(),
		metrics:  newMetrics(),
	}
	customers.Watch(service.customersChanged)
	return service
}

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
	// sent again when its arrival is in doubt. On any other kind a person
	// decides.
	Idempotent bool
	// Approved says that it sends only approved templates, so that a text is
	// not enough.
	Approved bool
	Options  []Option
	Presets  []Preset // services with known options
	// Open makes the sender of one channel from its options, which are those
	// declared and nothing else. It checks them without calling anybody; what is
	// wrong with one is a fault of that field.
	Open func(options map[string]string, env Env) (Sender, error)
	// Check reports whether the addresses among the options may be reached,
	// when a channel is saved. Nil: there are none.
	Check func(ctx context.Context, options map[string]string, env Env) error
	// Reporter understands what the carrier reports later about messages that
	// it has taken. Nil: it reports nothing.
	Reporter Reporter
	// Phone makes the link of one channel to the phone that it sends through. Nil:
	// there is no phone to connect.
	Phone func(options map[string]string, env Env) (PhoneLink, error)
}

// Option is one setting of a kind.
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
	Mark      Mark      // zero in a test: its reports are not awaited
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
	Params   []string // of the body
	Names    []string // of the params, in a letter; nil: they are numbered
	Header   string   // empty: it has no gap
	Button   string   // the end of the address of its button; empty: it has no gap
}

// NoGap fills a gap for which a customer has nothing: Meta takes no empty one.
const NoGap = "-"

// Sender sends for one channel. It returns within the time of its context: no
// error, and what the carrier calls the message; a Refusal; a Passing; or any
// other error, after which it is unknown whether the message was sent.
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

// Doubt says that it is unknown whether the message was sent, with a reason
// that may be shown.
type Doubt struct{ Reason string }

func (d *Doubt) Error() string { return "unknown: " + d.Reason }

// CallFailed returns what a call without an answer means: a Refusal when the
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
