package payment

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

const authorisationColumns = `id, company_id, gateway_id, provider, customer_id, reference, gateway_ref, journey, account, every,
	NULLIF(from_on, ''), minimum_cents, description, state, pix_code, ended_by, reason, problem, expires_at,
	active_at, ended_at, next_check_at, checks, hinted_at, claim, created_at`

func scanAuthorisation(row sqldb.Row) (a authorisation, err error) {
	var payerAccount string
	err = row.Scan(&a.id, &a.companyID, &a.gatewayID, &a.provider, &a.customerID, &a.Reference, &a.ID,
		(*string)(&a.journey), &payerAccount, (*string)(&a.every), &a.from, (*int64)(&a.minimum),
		&a.description, (*string)(&a.state), &a.pixCode, (*string)(&a.endedBy), &a.reason,
		&a.problem, (*civil.Instant)(&a.expiresAt), (*civil.Instant)(&a.activeAt), (*civil.Instant)(&a.endedAt),
		(*civil.Instant)(&a.nextCheck), &a.checks, (*civil.Instant)(&a.hintedAt), &a.claim, (*civil.Instant)(&a.createdAt))
	if err != nil || payerAccount == "" {
		return a, err
	}
	return a, json.Unmarshal([]byte(payerAccount), &a.account)
}

func lockAuthorisation(ctx context.Context, tx *sqldb.Tx, companyID, authorisationID int64) (authorisation, error) {
	return sqldb.One(ctx, tx, scanAuthorisation, `SELECT `+authorisationColumns+` FROM authorisations
		WHERE company_id = ? AND id = ? {for update}`, companyID, authorisationID)
}

func authorisationByID(
	ctx context.Context, querier sqldb.Querier, companyID, authorisationID int64,
) (authorisation, error) {
	return sqldb.One(ctx, querier, scanAuthorisation, `SELECT `+authorisationColumns+` FROM authorisations
		WHERE company_id = ? AND id = ?`, companyID, authorisationID)
}

// newestAuthorisation returns the zero one when the customer was never asked.
func newestAuthorisation(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (authorisation, error) {
	return orNone(sqldb.One(ctx, querier, scanAuthorisation, `SELECT `+authorisationColumns+` FROM authorisations
		WHERE company_id = ? AND customer_id = ? ORDER BY id DESC LIMIT 1`, companyID, customerID))
}

func insertAuthorisation(ctx context.Context, tx *sqldb.Tx, a authorisation) (int64, error) {
	payerAccount := ""
	if a.account != nil {
		encoded, err := json.Marshal(a.account)
		if err != nil {
			return 0, err
		}
		payerAccount = string(encoded)
	}
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO authorisations (company_id, gateway_id, provider, customer_id, reference, gateway_ref, journey, account, every,
			from_on, minimum_cents, description, state, pix_code, ended_by, reason, problem, expires_at,
			next_check_at, checks, hinted_at, claim, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, '', '', '', '', ?, ?, 0, 0, ?, ?, ?) RETURNING id`,
		a.companyID, a.gatewayID, a.provider, a.customerID, a.Reference, string(a.journey), payerAccount,
		string(a.every), a.from.String(), int64(a.minimum), a.description, string(a.state),
		a.expiresAt.UnixMicro(), sqldb.RefTo(civil.Micros(a.nextCheck)), a.claim, tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

// updateAuthorisation writes all of an authorisation that changes. The caller has
// locked the row.
func updateAuthorisation(ctx context.Context, tx *sqldb.Tx, a authorisation) error {
	return tx.Do(ctx, `
		UPDATE authorisations SET gateway_ref = ?, state = ?, pix_code = ?, ended_by = ?, reason = ?, problem = ?,
			active_at = ?, ended_at = ?, next_check_at = ?, checks = ?, hinted_at = ?, claim = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		a.ID, string(a.state), a.pixCode, string(a.endedBy), a.reason, a.problem, sqldb.RefTo(civil.Micros(a.activeAt)),
		sqldb.RefTo(civil.Micros(a.endedAt)), sqldb.RefTo(civil.Micros(a.nextCheck)), a.checks, civil.Micros(a.hintedAt), a.claim,
		tx.Now().UnixMicro(), a.companyID, a.id)
}

func insertStep(ctx context.Context, tx *sqldb.Tx, of authorisation, step authorisationStep) error {
	return tx.Do(ctx, `
		INSERT INTO authorisation_steps (company_id, authorisation_id, state, made_by, reason, at) VALUES (?, ?, ?, ?, ?, ?)`,
		of.companyID, of.id, string(step.State), step.By, step.Reason, step.At.UnixMicro())
}

