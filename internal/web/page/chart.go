package page

import (
	"strconv"
	"strings"

	"carteira/internal/platform/money"
)

// Bar is one bar of a chart.
type Bar struct {
	Label string // under it
	Title string // what it says when pointed at, and to screen readers
	Value money.Cents
	Note  bool        // highlighted, such as today's
	Ghost money.Cents // what it is held against, such as the same day of last month; negative: nothing
}

// Bars is a bar chart with its geometry, drawn by the partial bars as SVG. Across
// it is measured in hundredths of a percent, so that it is as wide as its place,
// and down in pixels, so that its letters are as large as those around it.
type Bars struct {
	Title   string
	Height  int
	Columns []Column
	Lines   []Line
	Ghosts  []Segment // the line of what the bars are held against
	Empty   bool
}

// Segment is a piece of a line, from a point to another.
type Segment struct{ X1, Y1, X2, Y2 int }

// Column is a bar with its position.
type Column struct {
	Bar
	X, Y, W, H, Middle int
	Shown              bool // its label has room
}

// Line is a line across the chart with its amount.
type Line struct {
	Y     int
	Value money.Cents
}

const (
	chartWidth, chartHeight = 10_000, 220
	chartLeft, chartBottom  = 1300, 24
	chartTop                = 10
)

// NewBars lays a chart out.
func NewBars(title string, bars []Bar) Bars {
	c := Bars{Title: title, Height: chartHeight, Empty: true}
	var most money.Cents
	for _, bar := range bars {
		most = max(most, bar.Value, bar.Ghost)
	}
	c.Empty = most == 0
	top := roundUp(most)
	plot := chartHeight - chartBottom - chartTop
	y := func(cents money.Cents) int {
		return chartTop + plot - int(int64(plot)*int64(cents)/int64(max(top, 1)))
	}
	for n := range money.Cents(5) {
		c.Lines = append(c.Lines, Line{y(top * n / 4), top * n / 4})
	}
	step := (chartWidth - chartLeft) / max(len(bars), 1)
	every := max(1, (len(bars)+9)/10)
	var before Column
	for i, bar := range bars {
		height := max(0, chartTop+plot-y(bar.Value)) // a day on which more went back than came has no bar
		if bar.Value > 0 {
			height = max(height, 2)
		}
		x, w := chartLeft+i*step, max(step*7/10, 2)
		c.Columns = append(c.Columns, Column{bar, x, chartTop + plot - height, w, height, x + w/2, i%every == 0})
		if i > 0 && bar.Ghost >= 0 && before.Ghost >= 0 && most > 0 {
			c.Ghosts = append(c.Ghosts, Segment{before.Middle, y(before.Ghost), x + w/2, y(bar.Ghost)})
		}
		before = c.Columns[i]
	}
	return c
}

// roundUp is the next amount with round quarters.
func roundUp(cents money.Cents) money.Cents {
	for unit := money.Cents(100); ; unit *= 10 {
		for _, times := range []money.Cents{4, 6, 8, 10, 12, 16, 20, 24, 28, 32} {
			if unit*times >= cents {
				return unit * times
			}
		}
	}
}

// Stack is one bar of parts, one upon the other.
type Stack struct {
	Label, Title string
	Parts        []money.Cents // from the bottom up
}

// Stacks is a chart of stacked bars, laid out.
type Stacks struct {
	Title   string
	Height  int
	Columns []StackColumn
	Lines   []Line
	Empty   bool
}

// StackColumn is a stacked bar with its position.
type StackColumn struct {
	Stack
	X, W, Middle int
	Second       bool // its label is left out where there is room for half of them
	Boxes        []Box
}

// Box is a part of a stacked bar; Part is its number, from the bottom up.
type Box struct{ Part, Y, H int }

// NewStacks lays a chart of stacked bars out. A part below zero has no box.
func NewStacks(title string, stacks []Stack) Stacks {
	c := Stacks{Title: title, Height: chartHeight}
	var most money.Cents
	for _, stack := range stacks {
		var sum money.Cents
		for _, part := range stack.Parts {
			sum += max(0, part)
		}
		most = max(most, sum)
	}
	c.Empty = most == 0
	top, plot := roundUp(most), chartHeight-chartBottom-chartTop
	tall := func(cents money.Cents) int {
		return int(int64(plot) * int64(max(0, cents)) / int64(max(top, 1)))
	}
	for n := range money.Cents(5) {
		c.Lines = append(c.Lines, Line{chartTop + plot - tall(top*n/4), top * n / 4})
	}
	step := (chartWidth - chartLeft) / max(len(stacks), 1)
	for i, stack := range stacks {
		column := StackColumn{Stack: stack, X: chartLeft + i*step, W: max(step*7/10, 2), Second: i%2 == 1}
		column.Middle = column.X + column.W/2
		foot := chartTop + plot
		for part, amount := range stack.Parts {
			height := tall(amount)
			foot -= height
			column.Boxes = append(column.Boxes, Box{part, foot, height})
		}
		c.Columns = append(c.Columns, column)
	}
	return c
}

// percent writes hundredths of a percent.
func percent(hundredths int) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + "%"
}

// rough writes an amount in few letters: 400, 2,4 mil, 1,2 mi.
func (l Lang) rough(cents money.Cents) string {
	for _, unit := range []struct {
		cents money.Cents
		text  string
	}{{100_000_000, "%s million"}, {100_000, "%sk"}} {
		if cents >= unit.cents {
			tenths := strconv.FormatFloat(float64(cents*10/unit.cents)/10, 'f', -1, 64)
			return l.T(unit.text, strings.Replace(tenths, ".", ",", 1))
		}
	}
	return FormatInt(int64(cents / 100))
}
