package reseller

import (
	"fmt"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// cells is the contract's table written out: for each caller a row for each
// present level and a column for each wanted one, both from user to
// ultra_master; y is allowed.
var cells = map[account.Level][4]string{
	account.LevelUltraMaster: {"yyyn", "yyyn", "yyyn", "nnnn"},
	account.LevelMaster:      {"yynn", "yynn", "nnnn", "nnnn"},
	account.LevelReseller:    {"nnnn", "nnnn", "nnnn", "nnnn"},
	account.LevelUser:        {"nnnn", "nnnn", "nnnn", "nnnn"},
}

func TestPromotionCellByCell(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		for caller, rows := range cells {
			root := shop.root(t, 0)
			actor := shop.below(t, root)
			root.Company.Level = caller
			for i, present := range account.Levels {
				for j, wanted := range account.Levels {
					setLevel(t, shop, actor.Company.ID, present)
					got, err := shop.SetLevel(t.Context(), root, actor.Company.ID, ReadLevelRequest(form("level", string(wanted))))
					after := shop.actor(t, actor.Company.ID).Company.Level
					name := fmt.Sprintf("%s makes %s of %s", caller, wanted, present)
					if rows[i][j] == 'y' {
						if err != nil || got.Level != wanted || after != wanted {
							t.Errorf("%s: %v, and it is %s", name, err, after)
						}
						continue
					}
					if fault.KindOf(err) != fault.KindForbidden || !strings.HasPrefix(fault.Public(err), "level: ") || after != present {
						t.Errorf("%s: %v, and it is %s", name, err, after)
					}
				}
			}
		}
	})
}

func setLevel(t *testing.T, shop *shop, id int64, level account.Level) {
	t.Helper()
	_, err := shop.accounts.SetCompany(t.Context(), shop.actor(t, id), account.ReadCompanyDraft(form("level", string(level))))
	must(t, err)
}

func TestLevelMustBeOne(t *testing.T) {
	shop := newShop(t, sqldb.SQLite)
	root := shop.root(t, 0)
	actor := shop.below(t, root)
	for _, in := range []string{"", "king"} {
		_, err := shop.SetLevel(t.Context(), root, actor.Company.ID, ReadLevelRequest(form("level", in)))
		wantFields(t, err, "level")
	}
	_, err := shop.SetLevel(t.Context(), root, root.Company.ID, ReadLevelRequest(form("level", "king"))) // no company's own
	wantKind(t, err, fault.KindNotFound)
}
