package browser

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
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
	onBoth(t, firstCharge)
}

func firstCharge(t *testing.T, p *program) {
	p.launch("/setup/", "serve")
	link := regexp.MustCompile(`/setup/[\w-]+`).FindString(p.printed())
	b := p.open(t)
	b.visit(link)
	b.picture(t, rules(t), "setup")
	b.begin()
	b.fill("name", "Rede Clara")
	b.fill("user_name", "Ana Souza")
	b.fill("email", email)
	b.fill("password", password)
	b.press("Criar a empresa")
	b.see("A empresa está pronta", "Para começar", "Ana Souza")
	if b.clicks > 1 {
		t.Errorf("from the link to one's own company are %d clicks", b.clicks)
	}
	b.picture(t, rules(t), "home-first")
	b.press("Crie um plano")
	b.fill("name", "Fibra 100")
	b.fill("value", "1.079,90")
	b.press("Salvar")
	b.see("Fibra 100: cadastro criado.", "R$\u00a01.079,90", "por mês")
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
	b.visit(link)
	b.see("Este link não funciona mais")
	b.picture(t, rules(t), "setup-used")
}

// theirs is a list as an owner has it after some years: 304 customers, three of them twice, a sum at the end; phones in
// every spelling, without the ninth digit, without an area code, two in a cell, cut by the spreadsheet; years of two
// digits, amounts with and without R$, and the first line an exception.
type theirs struct {
	lines  [][]string
	phones int     // customers that have a number that can be made out
	paid   float64 // what all of them pay by the month
}

