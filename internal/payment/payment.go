// Package payment owns what a company collects through a gateway: the gateway's
// configuration, charges, reviews of payments, and the settlement that pays an
// invoice once. It has the Gateway contract that every provider in the folders
// below implements, the inbox of their callbacks, and the reconciliation that
// finds payments without a callback. It does not own invoices nor the ledger of
// payments: billing does, and this package calls billing when money has come.
package payment

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
	"carteira/internal/platform/worker"
)

// Options are what the service needs besides the rooms below it.
type Options struct {
	Providers []Provider
	PublicURL string        // what links start with
	Client    *http.Client  // for the gateways: bounded in time, follows no redirect
	Timeout   time.Duration // of every call that waits for a gateway; 0: 15 seconds
	Log       *slog.Logger
	// Notify stores the address that is notified when the invoice is paid. It is
	// a function of the webhook room, which this one does not import.
	Notify func(ctx context.Context, tx *sqldb.Tx, actor account.Actor, invoiceID int64, address string) error
	// Simulate has, by provider, a function of those that only pretend: it pays
	// the charge that the gateway knows by an id.
	Simulate map[string]func(ctx context.Context, gatewayID string) error
	// SimulatePayer has, by provider, a function of those that only pretend: the payer
	// does something about the authorisation that the gateway knows by an id.
	SimulatePayer map[string]func(ctx context.Context, gatewayID, deed string) error
	// Told tells the owners of a company, in the transaction, that its gateway is
	// another: a function of the program, which knows a way to them; nil: none.
	Told func(ctx context.Context, tx *sqldb.Tx, actor account.Actor, what string) error
	// Off are the names of providers that the operator has switched off: nobody
	// can choose or charge through one. Charges that one has already are still
	// looked after.
	Off []string
	// Unpaced checks as many charges of a gateway at once as there are: the gateways
	// are in this program, and nobody has to be spared.
	Unpaced bool
	// Ended sees each charge whose time is over; nil: nobody does.
	Ended watch.Watcher[Ended]
	// Pruned sees the callbacks that are removed; nil: nobody does.
	Pruned watch.Watcher[account.Pruned]
}

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	billing   *billing.Service
	customers *customer.Service
	box       *secret.Box
	options   Options
	providers map[string]Provider
	gateways  gatewayCache
	charging  waiters // callers of Charge, by invoice
	wake      worker.Wake
	strikes   worker.Strikes // panics over charges
	metrics   *Metrics
}

// New makes the service, which from then on watches invoices: the charges of
// one that is no longer open, or that is deleted, are cancelled at the gateway.
func New(db *sqldb.DB, invoices *billing.Service, box *secret.Box, options Options) *Service {
	if options.Timeout == 0 {
		options.Timeout = 15 * time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	service := &Service{
		db:        db,
		billing:   invoices,
		customers: invoices.Customers(),
		box:       box,
		options:   options,
		providers: map[string]Provider{},
		wake:      worker.NewWake(),
		metrics:   newMetrics(options.Providers),
	}
	service.options.Providers = nil
	for _, provider := range options.Providers {
		service.providers[provider.Name] = provider
		if service.offers(provider.Name) {
			service.options.Providers = append(service.options.Providers, provider)
		}
	}
	invoices.Watch(service.invoicesChanged)
	service.customers.Watch(service.customersChanged)
	invoices.LinkWith(billing.Links{New: service.newLinkTx, Of: service.linkTx})
	return service
}

// Providers lists the gateways that a company can choose from.
func (s *Service) Providers() []Provider { return s.options.Providers }

// offers reports whether a provider is not switched off.
func (s *Service) offers(name string) bool {
	return !slices.Contains(s.options.Off, name)
}

// lifetime is how long a charge can be paid unless the gateway says otherwise.
const lifetime = 24 * time.Hour

// lease is how long a claim lasts: longer than the longest exchange with a
// gateway, so that no two workers deal with one charge.
func (s *Service) lease() time.Duration {
	return s.options.Timeout + 15*time.Second
}

// invoicesChanged cancels the charges of invoices that need not be paid any
// more, that cost another amount now, or that are deleted, in the transaction of
// the change. When this room
// itself pays the invoice, the charge that did it is paid by then and is left
// alone.
func (s *Service) invoicesChanged(ctx context.Context, tx *sqldb.Tx, changed billing.Changes) error {
	if err := s.pokeOwners(ctx, tx, changed); err != nil {
		return err
	}
	var ids []int64
	for _, change := range changed.List {
		if change.Action == billing.ActionDeleted || change.After.Status != billing.Open || change.CostsOther() {
			ids = append(ids, change.Invoice().ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.cancelCharges(ctx, tx, changed.Actor.Company.ID, ids)
}
