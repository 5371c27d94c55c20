package payment

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// callAbout says which gateway is called, for what, and about which charge.
type callAbout struct {
	setup     Setup
	operation string
	reference string
}

// call calls a gateway, logs the call and counts it. A gateway that panics has
// failed, and no more: its code parses the answers of others.
func (s *Service) call(ctx context.Context, about callAbout, do func(ctx context.Context) error) error {
	began := s.db.Real()
	err := worker.Guard(ctx, func() error { return do(ctx) })
	s.metrics.calls.WithLabelValues(about.setup.name, about.operation, outcomeOf(err)).Inc()
	s.logCall(ctx, about, s.db.Real().Sub(began), err)
	return err
}

func (s *Service) logCall(ctx context.Context, about callAbout, took time.Duration, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.Int64("company_id", about.setup.CompanyID), slog.String("provider", about.setup.name),
		slog.String("operation", about.operation), slog.String("outcome", outcomeOf(err)),
		slog.Duration("took", took),
	}
	if about.reference != "" {
		attrs = append(attrs, slog.String("reference", about.reference))
	}
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any("error", err))
	}
	s.options.Log.LogAttrs(ctx, level, "gateway call", attrs...)
}

// outcomeOf names the outcome of a call for the metrics.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrNoCharge):
		return "unknown"
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.Is(err, ErrPaid):
		return "paid"
	case errors.Is(err, ErrForged):
		return "forged"
	}
	return "failed"
}

// broken reports whether a gateway failed, which a refusal is not.
func broken(err error) bool { return outcomeOf(err) == "failed" }

