package payment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// create has the gateway make the reserved charge.
func (j *charging) create(ctx context.Context) error {
	gateway, err := j.service.openFor(ctx, check{j.setup, j.charge})
	if err != nil {
		return errors.Join(fault.Internal(err), j.recordFailure(ctx, err))
	}
	var made Charge
	about := callAbout{j.setup, "create", j.charge.order.Reference}
	err = j.service.call(ctx, about, func(ctx context.Context) (err error) {
		made, err = gateway.Create(ctx, j.charge.order)
		if err == nil {
			err = j.charge.validate(made)
		}
		return err
	})
	crashpoint.Here("charge-created")
	if err != nil {
		return errors.Join(explain(j.setup, err), j.recordFailure(ctx, err))
	}
	return j.recordCreated(ctx, made)
}

// validate refuses a charge that no gateway can mean.
func (c charge) validate(made Charge) error {
	switch {
	case made.ID == "":
		return errors.New("the gateway made a charge without an id")
	case made.PixCode == "" && made.CheckoutURL == "" && !c.isDebit():
		return errors.New("the gateway made a charge with neither a code nor a page")
	}
	return nil
}

// recordCreated stores what the gateway made. If the charge was closed while the
// gateway made it, there is now something to cancel.
func (j *charging) recordCreated(ctx context.Context, made Charge) error {
	err := j.record(ctx, nil, func(charge *charge, now time.Time) {
		charge.merge(made)
		switch {
		case charge.state == reserved:
			charge.enter(pending, now)
		case charge.state.closed() && charge.state != paid:
			charge.enter(cancelling, now)
		}
	})
	crashpoint.Here("charge-adopted")
	if err == nil {
		j.service.metrics.charges.WithLabelValues(j.setup.name, "made").Inc()
	}
	return err
}

// recordFailure stores that the gateway did not make the charge. After a refusal
// there is none; after any other failure it stays reserved, since it may exist.
func (j *charging) recordFailure(ctx context.Context, cause error) error {
	j.service.metrics.charges.WithLabelValues(j.setup.name, "failed").Inc()
	return j.record(ctx, cause, func(charge *charge, now time.Time) {
		charge.problem = publicProblem(j.setup, cause)
		if errors.Is(cause, ErrRefused) && (charge.state == reserved || charge.state == cancelling) {
			charge.enter(refused, now)
		}
	})
}

// record applies a change to the charge and ends our claim of it, with the
// gateway's health.
func (j *charging) record(ctx context.Context, cause error, change func(c *charge, now time.Time)) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	return j.service.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockCharge(ctx, tx, j.charge.companyID, j.charge.id)
		if err != nil {
			return err
		}
		changed := changeOf(locked)
		change(&changed.after, tx.Now())
		if locked.claim == j.charge.claim || changed.after.state == cancelling && cause == nil {
			changed.after.release(j.setup.Provider, tx.Now())
		}
		if err := j.service.applyCharge(ctx, tx, &changed); err != nil {
			return err
		}
		return recordGatewayHealth(ctx, tx, j.setup, cause)
	})
}

// cancelPrevious cancels a charge at its gateway, so that another can replace
// it. If the company has left that gateway and it does not answer, the charge is
// left to the reconciliation.
func (j *charging) cancelPrevious(ctx context.Context) error {
	setup, err := j.service.setupByID(ctx, j.charge.companyID, j.charge.gatewayID)
	if err != nil {
		return err
	}
	j.cancelled[j.charge.id] = true
	err = j.service.cancelAtGateway(ctx, check{setup, j.charge})
	if err == nil {
		return nil
	}
	if setup.ID != j.setup.ID && !j.charge.isDebit() {
		j.skipped[j.charge.id] = true
		return nil
	}
	return explain(setup, err)
}

// waitALittle is the step while another process has claimed the charge.
func waitALittle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errStillBusy(ctx.Err())
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

// finishContext is the context of a transaction that records what has happened:
// it must commit even when the time of the request is over.
func finishContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

const (
	// asideFor is how long a charge that keeps panicking is left alone. It is
	// checked again then, since money may have come and the program may have been
	// mended; a callback has it checked sooner.
	asideFor     = 24 * time.Hour
	asideProblem = "looking after this charge fails inside the program; it is set aside for a day: look at the gateway whether it was paid"
)

