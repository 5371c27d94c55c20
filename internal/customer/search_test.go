package customer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestPhoneIsFoundHoweverItIsTyped(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		owners := map[string]int64{}
		for _, phone := range []string{
			"5511987654321", // mobile
			"552187650000",  // mobile from before the ninth digit
			"551133334444",  // landline
			"351912345678",  // Portugal
		} {
			world.populate(t, world.actor, []Customer{{Name: "Ana", Whatsapp: phone}})
			owners[phone] = int64(len(owners) + 1)
		}
		for typed, phone := range map[string]string{
			"5511987654321":        "5511987654321",
			"+55 (11) 98765-4321":  "5511987654321",
			"11987654321":          "5511987654321",
			"(11) 98765-4321":      "5511987654321",
			"98765-4321":           "5511987654321",
			"987654321":            "5511987654321",
			"8765.4321":            "5511987654321", // without the ninth digit
			"11 8765-4321":         "5511987654321",
			"+55 11 8765 4321":     "5511987654321",
			"011 98765-4321":       "5511987654321", // as dialled from another area
			"(011) 8765-4321":      "5511987654321",
			"0055 11 98765-4321":   "5511987654321",
			"4321":                 "5511987654321",
			"21 8765-0000":         "552187650000",
			"21 98765-0000":        "552187650000", // with the ninth digit
			"98765-0000":           "552187650000",
			"+55/21/98765/0000":    "552187650000",
			"(11) 3333-4444":       "551133334444",
			"3333-4444":            "551133334444",
			"+351 912 345 678":     "351912345678",
			"912-345-678":          "351912345678",
			"  +55 11 98765-4321 ": "5511987654321",
			"11 93333-4444":        "", // a landline has no ninth digit
			"21 98765-4321":        "", // another area
			"98765-4321 Ana":       "",
			"()-":                  "",
		} {
			var want []int64
			if phone != "" {
				want = []int64{owners[phone]}
			}
			list, _, err := world.List(t.Context(), world.actor, Filter{Search: typed}, firstPage)
			if err != nil || !slices.Equal(ids(list), want) {
				t.Errorf("%q finds %v, %v; want %v", typed, ids(list), err, want)
			}
		}
	})
}

func TestTextIsFoundWithoutRegardToCaseAndAccents(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		joao := world.create(t, `{"name":"João  D’Ávila 100%","email":"Joao@Example.com","usuario":"jo_ão!"}`).ID
		maria := world.create(t, `{"name":"MARÍA Müller","email":"m@example.org"}`).ID
		for typed, want := range map[string][]int64{
			"joao":            {joao},
			"JOÃO":            {joao},
			"Joa\u0303o d'av": {joao},
			"ávila 100%":      {joao},
			"100%":            {joao},
			"0_":              nil,
			"o_a":             {joao},
			"o!":              {joao},
			"example":         {maria, joao},
			"@EXAMPLE.ORG":    {maria},
			"maria muller":    {maria},
			"ü":               {maria},
			"muller m@":       nil, // no match runs from one field into the next
			"%":               {joao},
			"\"":              nil,
			"mar* OR joao":    nil,
			"\u200b":          {maria, joao}, // nothing at all, as no search
		} {
			list, total, err := world.List(t.Context(), world.actor, Filter{Search: typed}, firstPage)
			if err != nil || !slices.Equal(ids(list), want) || total != int64(len(want)) {
				t.Errorf("%q finds %v of %d, %v; want %v", typed, ids(list), total, err, want)
			}
		}
	})
}

// library is a small company and a large one, with
// the same hundred customers among its own.
type library struct {
	*world
	small, large account.Actor
	models       map[int64]model // by company
}

