// Package payment owns what a company collects through a gateway: the gateway's
// configuration, charges, reviews of payments, and the settlement that pays an
// invoice once. It has the Gateway contract that every provider in the folders
// below implements, the inbox of their callbacks, and the reconciliation that
// finds payments without a callback. It does not own invoices nor the ledger of
// payments: billing does, and this package calls billing when money has come.
package payment

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
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
	Notify func(ctx context.Context, tx account.Tx, invoiceID int64, address string) error
	// Simulate has, by provider, a function of those that only pretend: it pays
	// the charge that the gateway knows by an id.
	Simulate map[string]func(ctx context.Context, gatewayID string) error
	// SimulatePayer has, by provider, a function of those that only pretend: the payer
	// does something about the authorisation that the gateway knows by an id.
	SimulatePayer map[string]func(ctx context.Context, gatewayID, deed string) error
	// Told notifies the owners of a company, in the transaction, that its gateway
	// has changed; nil: not at all.
	Told func(ctx context.Context, tx account.Tx, what string) error
	// Off are the names of providers that the operator has switched off: none
	// can be chosen or charged through. Charges that one has already are still
	// looked after.
	Off []string
	// Unpaced checks as many charges of a gateway at once as there are: the gateways
	// are in this program and need no pacing.
	Unpaced bool
	// Ended sees each charge that has ended; it may be nil.
	Ended watch.Watcher[Ended]
	// Pruned sees the callbacks that are removed; it may be nil.
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
	charging  waiters  // callers of Charge, by invoice
	noticing  sync.Map // invoices that a notice is being sent of
	uploads   chan struct{}
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
		uploads:   make(chan struct{}, noticeUploads),
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
	return s.cancelCharges(ctx, changed.Actor.In(tx), ids)
}

// Payment is money that came.
type Payment struct {
	Number       int64  // ours, in the order in which they became known
	ID           string // the gateway's
	Provider     string
	Via          string // as the API names the means
	InvoiceID    int64  // which may have been deleted
	Orphan       bool   // it was deleted; only List sets this
	CustomerID   int64
	CustomerName string
	Amount       money.Cents
	Currency     string
	PaidAt       time.Time
	Status       billing.PaymentStatus
	Refund       money.Cents // how much of it went back
	ConfirmedBy  string      // who confirmed it, as Actor.By names them; empty: the gateway
	ReviewID     int64       // of the review that is open; 0: none is

	chargeID int64
}

// Refunded reports whether all of the money went back.
func (p Payment) Refunded() bool { return p.Refund > 0 && p.Refund == p.Amount }

// Applied reports whether the payment counts for its invoice.
func (p Payment) Applied() bool {
	return p.Status == billing.PaymentApplied || p.Status == billing.PaymentPartial
}

// ledger is the payment as the ledger has it.
func (p Payment) ledger() billing.Payment {
	return billing.Payment{
		ID:           p.Number,
		ChargeID:     p.chargeID,
		Provider:     p.Provider,
		PaymentID:    p.ID,
		Via:          p.Via,
		InvoiceID:    p.InvoiceID,
		CustomerID:   p.CustomerID,
		CustomerName: p.CustomerName,
		Amount:       p.Amount,
		Currency:     p.Currency,
		PaidAt:       p.PaidAt,
		Refunded:     p.Refund,
		ConfirmedBy:  p.ConfirmedBy,
	}
}

// paymentOf makes the record of a payment that a charge received.
func paymentOf(charge charge, received Received) Payment {
	payment := Payment{
		chargeID:     charge.id,
		ID:           received.ID,
		Provider:     charge.provider,
		Via:          charge.provider,
		InvoiceID:    charge.invoiceID,
		CustomerID:   charge.customerID,
		CustomerName: charge.customerName,
		Amount:       received.Amount,
		Currency:     received.Currency,
		PaidAt:       received.At.Truncate(time.Microsecond),
	}
	payment.Refund = min(received.Refunded, received.Amount)
	return payment
}

// paymentAction is what happened to a payment, as the audit log names it.
type paymentAction string

const (
	paymentReceived  paymentAction = "payment.received"  // a gateway reported it
	paymentConfirmed paymentAction = "payment.confirmed" // a person did
	paymentRefunded  paymentAction = "payment.refunded"  // the money went back, says the gateway
	paymentReviewed  paymentAction = "payment.reviewed"  // a person decided about it
)

// paymentChange is one change of a payment's record. Before is zero for a
// payment that becomes known.
type paymentChange struct {
	action        paymentAction
	before, after Payment
	reason        Reason           // why a person has to decide: opens a review
	refundedAt    time.Time        // when money went back; zero: now
	review        Review           // the decided review, of a payment.reviewed
	receipt       *billing.Receipt // with it the payment counts from now on; nil: it does not
	stated        *statedLine      // the line of a bank statement that it is booked from; nil: none

	outcome billing.Outcome // what paying the invoice came to; applyPayment fills it in
}

