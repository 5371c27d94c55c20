package payment

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// checkDelays are the waits between looks at a charge that can be paid; the
// last one repeats until it expires.
var checkDelays = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// lastChecks are the looks at a charge after it was closed: money may be late.
var lastChecks = []time.Duration{10 * time.Minute, 24 * time.Hour}

const (
	// fruitless looks for a charge whose making is unknown end in its being
	// cancelled by its reference: it was not made.
	fruitless = 5
	// slots is how many charges a process looks after at once.
	slots = 16
	// poll is how often the engine looks without having been woken.
	poll = time.Second
	// patience is how long a gateway that fails is asked about a closed charge.
	patience = 7 * 24 * time.Hour
)

// nextCheck is when a charge has to be looked at again; zero: never.
func (s *Service) nextCheck(c charge, p Provider, now time.Time) time.Time {
	switch {
	case !c.hintedAt.IsZero():
		return now
	case p.Manual && c.state == pending:
		return c.ExpiresAt
	case p.Manual && c.state.closed(), c.state == refused:
		return time.Time{}
	case c.state == cancelling && c.checks == 0:
		return now
	case c.state.closed():
		if c.checks >= len(lastChecks) {
			return time.Time{}
		}
		return c.closedAt.Add(lastChecks[c.checks])
	}
	at := now.Add(worker.Jitter(checkDelays[min(c.checks, len(checkDelays)-1)]))
	if c.state == pending && at.After(c.ExpiresAt) && c.ExpiresAt.After(now) {
		return c.ExpiresAt
	}
	return at
}

// Run looks after charges and callbacks until ctx ends, then waits for what is
// under way. It goes on through any failure, looking again a little later.
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

// Reconcile looks once after what is due, and returns how much that was. Any
// number of processes may do so at once.
func (s *Service) Reconcile(ctx context.Context) (int, error) {
	heard, err := s.openCallbacks(ctx)
	if err != nil {
		return 0, err
	}
	charges, err := s.claim(ctx, slots)
	var all sync.WaitGroup
	for _, c := range charges {
		all.Go(func() { s.lookAfter(context.WithoutCancel(ctx), c) })
	}
	all.Wait()
	return heard + len(charges), err
}

// claim makes due charges ours for the length of a lease.
func (s *Service) claim(ctx context.Context, limit int) (claimed []charge, err error) {
	// A look on the read side first: an idle engine writes nothing.
	ids, err := dueCharges(ctx, s.db, s.db.Now(), limit)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if claimed, err = claimCharges(ctx, tx, ids, id.NewCode(16), tx.Now().Add(s.lease())); err != nil {
			return err
		}
		return spaceOut(ctx, tx, claimed)
	})
	crashpoint.Here("check-claimed")
	return claimed, err
}

// lookAfter deals with the gateway about one claimed charge.
func (s *Service) lookAfter(ctx context.Context, c charge) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	var u Setup
	err := worker.Guard(ctx, func() (err error) {
		if u, err = s.setupByID(ctx, c.companyID, c.gatewayID); err != nil {
			return err
		}
		return s.attend(ctx, u, c)
	})
	if worker.Panicked(err) {
		s.strike(ctx, u, c, err)
		return
	}
	s.strikes.Clear(c.id)
	if err != nil && !isAnswer(err) {
		s.options.Log.ErrorContext(ctx, "charge not looked after; it will be", "company_id", c.companyID, "reference", c.order.Reference, "error", err)
	}
}

// isAnswer tells what a gateway said, which is in the log already, from a
// failure of ours.
func isAnswer(err error) bool {
	return errors.Is(err, errGateway)
}

// errGateway marks what a gateway failed with, once it is written down.
var errGateway = errors.New("gateway")

func (s *Service) attend(ctx context.Context, u Setup, c charge) error {
	switch {
	case u.Provider.Manual && (c.state == cancelling || c.state == reserved):
		return s.closeManual(ctx, u, c, cancelled)
	case u.Provider.Manual:
		return s.closeManual(ctx, u, c, expired)
	case c.state == cancelling:
		return s.cancelNow(ctx, u, c)
	}
	return s.look(ctx, u, c)
}

