package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Refund is money of a payment that went back.
type Refund struct {
	PaymentID int64       // the number of the payment
	Amount    money.Cents // 0: all that is left of it
	RefundID  string      // by which a repetition is known
	At        time.Time   // zero: now
	By        string      // who reported it; empty: the gateway
	Note      string
	Effect    Effect // "": EffectReopen when nothing is left of the payment, EffectDiscount otherwise

	byHand bool // what cannot be given back is refused, not passed over
}

// Effect is what a refund does to a paid invoice that it uncovers.
type Effect string

// The effects.
const (
	EffectReopen   Effect = "reopen"   // it is open again, and a renewal is taken back if it is still in effect
	EffectDiscount Effect = "discount" // it stays paid, for less; the renewal stays
)

// of is the effect of a refund after which so much of the payment is left.
func (e Effect) of(left money.Cents) Effect {
	switch {
	case e != "":
		return e
	case left == 0:
		return EffectReopen
	}
	return EffectDiscount
}

// refundRow is a refund as the ledger has it.
type refundRow struct {
	payment int64
	id      string
	amount  money.Cents
	at      time.Time
	on      civil.Date
	by      string
	note    string
}

// RefundRecord is a refund as people read it.
type RefundRecord struct {
	ID     int64
	Amount money.Cents
	On     civil.Date
	By     string // who reported it; empty: the gateway
	Note   string
}

// Minus is what the refund adds to a sum.
func (r RefundRecord) Minus() money.Cents { return -r.Amount }

// RefundsOf returns the refunds of payments, oldest first, by the number of the
// payment.
func (s *Service) RefundsOf(
	ctx context.Context, actor account.Actor, payments ...PaymentRecord,
) (map[int64][]RefundRecord, error) {
	var ids []int64
	for _, payment := range payments {
		if payment.Refunded > 0 {
			ids = append(ids, payment.ID)
		}
	}
	if len(ids) == 0 {
		return map[int64][]RefundRecord{}, nil
	}
	return refundsOf(ctx, s.db, actor.Company.ID, ids)
}

// RefundTx records that money went back, inside the transaction of another use
// case. It is a minus on the day of the refund. What it does to an invoice that is
// no longer covered is its effect. A refund that is known changes nothing. Of a
// payment that never counted it only records that the money is gone.
func (s *Service) RefundTx(ctx context.Context, tx account.Tx, refund Refund) (Outcome, error) {
	invoiceID, err := invoiceOfPayment(ctx, tx, tx.Company.ID, refund.PaymentID)
	if err != nil {
		return Outcome{}, err
	}
	before, owner, err := lock(ctx, tx, invoiceID)
	deleted := fault.KindOf(err) == fault.KindNotFound
	if err != nil && !deleted {
		return Outcome{}, err
	}
	if tx, err = tx.Refreshed(ctx); err != nil {
		return Outcome{Invoice: before}, err
	}
	back, err := refund.change(ctx, tx)
	if err != nil || back == nil {
		return Outcome{Invoice: before}, err
	}
	if back.before.Status == PaymentCredit {
		return Outcome{Invoice: before}, s.refundCredit(ctx, tx, back)
	}
	if deleted || !back.before.came() {
		return Outcome{Invoice: before}, s.applyPayment(ctx, tx, back)
	}
	decision, err := refunded(ctx, tx, decisionOn(before, owner), *back, refund.Effect)
	if err != nil {
		return Outcome{Invoice: before}, err
	}
	return s.applyDecision(ctx, tx, &decision)
}

