// Package sheet reads customers from the CSV files that people have: saved by
// a spreadsheet, exported by another system, written by a program. It finds out
// the encoding and the delimiter, gives columns the API's field names and
// values the API's spelling, and holds one record at a time. It does not own
// what a customer must have: that is package customer, for which a row is one
// more form.
package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"carteira/internal/platform/fault"
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
	// Columns are the file's, in order. Whoever asks people which column is
	// which sets Field before the first row is read.
	Columns []Column

	csv   *csv.Reader
	limit *limiter
	line  int
}

// Column is a column of the file.
type Column struct {
	Heading string // as the file has it
	Field   string // the API's name; "": the column is passed over
}

// Row is a record of the file.
type Row struct {
	Line   int               // of the file, where the record begins
	Values map[string]string // by field; empty cells are left out
	Faults fault.Fields      // what could not be read, under "" what is wrong with the whole line
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
	limit := &limiter{r: buffered}
	s := &Reader{csv: csv.NewReader(limit), limit: limit}
	s.csv.Comma = delimiter(start)
	s.csv.FieldsPerRecord = -1
	s.csv.ReuseRecord = true
	if err := s.readHeader(); err != nil {
		return nil, err
	}
	return s, nil
}

// delimiter is the one that makes the most of the header: the most headings
// that are understood, or else the most columns.
func delimiter(start []byte) rune {
	best, most := ',', 0
	for _, candidate := range []rune{',', ';', '\t'} {
		r := csv.NewReader(bytes.NewReader(start))
		r.Comma, r.LazyQuotes = candidate, true
		header, _ := r.Read() // what is wrong with it is found on the real reading
		score := len(header)
		for _, heading := range header {
			if _, known := fieldOf(heading); known {
				score += maxRecord
			}
		}
		if score > most {
			best, most = candidate, score
		}
	}
	return best
}

func (s *Reader) readHeader() error {
	header, err := s.record()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty; its first line must name the columns")
	case err != nil:
		return fmt.Errorf("the header cannot be read: %w", err)
	}
	for _, heading := range header {
		if strings.ContainsRune(heading, 0) {
			return errors.New("the file is not text: it has NUL bytes in its first line")
		}
		field, _ := fieldOf(heading)
		s.Columns = append(s.Columns, Column{strings.TrimSpace(heading), field})
	}
	return nil
}

// record reads the next record, whatever it holds.
func (s *Reader) record() ([]string, error) {
	s.limit.left = maxRecord
	fields, err := s.csv.Read()
	if s.limit.exceeded {
		return nil, fmt.Errorf("the record after line %d %w", s.line, errTooLong)
	}
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		s.line = bad.StartLine
	} else if err == nil {
		s.line, _ = s.csv.FieldPos(0)
	}
	return fields, err
}

// Check says what the columns lack.
func (s *Reader) Check() error {
	for _, c := range s.Columns {
		if c.Field == "name" {
			return nil
		}
	}
	return fmt.Errorf("no column has the customer's name; a heading must be one of: %s", strings.Join(headings["name"], ", "))
}

// maxWarnings bounds what a hostile header can have to say.
const maxWarnings = 50

// Warnings tells about columns that are passed over or share a field.
func (s *Reader) Warnings() []string {
	var warnings []string
	first := map[string]string{}
	for i, c := range s.Columns {
		_, known := fieldOf(c.Heading)
		switch {
		case len(warnings) == maxWarnings:
			return append(warnings, "more columns like these")
		case c.Field == "" && !known && c.Heading != "":
			warnings = append(warnings, fmt.Sprintf("column %d, %q, is not known and is passed over%s",
				i+1, shorten(c.Heading), suggestion(c.Heading)))
		case c.Field != "" && first[c.Field] != "":
			warnings = append(warnings, fmt.Sprintf("columns %q and %q are both read as %s; where both are filled, the first counts",
				shorten(first[c.Field]), shorten(c.Heading), c.Field))
		case c.Field != "":
			first[c.Field] = c.Heading
		}
	}
	return warnings
}

func suggestion(heading string) string {
	if near := text.Near(key(heading), spellings); near != "" {
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
// other error is the end too; what is wrong with one line stands in the row.
func (s *Reader) Next() (Row, error) {
	for {
		fields, err := s.record()
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return s.refused(misquoted(bad)), nil
		}
		if err != nil {
			return Row{}, err
		}
		if blank(fields) {
			continue
		}
		if len(fields) != len(s.Columns) {
			return s.refused(fmt.Sprintf("has %d fields where the header has %d", len(fields), len(s.Columns))), nil
		}
		return s.row(fields), nil
	}
}

// Sample reads the next records as they stand in the file, up to n, for people
// who are to say which column is which. It stops at what cannot be read.
func (s *Reader) Sample(n int) [][]string {
	var records [][]string
	for len(records) < n {
		fields, err := s.record()
		if err != nil {
			break
		}
		if !blank(fields) {
			records = append(records, slices.Clone(fields))
		}
	}
	return records
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
	r := Row{Line: s.line}
	r.Faults.Add("", reason)
	return r
}

func (s *Reader) row(fields []string) Row {
	r := Row{Line: s.line, Values: make(map[string]string, len(fields))}
	for i, c := range s.Columns {
		value := strings.TrimSpace(fields[i])
		if c.Field == "" || value == "" || r.Values[c.Field] != "" {
			continue
		}
		if spell := spellers[c.Field]; spell != nil {
			spelled, err := spell(value)
			if err != nil {
				r.Faults.Add(c.Field, err.Error())
			} else {
				value = spelled
			}
		}
		r.Values[c.Field] = value
	}
	return r
}

// misquoted says where the trouble ends, since all the lines up to there were
// swallowed by it.
func misquoted(e *csv.ParseError) string {
	reason := `has a quote inside a field; write the field in quotes, and the quote twice ("")`
	if errors.Is(e.Err, csv.ErrQuote) {
		reason = `has a quoted field that is not closed, or goes on after its closing quote; a quote inside is written twice ("")`
	}
	if e.Line > e.StartLine {
		reason += fmt.Sprintf("; the lines up to %d are lost with it", e.Line)
	}
	return reason
}

func blank(fields []string) bool {
	for _, f := range fields {
		if strings.TrimSpace(f) != "" {
			return false
		}
	}
	return true
}

// limiter fails a record that is too long, before it is all in memory.
type limiter struct {
	r        io.Reader
	left     int
	exceeded bool
}

func (l *limiter) Read(p []byte) (int, error) {
	if l.left <= 0 {
		l.exceeded = true
		return 0, errTooLong
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
