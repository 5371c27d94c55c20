// Package payment owns charges: what is asked of a payment gateway for an
// invoice, what came of it, and the settlement that pays the invoice once. It
// has the Gateway contract that every provider in the folders below keeps, the
// inbox of their callbacks, and the reconciliation that finds what no callback
// told. It does not own invoices: it tells billing that one is paid.
package payment

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// Options are what the service is given besides the rooms below it.
type Options struct {
	Providers []Provider
	PublicURL string        // what links start with
	Client    *http.Client  // for the gateways: bounded in time, follows no redirect
	Timeout   time.Duration // of everything that a caller waits for; 0: 15 seconds
	Log       *slog.Logger
	// Notify remembers to tell an address when the invoice is paid. It is the
	// webhook room's, which this one does not know.
	Notify func(ctx context.Context, tx *sqldb.Tx, a account.Actor, invoiceID int64, address string) error
	// Simulate has, by provider, the button of those that only pretend: it pays
	// the charge that the gateway knows by an id.
	Simulate map[string]func(ctx context.Context, gatewayID string) error
}

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	accounts  *account.Service
	billing   *billing.Service
	box       *secret.Box
	options   Options
	providers map[string]Provider
	opened    opened
	turns     turns
	wake      worker.Wake
	strikes   worker.Strikes // panics over charges
	metrics   *Metrics
}

// New makes the service, which from then on watches invoices: the charges of
// one that is no longer open, or that is deleted, are cancelled at the gateway.
func New(db *sqldb.DB, accounts *account.Service, invoices *billing.Service, box *secret.Box, o Options) *Service {
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		db: db, accounts: accounts, billing: invoices, box: box, options: o,
		providers: map[string]Provider{}, wake: worker.NewWake(), metrics: newMetrics(o.Providers),
	}
	for _, p := range o.Providers {
		s.providers[p.Name] = p
	}
	invoices.Watch(billing.Watcher{Changed: s.invoiceChanged, Deleting: s.invoicesDeleting})
	return s
}

// Providers lists the gateways that a company can choose from.
func (s *Service) Providers() []Provider { return s.options.Providers }

// lifetime is how long a charge can be paid unless the gateway says otherwise.
const lifetime = 24 * time.Hour

// lease is how long a claim lasts: longer than the longest exchange with a
// gateway, so that nobody deals with a charge that is being dealt with.
func (s *Service) lease() time.Duration { return s.options.Timeout + 15*time.Second }

// chargeState is where a charge stands by our books.
type chargeState string

// The states. A charge can be paid while it is pending, and nobody knows
// whether it can while it is reserved or cancelling. The others are closed,
// which does not keep money from arriving: they are looked at twice more.
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

func (s chargeState) closed() bool {
	return s == paid || s == cancelled || s == expired || s == refused
}

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
	order        Order // reference and amount are all that is stored of it
	state        chargeState
	problem      string
	closedAt     time.Time
	nextCheck    time.Time // zero: nothing is left to do
	checks       int
	hintedAt     time.Time
	claim        string
	createdAt    time.Time
}

func (c charge) ref() Ref { return Ref{Reference: c.order.Reference, ID: c.ID} }

// busy tells whether somebody is dealing with the gateway about it.
func (c charge) busy(now time.Time) bool { return c.claim != "" && c.nextCheck.After(now) }

// enter puts a charge into a state, from which its checks are counted anew.
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

// invoiceChanged has the charges of an invoice cancelled that need not be paid
// any more, in the transaction that made it so.
func (s *Service) invoiceChanged(ctx context.Context, tx *sqldb.Tx, a account.Actor, _, after billing.Invoice) error {
	if after.Status == billing.Open {
		return nil
	}
	return s.unwantedTx(ctx, tx, a, []billing.Invoice{after})
}

// invoicesDeleting does the same for invoices that go with their customer.
func (s *Service) invoicesDeleting(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []billing.Invoice) error {
	return s.unwantedTx(ctx, tx, a, list)
}

func (s *Service) unwantedTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, list []billing.Invoice) error {
	ids := make([]int64, len(list))
	for n, i := range list {
		ids[n] = i.ID
	}
	n, err := cancelOf(ctx, tx, a.Company.ID, ids)
	if n > 0 {
		tx.OnCommit(s.wake.Hint)
	}
	return err
}
