package sqldb_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/test/kit/sqldbtest"
)

func TestSearchFindsExactlyWhatContainsATerm(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			content := randomText(random, 12)
			wantFound(t, db, content, randomText(random, 3))
			of := []rune(content)
			from := random.IntN(len(of))
			wantFound(t, db, content, string(of[from:min(len(of), from+1+random.IntN(6))]))
		}
	})
}

func FuzzSearchTerm(f *testing.F) {
	for _, term := range []string{"joao", "100%", "a_b", "wow!", `say "hi"`, "o'brien", `c:\x`, "a*b", "日本語", "ab", "µμm", "ǆǅa", "\x00ab"} {
		f.Add("João diz 100% a_b wow! "+term, term)
		f.Add("", term)
	}
	f.Add("micro µ", "micro μ") // two letters that look alike
	db := sqldbtest.New(f, sqldb.SQLite)
	f.Fuzz(func(t *testing.T, content, term string) {
		if term = text.Fold(term); term != "" { // an empty one is never searched for
			wantFound(t, db, text.Fold(content), term)
		}
	})
}

// wantFound looks for a term as lists do.
func wantFound(t *testing.T, db *sqldb.DB, content, term string) {
	t.Helper()
	found, err := sqldb.Value[int64](t.Context(), db,
		`SELECT count(*) FROM (SELECT CAST(? AS TEXT) AS search) c WHERE {position}(c.search, ?) > 0`, content, term)
	if want := strings.Contains(content, term); err != nil || (found == 1) != want {
		t.Errorf("%q in %q: %d, %v; want %v", term, content, found, err, want)
	}
}

// randomText uses so few characters that texts and terms often meet, and those
// that mean something in patterns.
func randomText(random *rand.Rand, most int) string {
	alphabet := []rune(`ab"'%_!\*^-+(:)日µ`)
	s := make([]rune, 1+random.IntN(most))
	for i := range s {
		s[i] = alphabet[random.IntN(len(alphabet))]
	}
	return text.Fold(string(s))
}
