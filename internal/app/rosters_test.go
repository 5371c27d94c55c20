package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/config"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// What a process knows of its large companies at its end is there for the next, also if it
// was written down a moment before.
func TestWhatIsKnownOfCustomersIsSavedAtTheEnd(t *testing.T) {
	url := sqldbtest.URL(t, sqldb.SQLite)
	program, err := Open(t.Context(), config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), DatabaseURL: url, SecretKeys: []secret.Key{secret.NewKey()},
	}, slog.New(slog.DiscardHandler))
	housetest.Must(t, err)
	company, _, err := program.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form(
		"name", "Rede Clara", "email", "ana@example.com")))
	housetest.Must(t, err)
	exec := func(text string, args ...any) {
		t.Helper()
		housetest.Must(t, program.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), text, args...)
			return err
		}))
	}
	const customers, apart, buckets = 6000, 5, 8
	for first := 1; first <= customers; first += 500 {
		var rows []string
		for n := first; n < first+500; n++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, 'u%d', 'Ana', '', '', '', '', '', 1, '', 'ana', 1, 2)", n*apart, company.ID, n))
		}
		exec(`INSERT INTO customers (id, company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, own_day, notes, search,
			created_at, updated_at) VALUES ` + strings.Join(rows, ", "))
	}
	count := func(n int) {
		for bucket := range buckets {
			exec(`INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
				VALUES (?, 'customers', ?, '', 0, 0, '', ?, 0)`, company.ID, bucket, n)
		}
	}
	search := func() {
		actor := account.System(company, "test")
		query := customer.Query{Filter: customer.Filter{Search: "ana", Status: customer.Active}, Sort: "name"}
		_, _, err := program.Customers.Sorted(t.Context(), actor, query, input.Page{Number: 1, Size: 10})
		housetest.Must(t, err)
		housetest.Must(t, program.Customers.KeepRosters(t.Context()))
	}
	saving := func(db *sqldb.DB) int64 {
		number, err := sqldb.Value[int64](t.Context(), db, `SELECT saving FROM saved_rosters WHERE company_id = ? AND part = 0`, company.ID)
		housetest.Must(t, err)
		return number
	}
	count(customers / buckets)
	exec(`INSERT INTO search_due (company_id) VALUES (?)`, company.ID)
	for range customers / 1000 { // a segment or two each
		housetest.Must(t, program.Customers.SealSegments(t.Context()))
	}
	search()
	first := saving(program.DB)
	count(0) // so that all of it is read anew
	search()
	if again := saving(program.DB); again != first {
		t.Fatal("it is saved again at once: the end of the process shows nothing")
	}
	housetest.Must(t, program.Close(t.Context()))
	if last := saving(sqldbtest.Open(t, url)); last == first {
		t.Error("what was known at the end was not saved")
	}
}
