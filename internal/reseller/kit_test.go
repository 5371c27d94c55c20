package reseller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var must = housetest.Must

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

// shop is the room with the rooms it needs.
type shop struct {
	*Service
	clock *sqldbtest.Clock
	made  int // companies, for unused addresses
}

func newShop(t *testing.T, engine sqldb.Engine) *shop {
	t.Helper()
	clock := sqldbtest.NewClock(noon)
	db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
	return &shop{New(db, account.New(db, account.Config{}), "https://clientes.example.com"), clock, 0}
}

// each runs a test on both databases.
func each(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) { test(t, newShop(t, engine)) })
}

func form(pairs ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

func (s *shop) email() string {
	s.made++
	return fmt.Sprintf("dono%d@example.com", s.made)
}

// root makes a company at the top with credits.
func (s *shop) root(t *testing.T, credits int64) account.Actor {
	t.Helper()
	company, _, err := s.accounts.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Rede Clara", "email", s.email())))
	must(t, err)
	actor := account.System(company, "test")
	if credits > 0 {
		_, err = s.Grant(t.Context(), actor, ReadCreditRequest(form("amount", strconv.FormatInt(credits, 10))))
		must(t, err)
	}
	return actor
}

func (s *shop) plan(t *testing.T, actor account.Actor, more ...string) Plan {
	t.Helper()
	plan, err := s.CreatePlan(t.Context(), actor, ReadNewPlan(form(append([]string{"name", "Revenda", "value", "49.90", "credits", "1"}, more...)...)))
	must(t, err)
	return plan
}

// below makes a reseller and returns it as an actor.
func (s *shop) below(t *testing.T, actor account.Actor, more ...string) account.Actor {
	t.Helper()
	paid, err := s.Create(t.Context(), actor, ReadNewReseller(form(append([]string{"name", "Loja do Beto", "email", s.email()}, more...)...)))
	must(t, err)
	return s.actor(t, paid.ID)
}

func (s *shop) actor(t *testing.T, id int64) account.Actor {
	t.Helper()
	actor, err := s.accounts.Actor(t.Context(), id)
	must(t, err)
	return actor
}

func (s *shop) balance(t *testing.T, actor account.Actor) int64 {
	t.Helper()
	n, err := s.Balance(t.Context(), actor)
	must(t, err)
	return n
}

func (s *shop) count(t *testing.T, text string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), s.db, text, args...)
	must(t, err)
	return n
}

// wantFields says which fields err must refuse, and no others.
func wantFields(t *testing.T, err error, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(maps.Collect(fault.FieldsOf(err).All())))
	if slices.Sort(want); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("refused %v (%v), want %v", got, err, want)
	}
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != want {
		t.Errorf("got %v, want a fault of the kind %s", err, want)
	}
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
