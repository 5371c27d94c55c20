package customer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// Whatever was created, changed, deleted or erased, and however far the segments
// are: searches, of a letter or of many, find what a look at every customer finds.
func TestSearchIsExactHoweverFarTheSegmentsAre(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		library := newLibrary(t, engine)
		library.sealer = sealer{size: 100, changes: 3, block: 3, row: 200}
		library.actor = library.large
		random := rand.New(rand.NewPCG(21, 22))
		sealedBefore := library.sealed(t)
		var deleted []int64
		for round := range 40 {
			for range random.IntN(4) {
				if id := library.changeOne(t, random); id != 0 {
					deleted = append(deleted, id)
				}
			}
			switch round % 8 {
			case 0, 4:
				library.steps(t, 1+random.IntN(30)) // into the middle of something
			case 3:
				must(t, library.SealSegments(t.Context()))
			case 7:
				library.sealAll(t)
				library.wantNobodyDeleted(t)
				for _, id := range deleted {
					library.wantNoLetters(t, id)
				}
			}
			library.wantFound(t, random, library.large, 6)
		}
		if sealedBefore != 0 || library.sealed(t) < 10 {
			t.Errorf("%d, then %d segments were sealed", sealedBefore, library.sealed(t))
		}
		library.wantMerged(t)
		must(t, library.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `DELETE FROM search_segments WHERE company_id > 0`)
			return err
		}))
		library.wantFound(t, random, library.large, 6) // without any, all are newer
	})
}

// wantMerged wants segments in blocks of several.
func (l library) wantMerged(tb testing.TB) {
	tb.Helper()
	n, err := sqldb.Value[int64](tb.Context(), l.db, `SELECT count(*) FROM search_segments WHERE block < 0 AND moved = ?`, allMoved)
	if must(tb, err); n < 3 {
		tb.Errorf("%d segments are merged", n)
	}
}

