package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/payment/pix"
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
}

// QR is a PNG of what is to be scanned: the code, or the address of the
// gateway's page.
func (p Payable) QR() ([]byte, error) {
	text := p.PixCode
	if p.Flow == FlowRedirect {
		text = p.CheckoutURL
	}
	return pix.PNG(text)
}

// Charge has an invoice charged at the company's gateway and returns what a
// payer needs. While a charge for the same amount can be paid it is returned
// again, however many ask for it at once. An address that wants to know of the
// payment is remembered with it; it has been checked.
//
// The reference of a charge is stored before the gateway hears of it. A gateway
// that fails leaves it reserved: whoever asks next, or else the reconciliation,
// goes on under the same reference.
func (s *Service) Charge(ctx context.Context, a account.Actor, invoiceID int64, notificationURL string) (Payable, error) {
	// Whoever asked may leave meanwhile; what was begun is brought to its end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	leave, err := s.turns.enter(ctx, invoiceID)
	if err != nil {
		return Payable{}, errStillBusy(err)
	}
	defer leave()
	job := &charging{Service: s, actor: a, invoiceID: invoiceID, notify: notificationURL, passed: map[int64]bool{}}
	for {
		do, err := job.reserve(ctx)
		if err != nil {
			return Payable{}, late(ctx, err)
		}
		if do == nil {
			return job.payable(), nil
		}
		if err := do(ctx); err != nil {
			return Payable{}, late(ctx, err)
		}
	}
}

func errStillBusy(cause error) error {
	return fault.Upstream("the payment gateway has not answered yet; try again in a moment", cause)
}

// late is what a call that ran out of its time says, wherever it was.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil && fault.KindOf(err) == fault.KindInternal {
		return errStillBusy(err)
	}
	return err
}

// charging is one call of Charge.
type charging struct {
	*Service
	actor     account.Actor
	invoiceID int64
	notify    string

	setup   Setup
	invoice billing.Invoice
	charge  charge
	passed  map[int64]bool // charges of other gateways that could not be cancelled: they do not stand in the way for ever
}

func (j *charging) payable() Payable {
	p := Payable{
		Invoice: j.invoice, Provider: j.charge.provider, Flow: j.charge.flow(), Amount: j.charge.order.Amount,
		PixCode: j.charge.PixCode, ExpiresAt: j.charge.ExpiresAt,
	}
	if p.Flow == FlowRedirect {
		p.CheckoutURL = j.charge.CheckoutURL
	}
	return p
}

// reserve decides in one transaction what is to be done next; nothing is when
// there is a charge that can be paid.
func (j *charging) reserve(ctx context.Context) (do func(context.Context) error, err error) {
	err = j.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if j.invoice, err = billing.LockTx(ctx, tx, j.actor, j.invoiceID); err != nil {
			return err
		}
		if j.invoice.Status != billing.Open {
			return fault.Field("invoice", fmt.Sprintf("is %s; only one that is %s can be paid", j.invoice.Status, billing.Open))
		}
		if j.setup, err = j.active(ctx, tx, j.actor.Company.ID); err != nil {
			return err
		}
		if j.notify != "" && j.options.Notify != nil {
			if err := j.options.Notify(ctx, tx, j.actor, j.invoiceID, j.notify); err != nil {
				return err
			}
		}
		do, err = j.next(ctx, tx)
		return err
	})
	crashpoint.Here("charge-reserved")
	return do, err
}

func (j *charging) next(ctx context.Context, tx *sqldb.Tx) (func(context.Context) error, error) {
	known, err := unsettled(ctx, tx, j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return nil, err
	}
	for _, c := range known {
		if j.passed[c.id] {
			continue
		}
		if do, err := j.dealWith(ctx, tx, c); err != nil || do != nil || c.id == j.charge.id {
			return do, err
		}
	}
	return j.begin(ctx, tx)
}

// dealWith decides what to do about a charge that the invoice has: return it
// (nil, with j.charge set), finish what was begun, or cancel it first.
func (j *charging) dealWith(ctx context.Context, tx *sqldb.Tx, c charge) (func(context.Context) error, error) {
	fits := c.order.Amount == j.invoice.Amount && c.gatewayID == j.setup.ID && c.ExpiresAt.After(tx.Now())
	switch {
	case fits && c.state == pending:
		j.charge = c
		return nil, nil
	case c.busy(tx.Now()):
		return waitALittle, nil
	case j.setup.blocked(tx.Now()):
		return nil, fault.Upstream(j.setup.Problem, errors.New("the gateway has failed too often to be asked at the moment"))
	}
	c.claim, c.nextCheck = id.NewCode(16), tx.Now().Add(j.lease())
	if !fits || c.state != reserved {
		c.enter(cancelling, tx.Now())
	}
	j.charge = c
	if err := saveCharge(ctx, tx, c); err != nil {
		return nil, err
	}
	if c.state == cancelling {
		return j.retire, nil
	}
	return j.makeIt(ctx, tx)
}

// begin reserves a new charge.
func (j *charging) begin(ctx context.Context, tx *sqldb.Tx) (func(context.Context) error, error) {
	if j.setup.blocked(tx.Now()) {
		return nil, fault.Upstream(j.setup.Problem, errors.New("the gateway has failed too often to be asked at the moment"))
	}
	j.charge = charge{
		companyID: j.actor.Company.ID, gatewayID: j.setup.ID, provider: j.setup.name, invoiceID: j.invoiceID,
		customerID: j.invoice.Customer.ID, customerName: j.invoice.Customer.Name,
		order: Order{Reference: id.NewCode(32), Amount: j.invoice.Amount},
		state: reserved, claim: id.NewCode(16), nextCheck: tx.Now().Add(j.lease()), createdAt: tx.Now(),
	}
	j.charge.ExpiresAt = tx.Now().Add(lifetime)
	var err error
	if j.charge.id, err = insertCharge(ctx, tx, j.charge); err != nil {
		return nil, err
	}
	return j.makeIt(ctx, tx)
}

