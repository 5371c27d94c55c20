package sheet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/text"
)

// read returns the rows of a file as `line field=value …` and the error that
// ended it.
func read(t *testing.T, file string) ([]string, error) {
	t.Helper()
	reader, err := Open(strings.NewReader(file))
	if err != nil {
		return nil, err
	}
	var got []string
	for row, err := range reader.All() {
		if err != nil {
			return got, err
		}
		got = append(got, describe(row))
	}
	return got, nil
}

func describe(row Row) string {
	words := []string{fmt.Sprint(row.Line)}
	for _, field := range slices.Sorted(maps.Keys(row.Values)) {
		words = append(words, field+"="+row.Values[field])
	}
	for field, reasons := range row.Faults.All() {
		words = append(words, fmt.Sprintf("[%s: %s]", field, reasons[0]))
	}
	for field, reasons := range row.Warnings.All() {
		words = append(words, fmt.Sprintf("(%s: %s)", field, reasons[0]))
	}
	return strings.Join(words, " ")
}

func TestFileIsReadHoweverItIsSaved(t *testing.T) {
	const text = "Nome;Telefone;Observações\nJoão da Silva;(11) 98765-4321;“não ligar”\n"
	want := []string{"2 name=João da Silva notes=“não ligar” whatsapp=+5511987654321"}
	encoded := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, file := range map[string]string{
		"UTF-8":                 text,
		"UTF-8 with BOM":        "\ufeff" + text,
		"Windows-1252":          encoded(charmap.Windows1252, text),
		"UTF-16 little endian":  encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), text),
		"UTF-16 big endian":     encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), text),
		"UTF-16 LE, no mark":    encoded(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), text),
		"UTF-16 BE, no mark":    encoded(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), text),
		"comma":                 strings.ReplaceAll(text, ";", ","),
		"tab":                   strings.ReplaceAll(text, ";", "\t"),
		"CRLF":                  strings.ReplaceAll(text, "\n", "\r\n"),
		"no newline at the end": strings.TrimSpace(text),
		"quoted":                `"Nome";"Telefone";"Observações"` + "\n" + `"João da Silva";"(11) 98765-4321";"“não ligar”"`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := read(t, file); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestEncodingIsDecidedWhereItFirstMatters(t *testing.T) {
	plain := "nome\n" + strings.Repeat("Ana\n", 50_000) // far beyond the first window
	for name, tt := range map[string]struct{ last, want string }{
		"Latin-1":                 {"Jo\xe3o", "João"},
		"UTF-8":                   {"João", "João"},
		"Latin-1 at the very end": {"Z\xe9", "Zé"},
		"damaged UTF-8":           {"João, Zé e Jos\xe3", "João, Zé e Jos\xe3"}, // refused by the form, as one line
	} {
		got, err := read(t, plain+`"`+tt.last+`"`)
		if err != nil || got[len(got)-1] != "50002 name="+tt.want {
			t.Errorf("%s: %q, %v", name, got[len(got)-1], err)
		}
	}
	got, err := read(t, "nome\nJoão\nJos\xe9\nZé")
	if want := []string{"2 name=João", "3 name=José", "4 name=Zé"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("one line of Latin-1: %q, %v", got, err)
	}
	// A character that straddles the edge of a buffer is not taken for damage.
	for n := range 8 {
		got, err := read(t, "nome\n"+strings.Repeat("a", 64<<10-8+n-len("nome\n"))+"é")
		if err != nil || !strings.HasSuffix(got[0], "aé") {
			t.Errorf("é %d bytes before the edge: …%s, %v", 8-n, got[0][len(got[0])-6:], err)
		}
	}
}

