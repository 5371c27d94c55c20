package customer

import (
	"context"
	"errors"
	"maps"
	"slices"

	"carteira/internal/platform/sqldb"
)

// dueForSealing are some companies whose segments may need work.
func dueForSealing(ctx context.Context, querier sqldb.Querier) ([]int64, error) {
	return sqldb.Values[int64](ctx, querier, `
		SELECT DISTINCT company_id FROM search_due ORDER BY company_id LIMIT ? /* every company_id */`, 100)
}

const anySealing = `SELECT 1 FROM search_due /* every company_id */`

// claimSealing reports false when another process is at it.
func claimSealing(ctx context.Context, tx *sqldb.Tx, companyID int64) (bool, error) {
	n, err := tx.Exec(ctx, `
		DELETE FROM search_due WHERE company_id = ? AND id IN (
			SELECT id FROM search_due WHERE company_id = ? {for update skip locked})`, companyID, companyID)
	return n > 0, err
}

// askSealing has the company looked at again.
func askSealing(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO search_due (company_id) VALUES (?)`, companyID)
	return err
}

// askSealingFor has the company of new customers looked at when one in 64 is
// among them. On PostgreSQL a trigger does; on SQLite a trigger on new rows would
// cost each of them a copy of all pages that it touches.
func askSealingFor(ctx context.Context, tx *sqldb.Tx, companyID int64, ids ...int64) error {
	marked := func(id int64) bool { return id != 0 && id%64 == 0 }
	if tx.Engine() != sqldb.SQLite || !slices.ContainsFunc(ids, marked) {
		return nil
	}
	return askSealing(ctx, tx, companyID)
}

// How far a segment is that is not sealed.
const (
	segmentMarked int64 = iota // its horizon is to be set
	segmentUnripe
	segmentRipe
	segmentNone // there is none
)

// firstUnsealed is the oldest segment that is not sealed. A horizon that lies
// ahead comes from another server, whose backup this one was made of.
func firstUnsealed(ctx context.Context, tx *sqldb.Tx, companyID int64) (next segment, state int64, err error) {
	next.companyID = companyID
	_, err = sqldb.One(ctx, tx, func(row sqldb.Row) (struct{}, error) {
		return struct{}{}, row.Scan(&next.last, &next.after, &state)
	}, `
		SELECT g.last_id,
			COALESCE((SELECT MAX(b.last_id) FROM search_segments b WHERE b.company_id = ? AND b.last_id < g.last_id), 0),
			CASE WHEN g.horizon IS NULL OR g.horizon > {this transaction} THEN 0 WHEN g.horizon > {oldest transaction} THEN 1 ELSE 2 END
		FROM search_segments g WHERE g.company_id = ? AND NOT g.sealed ORDER BY g.last_id LIMIT 1`, companyID, companyID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return next, segmentNone, nil
	}
	return next, state, err
}

// setHorizon runs in a transaction that began after the segments were committed,
// so every later one knows of them.
func setHorizon(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET horizon = {this transaction} WHERE company_id = ? AND NOT sealed`, companyID)
	return err
}

// segmentEnds are the last ids of full segments among the customers who are in
// none.
func segmentEnds(ctx context.Context, tx *sqldb.Tx, companyID, size int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		SELECT id FROM (
			SELECT id, row_number() OVER (ORDER BY id) AS place FROM (
				SELECT id FROM customers WHERE company_id = ? AND id > COALESCE((
					SELECT MAX(last_id) FROM search_segments WHERE company_id = ?), 0) AND {visible id}
				ORDER BY id LIMIT ?) AS some_of_them
		) AS placed WHERE place % ? = 0 ORDER BY id`,
		companyID, companyID, size*markedAtOnce, size)
}

func markSegment(ctx context.Context, tx *sqldb.Tx, companyID, last int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO search_segments (company_id, last_id, sealed) VALUES (?, ?, ?)`, companyID, last, false)
	return err
}

