package doctor

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
)

// Schema reports whether the database is one of this program. current is
// whether the rooms can read it.
func Schema(ctx context.Context, db *sqldb.DB) (finding checkup.Finding, current bool) {
	pending, err := db.Pending(ctx)
	switch {
	case errors.Is(err, sqldb.ErrNewer), errors.Is(err, sqldb.ErrAltered), errors.Is(err, sqldb.ErrOlder):
		finding = checkup.Bad("run the program that made it, or restore a backup", "%v", err)
	case err != nil:
		finding = checkup.Bad("is CARTEIRA_DATABASE_URL right? `carteira migrate` makes the tables of a new database",
			"the tables cannot be read: %v", err)
	case pending > 0:
		finding = checkup.Warn("run `carteira migrate`, or start the server; back it up first",
			"%d migrations are still to be run", pending)
	default:
		finding, current = checkup.Good("the tables are those of this version"), true
	}
	finding.Check = "schema"
	return finding, current
}

// skewLimit is by how much the clocks of this machine and of PostgreSQL may
// differ.
const skewLimit = 5 * time.Second

// clock compares the time of this machine with that of the database: of its
// server, or of what was last written.
func clock(ctx context.Context, db *sqldb.DB) (checkup.Finding, error) {
	if db.Engine() == sqldb.SQLite {
		last, err := sqldb.Value[int64](ctx, db, `SELECT COALESCE(MAX(probed_at), 0) FROM schema_migrations`)
		if err != nil {
			return checkup.Finding{}, err
		}
		if ahead := time.UnixMicro(last).Sub(db.Real()); ahead > time.Minute {
			return checkup.Bad("set the clock of this machine, with NTP",
				"this machine's clock is %s behind what was last written", ahead.Round(time.Second)), nil
		}
		return checkup.Good("this machine's clock is not behind what was written"), nil
	}
	before := db.Real()
	server, err := sqldb.Value[int64](ctx, db, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`)
	if err != nil {
		return checkup.Finding{}, err
	}
	skew := time.UnixMicro(server).Sub(before)
	if skew.Abs() > skewLimit {
		return checkup.Bad("set both clocks with NTP", "the clock of PostgreSQL differs by %s from this machine's",
			skew.Round(time.Millisecond)), nil
	}
	return checkup.Good("the clocks of PostgreSQL and this machine agree"), nil
}

// pages looks for damage, and on PostgreSQL for settings that lose data.
func pages(ctx context.Context, cfg config.Config, db *sqldb.DB) (checkup.Finding, error) {
	if !cfg.Embedded() {
		return postgres(ctx, db)
	}
	if err := db.CheckPages(ctx); err != nil {
		return checkup.Bad("stop the server and restore a backup", "%v", err), nil
	}
	orphans, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), db, `SELECT count(*) FROM pragma_foreign_key_check`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if orphans > 0 {
		return checkup.Bad("stop the server and restore a backup", "%d rows refer to rows that are not there",
			orphans), nil
	}
	return checkup.Good("every page is sound"), nil
}

func postgres(ctx context.Context, db *sqldb.DB) (checkup.Finding, error) {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		value, err := sqldb.Value[string](ctx, db, `SELECT setting FROM pg_settings WHERE name = ?`, name)
		if err != nil {
			return checkup.Finding{}, err
		}
		if value == "off" {
			return checkup.Bad("switch it on in postgresql.conf",
				"PostgreSQL has %s = off: what was acknowledged is lost in a power cut", name), nil
		}
	}
	return checkup.Good("PostgreSQL answers, and writes durably"), nil
}
