package customer_test

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"testing"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// office is a company that files are imported into.
type office struct {
	*customer.Service
	db      *sqldb.DB
	events  *event.Log
	catalog *catalog.Service
	actor   account.Actor
}

func openOffice(tb testing.TB, url string, options ...sqldbtest.Option) *office {
	tb.Helper()
	db := sqldbtest.Open(tb, url, options...)
	c, _, err := account.New(db, 0).CreateCompany(tb.Context(), pairs("name", "Rede Clara", "email", "c@example.com"))
	if err != nil {
		tb.Fatal(err)
	}
	log := &event.Log{}
	return &office{customer.New(db, log), db, log, catalog.New(db), account.Actor{Company: c}}
}

func pairs(namesAndValues ...string) *input.Form {
	values := map[string]string{}
	for i := 0; i < len(namesAndValues); i += 2 {
		values[namesAndValues[i]] = namesAndValues[i+1]
	}
	return input.FromStrings(values)
}

// rowsOf walks a file in memory.
func rowsOf(file []byte) customer.Rows {
	return func() iter.Seq2[sheet.Row, error] {
		s, err := sheet.Open(bytes.NewReader(file))
		if err != nil {
			return func(yield func(sheet.Row, error) bool) { yield(sheet.Row{}, err) }
		}
		return s.All()
	}
}

// crowd writes a file of n good customers.
func crowd(w io.Writer, n int) {
	first := []string{"Ana", "João", "Maria", "José", "Antônia", "Luís", "Conceição", "Sebastião", "Lívia", "Caio", "Íris"}
	last := []string{"da Silva", "Souza", "Araújo", "Gonçalves", "Pereira", "Magalhães", "dos Santos", "Assunção", "Lima"}
	fmt.Fprintln(w, "Código;Nome;Celular;E-mail;Usuário;Vencimento;Plano;Valor")
	for i := range n {
		fmt.Fprintf(w, "C%d;%s %s %s;(11) 9%04d-%04d;cliente%d@example.com;user%d;%d/%d/2027;%s;R$ 35,00\n", i,
			first[i%len(first)], last[i%len(last)], last[i/7%len(last)], 6000+i%4000, i*7919%10000, i, i, 1+i%28, 1+i/28%12,
			[]string{"Mensal", "Básico", "Família"}[i%3])
	}
}

// BenchmarkImport is what a company waits for that brings its customers along.
func BenchmarkImport(b *testing.B) {
	var file bytes.Buffer
	crowd(&file, 100_000)
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		b.Run(string(engine), func(b *testing.B) {
			for b.Loop() {
				o := openOffice(b, sqldbtest.URL(b, engine))
				done, err := o.Import(b.Context(), o.actor, rowsOf(file.Bytes()), customer.ImportOptions{CreateMissing: true})
				if err != nil || done != (customer.Imported{Imported: 100_000}) {
					b.Fatal(done, err)
				}
			}
		})
	}
}
