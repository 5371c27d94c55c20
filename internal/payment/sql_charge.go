package payment

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

const chargeColumns = `id, company_id, gateway_id, provider, invoice_id, customer_id, customer_name, reference,
	gateway_ref, amount_cents,
	state, pix_code, checkout_url, problem, expires_at, closed_at, next_check_at, checks,
	hinted_at, claim, created_at,
	NULLIF(payable_on, ''), due_terms, authorisation_id, NULLIF(debit_on, ''), debit_retries, debit_failure`

func scanCharge(row sqldb.Row) (charge charge, err error) {
	err = row.Scan(&charge.id, &charge.companyID, &charge.gatewayID, &charge.provider, &charge.invoiceID,
		&charge.customerID, &charge.customerName, &charge.order.Reference, &charge.ID, (*int64)(&charge.order.Amount),
		(*string)(&charge.state), &charge.PixCode, &charge.CheckoutURL, &charge.problem,
		(*civil.Instant)(&charge.ExpiresAt), (*civil.Instant)(&charge.closedAt), (*civil.Instant)(&charge.nextCheck), &charge.checks,
		(*civil.Instant)(&charge.hintedAt), &charge.claim, (*civil.Instant)(&charge.createdAt), &charge.payableOn, &charge.dueTerms,
		&charge.debit.authorisationID, &charge.debit.on, &charge.debit.retries, &charge.debit.failure)
	return charge, err
}

// unsettled are the charges of an invoice that can be paid, or may still be.
func unsettled(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) ([]charge, error) {
	return sqldb.All(ctx, querier, scanCharge, `
		SELECT `+chargeColumns+` FROM charges
		WHERE company_id = ? AND invoice_id = ? AND state IN ('reserved', 'pending', 'cancelling') ORDER BY id`,
		companyID, invoiceID)
}

// lockUnsettled locks them, of several invoices.
func lockUnsettled(ctx context.Context, tx account.Tx, invoiceIDs []int64) ([]charge, error) {
	return sqldb.All(ctx, tx, scanCharge, lockUnsettledText, tx.Company.ID, invoiceIDs)
}

// Ordered by the bare id, SQLite walks along all charges of the company instead of
// looking into the index of the invoices.
const lockUnsettledText = `SELECT ` + chargeColumns + ` FROM charges
	WHERE company_id = ? AND invoice_id {in ?} AND state IN ('reserved', 'pending', 'cancelling') ORDER BY id + 0 {for update}`

func lockCharge(ctx context.Context, tx *sqldb.Tx, companyID, chargeID int64) (charge, error) {
	return sqldb.One(ctx, tx, scanCharge, `SELECT `+chargeColumns+` FROM charges WHERE company_id = ?
		AND id = ? {for update}`, companyID, chargeID)
}

func chargeByReference(ctx context.Context, querier sqldb.Querier, companyID int64, reference string) (charge, error) {
	return sqldb.One(ctx, querier, scanCharge, `SELECT `+chargeColumns+` FROM charges WHERE company_id = ?
		AND reference = ?`, companyID, reference)
}

func insertCharge(ctx context.Context, tx *sqldb.Tx, charge charge) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO charges (company_id, gateway_id, provider, invoice_id, customer_id, customer_name, reference, gateway_ref, amount_cents,
			state, pix_code, checkout_url, problem, expires_at, next_check_at, checks, hinted_at, claim, created_at, updated_at,
			payable_on, due_terms, authorisation_id, debit_on)
		VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, '', '', '', ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		charge.companyID, charge.gatewayID, charge.provider, charge.invoiceID, charge.customerID,
		charge.customerName, charge.order.Reference, int64(charge.order.Amount),
		string(charge.state), charge.ExpiresAt.UnixMicro(), sqldb.RefTo(civil.Micros(charge.nextCheck)), charge.claim,
		tx.Now().UnixMicro(), tx.Now().UnixMicro(),
		charge.payableOn.String(), charge.dueTerms, charge.debit.authorisationID, charge.debit.on.String())
}

