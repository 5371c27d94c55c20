package app

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/payment"
	simulator "carteira/internal/payment/sandbox"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reminder/logchannel"
	"carteira/internal/sandbox"
	"carteira/internal/web/page"
	"carteira/internal/webhook/sender"
)

// From here to harmlessChannels is the one place that keeps a sandbox away from
// real people and real money.

// harmless refuses settings by which a sandbox would reach real people.
func harmless(cfg config.Config) (config.Config, error) {
	var refused []error
	if len(cfg.TLSDomains) > 0 {
		refused = append(refused, errors.New("a sandbox obtains no certificates: leave --tls-domain out"))
	}
	if cfg.Mail != nil {
		refused = append(refused, errors.New("a sandbox sends no mail: leave CARTEIRA_MAIL_URL out"))
	}
	cfg.SandboxGateway = config.SwitchOn // whatever its address is, no real money is paid here
	return cfg, errors.Join(refused...)
}

// harmlessGateways returns the gateways of a sandbox: those that make no calls.
func harmlessGateways(moved bool, all []payment.Provider) []payment.Provider {
	if !moved {
		return all
	}
	kept := slices.DeleteFunc(all, func(provider payment.Provider) bool {
		return provider.Name != simulator.Name && provider.Name != "pixkey"
	})
	for i := range kept {
		kept[i].Local = kept[i].Name == simulator.Name
	}
	return kept
}

// harmlessChannels leaves a sandbox the channel that sends nothing.
func harmlessChannels(moved bool, all []reminder.Kind) []reminder.Kind {
	if !moved {
		return all
	}
	return []reminder.Kind{logchannel.Kind}
}

// reachable are the gateways and channels of this kind of installation, with what
// counts their work.
func (c counter) reachable(charges *payment.Options) {
	moved := c.clock != nil
	charges.Ended, charges.Pruned, charges.Unpaced = c.ended, c.pruned, moved
	charges.Providers = harmlessGateways(moved, charges.Providers)
}

func (c counter) messages(options reminder.Options) reminder.Options {
	options.Settled, options.Pruned = c.settled, c.pruned
	options.Kinds = harmlessChannels(c.clock != nil, options.Kinds)
	if c.clock != nil {
		options.LaneCap = sandboxLane
	}
	return options
}

// sandboxEvents is how many events a sandbox keeps: its time is moved, and a reader
// must find what an advance brought.
const sandboxEvents = 100_000

func (c counter) keptEvents() int64 {
	if c.clock == nil {
		return 0
	}
	return sandboxEvents
}

// sandboxed marks an answer as one of a sandbox, and has this process hear what
// time it is there before it answers.
func (a *App) sandboxed(w http.ResponseWriter, r *http.Request) {
	if a.Sandbox == nil {
		return
	}
	w.Header().Set(page.SandboxHeader, "true")
	if err := a.Sandbox.Clock.Refresh(r.Context()); err != nil {
		a.Log.WarnContext(r.Context(), "clock of the sandbox not read", "error", err)
	}
}

// sandboxLane is how many messages of a channel a sandbox has under way at once:
// none of them waits for a carrier.
const sandboxLane = 64

// counter counts what happens while the clock of a sandbox is moved.
type counter struct{ clock *sandbox.Clock }

func (c counter) event(ctx context.Context, tx *sqldb.Tx, recorded event.Event) error {
	return c.clock.Count(ctx, tx, recorded.CompanyID, string(recorded.Name), recorded.ID)
}

func (c counter) settled(ctx context.Context, tx *sqldb.Tx, message reminder.Settled) error {
	id := strconv.FormatInt(message.MessageID, 10)
	return c.clock.Count(ctx, tx, message.CompanyID, "message."+string(message.Status), id)
}

func (c counter) ended(ctx context.Context, tx *sqldb.Tx, charge payment.Ended) error {
	return c.clock.Count(ctx, tx, charge.CompanyID, "charge.expired", charge.Reference)
}

func (c counter) sent(ctx context.Context, tx *sqldb.Tx, attempt sender.Sent) error {
	kind := "delivery.failed"
	if attempt.Accepted {
		kind = "delivery.accepted"
	}
	return c.clock.Count(ctx, tx, attempt.CompanyID, kind, strconv.FormatInt(attempt.DeliveryID, 10))
}

func (c counter) pruned(ctx context.Context, tx *sqldb.Tx, gone account.Pruned) error {
	return c.clock.Count(ctx, tx, gone.CompanyID, gone.Kind, gone.IDs...)
}

// works are what time brings in a sandbox, in the order in which things of one
// instant are done.
func (a *App) works() []sandbox.Work {
	days := &dayWork{app: a}
	pruning := &pruneWork{app: a}
	return []sandbox.Work{
		{Name: "do the day's work", Next: days.next, Run: days.run},
		{Name: "settle charges", Next: a.Payments.NextDue, Run: a.Payments.Reconcile, Busy: a.Payments.InFlight},
		{Name: "send messages", Next: a.Reminders.NextDue, Run: a.Reminders.WorkDue},
		{Name: "deliver webhooks", Next: a.nextDelivery, Run: a.Webhooks.AwaitDue},
		{Name: "prune", Next: pruning.next, Run: pruning.run},
	}
}

// nextDelivery is when the driver has to wait for deliveries. While the clock
// runs it has not: they are sent by themselves.
func (a *App) nextDelivery(ctx context.Context) (time.Time, error) {
	if !a.Sandbox.Clock.Stands() {
		return time.Time{}, nil
	}
	return a.Webhooks.NextDue(ctx)
}

// pruneWork removes what is kept long enough: once a day, and in an advance once a
// week and at its end. It waits for no instant of its own: what is old may go a
// little later.
type pruneWork struct {
	app  *App
	done civil.Date
}

const pruneEvery = 7 // days of an advance

func (p *pruneWork) next(context.Context) (time.Time, error) {
	now := p.app.DB.Now().UTC()
	today, clock := civil.Of(now), p.app.Sandbox.Clock
	passing := clock.Stands() && !clock.Arrived() && today.Before(p.done.AddDays(pruneEvery))
	if p.done == today || passing {
		return time.Time{}, nil
	}
	return now, nil
}

func (p *pruneWork) run(ctx context.Context) (int, error) {
	p.done = civil.Of(p.app.DB.Now().UTC())
	return 0, errors.Join(p.app.pruneAudit(ctx), p.app.Reminders.Prune(ctx), p.app.Webhooks.Prune(ctx),
		p.app.Payments.Prune(ctx))
}

// DriveSandbox does what time brings in a process that does not serve, while no
// other process does. The function that it returns ends that.
func (a *App) DriveSandbox(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Sandbox.Run(ctx); err != nil {
			a.Log.ErrorContext(ctx, "sandbox not driven", "error", err)
		}
	})
	running.Go(func() {
		if err := a.Webhooks.Run(ctx); err != nil {
			a.Log.ErrorContext(ctx, "webhooks not delivered", "error", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// ReceiveSimulated is money that comes at the gateway that only pretends, whatever
// its charge says. What it means is found out when the charge is checked.
func (a *App) ReceiveSimulated(ctx context.Context, reference string, amount money.Cents) error {
	_, err := simulator.New(a.DB).Receive(ctx, reference, amount)
	return err
}
