package payment

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carteira/internal/platform/fault"
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
