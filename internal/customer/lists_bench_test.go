package customer

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// BenchmarkLists measures lists and searches of 10,000 and 100,000 customers, in
// milliseconds of this process's CPU: wall time means little on a shared
// machine. What PostgreSQL itself takes is not in it.
func BenchmarkLists(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			world := newWorld(b, sqldb.SQLite)
			world.offers(b, world.actor, "1month", "1week", "1year")
			random := rand.New(rand.NewPCG(3, 4))
			for range size / 1000 {
				world.populate(b, world.actor, crowd(random, 1000, 0, world.actor.Today(noon)))
				world.clock.Advance(time.Minute)
			}
			must(b, tally.Compact(b.Context(), world.db))
			world.benchLists(b, int64(size))
		})
	}
}

func (w *world) benchLists(b *testing.B, size int64) {
	b.Helper()
	middle := size / 100
	today := w.actor.Today(noon)
	for name, asked := range map[string]struct {
		Query
		page int64
	}{
		"first page":                 {page: 1},
		"middle":                     {page: middle},
		"middle by name":             {Query{Sort: "name"}, middle},
		"middle by due date":         {Query{Sort: "due_date"}, middle},
		"first by due date":          {Query{Sort: "-due_date"}, 1},
		"middle by change":           {Query{Sort: "-updated_at"}, middle},
		"status":                     {Query{Filter: Filter{Status: Active}}, 1},
		"middle of a status":         {Query{Filter: Filter{Status: Active}}, middle / 2},
		"rare day":                   {Query{Filter: Filter{Status: DueToday}}, 1},
		"rare day by name":           {Query{Filter: Filter{Status: DueToday}, Sort: "name"}, 1},
		"status by name, middle":     {Query{Filter: Filter{Status: Expired}, Sort: "name"}, middle / 2},
		"plan, middle":               {Query{Filter: Filter{PlanID: 1}}, middle / 8},
		"plan and due range by name": {Query{Filter: Filter{PlanID: 1, DueFrom: today, DueTo: today.AddDays(30)}, Sort: "name"}, 1},
		"changed since, all":         {Query{Filter: Filter{UpdatedSince: 1}}, 1},
		"changed since, by change":   {Query{Filter: Filter{UpdatedSince: 1}, Sort: "updated_at"}, middle},
		"created":                    {Query{Filter: Filter{Figure: Figure{CreatedFrom: today}}}, 1},
		"created by name":            {Query{Filter: Filter{Figure: Figure{CreatedFrom: today}}, Sort: "name"}, 1},
		"recurring":                  {Query{Filter: Filter{Figure: Figure{Recurring: "true"}}}, 1},
		"moved by due date":          {Query{Filter: Filter{Figure: Figure{Moved: "new"}}, Sort: "due_date"}, 1},
		"tax id":                     {Query{Filter: Filter{CpfCnpj: "52998224725"}}, 1},
		"search one letter":          {Query{Filter: Filter{Search: "a"}}, 1},
		"search common name":         {Query{Filter: Filter{Search: "ana"}}, 1},
		"search rare":                {Query{Filter: Filter{Search: "alvaro 77"}}, 1},
		"search beside a status":     {Query{Filter: Filter{Search: "ana", Status: Active}}, 1},
		"search by name":             {Query{Filter: Filter{Search: "ana"}, Sort: "name"}, 1},
		"search beside plan by due":  {Query{Filter: Filter{Search: "a", PlanID: 1}, Sort: "due_date"}, middle / 8},
	} {
		b.Run(name, func(b *testing.B) {
			before := processCPU(b)
			for b.Loop() {
				_, _, err := w.Sorted(b.Context(), w.actor, asked.Query, input.Page{Number: asked.page, Size: 50})
				must(b, err)
			}
			b.ReportMetric(float64((processCPU(b)-before).Microseconds())/1000/float64(b.N), "CPU-ms/op")
		})
	}
}

func processCPU(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
