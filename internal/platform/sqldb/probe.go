package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// probeTime bounds a probe.
const probeTime = 2 * time.Second

const (
	appliedVersion = "SELECT COALESCE(MAX(version), 0) FROM schema_migrations"
	// A row that another process is probing with is passed over: it is being
	// written, which is all there is to find out, and a process that is cut off
	// in the middle must not make the others wait.
	probe = `UPDATE schema_migrations SET probed_at = ? WHERE version IN (
		SELECT version FROM schema_migrations ORDER BY version DESC LIMIT 1 {for update skip locked})`
)

// Probe reports whether the database can be read and written by this program,
// with an error of which TroubleOf says what is the matter. It writes, unless a
// write has succeeded within the last time of fresh.
func (db *DB) Probe(ctx context.Context, fresh time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	return db.troubles.note(db.probe(ctx, fresh))
}

func (db *DB) probe(ctx context.Context, fresh time.Duration) error {
	if err := db.inPlace(); err != nil {
		return err
	}
	if err := db.checkSchema(ctx); err != nil {
		return unanswering(err)
	}
	if err := db.damage(); err != nil {
		return err
	}
	if time.Since(time.UnixMicro(db.written.Load())) < fresh {
		return nil
	}
	err := db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, probe, time.Now().UnixMicro())
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return db.overdue(err)
	}
	return err
}

// unanswering makes trouble of a database that did not answer within the probe.
func unanswering(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// checkSchema refuses a schema that another process has migrated away from
// under this one.
func (db *DB) checkSchema(ctx context.Context) error {
	applied, err := Value[int](ctx, db, appliedVersion)
	if err != nil {
		return err
	}
	list, err := known(db.Engine())
	if err == nil && applied > len(list) {
		err = fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, applied, len(list))
	}
	return err
}

// damageTime is how long a write that met a damaged page is held against the
// database: a probe writes to another page.
const damageTime = time.Minute

func (db *DB) damage() error {
	if time.Since(time.UnixMicro(db.damaged.Load())) < damageTime {
		return fmt.Errorf("%w: a write has met it", ErrDamaged)
	}
	return nil
}

// observe keeps what the outcome of a write says about the database. One that did
// not wait for the disk proves nothing about it.
func (db *DB) observe(tx *Tx, terms terms, err error) error {
	switch {
	case err == nil && tx.changed && !terms.relaxed:
		db.written.Store(time.Now().UnixMicro())
	case errors.Is(err, ErrDamaged):
		db.damaged.Store(time.Now().UnixMicro())
	}
	return db.troubles.note(err)
}

func (db *postgresDB) inPlace() error { return nil }

func (db *postgresDB) overdue(err error) error { return unanswering(err) }

func (db *sqliteDB) inPlace() error { return db.place.check() }

// overdue is no trouble while another transaction has its turn, however long:
// an import is at work. It is when the disk does not finish a commit.
func (db *sqliteDB) overdue(err error) error {
	began := db.group.committing.Load()
	if began == 0 || time.Since(time.UnixMicro(began)) < probeTime {
		return nil
	}
	return fmt.Errorf("%w: a commit does not end: %w", ErrDisk, err)
}
