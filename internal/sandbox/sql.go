package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// isUsed reports whether a database has been an installation already. A link to
// make the first company is there as soon as it was served once.
func isUsed(ctx context.Context, querier sqldb.Querier) (bool, error) {
	return rows.Some(ctx, querier, `
		SELECT (SELECT count(*) FROM companies) + (SELECT count(*) FROM setup_links) /* every company_id */`)
}

func insertClock(ctx context.Context, tx *sqldb.Tx) error {
	return tx.Do(ctx, `
		INSERT INTO sandbox_clock (id, created_at, ahead, moves, driver, driver_until) VALUES (1, ?, 0, 0, '', 0)
		ON CONFLICT DO NOTHING`, tx.Real().UnixMicro())
}

func readClock(ctx context.Context, querier sqldb.Querier) (*clockRow, error) {
	row, err := sqldb.One(ctx, querier, func(row sqldb.Row) (clock clockRow, err error) {
		var ahead int64
		err = row.Scan(&ahead, (*civil.Instant)(&clock.stopped), &clock.moves, (*civil.Instant)(&clock.from), (*civil.Instant)(&clock.to))
		clock.ahead = time.Duration(ahead) * time.Microsecond
		return clock, err
	}, `SELECT ahead, stopped_at, moves, from_at, to_at FROM sandbox_clock WHERE id = 1`)
	if err != nil {
		return nil, fmt.Errorf("read the clock of the sandbox: %w", err)
	}
	return &row, nil
}

func beginAdvance(ctx context.Context, tx *sqldb.Tx, to time.Time) error {
	now := tx.Now().UnixMicro()
	return tx.Do(ctx, `
		UPDATE sandbox_clock SET stopped_at = ?, from_at = ?, to_at = ?, moves = moves + 1 WHERE id = 1`,
		now, now, to.UnixMicro())
}

func setBack(ctx context.Context, tx *sqldb.Tx, to time.Time) error {
	return tx.Do(ctx, `UPDATE sandbox_clock SET ahead = ?, moves = moves + 1 WHERE id = 1`,
		to.UnixMicro()-tx.Real().UnixMicro())
}

// endAdvance lets the clock run on from its present instant.
func endAdvance(ctx context.Context, tx *sqldb.Tx, token string) error {
	return tx.Do(ctx, `
		UPDATE sandbox_clock SET ahead = stopped_at - ?, stopped_at = NULL, moves = moves + 1
		WHERE id = 1 AND driver = ? AND stopped_at = to_at`, tx.Real().UnixMicro(), token)
}

// takeLease makes a process the driver for a while, or lengthens its lease.
func takeLease(ctx context.Context, tx *sqldb.Tx, token string, length time.Duration) (bool, error) {
	return rows.Changed(ctx, tx, `
		UPDATE sandbox_clock SET driver = ?, driver_until = {clock ?} + ?
		WHERE id = 1 AND (driver = ? OR driver_until <= {clock ?})`,
		token, tx.Clock(), length.Microseconds(), token, tx.Clock())
}

func endLease(ctx context.Context, tx *sqldb.Tx, token string) error {
	return tx.Do(ctx, `UPDATE sandbox_clock SET driver = '', driver_until = 0 WHERE id = 1 AND driver = ?`, token)
}

// firstFew is how many happenings of a kind are kept.
const firstFew = 5

type happening struct {
	companyID int64
	kind      string
	ids       []string
}

// first is how the first few are stored.
func (h happening) first(at time.Time) string {
	var lines []string
	for _, id := range h.ids[:min(len(h.ids), firstFew)] {
		lines = append(lines, strconv.FormatInt(at.UnixMicro(), 10)+" "+id)
	}
	return strings.Join(lines, ",")
}

func countHappening(ctx context.Context, tx *sqldb.Tx, happened happening) error {
	return tx.Do(ctx, `
		INSERT INTO sandbox_happened (company_id, kind, amount, first) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, kind) DO UPDATE SET amount = sandbox_happened.amount + excluded.amount,
			first = CASE WHEN sandbox_happened.amount < ? THEN sandbox_happened.first || ',' || excluded.first
				ELSE sandbox_happened.first END`,
		happened.companyID, happened.kind, len(happened.ids), happened.first(tx.Now()), firstFew)
}

// happened reads what an advance has brought to a company; 0: to all.
func happened(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Kind, error) {
	var kinds []Kind
	err := sqldb.Each(ctx, querier, `
		SELECT kind, amount, first FROM sandbox_happened WHERE company_id = ? OR ? = 0 ORDER BY kind, company_id`,
		[]any{companyID, companyID}, func(row sqldb.Row) error {
			var kind Kind
			var first string
			if err := row.Scan(&kind.Name, &kind.Amount, &first); err != nil {
				return err
			}
			if last := len(kinds) - 1; last >= 0 && kinds[last].Name == kind.Name {
				kinds[last].Amount += kind.Amount
				return nil
			}
			kind.First = readFirst(first)
			kinds = append(kinds, kind)
			return nil
		})
	return kinds, err
}

func readFirst(lines string) (list []Happening) {
	for line := range strings.SplitSeq(lines, ",") {
		micros, id, _ := strings.Cut(line, " ")
		if at, err := strconv.ParseInt(micros, 10, 64); err == nil {
			list = append(list, Happening{time.UnixMicro(at), id})
		}
	}
	return list[:min(len(list), firstFew)]
}
