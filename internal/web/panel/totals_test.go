package panel

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// crowded is many pages of customers. One in three is called Oliveira, one in
// five of those is late, and each owes an invoice.
const crowded = 1_020

func (p *person) crowd() {
	p.t.Helper()
	var file strings.Builder
	file.WriteString("nome;vencimento;plano;valor\n")
	for n := range crowded {
		name, due := "Silva", "20/02/2026"
		if n%3 == 0 {
			name = "Oliveira"
		}
		if n%5 == 0 {
			due = "10/01/2026"
		}
		fmt.Fprintf(&file, "Ana %s %d;%s;Mensal;35,00\n", name, n, due)
	}
	rows := func() iter.Seq2[sheet.Row, error] {
		reader, err := sheet.Open(strings.NewReader(file.String()))
		housetest.Must(p.t, err)
		return reader.All()
	}
	_, err := p.Intake.Import(p.t.Context(), p.actor, rows, intake.ImportOptions{CreateMissing: true, Invoices: true})
	housetest.Must(p.t, err)
}

// A search of many, with a filter too, has its exact total.
func TestASearchOfManyHasItsTotal(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.crowd()
		person.wantChosenWhole(t)
		person.wantTotalsWith(t)
	})
}

// wantTotalsWith wants each page with its total.
func (p *person) wantTotalsWith(t *testing.T) {
	t.Helper()
	for path, want := range map[string]string{
		"/customers":                                        "1.020 clientes",
		"/customers?status=Vencido":                         "204 clientes · R$ 7.140,00 por mês",
		"/customers?search=oliveira":                        "340 clientes",
		"/customers?search=oliveira&status=Vencido":         "68 clientes · R$ 2.380,00 por mês",
		"/customers?search=a&plan_id=1&sort=name":           "1.020 clientes",
		"/customers?search=Oliveira+510&status=Vencido":     "1 cliente · R$ 35,00",
		"/customers?search=OLIVEIRA&status=Vencido&page=2":  "68 clientes · R$ 2.380,00 por mês",
		"/customers?search=OLIVEIRa&status=Vencido&page=99": "",
		"/invoices":                                            "1.020 faturas",
		"/invoices?overdue=true":                               "204 faturas · R$ 7.140,00",
		"/invoices?search=oliveira":                            "340 faturas",
		"/invoices?search=Oliveira+510&overdue=true":           "1 fatura · R$ 35,00",
		"/invoices?search=OLIVEIRA&overdue=true&page=2":        "68 faturas · R$ 2.380,00",
		"/invoices?search=oliveira&status=Cancelado&sort=name": "",
	} {
		p.get(path).want(t, http.StatusOK, want)
	}
}

// wantChosenWhole wants the place of a record in a list, and all of that list
// for work over many.
func (p *person) wantChosenWhole(t *testing.T) {
	t.Helper()
	for path, title := range map[string]string{
		"/customers?search=oliveira&status=Vencido": "Cancelar 68 clientes?",
		"/invoices?search=oliveira&overdue=true":    "Cancelar 68 faturas?",
	} {
		page := p.get(path).want(t, http.StatusOK, `rel="next"`)
		links := page.rowLinks()
		_, next := p.get(links[0]).want(t, http.StatusOK).neighbours()
		if got, want := pathOf(t, next), pathOf(t, links[1]); got != want {
			t.Errorf("after the first of %s comes %s, not %s", path, got, want)
		}
		address, err := url.Parse(path)
		housetest.Must(t, err)
		p.post(address.Path+"/bulk", "action", "cancel", "all", "1", "of", address.RawQuery, "back", path).want(t, http.StatusOK, title)
	}
}

func pathOf(t *testing.T, link string) string {
	t.Helper()
	address, err := url.Parse(link)
	housetest.Must(t, err)
	return address.Path
}
