package reseller

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// promotion is the table of the contract: up to which level a company of each
// level may promote a reseller. A level that is not in it may not.
var promotion = map[account.Level]account.Level{
	account.LevelUltraMaster: account.LevelMaster,
	account.LevelMaster:      account.LevelReseller,
}

// mayChange reports whether a company of level caller may give a reseller of
// level present the level wanted. Only who may give a level may take it away.
func mayChange(caller, present, wanted account.Level) bool {
	highest, any := promotion[caller]
	return any && highest.AtLeast(present) && highest.AtLeast(wanted)
}

// SetLevel changes the level of a reseller.
func (s *Service) SetLevel(ctx context.Context, actor account.Actor, id int64, request LevelRequest) (Reseller, error) {
	return s.change(ctx, actor, edit{id, account.ResellerLevel, func(_ *sqldb.Tx, after *account.Profile) error {
		if err := request.Problems.Err(); err != nil {
			return err
		}
		if !mayChange(actor.Company.Level, after.Level, request.Level) {
			return refuseLevel(actor.Company.Level, after.Level, request.Level)
		}
		after.Level = request.Level
		return nil
	}})
}

func refuseLevel(caller, present, wanted account.Level) error {
	highest, any := promotion[caller]
	if !any {
		return fault.Forbidden(fmt.Sprintf("level: a company of the level %s cannot change levels", caller))
	}
	over := wanted
	if !highest.AtLeast(present) {
		over = present
	}
	return fault.Forbidden(fmt.Sprintf(
		"level: a company of the level %s changes levels up to %s, not %s",
		caller,
		highest,
		over,
	))
}