// makeIt fills in the order of the reserved charge.
func (j *charging) makeIt(ctx context.Context, tx *sqldb.Tx) (func(context.Context) error, error) {
	payer, err := customer.FindTx(ctx, tx, j.actor, j.invoice.Customer.ID)
	if err != nil {
		return nil, err
	}
	code, err := payCode(ctx, tx, j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return nil, err
	}
	o := &j.charge.order
	o.Description, o.ExpiresAt, o.PayURL = j.invoice.Description, j.charge.ExpiresAt, j.payURL(code)
	if o.Description == "" {
		o.Description = j.actor.Company.Name
	}
	o.Payer = Payer{Reference: payer.UUID, Name: payer.Name, Email: payer.Email}
	return j.create, nil
}

// create has the gateway make the reserved charge.
func (j *charging) create(ctx context.Context) error {
	gw, err := j.open(j.setup)
	if err != nil {
		return errors.Join(fault.Internal(err), j.giveBack(ctx, err))
	}
	var made Charge
	err = j.call(ctx, callAbout{j.setup, "create", j.charge.order.Reference}, func(ctx context.Context) (err error) {
		made, err = gw.Create(ctx, j.charge.order)
		if err == nil {
			err = sane(made)
		}
		return err
	})
	crashpoint.Here("charge-created")
	if err != nil {
		return errors.Join(explain(j.setup, err), j.giveBack(ctx, err))
	}
	return j.adopt(ctx, made)
}

// sane refuses what a gateway cannot mean.
func sane(made Charge) error {
	switch {
	case made.ID == "":
		return errors.New("the gateway made a charge without an id")
	case made.PixCode == "" && made.CheckoutURL == "":
		return errors.New("the gateway made a charge with neither a code nor a page")
	}
	return nil
}

// flow is how a charge is paid. Some gateways do both.
func (c charge) flow() Flow {
	if c.PixCode == "" {
		return FlowRedirect
	}
	return FlowPix
}

// adopt writes down what the gateway made. An invoice that was closed meanwhile
// has its charge cancelled.
func (j *charging) adopt(ctx context.Context, made Charge) error {
	ctx, cancel := closing(ctx)
	defer cancel()
	err := j.db.Write(ctx, func(tx *sqldb.Tx) error {
		c, err := lockCharge(ctx, tx, j.charge.companyID, j.charge.id)
		if err != nil {
			return err
		}
		ours := c.claim == j.charge.claim
		c.take(made)
		switch {
		case c.state == reserved:
			c.enter(pending, tx.Now())
		case c.state.closed() && c.state != paid: // cancelled while it was being made: now there is something to cancel
			c.enter(cancelling, tx.Now())
		}
		if ours || c.state == cancelling {
			c.claim, c.nextCheck = "", j.nextCheck(c, j.setup.Provider, tx.Now())
		}
		if c.state == cancelling {
			tx.OnCommit(j.wake.Hint)
		}
		return errors.Join(saveCharge(ctx, tx, c), heardTx(ctx, tx, j.setup, nil))
	})
	crashpoint.Here("charge-adopted")
	if err == nil {
		j.metrics.charges.WithLabelValues(j.setup.name, "made").Inc()
	}
	return err
}

// take fills in what is known of a charge from the gateway.
func (c *charge) take(made Charge) {
	if c.ID == "" { // a gateway may name a charge by what paid it, too
		c.ID = made.ID
	}
	if made.PixCode != "" {
		c.PixCode = made.PixCode
	}
	if made.CheckoutURL != "" {
		c.CheckoutURL = made.CheckoutURL
	}
	if !made.ExpiresAt.IsZero() {
		c.ExpiresAt = made.ExpiresAt.Truncate(time.Microsecond)
	}
}

// giveBack ends the claim of a charge whose making failed. Refused, there is
// nothing; else nobody knows, and it stays reserved.
func (j *charging) giveBack(ctx context.Context, cause error) error {
	ctx, cancel := closing(ctx)
	defer cancel()
	j.metrics.charges.WithLabelValues(j.setup.name, "failed").Inc()
	return j.db.Write(ctx, func(tx *sqldb.Tx) error {
		c, err := lockCharge(ctx, tx, j.charge.companyID, j.charge.id)
		if err != nil {
			return err
		}
		c.problem = publicProblem(j.setup, cause)
		if errors.Is(cause, ErrRefused) && (c.state == reserved || c.state == cancelling) {
			c.enter(refused, tx.Now())
		}
		if c.claim == j.charge.claim {
			c.claim, c.nextCheck = "", j.nextCheck(c, j.setup.Provider, tx.Now())
		}
		return errors.Join(saveCharge(ctx, tx, c), heardTx(ctx, tx, j.setup, cause))
	})
}

// retire cancels a charge at its gateway, so that another can take its place.
// One of a gateway that the company has left, and that does not answer, is left
// to the reconciliation.
func (j *charging) retire(ctx context.Context) error {
	about, err := j.setupByID(ctx, j.charge.companyID, j.charge.gatewayID)
	if err != nil {
		return err
	}
	err = j.cancelNow(ctx, about, j.charge)
	if err == nil {
		return nil
	}
	if about.ID != j.setup.ID {
		j.passed[j.charge.id] = true
		return nil
	}
	return explain(about, err)
}

// waitALittle is for a charge that another process is dealing with.
func waitALittle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errStillBusy(ctx.Err())
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

// closing is the context of a transaction that writes down what has happened,
// which must be done though the time for doing it is over.
func closing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) //nolint:gosec // whoever asks for it cancels it
}