func markSealed(ctx context.Context, tx *sqldb.Tx, of segment) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET sealed = ?, moved = ? WHERE company_id = ? AND last_id = ?`, true, unmoved, of.companyID, of.last)
	return err
}

func changedIDs(ctx context.Context, tx *sqldb.Tx, companyID int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `SELECT DISTINCT id FROM search_changes WHERE company_id = ?`, companyID)
}

func sealedEnds(ctx context.Context, tx *sqldb.Tx, companyID int64) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		SELECT last_id FROM search_segments WHERE company_id = ? AND sealed ORDER BY last_id`, companyID)
}

// anyDeleted is a customer of a segment who was deleted since; 0: there is none.
func anyDeleted(ctx context.Context, tx *sqldb.Tx, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT COALESCE(MIN(h.id), 0) FROM search_changes h WHERE h.company_id = ? AND NOT EXISTS (
			SELECT 1 FROM customers c WHERE c.company_id = ? AND c.id = h.id)`, companyID, companyID)
}

// segmentAround is the sealed segment that an id is in.
func segmentAround(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (around segment, found bool, err error) {
	around.companyID = companyID
	_, err = sqldb.One(ctx, tx, func(row sqldb.Row) (struct{}, error) {
		return struct{}{}, row.Scan(&around.last, &around.after)
	}, `
		SELECT g.last_id,
			COALESCE((SELECT MAX(b.last_id) FROM search_segments b WHERE b.company_id = ? AND b.last_id < g.last_id), 0)
		FROM search_segments g WHERE g.company_id = ? AND g.last_id >= ? AND g.sealed ORDER BY g.last_id LIMIT 1`,
		companyID, companyID, id)
	if errors.Is(err, sqldb.ErrNotFound) {
		return around, false, nil
	}
	return around, err == nil, err
}

// lockSegment has one transaction at a time write the postings of a segment.
func lockSegment(ctx context.Context, tx *sqldb.Tx, of segment) error {
	_, err := sqldb.Value[int64](ctx, tx, `
		SELECT last_id FROM search_segments WHERE company_id = ? AND last_id = ? {for update}`, of.companyID, of.last)
	return err
}

func forgetChanges(ctx context.Context, tx *sqldb.Tx, of segment) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM search_changes WHERE company_id = ? AND id > ? AND id <= ?`, of.companyID, of.after, of.last)
	return err
}

// readTexts reads the search texts of a segment, newest first.
func readTexts(ctx context.Context, tx *sqldb.Tx, of segment) ([]segmentText, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (segmentText, error) {
		var id int64
		var text string
		err := row.Scan(&id, &text)
		return segmentText{of.last - id, []rune(text)}, err
	}, `
		SELECT id, search FROM customers WHERE company_id = ? AND id > ? AND id <= ? ORDER BY id DESC`,
		of.companyID, of.after, of.last)
}

func replacePostings(ctx context.Context, tx *sqldb.Tx, of segment, made map[string]posting) error {
	_, err := tx.Exec(ctx, `DELETE FROM search_postings WHERE company_id = ? AND last_id = ?`, of.companyID, of.last)
	if err != nil {
		return err
	}
	for terms := range sqldb.Pieces(slices.Sorted(maps.Keys(made))) {
		args := make([]any, 0, 4*len(terms))
		for _, term := range terms {
			args = append(args, of.companyID, of.last, term, []byte(made[term]))
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO search_postings (company_id, last_id, term, ids) VALUES `+sqldb.Tuples(len(terms), 4), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceGrams writes the grams of a segment as rows of its own.
func replaceGrams(ctx context.Context, tx *sqldb.Tx, of segment, rows []gramRow) error {
	_, err := tx.Exec(ctx, `DELETE FROM search_grams WHERE company_id = ? AND last_id = ?`, of.companyID, of.last)
	if err != nil {
		return err
	}
	for some := range sqldb.Pieces(rows) {
		args := make([]any, 0, 5*len(some))
		for _, row := range some {
			args = append(args, of.companyID, of.last, int64(row.key), 0, []byte(row.places))
		}
		if err := insertGrams(ctx, tx, len(some), args); err != nil {
			return err
		}
	}
	return nil
}

func insertGrams(ctx context.Context, tx *sqldb.Tx, rows int, args []any) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO search_grams (company_id, last_id, gram, piece, places) VALUES `+sqldb.Tuples(rows, 5), args...)
	return err
}