// change is the change of the payment; nil when the refund is known.
func (r Refund) change(ctx context.Context, tx account.Tx) (*paymentChange, error) {
	payment, err := lockPayment(ctx, tx, r.PaymentID)
	if err != nil {
		return nil, err
	}
	if r.byHand || payment.Provider == Credit {
		if err := payment.refusedByHand(); err != nil {
			return nil, err
		}
	}
	row := refundRow{
		payment: payment.ID,
		id:      r.RefundID,
		amount:  r.Amount,
		at:      r.At,
		by:      r.By,
		note:    r.Note,
	}
	known, err := rows.Some(ctx, tx,
		`SELECT count(*) FROM payment_refunds WHERE company_id = ? AND payment_id = ? AND refund_id = ?`,
		tx.Company.ID, row.payment, row.id)
	if err != nil || known || payment.left() == 0 {
		return nil, err
	}
	if row.amount == 0 {
		row.amount = payment.left()
	}
	if row.amount < 0 || row.amount > payment.left() {
		return nil, fault.Field("amount",
			fmt.Sprintf("must be more than zero and not more than the %s that are left of the payment", payment.left()))
	}
	row.date(tx.Actor, tx.Now())
	change := &paymentChange{before: payment, after: payment}
	change.refund = &row
	change.after.Refunded += row.amount
	if payment.came() && change.after.left() == 0 {
		change.after.Status = PaymentRefunded
	}
	return change, nil
}

// date sets when the money went back and the day on which it counts: never later than now. What a gateway reports for
// a closed day counts on the first open one.
func (r *refundRow) date(actor account.Actor, now time.Time) {
	if r.at.IsZero() || r.at.After(now) {
		r.at = now
	}
	r.at = r.at.In(actor.Company.Zone)
	r.on = actor.Today(r.at)
	if open := firstOpen(actor); r.by == "" && r.on.Before(open) {
		r.at, r.on = paidTime(actor, now, open).In(actor.Company.Zone), open
	}
}

// refunded decides what a refund does to the invoice.
func refunded(ctx context.Context, tx account.Tx, d decision, back paymentChange, effect Effect) (decision, error) {
	d.payments = []paymentChange{back}
	d.After.Received -= back.refund.amount
	if d.Before.Status != Paid || d.After.Received >= d.Before.cost() {
		return d, nil
	}
	if back.refund.by == "" && d.Before.PaidOn.Before(firstOpen(tx.Actor)) {
		effect = EffectDiscount
	}
	if effect.of(back.after.left()) == EffectDiscount {
		d.After.Forgiven += d.Before.cost() - d.After.Received
		return d, nil
	}
	payments, err := lockPaymentsOf(ctx, tx, d.Before.ID)
	d.reopen(payments)
	return d, err
}

// cost is what a paid invoice cost when it was paid, less what was forgiven.
func (i Invoice) cost() money.Cents {
	return i.Amount + i.LateFee + i.LateInterest - i.Discount - i.Forgiven
}

// UndoPayment takes one payment back that a person reported: it never happened.
func (s *Service) UndoPayment(ctx context.Context, actor account.Actor, paymentID int64) (Outcome, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (out Outcome, err error) {
		record, err := paymentRecord(ctx, tx, actor.Company.ID, paymentID)
		if err != nil {
			return out, err
		}
		if record.Status == PaymentCredit {
			return out, s.undoCredit(ctx, tx, record.Payment)
		}
		return s.undoTx(ctx, tx, record.InvoiceID, func() ([]Payment, error) {
			payment, err := lockPayment(ctx, tx, paymentID)
			return []Payment{payment}, err
		})
	})
}

// UndoPaymentsIn takes back the payments that a piece of work registered for an
// invoice, and no earlier ones.
func (s *Service) UndoPaymentsIn(ctx context.Context, actor account.Actor, invoiceID int64, batch string) (Outcome, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (out Outcome, err error) {
		return s.undoTx(ctx, tx, invoiceID, func() ([]Payment, error) {
			return lockPaymentsIn(ctx, tx, invoiceID, batch)
		})
	})
}

// undoTx takes payments of an invoice back, which it reads once the invoice is
// locked.
func (s *Service) undoTx(
	ctx context.Context, tx account.Tx, invoiceID int64, read func() ([]Payment, error),
) (Outcome, error) {
	before, owner, err := lock(ctx, tx, invoiceID)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Invoice: before}
	taken, err := read()
	if err != nil {
		return out, err
	}
	if len(taken) == 0 {
		return out, fault.Conflict("no payment of it is left to be undone")
	}
	decision := decisionOn(before, owner)
	completed := false
	for _, payment := range taken {
		if err := payment.notUndone(); err != nil {
			return out, err
		}
		decision.dismiss(payment)
		completed = completed || payment.Status == PaymentApplied
	}
	if before.Status == Paid && (completed || decision.After.Received < before.cost()) {
		payments, err := lockPaymentsOf(ctx, tx, before.ID)
		if err != nil {
			return out, err
		}
		decision.reopen(payments)
	}
	return s.applyDecision(ctx, tx, &decision)
}

