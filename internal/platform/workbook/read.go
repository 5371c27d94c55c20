// Package workbook reads and writes the cells of spreadsheets (.xlsx). It does not know what a sheet is about, and
// leaves formulas, colours and charts alone.
package workbook

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"strconv"
	"strings"

	"carteira/internal/platform/civil"
)

// What a file is refused for.
var (
	ErrTooLarge   = errors.New("the spreadsheet is too large when it is unpacked; save it as CSV")
	ErrUnreadable = errors.New("the spreadsheet cannot be read; open it and save it as CSV")
)

// maxColumns bounds a row: a cell further to the right is left out.
const maxColumns = 256

// Is reports whether a file is a workbook by its first bytes.
func Is(content []byte) bool { return bytes.HasPrefix(content, []byte("PK\x03\x04")) }

// Book is a workbook that is read.
type Book struct {
	Sheets []string // that are not hidden

	archive *zip.Reader
	left    int64 // bytes that may still be unpacked
	shared  []richText
	days    []bool // by style: a number is a day
	shift   int    // days that serials count from later than usual
}

// Row is a row of a sheet, with its cells as texts: numbers as people in Brazil write them, days as 31/12/2027,
// whatever format the cells show them in.
type Row struct {
	Number int // from 1
	Cells  []string
}

// Open reads what the sheets refer to. A file of some kilobytes can unpack to gigabytes: no more than limit bytes are
// unpacked, whatever its directory claims.
func Open(content []byte, limit int64) (*Book, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, ErrUnreadable
	}
	book := &Book{archive: archive, left: limit}
	for _, read := range []func() error{book.readSheets, book.readShared, book.readStyles} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return book, nil
}