func TestHeadingsAreUnderstood(t *testing.T) {
	for heading, want := range map[string]string{
		"name": "name", "NOME": "name", " Nome Completo ": "name", "Nome*": "name",
		"whatsapp": "whatsapp", "WhatsApp": "whatsapp", "Celular": "whatsapp", "Telefone:": "whatsapp",
		"E-mail": "email", "email": "email", "e_mail": "email",
		"Usuário": "usuario", "USUARIO": "usuario", "login": "usuario", "username": "usuario",
		"Vencimento": "data_de_vencimento", "Data de Vencimento": "data_de_vencimento",
		"data_de_vencimento": "data_de_vencimento", "due_date": "data_de_vencimento",
		"Plano": "plan", "plan_id": "plan_id", "Produto": "product", "product_id": "product_id",
		"Valor": "value", "Preço": "value", "Observações": "notes", "obs.": "notes", "notes": "notes",
		"Código": "external_id", "ID externo": "external_id", "external_id": "external_id",
		"id": "", "status": "",

		"Nome / Razão Social": "name", "NOME DO CLIENTE": "name", "Celular/WhatsApp": "whatsapp", "Telefone (com DDD)": "whatsapp",
		"Celular / Telefone / WhatsApp": "whatsapp", "CPF/CNPJ": "cpf_cnpj", "CPF": "cpf_cnpj", "C.P.F.": "", "Nº do CPF": "cpf_cnpj",
		"Dt. Vencimento": "data_de_vencimento", "Data Venc.": "data_de_vencimento", "Vencimento (dd/mm/aaaa)": "data_de_vencimento",
		"Mensalidade": "value", "Valor (R$)": "value", "Vlr. Mensal": "value", "price": "price", "Preço próprio": "price",
		"Endereço": "address.street", "Logradouro": "address.street", "Nº": "address.number", "Número": "address.number",
		"Complemento": "address.complement", "Bairro": "address.district", "Cidade": "address.city", "Município": "address.city",
		"UF": "address.state", "Estado": "address.state", "CEP": "address.cep", "Observações gerais": "notes", "address.city": "address.city",
		"custom.MAC": "custom.MAC", "Custom. Contrato Nº": "custom.Contrato Nº", "custom.": "", "custom.\x01": "",
		"Tel. Celular": "whatsapp", "Telefone do responsável": "whatsapp", "Fone/Whats": "whatsapp", "Telefone fixo": "",
		"Vencto": "data_de_vencimento", "Dt. Vencto.": "data_de_vencimento", "Dia de vencimento": "data_de_vencimento", "Vencimento da mensalidade": "data_de_vencimento",
		"Vl. Mensal": "value", "Valor Mensalidade (R$)": "value", "Preço do plano": "value", "Valor pago": "", "Valor em atraso": "",
		"Plano/Velocidade": "plan", "Tipo de plano": "plan", "Modalidade": "plan", "Nome do titular": "name", "Cliente desde": "", "Nome da mãe": "",
		"E-mail do cliente": "email", "CPF do titular": "cpf_cnpj", "Data": "", "Situação": "", "Forma de pagamento": "", "Data de cadastro do cliente": "",
		"Nome / Telefone": "", "Nome / Foo": "", "uuid / status": "", "(R$)": "", "/": "", "a/b/c/d/e": "",
	} {
		if got := columnsOf([]string{heading})[0].Field; got != want {
			t.Errorf("%q is read as %q, want %q", heading, got, want)
		}
	}
}

func TestNoTwoFieldsShareAHeading(t *testing.T) {
	of := map[string]string{}
	for _, column := range headings {
		for _, name := range column.names {
			if other, taken := of[text.Words(name)]; taken && other != column.field {
				t.Errorf("%q is a heading of %q and of %q", name, column.field, other)
			}
			of[text.Words(name)] = column.field
		}
	}
}

