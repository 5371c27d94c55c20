package customer

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Recounts count customers anew, as counted does, their creations and what they
// are worth. Customers who were renewed in a month and deleted since are counted
// and have no row, so that counter cannot be compared.
func Recounts() []tally.Recount {
	return []tally.Recount{
		{Counter: counter, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: customerRecords, Args: []any{scope.CompanyID}}
		}},
		{Counter: tally.Created, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: creationRecords, Args: []any{scope.CompanyID}, States: []string{""}}
		}},
		{Counter: tally.Recurring, Records: movedThisMonth},
		{Counter: tally.Recurring, Records: worthNow},
	}
}

const (
	customerRecords = `SELECT id / 4096 AS bucket, COALESCE(due_on, '') AS day, COALESCE(plan_id, 0) AS plan_id,
		COALESCE(product_id, 0) AS product_id,
		CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN price_cents IS NOT NULL THEN 'own' ELSE '' END AS state,
		1 AS n, 0 AS cents
		FROM customers WHERE company_id = ? AND {visible id}`
	creationRecords = `SELECT 0 AS bucket, created_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		'' AS state, 1 AS n, 0 AS cents
		FROM customers WHERE company_id = ? AND {visible id} AND created_on <> ''`
)

// movedThisMonth are the movements of the present month, as movement counts
// them. A customer's row knows its last month alone, so those of earlier months
// cannot be compared; nor can who was lost and deleted.
func movedThisMonth(scope tally.Scope) tally.Records {
	month := monthOf(scope.Today)
	records := tally.Records{
		Day: month,
		States: []string{
			tally.RecurringNew, tally.RecurringLost, tally.RecurringUp, tally.RecurringDown,
			tally.RecurringIn, tally.RecurringOut,
		},
	}
	for n, part := range movementParts {
		if n > 0 {
			records.SQL += ` UNION ALL `
		}
		records.SQL += `SELECT 0 AS bucket, mrr_month AS day, ` + part.at + `, '` + part.state + `' AS state,
			1 AS n, ` + part.amount + ` AS cents
			FROM customers WHERE company_id = ? AND {visible id} AND mrr_month = ? AND ` + part.condition
		records.Args = append(records.Args, scope.CompanyID, month)
	}
	return records
}

const (
	atStart      = `mrr_start_plan AS plan_id, mrr_start_product AS product_id`
	atPresent    = `COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id`
	inBoth       = `mrr_start_cents > 0 AND mrr_cents > 0`
	movedElse    = `(mrr_start_plan <> COALESCE(plan_id, 0) OR mrr_start_product <> COALESCE(product_id, 0))`
	startAmount  = `mrr_start_cents`
	amountOfUp   = `mrr_cents - mrr_start_cents`
	amountOfDown = `mrr_start_cents - mrr_cents`
)

// movementParts are the parts of movement in SQL.
var movementParts = []struct{ state, at, amount, condition string }{
	{tally.RecurringNew, atPresent, `mrr_cents`, `mrr_start_cents = 0 AND mrr_cents > 0`},
	{tally.RecurringLost, atStart, startAmount, `mrr_start_cents > 0 AND mrr_cents = 0`},
	{tally.RecurringUp, atPresent, amountOfUp, inBoth + ` AND mrr_cents > mrr_start_cents`},
	{tally.RecurringDown, atPresent, amountOfDown, inBoth + ` AND mrr_cents < mrr_start_cents`},
	{tally.RecurringOut, atStart, startAmount, inBoth + ` AND ` + movedElse},
	{tally.RecurringIn, atPresent, startAmount, inBoth + ` AND ` + movedElse},
}

// worthNow is what the customers of each plan and product are worth: what all
// movements since the beginning must add up to. What is wrong about that is
// corrected at the beginning, for no row knows in which month it went wrong.
func worthNow(scope tally.Scope) tally.Records {
	return tally.Records{
		View: `'' AS day, plan_id, product_id, 'base' AS state,
			CASE WHEN state IN ('base', 'new', 'in') THEN n WHEN state IN ('lost', 'lost_gone', 'out') THEN -n ELSE 0 END AS n,
			CASE WHEN state IN ('base', 'new', 'in', 'up') THEN cents
				WHEN state IN ('lost', 'lost_gone', 'out', 'down') THEN -cents ELSE 0 END AS cents`,
		SQL: `SELECT 0 AS bucket, '' AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
			'base' AS state, 1 AS n, mrr_cents AS cents
			FROM customers WHERE company_id = ? AND {visible id} AND mrr_cents > 0`,
		Args: []any{scope.CompanyID},
	}
}

// CheckPhones looks for stored numbers that cannot exist. The migration that
// brought the numbering plan repaired those whose digits left no doubt.
func (s *Service) CheckPhones(ctx context.Context) (checkup.Finding, error) {
	var wrong []int64
	total := 0
	err := sqldb.Each(sqldb.WithoutDeadline(ctx), s.db, `
		SELECT id, whatsapp FROM customers WHERE whatsapp <> '' AND {visible id} ORDER BY id /* every company_id */`,
		nil, func(row sqldb.Row) error {
			var id int64
			var number string
			if err := row.Scan(&id, &number); err != nil {
				return err
			}
			total++
			if fixed, certain := phone.Repair(number); !certain || fixed != number {
				wrong = append(wrong, id)
			}
			return nil
		})
	if err != nil || len(wrong) == 0 {
		return checkup.Good("all %d phone numbers can exist", total), err
	}
	return checkup.Warn("correct them in the panel; messages to them cannot arrive",
		"%d of %d phone numbers cannot exist, the first of customers %v", len(wrong), total,
		wrong[:min(len(wrong), 5)]), nil
}
