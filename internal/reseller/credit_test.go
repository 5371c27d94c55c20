package reseller

import (
	"fmt"
	"slices"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

func TestStatementTellsWhoWhyForWhatAndTheBalanceAfter(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 0)
		r := s.below(t, root, "name", "Beto")
		_, err := s.Grant(t.Context(), root, ReadCreditRequest(form("amount", "10", "note", "PIX de janeiro")))
		must(t, err)
		root.TokenID = 7
		m, err := s.Transfer(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "4", "note", "adiantamento")))
		if err != nil || m != (Moved{6, 4}) {
			t.Errorf("%+v, %v", m, err)
		}
		m, err = s.TakeBack(t.Context(), root, r.Company.ID, ReadCreditRequest(form("amount", "1")))
		if err != nil || m != (Moved{7, 3}) {
			t.Errorf("%+v, %v", m, err)
		}
		beto, clara := Ref{r.Company.ID, "Beto"}, Ref{root.Company.ID, "Rede Clara"}
		s.wantStatement(t, root,
			Entry{Kind: TakenBack, Amount: 1, Balance: 7, Reseller: beto, By: "token:7"},
			Entry{Kind: Sent, Amount: -4, Balance: 6, Reseller: beto, By: "token:7", Note: "adiantamento"},
			Entry{Kind: Granted, Amount: 10, Balance: 10, By: "command line", Note: "PIX de janeiro"})
		s.wantStatement(t, r,
			Entry{Kind: Returned, Amount: -1, Balance: 3, Reseller: clara, By: "token:7"},
			Entry{Kind: Received, Amount: 4, Balance: 4, Reseller: clara, By: "token:7", Note: "adiantamento"})
	})
}

func (s *shop) wantStatement(t *testing.T, a account.Actor, want ...Entry) {
	t.Helper()
	got, err := s.Statement(t.Context(), a, 0, 50)
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
	each(t, func(t *testing.T, s *shop) {
		root, other := s.root(t, 1), s.root(t, 1)
		for i := range 6 {
			_, err := s.Grant(t.Context(), []account.Actor{root, other}[i%2], ReadCreditRequest(form("amount", fmt.Sprint(i+2))))
			must(t, err)
		}
		var amounts []int64
		for before := int64(0); ; {
			list, err := s.Statement(t.Context(), root, before, 2)
			must(t, err)
			if len(list) == 0 {
				break
			}
			for _, e := range list {
				amounts, before = append(amounts, e.Amount), e.ID
			}
		}
		if want := []int64{6, 4, 2, 1}; !slices.Equal(amounts, want) {
			t.Errorf("amounts %v, want %v", amounts, want)
		}
	})
}

func TestCreditsMoveOnlyToAndFromDirectResellersAndOnlyWhatIsThere(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		root := s.root(t, 10)
		child := s.below(t, root)
		grandchild, stranger := s.below(t, child), s.root(t, 10)
		for _, to := range []account.Actor{grandchild, stranger, root} {
			_, err := s.Transfer(t.Context(), root, to.Company.ID, ReadCreditRequest(form("amount", "1")))
			wantKind(t, err, fault.KindNotFound)
			_, err = s.TakeBack(t.Context(), root, to.Company.ID, ReadCreditRequest(form("amount", "1")))
			wantKind(t, err, fault.KindNotFound)
		}
		_, err := s.Transfer(t.Context(), child, root.Company.ID, ReadCreditRequest(form("amount", "1")))
		wantKind(t, err, fault.KindNotFound)
		_, err = s.Grant(t.Context(), child, ReadCreditRequest(form("amount", "1")))
		wantKind(t, err, fault.KindForbidden)
		_, err = s.Transfer(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", "11")))
		wantFields(t, err, "credits")
		_, err = s.TakeBack(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", "1")))
		wantFields(t, err, "credits")
		for _, amount := range []string{"0", "-1", "1.5", "", "1000000001"} {
			_, err = s.Transfer(t.Context(), root, child.Company.ID, ReadCreditRequest(form("amount", amount)))
			wantFields(t, err, "amount")
			_, err = s.Grant(t.Context(), root, ReadCreditRequest(form("amount", amount)))
			wantFields(t, err, "amount")
		}
		if s.balance(t, root) != 10 || s.balance(t, child) != 0 || s.count(t, `SELECT count(*) FROM credit_entries`) != 2 {
			t.Error("something moved")
		}
		wantSums(t, s)
	})
}

// The database itself keeps what the code promises.
func TestDatabaseRefusesDebtAndChangesOfTheLedger(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.root(t, 10)
		for _, text := range []string{
			`UPDATE credit_balances SET balance = balance - 11`,
			`UPDATE credit_entries SET amount = 20`,
			`DELETE FROM credit_entries`,
		} {
			err := s.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text)
				return err
			})
			if err == nil {
				t.Errorf("%s was carried out", text)
			}
		}
		wantSums(t, s)
	})
}
