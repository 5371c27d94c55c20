package listing

import (
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// Rows of a page are read through the primary key, which is (id) on SQLite and
// (company_id, id) on PostgreSQL: without it a page of fifty reads the table.
func TestRowsOfAPageAreFoundByPrimaryKey(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		index, key := "INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, UNIQUE (company_id, id)"
		if db.Engine() == sqldb.Postgres {
			index, key = "things_pkey", "id BIGINT NOT NULL, company_id BIGINT NOT NULL, PRIMARY KEY (company_id, id)"
		}
		housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for _, text := range []string{
				`CREATE TABLE things (filler TEXT NOT NULL, ` + key + `)`,
				`INSERT INTO things (id, company_id, filler) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
					SELECT i, 1, '` + strings.Repeat("x", 500) + `' FROM n`,
				`ANALYZE things`,
			} {
				if _, err := tx.Exec(t.Context(), text); err != nil {
					return err
				}
			}
			return nil
		}))
		table := Table[int64]{From: "things c", ID: "c.id", Owner: "c.company_id", Columns: "c.id, c.filler"}
		sqldbtest.WantIndex(t, db, index, table.rowsText(), []int64{7, 4000, 12}, int64(1))
		text, args := table.page(db.Engine(), Query{CompanyID: 1}, window{100, 50})
		plan := sqldbtest.Explain(t, db, text, args...)
		if db.Engine() == sqldb.Postgres && (strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Hash")) ||
			!strings.Contains(plan, index) {
			t.Errorf("the rows of a page are joined by\n%s", plan)
		}
	})
}
