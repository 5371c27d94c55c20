package payment

import (
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// grace is how long after its end a charge may still be paid on time: banks are
// slow to report.
const grace = 10 * time.Minute

var (
	errPaidByNothing = errors.New("the gateway says that the charge is paid, and by no payment")
	errOtherCharge   = errors.New("the gateway answered about another charge")
	errNoPaymentID   = errors.New("the gateway told of a payment without an id")
)

// settlement is one report of a gateway on its way into our records.
type settlement struct {
	service *Service
	actor   account.Actor
	setup   Setup
	report  Report
	claim   string    // under which the gateway was asked; empty: under none
	hint    time.Time // because of which it was asked; zero: because of none
	stray   bool      // the report has a reference that is no charge of ours
}

// settle records what a gateway reports of a charge, in one transaction: the
// payments that came, the invoice that one of them pays, and the charge's state.
// A report that comes again changes nothing. A payment that does not fit is kept
// for a person to decide.
func (s *Service) settle(ctx context.Context, work check, report Report) error {
	if report.State == StatePaid && len(report.Payments) == 0 {
		return errPaidByNothing
	}
	if slices.ContainsFunc(report.Payments, func(received Received) bool { return received.ID == "" }) {
		return errNoPaymentID
	}
	st := &settlement{service: s, setup: work.setup, report: report, claim: work.charge.claim, hint: work.charge.hintedAt}
	if report.Reference != "" && report.Reference != work.charge.order.Reference {
		other, err := chargeByReference(ctx, s.db, work.charge.companyID, report.Reference)
		switch {
		case err == nil:
			st.claim, st.hint = "", time.Time{}
			return errors.Join(st.run(ctx, other), errOtherCharge)
		case !errors.Is(err, sqldb.ErrNotFound):
			return err
		}
		st.stray = true
	}
	return st.run(ctx, work.charge)
}

func (s *settlement) run(ctx context.Context, about charge) error {
	ctx, cancel := finishContext(ctx)
	defer cancel()
	company, err := account.FindCompany(ctx, s.service.db, about.companyID)
	if err != nil {
		return err
	}
	s.actor = account.System(company, "settlement")
	slices.SortStableFunc(s.report.Payments, func(x, y Received) int { return x.At.Compare(y.At) })
	err = s.service.db.Write(ctx, func(tx *sqldb.Tx) error { return s.write(ctx, tx, about) })
	crashpoint.Here("after-settlement-commit")
	return err
}

// write decides about the report and applies the decision. The charge is written
// before the payments: a payment pays the invoice, billing then calls its
// watchers, and this package, one of them, cancels every charge of the invoice
// that is still unpaid. TestChargeIsPaidBeforeItsInvoiceIs guards that order.
func (s *settlement) write(ctx context.Context, tx *sqldb.Tx, about charge) error {
	before, err := s.lock(ctx, tx, about)
	if err != nil {
		return err
	}
	if s.actor, err = s.actor.Refreshed(ctx, tx); err != nil { // its terms decide what was to pay
		return err
	}
	decided := s.decide(before, tx.Now())
	if err := s.service.applyCharge(ctx, tx, &decided.charge); err != nil {
		return err
	}
	for i := range decided.payments {
		if err := s.service.applyPayment(ctx, s.actor.In(tx), &decided.payments[i]); err != nil {
			return err
		}
	}
	crashpoint.Here("before-settlement-commit")
	return recordGatewayHealth(ctx, tx, s.setup, nil)
}

// records are the rows that a settlement is decided on.
type records struct {
	invoice *billing.Invoice // nil: deleted
	charge  charge
	known   map[string]Payment // those of the report that were recorded before, by the gateway's id
}

// lock reads customer and invoice, charge and payments, in the order in which
// every transaction locks them.
func (s *settlement) lock(ctx context.Context, tx *sqldb.Tx, about charge) (records records, err error) {
	invoice, err := billing.LockTx(ctx, s.actor.In(tx), about.invoiceID)
	switch {
	case err == nil:
		records.invoice = &invoice
	case fault.KindOf(err) != fault.KindNotFound:
		return records, err
	}
	if records.charge, err = lockCharge(ctx, tx, about.companyID, about.id); err != nil {
		return records, err
	}
	ids := make([]string, len(s.report.Payments))
	for i, received := range s.report.Payments {
		ids[i] = received.ID
	}
	records.known, err = lockPayments(ctx, tx, about, ids)
	return records, err
}

// decision is what a settlement changes.
type decision struct {
	charge   chargeChange
	payments []paymentChange
}

// decide says what a report changes. It reads nothing but its arguments.
func (s *settlement) decide(before records, now time.Time) decision {
	d := decision{charge: changeOf(before.charge)}
	after := &d.charge.after
	after.merge(s.report.Charge)
	seen := map[string]bool{}
	for _, received := range s.report.Payments {
		if seen[received.ID] {
			continue
		}
		seen[received.ID] = true
		known, recorded := before.known[received.ID]
		switch {
		case !recorded:
			d.payments = append(d.payments, s.received(received, before.invoice, *after, now))
			if !s.stray {
				after.enter(paid, now)
			}
		case min(received.Refunded, known.Amount) > known.Refund:
			d.payments = append(d.payments, refund(known, received))
		}
	}
	s.follow(after, now)
	if s.report.debit != nil && before.charge.state.wanted() {
		after.followDebit(*s.report.debit, s.actor.Today(now), now)
	}
	if after.claim == s.claim || !after.busy(now) {
		after.hintedAt = unanswered(after.hintedAt, s.hint)
		after.release(s.setup.Provider, now)
	}
	after.problem = ""
	return d
}

// received is the change that records a new payment of a charge. It pays the
// invoice, or opens a review.
func (s *settlement) received(received Received, invoice *billing.Invoice, charge charge, now time.Time) paymentChange {
	change := paymentChange{
		action: paymentReceived,
		after:  paymentOf(charge, received),
		reason: s.judge(received, invoice, charge),
	}
	change.after.PaidAt = paidAt(received.At, charge, now)
	change.refundedAt = received.wentBack(change.after.PaidAt)
	if change.reason == "" {
		change.receipt = &billing.Receipt{
			Payment: change.after.ledger(),
			AsOf:    charge.payableOn,
			Renew:   s.actor.Company.Settings.RenewOnPayment,
		}
	}
	return change
}

// paidAt is when the payer paid: the gateway's instant counts, not ours, unless
// it cannot be true.
func paidAt(reported time.Time, charge charge, now time.Time) time.Time {
	if reported.After(now) || reported.Before(charge.createdAt.Add(-24*time.Hour)) {
		return now
	}
	return reported.Truncate(time.Microsecond)
}

// refund is the change that records that money of a payment went back. Billing
// takes it back from the invoice; for money that never counted, it writes a
// review.
func refund(known Payment, received Received) paymentChange {
	change := paymentChange{action: paymentRefunded, before: known, after: known}
	change.after.Refund = min(received.Refunded, known.Amount)
	change.refundedAt = received.wentBack(known.PaidAt)
	if !known.Applied() {
		change.reason = ReasonRefunded
	}
	return change
}

// wentBack is when the newest part of a payment went back, as the gateway says; zero: it
// does not say, or says what cannot be true.
func (r Received) wentBack(paidAt time.Time) time.Time {
	if !r.RefundedAt.After(paidAt) {
		return time.Time{}
	}
	return r.RefundedAt.Truncate(time.Microsecond)
}

// judge says why a payment does not pay the invoice by itself; "" when it does.
func (s *settlement) judge(received Received, invoice *billing.Invoice, charge charge) Reason {
	switch {
	case s.stray:
		return ReasonWrongReference
	case received.Refunded > 0:
		return ReasonRefunded
	case received.Currency != "BRL":
		return ReasonWrongCurrency
	case invoice == nil:
		return ReasonDeletedInvoice
	case charge.state == paid || invoice.Status == billing.Paid:
		return ReasonDouble
	case invoice.Status == billing.Cancelled:
		return ReasonCancelledInvoice
	case charge.dueTerms == "" && received.Amount != charge.order.Amount,
		received.Amount != s.payable(received, *invoice, charge):
		return ReasonWrongAmount
	case charge.state == cancelled || charge.state == refused || received.At.After(charge.ExpiresAt.Add(grace)):
		return ReasonLate
	}
	return ""
}

// payable is what was to pay when the charge was made. Who pays a code in time pays
// the invoice, also when the bank reports it on the day after.
func (s *settlement) payable(received Received, invoice billing.Invoice, charge charge) money.Cents {
	asOf := charge.payableOn
	if asOf.IsZero() {
		asOf = s.actor.Today(received.At)
	}
	return invoice.PayableOn(s.actor.Company, asOf).Rest
}

// follow moves a charge to the state that the gateway reports.
func (s *settlement) follow(charge *charge, now time.Time) {
	switch {
	case s.stray || charge.state == paid:
	case s.report.State == StateCancelled && !charge.state.closed():
		charge.end(now)
	case s.report.State == StatePending && charge.state.closed(): // it can be paid after all
		charge.enter(cancelling, now)
	case s.report.State == StatePending && charge.state != cancelling && !charge.ExpiresAt.After(now): // it does not expire by itself
		charge.enter(cancelling, now)
	case s.report.State == StatePending && charge.state == reserved && charge.validate(charge.Charge) == nil:
		charge.enter(pending, now) // without its code it stays reserved: the next caller of Charge gets it again
	}
}

// Confirmation says that the money for an invoice came by a code that no gateway
// watches. An edge reads it from a form; Go callers fill it in.
type Confirmation struct {
	InvoiceID  int64
	Amount     money.Cents        // what came
	Difference billing.Difference // needed when it is less than is to pay, now or on the day of the newest code
	PaymentID  string             // the bank's end-to-end id; may be empty
	PaidOn     civil.Date         // the day that counts; zero: today
	Note       string

	Problems input.Problems // what the form had wrong
}

// ReadConfirmation reads the confirmation of an invoice's payment from the
// fields amount, difference, payment_id, paid_at or paid_on (a date) and note.
func ReadConfirmation(in *input.Form, invoiceID int64) Confirmation {
	in.Require("amount")
	in.Alias("paid_on", "paid_at")
	confirmation := Confirmation{
		InvoiceID:  invoiceID,
		Amount:     in.Money("amount").Value,
		Difference: input.OneOf(in, "difference", billing.Differences...).Value,
		PaymentID:  in.Line("payment_id", 100).Value,
		PaidOn:     in.Date("paid_at").Value,
		Note:       in.Text("note", billing.MaxNote).Value,
	}
	confirmation.Problems = in.Problems()
	return confirmation
}

// ConfirmByHand records a payment that a person saw in the bank account.
func (s *Service) ConfirmByHand(
	ctx context.Context, actor account.Actor, confirmed Confirmation,
) (billing.Outcome, error) {
	refused := billing.RefusedDay("paid_at", confirmed.PaidOn, actor.Today(s.db.Now()))
	if err := confirmed.Problems.With(refused).With(confirmed.Difference.Refused(confirmed.Note)).Err(); err != nil {
		return billing.Outcome{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (billing.Outcome, error) {
		return s.confirmTx(ctx, tx, confirmed)
	})
}

func (s *Service) confirmTx(ctx context.Context, tx account.Tx, confirmed Confirmation) (out billing.Outcome, err error) {
	invoice, err := billing.LockTx(ctx, tx, confirmed.InvoiceID)
	switch {
	case err != nil:
		return out, err
	case invoice.Status != billing.Open:
		return out, errNotOpen(invoice)
	}
	if tx, err = tx.Refreshed(ctx); err != nil { // its terms decide what is to pay
		return out, err
	}
	// The zero charge where the invoice never had one.
	newest, err := orNone(sqldb.One(ctx, tx, scanCharge, `
		SELECT `+chargeColumns+` FROM charges WHERE company_id = ? AND invoice_id = ?
		ORDER BY id DESC LIMIT 1 {for update}`, tx.Company.ID, invoice.ID))
	if err != nil {
		return out, err
	}
	payment, err := s.confirmedPayment(ctx, tx.Tx, newest, confirmed)
	if err != nil {
		return out, err
	}
	payment.ConfirmedBy = tx.Actor.By()
	// The charge first, as settlement.write says.
	change := changeOf(newest)
	change.after.enter(paid, tx.Now())
	change.after.claim, change.after.nextCheck = "", time.Time{}
	if err := s.applyCharge(ctx, tx.Tx, &change); err != nil {
		return out, err
	}
	received := paymentChange{action: paymentConfirmed, after: payment}
	ledger := payment.ledger()
	ledger.Note = confirmed.Note
	if !confirmed.PaidOn.IsZero() {
		ledger.PaidAt, ledger.PaidOn = time.Time{}, confirmed.PaidOn
	}
	received.receipt = &billing.Receipt{
		Payment:    ledger,
		AsOf:       confirmed.asOf(tx.Actor, invoice, newest),
		Difference: confirmed.Difference,
		Renew:      tx.Company.Settings.RenewOnPayment,
	}
	err = s.applyPayment(ctx, tx, &received)
	return received.outcome, err
}

// asOf is the day of the payable amount that came: that of the code if its amount
// came, which a payer may have paid the day before; zero: the day of the payment.
func (c Confirmation) asOf(actor account.Actor, invoice billing.Invoice, newest charge) civil.Date {
	on := newest.payableOn
	if on.IsZero() || c.Amount != newest.order.Amount || c.Amount != invoice.PayableOn(actor.Company, on).Rest {
		return civil.Date{}
	}
	return on
}

// confirmedPayment is the payment of the newest charge that a person confirms.
func (s *Service) confirmedPayment(
	ctx context.Context, tx *sqldb.Tx, newest charge, confirmed Confirmation,
) (Payment, error) {
	if newest.id == 0 || !s.providers[newest.provider].Manual {
		return Payment{}, fault.Field("invoice", "has no code that a person confirms; change its status instead")
	}
	paymentID := confirmed.PaymentID
	if paymentID == "" { // the code may be paid in several parts
		paymentID = "manual:" + newest.order.Reference + ":" + id.NewCode(8)
	}
	known, err := lockPayments(ctx, tx, newest, []string{paymentID})
	if err != nil {
		return Payment{}, err
	}
	if len(known) > 0 {
		return Payment{}, fault.Field("payment_id", "was confirmed before, for another invoice or for this one")
	}
	return paymentOf(newest, Received{
		ID:       paymentID,
		Amount:   confirmed.Amount,
		Currency: billing.Real,
		At:       tx.Now(),
	}), nil
}
