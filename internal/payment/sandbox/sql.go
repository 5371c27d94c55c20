package sandbox

import (
	"context"
	"errors"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// named finds a charge by its id or by our reference. They cannot be confused:
// one has 26 characters, the other 32.
const named = `(id = ? OR reference = ?)`

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
	if errors.Is(err, sqldb.ErrNotFound) {
		return c, payment.ErrNoCharge
	}
	if err != nil {
		return c, err
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
	_, err := sqldb.Value[string](
		ctx,
		tx,
		`SELECT id FROM sandbox_charges WHERE `+named+` {for update}`,
		name,
		name,
	)
	if errors.Is(err, sqldb.ErrNotFound) {
		return payment.ErrNoCharge
	}
	return err
}

// insertCharge does nothing when the reference has one.
func insertCharge(ctx context.Context, tx *sqldb.Tx, c Charge) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO sandbox_charges (id, reference, amount_cents, description, payer_name, pix_code,
			checkout_url, return_url, secret, expires_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (reference) DO NOTHING`,
		c.ID, c.Reference, c.Amount, c.Description, c.PayerName, c.PixCode, c.CheckoutURL,
		c.ReturnURL,
		c.secret, c.ExpiresAt.UnixMicro(), tx.Now().UnixMicro())
	return err
}

func insertPayment(ctx context.Context, tx *sqldb.Tx, chargeID string, amount money.Cents) error {
	_, err := tx.Exec(ctx,
		`INSERT INTO sandbox_payments (id, charge_id, amount_cents, paid_at) VALUES (?, ?, ?, ?)`,
		"SANDBOX"+id.NewCode(25), chargeID, amount, tx.Now().UnixMicro())
	if err != nil {
		return err
	}
	return activateByCharge(ctx, tx, chargeID)
}

func cancelCharge(ctx context.Context, tx *sqldb.Tx, chargeID string) error {
	_, err := tx.Exec(
		ctx,
		`UPDATE sandbox_charges SET cancelled_at = COALESCE(cancelled_at, ?) WHERE id = ?`,
		tx.Now().UnixMicro(),
		chargeID,
	)
	return err
}
