package reminder

import (
	"context"
	"encoding/json"
	"errors"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

const quietText = `SELECT quiet_from, quiet_to FROM reminder_settings WHERE company_id = ?`

func scanQuiet(row sqldb.Row) (quiet Quiet, err error) {
	err = row.Scan(&quiet.From, &quiet.To)
	return quiet, err
}

func quietOf(ctx context.Context, querier sqldb.Querier, companyID int64) (Quiet, error) {
	return orDefault(sqldb.One(ctx, querier, scanQuiet, quietText, companyID))
}

func orDefault(quiet Quiet, err error) (Quiet, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return DefaultQuiet, nil
	}
	return quiet, err
}

func saveQuiet(ctx context.Context, tx account.Tx, quiet Quiet) error {
	return tx.Do(ctx, `
		INSERT INTO reminder_settings (company_id, quiet_from, quiet_to, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id) DO UPDATE SET quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
		updated_at = excluded.updated_at`,
		tx.Company.ID, quiet.From, quiet.To, tx.Now().UnixMicro())
}

var storedChannel = channelFields.Stored()

var channelColumns = `id, options, secrets, failures, problem, problem_at, next_at, created_at, updated_at, callback_key, verify_token,
	heard_at, ` + storedChannel.Columns("", "")

func scanChannel(row sqldb.Row) (channel Channel, err error) {
	var options string
	err = row.Scan(append([]any{
		&channel.ID, &options, &channel.sealed, &channel.Failures, &channel.Problem, (*civil.Instant)(&channel.ProblemAt),
		(*civil.Instant)(&channel.nextAt), (*civil.Instant)(&channel.CreatedAt), (*civil.Instant)(&channel.UpdatedAt),
		&channel.CallbackKey, &channel.VerifyToken, (*civil.Instant)(&channel.HeardAt),
	}, storedChannel.Places(&channel)...)...)
	if err != nil {
		return channel, err
	}
	return channel, json.Unmarshal([]byte(options), &channel.Options)
}

func channels(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Channel, error) {
	return sqldb.All(ctx, querier, scanChannel,
		`SELECT `+channelColumns+` FROM reminder_channels WHERE company_id = ? ORDER BY id`, companyID)
}

var channelText = `SELECT ` + channelColumns + ` FROM reminder_channels WHERE company_id = ? AND id = ?`

func channelByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Channel, error) {
	return sqldb.Find(ctx, querier, "channel", scanChannel, channelText, companyID, id)
}

func lockChannel(ctx context.Context, tx account.Tx, id int64) (Channel, error) {
	return sqldb.Find(ctx, tx, "channel", scanChannel, channelText+` {for update}`, tx.Company.ID, id)
}

func encodeOptions(options map[string]string) string {
	text, _ := json.Marshal(options) // texts always encode
	return string(text)
}

