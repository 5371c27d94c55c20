package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/housetest"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// Whatever was created, changed, deleted or refused, by whichever of two
// processes, and whether or not the index has been brought up to date since:
// a search finds exactly what a look at every row finds.
func TestSearchIsExactHoweverFarTheIndexIs(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		shelf := newShelf(t, sqldbtest.Open(t, url), sqldbtest.Open(t, url))
		for range 150 {
			shelf.change(t)
			if shelf.random.IntN(4) == 0 {
				housetest.Must(t, shelf.process().IndexSearch(t.Context()))
			}
			shelf.wantExact(t)
		}
	})
}

// shelf is the customers of two companies, changed at random.
type shelf struct {
	random    *rand.Rand
	processes []*sqldb.DB
	companies []int64
	texts     map[int64]map[int64]string // by company and customer
}

func newShelf(t *testing.T, processes ...*sqldb.DB) *shelf {
	t.Helper()
	s := &shelf{random: rand.New(rand.NewPCG(11, 12)), processes: processes, texts: map[int64]map[int64]string{}}
	write(t, s.processes[0], func(tx *sqldb.Tx) {
		s.companies = []int64{addCompany(t, tx), addCompany(t, tx)}
	})
	for _, company := range s.companies {
		s.texts[company] = map[int64]string{}
	}
	return s
}

func (s *shelf) process() *sqldb.DB { return s.processes[s.random.IntN(len(s.processes))] }

// change runs a transaction of some changes, of which one in five is refused.
func (s *shelf) change(t *testing.T) {
	t.Helper()
	company := s.companies[s.random.IntN(len(s.companies))]
	var after map[int64]string
	refused := s.random.IntN(5) == 0
	count := 1 + s.random.IntN(4)
	if s.random.IntN(10) == 0 {
		count = 100 // more than may wait for the index
	}
	err := s.process().Write(t.Context(), func(tx *sqldb.Tx) error {
		after = maps.Clone(s.texts[company]) // the transaction may run again
		for range count {
			s.step(t, tx, company, after)
		}
		if refused {
			return errRefused
		}
		return nil
	})
	if refused != errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if !refused {
		s.texts[company] = after
	}
}

// step creates a customer, or changes or deletes one.
func (s *shelf) step(t *testing.T, tx *sqldb.Tx, company int64, texts map[int64]string) {
	t.Helper()
	text := randomText(s.random, 12)
	ids := slices.Sorted(maps.Keys(texts))
	kind := s.random.IntN(5)
	if len(ids) == 0 || kind < 2 {
		texts[addCustomer(t, tx, company, text)] = text
		return
	}
	id := ids[s.random.IntN(len(ids))]
	if kind == 2 {
		execute(t, tx, "DELETE FROM customers WHERE company_id = ? AND id = ?", company, id)
		delete(texts, id)
		return
	}
	execute(t, tx, "UPDATE customers SET search = ? WHERE company_id = ? AND id = ?", text, company, id)
	texts[id] = text
}

func (s *shelf) wantExact(t *testing.T) {
	t.Helper()
	for _, company := range s.companies {
		all := slices.Sorted(maps.Values(s.texts[company]))
		if len(all) == 0 {
			continue
		}
		terms := []string{randomTerm(s.random, all), randomTerm(s.random, all)}
		write(t, s.process(), func(tx *sqldb.Tx) {
			wantFound(t, tx, company, s.texts[company], terms[:1])
			wantFound(t, tx, company, s.texts[company], terms)
		})
	}
	for _, db := range s.processes {
		wantEachTextInOnePlace(t, db)
	}
}

// wantEachTextInOnePlace wants each customer to be in SQLite's index or to wait
// for it, and nobody else to be in either.
func wantEachTextInOnePlace(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if db.Engine() != sqldb.SQLite {
		return
	}
	waiting := customers(t, db, "SELECT id FROM customers_unindexed")
	if len(waiting) >= 64 {
		t.Errorf("%d texts wait for the index", len(waiting))
	}
	kept := append(waiting, customers(t, db, "SELECT id FROM customers_search_docsize")...)
	slices.Sort(kept)
	if want := customers(t, db, "SELECT id FROM customers WHERE company_id > 0 ORDER BY id"); !slices.Equal(kept, want) {
		t.Errorf("in the index or waiting for it: %v; want %v", kept, want)
	}
}

