package customer

import (
	"context"
	"maps"
	"slices"

	"carteira/internal/platform/sqldb"
)

// keySpan is the keys above one and up to another.
type keySpan struct{ after, last int64 }

// blockToMerge is a block that segments are being moved to, or are to be; or, where more
// than some wait, that which the most wait for; or 0.
func blockToMerge(ctx context.Context, tx *sqldb.Tx, companyID int64, waiting int) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT COALESCE((
			SELECT block FROM search_segments WHERE company_id = ? AND block < 0 AND moved <> ? AND moved < ? LIMIT 1), (
			SELECT block FROM search_segments WHERE company_id = ? AND block < 0 AND moved = ? AND ? < (
				SELECT count(*) FROM search_segments WHERE company_id = ? AND block < 0 AND moved = ?)
			GROUP BY block ORDER BY count(*) DESC LIMIT 1), 0)`,
		companyID, unmoved, allMoved, companyID, unmoved, waiting, companyID, unmoved)
}

// inNoBlock are some sealed segments that are in no block, the oldest first.
func inNoBlock(ctx context.Context, tx *sqldb.Tx, companyID int64, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		SELECT last_id FROM search_segments WHERE company_id = ? AND sealed AND block = 0 ORDER BY last_id LIMIT ?`, companyID, limit)
}

// blockAround is the block of the segment that an id is in, or 0.
func blockAround(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT COALESCE((
			SELECT block FROM search_segments WHERE company_id = ? AND last_id >= ? AND sealed ORDER BY last_id LIMIT 1), 0)`, companyID, id)
}

// lockBlock has one transaction at a time change a block, and what its segments are. It
// returns those that are not wholly in it.
func lockBlock(ctx context.Context, tx *sqldb.Tx, companyID, block int64) (moving, error) {
	found := moving{}
	err := sqldb.Each(ctx, tx, `
		SELECT last_id, moved FROM search_segments WHERE company_id = ? AND block = ? ORDER BY last_id {for update}`,
		[]any{companyID, block}, func(row sqldb.Row) error {
			var last, moved int64
			if err := row.Scan(&last, &moved); err != nil || moved == allMoved {
				return err
			}
			found[last] = moved
			return nil
		})
	return found, err
}

// mergeSoon has the segment that an id is in moved to its block as soon as can be.
func mergeSoon(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET moved = ? WHERE company_id = ? AND block < 0 AND moved = ? AND last_id = (
			SELECT MIN(last_id) FROM search_segments WHERE company_id = ? AND last_id >= ?)`, toMove, companyID, unmoved, companyID, id)
	return err
}

// beginBlock has segments moved to a new block.
func beginBlock(ctx context.Context, tx *sqldb.Tx, companyID int64, segments []int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET moved = ?, block = (SELECT MIN(b.block) - 1 FROM search_segments b WHERE b.company_id = ?)
		WHERE company_id = ? AND last_id {in ?} AND block = 0`, toMove, companyID, companyID, segments)
	return err
}

// lastOfKeys is up to which key there are about so many to move.
func lastOfKeys(ctx context.Context, tx *sqldb.Tx, companyID, block, after, keys int64) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		SELECT MIN(COALESCE((
			SELECT p.gram FROM search_grams p WHERE p.company_id = ? AND p.last_id = b.last_id AND p.gram > ? ORDER BY p.gram LIMIT 1 OFFSET ?), ?))
		FROM (
			SELECT ? AS last_id
			UNION ALL SELECT last_id FROM search_segments WHERE company_id = ? AND block = ? AND moved < ?) b`,
		companyID, after, max(keys, 1)-1, allMoved, block, companyID, block, allMoved)
}

// eachOfKeys visits the rows that segments and blocks have of some keys.
func eachOfKeys(
	ctx context.Context,
	tx *sqldb.Tx,
	companyID int64,
	of []int64,
	keys keySpan,
	visit func(of, key int64, stored []byte),
) error {
	return sqldb.Each(ctx, tx, `
		SELECT last_id, gram, places FROM search_grams WHERE company_id = ? AND last_id {in ?} AND gram > ? AND gram <= ?`,
		[]any{companyID, of, keys.after, keys.last}, func(row sqldb.Row) error {
			var of, key int64
			var stored []byte
			if err := row.Scan(&of, &key, &stored); err != nil {
				return err
			}
			visit(of, key, stored)
			return nil
		})
}

// keyPiece is a row of a key.
type keyPiece struct {
	key, piece int64
	row        blockRow
}

// writeBlock writes rows of a block that it does not have.
func writeBlock(ctx context.Context, tx *sqldb.Tx, companyID, block int64, rows map[int64][]segmentRow, longest int) error {
	var pieces []keyPiece
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		for piece, row := range newBlockRows(rows[key], longest) {
			pieces = append(pieces, keyPiece{key, int64(piece), row})
		}
	}
	for some := range sqldb.Pieces(pieces) {
		args := make([]any, 0, 5*len(some))
		for _, one := range some {
			args = append(args, companyID, block, one.key, one.piece, []byte(one.row))
		}
		if err := insertGrams(ctx, tx, len(some), args); err != nil {
			return err
		}
	}
	return nil
}

// dropKeys removes the rows that segments and blocks have of some keys.
func dropKeys(ctx context.Context, tx *sqldb.Tx, companyID int64, of []int64, keys keySpan) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM search_grams WHERE company_id = ? AND last_id {in ?} AND gram > ? AND gram <= ?`,
		companyID, of, keys.after, keys.last)
	return err
}

func setMoved(ctx context.Context, tx *sqldb.Tx, companyID int64, segments []int64, key int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET moved = ? WHERE company_id = ? AND last_id {in ?} AND moved < ?`, key, companyID, segments, key)
	return err
}