func TestColumnsThatAreNotReadAreReported(t *testing.T) {
	reader, err := Open(strings.NewReader("nome;usuaroi;torcida;celular;telefone;status;\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`column 2, "usuaroi", is not known and is passed over; did you mean "usuario"?`,
		`column 3, "torcida", is not known and is passed over`,
		`columns "celular" and "telefone" are both read as whatsapp; where both are filled, the first counts`,
	}
	if got := reader.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := reader.Check(); err != nil {
		t.Error(err)
	}
}

func TestNameColumnIsDemanded(t *testing.T) {
	reader, err := Open(strings.NewReader("telefone,email\n11987654321,a@example.com\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Check(); err == nil || !strings.Contains(err.Error(), "name, nome, cliente") {
		t.Errorf("got %v", err)
	}
	reader.Columns[1].Field = "name" // as the panel does on request
	if row, err := reader.Next(); reader.Check() != nil || err != nil || row.Values["name"] != "a@example.com" {
		t.Errorf("got %v, %v", row, err)
	}
}

func TestDatesAndAmountsAreSpelledForTheAPI(t *testing.T) {
	for in, want := range map[string]string{
		"31/12/2027": "2027-12-31", "1/2/2027": "2027-02-01", "2027-12-31": "2027-12-31",
		"31/12/2027 00:00": "2027-12-31", "2027-12-31 03:00:00.000": "2027-12-31",
		"31/02/2027": "must be a day that exists in the calendar", "12/31/2027": "must be a day that exists in the calendar",
		"31/12/27": "2027-12-31", "1/2/00": "2000-02-01", "01/01/99": "2099-01-01", "31-12-2027": "2027-12-31", "31.12.27": "2027-12-31",
		"31/dez/2027": "2027-12-31", "5/Fevereiro/27": "2027-02-05", "31-DEZ-27": "2027-12-31", "2027/12/31": "2027-12-31",
		"2027-1-5": "2027-01-05", "2027-12-31T00:00:00Z": "2027-12-31", "29/02/28": "2028-02-29",
		"29/02/27": "must be a day that exists in the calendar", "31/xyz/2027": "must be a date such as 31/12/2027 or 2027-12-31",
		"31/12/127": "must be in the years 1900 to 9999", "31/12": "must be a date such as 31/12/2027 or 2027-12-31",
		"46387": "2026-12-31", "10": "must be a date such as 31/12/2027 or 2027-12-31", "amanhã": "must be a date such as 31/12/2027 or 2027-12-31",
		"5 de dezembro de 2027": "2027-12-05", "Sábado, 5 de dezembro de 2027": "2027-12-05", "sex, 31/12/2027": "2027-12-31",
		"46387,5": "2026-12-31", "31122027": "2027-12-31", "20271231": "2027-12-31", "20112027": "2027-11-20", "99999999": "must be a day that exists in the calendar",
		"31/12/2027 ou antes": "must be a date such as 31/12/2027 or 2027-12-31",
	} {
		if got, err := spellDate(in); got != want && (err == nil || err.Error() != want) {
			t.Errorf("date %q: %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		"R$ 1.234,56": "1234.56", "R$\u00a035,00": "35.00", "35": "35.00", "1234.5": "1234.50", "1.234": "1234.00",
		"R$ 99,90/mês": "99.90", "99,90 reais": "99.90", "R$ -": "0.00", "R$  -  ": "0.00", "1,234.56": "1234.56", "R$ 1,234,567.89": "1234567.89",
		"2 x 99,90": "must be an amount such as 1.234,56", "-5,00": "must not be negative", "trinta": "must be an amount such as 1.234,56", "1,234": "must have at most two decimal places",
	} {
		if got, err := spellAmount(in); got != want && (err == nil || err.Error() != want) {
			t.Errorf("amount %q: %q, %v", in, got, err)
		}
	}
}

func TestRowsBearTheLineTheyBeginIn(t *testing.T) {
	got, err := read(t, strings.Join([]string{
		`nome,obs,vencimento`,
		`Ana,"duas`,
		`linhas",1/2/2027`,
		``,
		`,,`,
		`Bia,,31/02/2027`,
		`Caio,`,
		`Davi,a,1/2/2027,b`,
		`Eva "Vivi",a,`,
		`"Fábio"x,a,`,
		`Gil,"aberta,`,
		`Hugo,"de novo",`,
		`"Íris",,`,
		`João,"nunca fechada,`,
		`Katia,,`,
	}, "\n"))
	want := []string{
		"2 data_de_vencimento=2027-02-01 name=Ana notes=duas\nlinhas",
		"6 data_de_vencimento=31/02/2027 name=Bia [data_de_vencimento: must be a day that exists in the calendar]",
		"7 name=Caio (name: has nothing else in its line: perhaps it is no customer)",
		"8 [: has 4 fields where the header has 3]",
		`9 [: has a quote inside a field; write the field in quotes, and the quote twice ("")]`,
		`10 [: has a quoted field that is not closed, or goes on after its closing quote; a quote inside is written twice ("")]`,
		`11 [: has a quoted field that is not closed, or goes on after its closing quote; a quote inside is written twice (""); the lines up to 12 are lost with it]`,
		"13 name=Íris (name: has nothing else in its line: perhaps it is no customer)",
		`14 [: has a quoted field that is not closed, or goes on after its closing quote; a quote inside is written twice (""); the lines up to 15 are lost with it]`,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v\n%s", err, strings.Join(got, "\n"))
	}
}

func TestFilesThatAreNoSheetAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		"":                      "the file is empty",
		"\n\n":                  "the file is empty",
		"PK\x03\x04rest":        "save it as CSV",
		"nome\x00,obs\x00":      "NUL bytes",
		"\xd0\xcf\x11\xe0\xa1b": "save it as .xlsx",
		`nome,"obs` + "\n":      "the header cannot be read",
		"\r\n<html><table>":     "save it as .xlsx",
	} {
		if _, err := read(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// endless repeats a pattern for ever.
type endless struct {
	pattern string
	at      int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.pattern[e.at%len(e.pattern)]
		e.at++
	}
	return len(p), nil
}

func TestHostileFilesFailInBoundedMemory(t *testing.T) {
	const gigabyte = 1 << 30
	for name, start := range map[string]string{"line without end": "nome\nAna", "quote never closed": "nome\nAna\n\""} {
		for _, pattern := range []string{"a", "a\n", "é", "\x00", ",", "\n"} {
			if name == "line without end" && strings.HasPrefix(pattern, "a\n") {
				continue // that is a good file
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			reader, err := Open(io.MultiReader(strings.NewReader(start), io.LimitReader(&endless{pattern: pattern}, gigabyte)))
			for err == nil {
				_, err = reader.Next()
			}
			runtime.ReadMemStats(&after)
			if !errors.Is(err, errTooLong) {
				t.Errorf("%s of %q: %v", name, pattern, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
				t.Errorf("%s of %q took %d MiB", name, pattern, used>>20)
			}
		}
	}
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	row := "Ana da Silva,\"Rua A,\n12\",31/12/2027\n"
	reader, err := Open(io.MultiReader(strings.NewReader("nome,obs,vencimento\n"), io.LimitReader(&endless{pattern: row}, int64(200_000*len(row)))))
	if err != nil {
		t.Fatal(err)
	}
	count, most := 0, uint64(0)
	for _, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count%20_000 == 0 {
			var stats runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapAlloc)
		}
	}
	if count != 200_000 || most > 16<<20 {
		t.Errorf("%d rows, %d MiB", count, most>>20)
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"nome;telefone\nJoão;11\n", "name,notes\nA,\"b\nc\"\n", "nome\tvalor\nA\t\"R$ 1.234,56\"\n", "\ufeffnome\nA",
		"\xff\xfen\x00o\x00m\x00e\x00\n\x00A\x00", "nome\nJo\xe3o\n", "nome,\"obs\n", "nome\n\"A\nB\n", "nome;vencimento\n;;;\nA;1/2/2027\n\x00",
	} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		// However the bytes come in, the rows are the same.
		whole, wholeErr := drain(t, strings.NewReader(string(data)), len(data))
		pieces, piecesErr := drain(t, &dribble{data, rand.New(rand.NewPCG(seed, 0))}, len(data))
		if !slices.Equal(whole, pieces) || fmt.Sprint(wholeErr) != fmt.Sprint(piecesErr) {
			t.Fatalf("whole: %q, %v\npieces: %q, %v", whole, wholeErr, pieces, piecesErr)
		}
	})
}

// drain reads a file to its end and holds every row to what rows promise.
func drain(t *testing.T, r io.Reader, size int) ([]string, error) {
	t.Helper()
	reader, err := Open(r)
	if err != nil {
		return nil, err
	}
	_, _ = reader.Warnings(), reader.Check()
	var got []string
	line := 0
	for row, err := range reader.All() {
		if err != nil {
			return got, err
		}
		if row.Line <= line || len(got) > size {
			t.Fatalf("row %d of %d bytes is in line %d, after line %d", len(got), size, row.Line, line)
		}
		line = row.Line
		for field, value := range row.Values {
			if !IsField(field) || strings.TrimSpace(value) == "" {
				t.Fatalf("line %d has %q under %q", line, value, field)
			}
		}
		got = append(got, describe(row))
	}
	return got, nil
}

// dribble gives out a file in pieces of any size.
type dribble struct {
	rest []byte
	rand *rand.Rand
}

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+d.rand.IntN(7))], d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

