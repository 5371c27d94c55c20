package reminder

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// failingAfter is how many attempts in a row have to fail before a channel is
// shown as failing: one customer with a wrong number is no fault of the
// channel.
const failingAfter = 3

// Failing reports whether a channel needs attention.
func (c Channel) Failing() bool {
	return c.Active && c.Failures >= failingAfter
}

// recordHealth keeps count of the attempts that failed since one succeeded.
func recordHealth(ctx context.Context, tx *sqldb.Tx, companyID int64, channel Channel, outcome outcome) error {
	switch {
	case outcome.verdict != accepted:
		return addProblem(ctx, tx, companyID, channel.ID, outcome.problem)
	case channel.hears(tx.Now()): // a message that was taken may fail yet: reports say whether it works
		return nil
	}
	return clearProblem(ctx, tx, companyID, channel.ID)
}

// Attention is what waits for a person.
type Attention struct {
	Unknown int64     // messages that may or may not have been sent
	Failing []Channel // channels with only failures in their last attempts
}

// Attention finds what waits for a person.
func (s *Service) Attention(ctx context.Context, actor account.Actor) (Attention, error) {
	count, err := sqldb.Value[int64](ctx, s.db,
		`SELECT count(*) FROM reminder_messages WHERE company_id = ? AND status = 'unknown'`, actor.Company.ID)
	if err != nil {
		return Attention{}, err
	}
	list, err := channels(ctx, s.db, actor.Company.ID)
	out := Attention{Unknown: count}
	for _, channel := range list {
		if channel.Failing() {
			out.Failing = append(out.Failing, channel)
		}
	}
	return out, err
}

// CheckChannels opens each of a company's channels, which proves that its
// secrets can be read, and asks whether its addresses may be reached. It sends
// nothing. It returns how many channels there are.
func (s *Service) CheckChannels(ctx context.Context, actor account.Actor) (int, error) {
	channels, err := s.Channels(ctx, actor)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, channel := range channels {
		if err := s.checkChannel(ctx, channel); err != nil {
			failures = append(failures, fmt.Errorf("channel %d: %w", channel.ID, err))
		}
	}
	return len(channels), errors.Join(failures...)
}

func (s *Service) checkChannel(ctx context.Context, channel Channel) error {
	kind, ok := s.kind(channel.Kind)
	if !ok {
		return fmt.Errorf("this installation does not know channels of the kind %s", channel.Kind)
	}
	secrets, err := s.open(channel)
	if err != nil {
		return err
	}
	return s.tryOptions(ctx, kind, channel.Options, secrets)
}

// metrics are the engine's metrics for operators.
type metrics struct {
	lag      prometheus.Histogram
	messages *prometheus.CounterVec
	aside    prometheus.Counter
	reports  *prometheus.CounterVec
	calls    *prometheus.CounterVec
}

func newMetrics() *metrics {
	return &metrics{
		lag: worker.Histogram("carteira_reminder_lag_seconds", "Time from when a message was due to when it was taken up.",
			.1, .5, 1, 5, 30, 120, 600, 3600, 4*3600, 12*3600),
		messages: worker.Counter("carteira_reminder_messages_total",
			"What became of messages, by kind of channel.", "kind", "outcome"),
		aside: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carteira_reminder_set_aside_total",
			Help: "Messages set aside because they kept panicking.",
		}),
		reports: worker.Counter("carteira_reminder_reports_total",
			"What carriers reported of messages that they had taken, by kind of channel.", "kind", "arrival"),
		calls: worker.Counter("carteira_reminder_carrier_calls_total",
			"Calls of carriers, by kind of channel and what became of them.", "kind", "outcome"),
	}
}

func (m *metrics) count(kind, outcome string) {
	m.messages.WithLabelValues(kind, outcome).Inc()
}

func (m *metrics) report(kind, arrival string) {
	m.reports.WithLabelValues(kind, arrival).Inc()
}

func (m *metrics) call(kind, outcome string) {
	m.calls.WithLabelValues(kind, outcome).Inc()
}

