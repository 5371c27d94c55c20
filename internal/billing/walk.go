package billing

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// walkBatch is how many invoices a step of Walk reads: what is in memory does
// not grow with the company.
const walkBatch = 500

// Walk calls visit for every invoice of a filter, newest first, along the ids:
// what is made meanwhile pushes none over an edge. It has no transaction open
// while visit runs.
func (s *Service) Walk(
	ctx context.Context,
	actor account.Actor,
	filter Filter,
	visit func(Invoice) error,
) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	l := s.listing(actor, filter)
	last := int64(0)
	for {
		source := l.matching(0, 0)
		if last != 0 {
			source.Where.And(source.ID+" < ?", last)
		}
		list, err := rows(ctx, s.db, actor.Company.ID, sqldb.Window{Source: source, Limit: walkBatch})
		if err != nil {
			return err
		}
		for _, invoice := range list {
			if err := visit(invoice); err != nil {
				return err
			}
			last = invoice.ID
		}
		if len(list) < walkBatch {
			return nil
		}
	}
}
