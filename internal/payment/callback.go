package payment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// Hear takes a callback in: it must prove where it comes from, is stored, and
// makes the charges that it is about be looked up. Nothing that it says is
// believed.
func (s *Service) Hear(ctx context.Context, provider, key string, c Callback) error {
	outcome, err := s.hear(ctx, provider, key, c)
	name := "unknown"
	if p, ok := s.providers[provider]; ok {
		name = p.Name // never what a stranger wrote into the path
	}
	s.metrics.callbacks.WithLabelValues(name, outcome).Inc()
	return err
}

func (s *Service) hear(ctx context.Context, provider, key string, c Callback) (outcome string, err error) {
	u, err := setupByKey(ctx, s.db, key)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && u.name != provider {
		return "unknown", fault.NotFound("gateway")
	}
	if err != nil {
		return "failed", err
	}
	u.Provider = s.providers[u.name]
	gw, err := s.open(u)
	if err != nil {
		return "failed", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	var hints []Hint
	err = s.call(ctx, callAbout{u, "hear", ""}, func(ctx context.Context) (err error) {
		hints, err = gw.Hear(ctx, c)
		return err
	})
	switch {
	case errors.Is(err, ErrForged):
		return "forged", fault.New(fault.KindUnauthenticated, "this does not prove that it comes from the gateway")
	case err != nil:
		return "failed", fault.Upstream("the callback cannot be checked at the moment; send it again", err)
	case len(hints) == 0:
		return "ignored", nil
	}
	return s.keep(ctx, u, c, hints)
}

// keep stores a callback and has its charges looked up, in one transaction.
func (s *Service) keep(ctx context.Context, u Setup, c Callback, hints []Hint) (outcome string, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		outcome = "kept"
		fresh, err := insertCallback(ctx, tx, u, eventKey(c, hints), c.Body)
		if err != nil {
			return err
		}
		if !fresh {
			outcome = "repeated"
		}
		strange, err := s.point(ctx, tx, u, hints, fresh)
		if err != nil {
			return err
		}
		tx.OnCommit(s.wake.Hint)
		if !fresh || len(strange) == 0 {
			return nil
		}
		outcome = "strange"
		text, err := json.Marshal(strange)
		if err != nil {
			return err
		}
		return setHints(ctx, tx, u, eventKey(c, hints), string(text))
	})
	crashpoint.Here("callback-kept")
	if err != nil {
		return "failed", err
	}
	return outcome, nil
}

// point marks the charges that hints are about, and returns the references of
// those that we do not know: perhaps of one whose making is not known yet. What
// was settled is looked at again only for news.
func (s *Service) point(ctx context.Context, tx *sqldb.Tx, u Setup, hints []Hint, news bool) (strange []Ref, err error) {
	for _, h := range hints {
		n, err := markHinted(ctx, tx, u, h.Ref, news)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			strange = append(strange, h.Ref)
		}
	}
	return strange, nil
}

// eventKey is what a repeated callback is known by.
func eventKey(c Callback, hints []Hint) string {
	if len(hints) == 1 && hints[0].EventID != "" && len(hints[0].EventID) <= 200 {
		return hints[0].EventID
	}
	h := sha256.New()
	h.Write(c.Body)
	for _, name := range slices.Sorted(maps.Keys(c.Query)) {
		for _, v := range c.Query[name] {
			h.Write([]byte("\n" + name + "=" + v))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// maxTries bounds how long a callback about nothing that is ours is wondered at.
const maxTries = 6

// stored is a callback whose hints say nothing that we know a charge by.
type stored struct {
	id        int64
	companyID int64
	gatewayID int64
	refs      []Ref
	tries     int
}

// openCallbacks asks gateways what strange callbacks are about.
func (s *Service) openCallbacks(ctx context.Context) (int, error) {
	due, err := anyCallbackDue(ctx, s.db, s.db.Now())
	if err != nil || !due {
		return 0, err
	}
	var list []stored
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		list, err = claimCallbacks(ctx, tx, slots, tx.Now().Add(s.lease()))
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		err := worker.Guard(ctx, func() error { return s.openCallback(ctx, c) })
		switch {
		case worker.Panicked(err):
			s.strikeCallback(ctx, c, err)
		case err != nil && !isAnswer(err):
			s.options.Log.ErrorContext(ctx, "callback not looked into; it will be", "company_id", c.companyID, "callback", c.id, "error", err)
		}
	}
	return len(list), nil
}

func (s *Service) openCallback(ctx context.Context, c stored) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	u, err := s.setupByID(ctx, c.companyID, c.gatewayID)
	if err != nil {
		return err
	}
	gw, err := s.open(u)
	if err != nil {
		return err
	}
	var left []Ref
	for _, ref := range c.refs {
		err := s.lookUpStranger(ctx, u, gw, ref)
		if worker.Panicked(err) {
			return err
		}
		if err != nil && !errors.Is(err, ErrNoCharge) {
			left = append(left, ref)
		}
	}
	return s.putBack(ctx, c, left)
}

// lookUpStranger learns our reference from the gateway, and settles.
func (s *Service) lookUpStranger(ctx context.Context, u Setup, gw Gateway, ref Ref) error {
	var r Report
	err := s.call(ctx, callAbout{u, "look", ref.Reference}, func(ctx context.Context) (err error) {
		r, err = gw.Look(ctx, ref)
		return err
	})
	if err != nil || r.Reference == "" {
		return err
	}
	known, err := chargeByReference(ctx, s.db, u.CompanyID, r.Reference)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil // somebody else's: the account serves other programs too
	}
	if err != nil {
		return err
	}
	known.claim = "" // it was not asked under one
	return s.settle(ctx, u, known, r)
}

// putBack notes which hints are still to be looked into, and when.
func (s *Service) putBack(ctx context.Context, c stored, left []Ref) error {
	ctx, cancel := closing(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		var again time.Time
		hints := ""
		if len(left) > 0 && c.tries < maxTries {
			again = tx.Now().Add(worker.Jitter(checkDelays[min(c.tries-1, len(checkDelays)-1)]))
			text, err := json.Marshal(left)
			if err != nil {
				return err
			}
			hints = string(text)
		}
		return updateCallback(ctx, tx, c, hints, again)
	})
}

// callbacksKept is how long callbacks are kept.
const callbacksKept = 30 * 24 * time.Hour

// Prune forgets old callbacks, and the credentials of gateways that nothing
// depends on any more.
func (s *Service) Prune(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return errors.Join(pruneCallbacks(ctx, tx, tx.Now().Add(-callbacksKept)), forgetOptions(ctx, tx))
	})
}