// sealAll seals until nothing is left to do. On PostgreSQL that may wait for
// transactions of other tests.
func (w *world) sealAll(tb testing.TB) {
	tb.Helper()
	for range 5000 {
		must(tb, w.SealSegments(tb.Context()))
		due, err := dueForSealing(tb.Context(), w.db)
		must(tb, err)
		if len(due) == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	tb.Fatal("the segments are never sealed")
}

// sealed is how many segments are sealed.
func (l library) sealed(tb testing.TB) int64 {
	tb.Helper()
	n, err := sqldb.Value[int64](tb.Context(), l.db, `SELECT count(*) FROM search_segments WHERE sealed`)
	must(tb, err)
	return n
}

// changeOne creates, changes, deletes or erases a customer. It returns who was deleted.
func (l library) changeOne(tb testing.TB, random *rand.Rand) (deleted int64) {
	tb.Helper()
	all := l.model(tb, l.actor)
	one := all[random.IntN(len(all))]
	switch random.IntN(5) {
	case 0:
		must(tb, l.Delete(tb.Context(), l.actor, one.ID))
		return one.ID
	case 1:
		defer l.wantNoLetters(tb, one.ID)
		must(tb, l.db.Write(tb.Context(), func(tx *sqldb.Tx) error {
			return l.EraseTx(tb.Context(), tx, l.actor, one)
		}))
	case 2, 3:
		l.update(tb, one.ID, fmt.Sprintf(`{"name":%q}`, strings.TrimSpace("q"+reader(random).Name)))
	default:
		l.create(tb, fmt.Sprintf(`{"name":%q}`, strings.TrimSpace("w"+reader(random).Name)))
	}
	return 0
}

// wantNobodyDeleted wants no change of a deleted customer to be left to seal.
func (l library) wantNobodyDeleted(tb testing.TB) {
	tb.Helper()
	must(tb, l.db.Write(tb.Context(), func(tx *sqldb.Tx) error {
		deleted, err := anyDeleted(tb.Context(), tx, l.actor.Company.ID)
		if deleted != 0 {
			tb.Errorf("deleted customer %d is in a posting", deleted)
		}
		return err
	}))
}

// wantNoLetters wants no posting and no gram to have a customer.
func (l library) wantNoLetters(tb testing.TB, id int64) {
	tb.Helper()
	must(tb, sqldb.Each(tb.Context(), l.db, `
		SELECT last_id, term, ids FROM search_postings WHERE company_id = ?`, []any{l.actor.Company.ID}, func(row sqldb.Row) error {
		var last int64
		var term string
		var stored []byte
		err := row.Scan(&last, &term, &stored)
		if slices.Contains(posting(stored).ids(last), id) {
			tb.Errorf("the posting of %q has customer %d", term, id)
		}
		return err
	}))
	must(tb, sqldb.Each(tb.Context(), l.db, `
		SELECT last_id, gram, places FROM search_grams WHERE company_id = ?`, []any{l.actor.Company.ID}, func(row sqldb.Row) error {
		var of, key int64
		var stored []byte
		err := row.Scan(&of, &key, &stored)
		for _, segment := range segmentsOf(of, stored, everyone) {
			read := gramRow{gram(key), segment.places}
			stride := read.each(func(gram, places) {})
			read.each(func(gram gram, list places) {
				for _, place := range list.read(stride, nil) {
					if segment.last-int64(place/stride) == id {
						tb.Errorf("the places of %d have customer %d", gram, id)
					}
				}
			})
		}
		return err
	}))
}

// wantFound compares some searches with the model: their pages, their
// totals, and what is found first.
func (l library) wantFound(tb testing.TB, random *rand.Rand, actor account.Actor, searches int) {
	tb.Helper()
	model := l.model(tb, actor)
	for range searches {
		filter := Filter{Search: someTerm(random, model)}
		matches := model.containing(searchTerms(filter.Search))
		last := input.Page{Size: 20}.Last(int64(len(matches)))
		for _, number := range []int64{1, max(1, last/2), last, last + 1} {
			l.wantPage(tb, actor, matches, filter, input.Page{Number: number, Size: 20})
		}
		first, err := l.First(tb.Context(), actor, filter, 8)
		if err != nil || !slices.Equal(ids(first), matches.page(input.Page{Number: 1, Size: 8})) {
			tb.Errorf("first of %q: %v, %v", filter.Search, ids(first), err)
		}
		listed, total, err := l.Sorted(tb.Context(), actor, Query{Filter: filter, Sort: "name"}, firstPage)
		if err != nil || total != int64(len(matches)) || len(listed) != min(200, len(matches)) {
			tb.Errorf("by name %q: %d of %d, %v; want %d", filter.Search, len(listed), total, err, len(matches))
		}
	}
}

// containing are the customers whose search text contains one of the terms.
func (m model) containing(terms []string) model {
	return slices.DeleteFunc(slices.Clone(m), func(customer Customer) bool {
		return terms != nil && !slices.ContainsFunc(terms, func(term string) bool {
			return strings.Contains(searchText(customer), term)
		})
	})
}

// someTerm is a piece of a customer's text, or any letters.
func someTerm(random *rand.Rand, model model) string {
	text := []rune(searchText(model[random.IntN(len(model))]))
	at := random.IntN(len(text))
	letters := []int{1, 2, 3, 4, 5, 6, 7, 9, 14, 30, 60}[random.IntN(11)]
	term := string(text[at:min(len(text), at+letters)])
	switch random.IntN(8) {
	case 0:
		return []string{"zz", "(1", "9-", "ã", "ß", "55", "qa"}[random.IntN(7)]
	case 1:
		return []string{"example", "@example.com", "ana", "jojo", "1-1", "(55) 11", "zzzz", "xxana", "ana na", "世界世"}[random.IntN(10)]
	case 2:
		return punctuated(random, term)
	}
	return term
}

// Two processes create, change and delete while both seal: in the end nobody is
// missing and nobody is found who is not there.
func TestSegmentsAreExactBesideConcurrentChanges(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		if sqldbtest.Raced {
			t.Skip("many rows")
		}
		world, both := newRace(t, engine)
		list := make([]Customer, smallSearch)
		for i := range list {
			list[i].Name = fmt.Sprintf("start %04d", i)
		}
		world.populate(t, world.actor, list)
		for _, service := range both {
			service.sealer = sealer{size: 50, changes: 2, block: 4, row: 200}
		}
		failed := atOnce(t, 16, both, func(service *Service, i int) error { return churn(t, service, world.actor, i) })
		for _, err := range failed {
			t.Error(err)
		}
		library := library{world: world}
		library.sealAll(t)
		library.wantFound(t, rand.New(rand.NewPCG(31, 32)), world.actor, 60)
		if library.sealed(t) < 10 {
			t.Errorf("%d segments are sealed", library.sealed(t))
		}
	})
}

