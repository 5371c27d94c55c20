package reseller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestStatementTellsWhoWhyForWhatAndTheBalanceAfter(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		actor := shop.below(t, root, "name", "Beto")
		_, err := shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", "10", "note", "PIX de janeiro")))
		must(t, err)
		root.TokenID = 7
		moved, err := shop.Transfer(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "4", "note", "adiantamento")))
		if err != nil || moved != (Moved{6, 4}) {
			t.Errorf("%+v, %v", moved, err)
		}
		moved, err = shop.TakeBack(t.Context(), root, actor.Company.ID, ReadCreditRequest(form("amount", "1")))
		if err != nil || moved != (Moved{7, 3}) {
			t.Errorf("%+v, %v", moved, err)
		}
		beto, clara := Ref{actor.Company.ID, "Beto"}, Ref{root.Company.ID, "Rede Clara"}
		shop.wantStatement(t, root, Entry{Kind: TakenBack, Amount: 1, Balance: 7, Reseller: beto, By: "token:7"},
			Entry{Kind: Sent, Amount: -4, Balance: 6, Reseller: beto, By: "token:7", Note: "adiantamento"},
			Entry{Kind: Granted, Amount: 10, Balance: 10, By: "command line", Note: "PIX de janeiro"})
		shop.wantStatement(t, actor, Entry{Kind: Returned, Amount: -1, Balance: 3, Reseller: clara, By: "token:7"},
			Entry{Kind: Received, Amount: 4, Balance: 4, Reseller: clara, By: "token:7", Note: "adiantamento"})
	})
}

func (s *shop) wantStatement(t *testing.T, actor account.Actor, want ...Entry) {
	t.Helper()
	got, err := s.Statement(t.Context(), actor, 0, 50)
	must(t, err)
	for i := range got {
		if !got[i].CreatedAt.Equal(noon) {
			t.Errorf("entry at %v", got[i].CreatedAt)
		}
		got[i].ID, got[i].CreatedAt = 0, want[min(i, len(want)-1)].CreatedAt
	}
	if !slices.Equal(got, want) {
		t.Errorf("statement %+v\nwant %+v", got, want)
	}
}

func TestStatementIsReadBackwardsInPages(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root, other := shop.root(t, 1), shop.root(t, 1)
		for i := range 6 {
			_, err := shop.Grant(t.Context(), []account.Actor{root, other}[i%2], ReadCreditRequest(form("amount", fmt.Sprint(i+2))))
			must(t, err)
		}
		var amounts []int64
		for before := int64(0); ; {
			list, err := shop.Statement(t.Context(), root, before, 2)
			must(t, err)
			if len(list) == 0 {
				break
			}
			for _, entry := range list {
				amounts, before = append(amounts, entry.Amount), entry.ID
			}
		}
		if want := []int64{6, 4, 2, 1}; !slices.Equal(amounts, want) {
			t.Errorf("amounts %v, want %v", amounts, want)
		}
	})
}

func TestCreditsMoveOnlyToAndFromDirectResellersAndOnlyWhatIsThere(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 10)
		child := shop.below(t, root)
		grandchild, stranger := shop.below(t, child), shop.root(t, 10)
		for _, to := range []account.Actor{grandchild, stranger, root} {
			_, err := shop.Transfer(t.Context(), root, to.Company.ID, ReadCreditRequest(form("amount", "1")))
			wantKind(t, err, fault.KindNotFound)
			_, err = shop.TakeBack(t.Context(), root, to.Company.ID, ReadCreditRequest(form("amount", "1")))
			wantKind(t, err, fault.KindNotFound)
		}
		_, err := shop.Transfer(t.Context(), child, root.Company.ID, ReadCreditRequest(form("amount", "1")))
		wantKind(t, err, fault.KindNotFound)
		_, err = shop.Grant(t.Context(), child, ReadCreditRequest(form("amount", "1")))
		wantKind(t, err, fault.KindForbidden)
		_, err = shop.Transfer(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", "11")))
		wantFields(t, err, "credits")
		_, err = shop.TakeBack(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", "1")))
		wantFields(t, err, "credits")
		for _, amount := range []string{"0", "-1", "1.5", "", "1000000001"} {
			_, err = shop.Transfer(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", amount)))
			wantFields(t, err, "amount")
			_, err = shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", amount)))
			wantFields(t, err, "amount")
		}
		if shop.balance(t, root) != 10 || shop.balance(t, child) != 0 || shop.count(t, `SELECT count(*) FROM credit_entries`) != 2 {
			t.Error("something moved")
		}
		wantSums(t, shop)
	})
}

// The database itself keeps what the code promises.
func TestDatabaseRefusesDebtAndChangesOfTheLedger(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		shop.root(t, 10)
		for _, text := range []string{
			`UPDATE credit_balances SET balance = balance - 11`,
			`UPDATE credit_entries SET amount = 20`,
			`DELETE FROM credit_entries`,
		} {
			err := shop.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text)
				return err
			})
			if err == nil {
				t.Errorf("%s was carried out", text)
			}
		}
		wantSums(t, shop)
	})
}

func TestStatementIsFilteredByKindAndDays(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		root := shop.root(t, 0)
		for n := range 3 {
			_, err := shop.Grant(t.Context(), root, ReadCreditRequest(form("amount", fmt.Sprint(10*(n+1)))))
			must(t, err)
			shop.clock.Advance(24 * time.Hour)
		}
		today := root.Today(noon)
		for filter, want := range map[EntryFilter]Sums{
			{}:                         {3, 60, 0},
			{Kind: Granted}:            {3, 60, 0},
			{Kind: Sent}:               {},
			{From: today, To: today}:   {1, 10, 0},
			{From: today.AddDays(1)}:   {2, 50, 0},
			{Kind: Granted, To: today}: {1, 10, 0},
			{From: today.AddDays(3)}:   {},
		} {
			list, sums, err := shop.Entries(t.Context(), root, filter, page(1, 50))
			must(t, err)
			walked := int64(0)
			must(t, shop.WalkEntries(t.Context(), root, filter, func(Entry) error { walked++; return nil }))
			if sums != want || int64(len(list)) != want.Count || walked != want.Count {
				t.Errorf("%+v: %+v, %d listed, %d walked; want %+v", filter, sums, len(list), walked, want)
			}
		}
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} {
			must(t, shop.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), statistics)
				return err
			}))
			if shop.db.Engine() == sqldb.Postgres {
				continue // reads a table of three rows whole
			}
			for index, filter := range map[string]EntryFilter{"credit_entries_when": {From: today}, "credit_entries_kind": {Kind: Sent, From: today}} {
				var where sqldb.Where
				where.And("e.company_id = ?", root.Company.ID)
				where.Join(filter.query(root).Where)
				sqldbtest.WantIndex(t, shop.db, index, `SELECT e.id FROM credit_entries e`+where.String()+` ORDER BY e.created_at DESC, e.id DESC LIMIT 50`, where.Args...)
			}
		}
	})
}

func TestCompanyResellsOnceItHasCreditsAPlanOrAReseller(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		resells := func(actor account.Actor, want bool) {
			t.Helper()
			if got, err := shop.Resells(t.Context(), actor); err != nil || got != want {
				t.Errorf("%t, %v; want %t", got, err, want)
			}
		}
		fresh, planned := shop.root(t, 0), shop.root(t, 0)
		resells(fresh, false)
		shop.plan(t, planned)
		resells(planned, true)
		resells(shop.root(t, 1), true)
		child := shop.below(t, fresh, "name", "Beto")
		resells(fresh, true)
		resells(child, false)
	})
}
