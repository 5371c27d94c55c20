package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
)

// instant reads 0 as no time at all.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

const quietText = `SELECT quiet_from, quiet_to FROM reminder_settings WHERE company_id = ?`

func scanQuiet(r sqldb.Row) (q Quiet, err error) {
	err = r.Scan(&q.From, &q.To)
	return q, err
}

func quietOf(ctx context.Context, q sqldb.Querier, companyID int64) (Quiet, error) {
	return orDefault(sqldb.One(ctx, q, scanQuiet, quietText, companyID))
}

func lockQuiet(ctx context.Context, tx *sqldb.Tx, companyID int64) (Quiet, error) {
	return orDefault(sqldb.One(ctx, tx, scanQuiet, quietText+` {for update}`, companyID))
}

func orDefault(q Quiet, err error) (Quiet, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return DefaultQuiet, nil
	}
	return q, err
}

func saveQuiet(ctx context.Context, tx *sqldb.Tx, companyID int64, q Quiet) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO reminder_settings (company_id, quiet_from, quiet_to, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id) DO UPDATE SET quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
		updated_at = excluded.updated_at`,
		companyID, q.From, q.To, tx.Now().UnixMicro())
	return err
}

const channelColumns = `id, kind, name, options, secrets, active, per_minute, failures, problem, problem_at,
	next_at, created_at, updated_at`

func scanChannel(r sqldb.Row) (c Channel, err error) {
	var options string
	var problem, next, created, updated int64
	if err = r.Scan(&c.ID, &c.Kind, &c.Name, &options, &c.sealed, &c.Active, &c.PerMinute, &c.Failures, &c.Problem, &problem, &next, &created, &updated); err != nil {
		return c, err
	}
	c.ProblemAt = instant(problem)
	c.nextAt, c.CreatedAt, c.UpdatedAt = time.UnixMicro(next), time.UnixMicro(created), time.UnixMicro(updated)
	return c, json.Unmarshal([]byte(options), &c.Options)
}

func channels(ctx context.Context, q sqldb.Querier, companyID int64) ([]Channel, error) {
	return sqldb.All(ctx, q, scanChannel, `SELECT `+channelColumns+` FROM reminder_channels WHERE company_id = ? ORDER BY id`, companyID)
}

const channelText = `SELECT ` + channelColumns + ` FROM reminder_channels WHERE company_id = ? AND id = ?`

func channelByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Channel, error) {
	c, err := sqldb.One(ctx, q, scanChannel, channelText, companyID, id)
	return c, sqldb.Found(err, "channel")
}

func lockChannel(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Channel, error) {
	c, err := sqldb.One(ctx, tx, scanChannel, channelText+` {for update}`, companyID, id)
	return c, sqldb.Found(err, "channel")
}

func encodeOptions(options map[string]string) string {
	text, _ := json.Marshal(options) // texts always encode
	return string(text)
}

func insertChannel(ctx context.Context, tx *sqldb.Tx, companyID int64, c Channel) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO reminder_channels (company_id, kind, name, options, secrets, active, per_minute, next_at, created_at, updated_at)
		VALUES (?, ?, ?, ?, '', ?, ?, 0, ?, ?) RETURNING id`,
		companyID, c.Kind, c.Name, encodeOptions(c.Options), c.Active, c.PerMinute, tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func setSecrets(ctx context.Context, tx *sqldb.Tx, companyID, id int64, sealed string) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_channels SET secrets = ? WHERE company_id = ? AND id = ?`, sealed, companyID, id)
	return err
}

func updateChannelRow(ctx context.Context, tx *sqldb.Tx, companyID int64, c Channel) error {
	_, err := tx.Exec(ctx, `
		UPDATE reminder_channels SET name = ?, options = ?, secrets = ?, active = ?, per_minute = ?, updated_at = ?,
			failures = 0, problem = '', problem_at = 0
		WHERE company_id = ? AND id = ?`,
		c.Name, encodeOptions(c.Options), c.sealed, c.Active, c.PerMinute, c.UpdatedAt.UnixMicro(), companyID, c.ID)
	return err
}

func addProblem(ctx context.Context, tx *sqldb.Tx, companyID, id int64, problem string) error {
	_, err := tx.Exec(ctx, `UPDATE reminder_channels SET failures = failures + 1, problem = ?, problem_at = ?
		WHERE company_id = ? AND id = ?`,
		problem, tx.Now().UnixMicro(), companyID, id)
	return err
}

// clearProblem touches a channel only where there is something to forget, so
// that no attempt that succeeds waits for another.
func clearProblem(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `
		UPDATE reminder_channels SET failures = 0, problem = '', problem_at = 0 WHERE company_id = ? AND id = ?
		AND failures > 0`, companyID, id)
	return err
}

func removeChannel(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM reminder_channels WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}

// sealedSecrets are the secrets of a channel.
type sealedSecrets struct {
	companyID, channelID int64
	sealed               string
}

func sealedBefore(ctx context.Context, q sqldb.Querier, keyID string) ([]sealedSecrets, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (o sealedSecrets, err error) {
		err = r.Scan(&o.companyID, &o.channelID, &o.sealed)
		return o, err
	}, `SELECT company_id, id, secrets FROM reminder_channels WHERE secrets NOT LIKE ?
		AND secrets <> '' /* every company_id */`, "v1."+keyID+".%")
}

const templateColumns = `id, name, subject, body, whatsapp_name, whatsapp_language, whatsapp_params, created_at, updated_at`

func scanTemplate(r sqldb.Row) (t Template, err error) {
	var params string
	var created, updated int64
	if err = r.Scan(&t.ID, &t.Name, &t.Subject, &t.Text, &t.Approved.Name, &t.Approved.Language, &params, &created, &updated); err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = time.UnixMicro(created), time.UnixMicro(updated)
	t.Approved.Params, err = decodeParams(params)
	return t, err
}

func templates(ctx context.Context, q sqldb.Querier, companyID int64) ([]Template, error) {
	return sqldb.All(ctx, q, scanTemplate, `SELECT `+templateColumns+` FROM reminder_templates
		WHERE company_id = ? ORDER BY id`, companyID)
}

const templateText = `SELECT ` + templateColumns + ` FROM reminder_templates WHERE company_id = ? AND id = ?`

func templateByID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Template, error) {
	t, err := sqldb.One(ctx, q, scanTemplate, templateText, companyID, id)
	return t, sqldb.Found(err, "template")
}

func lockTemplate(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Template, error) {
	t, err := sqldb.One(ctx, tx, scanTemplate, templateText+` {for update}`, companyID, id)
	return t, sqldb.Found(err, "template")
}

func insertTemplate(ctx context.Context, tx *sqldb.Tx, companyID int64, t Template) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO reminder_templates (company_id, name, subject, body, whatsapp_name, whatsapp_language,
		whatsapp_params, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, companyID, t.Name, t.Subject, t.Text,
		t.Approved.Name, t.Approved.Language, encodeParams(t.Approved.Params), tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func updateTemplate(ctx context.Context, tx *sqldb.Tx, companyID int64, t Template) error {
	_, err := tx.Exec(ctx, `
		UPDATE reminder_templates SET name = ?, subject = ?, body = ?, whatsapp_name = ?, whatsapp_language = ?,
		whatsapp_params = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, t.Name, t.Subject, t.Text,
		t.Approved.Name, t.Approved.Language, encodeParams(t.Approved.Params), t.UpdatedAt.UnixMicro(), companyID, t.ID)
	return err
}

func removeTemplate(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM reminder_templates WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}
