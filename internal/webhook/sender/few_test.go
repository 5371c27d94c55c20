package sender

import "testing"

func TestFewValuesAreWrittenOut(t *testing.T) {
	two, many := []int64{1, 2}, make([]int64, 99)
	const text = "a = ? AND b {in ?} AND c {in ?} AND d {in ?}"
	for _, tt := range []struct {
		lists [][]int64
		want  string
		args  int
	}{
		{[][]int64{two}, "a = ? AND b IN (?,?) AND c {in ?} AND d {in ?}", 2},
		{[][]int64{many}, text, 1},
		{[][]int64{nil}, text, 1},
		{[][]int64{two, two[:1]}, "a = ? AND b IN (?,?) AND c IN (?) AND d {in ?}", 3},
		{[][]int64{many, two}, "a = ? AND b {in ?} AND c IN (?,?) AND d {in ?}", 3},
		{[][]int64{two, many}, "a = ? AND b IN (?,?) AND c {in ?} AND d {in ?}", 3},
	} {
		if got, args := few(text, tt.lists...); got != tt.want || len(args) != tt.args {
			t.Errorf("%s with %d arguments, want %s with %d", got, len(args), tt.want, tt.args)
		}
	}
}