// Metrics returns the engine's metrics for registration.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		s.metrics.lag, s.metrics.messages, s.metrics.aside, s.metrics.reports, s.metrics.calls,
		worker.Gauges{Descs: []*prometheus.Desc{unknownDesc, oldestDesc}, Read: s.backlog},
	}
}

var (
	unknownDesc = prometheus.NewDesc("carteira_reminder_unknown",
		"Messages that may or may not have been sent, and wait for a person.", nil, nil)
	oldestDesc = prometheus.NewDesc("carteira_reminder_oldest_due_seconds",
		"How long the oldest message that nobody is sending has been due.", nil, nil)
)

// backlog is what waits for a person or for the engine.
func (s *Service) backlog(ctx context.Context) ([]float64, error) {
	now := s.db.Now()
	unknown, oldest, err := backlogOf(ctx, s.db, now)
	return []float64{float64(unknown), max(0, now.Sub(oldest).Seconds())}, err
}

// PhoneState is how a channel is connected to the phone that it sends through.
type PhoneState string

// The states of a phone.
const (
	PhoneMissing   PhoneState = "missing"   // the bridge has no instance of the channel's name
	PhoneAway      PhoneState = "away"      // not connected
	PhoneWaiting   PhoneState = "waiting"   // the code is to be scanned
	PhoneConnected PhoneState = "connected" // messages go out
)

// Phone is the phone of a channel, as its bridge describes it.
type Phone struct {
	State     PhoneState
	Number    string   // digits, of a connected phone; empty where the bridge does not say
	Code      string   // what the QR code to scan says; empty while the bridge prepares it
	Instances []string // that the bridge has; only of PhoneMissing
}

// PhoneLink connects a channel to a phone by a QR code. What its bridge does not do
// is a *Refusal with a reason to show.
type PhoneLink interface {
	// Look asks the bridge, and changes nothing there.
	Look(ctx context.Context) (Phone, error)
	// Connect makes the instance where it is missing, and has the bridge show a code.
	Connect(ctx context.Context) error
	// Disconnect signs the phone out.
	Disconnect(ctx context.Context) error
}

// Phone asks the bridge of a channel for the state of its phone.
func (s *Service) Phone(ctx context.Context, actor account.Actor, channelID int64) (Phone, error) {
	link, _, err := s.phoneLink(ctx, actor, channelID)
	if err != nil {
		return Phone{}, err
	}
	return link.Look(ctx)
}

// ConnectPhone has the bridge of a channel show a code to scan.
func (s *Service) ConnectPhone(ctx context.Context, actor account.Actor, channelID int64) error {
	return s.changePhone(ctx, actor, channelID, "channel.phone_connected", PhoneLink.Connect)
}

// DisconnectPhone signs the phone of a channel out at its bridge.
func (s *Service) DisconnectPhone(ctx context.Context, actor account.Actor, channelID int64) error {
	return s.changePhone(ctx, actor, channelID, "channel.phone_disconnected", PhoneLink.Disconnect)
}

// changePhone writes the audit log first: the bridge may do it and its answer be lost.
func (s *Service) changePhone(
	ctx context.Context, actor account.Actor, channelID int64, action string, do func(PhoneLink, context.Context) error,
) error {
	link, channel, err := s.phoneLink(ctx, actor, channelID)
	if err != nil {
		return err
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) error {
		entry := account.AuditEntry{Action: action, Record: "channel", ID: channelID, Name: channel.Name}
		return account.WriteAudit(ctx, tx, entry)
	})
	if err != nil {
		return err
	}
	return do(link, ctx)
}

// phoneLink opens the link of a channel to its phone.
func (s *Service) phoneLink(ctx context.Context, actor account.Actor, channelID int64) (PhoneLink, Channel, error) {
	channel, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return nil, channel, err
	}
	kind, _ := s.kind(channel.Kind)
	if kind.Phone == nil {
		return nil, channel, fault.NotFound("channel")
	}
	all, err := s.open(channel)
	if err != nil {
		return nil, channel, err
	}
	maps.Copy(all, channel.Options)
	link, err := kind.Phone(all, s.options.Env)
	return link, channel, err
}
