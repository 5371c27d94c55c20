package sheet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLinesBeforeTheHeaderArePassedOver(t *testing.T) {
	const table = "Nome;Telefone\nAna;11987654321\n"
	for name, tt := range map[string]struct {
		preface string
		line    int
	}{
		"none":                   {"", 2},
		"sep":                    {"sep=;\n", 3},
		"a title":                {"Relatório de Clientes\n\n", 4},
		"a title as a row":       {"Relatório de Clientes;\nEmitido em;15/11/2026\n", 4},
		"a title with a heading": {"Cliente;Academia Sol\n", 3},
		"ten lines":              {strings.Repeat("x;\n", maxPreface), 12},
	} {
		got, err := read(t, tt.preface+table)
		if want := []string{fmt.Sprintf("%d name=Ana whatsapp=+5511987654321", tt.line)}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	reader, err := Open(strings.NewReader(strings.Repeat("x;\n", maxPreface+1) + table))
	if err != nil || reader.Columns[0].Heading != "x" {
		t.Errorf("a header too far down: %+v, %v", reader.Columns, err)
	}
	reader, err = Open(strings.NewReader("apelido;cor\nplano;azul\n"))
	if err != nil || reader.Columns[0].Heading != "apelido" {
		t.Errorf("a value that is a heading elsewhere was taken for the header: %+v, %v", reader.Columns, err)
	}
	// A value further down that looks like headings does not take the place of a header that has more of them.
	got, err := read(t, "nome;telefone;email\nvalor;plano;\nBia;;\n")
	if want := []string{"2 name=valor whatsapp=plano [whatsapp: must be a phone number: digits, with country and area code]", "3 name=Bia (name: has nothing else in its line: perhaps it is no customer)"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTotalsAreNoCustomers(t *testing.T) {
	for line, want := range map[string]bool{
		"Total: 123":               true,
		"TOTAL;;;1.234,56":         true,
		";;Total;R$ 1.234,56":      true,
		"Total geral;120;4.200,00": true,
		"Total de clientes: 120;;": true,
		"Total 120":                true,
		"Subtotal;35,00":           true,
		"Total: R$ 99,00":          true,
		"Soma;;;0":                 true,
		"Qtd.;12":                  true,
		"Qtde: 12":                 true,
		"Total Fitness Academia":   false,
		"Total;11987654321":        false, // has a phone
		"Total;ana@example.com":    false,
		"Total;;31/12/2027":        false,
		"Total: Ana":               false,
		"Ana;Total":                false,
		"Totalmente Zen;35,00":     false,
		"120;35,00":                false,
		"":                         false,
	} {
		if got := new(Reader).isSum(strings.Split(line, ";")); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
	_, got := readAll(t, "nome;telefone;valor\nAna;;35,00\nSubtotal;;35,00\nBia;;10\n\nTotal: 2\n;;45,00\n")
	want := []string{"2 name=Ana value=35.00", "4 name=Bia value=10.00"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestEmptyCellsBehindTheLastColumnDoNotMatter(t *testing.T) {
	got, err := read(t, "nome;obs\nAna;a;;;\nBia;b;;c\n")
	if want := []string{"2 name=Ana notes=a", "3 [: has 4 fields where the header has 2]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}
