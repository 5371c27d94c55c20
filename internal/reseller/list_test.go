package reseller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// zones lie so far apart that around a midnight it is three days at once.
var zones = []string{"America/Sao_Paulo", "America/Rio_Branco", "Pacific/Kiritimati", "Pacific/Pago_Pago"}

// population makes resellers of every kind below a company.
func population(t *testing.T, shop *shop, root account.Actor, n int) []Reseller {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	plans := []Plan{shop.plan(t, root, "name", "Ouro", "period", "1day"), shop.plan(t, root, "name", "Prata", "period", "3days", "trial_days", "2")}
	for i := range n {
		kind := []string{"trial", "subscriber"}[random.IntN(2)]
		actor := shop.below(t, root, "name", fmt.Sprintf("Loja São %d", i), "email", fmt.Sprintf("loja%d@example.com", i), "whatsapp", fmt.Sprintf("119%08d", i),
			"type", kind, "plan_id", idText(plans[random.IntN(2)].ID))
		pairs := []string{"timezone", zones[random.IntN(len(zones))], "level", string(account.Levels[random.IntN(3)])}
		_, err := shop.accounts.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form(pairs...)))
		must(t, err)
		switch random.IntN(5) {
		case 0:
			_, err = shop.Suspend(t.Context(), root, actor.Company.ID)
		case 1:
			_, err = shop.Renew(t.Context(), root, actor.Company.ID, ReadRenewRequest(form()))
		}
		must(t, err)
	}
	var all []Reseller
	for _, id := range shop.ids(t, `SELECT id FROM companies WHERE parent_id = ? ORDER BY id DESC`, root.Company.ID) {
		reseller, err := shop.Find(t.Context(), root, id)
		must(t, err)
		all = append(all, reseller)
	}
	return all
}

func (s *shop) ids(t *testing.T, text string, args ...any) []int64 {
	t.Helper()
	ids, err := sqldb.Values[int64](t.Context(), s.db, text, args...)
	must(t, err)
	return ids
}

// matches is the filter as a person would say it.
func (f Filter) matches(reseller Reseller, now time.Time) bool {
	ends := reseller.Subscription.ExpiresOn
	return (f.Level == "" || reseller.Level == f.Level) && (f.Status == "" || reseller.Standing(now) == f.Status) && (f.PlanID == 0 || reseller.Plan.ID == f.PlanID) &&
		(f.ExpiresFrom.IsZero() || !ends.Before(f.ExpiresFrom)) && (f.ExpiresTo.IsZero() || !ends.After(f.ExpiresTo)) &&
		(f.Search == "" || strings.Contains(text.Fold(reseller.Name+"\n"+reseller.Email)+"\n"+reseller.Whatsapp, text.Fold(f.Search)))
}

func randomFilter(random *rand.Rand) (filter Filter) {
	if random.IntN(2) == 0 {
		filter.Status = account.Standings[random.IntN(4)]
	}
	if random.IntN(3) == 0 {
		filter.Level = account.Levels[random.IntN(4)]
	}
	if random.IntN(3) == 0 {
		filter.PlanID = random.Int64N(3) + 1
	}
	if random.IntN(3) == 0 {
		filter.ExpiresFrom = civil.MustParse("2026-01-31").AddDays(random.IntN(6))
	}
	if random.IntN(3) == 0 {
		filter.ExpiresTo = civil.MustParse("2026-01-31").AddDays(random.IntN(6))
	}
	if random.IntN(3) == 0 {
		filter.Search = []string{"SAO 1", "loja2", "9000", "o", "são"}[random.IntN(5)]
	}
	return filter
}

// Every filter, at hours at which the resellers' calendars disagree, before and
// after the counts are folded: the page and its total are those of a simple
// model.
func TestListAgreesWithASimpleModel(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, other := shop.root(t, 1000), shop.root(t, 10)
		shop.below(t, other, "name", "Loja São alheia")
		size, rounds := 60, 150
		if sqldbtest.Raced {
			size, rounds = 25, 40
		}
		all := population(t, shop, root, size)
		random := rand.New(rand.NewPCG(5, 6))
		for i := range rounds {
			shop.clock.Set(noon.Add(time.Duration(random.IntN(8*24*60)) * time.Minute))
			if i == rounds/2 {
				must(t, tally.Compact(t.Context(), shop.db))
			}
			filter := randomFilter(random)
			paging := page(random.Int64N(4)+1, random.Int64N(20)+1)
			paging.Sort = []input.Sort{"", input.Newest, input.ByName, "-" + input.ByName, input.ByExpiry, "-" + input.ByExpiry}[random.IntN(6)]
			wantPage(t, shop, root, all, filter, paging)
		}
	})
}

func wantPage(t *testing.T, shop *shop, root account.Actor, all []Reseller, filter Filter, paging input.Page) {
	t.Helper()
	all = slices.Clone(all)
	if order := orders[input.Sort(paging.Sort.Field())]; order != nil {
		slices.SortFunc(all, order)
		if paging.Sort.Descending() {
			slices.Reverse(all)
		}
	}
	var want []int64
	for _, reseller := range all {
		if filter.matches(reseller, shop.clock.Now()) {
			want = append(want, reseller.ID)
		}
	}
	total := int64(len(want))
	want = want[min(paging.Offset(), total):min(paging.Offset()+paging.Size, total)]
	list, n, err := shop.List(t.Context(), root, filter, paging)
	must(t, err)
	var got []int64
	for _, reseller := range list {
		got = append(got, reseller.ID)
	}
	if n != total || !slices.Equal(got, want) {
		t.Errorf("%v %+v, page %+v: %v of %d, want %v of %d", shop.clock.Now(), filter, paging, got, n, want, total)
	}
}

func TestFilterIsReadFromAQuery(t *testing.T) {
	in := form("search", "beto", "level", "Ultra Master", "status", "EXPIRED", "plan_id", "3", "expires_from", "2026-01-01", "expires_to", "2026-12-31")
	want := Filter{"beto", account.LevelUltraMaster, account.StandingExpired, 3, civil.MustParse("2026-01-01"), civil.MustParse("2026-12-31")}
	if got := ReadFilter(in); got != want || in.Err() != nil {
		t.Errorf("%+v, %v", got, in.Err())
	}
	in = form("level", "king", "status", "vencido", "plan_id", "x", "expires_from", "31/12", "expires_to", "tomorrow")
	ReadFilter(in)
	wantFields(t, in.Err(), "level", "status", "plan_id", "expires_from", "expires_to")
}

func TestCustomersOfResellersAreCounted(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		actor, none := shop.below(t, root), shop.below(t, root)
		add := func(n int64) {
			must(t, shop.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				return tally.Customers.Add(t.Context(), tx, actor.Company.ID, tally.Change{N: n})
			}))
		}
		add(3)
		must(t, tally.Compact(t.Context(), shop.db))
		add(2)
		add(-1)
		list, _, err := shop.List(t.Context(), root, Filter{}, page(1, 10))
		if err != nil || list[0].ID != none.Company.ID || list[0].Customers != 0 || list[1].Customers != 4 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
