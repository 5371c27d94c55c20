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
		for piece := range sqldb.Pieces(list) {
			joined = append(joined, piece...)
			sizes[len(piece)] = true
		}
		if !slices.Equal(joined, list) {
			t.Fatalf("%d items came back as %v", n, joined)
		}
	}
	if len(sizes) > 4 || sizes[0] {
		t.Errorf("pieces of %v items: every size is a statement of its own", sizes)
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
