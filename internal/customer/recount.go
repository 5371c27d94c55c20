package customer

import (
	"context"

	"carteira/internal/platform/checkup"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Recounts count customers anew, as counted does. Customers who were renewed in
// a month and deleted since are counted and have no row, so that counter cannot
// be compared.
func Recounts() []tally.Recount {
	return []tally.Recount{{Counter: counter, Records: func(companyID int64) tally.Records {
		return tally.Records{SQL: recordsSQL, Args: []any{companyID}}
	}}}
}

const recordsSQL = `SELECT id / 4096 AS bucket, COALESCE(due_on, '') AS day, COALESCE(plan_id, 0) AS plan_id,
	COALESCE(product_id, 0) AS product_id,
	CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN price_cents IS NOT NULL THEN 'own' ELSE '' END AS state,
	1 AS n, 0 AS cents
	FROM customers WHERE company_id = ? AND {visible id}`

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
