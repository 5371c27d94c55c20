package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// CompanyColumns are what ScanCompany reads of a company c, for rooms that list
// companies with what is theirs.
const CompanyColumns = companyColumns

// ScanCompany reads CompanyColumns, and after them what the caller adds.
func ScanCompany(row sqldb.Row, company *Company, more ...any) error {
	return companyScan(row, company, more...)
}

const companyColumns = `c.id, COALESCE(c.parent_id, 0), c.name, c.whatsapp, c.level, c.timezone,
	c.renew_from, c.renew_on_payment, c.lead_days, c.renew_invoice, c.created_at, c.subscription, COALESCE(c.subscription_plan_id, 0),
	c.expires_on, c.expires_day, COALESCE(c.suspended_at, 0), c.functions,
	COALESCE(c.above_suspended_at, 0), c.above_expires_on, c.anonymous,
	c.late_fee_bp, c.late_interest_bp, c.discount_bp, c.discount_cents, c.color, c.logo, c.cpf_cnpj, c.hidden_steps,
	c.books_closed_through, c.address, c.email`

// companyScan reads companyColumns, and after them what the caller adds.
func companyScan(row sqldb.Row, company *Company, more ...any) error {
	var zone string
	var created, suspended, aboveSuspended int64
	sub := &company.Subscription
	dest := []any{
		&company.ID, &company.ParentID, &company.Name, &company.Whatsapp, (*string)(&company.Level),
		&zone,
		(*string)(&company.Settings.RenewFrom), &company.Settings.RenewOnPayment,
		&company.Settings.LeadDays, (*string)(&company.Settings.RenewInvoice), &created,
		(*string)(&sub.Kind), &sub.PlanID, &sub.ExpiresOn, &sub.OwnDay, &suspended, &sub.Functions,
		&aboveSuspended, &sub.Above.ExpiresOn, &sub.Anonymous,
		(*int64)(&company.Settings.LateFeePercent), (*int64)(&company.Settings.LateInterestPercent),
		(*int64)(&company.Settings.DiscountPercent), (*int64)(&company.Settings.DiscountAmount),
		&company.Brand.Color, &company.Brand.Logo, &company.CpfCnpj, &company.HiddenSteps, &company.Settings.ClosedThrough,
		&company.Address, &company.Email,
	}
	if err := row.Scan(append(dest, more...)...); err != nil {
		return err
	}
	company.CreatedAt = time.UnixMicro(created)
	if suspended != 0 {
		sub.SuspendedAt = time.UnixMicro(suspended)
	}
	if aboveSuspended != 0 {
		sub.Above.SuspendedAt = time.UnixMicro(aboveSuspended)
	}
	var err error
	company.Zone, err = civil.LoadZone(zone)
	return err
}

func scanCompany(row sqldb.Row) (company Company, err error) {
	err = companyScan(row, &company)
	return company, err
}

