package customer

import (
	"fmt"
	"testing"

	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestCustomersAlikeAreFoundInIndexes(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		list := make([]Customer, 3000)
		for i := range list {
			phone := fmt.Sprintf("55119%08d", 10_000_000+i)
			list[i] = Customer{UUID: id.NewUUID(), Name: fmt.Sprintf("Cliente %d", i), Whatsapp: phone, DueOn: day("2026-02-02")}
		}
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return InsertMany(t.Context(), world.actor.In(tx), list, true)
		}))
		company, values := world.actor.Company.ID, []string{"5511910000001", "2026-02-02 cliente 1"}
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `ANALYZE`)
			return err
		}))
		for _, index := range []string{"customers_phone", "customers_cpf_cnpj", "customers_name"} {
			sqldbtest.WantIndex(t, world.db, index, namesakesText, company, values, company, values, company, values, values)
		}
	})
}
