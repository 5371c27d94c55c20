package reseller

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// promotion is the table of the contract: up to which level a company of each
// level may promote a reseller. Who is not in it cannot.
var promotion = map[account.Level]account.Level{
	account.LevelUltraMaster: account.LevelMaster,
	account.LevelMaster:      account.LevelReseller,
}

// mayChange tells whether a company of level caller may give a reseller of level
// present the level wanted. To take a level away takes the right to give it.
func mayChange(caller, present, wanted account.Level) bool {
	highest, any := promotion[caller]
	return any && highest.AtLeast(present) && highest.AtLeast(wanted)
}

// SetLevel changes the level of a reseller to that of the field level.
func (s *Service) SetLevel(ctx context.Context, a account.Actor, id int64, in *input.Form) (r Reseller, err error) {
	in.Require("level")
	names := make([]string, len(account.Levels))
	for i, l := range account.Levels {
		names[i] = string(l)
	}
	level, _ := in.Choice("level", names...).Get()
	err = s.change(ctx, a, id, "reseller.level", func(_ *sqldb.Tx, c *account.Company) error {
		if err := in.Err(); err != nil {
			return err
		}
		if !mayChange(a.Company.Level, c.Level, account.Level(level)) {
			return refuseLevel(a.Company.Level, c.Level, account.Level(level))
		}
		c.Level = account.Level(level)
		return nil
	}, &r)
	return r, err
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
	return fault.Forbidden(fmt.Sprintf("level: a company of the level %s changes levels up to %s, not %s", caller, highest, over))
}
