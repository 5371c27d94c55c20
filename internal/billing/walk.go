package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Walk calls visit for every invoice of a filter, newest first.
func (s *Service) Walk(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	visit func(Invoice) error,
) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	l, err := s.listing(actor, filter).known(ctx)
	if err != nil {
		return err
	}
	return sqldb.Walk(func(last *Invoice) ([]Invoice, error) {
		source := l.matching(0, 0)
		if last != nil {
			source.Where.And(source.ID+" < ?", last.ID)
		}
		return reading.Rows(ctx, s.db, actor.Company.ID, sqldb.Window{Source: source, Limit: sqldb.WalkBatch})
	}, visit)
}
