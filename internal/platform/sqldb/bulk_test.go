package sqldb_test

import (
	"slices"
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestPiecesCutAListOfAnyLengthIntoFewSizes(t *testing.T) {
	sizes := map[int]bool{}
	for n := range 1234 {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		var joined []int
		pieces := 0
		for piece := range sqldb.Pieces(list) {
			joined = append(joined, piece...)
			sizes[len(piece)] = true
			pieces++
		}
		if !slices.Equal(joined, list) || pieces > n/512+9 {
			t.Fatalf("%d items came back in %d pieces as %v", n, pieces, joined)
		}
	}
	if len(sizes) > 13 || sizes[0] {
		t.Errorf("pieces of %v items: every size is a statement of its own", sizes)
	}
}

func TestFewValuesAreWrittenOut(t *testing.T) {
	few, many := []int64{1, 2}, make([]int64, 99)
	const text = "a = ? AND b {in ?} AND c {in ?} AND d {in ?}"
	for _, tt := range []struct {
		lists [][]int64
		want  string
		args  int
	}{
		{[][]int64{few}, "a = ? AND b IN (?,?) AND c {in ?} AND d {in ?}", 2},
		{[][]int64{many}, text, 1},
		{[][]int64{nil}, text, 1},
		{[][]int64{few, few[:1]}, "a = ? AND b IN (?,?) AND c IN (?) AND d {in ?}", 3},
		{[][]int64{many, few}, "a = ? AND b {in ?} AND c IN (?,?) AND d {in ?}", 3},
		{[][]int64{few, many}, "a = ? AND b IN (?,?) AND c {in ?} AND d {in ?}", 3},
	} {
		for range 2 { // the second time from what is kept
			if got, args := sqldb.Few(text, tt.lists...); got != tt.want || len(args) != tt.args {
				t.Errorf("%s with %d arguments, want %s with %d", got, len(args), tt.want, tt.args)
			}
		}
	}
}

func TestTuplesArePlaceholdersForRows(t *testing.T) {
	for want, got := range map[string]string{
		"(?)":               sqldb.Tuples(1, 1),
		"(?,?,?),(?,?,?)":   sqldb.Tuples(2, 3),
		"(?,?),(?,?),(?,?)": sqldb.Tuples(3, 2),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