func insertChannel(ctx context.Context, tx account.Tx, channel Channel) (int64, error) {
	now := tx.Now().UnixMicro()
	values := append(storedChannel.Values(&channel), tx.Company.ID, encodeOptions(channel.Options), "", 0, now, now,
		channel.CallbackKey, channel.VerifyToken)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO reminder_channels (`+storedChannel.Columns("", "")+`, company_id, options, secrets, next_at, created_at, updated_at,
			callback_key, verify_token)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

func setSecrets(ctx context.Context, tx *sqldb.Tx, companyID, id int64, sealed string) error {
	return tx.Do(ctx, `UPDATE reminder_channels SET secrets = ? WHERE company_id = ? AND id = ?`, sealed, companyID, id)
}

func updateChannelRow(ctx context.Context, tx account.Tx, channel Channel) error {
	return tx.Do(ctx, `
		UPDATE reminder_channels SET `+storedChannel.Columns("", " = ?")+`, options = ?, secrets = ?, updated_at = ?,
			failures = 0, problem = '', problem_at = 0
		WHERE company_id = ? AND id = ?`, append(storedChannel.Values(&channel),
		encodeOptions(channel.Options), channel.sealed, channel.UpdatedAt.UnixMicro(), tx.Company.ID, channel.ID)...)
}

func addProblem(ctx context.Context, tx *sqldb.Tx, companyID, id int64, problem string) error {
	return tx.Do(ctx, `UPDATE reminder_channels SET failures = failures + 1, problem = ?, problem_at = ?
		WHERE company_id = ? AND id = ?`,
		problem, tx.Now().UnixMicro(), companyID, id)
}

// clearProblem touches a channel only where there is something to forget, so
// that no attempt that succeeds waits for another.
func clearProblem(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	return tx.Do(ctx, `
		UPDATE reminder_channels SET failures = 0, problem = '', problem_at = 0 WHERE company_id = ? AND id = ?
		AND failures > 0`, companyID, id)
}

// sealedSecrets are the secrets of a channel.
type sealedSecrets struct {
	companyID, channelID int64
	sealed               string
}

var storedTemplate = templateFields.Stored()

var templateColumns = `id, whatsapp_params, created_at, updated_at, ` + storedTemplate.Columns("", "")

func scanTemplate(row sqldb.Row) (template Template, err error) {
	var params string
	err = row.Scan(append([]any{
		&template.ID, &params, (*civil.Instant)(&template.CreatedAt), (*civil.Instant)(&template.UpdatedAt),
	}, storedTemplate.Places(&template)...)...)
	if err != nil {
		return template, err
	}
	return template, template.Approved.decodeGaps(params)
}

func templates(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Template, error) {
	return sqldb.All(ctx, querier, scanTemplate, `SELECT `+templateColumns+` FROM reminder_templates
		WHERE company_id = ? ORDER BY id`, companyID)
}

var templateText = `SELECT ` + templateColumns + ` FROM reminder_templates WHERE company_id = ? AND id = ?`

func templateByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Template, error) {
	return sqldb.Find(ctx, querier, "template", scanTemplate, templateText, companyID, id)
}

func lockTemplate(ctx context.Context, tx account.Tx, id int64) (Template, error) {
	return sqldb.Find(ctx, tx, "template", scanTemplate, templateText+` {for update}`, tx.Company.ID, id)
}

func insertTemplate(ctx context.Context, tx account.Tx, template Template) (int64, error) {
	now := tx.Now().UnixMicro()
	values := append(storedTemplate.Values(&template), template.Approved.encodeGaps(), tx.Company.ID, now, now)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO reminder_templates (`+storedTemplate.Columns("", "")+`, whatsapp_params, company_id, created_at, updated_at)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

func updateTemplate(ctx context.Context, tx account.Tx, template Template) error {
	return tx.Do(ctx, `
		UPDATE reminder_templates SET `+storedTemplate.Columns("", " = ?")+`, whatsapp_params = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(storedTemplate.Values(&template),
		template.Approved.encodeGaps(), template.UpdatedAt.UnixMicro(), tx.Company.ID, template.ID)...)
}

// waiting are the messages of a rule that are not due yet and that no process
// has claimed. One that a person asked for minds no hour.
const waiting = `company_id = ? AND rule_id = ? AND status = 'scheduled' AND run_at > ? AND claim = '' AND NOT manual`

// moveDate moves the messages of a due date that were not tried.
func moveDate(ctx context.Context, tx account.Tx, ruleID int64, to moved) error {
	return tx.Do(ctx,
		`UPDATE reminder_messages SET run_at = ?, late_at = ? WHERE `+waiting+` AND attempts = 0 AND due_on = ?`,
		to.at.UnixMicro(), to.late.UnixMicro(), tx.Company.ID, ruleID, tx.Now().UnixMicro(), to.dueOn)
}

func moveTry(ctx context.Context, tx account.Tx, to moved) error {
	return tx.Do(ctx, `UPDATE reminder_messages SET run_at = ?, late_at = ? WHERE company_id = ? AND id = ?`,
		to.at.UnixMicro(), to.late.UnixMicro(), tx.Company.ID, to.id)
}
