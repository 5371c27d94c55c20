package sender

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// NextDue is when the next delivery is to be sent; zero: never, as things are.
func (s *Sender) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, s.db, `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(run_at) AS at FROM delivery_queue WHERE line = 0
		UNION ALL SELECT MIN(run_at) FROM delivery_queue WHERE line = 1) AS t /* every company_id */`)
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return time.UnixMicro(at), nil
}

// Look finds whether there is anything in the queue, due or not: which of it is
// due is found by leaps from lane to lane.
func (s *Sender) Look() sqldb.Look {
	return sqldb.Look{Text: `SELECT 1 FROM delivery_queue /* every company_id */`}
}

const (
	drainPoll = 2 * time.Millisecond
	drainTime = time.Second
)

// AwaitDue waits a while for the senders of all processes to send what is due by
// now, and returns whether nothing is any more. The clock must stand.
func (s *Sender) AwaitDue(ctx context.Context) (bool, error) {
	s.Wake()
	for began := s.watch.Elapsed(); s.watch.Elapsed()-began < drainTime; {
		next, err := s.NextDue(ctx)
		if err != nil || next.IsZero() || next.After(s.db.Now()) {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(drainPoll):
		}
	}
	return false, nil
}
