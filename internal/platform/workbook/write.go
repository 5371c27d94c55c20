package workbook

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Page is a sheet of a workbook that is written. Rows calls write for each row; a
// cell is a text, a day, an amount or a number. A text is never a formula, whatever
// it begins with: it is stored as text.
type Page struct {
	Name string // up to 31 characters, without []:*?/\
	Rows func(write func(cells ...any) error) error
}

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	styles  = xmlHead + `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="1"><font/></fonts>` +
		`<fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>` +
		`<cellXfs count="3"><xf/><xf numFmtId="4" applyNumberFormat="1"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`
	office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
)

// Write writes a workbook, one sheet after the other as rows come.
func Write(out io.Writer, pages []Page) error {
	archive := zip.NewWriter(out)
	for name, text := range bookFiles(pages) {
		file, err := archive.Create(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(file, text); err != nil {
			return err
		}
	}
	for n, page := range pages {
		file, err := archive.Create(fmt.Sprintf("xl/worksheets/sheet%d.xml", n+1))
		if err != nil {
			return err
		}
		if err := page.write(file); err != nil {
			return err
		}
	}
	return archive.Close()
}

// bookFiles are the files of a workbook besides its sheets.
func bookFiles(pages []Page) map[string]string {
	var types, sheets, links strings.Builder
	for n, page := range pages {
		fmt.Fprintf(&types, `<Override PartName="/xl/worksheets/sheet%d.xml"`+
			` ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`, n+1)
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="r%d"/>`, escaped(page.Name), n+1, n+1)
		fmt.Fprintf(&links, `<Relationship Id="r%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, n+1, office, n+1)
	}
	const packages = "http://schemas.openxmlformats.org/package/2006/"
	const kind = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	return map[string]string{
		"[Content_Types].xml": xmlHead + `<Types xmlns="` + packages + `content-types"><Default Extension="rels" ContentType="` +
			`application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="` + kind +
			`sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="` + kind + `styles+xml"/>` + types.String() + `</Types>`,
		"_rels/.rels": xmlHead + `<Relationships xmlns="` + packages + `relationships"><Relationship Id="r1" Type="` + office +
			`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": xmlHead + `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + office +
			`"><sheets>` + sheets.String() + `</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": xmlHead + `<Relationships xmlns="` + packages + `relationships">` + links.String() +
			`<Relationship Id="styles" Type="` + office + `/styles" Target="styles.xml"/></Relationships>`,
		"xl/styles.xml": styles,
	}
}

func (p Page) write(out io.Writer) error {
	to := bufio.NewWriter(out)
	_, _ = to.WriteString(xmlHead + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	number := 0
	err := p.Rows(func(cells ...any) error {
		number++
		fmt.Fprintf(to, `<row r="%d">`, number)
		for n, value := range cells {
			writeCell(to, fmt.Sprintf("%c%d", 'A'+n, number), value)
		}
		_, err := to.WriteString(`</row>`)
		return err
	})
	if err != nil {
		return err
	}
	_, _ = to.WriteString(`</sheetData></worksheet>`)
	return to.Flush()
}

func writeCell(to io.Writer, at string, value any) {
	switch value := value.(type) {
	case money.Cents:
		fmt.Fprintf(to, `<c r="%s" s="1"><v>%s</v></c>`, at, value)
	case civil.Date:
		if !value.IsZero() {
			fmt.Fprintf(to, `<c r="%s" s="2"><v>%d</v></c>`, at, serial2000+value.Sub(day2000))
		}
	case int64:
		fmt.Fprintf(to, `<c r="%s"><v>%d</v></c>`, at, value)
	default:
		if text := fmt.Sprint(value); text != "" {
			fmt.Fprintf(to, `<c r="%s" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, at, escaped(text))
		}
	}
}

// escaped is a text inside XML, without what XML cannot hold.
func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a builder does not fail
	return out.String()
}
