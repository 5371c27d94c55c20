package payment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment/pix"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Payable is an invoice with what a payer needs to pay it.
type Payable struct {
	Invoice     billing.Invoice
	Provider    string
	Flow        Flow
	Amount      money.Cents
	PixCode     string // empty when flow is redirect
	CheckoutURL string // the gateway's page; empty when flow is pix
	ExpiresAt   time.Time
	Reference   string // ours, by which the gateway knows the charge
}

// QR is a PNG of what a payer scans: the code, or the address of the gateway's
// page.
func (p Payable) QR() ([]byte, error) {
	text := p.PixCode
	if p.Flow == FlowRedirect {
		text = p.CheckoutURL
	}
	return pix.PNG(text)
}

func payableOf(wanted owed, charge charge) Payable {
	payable := Payable{
		Invoice:   wanted.invoice,
		Provider:  charge.provider,
		Flow:      charge.flow(),
		Amount:    charge.order.Amount,
		PixCode:   charge.PixCode,
		ExpiresAt: charge.ExpiresAt,
		Reference: charge.order.Reference,
	}
	if payable.Flow == FlowRedirect {
		payable.CheckoutURL = charge.CheckoutURL
	}
	if charge.dueTerms != "" { // the bank asks for what is to pay today
		payable.Amount = wanted.rest()
	}
	return payable
}

// Charge has an invoice charged at the company's gateway and returns what a
// payer needs. While a charge for the same amount can be paid, every caller gets
// that one. A notification address, which the caller has checked, is stored with
// it.
//
// The reference of a charge is stored before the gateway is called. A gateway
// that fails leaves the charge reserved: the next caller, or else the
// reconciliation, goes on under the same reference.
func (s *Service) Charge(
	ctx context.Context, actor account.Actor, invoiceID int64, notificationURL string,
) (Payable, error) {
	job := s.newCharging(actor, invoiceID)
	job.notify = notificationURL
	return job.payable(ctx)
}

// payable runs the job for a payer.
func (j *charging) payable(ctx context.Context) (Payable, error) {
	if err := j.actor.Allow(account.FunctionPayments); err != nil {
		return Payable{}, err
	}
	if err := j.runAlone(ctx); err != nil {
		return Payable{}, err
	}
	return payableOf(j.owed(j.service.db.Now()), j.charge), nil
}

// runAlone runs the job while no other one of this process deals with the invoice.
// The caller may hang up meanwhile; what was begun is finished all the same.
func (j *charging) runAlone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.service.options.Timeout)
	defer cancel()
	unlock, err := j.service.charging.lock(ctx, j.invoiceID)
	if err != nil {
		return errStillBusy(err)
	}
	defer unlock()
	return j.run(ctx)
}

func (s *Service) newCharging(actor account.Actor, invoiceID int64) *charging {
	return &charging{
		service:   s,
		actor:     actor,
		invoiceID: invoiceID,
		skipped:   map[int64]bool{},
		cancelled: map[int64]bool{},
	}
}

// run goes from step to step until there is a charge that can be paid.
func (j *charging) run(ctx context.Context) error {
	for {
		next, err := j.decide(ctx)
		if err != nil || next == nil {
			return late(ctx, err)
		}
		if err := next(ctx); err != nil {
			return late(ctx, err)
		}
	}
}

func errStillBusy(cause error) error {
	return fault.Upstream("the payment gateway has not answered yet; try again in a moment", cause)
}

// late turns any internal error of a call that ran out of its time into one
// that the caller may read.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil && fault.KindOf(err) == fault.KindInternal {
		return errStillBusy(err)
	}
	return err
}

// charging is one call of Charge, or the announcement of one debit.
type charging struct {
	service   *Service
	actor     account.Actor
	invoiceID int64
	notify    string
	code      codeKind
	debits    int64 // the authorisation by which the invoice is debited; 0: the payer pays

	setup     Setup
	payer     customer.Customer
	newest    authorisation // of the payer, when the code is to authorise
	invoice   billing.Invoice
	charge    charge
	skipped   map[int64]bool // charges of other gateways that could not be cancelled: they do not block for ever
	cancelled map[int64]bool // charges that the gateway was asked to cancel
}

