package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"carteira/internal/platform/workbook"
)

// decode makes text of a file. UTF-16 and UTF-8 with a mark are what Excel calls "Unicode"; records of a file without
// one may be no UTF-8 yet.
func decode(r io.Reader) (io.Reader, error) {
	reader := bufio.NewReader(r)
	start, err := reader.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := reader.Discard(3)
		return reader, err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), isUTF16(start, 0):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(reader), nil
	case isUTF16(start, 1):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(reader), nil
	case workbook.Is(start):
		return decodeWorkbook(reader)
	case bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("the file is an old spreadsheet; open it and save it as .xlsx or CSV")
	case isMarkup(reader):
		return nil, errors.New("the file is a web page and not a spreadsheet; open it and save it as .xlsx or CSV")
	}
	return reader, nil
}

// isMarkup finds the tables of HTML that some programs call .xls.
func isMarkup(reader *bufio.Reader) bool {
	start, _ := reader.Peek(512) // a shorter file has less
	return bytes.HasPrefix(bytes.TrimSpace(start), []byte("<"))
}

// The bounds of a workbook.
const (
	maxWorkbook = 16 << 20
	maxUnpacked = 48 << 20
	maxGap      = 1000 // empty rows between two that are filled
)

// decodeWorkbook makes CSV of a workbook.
func decodeWorkbook(r io.Reader) (io.Reader, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxWorkbook+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxWorkbook {
		return nil, workbook.ErrTooLarge
	}
	lines, err := FromWorkbook(content)
	if err != nil {
		return nil, err
	}
	return decode(bytes.NewReader(lines))
}

// FromWorkbook makes CSV of a workbook (.xlsx): of the first sheet that names customers and something about them, or
// else of the first. Lines of the CSV are rows of the sheet, so that a problem is found where it is.
func FromWorkbook(content []byte) ([]byte, error) { return fromWorkbook(content, maxUnpacked) }

func fromWorkbook(content []byte, limit int64) ([]byte, error) {
	book, err := workbook.Open(content, limit)
	if err != nil {
		return nil, err
	}
	sheet, err := choose(book)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString("\ufeff")
	lines := csv.NewWriter(out)
	lines.Comma = ';'
	line := 1
	for row, err := range book.Rows(sheet) {
		if err == nil && int64(out.Len()) > limit {
			err = workbook.ErrTooLarge
		}
		if err != nil {
			return nil, err
		}
		for range min(row.Number-line, maxGap) {
			_ = lines.Write([]string{"", ""}) // a buffer does not fail
		}
		_ = lines.Write(row.Cells)
		line = row.Number + 1
	}
	lines.Flush()
	return out.Bytes(), lines.Error()
}

// choose finds the sheet of the customers: others may be a summary or a price list.
func choose(book *workbook.Book) (string, error) {
	for _, sheet := range book.Sheets {
		left := maxPreface
		for row, err := range book.Rows(sheet) {
			if err != nil {
				return "", err
			}
			if knownHeadings(row.Cells) > 1 && named(columnsOf(row.Cells)) {
				return sheet, nil
			}
			if left--; left < 0 {
				break
			}
		}
	}
	if len(book.Sheets) == 0 {
		return "", workbook.ErrUnreadable
	}
	return book.Sheets[0], nil
}

// isUTF16 finds UTF-16 without a mark by its first two letters, which are ASCII
// in any header: at is where their other half is.
func isUTF16(start []byte, at int) bool {
	return len(start) == 4 && start[at] != 0 && start[at+2] != 0 && start[1-at] == 0 && start[3-at] == 0
}

// readable makes UTF-8 of a record that is not: Windows-1252, which Latin-1 is part of. It weighs rather than demands:
// one damaged character must not turn every accent of a line into two letters.
func readable(record []string) []string {
	good, bad := 0, 0
	for _, cell := range record {
		valid := strings.ToValidUTF8(cell, "")
		bad += len(cell) - len(valid)
		for _, r := range valid {
			if r >= utf8.RuneSelf {
				good++
			}
		}
	}
	for n := range record {
		if bad > good {
			record[n], _ = charmap.Windows1252.NewDecoder().String(record[n]) // every byte is a letter
		}
	}
	return record
}
