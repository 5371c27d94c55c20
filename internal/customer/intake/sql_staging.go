package intake

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/platform/sqldb"
)

// The table has one row, and is there on SQLite only.

func readStage(ctx context.Context, querier sqldb.Querier) (stage, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (st stage, err error) {
		var choices string
		var renewed int64
		err = row.Scan(
			(*string)(&st.phase),
			&st.companyID,
			&st.hiddenFrom,
			&st.hiddenTo,
			&st.next,
			&st.last,
			&choices,
			&st.lease,
			&renewed,
		)
		if err != nil {
			return st, err
		}
		st.renewedAt = time.UnixMicro(renewed)
		return st, json.Unmarshal([]byte(choices), &st.choices)
	}, `SELECT phase, company_id, hidden_from, hidden_to, next_id, last_id, choices, lease, renewed_at
		FROM customer_staging /* every company_id */`)
}

// renewStage reports whether the import is still the process's that has the
// lease.
func renewStage(ctx context.Context, tx *sqldb.Tx, lease string) (bool, error) {
	changed, err := tx.Exec(
		ctx,
		`UPDATE customer_staging SET renewed_at = ? WHERE lease = ? /* every company_id */`,
		tx.Real().UnixMicro(),
		lease,
	)
	return changed == 1, err
}

func saveStage(ctx context.Context, tx *sqldb.Tx, st stage) error {
	choices, err := json.Marshal(st.choices)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE customer_staging SET phase = ?, company_id = ?, hidden_from = ?, hidden_to = ?, next_id = ?, last_id = ?,
			choices = ?, lease = ?, renewed_at = ? /* every company_id */`,
		string(st.phase), st.companyID, st.hiddenFrom, st.hiddenTo, st.next, st.last,
		string(choices), st.lease, tx.Real().UnixMicro())
	return err
}
