package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/account"
	"carteira/internal/platform/backup"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/worker"
)

// DayWork does what the calendar asks for, in each company by the day of its calendar: it
// records due dates that have passed and issues invoices for those that are near, and
// stops the webhooks of companies with an expired subscription. It handles only companies
// that have a new day, or for which a change has asked. A company that fails or panics
// does not delay the others.
func (a *App) DayWork(ctx context.Context) error {
	_, err := a.doDayWork(ctx)
	return err
}

// doDayWork returns of how many companies the day was found done.
func (a *App) doDayWork(ctx context.Context) (ended int, err error) {
	var failures []error
	for works, err := range a.Accounts.DayWorks(ctx) {
		done, err := a.dayWorkOf(ctx, works, err)
		failures = append(failures, err)
		ended += done
	}
	return ended, errors.Join(append(failures, a.Webhooks.Hold(ctx))...)
}

// dayWorkOf does the work of some companies, and writes down the day of those that
// have none left.
func (a *App) dayWorkOf(ctx context.Context, works []account.DayWork, err error) (ended int, _ error) {
	if err != nil {
		return 0, err
	}
	due, err := a.withWork(ctx, works)
	if err != nil {
		return 0, err
	}
	failures := a.workThrough(ctx, works, due)
	// Another process may be at some of it, and a failure leaves it undone.
	left, err := a.withWork(ctx, slices.DeleteFunc(slices.Clone(works), func(work account.DayWork) bool {
		return !due[work.Company.ID]
	}))
	if err != nil {
		return 0, errors.Join(append(failures, err)...)
	}
	ended, err = a.Accounts.EndDayWork(ctx, slices.DeleteFunc(works, func(work account.DayWork) bool {
		return left[work.Company.ID]
	}))
	return ended, errors.Join(append(failures, err)...)
}

// workThrough does the work of those companies that have some.
func (a *App) workThrough(ctx context.Context, works []account.DayWork, due map[int64]bool) (failures []error) {
	for _, work := range works {
		if !due[work.Company.ID] {
			continue
		}
		failures = append(failures, worker.Guard(ctx, func() error {
			_, err := a.Customers.Expire(ctx, work.Actor())
			return err
		}), worker.Guard(ctx, func() error {
			_, err := a.Billing.Issue(ctx, work.Actor())
			return err
		}))
	}
	return failures
}

// withWork finds those companies that have something due, by one statement for
// all that have the same day.
func (a *App) withWork(ctx context.Context, works []account.DayWork) (map[int64]bool, error) {
	due := map[int64]bool{}
	byToday, byHorizon := map[civil.Date][]int64{}, map[civil.Date][]int64{}
	for _, work := range works {
		byToday[work.Today] = append(byToday[work.Today], work.Company.ID)
		horizon := work.Today.AddDays(work.Company.Settings.LeadDays)
		byHorizon[horizon] = append(byHorizon[horizon], work.Company.ID)
		if work.Company.Settings.OverdueInvoices > 0 { // no schedule has the further invoices of late customers
			due[work.Company.ID] = true
		}
	}
	if err := markDue(ctx, due, byToday, a.Customers.WithLapsed); err != nil {
		return nil, err
	}
	return due, markDue(ctx, due, byHorizon, a.Billing.WithScheduled)
}

// markDue marks the companies that a schedule finds, day by day.
func markDue(
	ctx context.Context,
	due map[int64]bool,
	byDay map[civil.Date][]int64,
	find func(context.Context, []int64, civil.Date) ([]int64, error),
) error {
	for day, companyIDs := range byDay {
		found, err := find(ctx, companyIDs, day)
		if err != nil {
			return err
		}
		for _, id := range found {
			due[id] = true
		}
	}
	return nil
}

// dayWork is the day's work in a sandbox, which chooses the instants for it.
type dayWork struct {
	app *App

	mu   sync.Mutex
	vain time.Time // when a look ended nothing though something was due
}

