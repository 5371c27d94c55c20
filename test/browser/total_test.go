package browser

import (
	"fmt"
	"strings"
	"testing"
)

// crowd is a file of many customers with one name.
func crowd(t *testing.T) string {
	t.Helper()
	var file strings.Builder
	file.WriteString("nome;vencimento\n")
	for n := range 10_200 {
		fmt.Fprintf(&file, "Ana Oliveira %d;10/01/2026\n", n)
	}
	return sheet(t, file.String())
}

// A search with a filter shows its exact total with its rows, also to a person who goes on typing.
func TestSearchShowsItsTotalAtOnce(t *testing.T) {
	p, b := newCompany(t)
	p.command("import", "customers", crowd(t), "--company", "1")
	b.visit("/customers?status=Vencido&search=Oliveira")
	b.see("10.200 clientes", "1–36 de 10.200", "Próxima")
	b.click(".list thead .pickbox")
	b.see("Todos os 10.200 da lista")
	b.picture(t, rules(t), "customers-counted")

	b.visit("/customers?status=Vencido")
	b.write("search", "ana ol")
	b.see("10.200 clientes", "1–36 de 10.200")
}
