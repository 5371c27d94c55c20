package payment

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// Ended is a charge that can be paid no more, since its time is over.
type Ended struct {
	CompanyID int64
	Reference string
}

// NextDue is when the next charge, authorisation or callback is to be looked into; zero: never,
// as things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) {
	at, err := sqldb.Value[int64](ctx, s.db, nextDueText)
	if err != nil || at == 0 || time.UnixMicro(at).After(s.db.Now()) {
		return instant(at), err
	}
	at, err = sqldb.Value[int64](ctx, s.db, nextCheckText)
	return instant(at), err
}

// nextDueText finds the first one through indexes.
const nextDueText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(next_check_at) AS at FROM charges WHERE next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_check_at) FROM authorisations WHERE next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_try_at) FROM gateway_callbacks WHERE next_try_at IS NOT NULL
	) AS t /* every company_id */`

// nextCheckText is for when something is due already: the charges of a gateway
// that is paused wait until it is called again.
const nextCheckText = `SELECT COALESCE(MIN(t.at), 0) FROM (
		SELECT MIN(CASE WHEN c.hinted_at = 0 AND g.resume_at > c.next_check_at THEN g.resume_at ELSE c.next_check_at END) AS at
		FROM charges c JOIN gateways g ON g.company_id = c.company_id AND g.id = c.gateway_id
		WHERE c.next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(CASE WHEN a.hinted_at = 0 AND g.resume_at > a.next_check_at THEN g.resume_at ELSE a.next_check_at END)
		FROM authorisations a JOIN gateways g ON g.company_id = a.company_id AND g.id = a.gateway_id
		WHERE a.next_check_at IS NOT NULL
		UNION ALL
		SELECT MIN(next_try_at) FROM gateway_callbacks WHERE next_try_at IS NOT NULL
	) AS t /* every company_id */`

// InFlight reports whether a gateway is being called for a charge or an
// authorisation.
func (s *Service) InFlight(ctx context.Context) (bool, error) {
	n, err := sqldb.Value[int64](ctx, s.db, `SELECT count(*) FROM (
		SELECT id FROM charges WHERE claim <> '' AND next_check_at > ?
		UNION ALL
		SELECT id FROM authorisations WHERE claim <> '' AND next_check_at > ?) AS busy /* every company_id */`,
		s.db.Now().UnixMicro(), s.db.Now().UnixMicro())
	return n > 0, err
}
