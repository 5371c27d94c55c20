package sqldb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/platform/text"
)

func TestSearchFindsExactlyWhatContainsATerm(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		random := rand.New(rand.NewPCG(1, 2))
		texts := map[int64]string{}
		var all []string
		var ours int64
		write(t, db, func(tx *sqldb.Tx) {
			ours = addCompany(t, tx)
			theirs := addCompany(t, tx)
			for range 80 {
				value := randomText(random, 12)
				texts[addBranch(t, tx, ours, value)] = value
				addBranch(t, tx, theirs, value)
				all = append(all, value)
			}
		})
		write(t, db, func(tx *sqldb.Tx) {
			for range 60 {
				terms := []string{randomTerm(random, all), randomTerm(random, all)}
				wantFound(t, tx, ours, texts, terms)
				wantFound(t, tx, ours, texts, terms[:1])
			}
		})
	})
}

func FuzzSearchTerm(f *testing.F) {
	for _, term := range []string{"joao", "100%", "a_b", "wow!", `say "hi"`, "o'brien", `c:\x`, "a*b", "日本語", "ab", "µμm", "ǆǅa", "\x00ab"} {
		f.Add("João diz 100% a_b wow! "+term, term)
		f.Add("", term)
	}
	f.Add("micro µ", "micro μ") // two letters, which FTS5 by itself takes for one
	db := sqldbtest.New(f, sqldb.SQLite)
	f.Fuzz(func(t *testing.T, content, term string) {
		content, term = searchable(content), searchable(term)
		if term == "" {
			return // never searched for
		}
		var company, id int64
		write(t, db, func(tx *sqldb.Tx) {
			company = addCompany(t, tx)
			id = addBranch(t, tx, company, content)
		})
		write(t, db, func(tx *sqldb.Tx) { wantFound(t, tx, company, map[int64]string{id: content}, []string{term}) })
	})
}

// A change is found when it is committed, however often the row changed
// on the way there.
func TestSearchIndexFollowsChanges(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var company, id int64
		set := func(tx *sqldb.Tx, text string) {
			execute(t, tx, "UPDATE companies SET search = ? WHERE parent_id = ?", text, company)
		}
		wantAfter := func(change func(*sqldb.Tx), term string, gone ...string) {
			t.Helper()
			write(t, db, change)
			write(t, db, func(tx *sqldb.Tx) {
				for _, old := range gone {
					wantFound(t, tx, company, nil, []string{old})
				}
				if term != "" {
					wantFound(t, tx, company, map[int64]string{id: term}, []string{term})
				}
			})
		}
		wantAfter(func(tx *sqldb.Tx) { company = addCompany(t, tx); id = addBranch(t, tx, company, "before") }, "before")
		wantAfter(func(tx *sqldb.Tx) { set(tx, "after") }, "after", "before")
		wantAfter(func(tx *sqldb.Tx) { set(tx, "one more"); set(tx, "the last") }, "the last", "after", "one more")
	})
}

// What was refused has left nothing in the index, nor kept what its neighbours
// in the commit changed out of it.
func TestSearchIndexKnowsNothingOfWhatWasTakenBack(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var company, id int64
		write(t, db, func(tx *sqldb.Tx) { company = addCompany(t, tx) })
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			addBranch(t, tx, company, "refused")
			return errRefused
		})
		if !errors.Is(err, errRefused) {
			t.Error(err)
		}
		write(t, db, func(tx *sqldb.Tx) { id = addBranch(t, tx, company, "taken") })
		write(t, db, func(tx *sqldb.Tx) {
			wantFound(t, tx, company, map[int64]string{id: "taken"}, []string{"taken", "refused"})
		})
	})
}

// The token is made twice: in Go for the query, in SQL for the index.
func TestIndexHasTheTokenOfTheCompany(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	want := map[int64][]int64{}
	write(t, db, func(tx *sqldb.Tx) {
		for _, company := range []int64{40_960_000 + 5, 6400, 6399, 12} {
			execute(t, tx, "UPDATE companies SET id = ? WHERE id = ?", company, addCompany(t, tx))
			want[company] = []int64{addBranch(t, tx, company, "inserted")}
		}
	})
	wantTokens(t, db, "insert", want)
	write(t, db, func(tx *sqldb.Tx) { execute(t, tx, "UPDATE companies SET search = 'updated' WHERE parent_id > 0") })
	wantTokens(t, db, "update", want)
}

