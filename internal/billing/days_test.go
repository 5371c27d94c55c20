package billing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A company moves by twelve hours and more, there and back: the record, its
// filters and the counters name one day.
func TestDaysOfTheBooksStayWhenTheCompanyMoves(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.clock.Set(time.Date(2026, 1, 31, 23, 30, 0, 0, world.actor.Company.Zone))
		plan := world.plan(t, "1month", "35.00")
		customer := world.customer(t, plan, "2026-02-03")
		invoice := world.only(t, customer.ID)
		out := world.set(t, invoice.ID, Paid)
		day := func(from, to string) Filter {
			return Filter{PaidFrom: civil.MustParse(from), PaidTo: civil.MustParse(to), CreatedFrom: civil.MustParse(from), CreatedTo: civil.MustParse(to)}
		}
		for _, zone := range []string{"Pacific/Auckland", "Pacific/Honolulu", account.DefaultTimezone} {
			var err error
			world.actor.Company, err = world.accounts.SetCompany(t.Context(), world.actor, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			got, err := world.Find(t.Context(), world.actor, out.ID)
			must(t, err)
			for name, at := range map[string]time.Time{"paid": got.PaidAt, "created": got.CreatedAt} {
				if text := civil.Timestamp(at, at.Location()); text != "2026-01-31T23:30:00-03:00" {
					t.Errorf("%s: %s at %s", zone, name, text)
				}
			}
			if _, n, err := world.List(t.Context(), world.actor, day("2026-01-31", "2026-01-31"), input.Page{Number: 1, Size: 10}); err != nil || n != 1 {
				t.Errorf("%s: the filters find %d on the day, %v", zone, n, err)
			}
			payments, err := world.payments(t, invoice.ID)
			if err != nil || len(payments) != 1 || civil.Of(payments[0].PaidAt) != payments[0].PaidOn {
				t.Errorf("%s: the ledger has %+v, %v", zone, payments, err)
			}
		}
	})
}

func (w *world) payments(t *testing.T, invoiceID int64) (list []Payment, err error) {
	t.Helper()
	err = w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		list, err = lockPaymentsOf(t.Context(), w.actor.In(tx), invoiceID)
		return err
	})
	return list, err
}

// A database as an earlier version leaves it after the migration: days without
// the offset that they were counted in, some of them of a zone that the company
// has left.
func TestFillFindsTheOffsetThatGivesTheDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		plan := world.plan(t, "1month", "35.00")
		for range 3 {
			world.set(t, world.only(t, world.customer(t, plan, "2026-02-03").ID).ID, Paid)
		}
		world.customer(t, plan, "2026-02-03") // open: it has no day of payment
		exec := func(text string, args ...any) {
			t.Helper()
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text, args...)
				return err
			}))
		}
		exec(`UPDATE payments SET paid_offset = NULL`)
		exec(`UPDATE invoices SET created_offset = NULL, paid_offset = NULL`)
		late := time.Date(2026, 2, 1, 1, 30, 0, 0, time.UTC).UnixMicro() // 31 January in São Paulo
		exec(`UPDATE invoices SET created_at = ?, created_on = '2026-01-31', paid_at = ?, paid_on = '2026-02-01' WHERE id = 1`, late, late)
		for range 2 { // and then finds nothing
			must(t, world.Fill(t.Context()))
		}
		rows, err := sqldb.Values[string](t.Context(), world.db, `
			SELECT id || ' ' || created_offset || ' ' || COALESCE(paid_offset, 1) FROM invoices ORDER BY id /* every company_id */`)
		want := []string{"1 -10800 -5400", "2 -10800 -10800", "3 -10800 -10800", "4 -10800 1"}
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("got %q, %v; want %q", rows, err, want)
		}
		left, err := sqldb.Value[int64](t.Context(), world.db, `SELECT count(*) FROM payments WHERE paid_offset IS NULL /* every company_id */`)
		if err != nil || left != 0 {
			t.Errorf("%d payments are without an offset, %v", left, err)
		}
	})
}

func TestOffsetThatGivesADayIsTheNearestOne(t *testing.T) {
	zone, err := civil.LoadZone("America/Sao_Paulo")
	must(t, err)
	for _, c := range []struct {
		at, day string
		want    int
	}{
		{"2026-02-01T12:00:00Z", "2026-02-01", -10800},
		{"2026-02-01T01:30:00Z", "2026-01-31", -10800},
		{"2026-02-01T01:30:00Z", "2026-02-01", -5400},          // the day began by then
		{"2026-02-01T02:59:59Z", "2026-02-01", -9900},          // quarters of an hour
		{"2026-02-01T12:00:00Z", "2026-02-02", 12 * 3600},      // far to the east
		{"2026-02-01T12:00:00Z", "2026-01-31", -12*3600 - 900}, // far to the west
		{"2026-02-01T12:00:00Z", "2025-02-01", -10800},         // no zone has it
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		must(t, err)
		got := offsetGiving(at, civil.MustParse(c.day), zone)
		if got != c.want {
			t.Errorf("%s on %s: %d, want %d", c.at, c.day, got, c.want)
		}
		if on := civil.Of(at.In(time.FixedZone("", got))); c.day[:4] == "2026" && on.String() != c.day {
			t.Errorf("%s: %v, want %s", c.at, on, fmt.Sprint(c.day))
		}
	}
}
