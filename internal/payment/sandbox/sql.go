package sandbox

import (
	"context"
	"errors"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// named finds a charge by its id or by our reference. They cannot be confused:
// one has 26 characters, the other 32.
const named = `(id = ? OR reference = ?)`

// unknown turns a row that is not there into ErrNoCharge.
func unknown(err error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return payment.ErrNoCharge
	}
	return err
}

func scanCharge(row sqldb.Row) (Charge, error) {
	var c Charge
	var expires int64
	var cancelled sqldb.Ref
	err := row.Scan(&c.ID, &c.Reference, &c.Amount, &c.Description, &c.PayerName, &c.PixCode,
		&c.CheckoutURL, &c.ReturnURL, &c.secret, &cancelled, &expires)
	c.Cancelled, c.ExpiresAt = cancelled.Valid, time.UnixMicro(expires).UTC()
	return c, err
}

func charge(ctx context.Context, querier sqldb.Querier, name string) (Charge, error) {
	c, err := sqldb.One(ctx, querier, scanCharge, `
		SELECT id, reference, amount_cents, description, payer_name, pix_code, checkout_url, return_url, secret, cancelled_at, expires_at
		FROM sandbox_charges WHERE `+named, name, name)
	if err != nil {
		return c, unknown(err)
	}
	c.Payments, err = payments(ctx, querier, c.ID)
	return c, err
}

func payments(ctx context.Context, querier sqldb.Querier, chargeID string) ([]payment.Received, error) {
	return sqldb.All(ctx, querier, func(row sqldb.Row) (payment.Received, error) {
		received := payment.Received{Currency: "BRL"}
		var at int64
		err := row.Scan(&received.ID, &received.Amount, &at)
		received.At = time.UnixMicro(at).UTC()
		return received, err
	}, `SELECT id, amount_cents, paid_at FROM sandbox_payments WHERE charge_id = ? ORDER BY paid_at, id`,
		chargeID)
}

// lockCharge keeps others from paying and cancelling at once.
func lockCharge(ctx context.Context, tx *sqldb.Tx, name string) error {
	_, err := sqldb.Value[string](ctx, tx, `SELECT id FROM sandbox_charges WHERE `+named+` {for update}`, name, name)
	return unknown(err)
}

// insertCharge does nothing when the reference has one.
func insertCharge(ctx context.Context, tx *sqldb.Tx, c Charge) error {
	return tx.Do(ctx, `
		INSERT INTO sandbox_charges (id, reference, amount_cents, description, payer_name, pix_code,
			checkout_url, return_url, secret, expires_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (reference) DO NOTHING`,
		c.ID, c.Reference, c.Amount, c.Description, c.PayerName, c.PixCode, c.CheckoutURL,
		c.ReturnURL,
		c.secret, c.ExpiresAt.UnixMicro(), tx.Now().UnixMicro())
}

func insertPayment(ctx context.Context, tx *sqldb.Tx, chargeID string, amount money.Cents) error {
	_, err := tx.Exec(ctx, `INSERT INTO sandbox_payments (id, charge_id, amount_cents, paid_at) VALUES (?, ?, ?, ?)`,
		"SANDBOX"+id.NewCode(25), chargeID, amount, tx.Now().UnixMicro())
	if err != nil {
		return err
	}
	return tx.Do(ctx, `
		UPDATE sandbox_authorisations SET state = ?, active_at = ?
		WHERE charge_id = ? AND charge_id <> '' AND state = ? AND expires_at > ?`,
		string(payment.AuthorisationActive), tx.Now().UnixMicro(), chargeID,
		string(payment.AuthorisationAsked), tx.Now().UnixMicro())
}

func cancelCharge(ctx context.Context, tx *sqldb.Tx, chargeID string) error {
	return tx.Do(ctx, `UPDATE sandbox_charges SET cancelled_at = COALESCE(cancelled_at, ?) WHERE id = ?`,
		tx.Now().UnixMicro(), chargeID)
}