// wantTokens compares the branches that the index has for each company's token.
func wantTokens(t *testing.T, db *sqldb.DB, after string, want map[int64][]int64) {
	t.Helper()
	for company, ids := range want {
		token := `"` + sqldb.CompanyToken(company) + `"`
		got := idsOf(t, db, "SELECT rowid FROM companies_search WHERE companies_search MATCH ?", token)
		if !slices.Equal(got, ids) {
			t.Errorf("after %s the token of company %d finds %v, want %v", after, company, got, ids)
		}
	}
}

// wantFound searches with the index and without it.
func wantFound(t *testing.T, tx *sqldb.Tx, company int64, texts map[int64]string, terms []string) {
	t.Helper()
	for _, indexed := range []bool{false, true} {
		if got, want := search(t, tx, company, indexed, terms), containing(texts, terms); !slices.Equal(got, want) {
			t.Errorf("%q in %v (indexed: %v) found %v, want %v", terms, texts, indexed, got, want)
		}
	}
}

func write(t *testing.T, db *sqldb.DB, fn func(*sqldb.Tx)) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, tx *sqldb.Tx, text string, args ...any) {
	t.Helper()
	if _, err := tx.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func TestSearchableTextHoldsNoCharacterOfAToken(t *testing.T) {
	for _, company := range []int64{0, 1, 6399, 6400, 6400*6400 - 1, 6400 * 6400 * 6400} {
		if got := sqldb.Searchable("a" + sqldb.CompanyToken(company) + "z"); got != "az" {
			t.Errorf("company %d: %q is left", company, got)
		}
	}
}

func searchable(s string) string { return sqldb.Searchable(text.Fold(s)) }

// randomText uses so few characters that texts and terms often meet, and those
// that mean something to LIKE, FTS5 or a trigram.
func randomText(random *rand.Rand, most int) string {
	alphabet := []rune(`ab"'%_!\*^-+(:) 日µ`)
	s := make([]rune, 1+random.IntN(most))
	for i := range s {
		s[i] = alphabet[random.IntN(len(alphabet))]
	}
	return searchable(string(s))
}

// randomTerm is mostly a piece of a text, which a random one seldom is.
func randomTerm(random *rand.Rand, texts []string) (term string) {
	for term == "" {
		term = randomText(random, 4)
		if random.IntN(3) > 0 {
			of := []rune(texts[random.IntN(len(texts))])
			from := random.IntN(1 + len(of))
			term = searchable(string(of[from:min(len(of), from+1+random.IntN(6))]))
		}
	}
	return term
}

func containing(texts map[int64]string, terms []string) []int64 {
	ids := []int64{}
	for id, value := range texts {
		if slices.ContainsFunc(terms, func(term string) bool { return strings.Contains(value, term) }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func search(t *testing.T, tx *sqldb.Tx, company int64, indexed bool, terms []string) []int64 {
	t.Helper()
	if tx.Engine() == sqldb.Postgres {
		// So few rows would be read without the index.
		if _, err := tx.Exec(t.Context(), fmt.Sprintf("SET LOCAL enable_seqscan = %v", !indexed)); err != nil {
			t.Fatal(err)
		}
	}
	source := sqldb.SearchBy(tx.Engine(), "companies", "parent_id", company, indexed, terms)
	return idsOf(t, tx, "SELECT "+source.ID+" FROM "+source.From+source.Where.String()+" ORDER BY "+source.Order, source.Where.Args...)
}

func idsOf(t *testing.T, querier sqldb.Querier, query string, args ...any) []int64 {
	t.Helper()
	ids, err := sqldb.Values[int64](t.Context(), querier, query, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	return ids
}

const (
	insertCompany = `
		INSERT INTO companies (name, level, timezone, renew_from, renew_on_payment, lead_days, created_at, updated_at)
		VALUES ('Company', 'user', 'America/Sao_Paulo', 'today', ?, 5, 0, 0) RETURNING id`
	insertBranch = `
		INSERT INTO companies (name, level, timezone, renew_from, renew_on_payment, lead_days, created_at, updated_at, parent_id, search)
		VALUES ('Branch', 'user', 'America/Sao_Paulo', 'today', ?, 5, 0, 0, ?, ?) RETURNING id`
)

func addCompany(t *testing.T, tx *sqldb.Tx) int64 {
	t.Helper()
	return added(t, tx, insertCompany, true)
}

func addBranch(t *testing.T, tx *sqldb.Tx, company int64, search string) int64 {
	t.Helper()
	return added(t, tx, insertBranch, true, company, search)
}

func added(t *testing.T, tx *sqldb.Tx, insert string, args ...any) int64 {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), tx, insert, args...)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
