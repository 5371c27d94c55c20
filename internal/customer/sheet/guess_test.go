package sheet

import (
	"slices"
	"strings"
	"testing"
)

// A list that begins with a customer loses none of them, and its columns are what their values say.
func TestFileWithoutHeaderIsReadByItsValues(t *testing.T) {
	for name, file := range map[string]string{
		"tabs": "Ana Lima\t(35) 98100-1000\t01/12/2026\tFibra 100\t79,90\nBia\t35981001001\t2/12/26\tFibra 100\t79,90\n" +
			"Caio\t\t03/12/2026\tFibra 100\tR$ 1.079,90\n",
		"the lines that were left out": "A;B;C;D;E\nAna Lima;(35) 98100-1000;01/12/2026;Fibra 100;79,90\nBia;35981001001;2/12/26;Fibra 100;79,90\n" +
			"Caio;;03/12/2026;Fibra 100;R$ 1.079,90\n",
	} {
		reader, got := readAll(t, file)
		want := []string{
			"name=Ana Lima plan=Fibra 100 value=79.90 whatsapp=+5535981001000",
			"name=Bia plan=Fibra 100 value=79.90 whatsapp=+5535981001001",
			"name=Caio plan=Fibra 100 value=1079.90",
		}
		for n := range want {
			line, rest, _ := strings.Cut(got[n], " ")
			_, rest, _ = strings.Cut(rest, " ")
			if rest != want[n] || line == "" {
				t.Errorf("%s: %q, want %q", name, got[n], want[n])
			}
		}
		if len(got) != len(want) || reader.Columns[2] != (Column{"C", "data_de_vencimento"}) {
			t.Errorf("%s: %d rows, %+v", name, len(got), reader.Columns)
		}
		if warnings := reader.Warnings(); len(warnings) != 5 || warnings[1] != "no line names the columns; by its values, B is read as whatsapp" {
			t.Errorf("%s: %q", name, warnings)
		}
	}
	got, err := read(t, "1;Ana;ana@example.com;Rua A, 10 - Centro\n2;Bia;bia@example.com;Rua B, 11\n")
	want := []string{
		"1 address.district=Centro address.number=10 address.street=Rua A email=ana@example.com name=Ana",
		"2 address.number=11 address.street=Rua B email=bia@example.com name=Bia",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

// A header stays one although no heading is known, or one is a date.
func TestHeaderIsNotTakenForACustomer(t *testing.T) {
	for file, want := range map[string]Column{
		"apelido;cor\nAna;azul\n":                {"apelido", ""},
		"Nome;05/11/2026;05/12/2026\nAna;x;x\n":  {"Nome", "name"},
		"Cliente;2026\nAna;11987654321\n":        {"Cliente", "name"},
		"Foo;Bar\nAna;11987654321\nBia;119876\n": {"Foo", ""},
	} {
		reader, err := Open(strings.NewReader(file))
		if err != nil || reader.Columns[0] != want {
			t.Errorf("%q: %+v, %v", file, reader.Columns, err)
		}
	}
}

func TestColumnsThatBelongTogetherAreRead(t *testing.T) {
	for file, want := range map[string]string{
		"Nome;DDD;Celular\nAna;35;99800-0000\n":                        "2 name=Ana whatsapp=+5535998000000",
		"Nome;DDD;Celular\nAna;35;(11) 99800-0000\n":                   "2 name=Ana whatsapp=+5511998000000",
		"Nome;Celular\nAna;35\n":                                       "2 name=Ana whatsapp=35 [whatsapp: must have 10 or 11 digits with its area code; a number of another country begins with +]",
		"Nome;DDD;Celular\nAna;35;\n":                                  "2 name=Ana (name: has nothing else in its line: perhaps it is no customer)",
		"Nº;Nome;Rua\n7;Ana;Rua A\n":                                   "2 address.street=Rua A name=Ana",
		"Nome;Rua;Nº\nAna;Rua A;7\n":                                   "2 address.number=7 address.street=Rua A name=Ana",
		"Nome;Rua;Nº\nAna;Rua A, 5;7\n":                                "2 address.number=7 address.street=Rua A, 5 name=Ana",
		"Nome;Endereço;Bairro\nAna;Rua A, 5;Centro\n":                  "2 address.district=Centro address.number=5 address.street=Rua A name=Ana",
		"Nome;Endereço;Bairro\nAna;Rua A, 5 - Vila;Centro\n":           "2 address.district=Centro address.street=Rua A, 5 - Vila name=Ana",
		"Nome;Serviço;Valor\nAna;Internet 100;79,90\n":                 "2 name=Ana plan=Internet 100 value=79.90",
		"Nome;Serviço;Plano;Valor\nAna;Internet;Fibra 100;79,90\n":     "2 name=Ana plan=Fibra 100 product=Internet value=79.90",
		"Nome;Sobrenome;Telefone\nAna;Lima;35998000000\n":              "2 name=Ana Lima whatsapp=+5535998000000",
		"Sobrenome;Nome\nLima;Ana\n":                                   "2 name=Ana Lima",
		"Cliente;Whats App;Dia\nAna;35998000000;10/12/2026\n":          "2 data_de_vencimento=2026-12-10 name=Ana whatsapp=+5535998000000",
		"Nome;Dia;Vencimento\nAna;5;10/12/2026\n":                      "2 data_de_vencimento=2026-12-10 name=Ana",
		"customer_name;phone_number\nAna;+5535998000000\n":             "2 name=Ana whatsapp=+5535998000000",
		"Nome;Plano;Valor\n;Fibra;79,90\n;;R$ 79,90\n":                 "2 plan=Fibra value=79.90",
		"Nome;Telefone;Valor\nAna;35998000000;79,90\n;35998000001;1\n": "2 name=Ana value=79.90 whatsapp=+5535998000000",
	} {
		if got, err := read(t, file); err != nil || got[0] != want {
			t.Errorf("%q: %q, %v", file, got, err)
		}
	}
}
