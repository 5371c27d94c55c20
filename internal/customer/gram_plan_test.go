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
		for term, index := range map[string]string{"ana 0a1b2": "search_grams_pkey", "an": "search_postings_pkey"} {
			look := newLook([]string{term})
			look.span = span
			text, args := look.statement(sqldb.Postgres, company)
			wantKeys(t, index, sqldbtest.ExplainPlanned(t, world.db, text, len(args)))
		}
	}
	wantKeys(t, "search_grams_pkey", sqldbtest.ExplainPlanned(t, world.db, gramsOfOne, 3))
}

// wantKeys wants a plan to use an index, and nothing but the few segments to be read from
// end to end.
func wantKeys(t *testing.T, index, plan string) {
	t.Helper()
	rest := strings.ReplaceAll(plan, "Seq Scan on search_segments", "")
	if !strings.Contains(plan, index) || strings.Contains(strings.ReplaceAll(rest, "Seq Scan on search_changes", ""), "Seq Scan") {
		t.Errorf("%s:\n%s", index, plan)
	}
}
