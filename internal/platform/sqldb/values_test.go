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
