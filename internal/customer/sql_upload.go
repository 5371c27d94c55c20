package customer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
)

func insertUpload(ctx context.Context, tx *sqldb.Tx, companyID int64, u Upload) (int64, error) {
	choices, err := json.Marshal(u.Choices)
	if err != nil {
		return 0, err
	}
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO customer_uploads (company_id, name, content, choices, state, outcome, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, '{}', ?, ?) RETURNING id`,
		companyID, u.Name, u.content, string(choices), string(u.State), tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func uploadByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Upload, error) {
	u, err := sqldb.One(ctx, q, func(r sqldb.Row) (u Upload, err error) {
		var choices, outcome string
		var created, updated int64
		err = r.Scan(&u.ID, &u.Name, &u.content, &choices, (*string)(&u.State), &outcome, &created, &updated)
		if err != nil {
			return u, err
		}
		u.CreatedAt, u.updatedAt = time.UnixMicro(created), time.UnixMicro(updated)
		return u, errors.Join(json.Unmarshal([]byte(choices), &u.Choices), json.Unmarshal([]byte(outcome), &u.Outcome))
	}, `SELECT id, name, content, choices, state, outcome, created_at, updated_at FROM customer_uploads WHERE company_id = ? AND id = ?`, companyID, id)
	return u, sqldb.Found(err, "import")
}

// updateUpload reports whether the upload was still in the state that it is
// to leave.
func updateUpload(ctx context.Context, tx *sqldb.Tx, companyID int64, u Upload, from UploadState) (bool, error) {
	choices, err := json.Marshal(u.Choices)
	if err != nil {
		return false, err
	}
	outcome, err := json.Marshal(u.Outcome)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, `
		UPDATE customer_uploads SET choices = ?, state = ?, outcome = ?, updated_at = ? WHERE company_id = ? AND id = ? AND state = ?`,
		string(choices), string(u.State), string(outcome), tx.Now().UnixMicro(), companyID, u.ID, string(from))
	return n == 1, err
}

func pruneUploads(ctx context.Context, tx *sqldb.Tx, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM customer_uploads WHERE created_at < ? /* every company_id */`, before.UnixMicro())
	return err
}

// uploadSize is how much an upload takes.
type uploadSize struct {
	id, bytes int64
	waits     bool // it is yet to be imported, or being imported
}

func uploadSizes(ctx context.Context, q sqldb.Querier, companyID int64) ([]uploadSize, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (u uploadSize, err error) {
		var state UploadState
		err = r.Scan(&u.id, &u.bytes, (*string)(&state))
		u.waits = state == UploadNew || state == UploadRunning
		return u, err
	}, `SELECT id, length(content), state FROM customer_uploads WHERE company_id = ? ORDER BY id`, companyID)
}

func deleteUpload(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customer_uploads WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}
