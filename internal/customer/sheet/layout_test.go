package sheet

import (
	"fmt"
	"runtime"
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
		if got := isTotal(strings.Split(line, ";")); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
	reader, got := readAll(t, "nome;telefone;valor\nAna;;35,00\nSubtotal;;35,00\nBia;;10\n\nTotal: 2\n;;45,00\n", false)
	want := []string{"2 name=Ana value=35.00", "4 name=Bia value=10.00"}
	if !slices.Equal(got, want) || !slices.Equal(reader.Totals, []int{3, 6, 7}) {
		t.Errorf("got %q, passed over %v", got, reader.Totals)
	}
}

func TestEmptyCellsBehindTheLastColumnDoNotMatter(t *testing.T) {
	got, err := read(t, "nome;obs\nAna;a;;;\nBia;b;;c\n")
	if want := []string{"2 name=Ana notes=a", "3 [: has 4 fields where the header has 2]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDuplicatesAreFoundWithinTheFile(t *testing.T) {
	reader, err := Open(strings.NewReader(strings.Join([]string{
		"nome;telefone;cpf;vencimento",
		"Ana;11987654321;52998224725;10/12/27",
		"Bia;;;10/12/27",
		"Ana Maria;(11) 98765-4321;;",
		"ANA;;;10/12/2027",
		"Ana;;;11/12/27",
		"Caio;;529.982.247-25;",
		"Ána;+55 11 98765-4321;52998224725;10/12/27",
		"Bia;8765;1;",
		"Bia;8765;1;",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var duplicates Duplicates
	var got []string
	for row, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		for _, same := range duplicates.Of(row) {
			got = append(got, fmt.Sprintf("%d as %d: %s %s", row.Line, same.Line, same.Field, same.Reason))
		}
		duplicates.Remember(row)
	}
	want := []string{
		"4 as 2: whatsapp is the phone of an earlier line too",
		"5 as 2: name is in an earlier line too, with the same due date",
		"7 as 2: cpf_cnpj is the CPF or CNPJ of an earlier line too",
		"8 as 2: whatsapp is the phone of an earlier line too",
		"8 as 2: cpf_cnpj is the CPF or CNPJ of an earlier line too",
		"8 as 2: name is in an earlier line too, with the same due date",
	}
	if !slices.Equal(got, want) || duplicates.Full {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	if same := duplicates.Of(Row{Line: 20, Values: map[string]string{"whatsapp": "52998224725"}}); same != nil {
		t.Errorf("a phone was taken for a CPF: %+v", same)
	}
}

func TestDuplicatesOfAHundredThousandRowsTakeAFewMegabytes(t *testing.T) {
	row := func(i int) Row {
		return Row{Line: i + 2, Values: map[string]string{
			"name": fmt.Sprintf("Cliente %d", i), "data_de_vencimento": "2027-12-31", "whatsapp": fmt.Sprintf("+55119%08d", i), "cpf_cnpj": fmt.Sprintf("%011d", i),
		}}
	}
	var duplicates Duplicates
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100_000 {
		if same := duplicates.Of(row(i)); same != nil {
			t.Fatalf("row %d is said to be %+v", i, same)
		}
		duplicates.Remember(row(i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := after.HeapAlloc - before.HeapAlloc; after.HeapAlloc > before.HeapAlloc && held > 24<<20 || duplicates.Full {
		t.Errorf("%d MiB are held, full: %t", held>>20, duplicates.Full)
	}
	if same := duplicates.Of(row(77_777)); len(same) != 3 || same[0].Line != 77_779 {
		t.Errorf("got %+v", same)
	}
	if duplicates.Remember(row(100_000)); !duplicates.Full {
		t.Error("more was remembered than there is room for")
	}
	runtime.KeepAlive(&duplicates)
}