// notUndone says why a payment cannot be taken back.
func (p Payment) notUndone() error {
	switch {
	case !p.Status.counts() && p.Status != PaymentCredit:
		return fault.Field("payment", "does not count: it was undone or dismissed")
	case !p.byPerson():
		return fault.Field("payment", "came through a gateway; give it back instead")
	case p.Refunded > 0:
		return fault.Field("payment", "a part of it was given back; give back the rest instead")
	}
	return nil
}

// ListedRefund is a refund as a row of the list of payments.
type ListedRefund struct {
	RefundRecord
	Payment      int64  // the number of the payment
	PaymentID    string // what the bank or the gateway calls it
	Via          string
	CustomerName string
	InvoiceID    int64
	Orphan       bool // the invoice was deleted
}

// Refunds lists what went back of the payments of a filter, and how many refunds
// there are. The days of the filter and of the order are those of the refunds.
func (s *Service) Refunds(
	ctx context.Context, actor account.Actor, filter PaymentFilter, page input.Page,
) ([]ListedRefund, int64, error) {
	query, err := filter.refunds(ctx, s.db, actor.Company.ID, page.Sort)
	if err != nil {
		return nil, 0, err
	}
	return refundTable.Page(ctx, s.db, query, page)
}

// WalkRefunds calls visit for every refund that Refunds lists, newest first.
func (s *Service) WalkRefunds(ctx context.Context, actor account.Actor, filter PaymentFilter, visit func(ListedRefund) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	query, err := filter.refunds(ctx, s.db, actor.Company.ID, "")
	if err != nil {
		return err
	}
	return refundTable.Each(ctx, s.db, query, visit)
}

// refunds is what the table of refunds is asked for.
func (f PaymentFilter) refunds(ctx context.Context, db *sqldb.DB, companyID int64, sort input.Sort) (listing.Query, error) {
	query := listing.Query{CompanyID: companyID, Where: f.wherePayment(), Sort: sort}
	span(&query.Where, "r.refunded_on", f.From, f.To)
	if !customer.Searches(f.Search) {
		return query, nil
	}
	found, err := customer.Found(ctx, db, companyID, f.Search)
	query.Where.And("p.customer_id {in ?}", found)
	return query, err
}

// refundsFrom are the refunds that count: of money that waits for a decision, or that
// a person dismissed, none does.
const refundsFrom = `payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
	AND p.status NOT IN ('review', 'dismissed')`

var refundTable = listing.Table[ListedRefund]{
	From: refundsFrom, ID: "r.id", Owner: "r.company_id",
	Columns: `r.id, r.amount_cents, r.refunded_on, r.reported_by, r.note, p.id, p.payment_id, p.paid_via, p.customer_name, p.invoice_id,
		CASE WHEN i.id IS NULL THEN 1 ELSE 0 END`,
	Joins:  ` LEFT JOIN invoices i ON i.company_id = p.company_id AND i.id = p.invoice_id`,
	Scan:   scanListedRefund,
	RowID:  func(refund ListedRefund) int64 { return refund.ID },
	Orders: map[string]listing.Order{input.ByPaidDay: {Column: "r.refunded_on"}},
}

func scanListedRefund(row sqldb.Row) (refund ListedRefund, err error) {
	var orphan int64
	err = row.Scan(&refund.ID, (*int64)(&refund.Amount), &refund.On, &refund.By, &refund.Note, &refund.Payment, &refund.PaymentID,
		&refund.Via, &refund.CustomerName, &refund.InvoiceID, &orphan)
	refund.Orphan = orphan != 0
	return refund, err
}

// sumRefunds adds up a few refunds.
func sumRefunds(ctx context.Context, querier sqldb.Querier, companyID int64, where sqldb.Where) (money.Cents, error) {
	where.And("r.company_id = ?", companyID)
	cents, err := sqldb.Value[int64](ctx, querier, `
		SELECT CAST(COALESCE(SUM(r.amount_cents), 0) AS BIGINT) FROM `+refundsFrom+where.String(), where.Args...)
	return money.Cents(cents), err
}
