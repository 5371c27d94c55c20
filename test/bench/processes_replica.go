//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// replica measures how old a streaming standby is while customers are created:
// how long after a moment of the primary it shows what was committed by then.
func (l *lab) replica(ctx context.Context) (err error) {
	standby, err := l.server.Standby(ctx)
	if err != nil {
		return err
	}
	defer standby.Stop()
	copied, err := sql.Open("pgx", standby.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	servers, err := l.start(ctx, 1)
	defer stopAll(servers)
	if err != nil {
		return err
	}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := l.drive(loading, servers, operations()[creatingAt], 2*l.bench.span)
		ended <- err
	}()
	ages, err := l.ages(ctx, copied, 2*l.bench.span)
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	var t table
	t.add("PostgreSQL: ms until a standby shows a commit, while customers are created", "p50", "p99", "most")
	t.addTimes(fmt.Sprintf("  of %d moments", len(ages)), ages)
	t.print()
	return nil
}

// ages asks the primary where it is, and the standby until it is there too.
func (l *lab) ages(ctx context.Context, copied *sql.DB, span time.Duration) (ages []time.Duration, err error) {
	for until := time.Now().Add(span); time.Now().Before(until); {
		var position string
		if err := l.cluster.db.QueryRowContext(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&position); err != nil {
			return nil, err
		}
		began := time.Now()
		for there := false; !there; {
			if err := copied.QueryRowContext(ctx, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", position).Scan(&there); err != nil {
				return nil, err
			}
		}
		ages = append(ages, time.Since(began))
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return ages, nil
}

// pruning shows what it writes to delete rows one by one. A partition that is
// dropped writes about as much whatever was in it.
func (l *lab) pruning(ctx context.Context) error {
	var t table
	t.add("PostgreSQL: deleting the old", "rows", "WAL bytes of each", "table and indexes, bytes of each")
	for _, name := range []string{"events", "audit_log"} {
		rows, wal, size, err := l.prune(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n := float64(max(1, rows))
		t.add("  "+name, grouped(rows), rate(wal/n), rate(size/n))
	}
	t.print()
	return nil
}

// prune deletes in a transaction that is taken back.
func (l *lab) prune(ctx context.Context, name string) (rows int, wal, size float64, err error) {
	db, err := sql.Open("pgx", l.url)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const position = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), pg_total_relation_size($1::text::regclass)"
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	var before, after float64
	if err := tx.QueryRowContext(ctx, position, name).Scan(&before, &size); err != nil {
		return 0, 0, 0, err
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM "+name)
	if err != nil {
		return 0, 0, 0, err
	}
	deleted, err := result.RowsAffected()
	if err != nil {
		return 0, 0, 0, err
	}
	if err := tx.QueryRowContext(ctx, position, name).Scan(&after, &size); err != nil {
		return 0, 0, 0, err
	}
	return int(deleted), after - before, size, nil
}

// printSizes shows what a customer takes on the disk, with all that belongs to
// it.
func (l *lab) printSizes(ctx context.Context) error {
	db, err := sql.Open("pgx", l.url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "ANALYZE"); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, `SELECT relname, pg_total_relation_size(oid), GREATEST(reltuples, 1) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC LIMIT 10`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var t table
	t.add("PostgreSQL: the largest tables, with their indexes", "kB", "bytes of a row")
	for rows.Next() {
		var name string
		var size, count float64
		if err := rows.Scan(&name, &size, &count); err != nil {
			return err
		}
		t.add("  "+name, rate(size/1024), rate(size/count))
	}
	t.print()
	return rows.Err()
}
