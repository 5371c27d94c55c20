package account

import "carteira/internal/tally"

// Recounts count the companies below a company anew, as counted does.
func Recounts() []tally.Recount {
	return []tally.Recount{{Counter: counter, Records: func(scope tally.Scope) tally.Records {
		return tally.Records{SQL: childRecords, Args: []any{scope.CompanyID}}
	}}}
}

const childRecords = `SELECT id / 4096 AS bucket, COALESCE(expires_on, '') AS day, COALESCE(subscription_plan_id, 0) AS plan_id,
	0 AS product_id,
	level || '/' || subscription || '/' || CASE WHEN suspended_at IS NULL THEN '' ELSE 'suspended' END || '/' || timezone AS state,
	1 AS n, 0 AS cents
	FROM companies WHERE parent_id = ?`
