package tally

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var must = housetest.Must

// things is a counter of the tests, and the table of what is counted in it.
const things Counter = "things"

func newThings(t *testing.T, engine sqldb.Engine) (pools []*sqldb.DB) {
	t.Helper()
	url := sqldbtest.URL(t, engine)
	pools = []*sqldb.DB{sqldbtest.Open(t, url), sqldbtest.Open(t, url)}
	write(t, pools[0], func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `CREATE TABLE things (company_id BIGINT NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (company_id, id))`)
		return err
	})
	return pools
}

func write(t *testing.T, db *sqldb.DB, fn func(tx *sqldb.Tx) error) {
	t.Helper()
	must(t, db.Write(t.Context(), fn))
}

// ledger is what the counters are held against: every key with its sums, kept
// in memory.
type ledger struct {
	mu   sync.Mutex
	keys map[line]Sums
}

type line struct {
	company int64
	counter Counter
	Key
}

func (l *ledger) add(company int64, counter Counter, changes ...Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, change := range changes {
		at := line{company, counter, change.Key}
		l.keys[at] = Sums{l.keys[at].N + change.N, l.keys[at].Cents + change.Cents}
	}
}

// sum adds up the keys that where allows.
func (l *ledger) sum(company int64, counter Counter, where func(Key) bool) (sums Sums) {
	for line, key := range l.keys {
		if line.company == company && line.counter == counter && where(line.Key) {
			sums = Sums{sums.N + key.N, sums.Cents + key.Cents}
		}
	}
	return sums
}

func randomDay(random *rand.Rand) string {
	if random.IntN(9) == 0 {
		return ""
	}
	return fmt.Sprintf("2026-%02d-%02d", 1+random.IntN(3), 1+random.IntN(6))
}

func randomPlace(random *rand.Rand) Key {
	return Key{
		Day: randomDay(random), PlanID: random.Int64N(3), ProductID: random.Int64N(2),
		State: []string{"", "open", "paid"}[random.IntN(3)],
	}
}

var errChangedMind = errors.New("changed its mind")

// Whatever several goroutines on two pools add and move, and whenever it is
// compacted: the counters say what a plain ledger says. What was rolled back is in
// neither.
func TestBooksSayWhatALedgerSays(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		pools := newThings(t, engine)
		l := &ledger{keys: map[line]Sums{}}
		for round := range uint64(3) {
			var wg sync.WaitGroup
			for worker := range uint64(4) {
				wg.Go(func() { work(t, rand.New(rand.NewPCG(round, worker)), pools[worker%2], l) })
			}
			for _, db := range pools {
				wg.Go(func() {
					for range 5 {
						if err := Compact(t.Context(), db); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			wantBooks(t, pools, l)
		}
		must(t, Compact(t.Context(), pools[1]))
		wantBooks(t, pools, l)
		if left := number(t, pools[0], `SELECT count(*) FROM tally_deltas`); left != 0 {
			t.Errorf("%d deltas are left", left)
		}
		if empty := number(t, pools[0], `SELECT count(*) FROM tally_sums WHERE n = 0 AND cents = 0`); empty != 0 {
			t.Errorf("%d sums of nothing are left", empty)
		}
	})
}

// work makes changes, some of which it takes back.
func work(t *testing.T, random *rand.Rand, db *sqldb.DB, ledger *ledger) {
	t.Helper()
	for range 30 {
		company, counter := 1+random.Int64N(2), []Counter{Customers, Invoices}[random.IntN(2)]
		from := Change{Key: randomPlace(random), N: 1, Cents: random.Int64N(1e10)}
		to := Change{Key: randomPlace(random), N: 1, Cents: random.Int64N(1e10)}
		stays, moves := random.IntN(5) > 0, random.IntN(2) == 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			var err error
			if moves {
				err = counter.Move(t.Context(), tx, company, from, to)
			} else {
				err = counter.Add(t.Context(), tx, company, from, to)
			}
			if err == nil && !stays {
				err = errChangedMind
			}
			return err
		})
		switch {
		case !stays && errors.Is(err, errChangedMind):
		case err != nil:
			t.Error(err)
		case moves:
			ledger.add(company, counter, Change{from.Key, -1, -from.Cents}, to)
		default:
			ledger.add(company, counter, from, to)
		}
	}
}

func wantBooks(t *testing.T, pools []*sqldb.DB, ledger *ledger) {
	t.Helper()
	for _, db := range pools {
		for company := int64(1); company <= 3; company++ { // the third has nothing
			for _, counter := range []Counter{Customers, Invoices, Receipts} {
				wantBook(t, db, company, counter, ledger)
			}
		}
	}
}

