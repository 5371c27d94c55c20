package reminder

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

var storedRule = ruleFields.Stored()

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
