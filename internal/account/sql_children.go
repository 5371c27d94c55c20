package account

import (
	"context"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

func updateFunctions(ctx context.Context, tx *sqldb.Tx, parentID int64, change FunctionsChange) error {
	return tx.Do(ctx, `
		UPDATE companies SET functions = ?, updated_at = ? WHERE parent_id = ? AND subscription_plan_id = ?`,
		change.After, tx.Now().UnixMicro(), parentID, change.PlanID)
}

// emailTaken looks among the users of all companies: an address signs in to
// one.
func emailTaken(ctx context.Context, querier sqldb.Querier, userID int64, emailKey string) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM users WHERE email_key = ? AND id <> ? /* every company_id */`, emailKey,
		userID)
	return count > 0, err
}

// ownersOfChildren are the addresses of the owners of all companies directly below one.
func ownersOfChildren(ctx context.Context, querier sqldb.Querier, parentID int64) ([]string, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (address string, err error) {
		err = row.Scan(&address)
		return address, err
	}, `SELECT u.email_key FROM companies c JOIN users u ON u.company_id = c.id AND u.role = 'owner' WHERE c.parent_id = ?`, parentID)
}

// inUse reports whether any user of a company has a password.
func inUse(ctx context.Context, querier sqldb.Querier, companyID int64) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier,
		`SELECT count(*) FROM users WHERE company_id = ? AND password_hash <> ''`, companyID)
	return count > 0, err
}

// lockChildren locks the companies directly below one.
func lockChildren(ctx context.Context, tx *sqldb.Tx, parentID int64) ([]Company, error) {
	return sqldb.All(ctx, tx, scanCompany, `
		SELECT `+CompanyColumns+` FROM companies c WHERE c.parent_id = ? ORDER BY c.id {for update}`, parentID)
}

// updateAbove gives all companies directly below one the standing of those above
// them.
func updateAbove(ctx context.Context, tx *sqldb.Tx, parentID int64, above Above) error {
	return tx.Do(ctx, `UPDATE companies SET above_suspended_at = ?, above_expires_on = ? WHERE parent_id = ?`,
		sqldb.RefTo(civil.Micros(above.SuspendedAt)), above.ExpiresOn, parentID)
}

func zonesInUse(ctx context.Context, querier sqldb.Querier) ([]zoneInUse, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (zone zoneInUse, err error) {
		err = row.Scan(&zone.name, &zone.first, &zone.last)
		return zone, err
	}, zonesInUseText)
}

// zonesInUseText leaps through the index from one zone to the next, and reads the
// ends of each: it costs as much as there are zones, not companies.
const zonesInUseText = `WITH RECURSIVE zones(name) AS (
		SELECT MIN(timezone) FROM companies
		UNION ALL
		SELECT (SELECT MIN(c.timezone) FROM companies c WHERE c.timezone > z.name) FROM zones z WHERE z.name IS NOT NULL
	)
	SELECT z.name, (SELECT MIN(c.day_done) FROM companies c WHERE c.timezone = z.name),
		(SELECT MAX(c.day_done) FROM companies c WHERE c.timezone = z.name)
	FROM zones z WHERE z.name IS NOT NULL`

// each reads some companies of the part, and goes on to the place after them.
func (u *undone) each(ctx context.Context, querier sqldb.Querier, limit int, do func(Company)) error {
	return sqldb.Each(ctx, querier, undoneText,
		[]any{u.zone, u.afterDay, u.afterID, u.before, limit}, func(row sqldb.Row) error {
			var company Company
			if err := ScanCompany(row, &company, &u.afterDay); err != nil {
				return err
			}
			u.afterID = company.ID
			do(company)
			return nil
		})
}

var undoneText = `SELECT ` + CompanyColumns + `, c.day_done FROM companies c
	WHERE c.timezone = ? AND (c.day_done, c.id) > (?, ?) AND c.day_done < ?
	ORDER BY c.day_done, c.id LIMIT ?`

func companiesByID(ctx context.Context, querier sqldb.Querier, ids []int64) ([]Company, error) {
	return sqldb.All(ctx, querier, scanCompany,
		`SELECT `+CompanyColumns+` FROM companies c WHERE c.id {in ?} ORDER BY c.id`, ids)
}

// lockFree locks those of some companies that no other transaction has locked.
func lockFree(ctx context.Context, tx *sqldb.Tx, ids []int64) ([]Company, error) {
	return sqldb.All(ctx, tx, scanCompany, `
		SELECT `+CompanyColumns+` FROM companies c WHERE c.id {in ?} ORDER BY c.id {for no key update skip locked}`, ids)
}

func setDayDone(ctx context.Context, tx *sqldb.Tx, today civil.Date, ids []int64) error {
	return tx.Do(ctx,
		`UPDATE companies SET day_done = ? WHERE id {in ?} AND day_done <> ?`, today.String(), ids, today.String())
}

// holdLeadDays reads how many days ahead a company bills, and keeps others from
// changing that until the commit.
func holdLeadDays(ctx context.Context, tx Tx) (int, error) {
	return sqldb.Value[int](ctx, tx, `SELECT lead_days FROM companies WHERE id = ? {for key share}`, tx.Company.ID)
}

// askedRow is one time that a change has asked for a company.
type askedRow struct{ id, companyID int64 }

func askedAfter(ctx context.Context, querier sqldb.Querier, after int64, limit int) ([]askedRow, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (asked askedRow, err error) {
		err = row.Scan(&asked.id, &asked.companyID)
		return asked, err
	}, askedText, after, limit)
}

const askedText = `SELECT id, company_id FROM day_work_asked WHERE id > ? ORDER BY id LIMIT ? /* every company_id */`

func anyAsked(ctx context.Context, querier sqldb.Querier) (bool, error) {
	count, err := sqldb.Value[int64](ctx, querier, `
		SELECT count(*) FROM (SELECT id FROM day_work_asked LIMIT 1) AS one /* every company_id */`)
	return count > 0, err
}

func removeAsked(ctx context.Context, tx *sqldb.Tx, ids []int64) error {
	return tx.Do(ctx, `DELETE FROM day_work_asked WHERE id {in ?} /* every company_id */`, ids)
}