// next is when something is to be looked at. What a look at this very instant
// could not end waits for the next.
func (d *dayWork) next(ctx context.Context) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, midnight, err := d.app.Accounts.NextDayWork(ctx)
	if now := d.app.DB.Now(); due && !now.Equal(d.vain) {
		return now, err
	}
	return midnight, err
}

func (d *dayWork) run(ctx context.Context) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.app.DB.Now()
	ended, err := d.app.doDayWork(ctx)
	if d.vain = (time.Time{}); err == nil && ended == 0 {
		d.vain = now
	}
	return ended, err
}

// nightly is what the checks of the data found last night.
type nightly struct {
	wrong *prometheus.GaugeVec
	at    prometheus.Gauge

	mu    sync.Mutex
	night string // of the last checks
}

func newNightly() *nightly {
	return &nightly{
		wrong: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "carteira_check_wrong",
			Help: "1 where the nightly checks of the data found something wrong, else 0, by check.",
		}, []string{"check"}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_check_last_timestamp_seconds",
			Help: "When the nightly checks of the data were last made, in seconds since 1970.",
		}),
	}
}

// begin reports whether tonight's checks are still to be made.
func (n *nightly) begin(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.night == backup.Night(now) {
		return false
	}
	n.night = backup.Night(now)
	return true
}

// checkNightly makes the checks of the data once a night. What is wrong is an
// error in the log and a metric; `carteira doctor` says more.
func (a *App) checkNightly(ctx context.Context) error {
	now := time.Now()
	if !a.nightly.begin(now) {
		return nil
	}
	for _, check := range a.dataChecks() {
		finding := check.Do(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		value := 0.0
		if finding.Verdict == checkup.Wrong {
			value = 1
			a.Log.ErrorContext(ctx, "check found something wrong", "check", finding.Check, "found", finding.Text,
				"advice", finding.Advice)
		}
		a.nightly.wrong.WithLabelValues(finding.Check).Set(value)
	}
	a.nightly.at.Set(float64(now.Unix()))
	return nil
}

// backups makes the copies of the embedded database.
type backups struct {
	folder backup.Folder
	made   prometheus.Gauge
	size   prometheus.Gauge
}

func newBackups(folder backup.Folder) *backups {
	b := &backups{
		folder: folder,
		made: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_backup_last_success_timestamp_seconds",
			Help: "When the newest copy in the backup folder was made, in seconds since 1970; 0 when there is none.",
		}),
		size: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_backup_size_bytes",
			Help: "Size of the newest copy in the backup folder.",
		}),
	}
	if list, err := folder.List(); err == nil && len(list) > 0 { // of processes before this one
		b.note(list[len(list)-1])
	}
	return b
}

func (b *backups) note(file backup.File) {
	b.made.Set(float64(file.Made.Unix()))
	b.size.Set(float64(file.Size))
}

// backUpEvery is how often it is looked whether tonight's copy is due, and how
// soon one that failed is tried again.
const backUpEvery = 5 * time.Minute

// backupJob looks at once whether tonight's copy is due, and then every so often.
func (a *App) backupJob() worker.Job {
	first := worker.NewWake()
	first.Hint()
	return worker.Job{Name: "back up the database", Every: backUpEvery, Wake: first, Run: func(ctx context.Context) error {
		return a.backUp(ctx, time.Now())
	}}
}

// backUp makes tonight's copy if it is due, and deletes the old ones.
func (a *App) backUp(ctx context.Context, now time.Time) error {
	due, err := a.backups.folder.Due(now)
	if err != nil || !due {
		return err
	}
	file, err := a.backups.folder.Make(ctx, a.DB, now)
	if err != nil {
		return err
	}
	a.backups.note(file)
	a.Log.InfoContext(ctx, "backed up", "file", file.Path, "bytes", file.Size)
	return a.backups.folder.Prune(now)
}
