package reseller

import (
	"context"
	"fmt"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// deeds are all use cases that name another company.
func (s *shop) deeds(ctx context.Context) map[string]func(a account.Actor, id int64) error {
	return map[string]func(account.Actor, int64) error{
		"find": func(a account.Actor, id int64) error { _, err := s.Find(ctx, a, id); return err },
		"update": func(a account.Actor, id int64) error {
			_, err := s.Update(ctx, a, id, ReadChanges(form("name", "Outra")))
			return err
		},
		"level": func(a account.Actor, id int64) error {
			_, err := s.SetLevel(ctx, a, id, ReadLevelRequest(form("level", "user")))
			return err
		},
		"suspend": func(a account.Actor, id int64) error { _, err := s.Suspend(ctx, a, id); return err },
		"resume":  func(a account.Actor, id int64) error { _, err := s.Resume(ctx, a, id); return err },
		"invite":  func(a account.Actor, id int64) error { _, err := s.Invite(ctx, a, id); return err },
		"renew": func(a account.Actor, id int64) error {
			_, err := s.Renew(ctx, a, id, ReadRenewRequest(form("periods", "1")))
			return err
		},
		"transfer": func(a account.Actor, id int64) error {
			_, err := s.Transfer(ctx, a, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"waiting": func(a account.Actor, id int64) error { _, err := s.Waiting(ctx, a, id); return err },
		"quote a renewal": func(a account.Actor, id int64) error {
			_, err := s.QuoteRenewal(ctx, a, id, ReadRenewRequest(form()))
			return err
		},
		"renew at a price": func(a account.Actor, id int64) error {
			_, err := s.Renew(ctx, a, id, ReadAgreedRenewal(form("agreed", "1")))
			return err
		},
		"quote a transfer": func(a account.Actor, id int64) error {
			_, err := s.QuoteTransfer(ctx, a, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"quote a taking back": func(a account.Actor, id int64) error {
			_, err := s.QuoteTakeBack(ctx, a, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"take back": func(a account.Actor, id int64) error {
			_, err := s.TakeBack(ctx, a, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
	}
}

// At every level, a use case about a company that is not a child of the actor's
// answers as if it did not exist, and changes nothing.
func TestEveryUseCaseStopsAtDirectResellers(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		tree := append(s.tree(t), s.root(t, 10)) // root, middle, leaf, beside, stranger
		parents := map[int]int{1: 0, 2: 1, 3: 0}
		before := s.everything(t)
		for i, who := range tree {
			who.Company.Level = account.LevelUltraMaster
			for j, whom := range tree {
				if parent, below := parents[j]; below && parent == i {
					continue
				}
				for name, do := range s.deeds(t.Context()) {
					if err := do(who, whom.Company.ID); fault.KindOf(err) != fault.KindNotFound {
						t.Errorf("company %d, %s of company %d: %v", i, name, j, err)
					}
				}
			}
		}
		if after := s.everything(t); after != before {
			t.Errorf("it was\n%s\nand is\n%s", before, after)
		}
	})
}

func (s *shop) everything(t *testing.T) string {
	t.Helper()
	rows, err := sqldb.Values[string](t.Context(), s.db, `
		SELECT c.id || '|' || c.name || '|' || c.level || '|' || COALESCE(c.expires_on, '') || '|' || COALESCE(c.suspended_at, 0) || '|' || c.updated_at
			|| '|' || COALESCE((SELECT balance FROM credit_balances b WHERE b.company_id = c.id), 0)
			|| '|' || (SELECT count(*) FROM password_links l WHERE l.company_id = c.id)
		FROM companies c ORDER BY c.id`)
	must(t, err)
	return fmt.Sprint(rows)
}