// strike counts a panic over a charge. Its claim runs out and it is claimed
// again, until it has panicked too often.
func (s *Service) strike(ctx context.Context, work check, cause error) {
	attrs := []any{"company_id", work.charge.companyID, "reference", work.charge.order.Reference, "error", cause}
	if !s.strikes.Add(work.charge.id) {
		s.options.Log.ErrorContext(ctx, "charge panicked; it will be looked after again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "charge set aside: it keeps panicking", attrs...)
	if err := s.setAside(ctx, work); err != nil {
		attrs[len(attrs)-1] = err
		s.options.Log.ErrorContext(ctx, "charge cannot be set aside", attrs...)
	}
}

// setAside has a charge checked no more for asideFor, with a notice at the
// charge and at its gateway.
func (s *Service) setAside(ctx context.Context, work check) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockCharge(ctx, tx, work.charge.companyID, work.charge.id)
		if err != nil || locked.claim != "" && locked.claim != work.charge.claim {
			return err
		}
		change := changeOf(locked)
		change.after.claim, change.after.problem, change.after.hintedAt = "", asideProblem, time.Time{}
		change.after.nextCheck = tx.Now().Add(worker.Jitter(asideFor))
		if err := s.applyCharge(ctx, tx, &change); err != nil {
			return err
		}
		tx.OnCommit(s.metrics.aside.WithLabelValues("charge").Inc)
		if work.setup.ID == 0 {
			return nil
		}
		_, err = countFailure(ctx, tx, work.setup, asideProblem)
		return err
	})
}

// strikeCallback gives up a callback that keeps panicking: reconciliation finds
// what it is about. Its tries are counted where it is stored.
func (s *Service) strikeCallback(ctx context.Context, callback storedCallback, cause error) {
	attrs := []any{"company_id", callback.companyID, "callback", callback.id, "error", cause}
	if callback.tries < worker.MaxStrikes {
		s.options.Log.ErrorContext(ctx, "callback panicked; it will be looked into again", attrs...)
		return
	}
	s.options.Log.ErrorContext(ctx, "callback set aside: it keeps panicking", attrs...)
	if err := s.rescheduleCallback(ctx, callback, nil); err != nil {
		attrs[len(attrs)-1] = err
		s.options.Log.ErrorContext(ctx, "callback cannot be set aside", attrs...)
		return
	}
	s.metrics.aside.WithLabelValues("callback").Inc()
}

// codeKind is which code a payer wants for an invoice.
type codeKind int

const (
	anyCode         codeKind = iota // the one that can be paid already, else a plain one
	plainCode                       // one that pays, and authorises nothing
	authorisingCode                 // one that pays, and authorises the debits that follow
)

// authorises reports whether paying the charge authorises the debits that follow.
func (c charge) authorises() bool {
	return c.debit.authorisationID != 0 && c.debit.on.IsZero()
}

// ChargeAuthorising is Charge with a code that pays the invoice and authorises the
// debits of those that follow. The charge and the authorisation are two records
// that are reserved together; from then on each goes its own way.
func (s *Service) ChargeAuthorising(ctx context.Context, actor account.Actor, invoiceID int64) (Payable, error) {
	return s.chargeWith(ctx, actor, invoiceID, authorisingCode)
}

// chargeWith is Charge with a code of a kind.
func (s *Service) chargeWith(ctx context.Context, actor account.Actor, invoiceID int64, kind codeKind) (Payable, error) {
	job := s.newCharging(actor, invoiceID)
	job.code = kind
	return job.payable(ctx)
}

// mayAuthorise refuses a code that authorises where the gateway, the customer's
// plan, or an authorisation that the customer has, rules it out.
func (j *charging) mayAuthorise(ctx context.Context, tx *sqldb.Tx) (err error) {
	if j.code != authorisingCode {
		return nil
	}
	j.newest, err = newestAuthorisation(ctx, tx, j.actor.Company.ID, j.payer.ID)
	switch {
	case err != nil:
		return err
	case j.newest.state == authActive:
		return fault.Conflict("the customer has authorised already")
	}
	_, err = j.service.askable(asking{draft: payCodeDraft, setup: j.setup}, j.payer)
	return err
}

var payCodeDraft = AutopayRequestDraft{Journey: JourneyPayCode}

// mayAuthorise reports whether a payer who has a plain code can have one that
// authorises.
func (s *Service) mayAuthorise(ctx context.Context, page Page) (bool, error) {
	if page.Authorises || page.Invoice.Status != billing.Open || !slices.Contains(s.journeys(page.setup), JourneyPayCode) {
		return false, nil
	}
	payer, err := customer.FindIn(ctx, s.db, account.System(page.Company, "checkout"), page.Invoice.Customer.ID)
	return payer.Autopay != customer.AutopayActive && Debitable(payer), err
}

