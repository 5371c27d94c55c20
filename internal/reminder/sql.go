package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
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

var storedChannel = ChannelFields.Stored()

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

var storedTemplate = TemplateFields.Stored()

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

var storedRule = RuleFields.Stored()

var ruleColumns = `id, COALESCE(plan_id, 0), COALESCE(product_id, 0), channels, cursor_on, cursor_id, plan_at, created_at, updated_at,
	round, ` + storedRule.Columns("", "")

func scanRule(row sqldb.Row) (rule Rule, err error) {
	var list string
	err = row.Scan(append([]any{
		&rule.ID, &rule.PlanID, &rule.ProductID, &list, &rule.cursorOn, &rule.cursorID,
		(*civil.Instant)(&rule.planAt), (*civil.Instant)(&rule.CreatedAt), (*civil.Instant)(&rule.UpdatedAt), &rule.round,
	}, storedRule.Places(&rule)...)...)
	rule.Channels = splitIDs(list)
	return rule, err
}

func rules(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Rule, error) {
	return sqldb.All(ctx, querier, scanRule,
		`SELECT `+ruleColumns+` FROM reminder_rules WHERE company_id = ? AND NOT round ORDER BY id`, companyID)
}

// activeRules reads the rules on due dates that are on, and keeps them from being
// planned until the commit: the planner then sees what this transaction does.
func activeRules(ctx context.Context, tx account.Tx) ([]Rule, error) {
	return sqldb.All(ctx, tx, scanRule, `
		SELECT `+ruleColumns+` FROM reminder_rules WHERE company_id = ? AND active = ? AND occasion = 'due' ORDER BY id {for key share}`,
		tx.Company.ID, true)
}

// receiptRules reads the rules for receipts that are on, and keeps them from being
// changed until the commit.
func receiptRules(ctx context.Context, tx account.Tx) ([]Rule, error) {
	return sqldb.All(ctx, tx, scanRule, `
		SELECT `+ruleColumns+` FROM reminder_rules WHERE company_id = ? AND active = ? AND occasion = 'paid' ORDER BY id {for key share}`,
		tx.Company.ID, true)
}

// lockRules locks all rules, in the order of their ids.
func lockRules(ctx context.Context, tx account.Tx) ([]Rule, error) {
	return sqldb.All(ctx, tx, scanRule,
		`SELECT `+ruleColumns+` FROM reminder_rules WHERE company_id = ? AND NOT round ORDER BY id {for update}`,
		tx.Company.ID)
}

var ruleText = `SELECT ` + ruleColumns + ` FROM reminder_rules WHERE company_id = ? AND id = ?`

func ruleByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Rule, error) {
	return sqldb.Find(ctx, querier, "rule", scanRule, ruleText, companyID, id)
}

func lockRule(ctx context.Context, tx account.Tx, id int64) (Rule, error) {
	return sqldb.Find(ctx, tx, "rule", scanRule, ruleText+` AND NOT round {for update}`, tx.Company.ID, id)
}

