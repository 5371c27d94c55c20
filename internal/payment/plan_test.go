package payment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/test/kit/sqldbtest"
)

// Looking for what is due costs what is due, however many charges wait for
// their time or are closed for good.
func TestDueChargesAreReadFromTheirIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		later := noon.Add(time.Hour).UnixMicro()
		world.exec(t, fmt.Sprintf(`INSERT INTO charges (company_id, gateway_id, provider, invoice_id, customer_id, customer_name, reference, gateway_ref, amount_cents,
				state, pix_code, checkout_url, problem, expires_at, next_check_at, checks, hinted_at, claim, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
			SELECT 1, 1, 'fake', 1000 + i, 1, 'Ana', 'r' || i, 'g' || i, 3500, CASE WHEN i %% 2 = 0 THEN 'pending' ELSE 'expired' END, '', '', '', %d,
				CASE WHEN i %% 2 = 0 THEN CAST(%d AS BIGINT) END, 0, 0, '', 1, 1 FROM n`, later, later))
		world.exec(t, `ANALYZE`) // which PostgreSQL does by itself before there are many
		at := noon.UnixMicro()
		plan := sqldbtest.Explain(t, world.db, dueChargesText, at, at, at, callsPerClaim, maxInFlight)
		for _, index := range []string{"charges_due", "charges_claimed"} {
			if !strings.Contains(plan, index) {
				t.Errorf("%s is not used:\n%s", index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on charges") || strings.Contains(plan, "SCAN charges") || strings.Contains(plan, "SCAN x") {
			t.Errorf("all charges are read:\n%s", plan)
		}
		plan = sqldbtest.Explain(t, world.db, lockUnsettledText, 1, []int64{invoice.ID})
		if !strings.Contains(plan, "invoice_id") || strings.Contains(plan, "Seq Scan on charges") || strings.Contains(plan, "SCAN charges") {
			t.Errorf("the charges of an invoice are found among all:\n%s", plan)
		}
	})
}

// One company's backlog, or its broken gateway, does not keep the others from
// being checked.
func TestCompaniesDoNotWaitForEachOther(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for range 20 {
			world.charged(t, world.invoice(t).ID)
		}
		other := *world
		other.actor = world.newCompany(t)
		other.gateway(t, "provider", "fake", "secret", "of-the-other-company")
		invoice := other.invoice(t)
		payable := other.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		world.clock.Advance(time.Minute)
		claimed, err := world.claim(t.Context(), maxInFlight)
		must(t, err)
		byCompany := map[int64]int{}
		for _, charge := range claimed {
			byCompany[charge.companyID]++
			world.checkCharge(t.Context(), charge)
		}
		if byCompany[world.actor.Company.ID] != callsPerClaim || byCompany[other.actor.Company.ID] != 1 {
			t.Errorf("claimed %v", byCompany)
		}
		other.wantPaid(t, invoice)
		// The space between looks holds for the next round.
		again, err := world.claim(t.Context(), maxInFlight)
		if err != nil || len(again) != 0 {
			t.Errorf("%d more at once, %v", len(again), err)
		}
		world.clock.Advance(callsPerClaim * spacing)
		if again, err = world.claim(t.Context(), maxInFlight); err != nil || len(again) != callsPerClaim {
			t.Errorf("%d after a while, %v", len(again), err)
		}
	})
}
