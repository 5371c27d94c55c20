//go:build linux

package main

import (
	"fmt"
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
		var out strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				out.WriteString(cell + pad)
			} else {
				out.WriteString("  " + pad + cell)
			}
		}
		fmt.Println(strings.TrimRight(out.String(), " "))
	}
	fmt.Println()
}

var engineNames = map[sqldb.Engine]string{sqldb.SQLite: "SQLite", sqldb.Postgres: "PostgreSQL"}

var kindNames = map[string]string{
	carteira:   "Carteira",
	direct:     "handler with the same SQL",
	pocketBase: "PocketBase",
}

// printWork shows a work at all sizes. On PostgreSQL the processor time of its
// processes stands behind the server's.
func (b *bench) printWork(work work, sets []*dataset) {
	engine := sets[0].engine
	cpu := "CPU µs"
	if engine == sqldb.Postgres {
		cpu = "CPU µs + PostgreSQL's"
	}
	var t table
	rival, same := b.rival(engine)
	t.add(engineNames[engine]+": "+work.name, "requests/s", "of bare", same, cpu, same)
	raw := b.results.median(key{engine, work.name, sets[0].size, bare})
	t.add("  bare handler, same bytes", rate(raw.perSecond), "", "", spent(engine, raw), "")
	for _, set := range sets {
		beside := b.results.median(key{engine, work.name, set.size, rival})
		for _, kind := range b.kinds(set) {
			sample := b.results.median(key{engine, work.name, set.size, kind})
			row := []string{
				fmt.Sprintf("  %s customers, %s", grouped(set.size), kindNames[kind]),
				rate(sample.perSecond), ratio(sample.perSecond / raw.perSecond), "", spent(engine, sample), "",
			}
			if kind == carteira && same != "" {
				row[3], row[5] = ratio(sample.perSecond/beside.perSecond), ratio(sample.allCPU()/beside.allCPU())
			}
			t.add(row...)
		}
	}
	t.print()
}

// rival is what the product is compared with on a database, and the head of
// that column; empty when there is none.
func (b *bench) rival(engine sqldb.Engine) (kind, head string) {
	switch {
	case engine == sqldb.Postgres:
		return direct, "of same SQL"
	case b.beside:
		return pocketBase, "of PocketBase"
	}
	return "", ""
}

func rate(perSecond float64) string { return grouped(int(perSecond + 0.5)) }

func ratio(r float64) string { return fmt.Sprintf("%.2f", r) }

func spent(engine sqldb.Engine, sample sample) string {
	if engine == sqldb.Postgres && sample.dbCPU > 0 {
		return rate(sample.cpu) + " + " + rate(sample.dbCPU)
	}
	return rate(sample.cpu)
}

// printFlat shows what grows with the number of customers.
func (b *bench) printFlat(small, big *dataset) {
	var t table
	t.add(engineNames[big.engine]+": median ms of one request at a time", grouped(small.size), grouped(big.size), "ratio", "of page 1")
	first := b.latency(big, "page 1")
	for _, line := range b.lines() {
		few, many := b.latency(small, line.name), b.latency(big, line.name)
		row := []string{"  " + line.name, millis(few), millis(many), fmt.Sprintf("%.1f", many.Seconds()/few.Seconds()), ""}
		if line.page && first > 0 {
			row[4] = fmt.Sprintf("%.1f", many.Seconds()/first.Seconds())
		}
		t.add(row...)
	}
	t.print()
}

func (b *bench) latency(dataset *dataset, line string) time.Duration {
	return median(b.flatness[flatKey{dataset.engine, line, dataset.size}])
}

func millis(span time.Duration) string { return fmt.Sprintf("%.2f", span.Seconds()*1000) }
