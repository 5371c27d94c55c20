package workbook

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

func TestWorkbookIsReadAsItWasWritten(t *testing.T) {
	var file bytes.Buffer
	err := Write(&file, []Page{
		{"Resumo", func(write func(...any) error) error {
			if err := write("dia", "cliente", "valor", "n"); err != nil {
				return err
			}
			return write(civil.MustParse("2026-01-31"), `=cmd|' /C calc'!A0 <b> & "x"`, money.Cents(-123456), int64(7))
		}},
		{"Outra & <folha>", func(write func(...any) error) error { return write("a\x00b") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !Is(file.Bytes()) {
		t.Error("the file is no workbook")
	}
	book, err := Open(file.Bytes(), 1<<20)
	if err != nil || len(book.Sheets) != 2 {
		t.Fatal(book, err)
	}
	var read []Row
	for row, err := range book.Rows(book.Sheets[0]) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, row)
	}
	want := []Row{
		{1, []string{"dia", "cliente", "valor", "n"}},
		{2, []string{"31/01/2026", `=cmd|' /C calc'!A0 <b> & "x"`, "-1234,56", "7"}},
	}
	if !reflect.DeepEqual(read, want) {
		t.Errorf("read %+v", read)
	}
	archive, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range archive.File {
		reader, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil || strings.Contains(string(text), "<f>") {
			t.Errorf("%s has a formula: %v", entry.Name, err)
		}
	}
	broken := errors.New("gone")
	if err := Write(io.Discard, []Page{{"x", func(func(...any) error) error { return broken }}}); !errors.Is(err, broken) {
		t.Errorf("a walk that fails: %v", err)
	}
}

func TestColumnsAreCalledByLetters(t *testing.T) {
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB", 701: "ZZ", 702: "AAA"} {
		if got := ColumnName(column); got != want {
			t.Errorf("column %d is called %s, want %s", column, got, want)
		}
		if got := columnOf(want + "12"); got != column && column < maxColumns {
			t.Errorf("%s12 is in column %d, want %d", want, got, column)
		}
	}
}
