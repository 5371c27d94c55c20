package payment

import (
	"context"
	"errors"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

const setupColumns = `id, company_id, provider, options, callback_key, active, failures, problem, resume_at, updated_at`

func scanSetup(row sqldb.Row) (setup Setup, err error) {
	err = row.Scan(&setup.ID, &setup.CompanyID, &setup.name, &setup.sealed, &setup.key, &setup.Active, &setup.Failures,
		&setup.Problem, (*civil.Instant)(&setup.resumeAt), (*civil.Instant)(&setup.UpdatedAt))
	return setup, err
}

// orNone takes a row that is not there for the zero one.
func orNone[T any](row T, err error) (T, error) {
	if errors.Is(err, sqldb.ErrNotFound) {
		return row, nil
	}
	return row, err
}

func activeSetup(ctx context.Context, querier sqldb.Querier, companyID int64) (Setup, error) {
	return sqldb.One(ctx, querier, scanSetup,
		`SELECT `+setupColumns+` FROM gateways WHERE company_id = ? AND active = ?`, companyID, true)
}

// setupByKey finds the setup that a callback is for, by the secret part of its
// address.
func setupByKey(ctx context.Context, querier sqldb.Querier, key string) (Setup, error) {
	return sqldb.One(ctx, querier, scanSetup, `
		SELECT `+setupColumns+` FROM gateways WHERE callback_key = ? AND options <> '' /* every company_id */`, key)
}

func insertSetup(ctx context.Context, tx *sqldb.Tx, setup Setup) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO gateways (company_id, provider, options, callback_key, active, failures, problem, resume_at, created_at, updated_at)
		VALUES (?, ?, '', ?, ?, 0, '', 0, ?, ?) RETURNING id`,
		setup.CompanyID, setup.name, setup.key, true, tx.Now().UnixMicro(), tx.Now().UnixMicro())
}

func updateSetup(ctx context.Context, tx *sqldb.Tx, setup Setup) error {
	return tx.Do(ctx, `
		UPDATE gateways SET options = ?, active = ?, failures = ?, problem = ?, resume_at = ?, updated_at = ? WHERE company_id = ? AND id = ?`,
		setup.sealed, setup.Active, setup.Failures, setup.Problem, civil.Micros(setup.resumeAt),
		setup.UpdatedAt.UnixMicro(), setup.CompanyID, setup.ID)
}

func setOptions(ctx context.Context, tx *sqldb.Tx, setup Setup) error {
	return tx.Do(ctx, `UPDATE gateways SET options = ? WHERE company_id = ? AND id = ?`,
		setup.sealed, setup.CompanyID, setup.ID)
}

func deactivateAll(ctx context.Context, tx account.Tx) error {
	return tx.Do(ctx, `UPDATE gateways SET active = ? WHERE company_id = ? AND active = ?`, false, tx.Company.ID, true)
}

// forgetOptions drops the credentials of gateways that are not in use, if no
// charge needs a check any more and all authorisations have ended.
func forgetOptions(ctx context.Context, tx *sqldb.Tx) error {
	return tx.Do(ctx, `
		UPDATE gateways SET options = '' WHERE active = ? AND options <> '' AND NOT EXISTS (
			SELECT 1 FROM charges c WHERE c.company_id = gateways.company_id AND c.gateway_id = gateways.id AND c.next_check_at IS NOT NULL
		) AND NOT EXISTS (
			SELECT 1 FROM authorisations a WHERE a.company_id = gateways.company_id AND a.gateway_id = gateways.id AND a.state <> 'ended'
		) /* every company_id */`, false)
}

func countFailure(ctx context.Context, tx *sqldb.Tx, setup Setup, problem string) (int, error) {
	return sqldb.Value[int](ctx, tx, `
		UPDATE gateways SET failures = failures + 1, problem = ? WHERE company_id = ? AND id = ? RETURNING failures`,
		problem, setup.CompanyID, setup.ID)
}

// pauseGateway keeps a gateway from being called, and its charges from being due.
// It writes the engine's schedule and no state.
func pauseGateway(ctx context.Context, tx *sqldb.Tx, setup Setup, until time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE gateways SET resume_at = ? WHERE company_id = ? AND id = ?`,
		until.UnixMicro(), setup.CompanyID, setup.ID)
	if err != nil {
		return err
	}
	// Another worker that claims some of them locks charges first and the gateway after.
	return tx.Do(ctx, `
		UPDATE charges SET next_check_at = ? WHERE company_id = ? AND id IN (
			SELECT id FROM charges WHERE company_id = ? AND gateway_id = ? AND next_check_at <= ? AND hinted_at = 0 {for update skip locked})`,
		until.UnixMicro(), setup.CompanyID, setup.CompanyID, setup.ID, tx.Now().UnixMicro())
}