// explain turns the error of a gateway into a fault that may be shown.
func explain(setup Setup, err error) error {
	title := setup.Provider.Title
	if title == "" {
		title = setup.name
	}
	refusal, hasReason := errors.AsType[*Refusal](err)
	taken, isTaken := errors.AsType[*WebhookTaken](err)
	switch {
	case err == nil:
		return nil
	case isTaken:
		return fault.Upstream(title+": "+taken.Error(), err)
	case hasReason:
		return fault.Upstream(title+" refused: "+refusal.Reason, err)
	case errors.Is(err, ErrRefused):
		return fault.Upstream(title+" refused", err)
	case errors.Is(err, errNoDebits):
		return fault.Upstream("the company's gateway has no PIX Automático", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Upstream(title+" did not answer in time; try again in a moment", err)
	}
	return fault.Upstream(title+" is not working at the moment; try again in a little while", err)
}

// publicProblem is what the company may read of a failure.
func publicProblem(setup Setup, err error) string {
	if err == nil {
		return ""
	}
	return fault.Public(explain(setup, err))
}

const (
	// breakerAt is how many failures in a row open the breaker: then the engine
	// does not call the gateway for a while, and other callers are refused at once.
	breakerAt     = 5
	breakerPause  = 10 * time.Second
	breakerLimit  = 5 * time.Minute
	callsPerClaim = 2               // charges of one gateway that are checked at once
	spacing       = 2 * time.Second // between checks at one gateway, unless its provider wants more
)

// blocked reports whether a gateway has failed too often to be called now.
func (u Setup) blocked(now time.Time) bool {
	return u.Failures >= breakerAt && u.resumeAt.After(now)
}

// recordGatewayHealth counts the failures of a gateway. It writes nothing when
// the gateway works and did before.
func recordGatewayHealth(ctx context.Context, tx *sqldb.Tx, setup Setup, err error) error {
	switch {
	case !broken(err):
		problem := ""
		if errors.Is(err, ErrRefused) {
			problem = publicProblem(setup, err)
		}
		return clearFailures(ctx, tx, setup, problem)
	case errors.Is(err, context.Canceled), errors.Is(err, errNoDebits): // we stopped, or never called it
		return nil
	}
	failures, dbErr := countFailure(ctx, tx, setup, publicProblem(setup, err))
	if dbErr != nil || failures < breakerAt {
		return dbErr
	}
	pause := breakerPause << min(failures-breakerAt, 10)
	return pauseGateway(ctx, tx, setup, tx.Now().Add(min(pause, breakerLimit)))
}

// A debit is announced in the working days from announceFrom to announceTo ahead
// of it. An invoice that is later is charged as usual.
const (
	announceFrom = 10
	announceTo   = 2
)

var (
	// errNotDebited says that an invoice is not debited by an authorisation: it is
	// outside of the window, the authorisation has ended, or a debit has failed.
	errNotDebited = errors.New("the invoice is not debited")
	// errCodeIsOut says that a payer has a code for the invoice. It is announced
	// when the code has ended, if it is not too late then.
	errCodeIsOut = errors.New("a payer has a code for the invoice")
	// errBeingDebited says that a debit can no longer be stopped.
	errBeingDebited = fault.Conflict(
		"the invoice is being debited from the customer's account and that can no longer be stopped; " +
			"a code is given out when the debit has failed",
	)
)

// announces reports whether a debit on a day can be announced today.
func announces(on, today civil.Date) bool {
	return !today.Before(on.AddWorkingDays(-announceFrom)) && !today.After(on.AddWorkingDays(-announceTo))
}

// announceDebits announces the invoices of a customer that are due soon. What
// fails is tried again at the next check of the authorisation.
func (s *Service) announceDebits(ctx context.Context, work authorisationCheck) error {
	actor := account.System(work.company, "autopay")
	if !actor.May(account.FunctionPayments) {
		return nil
	}
	today := actor.Today(s.db.Now())
	invoices, _, err := s.billing.List(ctx, actor, billing.Filter{
		CustomerID: work.known.customerID,
		Status:     billing.Open,
		DueFrom:    today,
	}, input.Page{Number: 1, Size: 100})
	if err != nil {
		return err
	}
	var failed []error
	for _, invoice := range invoices {
		if !invoice.Generated || !announces(invoice.DueOn.NextWorkingDay(), today) {
			continue
		}
		err := s.announce(ctx, actor, invoice.ID, work.known.id)
		if !notAnnounced(err) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// notAnnounced reports whether an invoice need not be announced again, or was.
func notAnnounced(err error) bool {
	return err == nil || errors.Is(err, errNotDebited) || errors.Is(err, errCodeIsOut) || errors.Is(err, errBeingDebited) ||
		fault.KindOf(err) == fault.KindInvalid || fault.KindOf(err) == fault.KindNotFound
}

// announce has the debit of an invoice announced. It goes the way of Charge.
func (s *Service) announce(ctx context.Context, actor account.Actor, invoiceID, authorisationID int64) error {
	job := s.newCharging(actor, invoiceID)
	job.debits = authorisationID
	return job.runAlone(ctx)
}

// mayDebit refuses to announce what is not to be debited; of a charge that a
// payer pays it refuses nothing.
func (j *charging) mayDebit(ctx context.Context, tx *sqldb.Tx) error {
	if j.debits == 0 {
		return nil
	}
	by, err := lockAuthorisation(ctx, tx, j.actor.Company.ID, j.debits)
	if err != nil {
		return err
	}
	givenUp, err := debitGivenUp(ctx, tx, j.actor.Company.ID, j.invoiceID)
	if err != nil {
		return err
	}
	open := announces(j.debitOn(), j.actor.Today(tx.Now()))
	if givenUp || !open || by.state != authActive || by.gatewayID != j.setup.ID || j.debitAmount() == 0 {
		return errNotDebited
	}
	return nil
}

// debitOn is the day on which the invoice is debited.
func (j *charging) debitOn() civil.Date { return j.invoice.DueOn.NextWorkingDay() }

// debitAmount is what is debited: what pays the invoice on its due date, also
// when banks rest on it.
func (j *charging) debitAmount() money.Cents {
	return j.invoice.PayableOn(j.actor.Company, j.invoice.DueOn).Rest
}

// asDebit makes a charge that is reserved a debit.
func (j *charging) asDebit(charge *charge) {
	charge.debit = debit{authorisationID: j.debits, on: j.debitOn()}
	charge.order.Amount, charge.payableOn = j.debitAmount(), j.invoice.DueOn
	charge.ExpiresAt = j.debitOn().AddDays(debitDays + 1).Start(j.actor.Company.Zone)
}

// fits reports whether a charge that the invoice has is what is wanted.
func (j *charging) fits(known charge, now time.Time) bool {
	switch {
	case j.code == authorisingCode && (known.debit.authorisationID != j.newest.id || !j.newest.state.live()),
		j.code == plainCode && known.authorises():
		return false
	case j.debits == 0:
		return j.owed(now).fits(known)
	}
	return known.debit.authorisationID == j.debits && known.order.Amount == j.debitAmount() &&
		known.payableOn.NextWorkingDay() == j.debitOn()
}

// DebitDays says on which days invoices will be debited, by their ids. Those for
// which no debit is announced are left out.
func (s *Service) DebitDays(ctx context.Context, actor account.Actor, invoiceIDs []int64) (map[int64]civil.Date, error) {
	if len(invoiceIDs) == 0 {
		return map[int64]civil.Date{}, nil
	}
	return announcedOn(ctx, s.db, actor.Company.ID, invoiceIDs)
}
