package browser

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// From an empty folder to the first charge: the company, a plan, a customer, one's own
// PIX key, and the code that the customer pays with, each by the step that the home
// page shows next.
func TestEmptyFolderLeadsToTheFirstCharge(t *testing.T) {
	p := start(t, "/setup/", "serve")
	b := p.open(t)
	b.visit(regexp.MustCompile(`/setup/[\w-]+`).FindString(p.printed()))
	b.begin()
	b.fill("name", "Rede Clara")
	b.fill("user_name", "Ana Souza")
	b.fill("email", email)
	b.fill("password", password)
	b.press("Criar a empresa")
	b.see("A empresa está pronta")
	b.press("Crie um plano")
	b.fill("name", "Fibra 100")
	b.fill("value", "79,90")
	b.press("Salvar")
	b.see("Fibra 100: cadastro criado.")
	b.menu("/")
	b.click(`main a[href="/customers/new"]`)
	b.fill("name", "João da Silva")
	b.fill("whatsapp", "35987654321")
	b.set("plan_id", "1")
	b.set("data_de_vencimento", time.Now().AddDate(0, 0, 3).Format(time.DateOnly))
	b.clicks += 2 // the plan and the date are chosen
	b.press("Salvar")
	b.see("João da Silva: cadastro criado.")
	b.menu("/")
	b.click(`main a[href="/payments/gateway"]`)
	b.press("Escolher")
	b.fill("key", "ana@example.com")
	b.fill("name", "Rede Clara")
	b.fill("city", "Varginha")
	b.press("Usar este gateway")
	b.see("Chave PIX própria está em uso.")
	b.menu("/customers")
	b.press("Cobrar")
	b.see("Enviar por WhatsApp", "João da Silva")
	b.within("from an empty folder to the first charge", 15)
	b.picture(t, rules(t), "first-charge")
}

// spreadsheet is a file of lines with semicolons as a spreadsheet, with the least that
// one needs.
func spreadsheet(t *testing.T, lines []byte) []byte {
	t.Helper()
	var rows strings.Builder
	for line := range bytes.Lines(lines) {
		rows.WriteString("<row>")
		for cell := range bytes.SplitSeq(bytes.TrimSpace(line), []byte(";")) {
			rows.WriteString(`<c t="inlineStr"><is><t>`)
			var text strings.Builder
			for _, letter := range cell { // Latin-1
				text.WriteRune(rune(letter))
			}
			if err := xml.EscapeText(&rows, []byte(text.String())); err != nil {
				t.Fatal(err)
			}
			rows.WriteString("</t></is></c>")
		}
		rows.WriteString("</row>")
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Clientes" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows.String() + `</sheetData></worksheet>`,
	} {
		file, err := w.Create(name)
		if err == nil {
			_, err = file.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The same list as a spreadsheet is imported as it is.
func TestGrownSpreadsheetIsImportedNearlyWhole(t *testing.T) {
	_, b := newCompany(t)
	file := filepath.Join(t.TempDir(), "clientes.xlsx")
	if err := os.WriteFile(file, spreadsheet(t, grownSheet()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.begin()
	b.menu("/customers")
	b.press("Importar")
	b.see("Sua planilha como ela é")
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.clicks++ // the file is chosen
	b.press("Enviar")
	b.see("O que a verificação encontrou")
	b.do(chromedp.Click(chromedp.CSS(`form[action$="/start"] button`), chromedp.NodeVisible))
	b.clicks++
	b.see("Clientes importados: ")
	count, _ := strconv.Atoi(imported.FindStringSubmatch(b.text("main"))[1])
	if count < 285 || count > 300 {
		t.Errorf("%d of 300 customers are in", count)
	}
	b.within(fmt.Sprintf("import of a spreadsheet: %d of 300 customers in", count), 8)
}