func TestHeadingThatIsNamedComesBeforeOneThatIsGuessed(t *testing.T) {
	reader, got := readAll(t, "Velocidade;Nome;Plano;Telefone;Celular;Tel. 2\n100 MB;Ana;Fibra;3532211234;;\n;Bia;Fibra;3532211234;35 98765-4321;35987654322\n;Caio;;não tem;123;35987654323\n")
	if want := []Column{{"Velocidade", ""}, {"Nome", "name"}, {"Plano", "plan"}, {"Telefone", "whatsapp"}, {"Celular", "whatsapp"}, {"Tel. 2", "whatsapp"}}; !slices.Equal(reader.Columns, want) {
		t.Errorf("columns: %+v", reader.Columns)
	}
	want := []string{ // a mobile number before others, whatever the order
		"2 name=Ana plan=Fibra whatsapp=+553532211234",
		"3 name=Bia plan=Fibra whatsapp=+5535987654321",
		"4 name=Caio whatsapp=+5535987654323",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestHeaderOfEveryPrintedPageIsNoCustomer(t *testing.T) {
	got, err := read(t, "Nome;Obs\nAna;a\nNome;Obs\nBia;b\n")
	if want := []string{"2 name=Ana notes=a", "4 name=Bia notes=b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDayOfTheMonthIsTheNextSuchDay(t *testing.T) {
	const next = "is a day of the month: the next one was taken"
	wantNear(t, next, map[string]string{
		"10": "2026-12-10", "18": "2026-11-18", "dia 20": "2026-11-20", "Todo dia 5": "2026-12-05", "31": "2026-12-31", "05": "2026-12-05",
		"10 de cada mês": "2026-12-10", "vence dia 10": "2026-12-10", "dia 10 do mês": "2026-12-10",
	})
	wantNear(t, "", map[string]string{"0": "", "32": "", "dia": "", "10 ou 15": "", "10 15": "", "": ""})
}

func TestDayWithoutItsYearIsTheNearestWhereThatIsClear(t *testing.T) {
	wantNear(t, "has no year: the nearest such day was taken", map[string]string{
		"10/11": "2026-11-10", "18/11": "2026-11-18", "10/12": "2026-12-10", "5/1": "2027-01-05", "10.11": "2026-11-10",
		"10-nov": "2026-11-10", "10/nov": "2026-11-10", "5 de janeiro": "2027-01-05", "dia 10/11": "2026-11-10",
		"31/08": "2026-08-31", "28/02": "2027-02-28",
	})
	// Half a year from now, no year is the one that is meant; the others have no such day, or no day at all.
	wantNear(t, "", map[string]string{
		"10/05": "", "18/05": "", "1/7": "", "29/02": "", "31/11": "", "10/13": "", "12/27": "", "12/2027": "", "2027-12": "", "10/xyz": "", "10/11/x": "",
	})
}

// wantNear wants cells to be read as days around 2026-11-18, in one way.
func wantNear(t *testing.T, reading string, cells map[string]string) {
	t.Helper()
	for cell, want := range cells {
		if due, got := NearDay(cell, civil.MustParse("2026-11-18")); due.String() != want || got != reading {
			t.Errorf("%q: %s, %q", cell, due, got)
		}
	}
}