// closeManual closes a charge of which no gateway knows: there is nobody to
// tell. Its code can be paid for ever, which is why a person confirms.
func (s *Service) closeManual(ctx context.Context, u Setup, c charge, state chargeState) error {
	return s.conclude(ctx, u, c, nil, func(c *charge, now time.Time) {
		if !c.state.closed() && (state == cancelled || !c.ExpiresAt.After(now)) {
			c.enter(state, now)
		}
	})
}

// look asks the gateway how a charge stands, and settles.
func (s *Service) look(ctx context.Context, u Setup, c charge) error {
	var r Report
	gw, err := s.open(u)
	if err == nil {
		err = s.call(ctx, callAbout{u, "look", c.order.Reference}, func(ctx context.Context) (err error) {
			r, err = gw.Look(ctx, c.ref())
			return err
		})
	}
	crashpoint.Here("charge-looked-up")
	if err == nil {
		err = s.settle(ctx, u, c, r)
	}
	if err == nil {
		return nil
	}
	return s.conclude(ctx, u, c, err, func(c *charge, now time.Time) { c.unseen(err, now) })
}

// unseen decides about a charge of which the gateway told nothing.
func (c *charge) unseen(err error, now time.Time) {
	lost := errors.Is(err, ErrNoCharge)
	switch {
	case lost && c.state == reserved && c.checks >= fruitless,
		c.state == pending && !c.ExpiresAt.After(now) && lost:
		c.enter(cancelling, now)
	case broken(err) && c.state.closed() && now.Before(c.closedAt.Add(patience)):
		c.checks-- // this look does not count
	}
}

// cancelNow makes sure at the gateway that nobody can pay a charge any more.
func (s *Service) cancelNow(ctx context.Context, u Setup, c charge) error {
	if u.Provider.Manual {
		return s.closeManual(ctx, u, c, cancelled)
	}
	gw, err := s.open(u)
	if err == nil {
		err = s.call(ctx, callAbout{u, "cancel", c.order.Reference}, func(ctx context.Context) error { return gw.Cancel(ctx, c.ref()) })
	}
	crashpoint.Here("charge-cancelled")
	if errors.Is(err, ErrPaid) {
		return s.look(ctx, u, c)
	}
	return s.conclude(ctx, u, c, err, func(c *charge, now time.Time) {
		switch {
		case err != nil || c.state != cancelling:
		case c.ExpiresAt.After(now):
			c.enter(cancelled, now)
		default:
			c.enter(expired, now)
		}
	})
}

// conclude ends a claim and writes down what became of the charge. It returns
// what the gateway failed with.
func (s *Service) conclude(ctx context.Context, u Setup, c charge, cause error, change func(c *charge, now time.Time)) error {
	ctx, cancel := closing(ctx)
	defer cancel()
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		now, err := lockCharge(ctx, tx, c.companyID, c.id)
		if err != nil {
			return err
		}
		if now.claim == c.claim {
			change(&now, tx.Now())
			now.problem = publicProblem(u, cause)
			now.claim, now.nextCheck = "", s.nextCheck(now, u.Provider, tx.Now())
			if broken(cause) && now.state.closed() && !now.nextCheck.After(tx.Now()) {
				now.nextCheck = tx.Now().Add(worker.Jitter(checkDelays[4]))
			}
			if err := saveCharge(ctx, tx, now); err != nil {
				return err
			}
		}
		return heardTx(ctx, tx, u, cause)
	})
	if err != nil || cause == nil {
		return err
	}
	return errors.Join(errGateway, cause)
}

// setupByID reads a setup, also one that the company does not use any more.
func (s *Service) setupByID(ctx context.Context, companyID, gatewayID int64) (Setup, error) {
	u, err := setupByID(ctx, s.db, companyID, gatewayID)
	u.Provider = s.providers[u.name]
	return u, err
}