func (b *Book) readSheets() error {
	var book struct {
		Settings struct {
			From1904 bool `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			ID    string `xml:"id,attr"`
			State string `xml:"state,attr"`
		} `xml:"sheets>sheet"`
	}
	var links struct {
		List []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := b.decode("xl/workbook.xml", &book); err != nil {
		return err
	}
	if err := b.decode("xl/_rels/workbook.xml.rels", &links); err != nil {
		return err
	}
	if book.Settings.From1904 {
		b.shift = days1904
	}
	targets := map[string]string{}
	for _, link := range links.List {
		targets[link.ID] = link.Target
	}
	for _, sheet := range book.Sheets {
		target, linked := targets[sheet.ID]
		if sheet.State == "hidden" || sheet.State == "veryHidden" || !linked {
			continue
		}
		if !strings.HasPrefix(target, "/") { // it is relative to the workbook
			target = "/xl/" + target
		}
		b.Sheets = append(b.Sheets, strings.TrimPrefix(path.Clean(target), "/"))
	}
	return nil
}

// richText is the text of a cell, in one piece or in runs of several fonts.
type richText struct {
	Text string   `xml:"t"`
	Runs []string `xml:"r>t"`
}

func (t richText) String() string { return t.Text + strings.Join(t.Runs, "") }

func (b *Book) readShared() error {
	var shared struct {
		List []richText `xml:"si"`
	}
	err := b.decode("xl/sharedStrings.xml", &shared)
	b.shared = shared.List
	return err
}

// format is a number format, or a style that has one.
type format struct {
	ID   int    `xml:"numFmtId,attr"`
	Code string `xml:"formatCode,attr"`
}

// readStyles finds out which styles show numbers as days.
func (b *Book) readStyles() error {
	var styles struct {
		Formats []format `xml:"numFmts>numFmt"`
		Cells   []format `xml:"cellXfs>xf"`
	}
	if err := b.decode("xl/styles.xml", &styles); err != nil {
		return err
	}
	days := map[int]bool{14: true, 15: true, 16: true, 17: true, 22: true} // those that every workbook has
	for _, own := range styles.Formats {
		days[own.ID] = strings.ContainsAny(noFormat.ReplaceAllString(own.Code, ""), "dyDY")
	}
	for _, style := range styles.Cells {
		b.days = append(b.days, days[style.ID])
	}
	return nil
}

// noFormat is what a format has besides its letters: quoted words, and in brackets colours, conditions, the currency.
var noFormat = regexp.MustCompile(`"[^"]*("|$)|\[[^\]]*(\]|$)`)

// decode reads a part of the file. One that is not there is empty.
func (b *Book) decode(name string, into any) error {
	part, err := b.archive.Open(name)
	if err == nil {
		err = errors.Join(xml.NewDecoder(&meter{part, &b.left}).Decode(into), part.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return readable(err)
}

// readable is what a person can be shown of a failure.
func readable(err error) error {
	if err == nil || errors.Is(err, ErrTooLarge) {
		return err
	}
	return ErrUnreadable
}

// meter fails once more was unpacked than a workbook may have.
type meter struct {
	io.Reader
	left *int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// cell is a cell as the file has it.
type cell struct {
	Ref    string   `xml:"r,attr"`
	Type   string   `xml:"t,attr"`
	Style  int      `xml:"s,attr"`
	Value  string   `xml:"v"`
	Inline richText `xml:"is"`
}

// Rows walks the rows of a sheet that have cells, up to the first error.
func (b *Book) Rows(sheet string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		part, err := b.archive.Open(sheet)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Row{}, ErrUnreadable)
			return
		}
		defer func() { _ = part.Close() }() // it was only read
		decoder := xml.NewDecoder(&meter{part, &b.left})
		for number := 1; ; number++ {
			row, err := b.next(decoder, number)
			if errors.Is(err, io.EOF) {
				return
			}
			if len(row.Cells) > 0 || err != nil {
				if !yield(row, readable(err)) || err != nil {
					return
				}
			}
			number = row.Number
		}
	}
}

// next reads the next row, which is at least the one that is expected.
func (b *Book) next(decoder *xml.Decoder, number int) (row Row, err error) {
	for {
		token, err := decoder.Token()
		if err != nil {
			return row, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "row" {
			continue
		}
		var stored struct {
			Number int    `xml:"r,attr"`
			Cells  []cell `xml:"c"`
		}
		err = decoder.DecodeElement(&stored, &start)
		return Row{max(number, stored.Number), b.texts(stored.Cells)}, err
	}
}

// texts puts the values of a row where their columns are.
func (b *Book) texts(list []cell) []string {
	var values []string
	for n, cell := range list {
		column := n
		if cell.Ref != "" {
			column = columnOf(cell.Ref)
		}
		if column < 0 || column >= maxColumns {
			continue
		}
		for len(values) <= column {
			values = append(values, "")
		}
		values[column] = strings.Join(strings.Fields(b.text(cell)), " ")
	}
	return values
}

// columnOf is the number of the column of AB12, from 0; -1: it has none.
func columnOf(ref string) int {
	column := 0
	for _, r := range ref {
		if r < 'A' || r > 'Z' || column > maxColumns {
			break
		}
		column = column*26 + int(r-'A') + 1
	}
	return column - 1
}

// ColumnName is what spreadsheets call the column of a number from 0: A to Z, AA and so on.
func ColumnName(column int) string {
	name := string(rune('A' + column%26))
	if column >= 26 {
		return ColumnName(column/26-1) + name
	}
	return name
}

func (b *Book) text(cell cell) string {
	switch cell.Type {
	case "s":
		n, err := strconv.Atoi(cell.Value)
		if err != nil || n < 0 || n >= len(b.shared) {
			return ""
		}
		return b.shared[n].String()
	case "inlineStr":
		return cell.Inline.String()
	case "str", "d", "b":
		return cell.Value
	case "e": // #N/D and its like
		return ""
	}
	number, err := strconv.ParseFloat(cell.Value, 64)
	if err != nil {
		return cell.Value
	}
	if cell.Style >= 0 && cell.Style < len(b.days) && b.days[cell.Style] && number >= 1 && number <= serial9999 {
		return Day(int(number) + b.shift).BR()
	}
	return numberText(number)
}

// Spreadsheets count days, in files of old Macs from four years later.
const (
	serial2000 = 36526   // of 1 January 2000
	serial9999 = 2958465 // of 31 December 9999, the last
	days1904   = 1462
)

var day2000 = civil.MustParse("2000-01-01")

// Day is the day of a serial, the number by which spreadsheets store it.
func Day(serial int) civil.Date { return day2000.AddDays(serial - serial2000) }

// numberText writes a number as people in Brazil do, without the last digits of a
// computation: 79,90 for 79.89999999.
func numberText(number float64) string {
	if number == float64(int64(number)) {
		return strconv.FormatInt(int64(number), 10)
	}
	cents := fmt.Sprintf("%.2f", number)
	if rounded, _ := strconv.ParseFloat(cents, 64); rounded-number > 1e-6 || number-rounded > 1e-6 {
		cents = strconv.FormatFloat(number, 'f', -1, 64)
	}
	return strings.Replace(cents, ".", ",", 1)
}
