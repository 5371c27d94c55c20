package sheet

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

func TestWorkbookIsReadAsItWasWritten(t *testing.T) {
	var file bytes.Buffer
	err := WriteWorkbook(&file, []Page{
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
	if !IsWorkbook(file.Bytes()) {
		t.Error("the file is no workbook")
	}
	read, err := FromWorkbook(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"dia;cliente;valor;n", "31/01/2026", `=cmd|' /C calc'!A0 <b> & ""x""`, "-1234,56", ";7"} {
		if !strings.Contains(string(read), want) {
			t.Errorf("%q is not in %s", want, read)
		}
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
	if err := WriteWorkbook(io.Discard, []Page{{"x", func(func(...any) error) error { return broken }}}); !errors.Is(err, broken) {
		t.Errorf("a walk that fails: %v", err)
	}
}
