package payment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// KnowsCallback reports whether a key is a gateway's, for an edge that reads the
// bodies of strangers no further.
func (s *Service) KnowsCallback(ctx context.Context, provider, key string) (bool, error) {
	setup, err := setupByKey(ctx, s.db, key)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil && setup.name == provider, err
}

// ReceiveCallback verifies and stores a callback, and schedules a check of the
// charges that it names. Nothing that it says is believed.
func (s *Service) ReceiveCallback(ctx context.Context, provider, key string, callback Callback) error {
	outcome, err := s.receiveCallback(ctx, provider, key, callback)
	name := "unknown"
	if p, ok := s.providers[provider]; ok {
		name = p.Name // never what a stranger wrote into the path
	}
	s.metrics.callbacks.WithLabelValues(name, outcome).Inc()
	return err
}

func (s *Service) receiveCallback(
	ctx context.Context, provider, key string, callback Callback,
) (outcome string, err error) {
	setup, err := setupByKey(ctx, s.db, key)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && setup.name != provider {
		return "unknown", fault.NotFound("gateway")
	}
	if err != nil {
		return "failed", err
	}
	setup.Provider = s.providers[setup.name]
	gateway, err := s.open(setup)
	if err != nil {
		return "failed", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	hints, err := s.verify(ctx, setup, gateway, callback)
	switch {
	case errors.Is(err, ErrForged):
		return "forged", fault.New(fault.KindUnauthenticated, "this does not prove that it comes from the gateway")
	case err != nil:
		return "failed", fault.Upstream("the callback cannot be checked at the moment; send it again", err)
	case len(hints) == 0:
		return "ignored", nil
	}
	return s.store(ctx, genuine{setup: setup, key: eventKey(callback, hints), body: callback.Body, hints: hints})
}

// verify has the gateway check a callback's proof, and returns what it is about.
func (s *Service) verify(ctx context.Context, setup Setup, gateway Gateway, callback Callback) (hints []Hint, err error) {
	err = s.call(ctx, callAbout{setup, "hear", ""}, func(ctx context.Context) (err error) {
		hints, err = gateway.VerifyCallback(ctx, callback)
		return err
	})
	return hints, err
}

// genuine is a callback that was verified. The inbox of callbacks is no record of
// the business: its rows are a queue, which applies no change.
type genuine struct {
	setup Setup
	key   string // by which a repetition is known
	body  []byte
	hints []Hint
}

// store stores a callback and schedules a check of its charges, in one
// transaction.
func (s *Service) store(ctx context.Context, genuine genuine) (outcome string, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		outcome = "kept"
		fresh, err := insertCallback(ctx, tx, genuine)
		if err != nil {
			return err
		}
		if !fresh {
			outcome = "repeated"
		}
		unknown, err := markCharges(ctx, tx, genuine, fresh)
		if err != nil {
			return err
		}
		tx.OnCommit(s.wake.Hint)
		if !fresh || len(unknown) == 0 {
			return nil
		}
		outcome = "strange"
		return setUnknown(ctx, tx, genuine, unknown)
	})
	crashpoint.Here("callback-kept")
	if err != nil {
		return "failed", err
	}
	return outcome, nil
}

// markCharges schedules a check of every charge and authorisation that the hints
// name and returns the unknown references of charges. They may belong to a charge
// that is being created. Debits and authorisations have nothing that a payer could
// have paid before we know them: their own checks find them.
func markCharges(ctx context.Context, tx *sqldb.Tx, genuine genuine, fresh bool) (unknown []Ref, err error) {
	for _, hint := range genuine.hints {
		switch hint.Kind {
		case HintAuthorisation:
			if err := markAuthorisation(ctx, tx, genuine.setup, hint.Ref); err != nil {
				return nil, err
			}
			continue
		case HintAccount:
			if err := markOfGateway(ctx, tx, genuine.setup); err != nil {
				return nil, err
			}
			continue
		case HintCharge, HintDebit:
		}
		n, err := markHinted(ctx, tx, hinted{genuine.setup, hint.Ref, fresh})
		if err != nil {
			return nil, err
		}
		if n == 0 && hint.Kind == HintCharge {
			unknown = append(unknown, hint.Ref)
		}
	}
	return unknown, nil
}

