package payment

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
		return tx.Do(ctx, `
			UPDATE gateways SET failures = 0, problem = ? WHERE company_id = ? AND id = ? AND (failures > 0 OR problem <> ?)`,
			problem, setup.CompanyID, setup.ID, problem)
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

// Metrics are the metrics of the room.
type Metrics struct {
	charges   *prometheus.CounterVec
	calls     *prometheus.CounterVec
	callbacks *prometheus.CounterVec
	reviews   *prometheus.CounterVec
	aside     *prometheus.CounterVec
	lag       prometheus.Histogram
}

func newMetrics(providers []Provider) *Metrics {
	metrics := &Metrics{
		charges: worker.Counter("carteira_payment_charges_total",
			"Charges asked of gateways, by provider and whether they were made.", "provider", "outcome"),
		calls: worker.Counter("carteira_payment_gateway_calls_total",
			"Calls to gateways, by provider, operation and outcome.", "provider", "operation", "outcome"),
		callbacks: worker.Counter("carteira_payment_callbacks_total",
			"Callbacks of gateways, by provider and outcome.", "provider", "outcome"),
		reviews: worker.Counter("carteira_payment_reviews_total", "Payments put aside for a person, by reason.", "reason"),
		aside: worker.Counter("carteira_payment_set_aside_total",
			"Charges and callbacks set aside because they kept panicking.", "what"),
		lag: worker.Histogram("carteira_payment_settlement_lag_seconds", "Time from a payment to the invoice being paid.",
			.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 21600, 86400),
	}
	for _, provider := range providers { // there from the start, so that the first one is an increase
		for _, outcome := range []string{"made", "failed"} {
			metrics.charges.WithLabelValues(provider.Name, outcome)
		}
	}
	for _, what := range []string{"charge", "callback", "authorisation"} {
		metrics.aside.WithLabelValues(what)
	}
	for _, reason := range Reasons {
		metrics.reviews.WithLabelValues(string(reason))
	}
	return metrics
}

// Metrics returns the room's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	metrics := s.metrics
	return []prometheus.Collector{
		metrics.charges, metrics.calls, metrics.callbacks, metrics.reviews, metrics.aside,
		metrics.lag,
		worker.Gauges{Descs: []*prometheus.Desc{openReviewsDesc, oldestDesc, overdueDesc}, Read: s.unresolved},
	}
}

var (
	openReviewsDesc = prometheus.NewDesc("carteira_payment_reviews_open", "Payments that wait for a person.", nil, nil)
	oldestDesc      = prometheus.NewDesc("carteira_payment_oldest_reserved_seconds",
		"How long it has not been known of the oldest charge whether the gateway made it.", nil, nil)
	overdueDesc = prometheus.NewDesc("carteira_payment_oldest_due_seconds",
		"How long the oldest charge that nobody looks after has been due.", nil, nil)
)

// unresolved is what waits for a person or for a look at the gateway.
func (s *Service) unresolved(ctx context.Context) ([]float64, error) {
	now := s.db.Now()
	open, err := readBacklog(ctx, s.db, now)
	return []float64{float64(open.reviews), now.Sub(open.reservedSince).Seconds(), now.Sub(open.dueSince).Seconds()}, err
}
