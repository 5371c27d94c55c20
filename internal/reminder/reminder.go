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
	"log/slog"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/platform/worker"
)

// Status is how a message stands.
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
	Settled watch.Watcher[Settled] // sees each message that is finished; nil: nobody does

	Pruned watch.Watcher[account.Pruned] // sees the messages that are removed; nil: nobody does
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

// New makes the service, which from then on watches customers: one whose due
// date moves is planned anew, one who is deleted takes its messages along.
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
