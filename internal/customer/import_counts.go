package customer

import (
	"carteira/internal/platform/civil"
	"carteira/internal/tally"
)

// countedAt is a place of a counter.
type countedAt struct {
	counter tally.Counter
	key     tally.Key
}

// importCounts are how imported customers are to be counted, once for all.
type importCounts map[countedAt]tally.Sums

// add counts a customer as one who is created.
func (counts importCounts) add(customer Customer, today civil.Date) {
	created := Change{Action: ActionCreated, After: customer}
	for _, entry := range append(created.counts(), created.countedWorth(today)...) {
		counts.sum(countedAt{entry.Counter, entry.Key}, tally.Sums{N: entry.N, Cents: entry.Cents})
	}
}

// join adds what others have counted.
func (counts importCounts) join(more importCounts) {
	for at, sums := range more {
		counts.sum(at, sums)
	}
}

func (counts importCounts) sum(at countedAt, more tally.Sums) {
	known := counts[at]
	counts[at] = tally.Sums{N: known.N + more.N, Cents: known.Cents + more.Cents}
}

func (counts importCounts) entries() []tally.Entry {
	entries := make([]tally.Entry, 0, len(counts))
	for at, sums := range counts {
		entries = append(entries, tally.Entry{
			Counter: at.counter,
			Change:  tally.Change{Key: at.key, N: sums.N, Cents: sums.Cents},
		})
	}
	return entries
}
