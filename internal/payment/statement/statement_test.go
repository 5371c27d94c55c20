package statement

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"carteira/internal/platform/civil"
)

func read(t *testing.T, name string) Statement {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	statement, err := Read(content)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return statement
}

// The files have the encodings, dates, signs and columns of thirteen ways, seven of them OFX, in which
// Brazilian banks write statements.
func TestDialectsOfBanksAreRead(t *testing.T) {
	tests := map[string][]string{
		"sgml_open.ofx": {
			"2026-03-05 35.00 PIX TRANSF JOÃO AR05/03",
			"2026-03-06 1234.56 PIX QRS MARIA APARECIDA DE SOUZA06/03",
			"2026-03-06 -12.90 TAR PACOTE SERVIÇOS",
		},
		"sgml_closed.ofx": {
			"2026-03-05 59.90 Pix - Recebido - 05/03 14:22 00052998224725 JOSÉ ANTÔNIO",
			"2026-03-05 -59.90 Pix - Enviado",
		},
		"xml.ofx": {
			"2026-03-05 99.90 Transferência recebida pelo Pix - ANA & PAULA LTDA - 11.222.333/0001-81" +
				" - BANCO EXEMPLO S.A. (0001) Agência: 1 Conta: 12345-6",
			"2026-03-07 35.00 Transferência recebida pelo Pix - JOÃO ARAÚJO LIMA - •••.982.247-•• - BANCO EXEMPLO S.A. (0001)",
		},
		"comma_unsigned.ofx": {
			"2026-03-09 1049.90 RECEBIMENTO PIX E00416968202603091200abcDEF12345 JOÃO ARAÚJO LIMA",
			"2026-03-09 -20.00 TARIFA",
		},
		"utf16.ofx": {
			"2026-03-05 35.00 PIX RECEBIDO JOÃO ARAÚJO LIMA",
			"2026-03-05 -9.90 TARIFA MANUTENÇÃO",
		},
		"signed_types.ofx": { // where one amount has a sign, no type says another
			"2026-03-05 59.90 COB INTERNET JOSÉ ANTÔNIO",
			"2026-03-06 100.00 DEP DINHEIRO ATM",
			"2026-03-06 -12.00 CESTA DE SERVIÇOS",
		},
		"bare_lower.ofx": {
			"2026-03-05 1049.90 ANA & PAULA LTDA - ANA & PAULA LTDA 11222333000181",
			"2026-03-06 -35.00 PIX ENVIADO LOJA EXEMPLO",
		},
		"credit_debit.csv": {
			"2026-03-05 35.00 TRANSFERENCIA PIX - REM: JOÃO ARAÚJO LIMA 05/03",
			"2026-03-06 -200.00 PAGTO ELETRON COBRANCA",
		},
		"signed.csv": {
			"2026-03-05 35.00 Transferência recebida pelo Pix - JOÃO ARAÚJO LIMA - •••.982.247-•• - BANCO EXEMPLO",
			"2026-03-06 -120.50 Transferência enviada pelo Pix - LOJA EXEMPLO",
		},
		"sign_column.csv": {
			"2026-03-05 59.90 Pix - Recebido - 05/03 14:22 00052998224725 JOSÉ ANTÔNIO",
			"2026-03-05 -10.00 Pix - Enviado - 05/03 15:00 LOJA",
		},
		"preamble_bom.csv": {
			"2026-03-05 35.00 Pix recebido - Cp :60746948-João Araújo Lima",
			"2026-03-06 -1000.00 Pix enviado - Cp :12345678-Loja Exemplo",
		},
		"english.csv": {
			"2026-03-05 1049.90 João Araújo Lima",
			"2026-03-06 -20.00 Shop",
		},
		"in_out.csv": {
			"2026-03-05 35.00 Pix recebido de JOAO ARAUJO LIMA - Transf recebida",
			"2026-03-06 -20.00 Pix enviado - Loja",
		},
	}
	for name, want := range tests {
		var got []string
		for _, line := range read(t, name).Lines {
			got = append(got, fmt.Sprint(line.On, " ", line.Amount, " ", line.Description))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

func TestAccountIdsAndUnreadLinesAreKept(t *testing.T) {
	statement := read(t, "comma_unsigned.ofx")
	if first := statement.Lines[0]; first.Account != "0123 45678" || first.ID != "1" {
		t.Errorf("got %+v", first)
	}
	if statement.Unread != 1 {
		t.Errorf("%d lines could not be read, want 1", statement.Unread)
	}
	if id := read(t, "signed.csv").Lines[0].ID; id != "65f1c2aa-0000-4000-8000-0123456789ab" {
		t.Errorf("id %q", id)
	}
}

func TestLastMovementWithoutAnEndIsRead(t *testing.T) {
	for _, end := range []string{"", "</BANKTRANLIST><LEDGERBAL><BALAMT>99,00<DTASOF>20260318</LEDGERBAL></OFX>"} {
		got, err := Read([]byte("<OFX><BANKTRANLIST><STMTTRN><DTPOSTED>20260305<TRNAMT>35,00<MEMO>PIX ANA\n" +
			"<STMTTRN><DTPOSTED>20260306<TRNAMT>36,00<MEMO>PIX BIA\n" + end))
		if err != nil || len(got.Lines) != 2 || got.Unread != 0 || got.Lines[1].Amount != 3600 || got.Lines[1].Description != "PIX BIA" {
			t.Errorf("%q: %+v, %v", end, got, err)
		}
	}
}

func TestPayersAreFoundInWhatBanksWrite(t *testing.T) {
	tests := []struct {
		line          Line
		name, tax, id string
	}{
		{Line{Description: "TRANSFERENCIA PIX - REM: JOÃO ARAÚJO LIMA 05/03"}, "joao araujo lima", "", ""},
		{Line{Description: "Pix recebido - Cp :60746948-João Araújo Lima"}, "joao araujo lima", "", ""},
		{Line{Description: "PIX RECEBIDO JOAO ARAUJO LIMA"}, "joao araujo lima", "", ""},
		{Line{Description: "Transferência recebida pelo Pix - JOÃO ARAÚJO LIMA - •••.982.247-••"}, "joao araujo lima", "", ""},
		{Line{Description: "Pix - Recebido - 05/03 14:22 00052998224725 JOSÉ ANT"}, "jose ant", "52998224725", ""},
		{Line{Description: "TED 529.982.247-25"}, "", "52998224725", ""},
		{Line{Description: "TED 529.982.247-26"}, "", "", ""},
		{Line{Description: "Pix - 11.222.333/0001-81"}, "", "11222333000181", ""},
		{Line{ID: "e00416968202603051422abcDEF12345"}, "", "", "E00416968202603051422abcDEF12345"},
		{Line{Description: "PIX QRS MARIA DE SOUZA06/03"}, "maria de souza", "", ""},
		{Line{Description: "PIX RECEBIDO JOAO"}, "", "", ""},
	}
	for _, test := range tests {
		if got := strings.Join(test.line.Names(), ","); got != test.name {
			t.Errorf("%q: names %q, want %q", test.line.Description, got, test.name)
		}
		if got := strings.Join(test.line.TaxIDs(), ","); got != test.tax {
			t.Errorf("%q: tax ids %q, want %q", test.line.Description, got, test.tax)
		}
		if got := test.line.EndToEnd(); got != test.id {
			t.Errorf("%+v: end-to-end id %q, want %q", test.line, got, test.id)
		}
	}
	if got := Name("João Araújo  Lima"); got != "joao araujo lima" {
		t.Errorf("name %q", got)
	}
	tokens := Line{Description: "PIX abcdefghijklmnopqrstuvwxy"}.Tokens()
	if len(tokens) != 1 || tokens[0] != "abcdefghijklmnopqrstuvwxy" {
		t.Errorf("tokens %q", tokens)
	}
}

func TestAmountsAndDates(t *testing.T) {
	amounts := map[string]string{
		"35.00": "35.00", "-35,00": "-35.00", "+35,00": "35.00", "1.234,56": "1234.56", "1,234.56": "1234.56",
		"R$ 35,00": "35.00", "-R$ 35,00": "-35.00", "R$ -35,00": "-35.00", "35,00 D": "-35.00", "35,00C": "35.00",
		"35,00-": "-35.00", "(35,00)": "-35.00", "35": "35.00", "35,5": "35.50", ",50": "0.50", "1.234.567,89": "1234567.89",
		"1.234": "", "": "", "abc": "", "1,2,3": "", "12.34.56": "", "99999999999999999999,00": "",
	}
	for value, want := range amounts {
		got, ok := parseAmount(value)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q: %s, %v, want %q", value, got, ok, want)
		}
	}
	want := civil.MustParse("2026-03-05")
	for _, value := range []string{
		"20260305", "2026-03-05", "05/03/2026", "5/3/2026", "05/03/26", "05-03-2026", "05.03.2026",
		"05/03/2026 14:22", "2026-03-05T14:22:01",
	} {
		if got, ok := parseDate(value); !ok || got != want {
			t.Errorf("%q: %s, %v", value, got, ok)
		}
	}
	for _, value := range []string{"", "05/03", "31/02/2026", "ontem", "2026030", "a/b/c"} {
		if got, ok := parseDate(value); ok {
			t.Errorf("%q: %s", value, got)
		}
	}
}

func TestWhatIsNoStatementIsRefused(t *testing.T) {
	many := "data;valor\n" + strings.Repeat("05/03/2026;1,00\n", MaxLines+1)
	tests := map[string]error{
		"": ErrEmpty, " \n": ErrEmpty, "hello": ErrFormat, "nome;telefone\nAna;1\n": ErrFormat,
		"data;valor\n": ErrNoLines, "<OFX></OFX>": ErrNoLines, many: ErrLines,
		strings.Repeat("x", MaxSize+1): ErrSize, "PK\x03\x04\x00\x00": ErrFormat,
	}
	for content, want := range tests {
		if _, err := Read([]byte(content)); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", content, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 10 {
		f.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		statement, err := Read(content)
		if err != nil {
			return
		}
		if len(statement.Lines) == 0 || len(statement.Lines) > MaxLines {
			t.Fatalf("%d lines", len(statement.Lines))
		}
		for _, line := range statement.Lines {
			if line.On.IsZero() || line.Amount == 0 || len(line.Description) > maxText || len(line.ID) > maxID {
				t.Fatalf("%+v", line)
			}
			for _, id := range line.TaxIDs() {
				if len(id) != 11 && len(id) != 14 {
					t.Fatalf("%+v: tax id %q", line, id)
				}
			}
			line.Names()
			line.Tokens()
			line.EndToEnd()
		}
	})
}