func wantBook(t *testing.T, db *sqldb.DB, company int64, counter Counter, ledger *ledger) {
	t.Helper()
	all := ledger.sum(company, counter, func(Key) bool { return true })
	if n, err := counter.Total(t.Context(), db, company); err != nil || n != all.N {
		t.Errorf("%s of %d: %d in all, %v; want %d", counter, company, n, err, all.N)
	}
	for _, c := range []struct {
		conds []any // condition and argument in turn
		where func(Key) bool
		days  []Days
	}{
		{nil, func(Key) bool { return true }, nil},
		{nil, func(Key) bool { return true }, []Days{{}}},
		{nil, func(key Key) bool { return key.Day == "" || key.Day >= "2026-02-04" }, []Days{NoDay, {From: "2026-02-04"}}},
		{nil, func(key Key) bool { return key.Day != "" && key.Day < "2026-03-02" }, []Days{{From: "0", Until: "2026-03-02"}}},
		{
			[]any{"state <> ?", "paid"},
			func(key Key) bool { return key.State != "paid" && key.Day >= "2026-01-02" && key.Day <= "2026-03-03" },
			Cut([]string{"2026-01-02", "2026-02-01", "2026-02-03"}, After("2026-03-03")),
		},
		{[]any{"day = ?", "2026-01-03"}, func(key Key) bool { return key.Day == "2026-01-03" }, nil},
		{nil, func(key Key) bool { return key.Day >= "2026-01-02" && key.Day <= "2026-01-04" }, []Days{{"2026-01-02", After("2026-01-04")}}},
		{[]any{"plan_id = ?", 2, "state = ?", "paid"}, func(key Key) bool { return key.PlanID == 2 && key.State == "paid" }, []Days{{}}},
		{[]any{"product_id = ?", 1, "day > ?", "2026-01-05"}, func(key Key) bool { return key.ProductID == 1 && key.Day > "2026-01-05" }, nil},
		{[]any{"state = ?", "nothing"}, func(Key) bool { return false }, nil},
	} {
		where := Filter{Days: c.days}
		for pair := range slices.Chunk(c.conds, 2) {
			where.And(pair[0].(string), pair[1])
		}
		want := ledger.sum(company, counter, c.where)
		if n, cents, err := counter.Sum(t.Context(), db, company, where); err != nil || (Sums{n, cents}) != want {
			t.Errorf("%s of %d, %v: %d and %d cents, %v; want %+v", counter, company, c.conds, n, cents, err, want)
		}
		wantBy(t, db, company, counter, ledger, "day", where, c.where, func(key Key) string { return key.Day })
		wantBy(t, db, company, counter, ledger, "state", where, c.where, func(key Key) string { return key.State })
		wantBy(t, db, company, counter, ledger, "plan_id", where, c.where, func(key Key) int64 { return key.PlanID })
		wantBy(t, db, company, counter, ledger, "product_id", where, c.where, func(key Key) int64 { return key.ProductID })
	}
}

func wantBy[K comparable](t *testing.T, db *sqldb.DB, company int64, counter Counter, ledger *ledger, column string, w Filter, where func(Key) bool, key func(Key) K) {
	t.Helper()
	got, err := By[K](t.Context(), db, counter, company, column, w)
	must(t, err)
	want := map[K]Sums{}
	for line, sums := range ledger.keys {
		if line.company == company && line.counter == counter && where(line.Key) {
			k := key(line.Key)
			want[k] = Sums{want[k].N + sums.N, want[k].Cents + sums.Cents}
		}
	}
	// A key that became zero is removed, sooner or later.
	nothing := func(_ K, sums Sums) bool { return sums == Sums{} }
	maps.DeleteFunc(got, nothing)
	maps.DeleteFunc(want, nothing)
	if !maps.Equal(got, want) {
		t.Errorf("%s of %d by %s: %v, want %v", counter, company, column, got, want)
	}
}

func number(t *testing.T, querier sqldb.Querier, statement string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), querier, statement, args...)
	must(t, err)
	return n
}

// Things move from key to key while counts are compacted: at no moment does
// one of them go missing or stand in two keys.
func TestNumberIsExactAtEveryMoment(t *testing.T) {
	const many = 40
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		pools := newThings(t, engine)
		keys := make([]Change, many)
		for i := range keys {
			keys[i] = Change{Key: Key{Day: "2026-01-01"}, N: 1, Cents: 100}
		}
		write(t, pools[0], func(tx *sqldb.Tx) error { return things.Add(t.Context(), tx, 1, keys...) })
		var moving, looking sync.WaitGroup
		var done atomic.Bool
		for worker := range 4 {
			moving.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(worker)))
				for i := range 60 {
					at := &keys[worker*many/4+i%(many/4)]
					to := Change{Key: randomPlace(random), N: 1, Cents: 100}
					if err := pools[worker%2].Write(t.Context(), func(tx *sqldb.Tx) error { return things.Move(t.Context(), tx, 1, *at, to) }); err != nil {
						t.Error(err)
					}
					*at = to
				}
			})
		}
		for _, db := range pools {
			looking.Go(func() {
				for !done.Load() {
					total, err := things.Total(t.Context(), db, 1)
					n, cents, err2 := things.Sum(t.Context(), db, 1, Filter{})
					if err := errors.Join(err, err2, Compact(t.Context(), db)); err != nil || total != many || n != many || cents != 100*many {
						t.Errorf("%d, %d and %d cents, %v; want %d things of 100", total, n, cents, err, many)
						return
					}
				}
			})
		}
		moving.Wait()
		done.Store(true)
		looking.Wait()
	})
}

// Sums are whole numbers: a float would lose the last cent of these.
func TestCentsAreExactBeyondFloats(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		const half = 1<<52 + 1
		for range 2 {
			write(t, db, func(tx *sqldb.Tx) error {
				return things.Add(t.Context(), tx, 1, Change{N: 1, Cents: half}, Change{N: 1, Cents: half}, Change{N: 1, Cents: 1})
			})
			must(t, Compact(t.Context(), db))
		}
		if n, cents, err := things.Sum(t.Context(), db, 1, Filter{}); err != nil || n != 6 || cents != 4*half+2 {
			t.Errorf("%d, %d cents, %v; want %d", n, cents, err, int64(4*half+2))
		}
	})
}
