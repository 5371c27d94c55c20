//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
)

// scheduleRuns is how often each schedule is run in a company in which nothing
// is due.
const scheduleRuns = 200

// schedules shows that a run of the schedules costs what is due, not what there
// is: nothing is due here, in a small company and in a big one.
func (b *bench) schedules(ctx context.Context, small, big *dataset) error {
	if !b.scheduling() {
		return nil
	}
	costs := map[string][]time.Duration{}
	for _, d := range []*dataset{small, big} {
		expire, issue, err := d.idleSchedules(ctx)
		if err != nil {
			return fmt.Errorf("schedules at %d customers: %w", d.size, err)
		}
		costs["expire customers"] = append(costs["expire customers"], expire)
		costs["issue invoices"] = append(costs["issue invoices"], issue)
	}
	var t table
	t.add(engineNames[small.engine]+": ms of a run with nothing due", grouped(small.size), grouped(big.size), "ratio")
	for _, name := range []string{"expire customers", "issue invoices"} {
		c := costs[name]
		t.add("  "+name, fmt.Sprintf("%.3f", c[0].Seconds()*1000), fmt.Sprintf("%.3f", c[1].Seconds()*1000),
			fmt.Sprintf("%.1f", c[1].Seconds()/c[0].Seconds()))
	}
	t.print()
	return big.printPlans(ctx)
}

// idleSchedules puts every due date that is far on the schedule and returns the
// median cost of looking for one that is near.
func (d *dataset) idleSchedules(ctx context.Context) (expire, issue time.Duration, err error) {
	db, err := sqldb.Open(ctx, d.url, sqldb.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	events := &event.Log{}
	customers := customer.New(db, events)
	bills := billing.New(db, events, customers)
	far := d.today.AddDays(d.listed.Company.Settings.LeadDays + 2)
	err = db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO invoice_schedule (company_id, customer_id, due_on)
			SELECT company_id, id, due_on FROM customers WHERE company_id = ? AND due_on >= ? ON CONFLICT DO NOTHING`, d.listed.Company.ID, far)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if expire, err = medianOf(func() (int, error) { return customers.Expire(ctx, d.listed.Actor) }); err != nil {
		return 0, 0, err
	}
	issue, err = medianOf(func() (int, error) { return bills.Issue(ctx, d.listed.Actor) })
	return expire, issue, err
}

// medianOf runs a schedule once to do what may be due, and then often.
func medianOf(run func() (int, error)) (time.Duration, error) {
	if _, err := run(); err != nil {
		return 0, err
	}
	took := make([]time.Duration, scheduleRuns)
	for i := range took {
		began := time.Now()
		if n, err := run(); err != nil || n > 0 {
			return 0, errors.Join(err, fmt.Errorf("%d were due", n))
		}
		took[i] = time.Since(began)
	}
	return median(took), nil
}

// printPlans shows how the engine looks for what is due.
func (d *dataset) printPlans(ctx context.Context) (err error) {
	db, err := sqldb.Open(ctx, d.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	explain := "EXPLAIN "
	if d.engine == sqldb.SQLite {
		explain = "EXPLAIN QUERY PLAN "
	}
	for _, text := range []string{
		`SELECT id FROM customers WHERE company_id = ? AND expiry_on < ? ORDER BY expiry_on, id LIMIT 1`,
		`SELECT customer_id FROM invoice_schedule WHERE company_id = ? AND due_on <= ? ORDER BY due_on, customer_id LIMIT 1`,
	} {
		fmt.Println("  " + text)
		err := sqldb.Each(ctx, db, explain+text, []any{d.listed.Company.ID, d.today.String()}, func(row sqldb.Row) error {
			var line string
			var unused int64
			dest := []any{&line}
			if d.engine == sqldb.SQLite {
				dest = []any{&unused, &unused, &unused, &line}
			}
			err := row.Scan(dest...)
			fmt.Println("    " + strings.TrimRight(line, " "))
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}