func insertCompany(ctx context.Context, tx *sqldb.Tx, company Company, search string) (int64, error) {
	values := append([]any{sqldb.RefTo(company.ParentID), tx.Now().UnixMicro()}, companyValues(tx, company, search)...)
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO companies (parent_id, created_at, name, whatsapp, level, timezone, renew_from, renew_on_payment, lead_days, renew_invoice,
			subscription, subscription_plan_id, expires_on, expires_day, suspended_at, functions,
			above_suspended_at, above_expires_on, anonymous, search, updated_at,
			late_fee_bp, late_interest_bp, discount_bp, discount_cents, color, logo, cpf_cnpj, hidden_steps,
			books_closed_through, address, email)
		VALUES `+sqldb.Tuples(1, len(values))+` RETURNING id`, values...)
}

// updateCompany has the company's day looked at again, too: its zone may be another
// now, or how far ahead it bills.
func updateCompany(ctx context.Context, tx *sqldb.Tx, company Company, search string) error {
	_, err := tx.Exec(ctx, `
		UPDATE companies SET name = ?, whatsapp = ?, level = ?, timezone = ?, renew_from = ?, renew_on_payment = ?,
		lead_days = ?, renew_invoice = ?,
			subscription = ?, subscription_plan_id = ?, expires_on = ?, expires_day = ?, suspended_at = ?, functions = ?,
			above_suspended_at = ?, above_expires_on = ?, anonymous = ?,
			search = ?, updated_at = ?, late_fee_bp = ?, late_interest_bp = ?, discount_bp = ?, discount_cents = ?,
			color = ?, logo = ?, cpf_cnpj = ?, hidden_steps = ?, books_closed_through = ?, address = ?, email = ?, day_done = ''
		WHERE id = ?`, append(companyValues(tx, company, search), company.ID)...)
	return err
}

// companyValues are what both statements above write, in their order.
func companyValues(tx *sqldb.Tx, company Company, search string) []any {
	sub := company.Subscription
	return []any{
		company.Name, company.Whatsapp, string(company.Level), company.Zone.String(),
		string(company.Settings.RenewFrom), company.Settings.RenewOnPayment,
		company.Settings.LeadDays,
		string(company.Settings.RenewInvoice),
		string(sub.Kind), sqldb.RefTo(sub.PlanID), sub.ExpiresOn, sub.OwnDay,
		instant(sub.SuspendedAt), sub.Functions,
		instant(sub.Above.SuspendedAt), sub.Above.ExpiresOn, sub.Anonymous, search,
		tx.Now().UnixMicro(),
		int64(company.Settings.LateFeePercent), int64(company.Settings.LateInterestPercent),
		int64(company.Settings.DiscountPercent), int64(company.Settings.DiscountAmount),
		company.Brand.Color, company.Brand.Logo, company.CpfCnpj, company.HiddenSteps, company.Settings.ClosedThrough,
		company.Address, company.Email,
	}
}

// instant is a time as a column has it that is null when there is none.
func instant(at time.Time) sqldb.Ref {
	if at.IsZero() {
		return sqldb.Ref{}
	}
	return sqldb.RefTo(at.UnixMicro())
}

func companyByID(ctx context.Context, querier sqldb.Querier, id int64) (Company, error) {
	company, err := sqldb.One(ctx, querier, scanCompany, `SELECT `+companyColumns+` FROM companies c WHERE c.id = ?`, id)
	return company, sqldb.Found(err, "company")
}

func lockCompany(ctx context.Context, tx *sqldb.Tx, id int64) (Company, error) {
	company, err := sqldb.One(
		ctx,
		tx,
		scanCompany,
		`SELECT `+companyColumns+` FROM companies c WHERE c.id = ? {for update}`,
		id,
	)
	return company, sqldb.Found(err, "company")
}

func companies(ctx context.Context, querier sqldb.Querier) ([]Company, error) {
	return sqldb.All(ctx, querier, scanCompany, `SELECT `+companyColumns+` FROM companies c ORDER BY c.id`)
}

func ownerOf(ctx context.Context, querier sqldb.Querier, companyID int64) (User, error) {
	user, err := sqldb.One(ctx, querier, scanUser, `
		SELECT id, company_id, name, email, role, created_at FROM users
		WHERE company_id = ? AND role = 'owner' ORDER BY id LIMIT 1`, companyID)
	return user, sqldb.Found(err, "user")
}

func scanUser(row sqldb.Row) (user User, err error) {
	var created int64
	err = row.Scan(&user.ID, &user.CompanyID, &user.Name, &user.Email, (*string)(&user.Role), &created)
	user.CreatedAt = time.UnixMicro(created)
	return user, err
}

//nolint:gosec // names of columns
const tokenColumns = `id, company_id, name, created_at, COALESCE(last_used_at, 0), scope, COALESCE(expires_at, 0),
	made_by, COALESCE((SELECT u.name FROM users u WHERE u.company_id = api_tokens.company_id AND u.id = api_tokens.made_by), '')`

func scanToken(row sqldb.Row) (token Token, err error) {
	var created, used, expires int64
	err = row.Scan(&token.ID, &token.CompanyID, &token.Name, &created, &used, &token.Scope, &expires, &token.MadeBy, &token.Maker)
	token.CreatedAt = time.UnixMicro(created)
	if used != 0 {
		token.LastUsedAt = time.UnixMicro(used)
	}
	if expires != 0 {
		token.ExpiresAt = time.UnixMicro(expires)
	}
	return token, err
}

func insertToken(ctx context.Context, tx *sqldb.Tx, token Token, hash []byte) (int64, error) {
	var expires sqldb.Ref
	if !token.ExpiresAt.IsZero() {
		expires = sqldb.RefTo(token.ExpiresAt.UnixMicro())
	}
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO api_tokens (company_id, name, hash, created_at, scope, expires_at, made_by) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		token.CompanyID, token.Name, hash, tx.Now().UnixMicro(), string(token.Scope), expires, token.MadeBy)
}

func tokens(ctx context.Context, querier sqldb.Querier, companyID int64) ([]Token, error) {
	return sqldb.All(ctx, querier, scanToken, `
		SELECT `+tokenColumns+` FROM api_tokens WHERE company_id = ? ORDER BY id DESC`, companyID)
}

func tokensMadeBy(ctx context.Context, querier sqldb.Querier, companyID, userID int64) ([]Token, error) {
	return sqldb.All(ctx, querier, scanToken, `
		SELECT `+tokenColumns+` FROM api_tokens WHERE company_id = ? AND made_by = ? ORDER BY id`, companyID, userID)
}

func countTokens(ctx context.Context, querier sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `SELECT count(*) FROM api_tokens WHERE company_id = ?`, companyID)
}

func tokenByID(ctx context.Context, querier sqldb.Querier, companyID, id int64) (Token, error) {
	token, err := sqldb.One(ctx, querier, scanToken, `
		SELECT `+tokenColumns+` FROM api_tokens WHERE company_id = ? AND id = ?`, companyID, id)
	return token, sqldb.Found(err, "token")
}

func deleteToken(ctx context.Context, tx Tx, id int64) error {
	n, err := tx.Exec(ctx, `DELETE FROM api_tokens WHERE company_id = ? AND id = ?`, tx.Company.ID, id)
	if err == nil && n == 0 {
		err = sqldb.ErrNotFound
	}
	return sqldb.Found(err, "token")
}

func touchToken(ctx context.Context, tx *sqldb.Tx, companyID, id int64, at time.Time) error {
	_, err := tx.Exec(ctx, `
		UPDATE api_tokens SET last_used_at = ? WHERE company_id = ? AND id = ? AND COALESCE(last_used_at, 0) < ?`,
		at.UnixMicro(), companyID, id, at.UnixMicro())
	return err
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
		err = companyScan(row, &found.actor.Company, &found.actor.TokenID, &found.actor.Scope, (*sqldb.OrZero)(&found.expires))
		return found, err
	}, `SELECT `+companyColumns+`, t.id, t.scope, t.expires_at FROM api_tokens t JOIN companies c ON c.id = t.company_id
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
		err = companyScan(row, &actor.Company, &actor.TokenID, &actor.Scope, &call.at, &call.recent)
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
		SELECT `+companyColumns+`, t.id, t.scope, COALESCE((SELECT calls[cardinality(calls)] FROM call), 0),
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
