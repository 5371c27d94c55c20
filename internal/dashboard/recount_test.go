package dashboard

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func recounts() []tally.Recount { return slices.Concat(customer.Recounts(), billing.Recounts()) }

func (w *world) scope() tally.Scope {
	return tally.Scope{CompanyID: w.Actor.Company.ID, Today: w.Actor.Today(w.Clock.Now())}
}

// wantRecounted wants every counter to equal the recount of `carteira doctor`.
func (w *world) wantRecounted(t *testing.T) {
	t.Helper()
	for _, counter := range w.miscounted(t) {
		t.Errorf("%s of company %d is not what its records are", counter, w.Actor.Company.ID)
	}
}

// miscounted are the counters that differ from their records.
func (w *world) miscounted(t *testing.T) (wrong []tally.Counter) {
	t.Helper()
	for _, recount := range recounts() {
		found, err := recount.Differences(t.Context(), w.DB, w.scope())
		housetest.Must(t, err)
		if len(found) > 0 && !slices.Contains(wrong, recount.Counter) {
			t.Logf("%s: %+v", recount.Counter, found)
			wrong = append(wrong, recount.Counter)
		}
	}
	return wrong
}

func (w *world) exec(t *testing.T, statement string) {
	t.Helper()
	housetest.Must(t, w.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
		changed, err := tx.Exec(t.Context(), statement)
		if changed == 0 {
			t.Errorf("%s damages nothing", statement)
		}
		return err
	}))
}

// Each counter of the books is damaged by itself, found and repaired, and then
// every figure is what it was.
func TestDamagedCountersAreFoundAndRepaired(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		random := rand.New(rand.NewPCG(3, 4))
		for range 60 {
			w.business(t, random)
			w.observe(t)
			w.Clock.Advance(22 * time.Hour)
		}
		_, err := w.Customers.Expire(t.Context(), w.Actor)
		housetest.Must(t, err)
		housetest.Must(t, tally.Compact(t.Context(), w.DB))
		w.wantRecounted(t)
		before := w.month(t, "2026-03-01")
		for _, c := range []struct {
			damage string
			names  tally.Counter
		}{
			{`UPDATE tally_sums SET n = n + 1 WHERE book = 'customers'`, tally.Customers},
			{`UPDATE tally_sums SET n = n + 2 WHERE book = 'created' AND state = ''`, tally.Created},
			{`DELETE FROM tally_sums WHERE book = 'created' AND state = ''`, tally.Created},
			{`UPDATE tally_sums SET n = n + 1 WHERE book = 'recurring' AND day = '2026-03' AND state = 'new'`, tally.Recurring},
			{`UPDATE tally_sums SET cents = cents - 7 WHERE book = 'recurring' AND day = '2026-03' AND state IN ('lost', 'up', 'down')`, tally.Recurring},
			{`DELETE FROM tally_sums WHERE book = 'recurring' AND day = '2026-03' AND state IN ('new', 'lost', 'up', 'down', 'in', 'out')`, tally.Recurring},
			{`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents) VALUES (1, 'recurring', '', 1, 0, 'base', 1, 100)`, tally.Recurring},
			{`UPDATE tally_sums SET n = n + 1 WHERE book = 'debtors'`, tally.Debtors},
			{`DELETE FROM debtors`, tally.Debtors},
			{`UPDATE debtors SET since = '2025-01-01', plan_id = 9`, tally.Debtors},
			{`UPDATE tally_sums SET n = n - 1, cents = cents + 1 WHERE book = 'invoices'`, tally.Invoices},
			{`UPDATE tally_sums SET n = n + 1 WHERE book = 'payments'`, tally.Payments},
			{`UPDATE tally_totals SET n = n + 1 WHERE book = 'payments'`, tally.Payments},
			{`UPDATE tally_months SET cents = cents + 1 WHERE book = 'receipts'`, tally.Receipts},
			{`DELETE FROM tally_months WHERE book = 'recurring'`, tally.Recurring},
			{`UPDATE tally_sums SET cents = cents + 1 WHERE book = 'receipts'`, tally.Receipts},
			{`UPDATE tally_sums SET n = n + 1 WHERE book = 'paid' AND state = 'late'`, tally.Paid},
		} {
			w.exec(t, c.damage)
			if wrong := w.miscounted(t); !slices.Equal(wrong, []tally.Counter{c.names}) {
				t.Errorf("%s: found %v", c.damage, wrong)
			}
			for _, recount := range recounts() {
				_, err := recount.Correct(t.Context(), w.DB, w.scope())
				housetest.Must(t, err)
			}
			w.wantRecounted(t)
			if after := w.month(t, "2026-03-01"); jsonOf(t, after) != jsonOf(t, before) {
				t.Errorf("%s: the month is\n%s\nand was\n%s", c.damage, jsonOf(t, after), jsonOf(t, before))
			}
		}
	})
}

// A company that moves west over the end of a month lives its last day twice. The
// rows of customers know the later month by then, and nothing is wrong.
func TestRecountOfACompanyThatMovedWestOverAMonthsEnd(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.Clock.Set(time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC))
		made := w.Customer(t, "plan_id", "1", "due_date", "2026-04-20")
		w.Clock.Set(time.Date(2026, 4, 1, 4, 0, 0, 0, time.UTC))
		housetest.Must(t, w.changes(t, made.ID, "price", "50.00"))
		company, err := w.Accounts.SetCompany(t.Context(), w.Actor, account.ReadCompanyDraft(housetest.Form("timezone", "America/Rio_Branco")))
		housetest.Must(t, err)
		w.Actor.Company = company
		if today := w.Actor.Today(w.Clock.Now()).String(); today != "2026-03-31" {
			t.Fatalf("it is %s there", today)
		}
		w.wantRecounted(t)
		w.exec(t, `UPDATE tally_deltas SET cents = cents + 1 WHERE book = 'recurring' AND day = '2026-04'`)
		if wrong := w.miscounted(t); !slices.Equal(wrong, []tally.Counter{tally.Recurring}) {
			t.Errorf("found %v", wrong)
		}
	})
}
