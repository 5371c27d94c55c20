package customer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A database as an earlier version leaves it after the migration: no day of
// creation, and phones of any ten to fifteen digits.
func TestFillCompletesWhatAMigrationCannot(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		tokyo := world.newCompany(t)
		var err error
		tokyo.Company, err = world.accounts.SetCompany(t.Context(), tokyo, account.ReadCompanyDraft(values("timezone", "Asia/Tokyo")))
		must(t, err)
		world.clock.Set(time.Date(2026, 2, 1, 1, 30, 0, 0, time.UTC))
		world.populate(t, world.actor, slices.Repeat([]Customer{{Name: "Ana", Whatsapp: "5511987654321"}}, fillBatch+10))
		world.populate(t, tokyo, slices.Repeat([]Customer{{Name: "Bia", Whatsapp: "011987654321"}}, 3))
		exec := func(text string) {
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text)
				return err
			}))
		}
		exec(`UPDATE customers SET created_on = '', created_offset = 0`)
		exec(`UPDATE customers SET whatsapp = '551187654321' WHERE id = 2`) // lacks its ninth digit: it stays as it is
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {      // broken off after one step
			return fillRows(t.Context(), tx, map[int64]*time.Location{})
		}))
		for range 2 { // goes on, and then finds nothing
			must(t, world.Fill(t.Context()))
		}
		rows, err := sqldb.Values[string](t.Context(), world.db, `
			SELECT created_on || ' ' || created_offset || ' ' || whatsapp || ' ' || count(*) FROM customers
			GROUP BY created_on, created_offset, whatsapp ORDER BY 1 /* every company_id */`)
		want := []string{
			"2026-01-31 -10800 551187654321 1",
			fmt.Sprintf("2026-01-31 -10800 5511987654321 %d", fillBatch+9),
			"2026-02-01 32400 5511987654321 3",
		}
		slices.Sort(want)
		slices.Sort(rows)
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("got %q, %v; want %q", rows, err, want)
		}
		if _, n, err := world.List(t.Context(), tokyo, Filter{Search: "5511987654321"}, input.Page{Number: 1, Size: 10}); err != nil || n != 3 {
			t.Errorf("search finds %d by the repaired number, %v; want 3", n, err)
		}
	})
}