const authorisationText = `SELECT id, reference, pix_code, payer_name, charge_id, state, ended_by, fails, expires_at,
	COALESCE(active_at, 0), COALESCE(ended_at, 0), secret FROM sandbox_authorisations WHERE ` + named

func scanAuthorisation(row sqldb.Row) (a authorisation, err error) {
	var expires, active, ended int64
	err = row.Scan(&a.id, &a.reference, &a.pixCode, &a.payerName, &a.chargeID, (*string)(&a.state),
		(*string)(&a.endedBy), &a.fails, &expires, &active, &ended, &a.secret)
	a.expiresAt, a.activeAt, a.endedAt = time.UnixMicro(expires).UTC(), instant(active), instant(ended)
	return a, err
}

// instant reads 0 as no time at all.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// orNull writes no time at all as NULL.
func orNull(at time.Time) sqldb.Ref {
	if at.IsZero() {
		return sqldb.RefTo(0)
	}
	return sqldb.RefTo(at.UnixMicro())
}

func authorisationNamed(ctx context.Context, querier sqldb.Querier, name string) (authorisation, error) {
	known, err := sqldb.One(ctx, querier, scanAuthorisation, authorisationText, name, name)
	return known, unknown(err)
}

// lockAuthorisation keeps others from changing it or its debits.
func lockAuthorisation(ctx context.Context, tx *sqldb.Tx, name string) (authorisation, error) {
	known, err := sqldb.One(ctx, tx, scanAuthorisation, authorisationText+` {for update}`, name, name)
	return known, unknown(err)
}

// insertAuthorisation does nothing when the reference has one.
func insertAuthorisation(ctx context.Context, tx *sqldb.Tx, a authorisation) error {
	return tx.Do(ctx, `
		INSERT INTO sandbox_authorisations (id, reference, pix_code, payer_name, charge_id, state, ended_by, fails,
			expires_at, secret, created_at)
		VALUES (?, ?, ?, ?, ?, ?, '', 0, ?, ?, ?) ON CONFLICT (reference) DO NOTHING`,
		a.id, a.reference, a.pixCode, a.payerName, a.chargeID, string(a.state), a.expiresAt.UnixMicro(),
		a.secret, tx.Now().UnixMicro())
}

func updateAuthorisation(ctx context.Context, tx *sqldb.Tx, a authorisation) error {
	return tx.Do(ctx, `
		UPDATE sandbox_authorisations SET state = ?, ended_by = ?, fails = ?, active_at = ?, ended_at = ? WHERE id = ?`,
		string(a.state), string(a.endedBy), a.fails, orNull(a.activeAt), orNull(a.endedAt), a.id)
}

func debitNamed(ctx context.Context, querier sqldb.Querier, name string) (debit, error) {
	made, err := charge(ctx, querier, name)
	if err != nil {
		return debit{}, err
	}
	d, err := sqldb.One(ctx, querier, rows.Into(func(d *debit) []any {
		return []any{&d.authorisationID, &d.on, &d.attempts, &d.waiting}
	}), `SELECT authorisation_id, attempt_on, attempts, waiting FROM sandbox_debits WHERE charge_id = ?`, made.ID)
	d.Charge = made
	return d, unknown(err)
}

// insertDebit does nothing when the reference has one.
func insertDebit(ctx context.Context, tx *sqldb.Tx, d debit, authorisationID string) error {
	if err := insertCharge(ctx, tx, d.Charge); err != nil {
		return err
	}
	return tx.Do(ctx, `
		INSERT INTO sandbox_debits (charge_id, authorisation_id, attempt_on, attempts, waiting)
		SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), 0, CAST(? AS BOOLEAN) FROM sandbox_charges WHERE reference = ?
		ON CONFLICT (charge_id) DO NOTHING`,
		authorisationID, d.on.String(), true, d.Reference)
}

func updateDebit(ctx context.Context, tx *sqldb.Tx, d debit) error {
	return tx.Do(ctx, `UPDATE sandbox_debits SET attempt_on = ?, attempts = ?, waiting = ? WHERE charge_id = ?`,
		d.on.String(), d.attempts, d.waiting, d.ID)
}