// updateCharge writes all of a charge that changes. The caller has locked the
// row.
func updateCharge(ctx context.Context, tx *sqldb.Tx, charge charge) error {
	return tx.Do(ctx, `
		UPDATE charges SET gateway_ref = ?, state = ?, pix_code = ?, checkout_url = ?, problem = ?, expires_at = ?, closed_at = ?,
			next_check_at = ?, checks = ?, hinted_at = ?, claim = ?, updated_at = ?,
			debit_on = ?, debit_retries = ?, debit_failure = ?
		WHERE company_id = ? AND id = ?`,
		charge.ID, string(charge.state), charge.PixCode, charge.CheckoutURL, charge.problem,
		charge.ExpiresAt.UnixMicro(), sqldb.RefTo(civil.Micros(charge.closedAt)),
		sqldb.RefTo(civil.Micros(charge.nextCheck)), charge.checks, civil.Micros(charge.hintedAt), charge.claim,
		tx.Now().UnixMicro(), charge.debit.on.String(), charge.debit.retries, charge.debit.failure,
		charge.companyID, charge.id)
}

// lastFailure is when a gateway last failed to make a charge for an invoice.
func lastFailure(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) (time.Time, error) {
	at, err := sqldb.Value[civil.Instant](ctx, querier, `
		SELECT MAX(updated_at) FROM charges
		WHERE company_id = ? AND invoice_id = ? AND problem <> '' AND state IN ('reserved', 'refused', 'cancelling')`,
		companyID, invoiceID)
	return time.Time(at), err
}

// dueCharges finds charges to check: those that a callback named first, and of
// each gateway only so many at once. It reads the charges of all companies.
func dueCharges(ctx context.Context, querier sqldb.Querier, now time.Time, pace claimPace) ([]int64, error) {
	at := now.UnixMicro()
	return sqldb.Values[int64](ctx, querier, dueChargesText, at, at, at, pace.ofGateway, pace.limit)
}

// claimPace is how many charges to claim at once.
type claimPace struct{ limit, ofGateway int }

const dueChargesText = `SELECT d.id FROM (
		SELECT id, company_id, gateway_id, hinted_at, next_check_at, row_number() OVER (
			PARTITION BY gateway_id ORDER BY CASE WHEN hinted_at > 0 THEN 0 ELSE 1 END, next_check_at) AS place
		FROM charges WHERE next_check_at <= ?) d
	JOIN gateways g ON g.company_id = d.company_id AND g.id = d.gateway_id
	WHERE (d.hinted_at > 0 OR g.resume_at <= ?) AND d.place + (
		SELECT COUNT(*) FROM charges x WHERE x.claim <> '' AND x.gateway_id = d.gateway_id AND x.next_check_at > ?) <= ?
	ORDER BY CASE WHEN d.hinted_at > 0 THEN 0 ELSE 1 END, d.next_check_at LIMIT ? /* every company_id */`

// claimCharges claims those of the charges that are still due, and returns them.
// A hint outlives the claim: the look that answers it may be lost. It writes the
// engine's lease and no state.
func claimCharges(ctx context.Context, tx *sqldb.Tx, ids []int64, until time.Time) ([]charge, error) {
	return sqldb.All(ctx, tx, scanCharge, `
		UPDATE charges SET claim = ?, next_check_at = ?, checks = checks + 1 WHERE id IN (
			SELECT id FROM charges WHERE id {in ?} AND next_check_at <= ? {for update skip locked}
		) RETURNING `+chargeColumns+` /* every company_id */`, id.NewCode(16), until.UnixMicro(),
		ids, tx.Now().UnixMicro())
}

// endLooks ends the claims of charges that can be paid and that the gateway is only
// asked about. It writes the engine's lease and no state.
func endLooks(ctx context.Context, tx *sqldb.Tx) error {
	now := tx.Now().UnixMicro()
	return tx.Do(ctx, `
		UPDATE charges SET next_check_at = ?
		WHERE claim <> '' AND next_check_at > ? AND state = 'pending' AND debit_on = '' /* every company_id */`, now, now)
}

