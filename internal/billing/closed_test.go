package billing

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// closeBooks closes the books through a day; "" opens them.
func (w *world) closeBooks(t *testing.T, through string) {
	t.Helper()
	draft := account.CompanyDraft{ClosedThrough: input.Null[civil.Date]()}
	if through != "" {
		draft.ClosedThrough = input.Some(day(through))
	}
	_, err := w.accounts.SetCompany(t.Context(), w.actor, draft)
	must(t, err)
}

// january is what the closed month has: receipts and paid invoices.
func (w *world) january(t *testing.T) (sums [2]tally.Sums) {
	t.Helper()
	for n, counter := range []tally.Counter{receipts, paid} {
		count, cents, err := counter.Sum(t.Context(), w.db, w.actor.Company.ID, tally.Filter{Days: []tally.Days{{From: "2026-01-01", Until: "2026-02-01"}}})
		must(t, err)
		sums[n] = tally.Sums{N: count, Cents: cents}
	}
	return sums
}

func TestClosedBooksDoNotChange(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record, other := world.customer(t, 1, "2026-01-31"), world.customer(t, 1, "2026-01-31")
		invoice, open := world.only(t, record.ID), world.only(t, other.ID)
		world.set(t, invoice.ID, Paid)
		_, err := world.accounts.SetCompany(t.Context(), world.actor, account.CompanyDraft{ClosedThrough: input.Some(day("2026-01-31"))})
		wantField(t, err, "books_closed_through") // today
		world.clock.Advance(48 * time.Hour)
		world.closeBooks(t, "2026-01-31")
		before := world.january(t)
		for name, deed := range map[string]func() error{
			"undo": func() error { _, err := world.UndoPayment(t.Context(), world.actor, 1); return err },
			"reopen": func() error {
				_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Em aberto")))
				return err
			},
			"pay": func() error {
				_, err := world.SetStatus(t.Context(), world.actor, open.ID, ReadStatusChange(values("status", "Pago", "paid_at", "2026-01-31")))
				return err
			},
			"refund": func() error {
				return world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
					_, err := world.RefundTx(t.Context(), world.actor.In(tx), Refund{PaymentID: 1, RefundID: "hand:1", By: "user:1"})
					return err
				})
			},
		} {
			t.Run(name, func(t *testing.T) { wantField(t, deed(), "books_closed_through") })
		}
		if after := world.january(t); after != before {
			t.Errorf("January had %v and has %v", before, after)
		}
		world.set(t, open.ID, Paid, "paid_at", "2026-02-01")
		must(t, world.customers.Delete(t.Context(), world.actor, other.ID))
		world.closeBooks(t, "")
		world.set(t, invoice.ID, Open)
		if after := world.january(t); after != [2]tally.Sums{} {
			t.Errorf("January has %v after the books were opened", after)
		}
	})
}

func TestWhatAGatewayReportsLateCountsOnTheFirstOpenDay(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		record, other := world.customer(t, 1, "2026-01-31"), world.customer(t, 1, "2026-01-31")
		early, late := world.only(t, record.ID), world.only(t, other.ID)
		_, err := world.payThrough(t, early.ID, "bank")
		must(t, err)
		came := world.clock.Now()
		world.clock.Advance(72 * time.Hour)
		world.closeBooks(t, "2026-01-31")
		before := world.january(t)
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := world.ReceiveTx(t.Context(), world.actor.In(tx), Receipt{Payment: Payment{
				InvoiceID: late.ID, Provider: "bank", Via: "bank", PaymentID: "late", Amount: 3500, PaidAt: came,
			}, AsOf: day("2026-01-31"), Renew: true})
			return err
		}))
		if paid := world.find(t, late.ID); paid.PaidOn != day("2026-02-01") || civil.Of(paid.PaidAt) != paid.PaidOn || paid.LateFee != 0 {
			t.Errorf("paid on %s, at %s, late fee %s", paid.PaidOn, paid.PaidAt, paid.LateFee)
		}
		if n, cents := world.day(t, "2026-02-01"); n != 1 || cents != 3500 {
			t.Errorf("1 February has %d, %d", n, cents)
		}
		world.refund(t, Refund{PaymentID: 1, RefundID: "back", At: came})
		world.wantMoney(t, early.ID, Paid, 0, 3500)
		if n, cents := world.day(t, "2026-02-01"); n != 1 || cents != 0 {
			t.Errorf("1 February has %d, %d after the refund", n, cents)
		}
		if after := world.january(t); after != before {
			t.Errorf("January had %v and has %v", before, after)
		}
	})
}