// step is what a charging does outside of a transaction: a call of the gateway,
// or a wait.
type step func(ctx context.Context) error

// decide chooses the next step in one transaction; nil when there is a charge
// that can be paid.
func (j *charging) decide(ctx context.Context) (next step, err error) {
	err = j.service.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if j.invoice, err = billing.LockTx(ctx, j.actor.In(tx), j.invoiceID); err != nil {
			return err
		}
		if j.invoice.Status != billing.Open {
			return errNotOpen(j.invoice)
		}
		if j.actor, err = j.actor.Refreshed(ctx, tx); err != nil { // its terms decide the amount
			return err
		}
		if j.owed(tx.Now()).rest() == 0 {
			return fault.Field("invoice", "has nothing left to pay; mark it as paid")
		}
		if j.setup, err = j.service.active(ctx, tx, j.actor.Company.ID); err != nil {
			return err
		}
		if err := j.mayDebit(ctx, tx); err != nil {
			return err
		}
		if j.payer, err = customer.FindTx(ctx, j.actor.In(tx), j.invoice.Customer.ID); err != nil {
			return err
		}
		if err := j.mayAuthorise(ctx, tx); err != nil {
			return err
		}
		if j.notify != "" && j.service.options.Notify != nil {
			if err := j.service.options.Notify(ctx, j.actor.In(tx), j.invoiceID, j.notify); err != nil {
				return err
			}
		}
		next, err = j.nextStep(ctx, tx)
		return err
	})
	crashpoint.Here("charge-reserved")
	return next, err
}

func errNotOpen(invoice billing.Invoice) error {
	return fault.Field("invoice", fmt.Sprintf("is %s; only one that is %s can be paid", invoice.Status, billing.Open))
}

func (j *charging) nextStep(ctx context.Context, tx *sqldb.Tx) (step, error) {
	known, err := lockUnsettled(ctx, j.actor.In(tx), []int64{j.invoiceID})
	if err != nil {
		return nil, err
	}
	for _, charge := range known {
		if !j.skipped[charge.id] {
			return j.resume(ctx, tx, charge)
		}
	}
	return j.reserve(ctx, tx)
}

// resume chooses the next step for a charge that the invoice has: return it
// (nil, with j.charge set), finish what was begun, or cancel it first.
func (j *charging) resume(ctx context.Context, tx *sqldb.Tx, known charge) (step, error) {
	fits := known.gatewayID == j.setup.ID && j.fits(known, tx.Now())
	switch {
	case j.debits != 0 && !known.isDebit() && known.state != cancelling:
		return nil, errCodeIsOut
	case fits && known.state == pending:
		j.charge = known
		return nil, nil
	case known.busy(tx.Now()):
		return waitALittle, nil
	case known.isDebit() && j.cancelled[known.id]:
		return nil, errBeingDebited
	case j.setup.blocked(tx.Now()):
		return nil, j.errBlocked()
	}
	change := changeOf(known)
	change.after.claim, change.after.nextCheck = id.NewCode(16), tx.Now().Add(j.service.lease())
	if !fits || known.state != reserved {
		change.after.enter(cancelling, tx.Now())
	}
	if err := j.service.applyCharge(ctx, tx, &change); err != nil {
		return nil, err
	}
	j.charge = change.after
	if j.charge.state == cancelling {
		return j.cancelPrevious, nil
	}
	return j.fillOrder(ctx, tx)
}

// owed is what a charge made now is for.
func (j *charging) owed(now time.Time) owed {
	return owed{j.actor.Company, j.invoice, now}
}

