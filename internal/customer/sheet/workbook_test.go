package sheet

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"

	"carteira/internal/platform/workbook"
)

// bookOf packs the parts of a workbook.
func bookOf(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, text := range parts {
		part, err := archive.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sampleBook() map[string]string {
	return map[string]string{
		"xl/workbook.xml": `<workbook xmlns:r="r"><workbookPr/><sheets><sheet name="Oculta" state="hidden" r:id="rId9"/>` +
			`<sheet name="Clientes" r:id="rId1"/><sheet name="Outra" r:id="rId2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="worksheets/sheet2.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       `<sst><si><t>Nome</t></si><si><r><t>Ana </t></r><r><t>Souza</t></r></si></sst>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/><numFmt numFmtId="165" formatCode="[$R$-416] #,##0.00"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs><cellStyles/></styleSheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` +
			`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Vencimento</t></is></c><c r="C1" t="inlineStr"><is><t>Valor</t></is></c><c r="D1" t="inlineStr"><is><t>Celular</t></is></c></row>` +
			`<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>46329</v></c><c r="C3" s="2"><v>79.900000000000006</v></c><c r="D3"><v>5.535988887777E+12</v></c></row>` +
			`<row r="4"><c r="D4" t="e"><v>#N/A</v></c><c r="A4" t="str"><v>Bia; "x"</v></c></row>` +
			`</sheetData></worksheet>`,
	}
}

func TestWorkbookIsReadAsItsFirstSheet(t *testing.T) {
	lines, err := FromWorkbook(bookOf(t, sampleBook()))
	want := "\ufeffNome;Vencimento;Valor;Celular\n;\nAna Souza;03/11/2026;79,90;5535988887777\n\"Bia; \"\"x\"\"\";;;\n"
	if err != nil || string(lines) != want {
		t.Fatalf("%q, %v", lines, err)
	}
	reader, err := Open(bytes.NewReader(bookOf(t, sampleBook())))
	if err != nil {
		t.Fatal(err)
	}
	row, err := reader.Next()
	if err != nil || row.Line != 3 || row.Values["whatsapp"] != "+5535988887777" || row.Values["value"] != "79.90" || row.Values["data_de_vencimento"] != "2026-11-03" {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestWorkbookOf1904AndAbsoluteTargets(t *testing.T) {
	parts := sampleBook()
	parts["xl/workbook.xml"] = strings.Replace(parts["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	parts["xl/_rels/workbook.xml.rels"] = strings.Replace(parts["xl/_rels/workbook.xml.rels"], `"worksheets/sheet1.xml"`, `"/xl/worksheets/sheet1.xml"`, 1)
	parts["xl/worksheets/sheet1.xml"] = strings.Replace(parts["xl/worksheets/sheet1.xml"], "46329", "44867", 1)
	if lines, err := FromWorkbook(bookOf(t, parts)); err != nil || !strings.Contains(string(lines), "03/11/2026") {
		t.Errorf("%q, %v", lines, err)
	}
}

// A few kilobytes that unpack to more than a machine has are refused while they are
// unpacked, not by what their directory says.
func TestWorkbookThatUnpacksToTooMuchIsRefused(t *testing.T) {
	for _, part := range []string{"xl/sharedStrings.xml", "xl/styles.xml", "xl/worksheets/sheet1.xml"} {
		parts := sampleBook()
		parts[part] = "<x>" + strings.Repeat(" ", 1<<20) + "</x>"
		if _, err := fromWorkbook(bookOf(t, parts), 1<<20); !errors.Is(err, workbook.ErrTooLarge) {
			t.Errorf("%s: %v", part, err)
		}
	}
	parts := sampleBook() // few bytes, many lines
	row := `<row r="1048576"><c r="XFD1" t="inlineStr"><is><t>x</t></is></c></row>`
	parts["xl/worksheets/sheet1.xml"] = "<worksheet>" + strings.Repeat(row, 1000) + "</worksheet>"
	if lines, err := FromWorkbook(bookOf(t, parts)); err != nil || len(lines) > 1<<20 {
		t.Errorf("%d bytes, %v", len(lines), err)
	}
}

func TestBrokenWorkbooksAreRefusedInWords(t *testing.T) {
	whole := bookOf(t, sampleBook())
	broken := sampleBook()
	broken["xl/worksheets/sheet1.xml"] = "<worksheet><row><c"
	for name, content := range map[string][]byte{"cut": whole[:len(whole)/2], "no zip": []byte("PK\x03\x04rest"), "XML": bookOf(t, broken)} {
		if _, err := FromWorkbook(content); !errors.Is(err, workbook.ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(bytes.NewReader(bookOf(t, map[string]string{"x": "y"}))); err == nil {
		t.Error("a zip that is no workbook is read")
	}
}

func TestPhonesAreCompletedWhereAPersonAskedForIt(t *testing.T) {
	both := Phones{Area: "35", Ninth: true}
	for in, want := range map[string]spelling{
		"(11) 9155-0976":  {"+5511991550976", "has the ninth digit now"},
		"011 9155 0976":   {"+5511991550976", "has the ninth digit now"},
		"+55 1191550976":  {"+5511991550976", "has the ninth digit now"},
		"98143-3943":      {"+5535981433943", "has the area code that you gave"},
		"8143-3943":       {"+5535981433943", "has the ninth digit now"},
		"3456-7890":       {"+553534567890", "has the area code that you gave"},
		"(11) 98765-4321": {"+5511987654321", ""},
		"123":             {},
	} {
		if got, err := both.spell(in); got != want || (err == nil) != (want.value != "") {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	if got, err := (Phones{Ninth: true}).spell("98143-3943"); err == nil {
		t.Errorf("%+v without an area code", got)
	}
}

func TestSerialOfADayIsADay(t *testing.T) {
	for in, want := range map[string]string{"46329": "2026-11-03", "36526": "2000-01-01"} {
		if got, err := spellDate(in); got != want || err != nil {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	if got, err := spellDate("12345"); err == nil {
		t.Errorf("12345 is %s", got)
	}
}

func TestSheetOfTheCustomersIsTaken(t *testing.T) {
	parts := sampleBook()
	parts["xl/worksheets/sheet2.xml"] = parts["xl/worksheets/sheet1.xml"]
	parts["xl/worksheets/sheet1.xml"] = `<worksheet><sheetData><row r="1"><c t="str"><v>Plano</v></c><c t="str"><v>Valor</v></c></row></sheetData></worksheet>`
	lines, err := FromWorkbook(bookOf(t, parts))
	if err != nil || !strings.HasPrefix(string(lines), "\ufeffNome;Vencimento;") {
		t.Errorf("%q, %v", lines, err)
	}
	parts["xl/worksheets/sheet2.xml"] = `<worksheet><sheetData/></worksheet>`
	lines, err = FromWorkbook(bookOf(t, parts))
	if err != nil || string(lines) != "\ufeffPlano;Valor\n" {
		t.Errorf("%q, %v", lines, err)
	}
}
