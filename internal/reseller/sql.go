package reseller

import (
	"context"
	"errors"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// columns are of a company c and the records around it. Its owner is the first
// that it had.
var columns = account.CompanyColumns + `,
	COALESCE((SELECT u.email FROM users u WHERE u.company_id = c.id AND u.role = 'owner' ORDER BY u.id LIMIT 1), ''),
	COALESCE(p.id, 0), COALESCE(p.name, ''), COALESCE(b.balance, 0)`

const joins = ` LEFT JOIN subscription_plans p ON p.company_id = c.parent_id AND p.id = c.subscription_plan_id
	LEFT JOIN credit_balances b ON b.company_id = c.id`

func scan(row sqldb.Row) (reseller Reseller, err error) {
	err = account.ScanCompany(row, &reseller.Company, &reseller.Email, &reseller.Plan.ID, &reseller.Plan.Name,
		&reseller.Credits)
	return reseller, err
}

func byID(ctx context.Context, querier sqldb.Querier, parentID, id int64) (Reseller, error) {
	return sqldb.Find(ctx, querier, "reseller", scan,
		`SELECT `+columns+` FROM companies c`+joins+` WHERE c.parent_id = ? AND c.id = ?`, parentID, id)
}

// lockBalances makes the balances of companies if they have none yet, and locks
// them in the order of ids, so that no two transactions can wait for each
// other.
func lockBalances(ctx context.Context, tx *sqldb.Tx, companyIDs ...int64) error {
	slices.Sort(companyIDs)
	for _, id := range companyIDs {
		_, err := sqldb.Value[int64](ctx, tx, `SELECT balance FROM credit_balances WHERE company_id = ? {for update}`, id)
		if errors.Is(err, sqldb.ErrNotFound) {
			// The insert waits for another transaction that made the row, until its commit.
			_, err = tx.Exec(ctx,
				`INSERT INTO credit_balances (company_id, balance) VALUES (?, 0) ON CONFLICT DO NOTHING`, id)
			if err == nil {
				_, err = sqldb.Value[int64](ctx, tx,
					`SELECT balance FROM credit_balances WHERE company_id = ? {for update}`, id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func balanceOf(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT COALESCE((SELECT balance FROM credit_balances WHERE company_id = ?), 0)`, companyID)
}

// addToBalance returns the new balance; ok is false, and the balance as it was,
// when there is not enough.
func addToBalance(ctx context.Context, tx *sqldb.Tx, companyID, amount int64) (balance int64, ok bool, err error) {
	balance, err = sqldb.Value[int64](ctx, tx, `
		UPDATE credit_balances SET balance = balance + ? WHERE company_id = ? AND balance + ? >= 0 RETURNING balance`,
		amount, companyID, amount)
	if errors.Is(err, sqldb.ErrNotFound) {
		balance, err = balanceOf(ctx, tx, companyID)
		return balance, false, err
	}
	return balance, true, err
}

func insertEntry(ctx context.Context, tx *sqldb.Tx, companyID int64, entry Entry) error {
	return tx.Do(ctx, `
		INSERT INTO credit_entries (company_id, kind, amount, balance, reseller_id, plan_id, periods, made_by, note, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		companyID, string(entry.Kind), entry.Amount, entry.Balance, sqldb.RefTo(entry.Reseller.ID),
		sqldb.RefTo(entry.Plan.ID), entry.Periods, entry.By, entry.Note,
		tx.Now().UnixMicro())
}

func scanEntry(row sqldb.Row) (entry Entry, err error) {
	err = row.Scan(&entry.ID, (*string)(&entry.Kind), &entry.Amount, &entry.Balance, &entry.Reseller.ID,
		&entry.Reseller.Name, &entry.Plan.ID, &entry.Plan.Name, &entry.Periods, &entry.By, &entry.Note,
		(*civil.Instant)(&entry.CreatedAt))
	return entry, err
}

// statement is the entries of a company in the order of time.
var statement = listing.Table[Entry]{
	From: "credit_entries e", ID: "e.id", Owner: "e.company_id",
	Columns: `e.id, e.kind, e.amount, e.balance, COALESCE(e.reseller_id, 0), COALESCE(c.name, ''),
		COALESCE(e.plan_id, 0), COALESCE(p.name, ''), e.periods, e.made_by, e.note, e.created_at`,
	Joins: ` LEFT JOIN companies c ON c.id = e.reseller_id
		LEFT JOIN subscription_plans p ON p.company_id = e.company_id AND p.id = e.plan_id`,
	Scan: scanEntry, RowID: func(entry Entry) int64 { return entry.ID },
	Orders: map[string]listing.Order{input.ByID: {Column: "e.created_at"}},
}

// query has the conditions of the filter. Kind and days have indexes that end in
// the id.
func (f EntryFilter) query(actor account.Actor) listing.Query {
	query := listing.Query{CompanyID: actor.Company.ID}
	query.Where.If(f.Kind != "", "e.kind = ?", string(f.Kind))
	query.Where.If(!f.From.IsZero(), "e.created_at >= ?", f.From.Start(actor.Company.Zone).UnixMicro())
	query.Where.If(!f.To.IsZero(), "e.created_at < ?", f.To.AddDays(1).Start(actor.Company.Zone).UnixMicro())
	return query
}

func sumEntries(ctx context.Context, querier sqldb.Querier, actor account.Actor, filter EntryFilter) (Sums, error) {
	var where sqldb.Where
	where.And("e.company_id = ?", actor.Company.ID)
	where.Join(filter.query(actor).Where)
	return sqldb.One(ctx, querier, rows.Into(func(sums *Sums) []any {
		return []any{&sums.Count, &sums.Came, &sums.Left}
	}), `SELECT count(*), CAST(COALESCE(SUM(CASE WHEN amount > 0 THEN amount ELSE 0 END), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN amount < 0 THEN -amount ELSE 0 END), 0) AS BIGINT)
		FROM (SELECT e.amount FROM credit_entries e`+where.String()+` ORDER BY e.created_at DESC, e.id DESC LIMIT ?) counted`,
		append(where.Args, Countable)...)
}

// countBelow walks down from a company; the caller must have checked that it is
// one of its own children.
func countBelow(ctx context.Context, querier sqldb.Querier, id int64, today civil.Date) (Below, error) {
	return sqldb.One(ctx, querier, func(row sqldb.Row) (below Below, err error) {
		err = row.Scan(&below.Total, &below.Suspended, &below.Expired, &below.Trial)
		below.Active = below.Total - below.Suspended - below.Expired - below.Trial
		return below, err
	}, `WITH RECURSIVE below (id, suspended, expired, trial) AS (
			SELECT id, suspended_at IS NOT NULL, COALESCE(expires_on, '9999') < ?, subscription = 'trial' FROM companies WHERE parent_id = ?
			UNION ALL
			SELECT c.id, c.suspended_at IS NOT NULL, COALESCE(c.expires_on, '9999') < ?, c.subscription = 'trial'
			FROM companies c JOIN below b ON c.parent_id = b.id
		)
		SELECT count(*), count(CASE WHEN suspended THEN 1 END), count(CASE WHEN expired AND NOT suspended THEN 1 END),
			count(CASE WHEN trial AND NOT expired AND NOT suspended THEN 1 END)
		FROM below`, today.String(), id, today.String())
}

func resells(ctx context.Context, querier sqldb.Querier, companyID int64) (bool, error) {
	found, err := sqldb.Value[int64](ctx, querier, `SELECT CASE
			WHEN EXISTS (SELECT 1 FROM companies WHERE parent_id = ?) THEN 1
			WHEN EXISTS (SELECT 1 FROM credit_entries WHERE company_id = ?) THEN 1
			WHEN EXISTS (SELECT 1 FROM subscription_plans WHERE company_id = ?) THEN 1 ELSE 0 END`,
		companyID, companyID, companyID)
	return found == 1, err
}

var storedPlan = planFields.Stored()

var planSelect = `SELECT id, created_at, ` + storedPlan.Columns("", "") + ` FROM subscription_plans`

func scanPlan(row sqldb.Row) (plan Plan, err error) {
	err = row.Scan(append([]any{&plan.ID, (*civil.Instant)(&plan.CreatedAt)}, storedPlan.Places(&plan)...)...)
	return plan, err
}

func planByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Plan, error) {
	return sqldb.Find(ctx, querier, "plan", scanPlan, planSelect+` WHERE company_id = ? AND id = ?`, companyID, id)
}

// oldestPlan has no id when there is none.
func oldestPlan(ctx context.Context, querier sqldb.Querier, companyID int64) (Plan, error) {
	plan, err := sqldb.One(ctx, querier, scanPlan,
		planSelect+` WHERE company_id = ? AND active = ? ORDER BY id LIMIT 1`, companyID, true)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Plan{}, nil
	}
	return plan, err
}

// planBySignupCode finds the plan of a signup link: the code identifies the
// company, as a token does.
func planBySignupCode(ctx context.Context, querier sqldb.Querier, code string) (companyID, planID int64, err error) {
	err = sqldb.Each(ctx, querier,
		`SELECT company_id, id FROM subscription_plans WHERE signup_code = ? /* every company_id */`, []any{code},
		func(row sqldb.Row) error { return row.Scan(&companyID, &planID) })
	if err == nil && planID == 0 {
		err = errNoOffer()
	}
	return companyID, planID, err
}

// plans are few in a company, so its rows are simply read.
func plans(
	ctx context.Context, querier sqldb.Querier, companyID int64, filter PlanFilter, page input.Page,
) ([]Plan, int64, error) {
	where := filter.where(companyID)
	total, err := sqldb.Value[int64](ctx, querier, `SELECT count(*) FROM subscription_plans`+where.String(), where.Args...)
	if err != nil {
		return nil, 0, err
	}
	list, err := sqldb.All(ctx, querier, scanPlan, planSelect+where.String()+` ORDER BY id DESC LIMIT ? OFFSET ?`,
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
		where.And("{position}(search, ?) > 0", term)
	}
	return where
}

func insertPlan(ctx context.Context, tx account.Tx, plan Plan) (int64, error) {
	values := append(planValues(tx.Tx, plan), tx.Company.ID, tx.Now().UnixMicro())
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO subscription_plans (`+storedPlan.Columns("", "")+`, search, updated_at, company_id, created_at)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

// planValues are what both statements above write, in their order.
func planValues(tx *sqldb.Tx, plan Plan) []any {
	return append(storedPlan.Values(&plan), text.Fold(plan.Name), tx.Now().UnixMicro())
}

// countAttempt reports whether an address may try once more in an hour. One
// statement counts and decides, so that no two attempts share a place.
func countAttempt(ctx context.Context, tx *sqldb.Tx, address string, hour int64, limit int) (bool, error) {
	_, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO signup_attempts (address, hour, n) VALUES (?, ?, 1)
		ON CONFLICT (address, hour) DO UPDATE SET n = signup_attempts.n + 1 WHERE signup_attempts.n < ? RETURNING n`,
		address, hour, limit)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
