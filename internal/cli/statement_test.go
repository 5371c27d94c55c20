package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestStatementImportPrintsAndAppliesTheSureOnes(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShell(t, engine)
		people := filepath.Join(t.TempDir(), "people.csv")
		file := filepath.Join(t.TempDir(), "bank.csv")
		write := func(name, content string) {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := func(args ...string) string {
			t.Helper()
			code, stdout, stderr := s.run(t, args...)
			if code != 0 {
				t.Fatalf("%v: %s", args, stderr)
			}
			return stdout
		}
		write(people, "nome,plano,valor,vencimento\nCaio Souza,Mensal,35.00,2026-01-31\n")
		run("import", "customers", people, "--company", "1", "--create-missing", "--invoices")
		zone, err := civil.LoadZone("America/Sao_Paulo")
		if err != nil {
			t.Fatal(err)
		}
		today := civil.Of(time.Now().In(zone)).String() // not before the invoice was issued
		write(file, "date,amount,description\n"+today+",35.00,PIX RECEBIDO CAIO SOUZA\n"+today+",9.00,DEPOSITO\n")
		for _, test := range []struct{ flag, want string }{
			{"", `"match":"sure","by":"name","invoice_id":1,"customer":"Caio Souza","booked":false`},
			{"--apply", `"match":"sure","by":"name","invoice_id":1,"customer":"Caio Souza","booked":true`},
			{"--apply", `"match":"booked","booked":true`},
		} {
			args := []string{"statement", "import", file, "--company", "1"}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			out := run(args...)
			if !strings.Contains(out, test.want) || !strings.Contains(out, `"description":"DEPOSITO","match":"none","booked":false`) {
				t.Errorf("%s: %s", test.flag, out)
			}
		}
		write(file, "hello")
		s.wantRun(t, 1, "", []string{"the file is no bank statement"}, "statement", "import", file, "--company", "1")
	})
}
