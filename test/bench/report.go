//go:build linux

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/platform/sqldb"
)

var engineNames = map[sqldb.Engine]string{sqldb.SQLite: "SQLite", sqldb.Postgres: "PostgreSQL"}

// report is what was measured, one line each, printed at the end; a line is shown
// on the way too.
type report [][]string

// add takes a figure with its floor; floor "" judges nothing.
func (r *report) add(engine sqldb.Engine, what, measured, floor string, met ...bool) {
	verdict := ""
	if floor != "" {
		verdict = "met"
		if slices.Contains(met, false) {
			verdict = "MISSED"
		}
	}
	row := []string{engineNames[engine] + ": " + what, measured, floor, verdict}
	fmt.Println(strings.Join(slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" }), " · "))
	*r = append(*r, row)
}

func (r report) print() {
	rows := append([][]string{{"", "measured", "floor", ""}}, r...)
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Println()
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + " ")
		}
		fmt.Println(line.String() + "|")
	}
}

func median[T cmp.Ordered](list []T) T {
	if len(list) == 0 {
		var none T
		return none
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// grouped prints 1000000 as 1,000,000.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func rate(perSecond float64) string { return grouped(int(perSecond + 0.5)) }

func millis(span time.Duration) string { return fmt.Sprintf("%.1f ms", span.Seconds()*1000) }

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
