package sheet

import (
	"slices"
	"strings"
	"testing"
)

// readAll is read that returns the Reader too.
func readAll(t *testing.T, file string) (*Reader, []string) {
	t.Helper()
	reader, err := Open(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, describe(row))
	}
	return reader, got
}

func TestTheFirstOfSeveralPhonesIsTaken(t *testing.T) {
	const others = "has several numbers, of which the first was taken"
	const words = "has words with the number, which were left out"
	tests := []struct{ in, want, warning, reason string }{
		{"(11) 98765-4321", "+5511987654321", "", ""},
		{"+351 912 345 678", "+351912345678", "", ""},
		{"11987654321.0", "+5511987654321", "", ""},
		{"11987654321,00", "+5511987654321", "", ""},
		{"11/98765-4321", "+5511987654321", "", ""},
		{"11 98765-4321 / 11 3456-7890", "+5511987654321", others, ""},
		{"11 98765-4321/11 3456-7890", "+5511987654321", others, ""},
		{"(11)98765-4321;(11)3456-7890", "+5511987654321", others, ""},
		{"1134567890, 11987654321", "+551134567890", others, ""},
		{"11 98765-4321 ou 3456-7890", "+5511987654321", others, ""},
		{"11987654321 e 11987654322", "+5511987654321", others, ""},
		{"11987654321\n11987654322", "+5511987654321", others, ""},
		{"3456-7890 / 11 98765-4321", "+5511987654321", others, ""}, // the first that is one
		{"3456-7890 / 98765-4321", "", "", "must have an area code, as in (11) 98765-4321"},
		{"11 8765-4321", "", "", "lacks the ninth digit: a mobile number has nine digits after the area code and begins with 9"},
		{"1,19877E+10", "", "", errCut.Error()},
		{"5.51199E+12", "", "", errCut.Error()},
		{"0xx11 98765-4321", "+5511987654321", words, ""},
		{"Cel: 11 98765-4321 (esposa)", "+5511987654321", words, ""},
		{"11 98765-432 (falta um)", "", "", "must be a phone number: digits, with country and area code"},
		{"ligar depois", "", "", "must be a phone number: digits, with country and area code"},
	}
	for _, tt := range tests {
		got, err := Phones{}.spell(tt.in)
		if got != (spelling{tt.want, tt.warning}) || (err == nil) != (tt.reason == "") || err != nil && err.Error() != tt.reason {
			t.Errorf("%q: %+v, %v", tt.in, got, err)
		}
	}
}

func TestZerosThatASpreadsheetDroppedComeBack(t *testing.T) {
	for in, want := range map[string]string{
		"529.982.247-25": "52998224725", "1234567890": "01234567890", "01234567890": "01234567890", "191": "", "1234567891": "",
		"11222333000181": "11222333000181", "33000167000101": "33000167000101",
		"12.ABC.345/01DE-35": "12ABC34501DE35", "1,2345E+10": "", "52998224725.0": "52998224725", "000191": "",
	} {
		if got, err := spellTaxID(in); got != want || (err == nil) != (want != "") {
			t.Errorf("tax id %q: %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"1310100": "01310100", "01310-100": "01310100", "1310100.0": "01310100", "131010": "", "1310-100": ""} {
		if got, err := spellCEP(in); got != want || (err == nil) != (want != "") {
			t.Errorf("CEP %q: %q, %v", in, got, err)
		}
	}
}

func TestEmailCellsOfSeveralAddresses(t *testing.T) {
	for in, want := range map[string]spelling{
		"ana@example.com":                    {"ana@example.com", ""},
		"mailto:ana@example.com":             {"ana@example.com", ""},
		"ana@example.com; bia@example.com":   {"ana@example.com", "has several addresses, of which the first was taken"},
		"ana@example.com,bia@example.com":    {"ana@example.com", "has several addresses, of which the first was taken"},
		"Ana Maria ana@example.com":          {"Ana Maria ana@example.com", ""}, // for the form to refuse
		"ana@example.com ou bia@example.com": {"ana@example.com ou bia@example.com", ""},
	} {
		if got, err := spellEmail(in); got != want || err != nil {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	if got, err := spellEmail("não sei"); err == nil {
		t.Errorf("got %+v", got)
	}
}

func TestCellsAreFreedFromWhatSpreadsheetsPutAroundThem(t *testing.T) {
	_, got := readAll(t, "nome;telefone;cpf;obs;cep\n"+
		`Ana;'11987654321;"=""01234567890""";-;'01310100`+"\n"+
		"Bia;-;n/a;não tem;---\n"+
		"Caio;Não informado;x;x;\n")
	want := []string{
		"2 address.cep=01310100 cpf_cnpj=01234567890 name=Ana notes=- whatsapp=+5511987654321",
		"3 name=Bia notes=não tem",
		"4 name=Caio notes=x",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}

func TestValuesThatCannotBeReadStayWithTheirReasons(t *testing.T) {
	const file = "nome;telefone;cpf;cep;uf;vencimento;valor;custom.MAC\nAna;8765-4321;111;99;XX;31/02/27;dez;00:1A\n"
	want := "2 address.cep=99 address.state=XX cpf_cnpj=111 custom.MAC=00:1A data_de_vencimento=31/02/27 name=Ana value=dez whatsapp=8765-4321" +
		" [whatsapp: must have an area code, as in (11) 98765-4321] [cpf_cnpj: must be a CPF with 11 digits or a CNPJ with 14 characters]" +
		" [address.cep: must be a CEP with eight digits, as in 01310-100] [address.state: must be one of the 27 states, as in SP]" +
		" [data_de_vencimento: must be a day that exists in the calendar] [value: must be an amount such as 1.234,56]"
	if _, got := readAll(t, file); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q", got)
	}
}

func TestWhatDecidesAboutMoneyIsNeverLeftOut(t *testing.T) {
	for _, field := range Fields() {
		money := slices.Contains([]string{"name", "data_de_vencimento", "plan", "plan_id", "value", "price", "product", "product_id"}, field)
		if Optional(field) == money || !IsField(field) {
			t.Errorf("%s: optional %t, field %t", field, Optional(field), IsField(field))
		}
	}
}
