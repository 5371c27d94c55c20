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
// escaped once; a cell without anything in it needs no label.
func tableRows[T any](list []T, cells []cell[T]) template.HTML {
	full, empty := make([]page.Markup, len(cells)), make([]page.Markup, len(cells))
	for n, cell := range cells {
		begin(&full[n], cell.class, cell.label)
		begin(&empty[n], cell.class, "")
	}
	var m, inside page.Markup
	for at, record := range list {
		m.Raw(`<tr>`)
		for n, cell := range cells {
			inside.Reset()
			if cell.write(&inside, at, record); inside.Empty() {
				m.Add(&empty[n])
			} else {
				m.Add(&full[n])
			}
			m.Add(&inside)
			m.Raw(`</td>`)
		}
		m.Raw(`</tr>`)
	}
	return m.HTML()
}

func begin(m *page.Markup, class, label string) {
	m.Raw(`<td`)
	if class != "" {
		m.Raw(` class="`)
		m.Value(class)
		m.Raw(`"`)
	}
	if label != "" {
		m.Raw(` data-label="`)
		m.Value(label)
		m.Raw(`"`)
	}
	m.Raw(`>`)
}

// pickBox is the box by which a row is picked. name is how the page calls the
// element with the record's name, before its id.
func pickBox(m *page.Markup, name string, id int64) {
	m.Raw(`<input type="checkbox" name="id" value="`)
	m.Int(id)
	m.Raw(`" aria-labelledby="`)
	m.Value(name)
	m.Int(id)
	m.Raw(`">`)
}

// placeQuery is the query of a record's address that says where in the list it is.
func placeQuery(m *page.Markup, list string, at int64) {
	m.Raw(`?list=`)
	m.Query(list)
	m.Raw(`&amp;at=`)
	m.Int(at)
}

// cut is a text that ends in dots where there is no room for it.
func cut(m *page.Markup, text string) {
	m.Raw(`<span class="cut">`)
	m.Value(text)
	m.Raw(`</span>`)
}
