package tally

import (
	"context"

	"carteira/internal/platform/sqldb"
)

// BucketSize is how many consecutive ids share a bucket, for rooms that keep what they
// have read by buckets.
const BucketSize = bucketSize

// Stamps tell which buckets have changed: what was read of a bucket stands as long as
// its stamp is the same. A bucket without a stamp has no records.
type Stamps map[int64]stamp

// stamped reports whether buckets of a counter have stamps.
func (b Counter) stamped() bool { return b == Customers }

// Stamps are those of the counter's buckets; ok is false when there are more than
// most. Who reads records to keep them reads their stamps first: a change in between
// is then read, and read again under its own stamp, never hidden under an older one.
func (b Counter) Stamps(
	ctx context.Context,
	querier sqldb.Querier,
	companyID, most int64,
) (stamps Stamps, ok bool, err error) {
	stamps = Stamps{}
	rows := int64(0)
	args := []any{companyID, string(b), companyID, string(b), most + 1}
	err = sqldb.Each(ctx, querier, `
		SELECT bucket, folds, 0 AS deltas, 0 AS sum FROM tally_buckets WHERE company_id = ? AND book = ?
		UNION ALL
		SELECT bucket, 0, count(*), CAST(SUM(id) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = ? GROUP BY bucket
		LIMIT ?`, args, func(row sqldb.Row) error {
		var bucket int64
		var part stamp
		err := row.Scan(&bucket, &part.Folds, &part.Deltas, &part.Sum)
		known := stamps[bucket]
		stamps[bucket] = stamp{known.Folds + part.Folds, known.Deltas + part.Deltas, known.Sum + part.Sum}
		rows++
		return err
	})
	return stamps, rows <= most, err
}

// ChangedSince are the buckets whose stamps are others than before, or gone.
func (s Stamps) ChangedSince(before Stamps) (changed []int64) {
	for bucket, stamp := range s {
		if known, ok := before[bucket]; !ok || known != stamp {
			changed = append(changed, bucket)
		}
	}
	for bucket := range before {
		if _, ok := s[bucket]; !ok {
			changed = append(changed, bucket)
		}
	}
	return changed
}
