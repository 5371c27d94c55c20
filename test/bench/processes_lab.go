//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"sync/atomic"
	"time"

	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/tools/pgserver"
)

const (
	labCompanies = 64
	labCustomers = 200 // of each

	midnightTimeout = 3 * time.Minute
)

// lab is a PostgreSQL of its own that counts statements, with companies in it.
// The server of the other parts does not count them: that costs time.
type lab struct {
	bench     *bench
	server    *pgserver.Server
	cluster   *cluster // by way of another database: what we ask is not counted
	url       string
	today     civil.Date
	tenants   []tenant
	customers [][]int64 // ids, by company
	renewed   [labCompanies]atomic.Int64
	costs     []cost
	nights    int

	lastEvents []string // ids, by company
}

func (b *bench) newLab(ctx context.Context) (l *lab, err error) {
	l = &lab{bench: b}
	l.server, err = pgserver.Start(ctx, pgserver.Options{Durable: true, Settings: []string{
		"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=5000",
		// The first change of a page after a checkpoint writes the whole page: not in the middle of a measurement.
		"checkpoint_timeout=1h", "max_wal_size=16GB",
	}})
	if err != nil {
		return nil, err
	}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lab) open(ctx context.Context) (err error) {
	l.url = l.server.URL()
	beside, err := url.Parse(l.url)
	if err != nil {
		return err
	}
	beside.Path = "/postgres"
	if l.cluster, err = connectCluster(ctx, beside.String()); err != nil {
		return err
	}
	if _, err := l.cluster.db.ExecContext(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, l.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if err := l.seed(ctx, db); err != nil {
		return err
	}
	return (&dataset{engine: sqldb.Postgres, url: l.url}).settle(ctx)
}

func (l *lab) close() error {
	if l.cluster != nil {
		l.cluster.close()
	}
	l.server.Stop()
	return nil
}

// seed gives each company customers with a plan whose next invoice is not due
// yet.
func (l *lab) seed(ctx context.Context, db *sqldb.DB) error {
	bar := newProgress(fmt.Sprintf("seeding %d companies", labCompanies))
	service := intake.New(db, customer.New(db, &event.Log{}))
	for i := range labCompanies {
		tenant, err := newTenant(ctx, db, fmt.Sprintf("company%d", i))
		if err != nil {
			return err
		}
		l.today = tenant.Today(db.Now())
		if _, err := service.Import(ctx, tenant.Actor, l.rows(&tenant), intake.ImportOptions{}); err != nil {
			return err
		}
		ids, err := sqldb.Values[int64](ctx, db, `SELECT id FROM customers WHERE company_id = ? ORDER BY id`, tenant.Company.ID)
		if err != nil {
			return err
		}
		l.tenants, l.customers = append(l.tenants, tenant), append(l.customers, ids)
		bar.show(i+1, labCompanies)
	}
	if err := db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO invoice_schedule (company_id, customer_id, due_on)
			SELECT company_id, id, due_on FROM customers WHERE due_on IS NOT NULL ON CONFLICT DO NOTHING`)
		return err
	}); err != nil {
		return err
	}
	return tally.Compact(ctx, db)
}

func (l *lab) rows(tenant *tenant) intake.Rows {
	set := dataset{today: l.today, listed: *tenant}
	return func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			for i := range labCustomers {
				person := personOf(i, l.today)
				person.plan, person.due = i%len(tenant.plans), l.today.AddDays(25)
				if !yield(sheet.Row{Line: i, Values: set.values(person)}, nil) {
					return
				}
			}
		}
	}
}

// midnight measures a new day: the companies of one part begin to bill 30 days
// ahead, so that an invoice is due for every customer, and the schedules of the
// processes find them.
func (l *lab) midnight(ctx context.Context, count int) (cost cost, err error) {
	first := l.nights * labCompanies / len(processCounts)
	l.nights++
	last := l.nights * labCompanies / len(processCounts)
	var ids []int64
	for _, tenant := range l.tenants[first:last] {
		ids = append(ids, tenant.Company.ID)
	}
	due, err := l.scheduled(ctx, ids)
	if err != nil {
		return cost, err
	}
	err = l.withDB(ctx, func(db *sqldb.DB) error {
		return db.Write(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE companies SET lead_days = 30, day_done = '' WHERE id {in ?}`, ids)
			return err
		})
	})
	if err != nil {
		return cost, err
	}
	var servers []*process
	defer func() { stopAll(servers) }()
	// The servers begin with the new day's work, so their start is in the figures.
	return l.observe(ctx, &servers, "midnight: issue an invoice", func(ctx context.Context) (int, error) {
		if servers, err = l.start(ctx, count); err != nil {
			return 0, err
		}
		return due, l.awaitIssued(ctx, ids)
	})
}

// readFeeds finds where readers who have seen all events go on.
func (l *lab) readFeeds(ctx context.Context) error {
	return l.withDB(ctx, func(db *sqldb.DB) error {
		feed := event.NewFeed(db, &event.Log{})
		tomorrow := db.Now().AddDate(0, 0, 1)
		for _, tenant := range l.tenants {
			page, err := feed.Read(ctx, tenant.Company.ID, event.Query{Since: tomorrow, Limit: 1})
			if err != nil {
				return err
			}
			l.lastEvents = append(l.lastEvents, page.LastID)
		}
		return nil
	})
}

func (l *lab) withDB(ctx context.Context, do func(*sqldb.DB) error) error {
	db, err := sqldb.Open(ctx, l.url, sqldb.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// scheduled is how many customers of some companies wait for their invoice.
func (l *lab) scheduled(ctx context.Context, ids []int64) (count int, err error) {
	err = l.withDB(ctx, func(db *sqldb.DB) error {
		count, err = sqldb.Value[int](ctx, db, `SELECT count(*) FROM invoice_schedule s JOIN companies c ON c.id = s.company_id
			WHERE s.company_id {in ?} AND s.due_on <= ?`, ids, l.today.AddDays(30).String())
		return err
	})
	return count, err
}

func (l *lab) awaitIssued(ctx context.Context, ids []int64) error {
	ctx, cancel := context.WithTimeout(ctx, midnightTimeout)
	defer cancel()
	for {
		left, err := l.scheduled(ctx, ids)
		if err != nil || left == 0 {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d invoices are still due: %w", left, err)
		}
	}
}