// gatewayUse is a gateway that is about to be called.
type gatewayUse struct {
	companyID, gatewayID int64
	provider             string
}

func usesOf(charges []charge) []gatewayUse {
	uses := make([]gatewayUse, len(charges))
	for i, charge := range charges {
		uses[i] = gatewayUse{charge.companyID, charge.gatewayID, charge.provider}
	}
	return uses
}

// spaceOut delays the next checks at gateways that are being called.
func (s *Service) spaceOut(ctx context.Context, tx *sqldb.Tx, uses []gatewayUse) error {
	if s.options.Unpaced {
		return nil
	}
	waits := map[gatewayUse]time.Duration{}
	for _, use := range uses {
		waits[use] += max(spacing, s.providers[use.provider].Pace)
	}
	for use, wait := range waits {
		until := tx.Now().Add(wait).UnixMicro()
		_, err := tx.Exec(ctx, `
			UPDATE gateways SET resume_at = ? WHERE company_id = ? AND id = ? AND resume_at < ?`,
			until, use.companyID, use.gatewayID, until)
		if err != nil {
			return err
		}
	}
	return nil
}

func codeOfInvoice(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) (string, error) {
	return sqldb.Value[string](ctx, querier, `SELECT code FROM pay_links WHERE company_id = ? AND invoice_id = ?`,
		companyID, invoiceID)
}

func insertPayLink(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64, code string) error {
	return tx.Queue(ctx, `INSERT INTO pay_links (company_id, invoice_id, code, created_at) VALUES (?, ?, ?, ?)`,
		companyID, invoiceID, code, tx.Now().UnixMicro())
}

// payCode returns the code of an invoice's page, made at the first time.
func payCode(ctx context.Context, tx *sqldb.Tx, companyID, invoiceID int64) (string, error) {
	code, err := sqldb.Value[string](ctx, tx, `
		INSERT INTO pay_links (company_id, invoice_id, code, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING RETURNING code`,
		companyID, invoiceID, id.NewLink(tx.Now()), tx.Now().UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return codeOfInvoice(ctx, tx, companyID, invoiceID)
	}
	return code, err
}

func invoiceOfCode(ctx context.Context, querier sqldb.Querier, code string) (companyID, invoiceID int64, err error) {
	ids, err := sqldb.One(ctx, querier, rows.Into(func(ids *[2]int64) []any {
		return []any{&ids[0], &ids[1]}
	}), `SELECT company_id, invoice_id FROM pay_links WHERE code = ? /* every company_id */`, code)
	return ids[0], ids[1], sqldb.Found(err, "page")
}

func pageOfCustomer(ctx context.Context, querier sqldb.Querier, companyID, customerID int64) (customerPage, error) {
	return sqldb.One(ctx, querier, rows.Into(func(page *customerPage) []any {
		return []any{&page.code, (*civil.Instant)(&page.createdAt)}
	}), `SELECT code, created_at FROM customer_pages WHERE company_id = ? AND customer_id = ?`, companyID, customerID)
}

func insertCustomerPage(ctx context.Context, tx *sqldb.Tx, companyID int64, page customerPage) error {
	return tx.Do(ctx,
		`INSERT INTO customer_pages (company_id, customer_id, code, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, customer_id) DO NOTHING`,
		companyID, page.customer.ID, page.code, page.createdAt.UnixMicro())
}

func deleteCustomerPage(ctx context.Context, tx *sqldb.Tx, companyID int64, page customerPage) error {
	return tx.Do(ctx, `DELETE FROM customer_pages WHERE company_id = ? AND customer_id = ?`,
		companyID, page.customer.ID)
}

func customerOfCode(ctx context.Context, querier sqldb.Querier, code string) (companyID, customerID int64, err error) {
	ids, err := sqldb.One(ctx, querier, rows.Into(func(ids *[2]int64) []any {
		return []any{&ids[0], &ids[1]}
	}), `SELECT company_id, customer_id FROM customer_pages WHERE code = ? /* every company_id */`, code)
	return ids[0], ids[1], sqldb.Found(err, "page")
}

// liveCharges reads only those that are open, which have an index of their own.
func liveCharges(ctx context.Context, querier sqldb.Querier, setup Setup, now time.Time) (Live, error) {
	return sqldb.One(ctx, querier, rows.Into(func(live *Live) []any {
		return []any{&live.Charges, (*int64)(&live.Amount)}
	}), `SELECT COUNT(*), CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT) FROM charges
		WHERE company_id = ? AND state IN ('reserved', 'pending') AND gateway_id = ? AND expires_at > ?`,
		setup.CompanyID, setup.ID, now.UnixMicro())
}