// churn is one of many who change customers at once; every fourth of them seals.
func churn(t *testing.T, service *Service, actor account.Actor, number int) error {
	t.Helper()
	for step := range 12 {
		if number%4 == 0 {
			if err := service.SealSegments(t.Context()); err != nil {
				return err
			}
			continue
		}
		made, err := service.Create(t.Context(), actor, ReadNew(form(t, fmt.Sprintf(`{"name":"new %d %d"}`, number, step))))
		if err != nil {
			return err
		}
		old := int64(1 + number*60 + step)
		if _, err := service.Update(t.Context(), actor, old, ReadChanges(form(t, fmt.Sprintf(`{"name":"xy %d"}`, step)))); err != nil {
			return err
		}
		if step%3 == 0 {
			if err := service.Delete(t.Context(), actor, made.ID); err != nil {
				return err
			}
		}
		if step%4 == 1 { // one who is in a segment, while others move it
			err := service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				gone, err := service.LockTx(t.Context(), tx, actor, old+30)
				if err != nil {
					return err
				}
				return service.EraseTx(t.Context(), tx, actor, gone)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func TestPostingIsWhatWentIn(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	for range 500 {
		ids := map[int64]bool{}
		spread := []int64{1, 3, 100, 5000, 1 << 40}[random.IntN(5)]
		for range 1 + random.IntN(300) {
			ids[1+random.Int64N(300*spread)] = true
		}
		want := slices.SortedFunc(maps.Keys(ids), newestFirst)
		last := want[0] + random.Int64N(3)
		distances := make([]int64, len(want))
		for i, id := range want {
			distances[i] = last - id
		}
		made := newPosting(distances)
		if got := made.ids(last); !slices.Equal(got, want) || made.count() != int64(len(want)) {
			t.Fatalf("%v (%d) came out of %v", got, made.count(), want)
		}
	}
	var none posting
	if none.count() != 0 || none.ids(9) != nil {
		t.Error("an empty posting has customers")
	}
}

func TestPostingsTogetherAreWhoIsInOne(t *testing.T) {
	random := rand.New(rand.NewPCG(97, 98))
	draw := func() (distances []int64, made posting) {
		step := []int64{2, 30, 3000}[random.IntN(3)]
		for at := random.Int64N(step); at < 2000 && random.IntN(9) > 0; at += 1 + random.Int64N(step) {
			distances = append(distances, at)
		}
		return distances, newPosting(distances)
	}
	forms := map[[2]byte]bool{}
	for range 2000 {
		a, first := draw()
		b, second := draw()
		if len(a) > 0 && len(b) > 0 {
			forms[[2]byte{first[0], second[0]}] = true
		}
		want := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
		var got []int64
		for _, id := range first.or(second).ids(5000) {
			got = append(got, 5000-id)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v or %v: %v", a, b, got)
		}
	}
	if len(forms) != 4 {
		t.Errorf("%d pairs of forms are too few for what this test is about", len(forms))
	}
}

func TestPostingsHaveEveryLetterAndPair(t *testing.T) {
	made := map[string][]int64{}
	for term, posting := range newPostings([]segmentText{{0, []rune("ana\né")}, {3, []rune("na")}}) {
		made[term] = posting.ids(10)
	}
	want := map[string][]int64{
		"a": {10, 7}, "n": {10, 7}, "an": {10}, "na": {10, 7}, "a\n": {10}, "\n": {10}, "\né": {10}, "é": {10},
	}
	if !maps.EqualFunc(made, want, slices.Equal[[]int64]) {
		t.Errorf("%v", made)
	}
}

// Neither database reads all customers for a short search, or for the page of it.
func TestShortSearchReadsNoWholeTable(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		library := newSealedLibrary(t, engine)
		for _, term := range []string{"an", "anajo"} {
			text, args := newLook([]string{term}).statement(engine, library.large.Company.ID)
			for line := range strings.Lines(sqldbtest.Explain(t, library.db, text, args...)) {
				if strings.Contains(line, "Seq Scan on customers") || strings.Contains(line, "SCAN customers") || strings.HasPrefix(strings.TrimSpace(line), "SCAN c") {
					t.Error(line)
				}
			}
		}
		page, args := sqldb.Window{Source: among(library.large.Company.ID, []int64{1, 2}), Limit: 2}.IDs()
		plan := sqldbtest.Explain(t, library.db, page, args...)
		if engine == sqldb.SQLite && !strings.Contains(plan, "rowid=?") && !strings.Contains(plan, "id=?") {
			t.Error(plan)
		}
	})
}