// hinted is a charge that a callback names.
type hinted struct {
	setup Setup
	ref   Ref
	fresh bool // the callback is no repetition: a paid charge is checked again too
}

// markHinted makes the charge due at once, and returns how many charges of the
// gateway the reference names. It writes the engine's schedule and no state.
func markHinted(ctx context.Context, tx *sqldb.Tx, hinted hinted) (int64, error) {
	now := tx.Now().UnixMicro()
	return tx.Exec(ctx, `
		UPDATE charges SET
			hinted_at = CASE WHEN state = 'paid' AND CAST(? AS BIGINT) = 0 THEN hinted_at `+hintedNow+` END,
			next_check_at = CASE
				WHEN state = 'paid' AND CAST(? AS BIGINT) = 0 THEN next_check_at
				WHEN claim <> '' AND next_check_at > ? THEN next_check_at
				ELSE CAST(? AS BIGINT) END
		WHERE company_id = ? AND gateway_id = ? AND (reference = ? OR gateway_ref <> '' AND gateway_ref = ?)`,
		number(hinted.fresh), now, now, number(hinted.fresh), now, now, hinted.setup.CompanyID,
		hinted.setup.ID, hinted.ref.Reference, hinted.ref.ID)
}

// hintedNow are the branches by which a hint, twice the argument, differs from one that a worker is looking into.
const hintedNow = `WHEN hinted_at >= ? THEN hinted_at + 1 ELSE CAST(? AS BIGINT)`

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// backlog is what the metrics show of unfinished work.
type backlog struct {
	reviews                 int64
	reservedSince, dueSince time.Time // now when there is none
}

func readBacklog(ctx context.Context, querier sqldb.Querier, now time.Time) (backlog, error) {
	at := now.UnixMicro()
	return sqldb.One(ctx, querier, rows.Into(func(backlog *backlog) []any {
		return []any{&backlog.reviews, (*civil.Instant)(&backlog.reservedSince), (*civil.Instant)(&backlog.dueSince)}
	}), `SELECT (SELECT COUNT(*) FROM payment_reviews WHERE resolved_at IS NULL),
			(SELECT COALESCE(MIN(created_at), CAST(? AS BIGINT)) FROM charges WHERE state = 'reserved'),
			(SELECT COALESCE(MIN(next_check_at), CAST(? AS BIGINT)) FROM charges WHERE next_check_at <= ?) /* every company_id */`,
		at, at, at)
}

// lastRefused reports whether the gateway refused the last charge of an invoice.
func lastRefused(ctx context.Context, querier sqldb.Querier, companyID, invoiceID int64) (bool, error) {
	state, err := orNone(sqldb.Value[string](ctx, querier,
		`SELECT state FROM charges WHERE company_id = ? AND invoice_id = ? ORDER BY id DESC LIMIT 1`, companyID, invoiceID))
	return state == "refused", err
}

