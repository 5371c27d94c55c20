package sheet

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"carteira/internal/platform/address"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/text"
	"carteira/internal/platform/workbook"
)

// kind is a field that is known by its values.
type kind struct {
	field string
	is    func(cell string) bool
}

// kinds are in the order in which they are tried, the surest first.
var kinds = []kind{
	{"email", func(cell string) bool { return strings.Contains(cell, "@") }},
	{"data_de_vencimento", func(cell string) bool { return strings.ContainsFunc(cell, isDateSeparator) && reads(spellDate, cell) }},
	{"cpf_cnpj", func(cell string) bool { return reads(taxid.Parse, cell) }},
	{"address.cep", regexp.MustCompile(`^\d{5}-\d{3}$`).MatchString},
	{"whatsapp", func(cell string) bool {
		_, err := Phones{}.spell(cell)
		return err == nil || errors.Is(err, phone.ErrNinth) || errors.Is(err, phone.ErrNoArea)
	}},
	// Bare digits may be anything.
	{"value", func(cell string) bool { return strings.ContainsAny(cell, ",.$") && reads(spellAmount, cell) }},
	{"address.street", regexp.MustCompile(`(?i)^(rua|r\.|av\.?|avenida|travessa|praça|estrada|rodovia|alameda)\s`).MatchString},
}

func reads(spell func(string) (string, error), cell string) bool {
	_, err := spell(cell)
	return err == nil
}

// isData finds a first record that is a customer: the file names no columns.
func isData(record []string) bool {
	known := knownHeadings(record)
	return known < 2 && slices.ContainsFunc(record, func(cell string) bool {
		return slices.ContainsFunc(kinds, func(kind kind) bool { return kind.is(tidy(cell)) })
	}) && !slices.ContainsFunc(record, func(cell string) bool {
		field, _ := fieldOf(cell)
		return field == "name"
	})
}

// isLetters finds the header that the lines left out of a file without one are given.
func isLetters(record []string) bool {
	first := record[:min(2, len(record))]
	return slices.Equal(first, []string{"A", "B"}[:len(first)])
}

// guessColumns are the columns of a file that does not name them, by what its first records have in each.
func guessColumns(start []byte, comma rune, count int) []Column {
	cells := make([][]string, count)
	for _, record := range beginning(start, comma, 30) {
		for n, cell := range record[:min(count, len(record))] {
			if cell = tidy(cell); cell != "" && cell != workbook.ColumnName(n) {
				cells[n] = append(cells[n], cell)
			}
		}
	}
	columns, taken := make([]Column, count), map[string]bool{}
	for n := range columns {
		field := kindOf(cells[n])
		if taken[field] && field != "whatsapp" {
			field = ""
		}
		columns[n], taken[field] = Column{workbook.ColumnName(n), field}, true
	}
	nameColumns(columns, cells)
	return columns
}

// kindOf is what three quarters of a column's values are; "": no kind.
func kindOf(cells []string) string {
	for _, kind := range kinds {
		alike := 0
		for _, cell := range cells {
			if kind.is(cell) {
				alike++
			}
		}
		if alike > 0 && 4*alike >= 3*len(cells) {
			return kind.field
		}
	}
	return ""
}

// nameColumns finds the names among columns of words, which differ, and the plans, which repeat.
func nameColumns(columns []Column, cells [][]string) {
	for n := range columns {
		worded := 0
		different := map[string]bool{}
		for _, cell := range cells[n] {
			different[text.Fold(cell)] = true
			if strings.ContainsFunc(cell, unicode.IsLetter) {
				worded++
			}
		}
		if columns[n].Field != "" || worded == 0 || worded < len(cells[n]) {
			continue
		}
		field := "name"
		if 2*len(different) <= len(cells[n]) {
			field = "plan"
		}
		if !slices.ContainsFunc(columns, func(column Column) bool { return column.Field == field }) {
			columns[n].Field = field
		}
	}
}

// splitAddress takes an address apart that the file has in one cell. What has a column of its own is left to it.
func (r *Row) splitAddress() {
	line := r.Values["address.street"]
	if line == "" || r.Values["address.number"] != "" {
		return
	}
	found := address.Split(line)
	for _, name := range address.Parts() {
		field, part := "address."+name, *found.Part(name)
		if name != "street" && part != "" && r.Values[field] != "" && !strings.EqualFold(r.Values[field], part) {
			return // the cell and the columns say different things
		}
	}
	for _, name := range address.Parts() {
		if part := *found.Part(name); part != "" {
			r.Values["address."+name] = part
		}
	}
}
