package reminder

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// What planning and sending look at is found through indexes, however many
// customers and messages there are: a run costs what is due.
func TestCostGrowsWithWhatIsDue(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		house := newHouse(t, engine)
		rule := house.usual()
		house.fill(rule, 5000)
		l := lane{companyID: house.actor.Company.ID, channelID: rule.Channels[0]}
		due, at := civil.MustParse("2026-01-24"), house.clock.Now().UnixMicro()
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			house.exec(statistics)
			sqldbtest.WantIndex(t, house.db, "customers_due", dueCustomersText, l.companyID, due, 0, planBatch)
			sqldbtest.WantIndex(t, house.db, "reminder_messages_lane", dueMessagesText, l.companyID, l.channelID, at, lookAt)
			sqldbtest.WantIndex(t, house.db, "reminder_messages_due", firstDueText, at)
			sqldbtest.WantIndex(t, house.db, "reminder_messages_lane", `SELECT MIN(run_at) FROM reminder_messages WHERE status = 'scheduled' AND channel_id = ?`, l.channelID)
			sqldbtest.WantIndex(t, house.db, "reminder_messages_customer", `SELECT id FROM reminder_messages WHERE company_id = ? AND customer_id = ? ORDER BY id DESC LIMIT 50`, l.companyID, 5)
			day := Filter{DueFrom: due, DueTo: due}.query(l.companyID, "").Where
			day.And("m.company_id = ?", l.companyID)
			sqldbtest.WantIndex(t, house.db, "reminder_messages_day", `SELECT m.id FROM reminder_messages m`+day.String()+` ORDER BY m.id DESC LIMIT 50`, day.Args...)
			for _, other := range []string{"reminder_messages_status", "reminder_messages_planned", "Seq Scan", "SCAN "} {
				if plan := sqldbtest.Explain(t, house.db, `SELECT id FROM reminder_messages WHERE `+otherDates, l.companyID, 5, due); strings.Contains(plan, other) {
					t.Errorf("a customer's messages are found among all:\n%s", plan)
				}
			}
			sqldbtest.WantIndex(t, house.db, "reminder_messages_sending", `SELECT id FROM reminder_messages WHERE status = 'sending' AND run_at <= ?`, at)
		}
	})
}

// fill makes customers with due dates far ahead, and messages that were sent
// long ago, and as many that are scheduled for later.
func (h *house) fill(rule Rule, n int) {
	h.t.Helper()
	h.exec(fmt.Sprintf(`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
			notes, name_key, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', '2026-' || (10 + i %% 3) || '-' || (10 + i %% 18), 1, '', '', 1, 1 FROM n`, n))
	for status, at := range map[Status]time.Time{Sent: morning.AddDate(0, -1, 0), Scheduled: morning.AddDate(0, 0, 1)} {
		h.exec(`INSERT INTO reminder_messages (company_id, key, rule_id, customer_id, due_on, status, reason, channel_id, manual, step, attempts,
				run_at, claim, address, subject, body, receipt, created_at, updated_at)
			SELECT company_id, '', CAST(? AS BIGINT), id, due_on, CAST(? AS TEXT), '', CAST(? AS BIGINT), ?, 0, 0, CAST(? AS BIGINT), '', '', '', '', '', 1, 1 FROM customers`,
			rule.ID+int64(len(status)), string(status), rule.Channels[0], false, at.UnixMicro())
	}
}

// A run with nothing to plan reads one index and writes nothing.
func TestPlanningAgainDoesNothing(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		for range 20 {
			house.customer("2026-01-24")
		}
		for _, want := range []int{20, 0, 0} {
			n, err := house.Plan(t.Context())
			must(t, err)
			if n != want {
				t.Errorf("%d planned, want %d", n, want)
			}
		}
		due, err := rulesToPlan(t.Context(), house.db, house.db.Now())
		must(t, err)
		if len(due) != 0 {
			t.Errorf("%d rules still have something to plan", len(due))
		}
		house.at("2026-01-21 00:00")
		due, err = rulesToPlan(t.Context(), house.db, house.db.Now())
		must(t, err)
		if len(due) != 1 {
			t.Errorf("%d rules have something to plan after midnight", len(due))
		}
	})
}

// A day with more customers than a transaction takes is planned in several.
func TestLargeDayIsPlannedInSteps(t *testing.T) {
	house := newHouse(t, sqldb.SQLite)
	rule := house.usual()
	house.exec(`INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id, due_on, own_day,
			notes, name_key, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234)
		SELECT 1, 'u' || i, 'Ana', '', '', '', '', '', '2026-01-24', 24, '', '', 1, 1 FROM n`)
	var made int
	must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		var more bool
		made, more, err = house.planSome(t.Context(), house.actor.In(tx), rule.ID)
		if !more {
			t.Error("it was planned in one step")
		}
		return err
	}))
	house.update(1, "data_de_vencimento", "2026-01-23")
	house.update(1, "data_de_vencimento", "2026-01-24") // behind the cursor
	house.update(1234, "data_de_vencimento", "2026-01-23")
	house.update(1234, "data_de_vencimento", "2026-01-24") // ahead of it
	_, err := house.Plan(t.Context())
	must(t, err)
	if n := len(house.log()); n != 1234 || made >= planBatch+1 {
		t.Errorf("%d messages, the first step made %d", n, made)
	}
}