// insertCallback reports whether the callback is new.
func insertCallback(ctx context.Context, tx *sqldb.Tx, genuine genuine) (fresh bool, err error) {
	body := genuine.body
	if body == nil {
		body = []byte{}
	}
	seen, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO gateway_callbacks (company_id, gateway_id, event_key, body, hints, seen, tries, created_at) VALUES (?, ?, ?, ?, '', 1, 0, ?)
		ON CONFLICT (company_id, gateway_id, event_key) DO UPDATE SET seen = gateway_callbacks.seen + 1 RETURNING seen`,
		genuine.setup.CompanyID, genuine.setup.ID, genuine.key, body, tx.Now().UnixMicro())
	return seen == 1, err
}

// setUnknown stores the references that no charge of ours has, and makes the
// callback due.
func setUnknown(ctx context.Context, tx *sqldb.Tx, genuine genuine, unknown []Ref) error {
	hints, err := json.Marshal(unknown)
	if err != nil {
		return err
	}
	return tx.Do(ctx, `
		UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND gateway_id = ? AND event_key = ?`,
		string(hints), tx.Now().UnixMicro(), genuine.setup.CompanyID, genuine.setup.ID, genuine.key)
}

func claimCallbacks(ctx context.Context, tx *sqldb.Tx, limit int, until time.Time) ([]storedCallback, error) {
	return sqldb.All(ctx, tx, func(row sqldb.Row) (callback storedCallback, err error) {
		var hints string
		err = row.Scan(&callback.id, &callback.companyID, &callback.gatewayID, &hints, &callback.tries)
		if err != nil {
			return callback, err
		}
		return callback, json.Unmarshal([]byte(hints), &callback.unknown)
	}, `UPDATE gateway_callbacks SET next_try_at = ?, tries = tries + 1 WHERE id IN (
			SELECT id FROM gateway_callbacks WHERE next_try_at <= ? ORDER BY next_try_at LIMIT ? {for update skip locked}
		) RETURNING id, company_id, gateway_id, hints, tries /* every company_id */`,
		until.UnixMicro(), tx.Now().UnixMicro(), limit)
}

// updateCallback stores what is left of a callback. With nothing left it is
// never due again.
func updateCallback(ctx context.Context, tx *sqldb.Tx, callback storedCallback, again time.Time) error {
	hints := ""
	if len(callback.unknown) > 0 {
		text, err := json.Marshal(callback.unknown)
		if err != nil {
			return err
		}
		hints = string(text)
	}
	return tx.Do(ctx, `UPDATE gateway_callbacks SET hints = ?, next_try_at = ? WHERE company_id = ? AND id = ?`,
		hints, sqldb.RefTo(civil.Micros(again)), callback.companyID, callback.id)
}

const paymentColumns = `p.id, COALESCE(p.charge_id, 0), p.payment_id, p.provider, p.paid_via, p.invoice_id,
	p.customer_id, p.customer_name,
	p.amount_cents, p.currency, p.paid_at, COALESCE(p.paid_offset, 0), p.status, p.refunded_cents, p.confirmed_by, COALESCE((
		SELECT MIN(o.id) FROM payment_reviews o WHERE o.company_id = p.company_id AND o.payment_id = p.id AND o.resolved_at IS NULL), 0)`

// paidStamp is when a payment was made, by the company's clock of then.
type paidStamp struct {
	micros int64
	offset int // of the clock, in seconds east of UTC
}

func (s paidStamp) time() time.Time {
	return time.UnixMicro(s.micros).In(time.FixedZone("", s.offset))
}

// places are where a row of paymentColumns is scanned to.
func (p *Payment) places(at *paidStamp) []any {
	return []any{
		&p.Number, &p.chargeID, &p.ID, &p.Provider, &p.Via, &p.InvoiceID, &p.CustomerID,
		&p.CustomerName, (*int64)(&p.Amount), &p.Currency,
		&at.micros, &at.offset, (*string)(&p.Status), (*int64)(&p.Refund), &p.ConfirmedBy,
		&p.ReviewID,
	}
}

func scanPayment(row sqldb.Row) (payment Payment, err error) {
	var paidAt paidStamp
	err = row.Scan(payment.places(&paidAt)...)
	payment.PaidAt = paidAt.time()
	return payment, err
}

// lockPayments finds those payments of a charge's gateway that are known, by the
// gateway's ids. One may belong to another charge.
func lockPayments(ctx context.Context, tx *sqldb.Tx, charge charge, ids []string) (map[string]Payment, error) {
	known := map[string]Payment{}
	if len(ids) == 0 {
		return known, nil
	}
	list, err := sqldb.All(ctx, tx, scanPayment, `
		SELECT `+paymentColumns+` FROM payments p
		WHERE p.company_id = ? AND p.provider = ? AND p.payment_id {in ?} ORDER BY p.id {for update}`,
		charge.companyID, charge.provider, ids)
	for _, payment := range list {
		known[payment.ID] = payment
	}
	return known, err
}
