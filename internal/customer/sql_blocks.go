package customer

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// unmerged are some sealed segments whose grams are in blocks of their own, the
// oldest first; being says which: those that are being merged, or the others. A
// block of many has a number below 0.
func unmerged(ctx context.Context, tx *sqldb.Tx, companyID int64, being bool, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		SELECT last_id FROM search_segments WHERE company_id = ? AND sealed AND NOT merged AND (block < 0) = ?
		ORDER BY last_id LIMIT ?`, companyID, being, limit)
}

// beginBlock has searches look for the grams of segments in a block as well.
func beginBlock(ctx context.Context, tx *sqldb.Tx, companyID, block int64, segments []int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET block = ? WHERE company_id = ? AND last_id {in ?}`, block, companyID, segments)
	return err
}

// endBlock says that all grams of segments are in their block.
func endBlock(ctx context.Context, tx *sqldb.Tx, companyID int64, segments []int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_segments SET merged = ? WHERE company_id = ? AND last_id {in ?}`, true, companyID, segments)
	return err
}

// firstKeys are the first keys of a block.
func firstKeys(ctx context.Context, tx *sqldb.Tx, companyID, block int64, limit int) ([]int64, error) {
	return sqldb.Values[int64](ctx, tx, `
		SELECT DISTINCT gram FROM search_grams WHERE company_id = ? AND block = ? ORDER BY gram LIMIT ?`, companyID, block, limit)
}

// moveKeys moves the rows of some keys from the segments' own blocks.
func moveKeys(ctx context.Context, tx *sqldb.Tx, companyID, block int64, segments, keys []int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE search_grams SET block = ? WHERE company_id = ? AND block {in ?} AND gram {in ?}`, block, companyID, segments, keys)
	return err
}

// blockOf is the block that a segment is moved to.
func blockOf(ctx context.Context, tx *sqldb.Tx, companyID, last int64) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `SELECT block FROM search_segments WHERE company_id = ? AND last_id = ?`, companyID, last)
}