func insertRule(ctx context.Context, tx account.Tx, rule Rule) (int64, error) {
	values := append(ruleValues(rule), tx.Company.ID, tx.Now().UnixMicro(), rule.round)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO reminder_rules (`+storedRule.Columns("", "")+`, plan_id, product_id, channels, cursor_on, cursor_id, plan_at, updated_at,
			company_id, created_at, round)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

func updateRule(ctx context.Context, tx account.Tx, rule Rule) error {
	return tx.Do(ctx, `
		UPDATE reminder_rules SET `+storedRule.Columns("", " = ?")+`, plan_id = ?, product_id = ?, channels = ?, cursor_on = ?,
			cursor_id = ?, plan_at = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(ruleValues(rule), tx.Company.ID, rule.ID)...)
}

// ruleValues are what both statements above write, in their order.
func ruleValues(rule Rule) []any {
	return append(storedRule.Values(&rule), sqldb.RefTo(rule.PlanID), sqldb.RefTo(rule.ProductID), joinIDs(rule.Channels),
		rule.cursorOn, rule.cursorID, civil.Micros(rule.planAt), rule.UpdatedAt.UnixMicro())
}

func saveCursor(ctx context.Context, tx account.Tx, rule Rule) error {
	return tx.Do(ctx,
		`UPDATE reminder_rules SET cursor_on = ?, cursor_id = ?, plan_at = ? WHERE company_id = ? AND id = ?`,
		rule.cursorOn, rule.cursorID, civil.Micros(rule.planAt), tx.Company.ID, rule.ID)
}

// catalogHas reports whether a plan and a product are the company's.
func catalogHas(
	ctx context.Context, querier sqldb.Querier, companyID, planID, productID int64,
) (plan, product bool, err error) {
	err = sqldb.Each(ctx, querier, `SELECT
		(SELECT count(*) FROM customer_plans WHERE company_id = ? AND id = ?), (SELECT count(*) FROM products WHERE company_id = ? AND id = ?)`,
		[]any{companyID, planID, companyID, productID}, func(row sqldb.Row) error {
			var plans, products int64
			err := row.Scan(&plans, &products)
			plan, product = plans > 0, products > 0
			return err
		})
	return plan, product, err
}

// catalogsOf reads what of customers decides whether a rule is for them, by id.
func catalogsOf(ctx context.Context, tx account.Tx, customerIDs []int64) (map[int64]customer.Customer, error) {
	records := map[int64]customer.Customer{}
	err := sqldb.Each(ctx, tx, `SELECT id, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers
		WHERE company_id = ? AND id {in ?} AND `+customer.Visible, []any{tx.Company.ID, customerIDs}, func(row sqldb.Row) error {
		var record customer.Customer
		err := row.Scan(&record.ID, &record.Plan.ID, &record.Product.ID)
		records[record.ID] = record
		return err
	})
	return records, err
}

// ruleRef names a rule of any company.
type ruleRef struct{ companyID, ruleID int64 }

// rulesToPlan finds the rules of all companies that have days to plan.
func rulesToPlan(ctx context.Context, querier sqldb.Querier, now time.Time) ([]ruleRef, error) {
	return sqldb.All(ctx, querier, rows.Into(func(ref *ruleRef) []any {
		return []any{&ref.companyID, &ref.ruleID}
	}), rulesToPlanText, now.UnixMicro())
}

const rulesToPlanText = `SELECT company_id, id FROM reminder_rules
	WHERE active AND occasion = 'due' AND plan_at <= ? ORDER BY plan_at /* every company_id */`

const ruleTimes = `SELECT plan_at AS at FROM reminder_rules WHERE active AND occasion = 'due' /* every company_id */`

// dueCustomers reads the customers that a rule has reached at the day of its
// cursor, in the order of their ids: those with that due date, and for a rule after
// it those with an open invoice of that day. Only what planning looks at is read.
func dueCustomers(
	ctx context.Context, querier sqldb.Querier, companyID int64, rule Rule, limit int,
) ([]customer.Customer, error) {
	text, args := dueCustomersText, []any{companyID, rule.cursorOn, rule.cursorID, limit}
	if rule.OffsetDays > 0 {
		text, args = owingCustomersText, []any{companyID, rule.cursorID, companyID, rule.cursorOn, companyID, rule.cursorOn, limit}
	}
	return sqldb.All(ctx, querier, func(row sqldb.Row) (record customer.Customer, err error) {
		record.DueOn = rule.cursorOn
		err = row.Scan(&record.ID, &record.Plan.ID, &record.Product.ID)
		return record, err
	}, text, args...)
}

const dueCustomersText = `SELECT id, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers
	WHERE company_id = ? AND due_on = ? AND id > ? AND cancelled_at IS NULL AND ` + customer.Visible + ` ORDER BY id LIMIT ?`

const owingCustomersText = `SELECT id, COALESCE(plan_id, 0), COALESCE(product_id, 0) FROM customers
	WHERE company_id = ? AND id > ? AND cancelled_at IS NULL AND ` + customer.Visible + ` AND id IN (
		SELECT id FROM customers WHERE company_id = ? AND due_on = ?
		UNION SELECT customer_id FROM invoices WHERE company_id = ? AND status = 'open' AND due_on = ?) ORDER BY id LIMIT ?`

// debtsOf reads customers at the due dates of their open invoices, each date once.
// A cancelled customer gets no messages.
func debtsOf(ctx context.Context, tx account.Tx, customerIDs []int64) ([]customer.Customer, error) {
	return sqldb.All(ctx, tx, rows.Into(func(record *customer.Customer) []any {
		return []any{&record.ID, &record.DueOn, &record.Plan.ID, &record.Product.ID}
	}), `SELECT DISTINCT c.id, i.due_on, COALESCE(c.plan_id, 0), COALESCE(c.product_id, 0)
		FROM customers c JOIN invoices i ON i.company_id = c.company_id AND i.customer_id = c.id AND i.status = 'open'
		WHERE c.company_id = ? AND c.id {in ?} AND c.cancelled_at IS NULL AND `+customer.VisibleC, tx.Company.ID, customerIDs)
}
