// Package sheet reads customers from the CSV files that people have: saved by
// a spreadsheet, exported by another system, written by a program. It finds out
// the encoding and the delimiter, gives columns the API's field names and
// values the API's spelling, and holds one record at a time. It does not own
// what a customer must have: that is package customer, for which a row is one
// more form.
package sheet

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/text"
)

// maxRecord bounds one record, line breaks within quotes included. The longest
// customer has a quarter of it; without a bound, a quote that is never closed
// would bring the whole file into memory.
const maxRecord = 128 << 10

// errTooLong ends the reading: where the next record begins cannot be known.
var errTooLong = errors.New("is longer than 128 KiB: perhaps a quote is never closed")

// Reader reads the rows of one file.
type Reader struct {
	// Columns are the file's, in order. A caller that lets people choose the
	// columns sets Field before the first row is read.
	Columns []Column
	Phones  Phones

	csv   *csv.Reader
	limit *io.LimitedReader
	line  int
	bare  bool     // no record names the columns
	first []string // the record that was taken for a header and is a customer
}

// Column is a column of the file.
type Column struct {
	Heading string // as the file has it
	Field   string // the API's name; "": the column is passed over
}

// Row is a record of the file.
type Row struct {
	Line     int               // of the file, where the record begins
	Values   map[string]string // by field; empty cells are left out
	Faults   fault.Fields      // what could not be read, under "" what is wrong with the whole line
	Warnings fault.Fields      // what was left out of a value
}

// Open finds out how the file is written and reads its header.
func Open(r io.Reader) (*Reader, error) {
	decoded, err := decode(r)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(decoded, maxRecord)
	start, err := buffered.Peek(maxRecord)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	limit := &io.LimitedReader{R: buffered}
	found := layoutOf(start)
	reader := &Reader{csv: csv.NewReader(limit), limit: limit}
	reader.csv.Comma = found.comma
	reader.csv.FieldsPerRecord = -1
	reader.csv.ReuseRecord = true
	return reader, reader.readHeader(found, start)
}

// readHeader reads the names of the columns, which stand after some records
// that do not matter. A file without them begins with a customer.
func (s *Reader) readHeader(found layout, start []byte) error {
	header, err := s.record()
	for preface := found.header; preface > 0 && err == nil; preface-- {
		header, err = s.record()
	}
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty; its first line must name the columns")
	case err != nil:
		return fmt.Errorf("the header cannot be read: %w", err)
	}
	if strings.ContainsRune(strings.Join(header, ""), 0) {
		return errors.New("the file is not text: it has NUL bytes in its first line")
	}
	if isData(header) {
		s.first = slices.Clone(header)
	}
	if s.bare = s.first != nil || isLetters(header); s.bare {
		s.Columns = guessColumns(start, found.comma, len(header))
	} else {
		s.Columns = columnsOf(header)
	}
	return nil
}

// record reads the next record, whatever it holds.
func (s *Reader) record() ([]string, error) {
	if first := s.first; first != nil {
		s.first = nil
		return first, nil
	}
	s.limit.N = maxRecord
	fields, err := s.csv.Read()
	if s.limit.N <= 0 { // it looks like the end of the file
		return nil, fmt.Errorf("the record after line %d %w", s.line, errTooLong)
	}
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		s.line = bad.StartLine
	} else if err == nil {
		s.line, _ = s.csv.FieldPos(0)
	}
	return readable(fields), err
}

// Check says what the columns lack.
func (s *Reader) Check() error {
	if named(s.Columns) {
		return nil
	}
	return fmt.Errorf("no column has the customer's name; a heading must be one of: %s",
		strings.Join(headings[0].names, ", "))
}

// named reports whether a column has the customer's name.
func named(columns []Column) bool {
	return slices.ContainsFunc(columns, func(column Column) bool { return column.Field == "name" })
}

// maxWarnings bounds what a hostile header can have to say.
const maxWarnings = 50

// Warnings are about columns that are passed over or share a field.
func (s *Reader) Warnings() []string {
	var warnings []string
	first := map[string]string{}
	for i, column := range s.Columns {
		switch {
		case len(warnings) == maxWarnings:
			return append(warnings, "more columns like these")
		case s.bare && column.Field != "":
			warnings = append(warnings, fmt.Sprintf("no line names the columns; by its values, %s is read as %s", column.Heading, column.Field))
		case column.Field == "" && !knows(column.Heading) && column.Heading != "":
			warnings = append(warnings, fmt.Sprintf("column %d, %q, is not known and is passed over%s", i+1,
				shorten(column.Heading), suggestion(column.Heading)))
		case column.Field != "" && first[column.Field] != "":
			warnings = append(warnings, fmt.Sprintf(
				"columns %q and %q are both read as %s; where both are filled, the first counts",
				shorten(first[column.Field]), shorten(column.Heading), column.Field))
		case column.Field != "":
			first[column.Field] = column.Heading
		}
	}
	return warnings
}

// knows reports whether a column is passed over without a warning: it is part
// of the record, or a person chose so.
func knows(heading string) bool {
	_, known := fieldOf(heading)
	return known
}

