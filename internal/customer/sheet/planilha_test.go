package sheet

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// planilha.csv is what a shop's spreadsheet looks like after some years: a title above the table, a subtotal and a total
// in it, phones, dates, amounts and documents in every spelling that people use, values that cannot be read, and the
// marks that spreadsheets leave. planilha.want says what each row becomes, and was not made by this package.
func TestASheetFromRealLife(t *testing.T) {
	file, err := os.ReadFile("testdata/planilha.csv")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := os.ReadFile("testdata/planilha.want")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(wanted)), "\n")
	for name, encoded := range encodings(t, file) {
		reader, got := readAll(t, string(encoded))
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "\n", `\n`)
			if i < len(want) && got[i] != want[i] {
				t.Errorf("%s\n got %s\nwant %s", name, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
		}
		if warnings := reader.Warnings(); !slices.Equal(warnings, []string{`column 17, "Situação", is not known and is passed over`}) {
			t.Errorf("%s: %q", name, warnings)
		}
	}
}

// Left out instead of refused, all but a few rows are good: those with an unreadable date or amount.
func TestMostOfASheetFromRealLifeIsGoodWithoutItsBadValues(t *testing.T) {
	file, err := os.ReadFile("testdata/planilha.csv")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	strict, lenient := 0, 0
	for row, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		needed := false
		for field := range row.Faults.All() {
			needed = needed || !Optional(field)
		}
		if !row.Faults.Empty() {
			strict++
		}
		if needed {
			lenient++
		}
	}
	if lenient == 0 || lenient > strict/2 {
		t.Errorf("%d rows are refused, and %d when values are left out", strict, lenient)
	}
}

func encodings(t *testing.T, windows []byte) map[string][]byte {
	t.Helper()
	utf8, err := charmap.Windows1252.NewDecoder().Bytes(windows)
	if err != nil {
		t.Fatal(err)
	}
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(utf8)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"Windows-1252": windows, "UTF-8": utf8, "UTF-8 with a mark": append([]byte("\xef\xbb\xbf"), utf8...), "UTF-16": utf16}
}
