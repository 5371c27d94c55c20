package payment

import (
	"context"
	"maps"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment/statement"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// Reading is what a bank statement holds, and what of it seems to pay invoices.
type Reading struct {
	Proposals []Proposal        // of the credits, by their days
	Open      []billing.Invoice // that a line may be assigned to, oldest due date first
	Unread    int               // lines that could not be read
	Debits    int               // lines that took money
	Future    int               // credits of days to come, which are passed over
}

// Booking assigns a line of a statement to an invoice.
type Booking struct {
	Number    int // of the proposal
	InvoiceID int64
}

// Booked is what became of a booking.
type Booked struct {
	Booking

	Line    statement.Line
	Outcome billing.Outcome // zero when Err is set
	Err     error           // a fault that a person can do something about
}

// MaxStatement is how large a file may be.
const MaxStatement = statement.MaxSize

// maxOpen bounds the invoices that a statement is held against.
const maxOpen = 50_000

// ReadStatement reads a bank statement and proposes what its credits pay. It writes
// nothing.
func (s *Service) ReadStatement(ctx context.Context, actor account.Actor, content []byte) (Reading, error) {
	if err := actor.NotAttendant(); err != nil {
		return Reading{}, err
	}
	read, err := statement.Read(content)
	if err != nil {
		return Reading{}, fault.Field("file", err.Error())
	}
	out := Reading{Unread: read.Unread}
	credits := out.credits(read, actor.Today(s.db.Now()))
	if len(credits) == 0 {
		return out, nil
	}
	known, err := s.knownLines(ctx, s.db, actor, credits)
	if err != nil {
		return out, err
	}
	match, err := s.matching(ctx, actor, credits)
	if err != nil {
		return out, err
	}
	out.Open = match.open
	for number, line := range credits {
		p := Proposal{Line: line, Match: MatchBooked}
		if !known[number] {
			p = match.propose(line)
		}
		p.Number = number
		out.Proposals = append(out.Proposals, p)
	}
	return out, nil
}

// credits are the lines that brought money by today, by their days.
func (r *Reading) credits(read statement.Statement, today civil.Date) (list []statement.Line) {
	for _, line := range read.Lines {
		switch {
		case line.Amount < 0:
			r.Debits++
		case line.On.After(today):
			r.Future++
		default:
			list = append(list, line)
		}
	}
	slices.SortStableFunc(list, func(x, y statement.Line) int { return x.On.Compare(y.On) })
	return list
}

// matching reads what the lines are held against.
func (s *Service) matching(ctx context.Context, actor account.Actor, credits []statement.Line) (*matching, error) {
	m := &matching{
		company: actor.Company, byName: map[string][]int64{}, taken: map[int64]bool{}, explained: map[int]bool{},
	}
	err := s.billing.Walk(ctx, actor, billing.Filter{Status: billing.Open}, func(invoice billing.Invoice) error {
		if len(m.open) == maxOpen {
			return fault.Field("file", "there are too many open invoices to look through; confirm payments one by one")
		}
		m.open = append(m.open, invoice)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(m.open, byDue)
	var numbers, tokens []string
	for _, line := range credits {
		numbers, tokens = append(numbers, line.TaxIDs()...), append(tokens, line.Tokens()...)
	}
	if m.byTaxID, err = s.customers.WithTaxIDs(ctx, actor, numbers); err != nil {
		return nil, err
	}
	if m.charges, err = chargesByTxID(ctx, s.db, actor.Company.ID, tokens); err != nil {
		return nil, err
	}
	first, last := credits[0].On.AddDays(-nearDays), credits[len(credits)-1].On.AddDays(nearDays)
	// Payments that count and that no line of a statement was booked as.
	m.payments, err = sqldb.All(ctx, s.db, rows.Into(func(paid *statementPayment) []any {
		return []any{&paid.id, &paid.customerID, &paid.customerName, (*int64)(&paid.amount), &paid.paidOn}
	}), `SELECT p.id, p.customer_id, p.customer_name, p.amount_cents, p.paid_on FROM payments p
		WHERE p.company_id = ? AND p.paid_on >= ? AND p.paid_on <= ? AND p.status <> 'dismissed' AND NOT EXISTS (
			SELECT 1 FROM statement_lines l WHERE l.company_id = p.company_id AND l.payment_id = p.id)
		ORDER BY p.paid_on, p.id`, actor.Company.ID, first, last)
	m.nameCustomers()
	return m, err
}

// nameCustomers indexes by name the customers who owe or have paid in these days.
func (m *matching) nameCustomers() {
	named := map[int64]bool{}
	add := func(name string, id int64) {
		if name = statement.Name(name); name != "" && !named[id] {
			named[id] = true
			m.byName[name] = append(m.byName[name], id)
		}
	}
	for _, invoice := range m.open {
		add(invoice.Customer.Name, invoice.Customer.ID)
	}
	for _, paid := range m.payments {
		add(paid.customerName, paid.customerID)
	}
}

// knownLines are those of the credits that the books have: they were booked,
// or a payment has their end-to-end id.
func (s *Service) knownLines(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, credits []statement.Line,
) (map[int]bool, error) {
	// Lines that were booked for these days and were not undone.
	booked, err := sqldb.All(ctx, querier, rows.Into(func(line *bookedLine) []any {
		return []any{&line.on, (*int64)(&line.amount), &line.account, &line.bankID, &line.paymentID, &line.note}
	}), `SELECT l.line_on, l.amount_cents, l.account, l.bank_id, p.payment_id, p.note
		FROM statement_lines l JOIN payments p ON p.company_id = l.company_id AND p.id = l.payment_id
		WHERE l.company_id = ? AND l.line_on >= ? AND l.line_on <= ? AND p.status <> 'dismissed'
		ORDER BY l.line_on, l.amount_cents, l.occurrence`, actor.Company.ID, credits[0].On, credits[len(credits)-1].On)
	if err != nil {
		return nil, err
	}
	known := pairBooked(credits, booked)
	var ids []string
	for _, line := range credits {
		if id := line.EndToEnd(); id != "" {
			ids = append(ids, id)
		}
	}
	recorded, err := recordedIDs(ctx, querier, actor.Company.ID, s.ledgerNames(), ids)
	for number, line := range credits {
		known[number] = known[number] || recorded[line.EndToEnd()]
	}
	return known, err
}

// ledgerNames are the providers that payments may have in the ledger.
func (s *Service) ledgerNames() []string {
	return append(slices.Sorted(maps.Keys(s.providers)), billing.Hand)
}

// BookStatement books lines of a statement as payments of the invoices that a person
// chose, each in a transaction of its own and on the bank's day. Less than is to pay
// is a part. A line that is refused is in the result with the reason, and the others
// are booked.
func (s *Service) BookStatement(
	ctx context.Context, actor account.Actor, content []byte, bookings []Booking,
) ([]Booked, error) {
	if err := actor.NotAttendant(); err != nil {
		return nil, err
	}
	read, err := statement.Read(content)
	if err != nil {
		return nil, fault.Field("file", err.Error())
	}
	credits := new(Reading).credits(read, actor.Today(s.db.Now()))
	done := make([]Booked, len(bookings))
	for n, booking := range bookings {
		done[n].Booking = booking
		if booking.Number < 0 || booking.Number >= len(credits) {
			return nil, fault.Field("line", "is not in the statement")
		}
		done[n].Line = credits[booking.Number]
		err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
			done[n].Outcome, err = s.bookLineTx(ctx, tx, credits, booking)
			return err
		})
		if err != nil && fault.KindOf(err) == fault.KindInternal {
			return done[:n], err
		}
		done[n].Err = err
	}
	return done, nil
}

// bookLineTx books one line. The invoice is locked first, as everywhere.
func (s *Service) bookLineTx(
	ctx context.Context, tx account.Tx, credits []statement.Line, booking Booking,
) (out billing.Outcome, err error) {
	line := credits[booking.Number]
	invoice, err := billing.LockTx(ctx, tx, booking.InvoiceID)
	switch {
	case err != nil:
		return out, err
	case invoice.Status != billing.Open:
		return out, errNotOpen(invoice)
	}
	// Before the look at what was booked: who books the same line meanwhile takes the
	// number, and this transaction fails.
	occurrence, err := sqldb.Value[int64](ctx, tx, `
		SELECT 1 + COUNT(*) FROM statement_lines WHERE company_id = ? AND line_on = ? AND amount_cents = ?`,
		tx.Company.ID, line.On, int64(line.Amount))
	if err != nil {
		return out, err
	}
	alike, at := likeLine(credits, booking.Number)
	known, err := s.knownLines(ctx, tx, tx.Actor, alike)
	if err != nil {
		return out, err
	}
	if known[at] {
		return out, errLineBooked
	}
	payment := statementPaymentOf(line, invoice)
	payment.ConfirmedBy = tx.Actor.By()
	received := paymentChange{action: paymentConfirmed, after: payment}
	received.receipt = &billing.Receipt{
		Payment:    payment.ledger(),
		Difference: billing.DifferencePartial,
		Renew:      tx.Company.Settings.RenewOnPayment,
	}
	received.receipt.PaidOn, received.receipt.Note = line.On, line.Description
	received.stated = &statedLine{line, occurrence}
	err = s.applyPayment(ctx, tx, &received)
	return received.outcome, err
}

// statedLine is a line of a statement, and which it is of those with its day and
// amount.
type statedLine struct {
	statement.Line

	occurrence int64
}

// writeStated writes the line of a statement that a payment is booked from.
func writeStated(ctx context.Context, tx account.Tx, change *paymentChange) error {
	if change.stated == nil {
		return nil
	}
	first, err := insertBookedLine(ctx, tx, *change.stated, change.after)
	if err == nil && !first {
		return errLineBooked
	}
	return err
}

// likeLine are the lines with the day and amount of one, and its place among them:
// all that can be taken for it.
func likeLine(credits []statement.Line, number int) (alike []statement.Line, at int) {
	for n, line := range credits {
		if n == number {
			at = len(alike)
		}
		if line.On == credits[number].On && line.Amount == credits[number].Amount {
			alike = append(alike, line)
		}
	}
	return alike, at
}

var errLineBooked = fault.Conflict("this line of the statement was booked already")

// statementPaymentOf is the payment that a line is booked as.
func statementPaymentOf(line statement.Line, invoice billing.Invoice) Payment {
	paymentID := line.EndToEnd()
	if paymentID == "" {
		paymentID = "hand:" + id.NewCode(16)
	}
	return Payment{
		ID:           paymentID,
		Provider:     billing.Hand,
		Via:          line.Means(),
		InvoiceID:    invoice.ID,
		CustomerID:   invoice.Customer.ID,
		CustomerName: invoice.Customer.Name,
		Amount:       line.Amount,
		Currency:     billing.Real,
	}
}

// insertBookedLine writes that a line was booked as a payment; false: another
// transaction has just booked one of the same occurrence.
func insertBookedLine(ctx context.Context, tx account.Tx, line statedLine, payment Payment) (first bool, err error) {
	return rows.Changed(ctx, tx, `
		INSERT INTO statement_lines (company_id, line_on, amount_cents, occurrence, account, bank_id, payment_id, created_at)
		SELECT p.company_id, CAST(? AS TEXT), p.amount_cents, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), p.id,
			CAST(? AS BIGINT)
		FROM payments p WHERE p.company_id = ? AND p.provider = ? AND p.payment_id = ?
		ON CONFLICT DO NOTHING`,
		line.On, line.occurrence, line.Account, line.ID, tx.Now().UnixMicro(), tx.Company.ID, billing.Hand, payment.ID)
}

// recordedIDs are those of some end-to-end ids that a payment has which was not
// dismissed.
func recordedIDs(
	ctx context.Context, querier sqldb.Querier, companyID int64, providers, ids []string,
) (map[string]bool, error) {
	recorded := map[string]bool{}
	if len(ids) == 0 {
		return recorded, nil
	}
	list, err := sqldb.Values[string](ctx, querier, `
		SELECT payment_id FROM payments
		WHERE company_id = ? AND provider {in ?} AND payment_id {in ?} AND status <> 'dismissed'`, companyID, providers, ids)
	for _, id := range list {
		recorded[id] = true
	}
	return recorded, err
}

// chargesByTxID finds the charges of some txids. A static code has the beginning of
// the reference, and banks change the case of letters.
func chargesByTxID(
	ctx context.Context, querier sqldb.Querier, companyID int64, txids []string,
) (map[string]statementCharge, error) {
	charges := map[string]statementCharge{}
	if len(txids) == 0 {
		return charges, nil
	}
	list, err := sqldb.All(ctx, querier, rows.Into(func(charge *statementCharge) []any {
		return []any{&charge.txid, &charge.reference, &charge.invoiceID, (*int64)(&charge.amount)}
	}), `SELECT gateway_ref, reference, invoice_id, amount_cents FROM charges
		WHERE company_id = ? AND (lower(gateway_ref) {in ?} OR lower(reference) {in ?}) ORDER BY id`, companyID, txids, txids)
	for _, charge := range list {
		charges[strings.ToLower(charge.txid)] = charge
		charges[strings.ToLower(charge.reference)] = charge
	}
	return charges, err
}