// eventKey is by what a repeated callback is recognised.
func eventKey(callback Callback, hints []Hint) string {
	if len(hints) == 1 && hints[0].EventID != "" && len(hints[0].EventID) <= 200 {
		return hints[0].EventID
	}
	hash := sha256.New()
	hash.Write(callback.Body)
	for _, name := range slices.Sorted(maps.Keys(callback.Query)) {
		for _, value := range callback.Query[name] {
			hash.Write([]byte("\n" + name + "=" + value))
		}
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// maxTries is how often a gateway is asked about a callback that matches no
// charge of ours.
const maxTries = 6

// storedCallback is a callback that names charges we do not know.
type storedCallback struct {
	id        int64
	companyID int64
	gatewayID int64
	unknown   []Ref
	tries     int
}

// resolveCallbacks asks gateways what unknown references of callbacks are.
func (s *Service) resolveCallbacks(ctx context.Context) (int, error) {
	due, err := rows.Some(ctx, s.db, `
		SELECT COUNT(*) FROM (SELECT id FROM gateway_callbacks WHERE next_try_at <= ? LIMIT 1) AS due /* every company_id */`,
		s.db.Now().UnixMicro())
	if err != nil || !due {
		return 0, err
	}
	var list []storedCallback
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		list, err = claimCallbacks(ctx, tx, maxInFlight, tx.Now().Add(s.lease()))
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, callback := range list {
		err := worker.Guard(ctx, func() error { return s.resolveCallback(ctx, callback) })
		switch {
		case worker.Panicked(err):
			s.strikeCallback(ctx, callback, err)
		case err != nil && !isGatewayError(err):
			s.options.Log.ErrorContext(ctx, "callback not looked into; it will be", "company_id", callback.companyID,
				"callback", callback.id, "error", err)
		}
	}
	return len(list), nil
}

func (s *Service) resolveCallback(ctx context.Context, callback storedCallback) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	setup, err := s.setupByID(ctx, callback.companyID, callback.gatewayID)
	if err != nil {
		return err
	}
	if _, err := s.open(setup); err != nil {
		return err
	}
	var left []Ref
	for _, ref := range callback.unknown {
		err := s.resolveReference(ctx, setup, ref)
		if worker.Panicked(err) {
			return err
		}
		if err != nil && !errors.Is(err, ErrNoCharge) {
			left = append(left, ref)
		}
	}
	return s.rescheduleCallback(ctx, callback, left)
}

// resolveReference asks the gateway for our reference, and settles that charge.
func (s *Service) resolveReference(ctx context.Context, setup Setup, ref Ref) error {
	asked := charge{Charge: Charge{ID: ref.ID}, order: Order{Reference: ref.Reference}}
	report, err := s.report(ctx, check{setup, asked})
	if err != nil || report.Reference == "" {
		return err
	}
	known, err := chargeByReference(ctx, s.db, setup.CompanyID, report.Reference)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil // not ours: the account at the gateway serves other programs too
	}
	if err != nil {
		return err
	}
	known.claim, known.hintedAt = "", time.Time{} // the gateway was asked under none
	return s.settle(ctx, check{setup, known}, report)
}

// rescheduleCallback stores which references are still unknown, and when to ask
// again.
func (s *Service) rescheduleCallback(ctx context.Context, callback storedCallback, left []Ref) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		rest := callback
		rest.unknown = nil
		var again time.Time
		if len(left) > 0 && callback.tries < maxTries {
			again = tx.Now().Add(worker.Jitter(checkDelays[min(callback.tries-1, len(checkDelays)-1)]))
			rest.unknown = left
		}
		return updateCallback(ctx, tx, rest, again)
	})
}

// callbacksKept is how long callbacks are kept.
const callbacksKept = 30 * 24 * time.Hour

// Prune deletes old callbacks and notices, and the credentials of gateways that no
// charge needs any more.
func (s *Service) Prune(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		gone, err := sqldb.All(ctx, tx, account.ScanPruned, `
			DELETE FROM gateway_callbacks WHERE created_at < ? AND next_try_at IS NULL
			RETURNING company_id, id /* every company_id */`, tx.Now().Add(-callbacksKept).UnixMicro())
		if err != nil {
			return err
		}
		return errors.Join(
			account.TellPruned(ctx, tx, s.options.Pruned, account.PrunedRows{Kind: "callback.pruned", Rows: gone}),
			tx.Do(ctx, `DELETE FROM paid_notices WHERE created_at < ? /* every company_id */`,
				tx.Now().AddDate(0, 0, -noticeDays).UnixMicro()),
			forgetOptions(ctx, tx),
		)
	})
}
