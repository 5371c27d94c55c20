package payment

import (
	"context"
	"fmt"

	"carteira/internal/platform/sqldb"
)

// Reseal seals with the current key what an older one sealed, so that after a
// change of key the old one can be put away.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sealedBefore(ctx, tx, s.box.CurrentID())
		if err != nil {
			return err
		}
		for _, u := range stale {
			plain, err := s.box.Open(u.sealed, optionsContext(u.ID))
			if err != nil {
				return fmt.Errorf("reseal %s: %w", optionsContext(u.ID), err)
			}
			u.sealed = s.box.Seal(plain, optionsContext(u.ID))
			if err := setOptions(ctx, tx, u); err != nil {
				return err
			}
		}
		return nil
	})
}
