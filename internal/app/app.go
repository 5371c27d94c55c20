// Package app builds the program from its configuration, starts it and stops
// it. It is the only place where all rooms meet, and holds no rule of any.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/dashboard"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/platform/backup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/keyring"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
	"carteira/internal/privacy"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/sandbox"
	"carteira/internal/tally"
	"carteira/internal/web/idempotency"
	"carteira/internal/webhook"
)

// App is the program, built and not yet serving.
type App struct {
	Config    config.Config
	Log       *slog.Logger
	DB        *sqldb.DB
	Box       *secret.Box
	Accounts  *account.Service
	Catalog   *catalog.Service
	Customers *customer.Service
	Intake    *intake.Service
	Billing   *billing.Service
	Resellers *reseller.Service
	Dashboard *dashboard.Service
	Webhooks  *webhook.Service
	Events    *event.Feed
	Payments  *payment.Service
	Reminders *reminder.Service
	Privacy   *privacy.Service
	Workers   *worker.Supervisor
	Sandbox   *sandbox.Service // nil: a real installation
	Listener  net.Listener     // has the address of Config already; nil: Serve opens it

	beside      sync.WaitGroup      // what was begun while the database was being read
	handler     func() http.Handler // of the listeners, made once
	idempotency *idempotency.Service
	health      *health
	sockets     *sockets
	backups     *backups
	nightly     *nightly
	lookout     *lookout // made with the tasks
	lock        serveLock

	certificates *certKeeper // nil: none are obtained by ACME
}

// errOlder refuses a command on a database of an older version: the server of that
// version would write nothing from the migration on.
var errOlder = errors.New("the database is of an older version of carteira; start `carteira serve` of this version, " +
	"which migrates it, or run `carteira migrate`")

// Open connects to the database and builds the rooms, for a command. It makes what a
// new database has, and refuses one that would have to be migrated.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	return open(ctx, cfg, log, func(
		ctx context.Context, cfg config.Config, log *slog.Logger, db *sqldb.DB,
	) (*App, error) {
		if pending, err := db.Pending(ctx); err == nil && pending > 0 { // raise meets the error again; a new database has no table yet
			return nil, errOlder
		}
		return raise(ctx, cfg, log, db)
	})
}

// OpenToMigrate is Open for a program that may migrate the database.
func OpenToMigrate(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	return open(ctx, cfg, log, raise)
}

// OpenToServe is Open for a program that will serve. It locks an embedded database
// before it migrates: a second server that is refused must leave the first one the
// schema that it knows. While it reads from the database it also makes the handler,
// and proves that the database can be written: both are needed before the first
// green /readyz.
func OpenToServe(ctx context.Context, cfg config.Config, log *slog.Logger) (*App, error) {
	collectSeldom()
	return open(ctx, cfg, log, func(
		ctx context.Context, cfg config.Config, log *slog.Logger, db *sqldb.DB,
	) (*App, error) {
		lock, err := lockServe(cfg)
		if err != nil {
			return nil, err
		}
		migrated := serveMigrating(ctx, log, db, func() (net.Listener, error) { return listenPlainly(ctx, cfg) })
		program, err := raise(ctx, cfg, log, db)
		migrated()
		if err != nil {
			lock.release()
			return nil, err
		}
		program.lock = lock
		program.beside.Go(func() { program.handler() })
		program.beside.Go(func() { _ = program.health.check(ctx, probeAge) }) // which logs
		return program, nil
	})
}

type builder func(ctx context.Context, cfg config.Config, log *slog.Logger, db *sqldb.DB) (*App, error)

