package event

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// seedReaders makes companies with some events each, and returns where each
// company's reader is: at the end.
func seedReaders(b *testing.B, process *process, companies int) []Query {
	b.Helper()
	ctx := context.Background()
	readers := make([]Query, companies+1)
	err := process.db.Write(ctx, func(tx *sqldb.Tx) error {
		for id := int64(1); id <= int64(companies); id++ {
			_, err := tx.Exec(ctx, `
				INSERT INTO companies (name, level, timezone, renew_from, renew_on_payment, lead_days, created_at, updated_at)
				VALUES (?, 'user', 'America/Sao_Paulo', 'today', ?, 5, 0, 0)`, fmt.Sprint("Company ", id), true)
			if err != nil {
				return err
			}
			for range 3 {
				if err := process.log.Record(ctx, tx, Source{CompanyID: id, Zone: happened.Location()}, CustomerUpdated, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for id := range readers[1:] {
		page, err := process.feed.Read(ctx, int64(id+1), Query{Limit: 50})
		if err != nil {
			b.Fatal(err)
		}
		readers[id+1] = Query{After: page.LastID, Limit: 50}
	}
	return readers
}

// BenchmarkTenThousandReadersWithNothingNew is one poll of one of 10,000
// readers, each of a company of its own, when nothing has happened.
func BenchmarkTenThousandReadersWithNothingNew(b *testing.B) {
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		b.Run(string(engine), func(b *testing.B) {
			process := newProcess(sqldbtest.New(b, engine))
			readers := seedReaders(b, process, 10_000)
			for b.Loop() {
				companyID := 1 + rand.IntN(len(readers)-1)
				page, err := process.feed.Read(b.Context(), int64(companyID), readers[companyID])
				if err != nil || len(page.Bodies) > 0 || page.More {
					b.Fatalf("%+v, %v", page, err)
				}
			}
		})
	}
}