// reserveAuthorisation stores what a charge that is reserved authorises. Whatever
// the customer was asked before makes place for it.
func (j *charging) reserveAuthorisation(ctx context.Context, tx *sqldb.Tx, reserved *charge) error {
	if err := j.service.endTx(ctx, j.actor.In(tx), j.newest, replacedReason); err != nil {
		return err
	}
	ask := asking{draft: payCodeDraft, setup: j.setup}
	made := authorisationChange{after: j.service.newAuthorisation(j.actor, j.payer, ask, tx.Now())}
	made.after.every, _ = everyOf(j.payer.Period())
	made.after.expiresAt, made.after.claim = reserved.ExpiresAt, "" // the charge's worker makes it
	if err := j.service.applyAuthorisation(ctx, j.actor.In(tx), &made); err != nil {
		return err
	}
	reserved.debit.authorisationID = made.after.id
	return nil
}

// Why an authorisation by an unpaid code ends.
const (
	replacedReason = "another code has taken its place"
	unpaidReason   = "its code can no longer be paid"
)

// authorising shows a Debitor as the Gateway of a charge that authorises.
type authorising struct {
	Debitor
	by authorisation
}

func (s *Service) openAuthorising(ctx context.Context, work check) (Gateway, error) {
	gateway, err := s.open(work.setup)
	if err != nil {
		return nil, err
	}
	by, err := authorisationByID(ctx, s.db, work.charge.companyID, work.charge.debit.authorisationID)
	debitor, can := gateway.(Debitor)
	if err != nil || !can || !by.state.live() { // what has ended is not authorised any more
		return gateway, err
	}
	return &authorising{debitor, by}, nil
}

// Create makes the charge together with the authorisation.
func (a *authorising) Create(ctx context.Context, order Order) (Charge, error) {
	mandate := a.by.mandate(order.Payer)
	mandate.Charge = &order
	made, err := a.Authorise(ctx, mandate)
	switch {
	case err != nil:
		return Charge{}, err
	case made.Charge == nil:
		return Charge{}, errors.New("the gateway made an authorisation without a charge")
	}
	charge := *made.Charge
	charge.PixCode = cmp.Or(made.PixCode, charge.PixCode)
	return charge, nil
}

// awaitsPayment reports whether an authorisation is given by the payment of a
// charge, which has not come.
func (a authorisation) awaitsPayment() bool {
	return a.journey == JourneyPayCode && (a.state == authReserved || a.state == authAsked)
}

// codeIsDead reports whether an authorisation waits for the payment of a charge
// that can be paid no more.
func (s *Service) codeIsDead(ctx context.Context, waiting authorisation) (bool, error) {
	if !waiting.awaitsPayment() {
		return false, nil
	}
	state, err := stateOfCharge(ctx, s.db, waiting)
	return state.closed() && state != paid, err
}

// pokeAuthorised schedules a check of an authorisation after its code was
// paid, or can no longer be paid.
func (s *Service) pokeAuthorised(ctx context.Context, tx *sqldb.Tx, change *chargeChange) error {
	ends := change.after.state.closed() && !change.before.state.closed()
	if !ends || !change.after.authorises() {
		return nil
	}
	return s.poke(ctx, tx, change.after.companyID, []int64{change.after.customerID})
}

// Attempt is one charge of an invoice, for its history.
type Attempt struct {
	ID        int64
	Provider  string
	Manual    bool // a person confirms its payment
	Amount    money.Cents
	State     string // reserved, pending, cancelling, paid, cancelled, expired or refused
	Problem   string // what the last call about it failed with
	CreatedAt time.Time
	ExpiresAt time.Time
	ClosedAt  time.Time // zero: it is not closed
}

// maxAttempts is how many charges of an invoice are shown.
const maxAttempts = 20

// Attempts lists the newest charges of an invoice, newest first.
func (s *Service) Attempts(ctx context.Context, actor account.Actor, invoiceID int64) ([]Attempt, error) {
	list, err := sqldb.All(ctx, s.db, scanCharge, `
		SELECT `+chargeColumns+` FROM charges WHERE company_id = ? AND invoice_id = ? ORDER BY id DESC LIMIT ?`,
		actor.Company.ID, invoiceID, maxAttempts)
	if err != nil {
		return nil, err
	}
	attempts := make([]Attempt, len(list))
	for n, charge := range list {
		attempts[n] = Attempt{
			ID:        charge.id,
			Provider:  charge.provider,
			Manual:    s.providers[charge.provider].Manual,
			Amount:    charge.order.Amount,
			State:     string(charge.state),
			Problem:   charge.problem,
			CreatedAt: charge.createdAt,
			ExpiresAt: charge.ExpiresAt,
			ClosedAt:  charge.closedAt,
		}
	}
	return attempts, nil
}
