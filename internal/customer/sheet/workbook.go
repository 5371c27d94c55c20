package sheet

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a workbook. A file of some kilobytes can unpack to gigabytes, so
// that what is read is counted as it is unpacked, whatever its directory claims.
const (
	maxWorkbook = 16 << 20
	maxUnpacked = 48 << 20
	maxColumns  = 256
	maxGap      = 1000 // empty rows between two that are filled
)

var (
	errWorkbookSize = errors.New("the spreadsheet is too large when it is unpacked; save it as CSV")
	errWorkbook     = errors.New("the spreadsheet cannot be read; open it and save it as CSV")
)

// IsWorkbook reports whether a file is a workbook (.xlsx) by its first bytes.
func IsWorkbook(content []byte) bool { return bytes.HasPrefix(content, []byte("PK\x03\x04")) }

// FromWorkbook makes CSV of a workbook (.xlsx): of the first sheet that names customers and something about them, or
// else of the first. Lines of the CSV
// are rows of the sheet, so that a problem is found where it is. Numbers are written
// as they are stored and days as 31/12/2027, whatever format the cells show them in.
func FromWorkbook(content []byte) ([]byte, error) { return fromWorkbook(content, maxUnpacked) }

func fromWorkbook(content []byte, limit int64) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, errWorkbook
	}
	book := &workbook{archive: archive, left: limit}
	if err := book.open(); err != nil {
		return nil, bookError(err)
	}
	out := bytes.NewBufferString("\ufeff")
	lines := csv.NewWriter(out)
	lines.Comma = ';'
	line := 1
	sheet, err := book.choose()
	if err != nil {
		return nil, bookError(err)
	}
	err = book.rows(sheet, func(number int, cells []string) error {
		for gap := min(number-line, maxGap); gap > 0; gap-- {
			if err := lines.Write([]string{"", ""}); err != nil {
				return err
			}
		}
		line = max(number, line) + 1
		if int64(out.Len()) > limit {
			return errWorkbookSize
		}
		return lines.Write(cells)
	})
	lines.Flush()
	if err == nil {
		err = lines.Error()
	}
	return out.Bytes(), bookError(err)
}

// bookError is what a person reads of a failure.
func bookError(err error) error {
	if err == nil || errors.Is(err, errWorkbookSize) {
		return err
	}
	return errWorkbook
}

// workbook is what the cells of a sheet refer to.
type workbook struct {
	archive *zip.Reader
	left    int64    // bytes that may still be unpacked
	sheets  []string // that are not hidden
	shared  []string
	days    []bool // by style: a number is a day
	from    int    // serial of 1 January 1970
}

// Serials of days count from 30 December 1899, or from 1904 in files of old Macs.
const (
	serial1900 = 25569
	serial1904 = 24107
)

func (b *workbook) open() error {
	b.from = serial1900
	var ids []string
	err := b.each("xl/workbook.xml", func(_ *xml.Decoder, at xml.StartElement) error {
		switch {
		case at.Name.Local == "sheet" && attribute(at, "state") != "hidden" && attribute(at, "state") != "veryHidden":
			ids = append(ids, attribute(at, "id"))
		case at.Name.Local == "workbookPr" && (attribute(at, "date1904") == "1" || attribute(at, "date1904") == "true"):
			b.from = serial1904
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.sheets = make([]string, len(ids))
	err = b.each("xl/_rels/workbook.xml.rels", func(_ *xml.Decoder, at xml.StartElement) error {
		if n := slices.Index(ids, attribute(at, "Id")); n >= 0 && at.Name.Local == "Relationship" {
			target := attribute(at, "Target")
			if !strings.HasPrefix(target, "/") {
				target = "xl/" + target
			}
			b.sheets[n] = strings.TrimPrefix(path.Clean(target), "/")
		}
		return nil
	})
	if err == nil {
		err = b.readShared()
	}
	if err == nil {
		err = b.readStyles()
	}
	return err
}

// each calls visit for every element of a part. One that is not there has none.
func (b *workbook) each(name string, visit func(*xml.Decoder, xml.StartElement) error) error {
	n := slices.IndexFunc(b.archive.File, func(file *zip.File) bool { return file.Name == name })
	if n < 0 {
		return nil
	}
	file, err := b.archive.File[n].Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	decoder := xml.NewDecoder(&meter{file, &b.left})
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if err := visit(decoder, start); err != nil {
				return err
			}
		}
	}
}

// meter fails once more was unpacked than a workbook may have.
type meter struct {
	io.Reader
	left *int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, errWorkbookSize
	}
	return n, err
}

