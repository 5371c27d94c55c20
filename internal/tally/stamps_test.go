package tally

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// Whatever happens to a record, the stamp of its bucket is another than at any time
// before, and that of no other bucket or company is.
func TestEveryChangeOfABucketHasAStampOfItsOwn(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := newThings(t, engine)[0]
		add := func(company int64, changes ...Change) {
			t.Helper()
			write(t, db, func(tx *sqldb.Tx) error { return Customers.Add(t.Context(), tx, company, changes...) })
		}
		at := func(id, n int64, day string) Change { return Change{Key: Key{Bucket: BucketOf(id), Day: day}, N: n} }
		add(1, at(1, 1, "2027-01-01"), at(BucketSize, 1, "2027-01-01"))
		add(2, at(1, 1, "2027-01-01"))
		must(t, Compact(t.Context(), db))
		other := stampsOf(t, db, 2)
		seen := []stamp{stampsOf(t, db, 1)[0]}
		next := stampsOf(t, db, 1)
		want := func(what string) {
			t.Helper()
			before := next
			next = stampsOf(t, db, 1)
			if changed := next.ChangedSince(before); !slices.Equal(changed, []int64{0}) {
				t.Errorf("%s: the buckets %v have changed", what, changed)
			}
			if slices.Contains(seen, next[0]) {
				t.Errorf("%s: the stamp %+v was there before", what, next[0])
			}
			seen = append(seen, next[0])
		}
		for range 2 {
			add(1, at(1, 0, "2027-01-01"))
			want("a change that moves nothing")
			must(t, Compact(t.Context(), db))
			want("it is folded")
			add(1, at(1, -1, "2027-01-01"), at(1, 1, "2027-02-01"))
			want("another day")
			must(t, Compact(t.Context(), db))
			want("that is folded")
			add(1, at(1, -1, "2027-02-01"))
			want("a deletion")
			must(t, Compact(t.Context(), db))
			want("the bucket is empty")
			add(1, at(1, 1, "2027-01-01"))
			want("it is not")
			must(t, Compact(t.Context(), db))
			want("it was folded again")
		}
		if changed := stampsOf(t, db, 2).ChangedSince(other); len(changed) > 0 {
			t.Errorf("the buckets %v of another company have changed", changed)
		}
		if _, ok, err := Customers.Stamps(t.Context(), db, 1, 1); err != nil || ok {
			t.Errorf("two buckets are one at most: %v, %v", ok, err)
		}
	})
}

func stampsOf(t *testing.T, db *sqldb.DB, companyID int64) Stamps {
	t.Helper()
	stamps, ok, err := Customers.Stamps(t.Context(), db, companyID, 100)
	if must(t, err); !ok {
		t.Fatal("there are too many")
	}
	return stamps
}
