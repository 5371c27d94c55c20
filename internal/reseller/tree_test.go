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
func (s *shop) deeds(ctx context.Context) map[string]func(actor account.Actor, id int64) error {
	return map[string]func(account.Actor, int64) error{
		"find": func(actor account.Actor, id int64) error { _, err := s.Find(ctx, actor, id); return err },
		"update": func(actor account.Actor, id int64) error {
			_, err := s.Update(ctx, actor, id, ReadChanges(form("name", "Outra")))
			return err
		},
		"level": func(actor account.Actor, id int64) error {
			_, err := s.SetLevel(ctx, actor, id, ReadLevelRequest(form("level", "user")))
			return err
		},
		"suspend": func(actor account.Actor, id int64) error { _, err := s.Suspend(ctx, actor, id); return err },
		"resume":  func(actor account.Actor, id int64) error { _, err := s.Resume(ctx, actor, id); return err },
		"invite":  func(actor account.Actor, id int64) error { _, err := s.Invite(ctx, actor, id); return err },
		"renew": func(actor account.Actor, id int64) error {
			_, err := s.Renew(ctx, actor, id, ReadRenewRequest(form("periods", "1")))
			return err
		},
		"transfer": func(actor account.Actor, id int64) error {
			_, err := s.Transfer(ctx, actor, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"waiting": func(actor account.Actor, id int64) error { _, err := s.Waiting(ctx, actor, id); return err },
		"quote a renewal": func(actor account.Actor, id int64) error {
			_, err := s.QuoteRenewal(ctx, actor, id, ReadRenewRequest(form()))
			return err
		},
		"renew at a price": func(actor account.Actor, id int64) error {
			_, err := s.Renew(ctx, actor, id, ReadAgreedRenewal(form("agreed", "1")))
			return err
		},
		"quote a transfer": func(actor account.Actor, id int64) error {
			_, err := s.QuoteTransfer(ctx, actor, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"quote a taking back": func(actor account.Actor, id int64) error {
			_, err := s.QuoteTakeBack(ctx, actor, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
		"take back": func(actor account.Actor, id int64) error {
			_, err := s.TakeBack(ctx, actor, id, ReadCreditRequest(form("amount", "1")))
			return err
		},
	}
}

// At every level, a use case about a company that is not a child of the actor's
// answers as if it did not exist, and changes nothing.
func TestEveryUseCaseStopsAtDirectResellers(t *testing.T) {
	each(t, func(t *testing.T, shop *shop) {
		tree := append(shop.tree(t), shop.root(t, 10)) // root, middle, leaf, sibling, stranger
		parents := map[int]int{1: 0, 2: 1, 3: 0}
		before := shop.everything(t)
		for i, who := range tree {
			who.Company.Level = account.LevelUltraMaster
			for j, whom := range tree {
				if parent, below := parents[j]; below && parent == i {
					continue
				}
				for name, do := range shop.deeds(t.Context()) {
					if err := do(who, whom.Company.ID); fault.KindOf(err) != fault.KindNotFound {
						t.Errorf("company %d, %s of company %d: %v", i, name, j, err)
					}
				}
			}
		}
		if after := shop.everything(t); after != before {
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
