package panel

import (
	"html/template"
	"slices"

	"carteira/internal/web/page"
)

// Long lists write their rows by hand: of the time that a page of fifty took,
// two thirds were html/template's, most of it for these rows.

// cell is one column of a list.
type cell[T any] struct {
	column string // of the arrangement; "": everybody has it
	class  string
	label  string // what a narrow screen shows before it
	write  func(m *page.Markup, at int, record T)
}

// shownCells leaves out the columns that the user has hidden.
func shownCells[T any](arranged arrangement, cells []cell[T]) []cell[T] {
	return slices.DeleteFunc(cells, func(cell cell[T]) bool { return cell.column != "" && !arranged.Shows(cell.column) })
}

// tableRows writes the rows of a list. What every row begins its cells with is
// escaped once.
func tableRows[T any](list []T, cells []cell[T]) template.HTML {
	begins := make([]page.Markup, len(cells))
	for n, cell := range cells {
		cell.begin(&begins[n])
	}
	var m page.Markup
	for at, record := range list {
		m.Raw(`<tr>`)
		for n, cell := range cells {
			m.Add(&begins[n])
			cell.write(&m, at, record)
			m.Raw(`</td>`)
		}
		m.Raw(`</tr>`)
	}
	return m.HTML()
}

func (c cell[T]) begin(m *page.Markup) {
	m.Raw(`<td`)
	if c.class != "" {
		m.Raw(` class="`)
		m.Value(c.class)
		m.Raw(`"`)
	}
	if c.label != "" {
		m.Raw(` data-label="`)
		m.Value(c.label)
		m.Raw(`"`)
	}
	m.Raw(`>`)
}

// cut is a text that ends in dots where there is no room for it.
func cut(m *page.Markup, text string) {
	m.Raw(`<span class="cut">`)
	m.Value(text)
	m.Raw(`</span>`)
}
