//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/platform/sqldb"
)

// table prints lines whose columns stand under each other: the first to the
// left, figures to the right.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) print() {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Println(strings.TrimRight(b.String(), " "))
	}
	fmt.Println()
}

var engineNames = map[sqldb.Engine]string{sqldb.SQLite: "SQLite", sqldb.Postgres: "PostgreSQL"}

var kindNames = map[string]string{
	carteira: "Carteira",
	direct:   "handler with the same SQL",
}

// printWork shows a work at all sizes. On PostgreSQL the processor time of its
// processes stands behind the server's.
func (b *bench) printWork(w work, sets []*dataset) {
	engine := sets[0].engine
	cpu := "CPU µs"
	if engine == sqldb.Postgres {
		cpu = "CPU µs + PostgreSQL's"
	}
	var t table
	same := "of same SQL"
	if !slices.Contains(sets[0].kinds(), direct) {
		same = ""
	}
	t.add(engineNames[engine]+": "+w.name, "requests/s", "of bare", same, cpu, same)
	raw := b.results.median(key{engine, w.name, sets[0].size, bare})
	t.add("  bare handler, same bytes", rate(raw.perSecond), "", "", spent(engine, raw), "")
	for _, d := range sets {
		beside := b.results.median(key{engine, w.name, d.size, direct})
		for _, kind := range d.kinds() {
			s := b.results.median(key{engine, w.name, d.size, kind})
			row := []string{
				fmt.Sprintf("  %s customers, %s", grouped(d.size), kindNames[kind]),
				rate(s.perSecond), ratio(s.perSecond / raw.perSecond), "", spent(engine, s), "",
			}
			if kind == carteira && same != "" {
				row[3], row[5] = ratio(s.perSecond/beside.perSecond), ratio(s.allCPU()/beside.allCPU())
			}
			t.add(row...)
		}
	}
	t.print()
}

func rate(perSecond float64) string { return grouped(int(perSecond + 0.5)) }

func ratio(r float64) string { return fmt.Sprintf("%.2f", r) }

func spent(engine sqldb.Engine, s sample) string {
	if engine == sqldb.Postgres && s.dbCPU > 0 {
		return rate(s.cpu) + " + " + rate(s.dbCPU)
	}
	return rate(s.cpu)
}

// printFlat shows what grows with the number of customers.
func (b *bench) printFlat(small, big *dataset) {
	var t table
	t.add(engineNames[big.engine]+": median ms of one request at a time", grouped(small.size), grouped(big.size), "ratio", "of page 1")
	first := b.latency(big, "page 1")
	for _, l := range b.lines() {
		few, many := b.latency(small, l.name), b.latency(big, l.name)
		row := []string{"  " + l.name, millis(few), millis(many), fmt.Sprintf("%.1f", many.Seconds()/few.Seconds()), ""}
		if l.page && first > 0 {
			row[4] = fmt.Sprintf("%.1f", many.Seconds()/first.Seconds())
		}
		t.add(row...)
	}
	t.print()
}

func (b *bench) latency(d *dataset, line string) time.Duration {
	return median(b.flatness[flatKey{d.engine, line, d.size}])
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
