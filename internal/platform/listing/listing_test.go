package listing_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// thing is a row of the list that the tests read.
type thing struct {
	id, companyID, kind int64
	name, day           string // day "": none
	kindName            string // what Refs adds
}

var things = listing.Table[thing]{
	From: "things c", ID: "c.id", Owner: "c.company_id",
	Columns: "c.id, c.company_id, c.kind, c.name, COALESCE(c.day, '')",
	Scan: func(row sqldb.Row) (found thing, err error) {
		err = row.Scan(&found.id, &found.companyID, &found.kind, &found.name, &found.day)
		return found, err
	},
	RowID: func(found thing) int64 { return found.id },
	Orders: map[string]listing.Order{
		input.ByName:    {Column: "c.name"},
		input.ByDueDate: {Column: "c.day", Last: "c.day IS NULL"},
	},
	Texts: listing.Texts{From: "thing_texts t", Owner: "t.company_id", Text: "t.folded", ID: "t.id"},
	Refs: func(_ context.Context, _ sqldb.Querier, _ int64, page []thing) error {
		for i := range page {
			page[i].kindName = fmt.Sprint("kind ", page[i].kind)
		}
		return nil
	},
}

// ownText is the same list with a search in a column of its own.
func ownText() *listing.Table[thing] {
	table := things
	table.Texts = listing.Texts{Text: "c.name"}
	return &table
}

// fill makes two companies with things, and returns those of the first.
func fill(t *testing.T, db *sqldb.DB, random *rand.Rand) (mine []thing) {
	t.Helper()
	housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
		mine = nil
		for _, text := range []string{
			`CREATE TABLE things (id BIGINT PRIMARY KEY, company_id BIGINT NOT NULL, kind BIGINT NOT NULL, name TEXT NOT NULL, day TEXT)`,
			`CREATE TABLE thing_texts (company_id BIGINT NOT NULL, id BIGINT NOT NULL, folded TEXT NOT NULL, PRIMARY KEY (company_id, id))`,
		} {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return err
			}
		}
		for id := range int64(300) {
			made := thing{
				id: id + 1, companyID: 1 + random.Int64N(2), kind: random.Int64N(3),
				name: string([]byte{'a' + byte(random.IntN(3)), 'a' + byte(random.IntN(3)), '%'}[:1+random.IntN(3)]),
			}
			if random.IntN(4) > 0 {
				made.day = fmt.Sprintf("2026-01-%02d", 1+random.IntN(9))
			}
			if err := insert(t.Context(), tx, made); err != nil {
				return err
			}
			if made.companyID == 1 {
				made.kindName = fmt.Sprint("kind ", made.kind)
				mine = append(mine, made)
			}
		}
		return nil
	}))
	return mine
}