func attribute(at xml.StartElement, name string) string {
	for _, attr := range at.Attr {
		if attr.Name.Local == name {
			return attr.Value
		}
	}
	return ""
}

// richText is the text of a cell, in one piece or in runs of several fonts.
type richText struct {
	Text string   `xml:"t"`
	Runs []string `xml:"r>t"`
}

func (t richText) String() string { return t.Text + strings.Join(t.Runs, "") }

func (b *workbook) readShared() error {
	return b.each("xl/sharedStrings.xml", func(decoder *xml.Decoder, at xml.StartElement) error {
		if at.Name.Local != "si" {
			return nil
		}
		var text richText
		err := decoder.DecodeElement(&text, &at)
		b.shared = append(b.shared, text.String())
		return err
	})
}

// readStyles finds out which styles show numbers as days.
func (b *workbook) readStyles() error {
	own, cells := map[string]bool{}, false
	return b.each("xl/styles.xml", func(_ *xml.Decoder, at xml.StartElement) error {
		switch at.Name.Local {
		case "numFmt":
			own[attribute(at, "numFmtId")] = isDayFormat(attribute(at, "formatCode"))
		case "cellXfs":
			cells = true
		case "cellStyles", "dxfs":
			cells = false
		case "xf":
			if format := attribute(at, "numFmtId"); cells {
				number, _ := strconv.Atoi(format)
				b.days = append(b.days, own[format] || number >= 14 && number <= 17 || number == 22)
			}
		}
		return nil
	})
}

// isDayFormat finds formats of days by their letters, without quoted words and what
// is in brackets: colours, conditions, the currency.
func isDayFormat(code string) bool {
	var letters strings.Builder
	var until rune
	for _, r := range strings.ToLower(code) {
		switch {
		case until != 0:
			if r == until {
				until = 0
			}
		case r == '"':
			until = '"'
		case r == '[':
			until = ']'
		default:
			letters.WriteRune(r)
		}
	}
	return strings.ContainsAny(letters.String(), "dy")
}

// cell is a cell as the file has it.
type cell struct {
	Ref    string   `xml:"r,attr"`
	Type   string   `xml:"t,attr"`
	Style  int      `xml:"s,attr"`
	Value  string   `xml:"v"`
	Inline richText `xml:"is"`
}

// choose finds the sheet of the customers: others may be a summary or a price list.
func (b *workbook) choose() (string, error) {
	for _, sheet := range b.sheets {
		found, left := false, 1+maxPreface
		err := b.rows(sheet, func(_ int, cells []string) error {
			found = knownHeadings(cells) > 1 && slices.ContainsFunc(columnsOf(cells), func(c Column) bool { return c.Field == "name" })
			if left--; found || left == 0 {
				return io.EOF // of what has to be looked at
			}
			return nil
		})
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if found {
			return sheet, nil
		}
	}
	if len(b.sheets) == 0 {
		return "", errWorkbook
	}
	return b.sheets[0], nil
}

// rows walks the rows of a sheet that have cells.
func (b *workbook) rows(sheet string, visit func(number int, cells []string) error) error {
	number := 0
	return b.each(sheet, func(decoder *xml.Decoder, at xml.StartElement) error {
		if at.Name.Local != "row" {
			return nil
		}
		var row struct {
			Cells []cell `xml:"c"`
		}
		if err := decoder.DecodeElement(&row, &at); err != nil {
			return err
		}
		number++
		if given, err := strconv.Atoi(attribute(at, "r")); err == nil && given > number {
			number = given
		}
		cells := b.cells(row.Cells)
		if len(cells) == 0 {
			return nil
		}
		return visit(number, cells)
	})
}

// cells puts the values of a row where their columns are.
func (b *workbook) cells(list []cell) []string {
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

func (b *workbook) text(cell cell) string {
	switch cell.Type {
	case "s":
		n, err := strconv.Atoi(cell.Value)
		if err != nil || n < 0 || n >= len(b.shared) {
			return ""
		}
		return b.shared[n]
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
	if cell.Style >= 0 && cell.Style < len(b.days) && b.days[cell.Style] {
		return dayOf(int(number) - b.from)
	}
	return numberText(number)
}

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
