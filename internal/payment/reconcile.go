package payment

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

const (
	// maxMisses is how many lookups that find nothing a reserved charge has: then
	// it is taken not to exist, and is cancelled by its reference.
	maxMisses = 5
	// maxInFlight is how many charges a process checks at once.
	maxInFlight = 16
	// poll is how often the engine looks for due charges without a hint.
	poll = time.Second
	// keepAsking is how long a gateway that fails is asked about a closed charge.
	keepAsking = 7 * 24 * time.Hour
	// failedCheck is the wait before a closed charge is checked again when the
	// check itself failed.
	failedCheck = 15 * time.Minute
)

// Run checks due charges and callbacks until ctx ends, then waits for the checks
// in flight. No failure ends it: it tries again a little later.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	loop := worker.Loop{Name: "settle charges", Wake: s.wake, Poll: poll, Log: log}
	loop.Run(ctx, func(ctx context.Context) (time.Duration, error) {
		n, err := s.Reconcile(ctx)
		if n > 0 {
			return 0, err
		}
		return poll, err
	})
}

// Reconcile checks once what is due, and returns how much that was. Any number
// of processes may do so at once.
func (s *Service) Reconcile(ctx context.Context) (int, error) {
	callbacks, err := s.resolveCallbacks(ctx)
	if err != nil {
		return 0, err
	}
	authorisations, err := s.checkAuthorisations(ctx)
	if err != nil {
		return callbacks, err
	}
	charges, err := s.claim(ctx, maxInFlight)
	var checks sync.WaitGroup
	for _, charge := range charges {
		checks.Go(func() { s.checkCharge(context.WithoutCancel(ctx), charge) })
	}
	checks.Wait()
	return callbacks + authorisations + len(charges), err
}

// Look finds whether there is something to reconcile, and Wake has Run do it.
func (s *Service) Look() sqldb.Statement {
	return sqldb.DueLook(s.db, `SELECT next_try_at AS at FROM gateway_callbacks WHERE next_try_at IS NOT NULL /* every company_id */`,
		`SELECT next_check_at AS at FROM authorisations WHERE next_check_at IS NOT NULL /* every company_id */`,
		`SELECT next_check_at AS at FROM charges WHERE next_check_at IS NOT NULL /* every company_id */`)
}

// Wake has Run reconcile at once.
func (s *Service) Wake() { s.wake.Hint() }

// claim leases due charges to this process.
func (s *Service) claim(ctx context.Context, limit int) (claimed []charge, err error) {
	// A read first: an idle engine writes nothing.
	ids, err := dueCharges(ctx, s.db, s.db.Now(), s.pace(limit))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if claimed, err = claimCharges(ctx, tx, ids, tx.Now().Add(s.lease())); err != nil {
			return err
		}
		return s.spaceOut(ctx, tx, usesOf(claimed))
	})
	crashpoint.Here("check-claimed")
	return claimed, err
}

// Inherit makes the charges due at which a dead process was looking. Only the
// single process of a database may call it. The claims under which something was
// made, cancelled or debited run out by themselves: such a request may still be on
// its way to the gateway.
func (s *Service) Inherit(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return endLooks(ctx, tx) })
}

// pace is how many charges to claim, of all gateways and of one.
func (s *Service) pace(limit int) claimPace {
	if s.options.Unpaced {
		return claimPace{limit, limit}
	}
	return claimPace{limit, callsPerClaim}
}

// check is a claimed charge with the gateway that it is checked at.
type check struct {
	setup  Setup
	charge charge
}

// checkCharge finishes what a claimed charge is due for.
func (s *Service) checkCharge(ctx context.Context, claimed charge) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	work := check{charge: claimed}
	err := worker.Guard(ctx, func() (err error) {
		if work.setup, err = s.setupByID(ctx, claimed.companyID, claimed.gatewayID); err != nil {
			return err
		}
		return s.dispatch(ctx, work)
	})
	if worker.Panicked(err) {
		s.strike(ctx, work, err)
		return
	}
	s.strikes.Clear(claimed.id)
	if err != nil && !isGatewayError(err) {
		s.options.Log.ErrorContext(ctx, "charge not looked after; it will be",
			"company_id", claimed.companyID, "reference", claimed.order.Reference, "error", err)
	}
}

// errGateway marks a failure of the gateway, once it is recorded.
var errGateway = errors.New("gateway")

// isGatewayError reports whether the gateway failed, which is in the log already,
// and not this program.
func isGatewayError(err error) bool { return errors.Is(err, errGateway) }

// dispatch chooses what a charge is due for.
func (s *Service) dispatch(ctx context.Context, work check) error {
	switch state := work.charge.state; {
	case work.setup.Provider.Manual && (state == cancelling || state == reserved):
		return s.endManual(ctx, work, cancelled)
	case work.setup.Provider.Manual:
		return s.endManual(ctx, work, expired)
	case state == cancelling:
		return s.cancelAtGateway(ctx, work)
	}
	return s.fetch(ctx, work)
}

// endManual closes a charge that only we know of: no gateway must be called. Its
// code can be paid for ever, which is why a person confirms.
func (s *Service) endManual(ctx context.Context, work check, state chargeState) error {
	return s.finish(ctx, work, nil, func(charge *charge, now time.Time) {
		if !charge.state.closed() && (state == cancelled || !charge.ExpiresAt.After(now)) {
			charge.enter(state, now)
		}
	})
}

// fetch reads a charge from the gateway, and settles it.
func (s *Service) fetch(ctx context.Context, work check) error {
	report, err := s.report(ctx, work)
	crashpoint.Here("charge-looked-up")
	if err == nil {
		err = s.settle(ctx, work, report)
	}
	if err == nil {
		return s.retryDebit(ctx, work, report)
	}
	return s.finish(ctx, work, err, func(charge *charge, now time.Time) {
		charge.onMissing(err, now)
	})
}