func insert(ctx context.Context, tx *sqldb.Tx, made thing) error {
	_, err := tx.Exec(ctx, `INSERT INTO things (id, company_id, kind, name, day) VALUES (?, ?, ?, ?, NULLIF(?, ''))`,
		made.id, made.companyID, made.kind, made.name, made.day)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO thing_texts (company_id, id, folded) VALUES (?, ?, ?)`, made.companyID, made.id, made.name)
	return err
}

// question is a random query as the model and the package are asked it.
type question struct {
	kind   int64 // -1: any
	search []listing.Term
	sort   input.Sort
	page   input.Page
}

func ask(random *rand.Rand) question {
	asked := question{kind: random.Int64N(4) - 1, page: input.Page{Number: 1 + random.Int64N(8), Size: 1 + random.Int64N(40)}}
	asked.sort = []input.Sort{"", "id", "-id", "name", "-name", "due_date", "-due_date"}[random.IntN(7)]
	letters := []string{"a", "b", "c", "ab", "%", "ba%", "zz"}
	for range random.IntN(3) {
		term := listing.Term{letters[random.IntN(len(letters))]}
		if random.IntN(2) == 0 {
			term = append(term, letters[random.IntN(len(letters))])
		}
		asked.search = append(asked.search, term)
	}
	return asked
}

func (q question) query() listing.Query {
	query := listing.Query{CompanyID: 1, Search: q.search, Sort: q.sort}
	if q.kind >= 0 {
		query.Where.And("c.kind = ?", q.kind)
	}
	return query
}

// model is what a list must find, by brute force.
func (q question) model(all []thing) (matches []thing) {
	for _, one := range all {
		holds := q.kind < 0 || one.kind == q.kind
		for _, term := range q.search {
			holds = holds && slices.ContainsFunc(term, func(spelling string) bool { return strings.Contains(one.name, spelling) })
		}
		if holds {
			matches = append(matches, one)
		}
	}
	sort := cmp.Or(q.sort, input.Newest)
	slices.SortFunc(matches, func(a, b thing) int {
		by, last := 0, 0
		switch sort.Field() {
		case input.ByName:
			by = cmp.Compare(a.name, b.name)
		case input.ByDueDate:
			by = cmp.Compare(a.day, b.day)
			last = cmp.Compare(b2i(a.day == ""), b2i(b.day == ""))
		}
		by = cmp.Or(by, cmp.Compare(a.id, b.id))
		if sort.Descending() {
			by = -by
		}
		return cmp.Or(last, by)
	})
	return matches
}

func b2i(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

func TestPagesAreThoseOfAModel(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		random := rand.New(rand.NewPCG(1, 2))
		all := fill(t, db, random)
		for range 300 {
			asked := ask(random)
			want := asked.model(all)
			for _, table := range []*listing.Table[thing]{&things, ownText()} {
				list, total, err := table.Page(t.Context(), db, asked.query(), asked.page)
				from := min(asked.page.Offset(), int64(len(want)))
				to := min(from+asked.page.Size, int64(len(want)))
				if err != nil || total != int64(len(want)) || !slices.Equal(list, want[from:to]) {
					t.Fatalf("%+v:\n%v of %d, %v\nwant\n%v of %d", asked, list, total, err, want[from:to], len(want))
				}
				wantAll(t, db, table, asked, want)
			}
		}
	})
}

// A log of years is counted and paged through up to a bound: the pages behind its
// middle must not be read from the other end, which is further away than the bound.
func TestPagesEndAtTheMostThatIsCounted(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		random := rand.New(rand.NewPCG(5, 6))
		all := fill(t, db, random)
		const most = 40
		for range 100 {
			asked := ask(random)
			asked.search, asked.sort = nil, []input.Sort{"", "id", "name", "-name"}[random.IntN(4)]
			want := asked.model(all)
			want = want[:min(len(want), most)]
			query := asked.query()
			query.Most = most
			list, total, err := things.Page(t.Context(), db, query, asked.page)
			from := min(asked.page.Offset(), int64(len(want)))
			to := min(from+asked.page.Size, int64(len(want)))
			if err != nil || total != int64(len(want)) || !slices.Equal(list, want[from:to]) {
				t.Fatalf("%+v:\n%v of %d, %v\nwant\n%v of %d", asked, list, total, err, want[from:to], len(want))
			}
		}
	})
}

// wantAll compares what else a table answers.
func wantAll(t *testing.T, db *sqldb.DB, table *listing.Table[thing], asked question, want []thing) {
	t.Helper()
	var walked []thing
	housetest.Must(t, table.Each(t.Context(), db, asked.query(), func(one thing) error {
		walked = append(walked, one)
		return nil
	}))
	if !slices.Equal(walked, want) {
		t.Fatalf("%+v: Each has\n%v\nwant\n%v", asked, walked, want)
	}
	count, err := table.Count(t.Context(), db, asked.query())
	if err != nil || count != int64(len(want)) {
		t.Fatalf("%+v: counted %d, %v, want %d", asked, count, err, len(want))
	}
	first, err := table.First(t.Context(), db, asked.query(), 3)
	if err != nil || !slices.Equal(first, want[:min(3, len(want))]) {
		t.Fatalf("%+v: First has %v, %v", asked, first, err)
	}
}

func TestATotalThatIsKnownIsNotCounted(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		all := fill(t, db, rand.New(rand.NewPCG(3, 4)))
		query := listing.Query{CompanyID: 1, Total: func(context.Context) (int64, error) { return int64(len(all)), nil }}
		list, total, err := things.Page(t.Context(), db, query, input.Page{Number: 1, Size: 1})
		if err != nil || total != int64(len(all)) || list[0] != all[len(all)-1] {
			t.Errorf("%v of %d, %v", list, total, err)
		}
		query.Search = []listing.Term{{"no such"}}
		if _, total, err := things.Page(t.Context(), db, query, input.Page{Number: 1, Size: 1}); err != nil || total != 0 {
			t.Errorf("a search has the total of the list: %d, %v", total, err)
		}
	})
}
