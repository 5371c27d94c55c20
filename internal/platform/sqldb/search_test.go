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
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			texts := map[int64]string{}
			var all []string
			ours, theirs := addCompany(t, tx), addCompany(t, tx)
			for range 80 {
				s := randomText(random, 12)
				texts[addCustomer(t, tx, ours, s)] = s
				addCustomer(t, tx, theirs, s)
				all = append(all, s)
			}
			for range 60 {
				terms := []string{randomTerm(random, all), randomTerm(random, all)}
				for _, terms := range [][]string{terms, terms[:1]} {
					for _, indexed := range []bool{false, true} {
						if got, want := search(t, tx, ours, indexed, terms), containing(texts, terms); !slices.Equal(got, want) {
							t.Errorf("%q (indexed: %v) found %v, want %v", terms, indexed, got, want)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
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
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			company := addCompany(t, tx)
			want := containing(map[int64]string{addCustomer(t, tx, company, content): content}, []string{term})
			for _, indexed := range []bool{false, true} {
				if got := search(t, tx, company, indexed, []string{term}); !slices.Equal(got, want) {
					t.Errorf("%q in %q (indexed: %v): found %v, want %v", term, content, indexed, got, want)
				}
			}
			return errRefused // leaves nothing behind
		})
		if !errors.Is(err, errRefused) {
			t.Error(err)
		}
	})
}

func TestSearchIndexFollowsChanges(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			company := addCompany(t, tx)
			id := addCustomer(t, tx, company, "before")
			want := func(term string, ids ...int64) {
				t.Helper()
				if got := search(t, tx, company, true, []string{term}); !slices.Equal(got, ids) {
					t.Errorf("%q finds %v, want %v", term, got, ids)
				}
			}
			want("before", id)
			_, err := tx.Exec(t.Context(), "UPDATE customers SET search = 'after' WHERE company_id = ?", company)
			if err != nil {
				return err
			}
			want("before")
			want("after", id)
			_, err = tx.Exec(t.Context(), "DELETE FROM customers WHERE company_id = ?", company)
			want("after")
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The token is made twice: in Go for the query, in SQL by the triggers.
func TestTriggersMakeTheTokenOfTheCompany(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		want := map[int64][]int64{}
		for _, company := range []int64{1, 6399, 6400, 40_960_000 + 5} {
			_, err := tx.Exec(t.Context(), "UPDATE companies SET id = ? WHERE id = ?", company, addCompany(t, tx))
			if err != nil {
				return err
			}
			want[company] = []int64{addCustomer(t, tx, company, "inserted")}
		}
		wantTokens(t, tx, "insert", want)
		_, err := tx.Exec(t.Context(), "UPDATE customers SET search = 'updated' WHERE company_id > 0")
		if err != nil {
			return err
		}
		wantTokens(t, tx, "update", want)
		_, err = tx.Exec(t.Context(), "DELETE FROM customers WHERE company_id > 0")
		for company := range want {
			want[company] = nil
		}
		wantTokens(t, tx, "delete", want)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// wantTokens compares the customers that the index has for each company's token.
func wantTokens(t *testing.T, tx *sqldb.Tx, after string, want map[int64][]int64) {
	t.Helper()
	for company, ids := range want {
		token := `"` + sqldb.CompanyToken(company) + `"`
		got := customers(t, tx, "SELECT rowid FROM customers_search WHERE customers_search MATCH ?", token)
		if !slices.Equal(got, ids) {
			t.Errorf("after %s the token of company %d finds %v, want %v", after, company, got, ids)
		}
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
	for id, s := range texts {
		if slices.ContainsFunc(terms, func(term string) bool { return strings.Contains(s, term) }) {
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
	s := sqldb.Search(tx.Engine(), "customers", company, indexed, terms)
	return customers(t, tx, "SELECT "+s.ID+" FROM "+s.From+s.Where.String()+" ORDER BY "+s.Order, s.Where.Args...)
}

func customers(t *testing.T, tx *sqldb.Tx, query string, args ...any) []int64 {
	t.Helper()
	ids, err := sqldb.All(t.Context(), tx, func(r sqldb.Row) (id int64, err error) {
		err = r.Scan(&id)
		return id, err
	}, query, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	return ids
}

func addCompany(t *testing.T, tx *sqldb.Tx) int64 {
	t.Helper()
	return added(t, tx, `
		INSERT INTO companies (name, level, timezone, renew_from, renew_on_payment, lead_days, created_at, updated_at)
		VALUES ('Company', 'user', 'America/Sao_Paulo', 'today', ?, 5, 0, 0) RETURNING id`, true)
}

func addCustomer(t *testing.T, tx *sqldb.Tx, company int64, search string) int64 {
	t.Helper()
	return added(t, tx, `
		INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, own_day, notes, search, created_at, updated_at)
		VALUES (?, '', 'Ana', '', '', '', '', '', 0, '', ?, 0, 0) RETURNING id`, company, search)
}

func added(t *testing.T, tx *sqldb.Tx, insert string, args ...any) int64 {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), tx, insert, args...)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