// report calls the gateway for a charge.
func (s *Service) report(ctx context.Context, work check) (report Report, err error) {
	gateway, err := s.openFor(ctx, work)
	if err != nil {
		return report, err
	}
	about := callAbout{work.setup, "look", work.charge.order.Reference}
	err = s.call(ctx, about, func(ctx context.Context) (err error) {
		report, err = gateway.Fetch(ctx, work.charge.ref())
		return err
	})
	return report, err
}

// onMissing decides about a charge that the gateway did not report.
func (c *charge) onMissing(err error, now time.Time) {
	unknown := errors.Is(err, ErrNoCharge)
	switch {
	case unknown && c.state == reserved && c.checks >= maxMisses,
		unknown && c.state == pending && !c.ExpiresAt.After(now):
		c.enter(cancelling, now)
	case broken(err) && c.state.closed() && now.Before(c.closedAt.Add(keepAsking)):
		c.checks-- // this check does not count
	}
}

// cancelAtGateway makes sure at the gateway that a charge can be paid no more.
func (s *Service) cancelAtGateway(ctx context.Context, work check) error {
	if work.setup.Provider.Manual {
		return s.endManual(ctx, work, cancelled)
	}
	gateway, err := s.openFor(ctx, work)
	if err == nil {
		about := callAbout{work.setup, "cancel", work.charge.order.Reference}
		err = s.call(ctx, about, func(ctx context.Context) error {
			return gateway.Cancel(ctx, work.charge.ref())
		})
	}
	crashpoint.Here("charge-cancelled")
	if errors.Is(err, ErrPaid) {
		return s.fetch(ctx, work)
	}
	return s.finish(ctx, work, err, func(charge *charge, now time.Time) {
		if err == nil && charge.state == cancelling {
			charge.end(now)
		}
	})
}

// finish ends a claim and records what became of the charge. It returns what the
// gateway failed with. A worker that has lost its claim changes nothing.
func (s *Service) finish(ctx context.Context, work check, cause error, change func(c *charge, now time.Time)) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		locked, err := lockCharge(ctx, tx, work.charge.companyID, work.charge.id)
		if err != nil {
			return err
		}
		if locked.claim == work.charge.claim {
			changed := changeOf(locked)
			change(&changed.after, tx.Now())
			changed.after.hintedAt = unanswered(changed.after.hintedAt, work.charge.hintedAt)
			changed.after.finished(work.setup, cause, tx.Now())
			if err := s.applyCharge(ctx, tx, &changed); err != nil {
				return err
			}
		}
		return recordGatewayHealth(ctx, tx, work.setup, cause)
	})
	if err != nil || cause == nil {
		return err
	}
	return errors.Join(errGateway, cause)
}

// finished ends the claim of a charge after a check that may have failed.
func (c *charge) finished(setup Setup, cause error, now time.Time) {
	c.problem = publicProblem(setup, cause)
	c.release(setup.Provider, now)
	if broken(cause) && c.state.closed() && !c.nextCheck.After(now) {
		c.nextCheck = now.Add(worker.Jitter(failedCheck))
	}
}

// setupByID reads a setup, also one that the company does not use any more.
func (s *Service) setupByID(ctx context.Context, companyID, gatewayID int64) (Setup, error) {
	setup, err := sqldb.One(ctx, s.db, scanSetup, `SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND id = ?`,
		companyID, gatewayID)
	setup.Provider = s.providers[setup.name]
	return setup, err
}

// Ended is a charge that can be paid no more, since its time is over.
type Ended struct {
	CompanyID int64
	Reference string
}

// NextDue is when the next charge, authorisation or callback is to be looked into; zero: never,
// as things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[civil.Instant](ctx, s.db, nextDueText)
	if due := time.Time(at); err != nil || due.IsZero() || due.After(s.db.Now()) {
		return due, err
	}
	at, err = sqldb.Value[civil.Instant](ctx, s.db, nextCheckText)
	return time.Time(at), err
}

// nextDueText finds the first one through indexes.
const nextDueText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(next_check_at) AS at FROM charges WHERE next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_check_at) FROM authorisations WHERE next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_try_at) FROM gateway_callbacks WHERE next_try_at IS NOT NULL
	) AS t /* every company_id */`

// nextCheckText is for when something is due already: the charges of a gateway
// that is paused wait until it is called again.
const nextCheckText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(CASE WHEN c.hinted_at = 0 AND g.resume_at > c.next_check_at THEN g.resume_at ELSE c.next_check_at END) AS at
		FROM charges c JOIN gateways g ON g.company_id = c.company_id AND g.id = c.gateway_id
		WHERE c.next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(CASE WHEN a.hinted_at = 0 AND g.resume_at > a.next_check_at THEN g.resume_at ELSE a.next_check_at END)
		FROM authorisations a JOIN gateways g ON g.company_id = a.company_id AND g.id = a.gateway_id
		WHERE a.next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_try_at) FROM gateway_callbacks WHERE next_try_at IS NOT NULL
	) AS t /* every company_id */`

// InFlight reports whether a gateway is being called for a charge or an
// authorisation.
func (s *Service) InFlight(ctx context.Context) (bool, error) {
	return rows.Some(ctx, s.db, `SELECT count(*) FROM (
		SELECT id FROM charges WHERE claim <> '' AND next_check_at > ?
		UNION ALL
		SELECT id FROM authorisations WHERE claim <> '' AND next_check_at > ?) AS busy /* every company_id */`,
		s.db.Now().UnixMicro(), s.db.Now().UnixMicro())
}
