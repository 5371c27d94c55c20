package customer

import (
	"slices"
	"testing"
)

func TestPartsLeaveNothingOut(t *testing.T) {
	for _, n := range []int{0, 1, leastInPart - 1, 2 * leastInPart, 10*leastInPart + 7} {
		done := make([]int, n)
		inParts(n, func(from, to int) {
			for at := from; at < to; at++ {
				done[at]++
			}
		})
		if slices.ContainsFunc(done, func(times int) bool { return times != 1 }) {
			t.Errorf("of %d: %v", n, done)
		}
	}
}

// A request that panics is answered; a goroutine that does would end the process.
func TestPanicOfAPartIsTheCallers(t *testing.T) {
	const n = 100 * leastInPart
	for _, wrong := range []int{0, n - 1} {
		got := func() (cause any) {
			defer func() { cause = recover() }()
			inParts(n, func(from, to int) {
				if from <= wrong && wrong < to {
					panic("wrong")
				}
			})
			return nil
		}()
		if got != "wrong" {
			t.Errorf("the panic at %d arrived as %v", wrong, got)
		}
	}
}
