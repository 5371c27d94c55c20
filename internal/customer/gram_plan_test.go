package customer

import (
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// A search reads its own grams of all segments, not all grams.
func TestGramsAreFoundByTheirKeysOnPostgres(t *testing.T) {
	world := newWorld(t, sqldb.Postgres)
	company := world.actor.Company.ID
	exec := func(text string, args ...any) {
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), text, args...)
			return err
		}))
	}
	exec(`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, own_day, notes, search,
			created_at, updated_at)
		SELECT ?, 'u' || i, 'Ana', '', '', '', '', '', 1, '', 'ana ' || md5(i::text) || chr(10) || i, 1, 2 FROM generate_series(1, 40000) i`,
		company)
	exec(`INSERT INTO search_due (company_id) VALUES (?)`, company)
	world.sealAll(t)
	exec(`ANALYZE`)
	for _, span := range []idSpan{everyone, {20_000, 24_000}} {
		look := newLook([]string{"ana 0a1b2"})
		look.span = span
		text, args := look.statement(sqldb.Postgres, company)
		plan := sqldbtest.Explain(t, world.db, text, args...)
		if !strings.Contains(plan, "search_grams_pkey") || strings.Contains(plan, "Seq Scan on search_grams") {
			t.Errorf("the grams of %+v are found by\n%s", span, plan)
		}
	}
}