// reserve stores a new charge before the gateway is called.
func (j *charging) reserve(ctx context.Context, tx *sqldb.Tx) (step, error) {
	if j.setup.blocked(tx.Now()) {
		return nil, j.errBlocked()
	}
	wanted := j.owed(tx.Now())
	change := chargeChange{after: charge{
		companyID:    j.actor.Company.ID,
		gatewayID:    j.setup.ID,
		provider:     j.setup.name,
		invoiceID:    j.invoiceID,
		customerID:   j.invoice.Customer.ID,
		customerName: j.invoice.Customer.Name,
		order:        Order{Reference: id.NewCode(32), Amount: wanted.rest()},
		payableOn:    wanted.today(),
		state:        reserved,
		claim:        id.NewCode(16),
		nextCheck:    tx.Now().Add(j.service.lease()),
		createdAt:    tx.Now(),
	}}
	change.after.ExpiresAt = wanted.expiry()
	switch {
	case j.debits != 0:
		j.asDebit(&change.after)
	case j.payer.CpfCnpj != "" && wanted.computable() && j.service.computes(j.setup):
		// Its money counts for the day on which it came.
		change.after.dueTerms, change.after.payableOn = wanted.byDue().String(), civil.Date{}
		// The end of the last day on which such a charge can be paid.
		change.after.ExpiresAt = wanted.invoice.DueOn.AddDays(dueDays + 1).Start(wanted.company.Zone)
	}
	if j.code == authorisingCode {
		if err := j.reserveAuthorisation(ctx, tx, &change.after); err != nil {
			return nil, err
		}
	}
	if err := j.service.applyCharge(ctx, tx, &change); err != nil {
		return nil, err
	}
	j.charge = change.after
	return j.fillOrder(ctx, tx)
}

func (j *charging) errBlocked() error {
	return fault.Upstream(j.setup.Problem, errors.New("the gateway has failed too often to be asked at the moment"))
}

// fillOrder completes the order of the reserved charge; the next step sends it.
func (j *charging) fillOrder(ctx context.Context, tx *sqldb.Tx) (step, error) {
	code, err := payCode(ctx, tx, j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return nil, err
	}
	order := &j.charge.order
	order.Description, order.ExpiresAt, order.PayURL = j.invoice.Description, j.charge.ExpiresAt, j.service.payURL(code)
	if order.Description == "" {
		order.Description = j.actor.Company.Name
	}
	if j.charge.dueTerms != "" {
		due := j.owed(tx.Now()).byDue()
		order.Due = &due
	}
	order.Payer = payerOf(j.payer)
	return j.create, nil
}

func payerOf(record customer.Customer) Payer {
	return Payer{
		Reference: record.UUID,
		Name:      record.Name,
		Email:     record.Email,
		TaxID:     record.CpfCnpj,
		Phone:     record.Whatsapp,
		Address:   record.Address,
	}
}

// waiters lets one caller of this process at a time work on an invoice: the
// others would only poll the database until the first is done.
type waiters struct {
	mu     sync.Mutex
	queues map[int64]*queue
}

// queue is the callers that wait for one invoice, and the one that works on it.
type queue struct {
	lock    chan struct{}
	members int
}

// lock waits until no other caller works on the invoice; unlock lets the next
// one in.
func (w *waiters) lock(ctx context.Context, invoiceID int64) (unlock func(), err error) {
	queue := w.join(invoiceID)
	select {
	case queue.lock <- struct{}{}:
		return func() {
			<-queue.lock
			w.leave(invoiceID, queue)
		}, nil
	case <-ctx.Done():
		w.leave(invoiceID, queue)
		return nil, ctx.Err()
	}
}

func (w *waiters) join(invoiceID int64) *queue {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queues == nil {
		w.queues = map[int64]*queue{}
	}
	q := w.queues[invoiceID]
	if q == nil {
		q = &queue{lock: make(chan struct{}, 1)}
		w.queues[invoiceID] = q
	}
	q.members++
	return q
}

func (w *waiters) leave(invoiceID int64, queue *queue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if queue.members--; queue.members == 0 {
		delete(w.queues, invoiceID)
	}
}
