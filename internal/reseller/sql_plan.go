package reseller

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

const planSelect = `SELECT id, name, value_cents, credits, period_unit, period_count, trial_days, functions, signup_code, active, created_at
	FROM subscription_plans`

func scanPlan(row sqldb.Row) (plan Plan, err error) {
	var created int64
	err = row.Scan(&plan.ID, &plan.Name, (*int64)(&plan.Value), &plan.Credits,
		(*string)(&plan.Period.Unit), &plan.Period.Count, &plan.TrialDays,
		&plan.Functions, &plan.SignupCode, &plan.Active, &created)
	plan.CreatedAt = time.UnixMicro(created)
	return plan, err
}

func planByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Plan, error) {
	plan, err := sqldb.One(
		ctx,
		querier,
		scanPlan,
		planSelect+` WHERE company_id = ? AND id = ?`,
		companyID,
		id,
	)
	return plan, sqldb.Found(err, "plan")
}

// oldestPlan has no id when there is none.
func oldestPlan(ctx context.Context, querier sqldb.Querier, companyID int64) (Plan, error) {
	plan, err := sqldb.One(
		ctx,
		querier,
		scanPlan,
		planSelect+` WHERE company_id = ? AND active = ? ORDER BY id LIMIT 1`,
		companyID,
		true,
	)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Plan{}, nil
	}
	return plan, err
}

// planBySignupCode finds whose plan a link is of: the code names the
// company, as a token does.
func planBySignupCode(ctx context.Context, querier sqldb.Querier, code string) (companyID, planID int64, err error) {
	err = sqldb.Each(ctx, querier,
		`SELECT company_id, id FROM subscription_plans WHERE signup_code = ? /* every company_id */`,
		[]any{code},
		func(row sqldb.Row) error { return row.Scan(&companyID, &planID) })
	if err == nil && planID == 0 {
		err = errNoOffer()
	}
	return companyID, planID, err
}

// plans are few in a company, so its rows are simply read.
func plans(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	filter PlanFilter,
	page input.Page,
) ([]Plan, int64, error) {
	where := filter.where(companyID)
	total, err := sqldb.Value[int64](
		ctx,
		querier,
		`SELECT count(*) FROM subscription_plans`+where.String(),
		where.Args...,
	)
	if err != nil {
		return nil, 0, err
	}
	list, err := sqldb.All(ctx, querier, scanPlan,
		planSelect+where.String()+` ORDER BY id DESC LIMIT ? OFFSET ?`,
		append(where.Args, page.Size, page.Offset())...)
	return list, total, err
}

func (f PlanFilter) where(companyID int64) sqldb.Where {
	var where sqldb.Where
	where.And("company_id = ?", companyID)
	if f.OnlyActive != nil {
		where.And("active = ?", *f.OnlyActive)
	}
	if term := text.Fold(f.Search); term != "" {
		where.And("search LIKE ? ESCAPE '!'", sqldb.Substring(term))
	}
	return where
}

func insertPlan(ctx context.Context, tx *sqldb.Tx, companyID int64, plan Plan) (int64, error) {
	values := append(planValues(tx, plan), companyID, tx.Now().UnixMicro())
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO subscription_plans (name, value_cents, credits, period_unit, period_count, trial_days, functions, signup_code,
			active, search, updated_at, company_id, created_at)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

func updatePlan(ctx context.Context, tx *sqldb.Tx, companyID int64, plan Plan) error {
	_, err := tx.Exec(ctx, `
		UPDATE subscription_plans SET name = ?, value_cents = ?, credits = ?, period_unit = ?, period_count = ?, trial_days = ?,
			functions = ?, signup_code = ?, active = ?, search = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`, append(planValues(tx, plan), companyID, plan.ID)...)
	return err
}

// planValues are what both statements above write, in their order.
func planValues(tx *sqldb.Tx, plan Plan) []any {
	return []any{
		plan.Name, int64(plan.Value), plan.Credits, string(plan.Period.Unit), plan.Period.Count,
		plan.TrialDays, plan.Functions, plan.SignupCode,
		plan.Active, text.Fold(plan.Name), tx.Now().UnixMicro(),
	}
}

// countAttempt reports whether an address may try once more in an hour. One
// statement counts and decides, so that no two attempts share a place.
func countAttempt(ctx context.Context, tx *sqldb.Tx, address string, hour int64, limit int) (bool, error) {
	_, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO signup_attempts (address, hour, n) VALUES (?, ?, 1)
		ON CONFLICT (address, hour) DO UPDATE SET n = signup_attempts.n + 1 WHERE signup_attempts.n < ? RETURNING n`, address,
		hour, limit)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func pruneAttempts(ctx context.Context, tx *sqldb.Tx, hour int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM signup_attempts WHERE hour < ?`, hour)
	return err
}
