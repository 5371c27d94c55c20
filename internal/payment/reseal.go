package payment

import (
	"context"
	"fmt"

	"carteira/internal/platform/sqldb"
)

// Reseal seals with the current key the options that an older one sealed, so that
// the old key can be removed after a change. No option changes, so applyGateway
// has no part in it.
func (s *Service) Reseal(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		stale, err := sealedBefore(ctx, tx, s.box.CurrentID())
		if err != nil {
			return err
		}
		for _, setup := range stale {
			plain, err := s.box.Open(setup.sealed, optionsContext(setup.ID))
			if err != nil {
				return fmt.Errorf("reseal %s: %w", optionsContext(setup.ID), err)
			}
			setup.sealed = s.box.Seal(plain, optionsContext(setup.ID))
			if err := setOptions(ctx, tx, setup); err != nil {
				return err
			}
		}
		return nil
	})
}
