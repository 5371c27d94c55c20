//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/platform/sqldb"
)

const (
	// idleSettle is how long a server is left alone before it is measured: the
	// first look at the days of all companies is among what it does then, half a
	// minute after its start, and takes another on a busy machine.
	idleSettle = 90 * time.Second
	// idleSpan has two turns of the slowest job that is not rare.
	idleSpan = time.Minute
	// idleCPUGoal is of a minute, with the most companies.
	idleCPUGoal = 200 * time.Millisecond
)

// idleCompanies are how many companies do nothing.
var idleCompanies = []int{1000, 20_000}

// idle is what a server costs that nobody asks anything.
type idle struct {
	cpu   time.Duration // of its process, in a minute
	dbCPU time.Duration // of the database's processes for it
	rss   int64         // bytes
}

func (i idle) allCPU() time.Duration { return i.cpu + i.dbCPU }

func (b *bench) idling() bool { return b.only.MatchString("idle companies") }

// idleness measures servers with few and with many companies beside each other:
// processor time is of one process, whatever else runs.
func (b *bench) idleness(ctx context.Context, engine sqldb.Engine) (err error) {
	var sets []*dataset
	var servers []*process
	defer func() {
		for _, server := range servers {
			server.stop()
		}
		err = errors.Join(err, b.discard(context.WithoutCancel(ctx), sets))
	}()
	for _, companies := range idleCompanies {
		set, err := b.idleDataset(ctx, engine, companies)
		if err != nil {
			return fmt.Errorf("seed %d companies: %w", companies, err)
		}
		sets = append(sets, set)
		server, err := b.startProduct(ctx, set)
		if err != nil {
			return err
		}
		servers = append(servers, server)
	}
	if err := pause(ctx, idleSettle); err != nil {
		return err
	}
	costs, err := b.idleCosts(ctx, servers, sets)
	b.idled[engine] = costs
	b.printIdle(engine)
	return err
}

func (b *bench) idleCosts(ctx context.Context, servers []*process, sets []*dataset) ([]idle, error) {
	before := make([]map[int]time.Duration, len(servers))
	for i, server := range servers {
		var err error
		if before[i], err = b.used(ctx, server, sets[i]); err != nil {
			return nil, err
		}
	}
	if err := pause(ctx, idleSpan); err != nil {
		return nil, err
	}
	costs := make([]idle, len(servers))
	for i, server := range servers {
		after, err := b.used(ctx, server, sets[i])
		if err != nil {
			return nil, err
		}
		for pid, cpu := range after {
			if pid == server.pid() {
				costs[i].cpu += cpu - before[i][pid]
			} else {
				costs[i].dbCPU += cpu - before[i][pid]
			}
		}
		costs[i].rss = memoryOf(server.pid(), "VmRSS")
	}
	return costs, nil
}

func pause(ctx context.Context, span time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
		return nil
	}
}

func (b *bench) printIdle(engine sqldb.Engine) {
	costs := b.idled[engine]
	if len(costs) < 2 {
		return
	}
	few, many := costs[0], costs[1]
	var t table
	t.add(engineNames[engine]+": a minute of a server that nobody asks", grouped(idleCompanies[0])+" companies",
		grouped(idleCompanies[1])+" companies", "ratio")
	row := func(name string, one, other time.Duration) {
		t.add("  "+name, one.String(), other.String(), fmt.Sprintf("%.1f", other.Seconds()/max(one, tick).Seconds()))
	}
	row("CPU", few.cpu, many.cpu)
	if engine == sqldb.Postgres {
		row("CPU of PostgreSQL for it", few.dbCPU, many.dbCPU)
	}
	t.add("  memory", megabytes(few.rss), megabytes(many.rss), fmt.Sprintf("%.1f", float64(many.rss)/float64(few.rss)))
	t.print()
}

