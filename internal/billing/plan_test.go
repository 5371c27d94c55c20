package billing

import (
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// A run with nothing due looks at the end of an index, however many due dates
// are on the schedule.
func TestScheduleIsReadFromItsIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.fillSchedule(t, 5000)
		horizon := world.actor.Today(noon).AddDays(world.actor.Company.Settings.LeadDays)
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), statistics)
				return err
			}))
			sqldbtest.WantIndex(t, world.db, "invoice_schedule_due", anyScheduledText, world.actor.Company.ID, horizon)
			sqldbtest.WantIndex(t, world.db, "invoice_schedule_due", scheduledText, world.actor.Company.ID, horizon, issueBatch)
		}
	})
}

// fillSchedule makes customers who are due from a month on.
func (w *world) fillSchedule(t *testing.T, count int) {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for _, statement := range []string{
			`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
				notes, name_key, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', '2026-' || (10 + i % 3) || '-' || (10 + i % 18), 1, '', '', 1, 1 FROM n`,
			`INSERT INTO invoice_schedule (company_id, customer_id, due_on) SELECT company_id, id, due_on FROM customers`,
		} {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	}))
	if made := texts(t, w.db, `SELECT due_on FROM invoice_schedule WHERE due_on > '2026-02-28'`); len(made) != count {
		t.Fatalf("%d on the schedule, want %d", len(made), count)
	}
}