func open(ctx context.Context, cfg config.Config, log *slog.Logger, build builder) (*App, error) {
	if err := refuseHalf(cfg); err != nil {
		return nil, err
	}
	if err := makeDataDir(cfg); err != nil {
		return nil, err
	}
	db, err := sqldb.Open(ctx, cfg.DatabaseURL, sqldb.Options{Log: log, Now: clock(), Relaxed: cfg.Sandbox})
	if err != nil {
		return nil, err
	}
	program, err := build(ctx, cfg, log, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return program, nil
}

// raise migrates the database and builds the rooms over it.
func raise(ctx context.Context, cfg config.Config, log *slog.Logger, db *sqldb.DB) (*App, error) {
	if err := db.Migrate(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	moved, err := sandbox.Open(ctx, db, cfg.Sandbox)
	if err != nil {
		return nil, err
	}
	if moved != nil {
		if cfg, err = harmless(cfg); err != nil {
			return nil, err
		}
	}
	keys, err := secretKeys(ctx, cfg, db)
	if err != nil {
		return nil, err
	}
	box, err := keyring.Open(ctx, db, keys[0], keys[1:]...)
	if err != nil {
		return nil, err
	}
	return assemble(cfg, log, db, box, moved), nil
}

// assemble builds the rooms over a database. It neither reads nor writes.
func assemble(cfg config.Config, log *slog.Logger, db *sqldb.DB, box *secret.Box, moved *sandbox.Clock) *App {
	counter := counter{moved}
	accounts := account.New(db, account.Config{
		CallsPerMinute: cfg.RateLimit, Box: box, Mailer: mailer(cfg, db), PublicURL: cfg.PublicURL, Pruned: counter.pruned,
	})
	events := &event.Log{}
	events.Watch(counter.event)
	customers := customer.New(db, events)
	gate := outbound.NewGate(cfg.WebhookAllowNetworks, nil).Neighbours()
	client := outbound.NewClient(gate, outbound.Options{
		Timeout: webhook.Timeout, BodyTime: webhook.BodyTime, UserAgent: "Carteira/1.0",
	})
	invoices := billing.New(db, events, customers)
	plans := catalog.New(db)
	plans.WatchPlans(customers.PlansChanged)
	webhooks := webhook.New(db, events, box, gate, client, webhook.Options{
		PerCompany: cfg.WebhooksPerCompany,
		Delays:     cfg.WebhookRetryDelays,
		Keep:       time.Duration(cfg.WebhookHistoryDays) * 24 * time.Hour,
		KeepEvents: counter.keptEvents(),
		Log:        log,
		Sent:       counter.sent,
		Pruned:     counter.pruned,
	})
	accounts.Watch(webhooks.CompanyChanged)
	options := paymentOptions(cfg, log, db, webhooks)
	options.Told = tellGateway(accounts)
	counter.reachable(&options)
	payments := payment.New(db, invoices, box, options)
	// After billing: a customer's invoices must be issued when its messages are planned.
	messages := counter.messages(reminderOptions(cfg, log, gate, client, payments))
	reminders := reminder.New(db, box, accounts, customers, messages)
	accounts.Watch(reminders.CompanyChanged)
	invoices.Watch(reminders.InvoicesChanged)
	program := &App{
		Config: cfg, Log: log, DB: db, Box: box,
		Accounts:  accounts,
		Catalog:   plans,
		Customers: customers,
		Intake:    intake.New(db, customers),
		Billing:   invoices,
		Dashboard: dashboard.New(db),
		Resellers: reseller.New(db, accounts, cfg.PublicURL),
		Webhooks:  webhooks,
		Events:    event.NewFeed(db, events),
		Payments:  payments,
		Reminders: reminders,
		Privacy:   privacy.New(db, accounts, customers, invoices, payments, reminders, webhooks),
		Workers:   worker.NewSupervisor(log),

		idempotency: idempotency.New(db, box),
		health:      &health{db: db, log: log, asked: make(chan struct{})},
		sockets:     newSockets(log),
		backups:     newBackups(backup.Folder{Path: cfg.BackupDir, Days: cfg.BackupDays}),
		nightly:     newNightly(),
	}
	program.handler = sync.OnceValue(program.Handler)
	if moved != nil {
		program.Sandbox = sandbox.New(moved, log, program.works())
	}
	return program
}

// Close writes down what is still in memory and closes the database. It does so
// also when ctx has ended.
func (a *App) Close(ctx context.Context) error {
	a.beside.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	defer a.lock.release()
	return errors.Join(a.Accounts.SaveLastUse(ctx), a.DB.Close())
}

// loopStale is how long an engine may be without a round that succeeds before
// the log says so.
const loopStale = 2 * time.Minute

// tasks are what a server does by itself.
func (a *App) tasks() []worker.Task {
	a.lookout = &lookout{db: a.DB}
	a.lookout.watch(a.Webhooks.Sender().Look, func() { a.Webhooks.Sender().Wake() })
	list := []worker.Task{
		{Name: "deliver webhooks", Stale: loopStale, Attended: true, Run: a.Webhooks.Run},
		{Name: "watch the database", Run: func(ctx context.Context) error {
			a.health.watch(ctx)
			return nil
		}},
	}
	list = append(list, a.calendar()...)
	if a.certificates != nil {
		list = append(list, worker.Task{Name: "obtain certificates", Run: a.certificates.run})
	}
	if a.Config.BackupDir != "" {
		list = append(list, a.backupJob().Task(a.Log))
	}
	for _, job := range a.jobs() {
		list = append(list, job.Task(a.Log))
	}
	return append(list, a.lookout.job().Task(a.Log))
}

func (a *App) engine(run func(context.Context, *slog.Logger)) func(context.Context) error {
	return func(ctx context.Context) error {
		run(ctx, a.Log)
		return nil
	}
}

// calendar is what the time of the installation brings. In a sandbox one process
// does all of it in the order of its time.
func (a *App) calendar() []worker.Task {
	if a.Sandbox != nil {
		return []worker.Task{{Name: "drive the sandbox", Stale: loopStale, Run: a.Sandbox.Run}}
	}
	a.lookout.watch(a.Payments.Look, a.Payments.Wake)
	a.lookout.watch(a.Reminders.Look, a.Reminders.Wake)
	list := []worker.Task{
		{Name: "settle charges", Stale: loopStale, Attended: true, Run: a.engine(a.Payments.Run)},
		{Name: "send messages", Stale: loopStale, Attended: true, Run: a.engine(a.Reminders.Run)},
	}
	jobs := []worker.Job{
		{Name: "expire customers and issue invoices", Every: 30 * time.Second, Run: a.DayWork},
		{Name: "plan messages", Every: 2 * time.Second, Run: a.planMessages, Wake: a.lookout.wake(a.Reminders.PlanLook)},
		{Name: "prune the audit log", Every: 10 * time.Minute, Run: a.pruneAudit},
		{Name: "prune messages", Every: 10 * time.Minute, Run: a.Reminders.Prune},
		{Name: "prune history", Every: 10 * time.Minute, Run: a.Webhooks.Prune},
		{Name: "prune callbacks", Every: 10 * time.Minute, Run: a.Payments.Prune},
	}
	for _, job := range jobs {
		list = append(list, job.Task(a.Log))
	}
	return list
}

func (a *App) pruneAudit(ctx context.Context) error {
	return a.Accounts.PruneAudit(ctx, time.Duration(a.Config.AuditDays)*24*time.Hour)
}

// jobs are those periodic ones that go by the real clock.
func (a *App) jobs() []worker.Job {
	return []worker.Job{
		{Name: "save last use of tokens", Every: 20 * time.Second, Run: a.Accounts.SaveLastUse},
		{Name: "fold counts", Every: 2 * time.Second, Wake: a.lookout.wake(tally.Look), Run: func(ctx context.Context) error {
			return tally.Compact(ctx, a.DB)
		}},
		{Name: "look for events of other processes", Every: event.PollEvery, Run: a.Events.Poll},
		{
			Name: "continue replays", Every: 2 * time.Second, Run: a.Webhooks.ContinueReplays,
			Wake: a.lookout.wake(a.Webhooks.ReplayLook),
		},
		{Name: "seal with the current key", Every: 5 * time.Minute, Run: a.reseal},
		{Name: "send mail to users", Every: 5 * time.Second, Run: a.Accounts.SendMails},
		{Name: "check the data", Every: time.Hour, Run: a.checkNightly},
		{Name: "prune sessions", Every: 10 * time.Minute, Run: a.Accounts.PruneSessions},
		{
			Name: "count customers of plans that changed", Every: 2 * time.Second, Run: a.Customers.ContinueRepricing,
			Wake: a.lookout.wake(a.Customers.RepricingLook),
		},
		{Name: "continue imports", Every: 5 * time.Second, Run: a.Intake.ContinueImport},
		{Name: "prune uploads", Every: 10 * time.Minute, Run: a.Intake.PruneUploads},
		{Name: "prune counts of signups", Every: time.Hour, Run: a.Resellers.Prune},
		{Name: "prune idempotency keys", Every: 10 * time.Minute, Run: a.idempotency.Prune},
	}
}

// reseal seals again what an older key sealed, in every room that keeps
// secrets.
func (a *App) reseal(ctx context.Context) error {
	return errors.Join(a.Webhooks.Reseal(ctx), a.Payments.Reseal(ctx), a.Reminders.Reseal(ctx),
		a.Accounts.ResealFactors(ctx))
}

func (a *App) planMessages(ctx context.Context) error {
	_, err := a.Reminders.Plan(ctx)
	return err
}