// applyPayment writes a change of a payment and draws its consequences: billing
// writes the ledger and pays the invoice; the review that it opens or decides,
// the line of a statement that it is booked from and the audit line are written here. It
// is the only place that writes reviews and lines. The charge of a payment must be written before, as settlement.write says.
func (s *Service) applyPayment(ctx context.Context, tx account.Tx, change *paymentChange) error {
	if err := s.writeLedger(ctx, tx, change); err != nil {
		return err
	}
	if err := s.writeReview(ctx, tx, change); err != nil {
		return err
	}
	if err := writeStated(ctx, tx, change); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, change.audit())
}

// writeLedger has billing record what became of the payment.
func (s *Service) writeLedger(ctx context.Context, tx account.Tx, change *paymentChange) (err error) {
	switch {
	case change.receipt != nil:
		return s.payInvoice(ctx, tx, change)
	case change.action == paymentRefunded:
		change.outcome, err = s.billing.RefundTx(ctx, tx, change.refund())
	case change.action == paymentReviewed && change.review.Resolution == Credited:
		err = s.billing.KeepCreditTx(ctx, tx, change.after.Number)
	case change.action == paymentReviewed:
		err = s.billing.DismissTx(ctx, tx, change.after.Number)
	default:
		change.after.Number, err = s.billing.KeepTx(ctx, tx, change.after.ledger(), change.refundedAt)
	}
	return err
}

// refund is what a gateway says has gone back since it was last asked. Gateways
// report the sum of all refunds of a payment, and not every one has an id for
// each: the sum is the id.
func (c *paymentChange) refund() billing.Refund {
	return billing.Refund{
		PaymentID: c.after.Number,
		Amount:    c.after.Refund - c.before.Refund,
		RefundID:  fmt.Sprintf("gateway:%s", c.after.Refund),
		At:        c.refundedAt,
	}
}

func (s *Service) writeReview(ctx context.Context, tx account.Tx, change *paymentChange) error {
	if change.action == paymentReviewed {
		first, err := resolveReview(ctx, tx, change.review)
		if err == nil && !first {
			return fault.Conflict("somebody else has just decided about this payment")
		}
		return err
	}
	if change.reason == "" {
		return nil
	}
	tx.OnCommit(s.metrics.reviews.WithLabelValues(string(change.reason)).Inc)
	return insertReview(ctx, tx, Review{paymentRowID: change.after.Number, Reason: change.reason})
}

// payInvoice has the payment count for its invoice.
func (s *Service) payInvoice(ctx context.Context, tx account.Tx, change *paymentChange) (err error) {
	change.outcome, err = s.billing.ReceiveTx(ctx, tx, *change.receipt)
	if err == nil && change.action == paymentReceived {
		lag := tx.Now().Sub(change.after.PaidAt)
		tx.OnCommit(func() { s.metrics.lag.Observe(max(lag, 0).Seconds()) })
	}
	return err
}

// auditedFields are the values that the audit log shows of a payment that a
// person confirmed or decided about.
var auditedFields = []struct {
	name string
	of   func(*paymentChange) any
}{
	{"amount", func(change *paymentChange) any { return change.after.Amount }},
	{"payment_id", func(change *paymentChange) any { return change.after.ID }},
	{"reason", func(change *paymentChange) any { return change.review.Reason }},
	{"resolution", func(change *paymentChange) any { return change.review.Resolution }},
	{"note", func(change *paymentChange) any { return change.review.Note }},
}

// audit is the line of the audit log, which belongs to the invoice. What a
// gateway reports leaves none: the program is its actor.
func (c *paymentChange) audit() account.AuditEntry {
	shown := account.AuditFields{}
	for _, field := range auditedFields {
		shown[field.name] = field.of(c)
	}
	return account.AuditEntry{
		Action: string(c.action),
		Record: "invoice",
		ID:     c.after.InvoiceID,
		Name:   c.after.CustomerName,
		After:  shown,
	}
}

// List lists the payments of a filter in the order of the page, with the reviews
// that are open, and how many there are.
func (s *Service) List(
	ctx context.Context, actor account.Actor, filter billing.PaymentFilter, page input.Page,
) ([]Payment, int64, error) {
	records, total, err := s.billing.Payments(ctx, actor, filter, page)
	if err != nil || len(records) == 0 {
		return []Payment{}, total, err
	}
	numbers := make([]int64, len(records))
	places := make(map[int64]int, len(records))
	for n, record := range records {
		numbers[n], places[record.ID] = record.ID, n
	}
	list, err := sqldb.All(ctx, s.db, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.id {in ?} ORDER BY p.id DESC`,
		actor.Company.ID, numbers)
	slices.SortFunc(list, func(a, b Payment) int { return cmp.Compare(places[a.Number], places[b.Number]) })
	for n := range list {
		list[n].Orphan = records[places[list[n].Number]].InvoiceStatus == ""
	}
	return list, total, err
}

// Payments lists the payments of an invoice, oldest first.
func (s *Service) Payments(ctx context.Context, actor account.Actor, invoiceID int64) ([]Payment, error) {
	return sqldb.All(ctx, s.db, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p WHERE p.company_id = ? AND p.invoice_id = ? ORDER BY p.id`,
		actor.Company.ID, invoiceID)
}
