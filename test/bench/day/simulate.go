package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// plan is what is asked.
type plan struct {
	companies int
	customers int     // of a company, in the mean
	cores     int     // of a machine
	busy      float64 // share of the cores that requests may take in the worst minute
	night     float64 // hours within which the work of midnight is done
	seed      uint64
}

// today is the answer.
type today struct {
	operations float64 // in the day
	busiest    float64 // in a second
	sum        cost    // of the day
	peak       cost    // of the busiest second of each measure, without what may wait
	waiting    cost    // the work of midnight, in the zone that has most
	largest    int     // customers of the largest company
	byHabit    map[string]float64
	sizes      []int
}

const (
	daySeconds = 24 * 60 * 60
	microsecs  = 1e6
)

// live goes through the day.
func live(plan plan) today {
	random := rand.New(rand.NewPCG(plan.seed, 20261116))
	day := today{byHabit: map[string]float64{}, sizes: sizes(plan, random)}
	day.largest = slices.Max(day.sizes)
	customers := 0
	for _, size := range day.sizes {
		customers += size
	}
	habits := habits()
	for second := range daySeconds {
		var now cost
		var operations float64
		for _, habit := range habits {
			mean := habit.perCompany*float64(plan.companies) + habit.perClient*float64(customers)
			for _, zone := range zones {
				count := arrivals(random, habit, zone, mean, second)
				if count == 0 {
					continue
				}
				day.byHabit[habit.name] += count
				day.sum = day.sum.plus(habit.cost.times(count))
				if habit.night {
					continue
				}
				operations += count
				now = now.plus(habit.cost.times(count))
			}
		}
		day.note(now, operations)
	}
	for _, habit := range habits {
		if habit.night {
			day.waiting = day.waiting.plus(habit.cost.times(0.92 * habit.perClient * float64(customers)))
		}
		day.operations += day.byHabit[habit.name]
	}
	return day
}

func (d *today) note(now cost, operations float64) {
	d.busiest = max(d.busiest, operations)
	d.peak.app = max(d.peak.app, now.app)
	d.peak.database = max(d.peak.database, now.database)
	d.peak.wal = max(d.peak.wal, now.wal)
	d.peak.commits = max(d.peak.commits, now.commits)
}

// arrivals draws how often something happens in one second of one zone.
func arrivals(random *rand.Rand, habit habit, zone zone, perDay float64, second int) float64 {
	local := math.Mod(float64(second)/3600-zone.hours+24, 24)
	if habit.night {
		if second != int(zone.hours*3600) {
			return 0
		}
		return draw(random, perDay*zone.share)
	}
	return draw(random, perDay*zone.share*habit.when(local)/daySeconds)
}

// draw is a Poisson variable, by the normal one that it resembles when it is
// large.
func draw(random *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	count, product := -1.0, 1.0
	for limit := math.Exp(-mean); product > limit; count++ {
		product *= random.Float64()
	}
	return max(0, count)
}

// sizes are those of the companies: many small ones and few large ones.
func sizes(plan plan, random *rand.Rand) []int {
	const spread = 1.2 // of the logarithm
	list := make([]int, plan.companies)
	for i := range list {
		size := float64(plan.customers) * math.Exp(spread*random.NormFloat64()-spread*spread/2)
		list[i] = int(math.Round(size))
	}
	return list
}

// machines are how many are needed.
type machines struct {
	app, database int
	fullest       float64 // the share that the fullest database has of the mean, when companies are spread by their id
}

// count is enough for the busiest second, and for midnight in the hours that it
// may take beside the quiet night's requests.
func (d today) count(plan plan) machines {
	cores := float64(plan.cores) * plan.busy * microsecs
	night := plan.night * 3600 * cores
	app := max(math.Ceil(d.peak.app/cores), math.Ceil(d.waiting.app/night))
	database := max(math.Ceil(d.peak.database/cores), math.Ceil(d.waiting.database/night))
	m := machines{app: int(app)}
	// The fullest of the databases must do its part, too.
	for m.database = max(1, int(database)); ; m.database++ {
		m.fullest = fullest(d.sizes, m.database)
		if d.peak.database*m.fullest/float64(m.database) <= cores || m.database >= len(d.sizes) {
			return m
		}
	}
}

// fullest spreads companies over databases by a hash of their ids.
func fullest(sizes []int, databases int) float64 {
	load := make([]float64, databases)
	var all float64
	for id, size := range sizes {
		hash := (uint64(id) + 1) * 0x9E3779B97F4A7C15
		load[(hash>>32)%uint64(databases)] += float64(size)
		all += float64(size)
	}
	return slices.Max(load) / (all / float64(databases))
}

// report is what the document holds.
func (d today) report(plan plan) []string {
	needed := d.count(plan)
	lines := []string{fmt.Sprintf("%s companies, %s customers, seed %d; machines of %d cores, %.0f %% busy at most",
		grouped(float64(plan.companies)), grouped(float64(plan.companies*plan.customers)), plan.seed, plan.cores, 100*plan.busy)}
	for _, habit := range habits() {
		lines = append(lines, fmt.Sprintf("  %-24s %14s a day", habit.name, grouped(d.byHabit[habit.name])))
	}
	return append(
		lines,
		fmt.Sprintf("operations in the day        %14s", grouped(d.operations)),
		fmt.Sprintf("busiest second               %14s operations, %s commits, %s MB of WAL",
			grouped(d.busiest), grouped(d.peak.commits), grouped(d.peak.wal/1e6)),
		fmt.Sprintf("processor time of the day    %14s hours of ours, %s of PostgreSQL's",
			grouped(d.sum.app/microsecs/3600), grouped(d.sum.database/microsecs/3600)),
		fmt.Sprintf("cores in the busiest second  %14.1f of ours, %.1f of PostgreSQL's", d.peak.app/microsecs, d.peak.database/microsecs),
		fmt.Sprintf("midnight of the largest zone %14.1f core hours of ours, %.1f of PostgreSQL's",
			d.waiting.app/microsecs/3600, d.waiting.database/microsecs/3600),
		fmt.Sprintf("WAL in the day               %14s GB", grouped(d.sum.wal/1e9)),
		fmt.Sprintf("data on the disk             %14s GB", grouped(float64(plan.companies*plan.customers)*customerBytes/1e9)),
		fmt.Sprintf("largest company              %14s customers", grouped(float64(d.largest))),
		fmt.Sprintf("machines                     %14d for the program, %d for PostgreSQL (the fullest has %.2f of the mean)",
			needed.app, needed.database, needed.fullest),
	)
}

// grouped prints 1234567 as 1,234,567.
func grouped(number float64) string {
	text := fmt.Sprintf("%.0f", number)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
