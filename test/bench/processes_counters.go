//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// counters are what PostgreSQL counts of what was asked of it.
type counters struct {
	statements float64 // without those that begin and end transactions
	commits    float64 // of transactions that wrote, with the few that were taken back
	rows       float64 // returned or changed
	blocks     float64 // of 8 kB, looked at
	wal        float64 // bytes
}

func (c counters) since(before counters) counters {
	return counters{
		c.statements - before.statements, c.commits - before.commits,
		c.rows - before.rows, c.blocks - before.blocks, c.wal - before.wal,
	}
}

func (c counters) per(count int) counters {
	n := float64(max(1, count))
	return counters{c.statements / n, c.commits / n, c.rows / n, c.blocks / n, c.wal / n}
}

// counted are the statements in the lab's database.
const counted = ` FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`

// read asks for counters that are true at once, unlike those of
// pg_stat_database, which a connection writes down a second late. The server
// forgets the identity of a prepared BEGIN or COMMIT at its first run, so
// pg_stat_statements has one of each for a connection; what wrote took the next
// number of a transaction.
func (l *lab) read(ctx context.Context) (c counters, err error) {
	err = l.cluster.db.QueryRowContext(ctx, `SELECT COALESCE(SUM(calls) FILTER (WHERE query NOT IN ('begin', 'commit', 'rollback')), 0),
		pg_snapshot_xmax(pg_current_snapshot())::text::bigint, COALESCE(SUM(rows), 0),
		COALESCE(SUM(shared_blks_hit + shared_blks_read), 0), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`+counted,
		nameOf(l.url)).Scan(&c.statements, &c.commits, &c.rows, &c.blocks, &c.wal)
	return c, err
}

// waits are how often connections that worked were seen waiting, by what for,
// and how often they were seen at all.
type waits struct {
	seen int
	at   map[string]int
}

// watching looks at the connections until it is stopped.
type watching struct {
	cancel context.CancelFunc
	result chan waits
}

func (w watching) stop() waits {
	w.cancel()
	return <-w.result
}

const glance = 5 * time.Millisecond

func (l *lab) watch(ctx context.Context) watching {
	ctx, cancel := context.WithCancel(ctx)
	w := watching{cancel, make(chan waits, 1)}
	go func() {
		found := waits{at: map[string]int{}}
		for ctx.Err() == nil {
			l.glance(ctx, &found)
			_ = pause(ctx, glance)
		}
		w.result <- found
	}()
	return w
}

// glance leaves out what it could not see: the end cuts the last one short.
func (l *lab) glance(ctx context.Context, found *waits) {
	rows, err := l.cluster.db.QueryContext(ctx, `SELECT COALESCE(wait_event_type, ''), COALESCE(wait_event, ''), query
		FROM pg_stat_activity WHERE datname = $1 AND state = 'active' AND backend_type = 'client backend'`, nameOf(l.url))
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var kind, event, query string
		if rows.Scan(&kind, &event, &query) != nil {
			return
		}
		found.seen++
		switch kind {
		case "":
		case "Lock":
			found.at[kind+" "+event+" in "+shortened(query)]++
		default:
			found.at[kind+" "+event]++
		}
	}
	_ = rows.Err()
}

// shortened is the beginning of a statement.
func shortened(query string) string {
	const width = 60
	text := strings.Join(strings.Fields(query), " ")
	if len(text) > width {
		text = text[:width] + "…"
	}
	return text
}

// most are the things waited for most, with their share of what was seen.
func (w waits) most(number int) string {
	names := slices.SortedFunc(maps.Keys(w.at), func(a, b string) int { return w.at[b] - w.at[a] })
	var parts []string
	for _, name := range names[:min(number, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", name, 100*float64(w.at[name])/float64(w.seen)))
	}
	return strings.Join(parts, ", ")
}

func (l *lab) print() {
	var t table
	t.add("PostgreSQL: one operation", "processes", "/s", "CPU µs", "its CPU µs", "statements", "commits", "rows", "blocks", "WAL bytes")
	for _, c := range l.costs {
		t.add("  "+c.operation, fmt.Sprint(c.processes), rate(c.perSecond), rate(c.cpu), rate(c.dbCPU), fmt.Sprintf("%.1f", c.statements),
			fmt.Sprintf("%.2f", c.commits), rate(c.rows), rate(c.blocks), rate(c.wal))
	}
	t.print()
	fmt.Println("What its connections wait for, of the time that they work")
	for _, c := range l.costs {
		fmt.Printf("  %s, %d: %s\n", c.operation, c.processes, c.waits.most(3))
	}
	fmt.Println()
}

// printStatements shows the statements that took the most of PostgreSQL's time
// in all of it.
func (l *lab) printStatements(ctx context.Context) error {
	rows, err := l.cluster.db.QueryContext(ctx, `SELECT query, calls, total_exec_time, wal_bytes`+counted+`
		ORDER BY total_exec_time DESC LIMIT 12`, nameOf(l.url))
	if err != nil {
		return err
	}
	defer rows.Close()
	var t table
	t.add("Its costliest statements", "calls", "ms", "ms each", "WAL bytes each")
	for rows.Next() {
		var query string
		var calls, total, wal float64
		if err := rows.Scan(&query, &calls, &total, &wal); err != nil {
			return err
		}
		t.add("  "+shortened(query), rate(calls), rate(total), fmt.Sprintf("%.3f", total/calls), rate(wal/calls))
	}
	t.print()
	return rows.Err()
}