// stepsOf reads the history of a customer's authorisations, the newest step first.
func stepsOf(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) ([]authorisationStep, error) {
	return sqldb.All(ctx, querier, rows.Into(func(step *authorisationStep) []any {
		return []any{(*string)(&step.State), &step.By, &step.Reason, (*civil.Instant)(&step.At)}
	}), `SELECT s.state, s.made_by, s.reason, s.at FROM authorisation_steps s
		JOIN authorisations a ON a.company_id = s.company_id AND a.id = s.authorisation_id
		WHERE s.company_id = ? AND a.customer_id = ? ORDER BY s.id DESC LIMIT 50`, companyID, customerID)
}

// dueAuthorisations finds authorisations to check, of each gateway only so many
// at once. It reads those of all companies.
func dueAuthorisations(ctx context.Context, querier sqldb.Querier, now time.Time, pace claimPace) ([]int64, error) {
	at := now.UnixMicro()
	return sqldb.Values[int64](ctx, querier, `SELECT d.id FROM (
			SELECT id, company_id, gateway_id, hinted_at, next_check_at, row_number() OVER (
				PARTITION BY gateway_id ORDER BY CASE WHEN hinted_at > 0 THEN 0 ELSE 1 END, next_check_at) AS place
			FROM authorisations WHERE next_check_at <= ?) d
		JOIN gateways g ON g.company_id = d.company_id AND g.id = d.gateway_id
		WHERE (d.hinted_at > 0 OR g.resume_at <= ?) AND d.place <= ?
		ORDER BY d.next_check_at LIMIT ? /* every company_id */`, at, at, pace.ofGateway, pace.limit)
}

// claimAuthorisations claims those that are still due, and returns them. It
// writes the engine's lease and no state.
func claimAuthorisations(ctx context.Context, tx *sqldb.Tx, ids []int64, until time.Time) ([]authorisation, error) {
	return sqldb.All(ctx, tx, scanAuthorisation, `
		UPDATE authorisations SET claim = ?, next_check_at = ?, checks = checks + 1 WHERE id IN (
			SELECT id FROM authorisations WHERE id {in ?} AND next_check_at <= ? {for update skip locked}
		) RETURNING `+authorisationColumns+` /* every company_id */`, id.NewCode(16), until.UnixMicro(),
		ids, tx.Now().UnixMicro())
}

// dueAtOnce has an authorisation checked now, four times the argument, or when its
// worker is done with it.
const dueAtOnce = `hinted_at = CASE ` + hintedNow + ` END,
	next_check_at = CASE WHEN claim <> '' AND next_check_at > ? THEN next_check_at ELSE CAST(? AS BIGINT) END`

// markAuthorisation makes the authorisation that a callback names due at once. It
// writes the engine's schedule and no state.
func markAuthorisation(ctx context.Context, tx *sqldb.Tx, setup Setup, ref Ref) error {
	now := tx.Now().UnixMicro()
	return tx.Do(ctx, `
		UPDATE authorisations SET `+dueAtOnce+`
		WHERE company_id = ? AND gateway_id = ? AND (reference = ? OR gateway_ref <> '' AND gateway_ref = ?)`,
		now, now, now, now, setup.CompanyID, setup.ID, ref.Reference, ref.ID)
}

// markOfGateway makes the authorisations of a gateway due, at the gateway's pace: there
// may be thousands. It writes the engine's schedule and no state.
func markOfGateway(ctx context.Context, tx *sqldb.Tx, setup Setup) error {
	return tx.Do(ctx, `
		UPDATE authorisations SET next_check_at = ?
		WHERE company_id = ? AND gateway_id = ? AND state IN ('reserved', 'asked', 'active') AND claim = ''`,
		tx.Now().UnixMicro(), setup.CompanyID, setup.ID)
}

// markOfCustomers makes the authorisations of customers due at once. It writes
// the engine's schedule and no state.
func markOfCustomers(ctx context.Context, tx *sqldb.Tx, companyID int64, customerIDs []int64) (int64, error) {
	now := tx.Now().UnixMicro()
	return tx.Exec(ctx, `
		UPDATE authorisations SET `+dueAtOnce+`
		WHERE company_id = ? AND customer_id {in ?} AND state IN ('reserved', 'asked', 'active')`,
		now, now, now, now, companyID, customerIDs)
}

