package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// storedCompany are the columns of CompanyFields.
var storedCompany = CompanyFields.Stored()

// CompanyColumns are what ScanCompany reads of a company c, for rooms that list
// companies with what is theirs.
var CompanyColumns = `c.id, COALESCE(c.parent_id, 0), c.timezone, c.created_at, COALESCE(c.subscription_plan_id, 0),
	c.suspended_at, c.above_suspended_at, ` + storedCompany.Columns("c.", "")

// ScanCompany reads CompanyColumns, and after them what the caller adds.
func ScanCompany(row sqldb.Row, company *Company, more ...any) error {
	var zone string
	sub := &company.Subscription
	dest := append([]any{
		&company.ID, &company.ParentID, &zone, (*civil.Instant)(&company.CreatedAt), &sub.PlanID,
		(*civil.Instant)(&sub.SuspendedAt), (*civil.Instant)(&sub.Above.SuspendedAt),
	}, storedCompany.Places(company)...)
	if err := row.Scan(append(dest, more...)...); err != nil {
		return err
	}
	var err error
	company.Zone, err = civil.LoadZone(zone)
	return err
}

func scanCompany(row sqldb.Row) (company Company, err error) {
	err = ScanCompany(row, &company)
	return company, err
}

func insertCompany(ctx context.Context, tx *sqldb.Tx, company Company, search string) (int64, error) {
	values := append([]any{sqldb.RefTo(company.ParentID), tx.Now().UnixMicro()}, companyValues(tx, company, search)...)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO companies (parent_id, created_at, timezone, subscription_plan_id, suspended_at, above_suspended_at, search, updated_at,
			`+storedCompany.Columns("", "")+`)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

// updateCompany has the company's day looked at again, too: its zone may be another
// now, or how far ahead it bills.
func updateCompany(ctx context.Context, tx *sqldb.Tx, company Company, search string) error {
	return tx.Do(ctx, `
		UPDATE companies SET timezone = ?, subscription_plan_id = ?, suspended_at = ?, above_suspended_at = ?, search = ?, updated_at = ?,
			`+storedCompany.Columns("", " = ?")+`, day_done = ''
		WHERE id = ?`, append(companyValues(tx, company, search), company.ID)...)
}

// companyValues are what both statements above write, in their order.
func companyValues(tx *sqldb.Tx, company Company, search string) []any {
	sub := company.Subscription
	return append([]any{
		company.Zone.String(), sqldb.RefTo(sub.PlanID), sqldb.RefTo(civil.Micros(sub.SuspendedAt)),
		sqldb.RefTo(civil.Micros(sub.Above.SuspendedAt)), search, tx.Now().UnixMicro(),
	}, storedCompany.Values(&company)...)
}

func lockCompany(ctx context.Context, tx *sqldb.Tx, id int64) (Company, error) {
	return sqldb.Find(ctx, tx, "company", scanCompany,
		`SELECT `+CompanyColumns+` FROM companies c WHERE c.id = ? {for update}`, id)
}

func ownerOf(ctx context.Context, querier sqldb.Querier, companyID int64) (User, error) {
	return sqldb.Find(ctx, querier, "user", scanUser, `
		SELECT `+userColumns+` FROM users u WHERE u.company_id = ? AND u.role = 'owner' ORDER BY u.id LIMIT 1`, companyID)
}

var storedToken = TokenFields.Stored()

// accessColumns are what scanToken reads.
var accessColumns = `id, company_id, created_at, last_used_at, expires_at, made_by,
	COALESCE((SELECT u.name FROM users u WHERE u.company_id = api_tokens.company_id AND u.id = api_tokens.made_by), ''), ` +
	storedToken.Columns("", "")

func scanToken(row sqldb.Row) (token Token, err error) {
	err = row.Scan(append([]any{
		&token.ID, &token.CompanyID, (*civil.Instant)(&token.CreatedAt), (*civil.Instant)(&token.LastUsedAt),
		(*civil.Instant)(&token.ExpiresAt), &token.MadeBy, &token.Maker,
	}, storedToken.Places(&token)...)...)
	return token, err
}

func insertToken(ctx context.Context, tx *sqldb.Tx, token Token, hash []byte) (int64, error) {
	values := append([]any{token.CompanyID, hash, tx.Now().UnixMicro(), sqldb.RefTo(civil.Micros(token.ExpiresAt)), token.MadeBy},
		storedToken.Values(&token)...)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO api_tokens (company_id, hash, created_at, expires_at, made_by, `+storedToken.Columns("", "")+`)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

func tokensMadeBy(ctx context.Context, querier sqldb.Querier, companyID, userID int64) ([]Token, error) {
	return sqldb.All(ctx, querier, scanToken, `
		SELECT `+accessColumns+` FROM api_tokens WHERE company_id = ? AND made_by = ? ORDER BY id`, companyID, userID)
}

func tokenByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Token, error) {
	return sqldb.Find(ctx, querier, "token", scanToken, `
		SELECT `+accessColumns+` FROM api_tokens WHERE company_id = ? AND id = ?`, companyID, id)
}

func deleteToken(ctx context.Context, tx Tx, id int64) error {
	n, err := tx.Exec(ctx, `DELETE FROM api_tokens WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
	if err == nil && n == 0 {
		err = sqldb.ErrNotFound
	}
	return sqldb.Found(err, "token")
}

func touchToken(ctx context.Context, tx *sqldb.Tx, companyID, id int64, at time.Time) error {
	return tx.Do(ctx, `
		UPDATE api_tokens SET last_used_at = ? WHERE company_id = ? AND id = ? AND COALESCE(last_used_at, 0) < ?`,
		at.UnixMicro(), companyID, id, at.UnixMicro())
}

// tokenHash is the digest by which a token is found.
type tokenHash [32]byte

// tokenActor is who a token names, and until when; 0: it does not expire.
type tokenActor struct {
	actor   Actor
	expires int64
}

// actorNamedBy finds the actor of a token. An expired one has none.
func actorNamedBy(ctx context.Context, querier sqldb.Querier, hash tokenHash, now time.Time) (Actor, error) {
	found, err := actorByToken(ctx, querier, hash)
	if err != nil {
		return Actor{}, err
	}
	if found.expires != 0 && found.expires <= now.UnixMicro() {
		return Actor{}, unauthenticated()
	}
	return found.actor, nil
}

func actorByToken(ctx context.Context, querier sqldb.Querier, hash tokenHash) (tokenActor, error) {
	found, err := sqldb.One(ctx, querier, func(row sqldb.Row) (found tokenActor, err error) {
		err = ScanCompany(row, &found.actor.Company, &found.actor.TokenID, &found.actor.Scope, (*sqldb.OrZero)(&found.expires))
		return found, err
	}, `SELECT `+CompanyColumns+`, t.id, t.scope, t.expires_at FROM api_tokens t JOIN companies c ON c.id = t.company_id
		WHERE t.hash = ?`, hash[:])
	if errors.Is(err, sqldb.ErrNotFound) {
		err = unauthenticated()
	}
	return found, err
}

// The two statements below are PostgreSQL's alone: on SQLite the limiter
// lives in memory. Times are the server's, in microseconds, so that processes
// with different clocks share one window.

const clockMicros = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`

// newCall is a call that asks to be let in.
type newCall struct {
	hash  []byte
	limit int
	at    time.Time // by the clock of the process, for the token's expiry
}

// admission is the outcome of admitShared.
type admission struct {
	at     int64 // 0 when the call is over the limit
	recent int   // calls in the window, this one included
}

// admitShared looks the token up and adds the call to its window in one
// statement. The row lock of the upsert makes concurrent calls wait for each other,
// and the condition sees what the one before wrote.
func admitShared(ctx context.Context, querier sqldb.Querier, asked newCall) (Actor, admission, error) {
	var call admission
	actor, err := sqldb.One(ctx, querier, func(row sqldb.Row) (actor Actor, err error) {
		err = ScanCompany(row, &actor.Company, &actor.TokenID, &actor.Scope, &call.at, &call.recent)
		return actor, err
	}, `
		WITH token AS (
			SELECT id, company_id, scope FROM api_tokens WHERE hash = ? AND (expires_at IS NULL OR expires_at > ?)
		), call AS (
			INSERT INTO token_calls AS k (token_id, calls)
			SELECT id, ARRAY[`+clockMicros+`] FROM token
			ON CONFLICT (token_id) DO UPDATE
			SET calls = k.calls[GREATEST(1, cardinality(k.calls) - ? + 2):] || `+clockMicros+`
			WHERE COALESCE(k.calls[cardinality(k.calls) - ? + 1] <= `+clockMicros+` - ?, true)
			RETURNING calls
		)
		SELECT `+CompanyColumns+`, t.id, t.scope, COALESCE((SELECT calls[cardinality(calls)] FROM call), 0),
			COALESCE((SELECT count(*) FROM call, unnest(calls) AS at WHERE at > calls[cardinality(calls)] - ?), 0)
		FROM token t JOIN companies c ON c.id = t.company_id`,
		asked.hash, asked.at.UnixMicro(), asked.limit, asked.limit, window.Microseconds(), window.Microseconds())
	if errors.Is(err, sqldb.ErrNotFound) {
		err = unauthenticated()
	}
	return actor, call, err
}

// oldestCall is the call that must leave the window before another gets in.
func oldestCall(ctx context.Context, querier sqldb.Querier, tokenID int64, limit int) (oldest, now int64, err error) {
	_, err = sqldb.One(ctx, querier, func(row sqldb.Row) (struct{}, error) {
		return struct{}{}, row.Scan(&oldest, &now)
	}, `SELECT COALESCE(calls[cardinality(calls) - ? + 1], 0), `+clockMicros+` FROM token_calls WHERE token_id = ?`,
		limit, tokenID)
	return oldest, now, err
}

// emailTaken looks among the users of all companies: an address signs in to
// one.
func emailTaken(ctx context.Context, querier sqldb.Querier, userID int64, emailKey string) (bool, error) {
	return rows.Some(ctx, querier, `
		SELECT count(*) FROM users WHERE email_key = ? AND id <> ? /* every company_id */`,
		emailKey, userID)
}

func zonesInUse(ctx context.Context, querier sqldb.Querier) ([]zoneInUse, error) {
	return sqldb.All(ctx, querier, rows.Into(func(zone *zoneInUse) []any {
		return []any{&zone.name, &zone.first, &zone.last}
	}), zonesInUseText)
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

const askedText = `SELECT id, company_id FROM day_work_asked WHERE id > ? ORDER BY id LIMIT ? /* every company_id */`

func anyAsked(ctx context.Context, querier sqldb.Querier) (bool, error) {
	return rows.Some(ctx, querier, `
		SELECT count(*) FROM (SELECT id FROM day_work_asked LIMIT 1) AS one /* every company_id */`)
}
