package reminder

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// NextDue is when the next message is to be planned or sent; zero: never, as
// things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, s.db, nextDueText)
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return time.UnixMicro(at), nil
}

// A channel that has just sent waits by its pace, whatever is due.
const nextDueText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(plan_at) AS at FROM reminder_rules WHERE active AND occasion = 'due'
		UNION ALL
		SELECT MIN(CASE WHEN h.run_at < h.next_at THEN h.next_at ELSE h.run_at END) FROM (
			SELECT c.next_at, (SELECT MIN(m.run_at) FROM reminder_messages m
				WHERE m.status = 'scheduled' AND m.channel_id = c.id) AS run_at
			FROM reminder_channels c) AS h WHERE h.run_at IS NOT NULL
		UNION ALL
		SELECT MIN(run_at) FROM reminder_messages WHERE status = 'sending'
	) AS t /* every company_id */`

// WorkDue plans and sends what is due, and returns how much that was when all of
// it is finished.
func (s *Service) WorkDue(ctx context.Context) (int, error) {
	planned, err := s.Plan(ctx)
	if err != nil {
		return planned, err
	}
	engine := newEngine(s, s.options.Env.Log)
	defer engine.sending.Wait()
	done := planned
	for {
		claimed, _, err := engine.round(ctx)
		engine.sending.Wait()
		if done += claimed; err != nil || claimed == 0 {
			return done, err
		}
	}
}