// stateOfCharge is the state of the charge that is to be paid for an authorisation;
// the zero one when it has none.
func stateOfCharge(ctx context.Context, querier sqldb.Querier, of authorisation) (chargeState, error) {
	state, err := orNone(sqldb.Value[string](ctx, querier, `SELECT state FROM charges
		WHERE company_id = ? AND authorisation_id = ? AND authorisation_id > 0 AND debit_on = '' ORDER BY id DESC LIMIT 1`,
		of.companyID, of.id))
	return chargeState(state), err
}

// announcedOn are the days on which open invoices will be debited, as far as
// debits are announced for them.
func announcedOn(ctx context.Context, querier sqldb.Querier, companyID int64, invoices ...int64) (map[int64]civil.Date, error) {
	return rows.Map[int64, civil.Date](ctx, querier, `SELECT invoice_id, debit_on FROM charges
		WHERE company_id = ? AND invoice_id {in ?} AND authorisation_id > 0 AND debit_on <> '' AND state IN ('reserved', 'pending')`,
		companyID, invoices)
}

// authorisationQuery is a page of the newest authorisations of a company's
// customers.
type authorisationQuery struct {
	companyID int64
	filter    AutopayFilter
	page      input.Page
}

// failedDebit holds for an authorisation a with a failed debit and none that was
// paid since.
const failedDebit = `EXISTS (SELECT 1 FROM charges f WHERE f.company_id = a.company_id AND f.authorisation_id = a.id
	AND f.authorisation_id > 0 AND f.debit_on <> '' AND f.state IN ('refused', 'cancelling', 'cancelled', 'expired')
	AND (f.state = 'refused' OR f.debit_failure <> '') AND NOT EXISTS (
		SELECT 1 FROM charges p WHERE p.company_id = f.company_id AND p.authorisation_id = f.authorisation_id
		AND p.authorisation_id > 0 AND p.debit_on <> '' AND p.state = 'paid' AND p.id > f.id))`

func (q authorisationQuery) where() sqldb.Where {
	var where sqldb.Where
	where.And(`a.company_id = ?`, q.companyID)
	where.And(`NOT EXISTS (SELECT 1 FROM authorisations n
		WHERE n.company_id = a.company_id AND n.customer_id = a.customer_id AND n.id > a.id)`)
	switch q.filter.State {
	case customer.AutopayAsked:
		where.And(`a.state IN ('reserved', 'asked')`)
	case customer.AutopayActive:
		where.And(`a.state = 'active'`)
	case customer.AutopayEnded:
		where.And(`a.state IN ('ending', 'ended')`)
	case customer.AutopayNone:
	}
	where.If(q.filter.Failed, failedDebit)
	return where
}

func countNewest(ctx context.Context, querier sqldb.Querier, query authorisationQuery) (int64, error) {
	where := query.where()
	return sqldb.Value[int64](ctx, querier, `SELECT COUNT(*) FROM authorisations a`+where.String(), where.Args...)
}

func newestOfCustomers(ctx context.Context, querier sqldb.Querier, query authorisationQuery) ([]authorisation, error) {
	where := query.where()
	return sqldb.All(ctx, querier, scanAuthorisation, `
		SELECT `+authorisationColumns+` FROM authorisations a`+where.String()+`
		ORDER BY a.id DESC LIMIT ? OFFSET ?`, append(where.Args, query.page.Size, query.page.Offset())...)
}

// debitsByAuthorisation reads the newest debits of authorisations, the newest
// first.
func debitsByAuthorisation(
	ctx context.Context, querier sqldb.Querier, companyID int64, authorisationIDs []int64,
) (map[int64][]charge, error) {
	list, err := sqldb.All(ctx, querier, scanCharge, `SELECT `+chargeColumns+` FROM charges
		WHERE company_id = ? AND id IN (
			SELECT d.id FROM (
				SELECT id, row_number() OVER (PARTITION BY authorisation_id ORDER BY id DESC) AS place FROM charges
				WHERE company_id = ? AND authorisation_id {in ?} AND authorisation_id > 0 AND debit_on <> '') d
			WHERE d.place <= 20)
		ORDER BY id DESC`, companyID, companyID, authorisationIDs)
	debits := map[int64][]charge{}
	for _, charge := range list {
		by := charge.debit.authorisationID
		debits[by] = append(debits[by], charge)
	}
	return debits, err
}
