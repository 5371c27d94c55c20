package intake

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// jsonOf is a column of JSON.
func jsonOf(value any) string {
	text, _ := json.Marshal(value) // numbers and texts always have a form
	return string(text)
}

func insertUpload(ctx context.Context, tx account.Tx, upload Upload) (int64, error) {
	now := tx.Real().UnixMicro()
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_uploads (company_id, name, content, choices, state, outcome, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, '{}', ?, ?) RETURNING id`,
		tx.Company.ID, upload.Name, upload.content, jsonOf(upload.Choices), string(upload.State), now, now)
}

func uploadByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Upload, error) {
	upload, err := sqldb.One(ctx, querier, func(row sqldb.Row) (upload Upload, err error) {
		var choices, outcome string
		err = row.Scan(&upload.ID, &upload.Name, &upload.content, &choices, (*string)(&upload.State), &outcome,
			(*civil.Instant)(&upload.CreatedAt), (*civil.Instant)(&upload.updatedAt))
		if err != nil {
			return upload, err
		}
		return upload, errors.Join(json.Unmarshal([]byte(choices), &upload.Choices),
			json.Unmarshal([]byte(outcome), &upload.Outcome))
	},
		`SELECT id, name, content, choices, state, outcome, created_at, updated_at FROM customer_uploads WHERE company_id = ? AND id = ?`,
		companyID, id)
	return upload, sqldb.Found(err, "import")
}

// updateUpload refuses when the upload is not in the state any more that it is to
// leave: another request or process was faster.
func updateUpload(ctx context.Context, tx account.Tx, upload Upload, from UploadState) error {
	var rejected any // NULL leaves what is stored
	if upload.rejected != nil {
		rejected = jsonOf(upload.rejected)
	}
	changed, err := tx.Exec(ctx, `
		UPDATE customer_uploads SET choices = ?, state = ?, outcome = ?, updated_at = ?, rejected = COALESCE(?, rejected)
		WHERE company_id = ? AND id = ? AND state = ?`,
		jsonOf(upload.Choices), string(upload.State), jsonOf(upload.Outcome), tx.Real().UnixMicro(), rejected,
		tx.Company.ID, upload.ID, string(from))
	switch {
	case err != nil || changed == 1:
		return err
	case from == UploadNew:
		return fault.Conflict("this file is being imported already")
	}
	return fault.Conflict("this file is not being imported any more")
}

// rejectedOf reads which lines of an upload were not imported.
func rejectedOf(ctx context.Context, querier sqldb.Querier, companyID, id int64) (lines []rejectedLine, err error) {
	column, err := sqldb.Value[string](ctx, querier,
		`SELECT rejected FROM customer_uploads WHERE company_id = ? AND id = ?`, companyID, id)
	if err != nil || column == "" {
		return nil, sqldb.Found(err, "import")
	}
	err = json.Unmarshal([]byte(column), &lines)
	return lines, err
}

func pruneUploads(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM customer_uploads WHERE created_at < ? /* every company_id */`, before.UnixMicro())
	return err
}

// uploadSize is how much an upload takes.
type uploadSize struct {
	id, bytes int64
	state     UploadState
}

// uploadSizes lists the uploads by how dear they are: those that were imported
// first and those that are being imported last, the oldest of each before.
func uploadSizes(ctx context.Context, querier sqldb.Querier, companyID int64) ([]uploadSize, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (size uploadSize, err error) {
		return size, row.Scan(&size.id, &size.bytes, (*string)(&size.state))
	}, `SELECT id, length(content), state FROM customer_uploads WHERE company_id = ?
		ORDER BY CASE state WHEN 'running' THEN 2 WHEN 'new' THEN 1 ELSE 0 END, id`, companyID)
}

func deleteUpload(ctx context.Context, tx account.Tx, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customer_uploads WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
	return err
}

// The table has one row, and is there on SQLite only.

func readStage(ctx context.Context, querier sqldb.Querier) (stage, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (st stage, err error) {
		var choices string
		var renewed int64
		err = row.Scan((*string)(&st.phase), &st.companyID, &st.hiddenFrom, &st.hiddenTo, &st.next, &st.last, &choices,
			&st.lease, &renewed)
		if err != nil {
			return st, err
		}
		st.renewedAt = time.UnixMicro(renewed)
		return st, json.Unmarshal([]byte(choices), &st.choices)
	}, `SELECT phase, company_id, hidden_from, hidden_to, next_id, last_id, choices, lease, renewed_at
		FROM customer_staging /* every company_id */`)
}

// replaceStage writes down what became of an import. It fails when the row is not as
// it was before any more: another process has taken the import over.
func replaceStage(ctx context.Context, tx *sqldb.Tx, before stage, after *stage) error {
	after.renewedAt = tx.Real()
	ours, err := rows.Changed(ctx, tx, `
		UPDATE customer_staging SET phase = ?, company_id = ?, hidden_from = ?, hidden_to = ?, next_id = ?, last_id = ?,
			choices = ?, lease = ?, renewed_at = ? WHERE lease = ? AND renewed_at = ?`,
		string(after.phase), after.companyID, after.hiddenFrom, after.hiddenTo, after.next, after.last,
		jsonOf(after.choices), after.lease, after.renewedAt.UnixMicro(), before.lease, before.renewedAt.UnixMicro())
	if err == nil && !ours {
		err = errTakenOver
	}
	return err
}

// reserveIDs keeps consecutive ids of customers for the import, and returns the
// first: no other row will get one of them. It is for SQLite, where AUTOINCREMENT
// has its counters in a table that may be written.
func reserveIDs(ctx context.Context, tx *sqldb.Tx, count int64) (first int64, err error) {
	last, err := sqldb.Value[int64](ctx, tx,
		`UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'customers' RETURNING seq`, count)
	if errors.Is(err, sqldb.ErrNotFound) { // there has never been a customer
		last = count
		_, err = tx.Exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ('customers', ?)`, last)
	}
	return last - count + 1, err
}