func suggestion(heading string) string {
	if near := text.Near(text.Words(heading), slices.Sorted(maps.Keys(fields))); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// shorten keeps a column that is no heading from filling the screen.
func shorten(heading string) string {
	if runes := []rune(heading); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return heading
}

// Next returns the next row that is not empty; io.EOF after the last. Any
// other error is the end too; what is wrong with one line is in the row.
func (s *Reader) Next() (Row, error) {
	for {
		fields, err := s.record()
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return s.refused(misquoted(bad)), nil
		}
		if err != nil {
			return Row{}, err
		}
		if blank(fields) || s.isHeader(fields) || s.isSum(fields) {
			continue
		}
		if len(fields) > len(s.Columns) && blank(fields[len(s.Columns):]) {
			fields = fields[:len(s.Columns)]
		}
		for len(fields) < len(s.Columns) { // spreadsheets leave out the empty cells at the end
			fields = append(fields, "")
		}
		if len(fields) > len(s.Columns) {
			return s.refused(fmt.Sprintf("has %d fields where the header has %d", len(fields), len(s.Columns))), nil
		}
		return s.row(fields), nil
	}
}

// Records walks the records that are left as they are in the file, without empty
// ones, with the line where each begins. One that cannot be read has no fields. The
// fields are good until the next record.
func (s *Reader) Records() iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		for {
			fields, err := s.record()
			switch _, misquoted := errors.AsType[*csv.ParseError](err); {
			case misquoted:
				fields = nil
			case err != nil:
				return
			case blank(fields):
				continue
			}
			if !yield(s.line, fields) {
				return
			}
		}
	}
}

// All walks the rows that are left, up to the first error.
func (s *Reader) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for {
			row, err := s.Next()
			if errors.Is(err, io.EOF) || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (s *Reader) refused(reason string) Row {
	row := Row{Line: s.line}
	row.Faults.Add("", reason)
	return row
}

// isHeader finds the header again, which printed lists have on each page.
func (s *Reader) isHeader(fields []string) bool {
	return slices.EqualFunc(fields, s.Columns, func(cell string, column Column) bool {
		return strings.TrimSpace(cell) == column.Heading
	})
}

func (s *Reader) row(fields []string) Row {
	row := Row{Line: s.line, Values: make(map[string]string, len(fields))}
	used, phoned, surname := 0, false, ""
	for i, column := range s.Columns {
		switch {
		case column.Field == "":
			continue
		case column.called("name", "sobrenome", "last name", "surname"):
			surname = tidy(fields[i])
		case column.Field == "whatsapp" && !phoned:
			phoned = true
			s.read(&row, column.Field, s.phone(fields))
		case column.Field != "whatsapp" && row.Values[column.Field] == "":
			s.read(&row, column.Field, tidy(fields[i]))
		}
		used++
	}
	if surname != "" {
		row.Values["name"] = strings.TrimSpace(row.Values["name"] + " " + surname)
	}
	row.splitAddress()
	if len(row.Values) == 1 && row.Values["name"] != "" && used > 2 {
		row.Warnings.Add("name", "has nothing else in its line: perhaps it is no customer")
	}
	return row
}

// phone is the cell of the columns of phones that is taken.
func (s *Reader) phone(fields []string) string {
	var cells []string
	area := ""
	for i, column := range s.Columns {
		cell := tidy(fields[i])
		switch {
		case column.Field != "whatsapp" || cell == "" || isAbsent(cell):
			continue
		case column.called("whatsapp", "ddd") && phone.IsArea(cell): // the numbers of the next column begin with it
			area = cell
			continue
		}
		if _, err := phone.Parse(cell); errors.Is(err, phone.ErrNoArea) {
			cell = area + cell
		}
		cells = append(cells, cell)
	}
	return s.Phones.best(cells)
}

// read puts a cell into a row, spelled as the API takes it.
func (s *Reader) read(row *Row, field, cell string) {
	spell := spellers[field]
	if field == "whatsapp" {
		spell = s.Phones.spell
	}
	if cell == "" {
		return
	}
	spelled, err := spelling{value: cell}, error(nil)
	if spell != nil {
		spelled, err = spell(cell)
	}
	switch {
	case err == nil:
		row.Values[field] = spelled.value
	case !isAbsent(cell):
		row.Values[field] = cell
		row.Faults.Add(field, err.Error())
	}
	if spelled.warning != "" {
		row.Warnings.Add(field, spelled.warning)
	}
}

// misquoted says where the trouble ends, since all the lines up to there were
// swallowed by it.
func misquoted(parseError *csv.ParseError) string {
	reason := `has a quote inside a field; write the field in quotes, and the quote twice ("")`
	if errors.Is(parseError.Err, csv.ErrQuote) {
		reason = `has a quoted field that is not closed, or goes on after its closing quote; a quote inside is written twice ("")`
	}
	if parseError.Line > parseError.StartLine {
		reason += fmt.Sprintf("; the lines up to %d are lost with it", parseError.Line)
	}
	return reason
}

func blank(fields []string) bool {
	return !slices.ContainsFunc(fields, func(field string) bool { return strings.TrimSpace(field) != "" })
}
