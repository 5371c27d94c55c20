package webhook

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// ReplayBatch is how many events one step of a replay looks at.
const ReplayBatch = replayBatch

// ReplayStep does one step of a replay.
func (s *Service) ReplayStep(ctx context.Context, tx *sqldb.Tx, replay Replay) (finished bool, err error) {
	return s.replayStep(ctx, tx, replay)
}

// UnfinishedReplays are the replays that go on.
func UnfinishedReplays(ctx context.Context, querier sqldb.Querier) ([]Replay, error) {
	return unfinishedReplays(ctx, querier)
}

// PruneBatch is how many rows one step of Prune looks at.
const PruneBatch = pruneBatch

// PruneStep removes what is old among the next deliveries.
func (s *Service) PruneStep(ctx context.Context) (more bool, err error) {
	return s.pruneStep(ctx, &s.walks.deliveries, s.db.Now().Add(-s.options.Keep))
}

// Pruned is how far Prune has come through the deliveries.
func (s *Service) Pruned() int64 { return s.walks.deliveries.after }

// Keep is how long history is kept.
func (s *Service) Keep() time.Duration { return s.options.Keep }

// WholeWalk is after how long Prune begins at the beginning again.
const WholeWalk = wholeWalk
