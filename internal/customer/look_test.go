package customer

import (
	"runtime"
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

// A panic on another processor is the caller's, and nobody waits for ever.
func TestPanicOfAMatchIsTheCallers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	term := newGramTerm("ana")
	matching := match(term)
	for block := range int64(3 * mostBlocks) {
		withoutStride := gramSegment{places: map[gram]places{term[0].gram: {1}}}
		matching.next(1 + block)
		matching.add(&segmentRead{grams: withoutStride})
	}
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	matching.end()
}
