package billing

import (
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// Rows of payments and refunds add up to the totals of their filter, and those of
// a month to what the accountant's month has.
func TestRefundsAreListedByTheirOwnDays(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		customers := make([]int64, 2)
		for n, via := range []string{"pix", "cash"} {
			customers[n] = world.customer(t, 1, "2026-01-31").ID
			world.set(t, world.only(t, customers[n]).ID, Paid, "paid_via", via, "renew", "false")
		}
		world.clock.Advance(2 * 24 * time.Hour) // to 2 February
		world.refund(t, Refund{PaymentID: 1, Amount: 500, RefundID: "r1", By: "user:1", Note: "too much"})
		world.clock.Advance(24 * time.Hour)
		world.refund(t, Refund{PaymentID: 1, Amount: 300, RefundID: "r2"})
		world.refund(t, Refund{PaymentID: 2, RefundID: "r3"}) // all of it

		january, february := day("2026-01-01"), day("2026-02-01")
		for name, c := range map[string]struct {
			filter  PaymentFilter
			refunds int
			worth   money.Cents
		}{
			"all":                    {PaymentFilter{Came: true}, 3, 2700},
			"January":                {PaymentFilter{From: january, To: day("2026-01-31")}, 0, 7000},
			"February":               {PaymentFilter{From: february, To: day("2026-02-28")}, 3, -4300},
			"a day":                  {PaymentFilter{From: day("2026-02-02"), To: day("2026-02-02")}, 1, -500},
			"cash":                   {PaymentFilter{Via: "cash"}, 1, 0},
			"of one":                 {PaymentFilter{CustomerID: customers[0]}, 2, 2700},
			"of one in February":     {PaymentFilter{CustomerID: customers[0], From: february}, 2, -800},
			"of one in January":      {PaymentFilter{CustomerID: customers[0], To: day("2026-01-31")}, 0, 3500},
			"given back":             {PaymentFilter{Status: PaymentRefunded}, 1, 0},
			"given back in February": {PaymentFilter{Status: PaymentRefunded, From: february}, 1, -3500},
		} {
			var sum money.Cents
			must(t, world.WalkPayments(t.Context(), world.actor, c.filter, func(record PaymentRecord) error {
				sum += record.Amount
				return nil
			}))
			rows := 0
			must(t, world.WalkRefunds(t.Context(), world.actor, c.filter, func(refund ListedRefund) error {
				rows, sum = rows+1, sum+refund.Minus()
				return nil
			}))
			worth, known, err := world.PaymentsWorth(t.Context(), world.actor, c.filter, 5)
			if err != nil || !known || rows != c.refunds || sum != c.worth || worth != c.worth {
				t.Errorf("%s: %d refunds, rows add up to %s, worth %s, %v; want %d, %s", name, rows, sum, worth, err, c.refunds, c.worth)
			}
		}
		for first, want := range map[civil.Date]money.Cents{january: 7000, february: -4300} {
			if month, err := world.Month(t.Context(), world.actor, first); err != nil || month.Net() != want {
				t.Errorf("the month from %s has %s, %v", first, month.Net(), err)
			}
		}
		for n, want := range []int64{3, 2, 1} { // the newest day first, and the newest of a day
			page := input.Page{Number: int64(n) + 1, Size: 1, Sort: "-" + input.ByPaidDay}
			list, total, err := world.Refunds(t.Context(), world.actor, PaymentFilter{Came: true}, page)
			if err != nil || total != 3 || len(list) != 1 || list[0].ID != want {
				t.Fatalf("page %d has %+v of %d, %v", n+1, list, total, err)
			}
			list[0].CustomerName, list[0].PaymentID = "", ""
			first := ListedRefund{
				RefundRecord: RefundRecord{ID: 1, Amount: 500, On: day("2026-02-02"), By: "user:1", Note: "too much"},
				Payment:      1, Via: "pix", InvoiceID: list[0].InvoiceID,
			}
			if want == 1 && list[0] != first {
				t.Errorf("the first refund is %+v", list[0])
			}
		}
	})
}
