package main

// cost is what one operation takes: processor time of our process and of
// PostgreSQL's, in microseconds, and what it writes.
type cost struct {
	app, database float64 // µs
	wal           float64 // bytes
	commits       float64
}

func (c cost) times(count float64) cost {
	return cost{c.app * count, c.database * count, c.wal * count, c.commits * count}
}

func (c cost) plus(other cost) cost {
	return cost{c.app + other.app, c.database + other.database, c.wal + other.wal, c.commits + other.commits}
}

// The costs are of one process on one PostgreSQL, from the tables of
// docs/scaling.md, which names the commands. What was not measured by itself is
// made of what was, and says so.
var (
	list   = cost{app: 321, database: 262}
	read   = cost{app: 89, database: 85}
	poll   = cost{app: 82, database: 100}
	create = cost{app: 689, database: 1855, wal: 10_841, commits: 1}
	change = cost{app: 460, database: 991, wal: 4_988, commits: 1}
	pay    = cost{app: 1221, database: 2832, wal: 13_346, commits: 1}
	issue  = cost{app: 350, database: 779, wal: 3_107, commits: 0.03}

	// From docs/benchmarks.md; the bytes are a guess from its rows.
	deliver = cost{app: 73, database: 48, wal: 1_000, commits: 0.03}

	// A page of the panel is a list and its HTML.
	page = list.plus(cost{app: 4_400})
	// A message is planned, claimed, marked as being sent and closed: as much as
	// two changes; the sending itself is as dear as a delivery.
	message = change.times(2).plus(deliver)
)

// customerBytes is what a customer takes on PostgreSQL's disk with a year of
// invoices, payments and audit lines, events and deliveries as long as they are
// kept.
const customerBytes = 45_000
