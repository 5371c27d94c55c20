package reseller

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// orders are how resellers come, upwards.
var orders = map[input.Sort]func(a, b Reseller) int{
	input.ByName: func(a, b Reseller) int {
		return cmp.Or(strings.Compare(text.Fold(a.Name), text.Fold(b.Name)), cmp.Compare(a.ID, b.ID))
	},
	input.ByExpiry: func(a, b Reseller) int {
		ends := func(r Reseller) string { return cmp.Or(r.Subscription.ExpiresOn.String(), input.Never) }
		return cmp.Or(strings.Compare(ends(a), ends(b)), cmp.Compare(a.ID, b.ID))
	},
}

func TestResellersAreSortedByNameAndByTheEndOfTheirSubscription(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 1000)
		population(t, shop, root, 24)
		for _, name := range []string{"álamo", "Zinco", "Ameixa"} {
			shop.below(t, root, "name", name)
		}
		must(t, shop.db.Write(t.Context(), func(tx *sqldb.Tx) error { // two never end
			_, err := tx.Exec(t.Context(), `UPDATE companies SET expires_on = NULL WHERE parent_id = ? AND name IN ('Zinco', 'Ameixa')`, root.Company.ID)
			return err
		}))
		for _, filter := range []Filter{{}, {Search: "loja"}, {Status: account.StandingTrial}} {
			for sort, order := range orders {
				for _, turned := range []bool{false, true} {
					wanted := sort
					if turned {
						wanted = sort.Turned()
					}
					list, total, err := shop.List(t.Context(), root, filter, input.Page{Number: 1, Size: 100, Sort: wanted})
					must(t, err)
					last, _, err := shop.List(t.Context(), root, filter, input.Page{Number: total, Size: 1, Sort: wanted})
					must(t, err)
					if int64(len(list)) != total || total < 2 || last[0].ID != list[total-1].ID {
						t.Errorf("%+v by %s: %d of %d, the last is %+v", filter, wanted, len(list), total, last)
					}
					if turned {
						slices.Reverse(list)
					}
					if !slices.IsSortedFunc(list, order) {
						t.Errorf("%+v by %s: %+v", filter, wanted, list)
					}
				}
			}
		}
	})
}
