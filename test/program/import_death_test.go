package program

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

// A command that imports dies while a server runs on. Its customers are all there
// or none is, and the server finishes what it left.
func TestDeathOfAnImportLeavesAllOfItOrNothing(t *testing.T) {
	t.Parallel()
	const rows = 700 // enough to be staged
	for point, visible := range map[string]int64{"import-staged": 0, "import-shown": rows} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			in := install(t, sqldb.SQLite)
			company := in.company()
			token := in.token(company)
			server := in.serve()
			file := filepath.Join(t.TempDir(), "customers.csv")
			var sheet strings.Builder
			sheet.WriteString("nome,usuario,plano,valor\n")
			for i := range rows {
				fmt.Fprintf(&sheet, "Ana %d,ana%d,Mensal,35\n", i, i)
			}
			if err := os.WriteFile(file, []byte(sheet.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			program, err := mortal()
			if err != nil {
				t.Fatal(err)
			}
			command := []string{"import", "customers", file, "--company", company, "--create-missing", "--events"}
			process := start(t, program, append(slices.Clone(in.env), "CARTEIRA_CRASH_AT="+point), command...)
			if code := process.wait(); code != -1 {
				t.Fatalf("exit code %d, want a death by signal:\n%s", code, process.stderr.String())
			}
			client, db := server.client(token), in.open()
			if n := client.want(200, "GET", "/customers?per_page=1", nil).Meta.Total; n != visible {
				t.Errorf("%d customers are listed, want %d", n, visible)
			}
			if n := count(t, db, `SELECT count(*) FROM customers`); n != rows {
				t.Errorf("%d are written, want all", n)
			}
			// A while later the lease of the killed process has expired.
			execute(t, db, `UPDATE customer_staging SET renewed_at = 0`)
			eventually(t, "the server finishes it", func() bool {
				return count(t, db, `SELECT count(*) FROM customer_staging WHERE phase = 'free'`) == 1
			})
			for what, table := range map[string]string{"customers": "customers", "events": "events", "plans": "customer_plans"} {
				want := visible
				if what == "plans" {
					want = min(visible, 1)
				}
				if n := count(t, db, `SELECT count(*) FROM `+table); n != want {
					t.Errorf("%d %s stay, want %d", n, what, want)
				}
			}
			if n := client.want(200, "GET", "/customers?per_page=1", nil).Meta.Total; n != visible {
				t.Errorf("%d customers are listed in the end, want %d", n, visible)
			}
		})
	}
}
