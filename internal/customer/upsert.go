package customer

import (
	"context"
	"errors"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Upsert is what a caller wants the customer of an external id to be.
type Upsert struct {
	New     Draft // when there is none yet
	Changes Draft // when there is one
}

// upsertTries is how often Upsert looks again, when the customer was made or
// deleted by another request between the look and the change.
const upsertTries = 5

// Upsert creates the customer of an external id, or changes it. Two at once make
// one customer: the second finds the id taken, and changes what the first made.
func (s *Service) Upsert(
	ctx context.Context,
	actor account.Actor,
	externalID string,
	wanted Upsert,
) (record Customer, created bool, err error) {
	for range upsertTries {
		id, findErr := idByExternal(ctx, s.db, actor.Company.ID, externalID)
		switch {
		case findErr == nil:
			record, err = s.Update(ctx, actor, id, wanted.Changes)
			if fault.KindOf(err) != fault.KindNotFound || err == nil {
				return record, false, err
			}
		case errors.Is(findErr, sqldb.ErrNotFound):
			record, err = s.Create(ctx, actor, wanted.New)
			if err == nil {
				return record, true, nil
			}
			if _, findErr = idByExternal(ctx, s.db, actor.Company.ID, externalID); findErr != nil {
				return Customer{}, false, err
			}
		default:
			return Customer{}, false, findErr
		}
	}
	return Customer{}, false, fault.Conflict("the customer was made and deleted at the same moment; repeat the call")
}

func idByExternal(ctx context.Context, querier sqldb.Querier, companyID int64, externalID string) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT c.id FROM customers c
		WHERE c.company_id = ? AND c.external_id = ? AND c.external_id <> '' AND {visible c.id}`, companyID, externalID)
}
