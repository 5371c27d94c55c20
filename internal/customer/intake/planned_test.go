package intake_test

import (
	"testing"
	"time"

	"carteira/internal/customer/intake"
	"carteira/internal/platform/sqldb"
)

// The first import into a new PostgreSQL checked the foreign key of each text along an
// index of all customers, since the plan was made when there were few: 100,000 rows took
// six minutes.
func TestFirstImportReadsNoIndexFromEndToEnd(t *testing.T) {
	office := openOffice(t, sqldb.Postgres)
	const rows = 4000
	done, err := office.Import(t.Context(), office.actor, rowsOf(staged(rows)), intake.ImportOptions{CreateMissing: true})
	if err != nil || done.Imported != rows {
		t.Fatalf("%+v, %v", done, err)
	}
	var inserted, read int64
	for end := time.Now().Add(time.Minute); inserted < rows && time.Now().Before(end); { // processes report what they did now and then
		time.Sleep(20 * time.Millisecond)
		err := office.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = sqldb.Each(t.Context(), office.db, `
			SELECT (SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'customers'),
				(SELECT CAST(SUM(idx_tup_read) AS BIGINT) FROM pg_stat_user_indexes WHERE relname = 'customers')`,
			nil, func(row sqldb.Row) error { return row.Scan(&inserted, &read) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if inserted < rows || read > 20*rows {
		t.Errorf("%d rows of indexes were read for %d customers", read, inserted)
	}
}
