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
	list   = cost{app: 516, database: 657}
	read   = cost{app: 131, database: 141}
	poll   = cost{app: 113, database: 96}
	create = cost{app: 1394, database: 2429, wal: 11_191, commits: 1}
	change = cost{app: 883, database: 1591, wal: 4_647, commits: 1}
	pay    = cost{app: 2274, database: 5116, wal: 12_975, commits: 1}
	issue  = cost{app: 833, database: 1312, wal: 4_084, commits: 0.03}

	// From docs/benchmarks.md; the bytes are a guess from its rows.
	deliver = cost{app: 105, database: 41, wal: 1_000, commits: 0.03}

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