// Of a customer who is deleted nothing is left, in the index or before it.
func TestDeletedCustomerLeavesIndexAndQueueInItsTransaction(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	for _, indexed := range []bool{false, true} {
		var company int64
		write(t, db, func(tx *sqldb.Tx) {
			company = addCompany(t, tx)
			addCustomer(t, tx, company, "maria")
		})
		if indexed {
			housetest.Must(t, db.IndexSearch(t.Context()))
		}
		write(t, db, func(tx *sqldb.Tx) { execute(t, tx, "DELETE FROM customers WHERE company_id = ?", company) })
		left := customers(t, db, "SELECT id FROM customers_unindexed UNION ALL SELECT id FROM customers_search_docsize")
		if len(left) > 0 {
			t.Errorf("indexed %v: %v is left", indexed, left)
		}
	}
}

// A page of a search walks along the index and what waits for it, merges and
// sorts nothing, also with conditions on the rows.
func TestSearchWithWhatWaitsIsMergedAndNotSorted(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	plain := sqldb.Search(sqldb.SQLite, "customers", 1, true, []string{"maria"})
	for name, source := range map[string]sqldb.Source{"index": plain, "rows": plain.Rows()} {
		if name == "rows" {
			source.Where.And("c.plan_id + 0 = ?", 1)
		}
		text, args := sqldb.Window{Source: source, Limit: 50}.IDs()
		plan := sqldbtest.Explain(t, db, text, args...)
		if !strings.Contains(plan, "MERGE (UNION ALL)") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}

// indexVariable turns this test program into one that writes and indexes
// customers until it is killed.
const indexVariable = "SQLDB_TEST_INDEX_UNTIL_KILLED"

// A process that dies between a commit and the indexing, or in the middle of
// either, leaves nothing that a search does not find, and nothing that is found
// twice.
func TestSearchIsExactAfterKill(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		if err := sqldbtest.Open(t, url).Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			killedWith(t, indexVariable, url, 1+rand.IntN(300))
		}
		db := sqldbtest.Open(t, url)
		wantStoredFound(t, db)
		housetest.Must(t, db.IndexSearch(t.Context()))
		wantStoredFound(t, db)
	})
}

// wantStoredFound searches for some terms among all customers that there are.
func wantStoredFound(t *testing.T, db *sqldb.DB) {
	t.Helper()
	wantEachTextInOnePlace(t, db)
	for _, company := range customers(t, db, "SELECT id FROM companies") {
		texts := map[int64]string{}
		err := sqldb.Each(t.Context(), db, "SELECT id, search FROM customers WHERE company_id = ?", []any{company}, func(row sqldb.Row) error {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			texts[id] = text
			return err
		})
		housetest.Must(t, err)
		write(t, db, func(tx *sqldb.Tx) {
			for _, term := range []string{"text", "t 1", "99", "changed", "xt 12"} {
				wantFound(t, tx, company, texts, []string{term})
			}
		})
	}
}

// indexUntilKilled is the child: writers of customers beside an indexer.
func indexUntilKilled(url string) {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, url, sqldb.Options{})
	var company int64
	if err == nil {
		err = db.Write(ctx, func(tx *sqldb.Tx) error {
			company, err = sqldb.Value[int64](ctx, tx, insertCompany, true)
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for range 8 {
		go func() {
			for {
				churn(ctx, db, company)
			}
		}()
	}
	for {
		if err := db.IndexSearch(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// churn creates customers, changes some of them and deletes others.
func churn(ctx context.Context, db *sqldb.DB, company int64) {
	var id int64
	err := db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		id, err = sqldb.Value[int64](ctx, tx, insertCustomer, company, fmt.Sprint("text ", rand.IntN(1000)))
		return err
	})
	if err == nil {
		fmt.Println(id) // one system call, so that lines do not mix
		err = db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			switch rand.IntN(3) {
			case 0:
				_, err = tx.Exec(ctx, "DELETE FROM customers WHERE company_id = ? AND id = ?", company, id)
			case 1:
				_, err = tx.Exec(ctx, "UPDATE customers SET search = 'changed' WHERE company_id = ? AND id = ?", company, id)
			}
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