// spellings of phones. Those with an area code that is not 35 have it on purpose.
var spellings = []func(n int) string{
	func(n int) string { return fmt.Sprintf("(35) 9%04d-%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("035 9%04d %04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("35%04d%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("(35) %04d-%04d", 9100+n, n) },
	func(n int) string { return fmt.Sprintf("55359%04d%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("+55 35 9%04d-%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("9%04d%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("35 9%04d%04d / 35 3221-%04d", 8100+n, n, n) },
	func(n int) string { return fmt.Sprintf("35-9%04d.%04d", 8100+n, n) },
	func(n int) string { return fmt.Sprintf("0359%04d%04d", 8100+n, n) },
	func(int) string { return "" },
	func(n int) string { return []string{"não tem", "5,53599E+12"}[n%2] },
}

func theirList() (list theirs) {
	list.lines = append(list.lines, []string{"Nome / Razão Social", "Celular", "E-mail", "CPF/CNPJ", "Vencimento", "Plano", "Valor", "Endereço", "Obs"})
	plans := []struct {
		name, value string
		paid        float64
	}{{"Fibra 100", "R$ 79,90", 79.90}, {"Rádio 10 Mega", "59,90", 59.90}, {"Fibra 300", "R$ 99,90", 99.90}, {"Fibra 500", "129,90", 129.90}}
	for n := range 304 {
		plan := plans[n%len(plans)]
		due := time.Now().AddDate(0, 0, n%60-30)
		date, notes, address := due.Format("02/01/2006"), "", fmt.Sprintf("cliente%d@exemplo.com.br", n)
		switch {
		case n%44 == 0: // the first line too
			plan.value, plan.paid = "1.234,56", 1234.56
		case n%16 == 1:
			address = "cliente sem email"
		case n%9 == 2:
			date = due.Format("02/01/06")
		case n == 150:
			date, plan.paid = "31/02/2026", 0
		case n%50 == 7:
			notes = "obs; com ponto e vírgula"
		}
		line := []string{fmt.Sprintf(" Cliente Conceição %d ", n), spellings[n%len(spellings)](n), address, "", date, plan.name, plan.value, fmt.Sprintf("Rua das Flores, %d", n), notes}
		list.lines = append(list.lines, line)
		if n%100 == 4 && n < 300 {
			list.lines = append(list.lines, line)
		}
		if list.paid += plan.paid; n%len(spellings) < 10 && n != 150 {
			list.phones++
		}
	}
	list.lines = append(list.lines, []string{"TOTAL", "", "", "", "", "", "R$ 28.345,10", "", ""})
	return list
}

// latin is the list as CSV in Latin-1, with semicolons.
func (l theirs) latin(t *testing.T) []byte {
	t.Helper()
	var file strings.Builder
	w := csv.NewWriter(&file)
	w.Comma, w.UseCRLF = ';', true
	if err := w.WriteAll(l.lines); err != nil {
		t.Fatal(err)
	}
	latin := make([]byte, 0, file.Len())
	for _, letter := range file.String() {
		latin = append(latin, byte(letter)) // all of them are in Latin-1
	}
	return latin
}

// spreadsheet is the list as .xlsx, with the least that one needs.
func (l theirs) spreadsheet(t *testing.T) []byte {
	t.Helper()
	var rows strings.Builder
	for _, line := range l.lines {
		rows.WriteString("<row>")
		for _, cell := range line {
			rows.WriteString(`<c t="inlineStr"><is><t>`)
			if err := xml.EscapeText(&rows, []byte(cell)); err != nil {
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

// An owner's own list is imported as it is, as CSV and as a spreadsheet: plans are made, phones completed, each pays
// what they paid. Each file has one database: internal/customer/intake imports on both.
func TestOwnListIsImportedInOnePass(t *testing.T) {
	t.Parallel()
	list := theirList()
	t.Run("clientes.csv", func(t *testing.T) {
		t.Parallel()
		list.imported(t, &program{t: t, dir: t.TempDir()}, "clientes.csv", list.latin(t))
	})
	t.Run("clientes.xlsx", func(t *testing.T) {
		t.Parallel()
		list.imported(t, onPostgreSQL(t), "clientes.xlsx", list.spreadsheet(t))
	})
}

func (l theirs) imported(t *testing.T, p *program, name string, content []byte) {
	b := p.found()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	b.begin()
	b.menu("/customers")
	b.press("Importar")
	b.see("Sua planilha como ela é")
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#f-file"), []string{file}))
	b.clicks++ // the file is chosen
	b.press("Enviar")
	b.see("O que a verificação encontrou", "Fibra 100: não existe")
	b.press("Criar")
	b.see("Linhas certas: 303. Com algum problema: 1.")
	b.press("Completar o nono dígito")
	b.see("recebeu o nono dígito")
	b.press("Usar o DDD 35")
	b.see("recebeu o DDD que você informou")
	if name == "clientes.csv" {
		b.picture(t, rules(t), "import-own-list")
	}
	b.press("Importar 303 clientes")
	b.see("Clientes importados: 303.")
	b.within("import of 304 customers from "+name+": 303 in", 8)
	phones, paid := p.census()
	if phones != l.phones {
		t.Errorf("%d customers have WhatsApp, want %d", phones, l.phones)
	}
	if math.Abs(paid-l.paid) > 0.005 {
		t.Errorf("they pay %.2f, want %.2f", paid, l.paid)
	}
}

// census is how many customers have WhatsApp, and what all of them pay by the month.
func (p *program) census() (phones int, paid float64) {
	p.t.Helper()
	token := p.command("token", "create", "--company", "1", "--name", "census")
	for page, last := 1, 1; page <= last; page++ {
		status, body := p.get(token, fmt.Sprintf("/api/v1/customers?per_page=100&page=%d", page))
		var answer struct {
			Data []struct {
				WhatsApp *string
				Price    *string
				Plan     struct{ Value string }
			}
			Meta struct {
				LastPage int `json:"last_page"`
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); status != http.StatusOK || err != nil {
			p.t.Fatalf("%d %s, %v", status, body, err)
		}
		last = answer.Meta.LastPage
		for _, customer := range answer.Data {
			if customer.WhatsApp != nil {
				phones++
			}
			value := customer.Plan.Value
			if customer.Price != nil {
				value = *customer.Price
			}
			amount, err := strconv.ParseFloat(value, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			paid += amount
		}
	}
	return phones, paid
}