func (b *bench) judgeIdle(table *table, engine sqldb.Engine) {
	costs := b.idled[engine]
	if len(costs) == 0 {
		return
	}
	most := costs[len(costs)-1].allCPU()
	table.add(fmt.Sprintf("  %s: idle with %s companies", engineNames[engine], grouped(idleCompanies[len(costs)-1])),
		"≤ "+idleCPUGoal.String()+" CPU a minute", most.String(), met(most <= idleCPUGoal))
}

// idleDataset makes companies of four zones that bill from 0 to 20 days ahead.
// Each has a webhook, a rule of messages, and ten customers whose due dates come
// in the next year, from the day after tomorrow's last zone on.
func (b *bench) idleDataset(ctx context.Context, engine sqldb.Engine, companies int) (set *dataset, err error) {
	address, err := b.address(ctx, engine, companies)
	if err != nil {
		return nil, err
	}
	set = &dataset{engine: engine, url: address, size: companies}
	db, err := sqldb.Open(ctx, address, sqldb.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	return set, db.Write(sqldb.WithoutDeadline(ctx), func(tx *sqldb.Tx) error {
		for _, statement := range idleRows(engine, companies) {
			if _, err := tx.Exec(sqldb.WithoutDeadline(ctx), statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func idleRows(engine sqldb.Engine, companies int) []string {
	day := func(days string) string { return "CAST(CURRENT_DATE + CAST(" + days + " AS INTEGER) AS TEXT)" }
	if engine == sqldb.SQLite {
		day = func(days string) string { return "date('now', '+' || (" + days + ") || ' days')" }
	}
	numbers := func(most int) string {
		return fmt.Sprintf(" WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", most)
	}
	due, far := day("30 + i % 330"), time.Now().Add(20*time.Hour).UnixMicro()
	return []string{
		`INSERT INTO companies (name, timezone, level, renew_from, renew_on_payment, lead_days, created_at, updated_at)` + numbers(companies) + `
			SELECT 'C' || i, CASE i % 20 WHEN 0 THEN 'America/Manaus' WHEN 1 THEN 'America/Rio_Branco' WHEN 2 THEN 'America/Noronha'
				ELSE 'America/Sao_Paulo' END, 'user', 'due_date', TRUE, i % 21, 1, 1 FROM n`,
		`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day, notes, name_key,
				created_at, created_on, updated_at, expiry_on)` + numbers(10*companies) + fmt.Sprintf(`
			SELECT 1 + i %% %d, 'u' || i, 'Ana', '', '', '', '', '', %s, 1, '', '', 1, '2026-01-31', 1, %s FROM n`, companies, due, due),
		`INSERT INTO invoice_schedule (company_id, customer_id, due_on) SELECT company_id, id, due_on FROM customers`,
		`INSERT INTO webhooks (company_id, url, description, events, active, secret, failures, notice, created_at, updated_at)
			SELECT id, 'https://example.com/', '', ',customer.expired,', TRUE, '', 0, '', 1, 1 FROM companies`,
		`INSERT INTO delivery_lanes (lane, token, until, sending) SELECT id, '', 0, '' FROM webhooks`,
		`INSERT INTO reminder_channels (company_id, kind, name, options, secrets, active, per_minute, next_at, created_at, updated_at)
			SELECT id, 'log', 'Log', '{}', '', TRUE, 0, 0, 1, 1 FROM companies`,
		`INSERT INTO reminder_templates (company_id, name, subject, body, whatsapp_name, whatsapp_language, whatsapp_params,
			created_at, updated_at)
			SELECT id, 'T', '', 'x', '', '', '[]', 1, 1 FROM companies`,
		fmt.Sprintf(`INSERT INTO reminder_rules (company_id, name, active, offset_days, minute, status, channels, template_id, cursor_on,
				cursor_id, plan_at, created_at, updated_at)
			SELECT t.company_id, 'R', TRUE, -3, 540, '', ',' || c.id || ',', t.id, %s, 0, %d, 1, 1
			FROM reminder_templates t JOIN reminder_channels c ON c.company_id = t.company_id`, day("6"), far),
		`ANALYZE`,
	}
}