func newLibrary(tb testing.TB, engine sqldb.Engine) library {
	tb.Helper()
	if sqldbtest.Raced {
		tb.Skip("one goroutine, and many rows")
	}
	world := newWorld(tb, engine)
	l := library{world, world.actor, world.newCompany(tb), map[int64]model{}}
	random := rand.New(rand.NewPCG(5, 6))
	readers := make([]Customer, 100)
	for i := range readers {
		readers[i] = reader(random)
	}
	world.populate(tb, l.small, slices.Clone(readers))
	filler := make([]Customer, 1000)
	for i := range filler {
		filler[i] = reader(random)
		filler[i].Name, filler[i].Email = "xx"+filler[i].Name, ""
	}
	world.populate(tb, l.large, append(readers, filler...))
	for _, actor := range []account.Actor{l.small, l.large} {
		l.models[actor.Company.ID] = world.model(tb, actor)
	}
	return l
}

// reader makes a customer with texts that share many substrings with the
// others'.
func reader(random *rand.Rand) Customer {
	word := func(syllables ...string) string {
		var out strings.Builder
		for range 1 + random.IntN(4) {
			out.WriteString(syllables[random.IntN(len(syllables))])
		}
		return out.String()
	}
	customer := Customer{Name: word("Ana", "ão", " ", "JO", "ß", "Œ", "d’", "%", "_", `"`, "世界", "i\u0307", "ſ", "Ⅷ", "ǆ", "Σ", "ς", "ꭰ", "Ꭰ", "😀")}
	if random.IntN(2) == 0 {
		customer.Email = word("ana", "jo", ".", "ao") + "@example.com"
	}
	customer.Whatsapp = []string{"", fmt.Sprintf("55119%08d", random.IntN(1e8)), fmt.Sprintf("5521%08d", 1e7+random.IntN(9e7)), fmt.Sprintf("351%09d", random.IntN(1e9))}[random.IntN(4)]
	return customer
}

// wantSearch compares the search of both companies with the model.
func (l library) wantSearch(tb testing.TB, term string) {
	tb.Helper()
	for _, actor := range []account.Actor{l.small, l.large} {
		filter := Filter{Search: term}
		l.wantPage(tb, actor, l.models[actor.Company.ID].match(filter, actor.Today(noon)), filter, firstPage)
	}
}

func TestSearchFindsWhatContainsTheTerm(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		newLibrary(t, engine).wantSearches(t)
	})
}

// wantSearches compares many searches with the model.
func (l library) wantSearches(t *testing.T) {
	t.Helper()
	readers := l.models[l.small.Company.ID]
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		customer := readers[random.IntN(len(readers))]
		field := []rune([]string{customer.Name, customer.Email, customer.Whatsapp, strings.ToUpper(customer.Name), punctuated(random, customer.Whatsapp)}[random.IntN(5)])
		from := random.IntN(len(field) + 1)
		l.wantSearch(t, string(field[from:from+random.IntN(len(field)-from+1)]))
	}
}

func punctuated(random *rand.Rand, phone string) string {
	var out strings.Builder
	for _, digit := range phone {
		out.WriteString([]string{"", "", "", " ", "-", "(", ") ", ".", "/", "+"}[random.IntN(10)])
		out.WriteRune(digit)
	}
	return out.String()
}

// Any bytes may come as a term: they find what contains them, in the caller's
// company only, and are never an error.
func FuzzSearchTerm(f *testing.F) {
	for _, seed := range []string{
		"", "a", "ana", "JOÃO", `"`, `""" OR "`, "a AND b", "NEAR(a b)", "-a", "a*", "^a", "{a}: b", "%", "_", "!", "!%", "a\x00b", "\xff\xfe",
		"\ue001\ue000\ue000", "\ue001\ue000\ue000\nana", "ana\ue001", "\u200b", "\U000f0000", "İ", "ß", "ﬀ", "(11) 9", "+55 11 98765-4321", "000000000000",
		strings.Repeat("ana ", 60), "世界", "😀", "\n", "'; DROP TABLE customers; --",
	} {
		f.Add(seed)
	}
	libraries := []library{newLibrary(f, sqldb.SQLite)}
	if os.Getenv("CARTEIRA_TEST_POSTGRES_URL") != "" {
		libraries = append(libraries, newLibrary(f, sqldb.Postgres))
	}
	f.Fuzz(func(t *testing.T, term string) {
		for _, library := range libraries {
			library.wantSearch(t, term)
		}
	})
}
