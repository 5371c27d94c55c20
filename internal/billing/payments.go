package billing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// PaymentStatuses lists the statuses of a payment.
var PaymentStatuses = []PaymentStatus{
	PaymentApplied, PaymentPartial, PaymentReview, PaymentRefunded, PaymentDismissed, PaymentCredit,
}

// PaymentRecord is a payment with what is shown of its invoice and its customer.
type PaymentRecord struct {
	Payment
	ReceivedAt   time.Time // when it became known
	CustomerUUID string    // empty: the customer was deleted
	// Of the invoice; Status is empty where it was deleted.
	InvoiceStatus Status
	InvoiceAmount money.Cents
}

// PaymentFilter chooses payments; the zero one chooses all.
type PaymentFilter struct {
	CustomerID int64
	InvoiceID  int64
	Via        string
	Status     PaymentStatus
	From, To   civil.Date // of the day on which they were paid
	Came       bool       // without those that were undone or dismissed
	Search     string     // of the customer; one who was deleted is not found
}

// withCredit reports whether the filter has what credit paid, which is no money
// that came: those of an invoice, and those that are asked for.
func (f PaymentFilter) withCredit() bool { return f.InvoiceID != 0 || f.Via == Credit }

// ReadPaymentFilter reads a filter from a query. Those that were undone are no money that
// came: a list and its file have them only where they are asked for. Wrong values are left to in.Err.
func ReadPaymentFilter(in *input.Form) PaymentFilter {
	filter := PaymentFilter{
		CustomerID: in.ID("customer_id").Value,
		InvoiceID:  in.ID("invoice_id").Value,
		Via:        in.Line("paid_via", maxVia).Value,
		Status:     input.OneOf(in, "status", PaymentStatuses...).Value,
		From:       in.Date("from").Value,
		To:         in.Date("to").Value,
	}
	filter.Came = filter.Status == ""
	return filter
}

// Payments lists payments, and how many there are: newest first, or by the day on
// which they were paid where the page asks for it.
func (s *Service) Payments(
	ctx context.Context, actor account.Actor, filter PaymentFilter, page input.Page,
) ([]PaymentRecord, int64, error) {
	query, err := filter.query(ctx, s.db, actor.Company.ID, page.Sort)
	if err != nil {
		return nil, 0, err
	}
	return paymentTable.Page(ctx, s.db, query, page)
}

// PaymentsWorth is the money that came with the payments of a filter, less what
// went back on its days. matches is how many payments and refunds there are. ok is
// false where no counter knows and there are too many to add up at every look.
func (s *Service) PaymentsWorth(
	ctx context.Context, actor account.Actor, filter PaymentFilter, matches int64,
) (worth money.Cents, ok bool, err error) {
	if err := actor.NotAttendant(); err != nil {
		return 0, false, err
	}
	switch {
	case filter.counted():
		keys := tally.Filter{Days: []tally.Days{countedDays(filter.From, filter.To)}}
		if filter.Via != "" {
			keys.And("state = ?", filter.Via)
		}
		_, cents, err := receipts.Sum(ctx, s.db, actor.Company.ID, keys)
		return money.Cents(cents), true, err
	case matches > smallSum:
		return 0, false, nil
	}
	query, err := filter.query(ctx, s.db, actor.Company.ID, "")
	if err != nil {
		return 0, false, err
	}
	if worth, err = sumPayments(ctx, s.db, actor.Company.ID, query.Where); err != nil {
		return 0, false, err
	}
	if query, err = filter.refunds(ctx, s.db, actor.Company.ID, ""); err != nil {
		return 0, false, err
	}
	back, err := sumRefunds(ctx, s.db, actor.Company.ID, query.Where)
	return worth - back, true, err
}

// counted reports whether the counter of money knows the filter.
func (f PaymentFilter) counted() bool {
	return f.CustomerID == 0 && !f.withCredit() && f.Status == "" && !customer.Searches(f.Search)
}

// PaymentsByMeans is the money of the payments of a filter that counts by the means
// by which it came, the greatest first; none where no counter knows.
func (s *Service) PaymentsByMeans(ctx context.Context, actor account.Actor, filter PaymentFilter) ([]MonthFigure, error) {
	if err := actor.NotAttendant(); err != nil || !filter.counted() || filter.Via != "" {
		return nil, err
	}
	sums, err := tally.By[string](ctx, s.db, receipts, actor.Company.ID, "state", tally.Filter{
		Days: []tally.Days{countedDays(filter.From, filter.To)},
	})
	var list []MonthFigure
	for via, sum := range sums {
		if sum != (tally.Sums{}) {
			list = append(list, MonthFigure{Key: via, Count: sum.N, Amount: money.Cents(sum.Cents)})
		}
	}
	slices.SortFunc(list, func(a, b MonthFigure) int { return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.Key, b.Key)) })
	return list, err
}

// WalkPayments calls visit for every payment of a filter, newest first.
func (s *Service) WalkPayments(ctx context.Context, actor account.Actor, filter PaymentFilter, visit func(PaymentRecord) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	query, err := filter.query(ctx, s.db, actor.Company.ID, "")
	if err != nil {
		return err
	}
	return paymentTable.Each(ctx, s.db, query, visit)
}

// query is what the table is asked for. Payments of a customer or an invoice are
// few, and counted; the totals of others are sums of the counter.
func (f PaymentFilter) query(ctx context.Context, db *sqldb.DB, companyID int64, sort input.Sort) (listing.Query, error) {
	query := listing.Query{CompanyID: companyID, Where: f.where(sort), Sort: sort}
	if customer.Searches(f.Search) {
		found, err := customer.Found(ctx, db, companyID, f.Search)
		query.Where.And("p.customer_id {in ?}", found)
		return query, err
	}
	if f.CustomerID == 0 && f.InvoiceID == 0 {
		query.Total = func(ctx context.Context) (int64, error) {
			count, _, err := payments.Sum(ctx, db, companyID, f.keys())
			return count, err
		}
	}
	return query, nil
}

// keys are the filters as the counter knows them.
func (f PaymentFilter) keys() (filter tally.Filter) {
	filter.Days = []tally.Days{countedDays(f.From, f.To)}
	if !f.withCredit() {
		filter.And("state NOT LIKE ?", "%/"+Credit)
	}
	switch {
	case f.Via != "" && f.Status != "":
		filter.And("state = ?", string(f.Status)+"/"+f.Via)
	case f.Status != "":
		filter.And("state LIKE ?", string(f.Status)+"/%")
	case f.Came && f.Via == "":
		filter.And("state NOT LIKE ?", string(PaymentDismissed)+"/%")
	case f.Via != "":
		var states []string
		for _, status := range PaymentStatuses {
			if !f.Came || status != PaymentDismissed {
				states = append(states, string(status)+"/"+f.Via)
			}
		}
		filter.And("state {in ?}", states)
	}
	return filter
}

// FindPayment returns a payment of the company.
func (s *Service) FindPayment(ctx context.Context, actor account.Actor, paymentID int64) (PaymentRecord, error) {
	return paymentRecord(ctx, s.db, actor.Company.ID, paymentID)
}

// RefundByHand is what a person says about money that was given back.
type RefundByHand struct {
	Amount input.Opt[money.Cents] // no value: all that is left
	On     input.Opt[civil.Date]  // no value: today
	Note   input.Opt[string]
	Effect Effect // "": as the amount says

	Problems input.Problems // what the form had wrong
}

// ReadRefund reads a refund from the fields amount, refunded_on (a date; refunded_at
// is as good), note and effect.
func ReadRefund(in *input.Form) RefundByHand {
	hand := RefundByHand{
		Amount: in.Money("amount"),
		On:     in.Date("refunded_at"),
		Note:   in.Text("note", MaxNote),
		Effect: input.OneOf(in, "effect", EffectReopen, EffectDiscount).Value,
	}
	if on := in.Date("refunded_on"); on.HasValue() {
		hand.On = on
	}
	hand.Problems = in.Problems()
	return hand
}

// RefundPayment records that a person gave money back. It calls no gateway.
func (s *Service) RefundPayment(
	ctx context.Context, actor account.Actor, paymentID int64, hand RefundByHand,
) (PaymentRecord, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (refunded PaymentRecord, err error) {
		record, err := paymentRecord(ctx, tx, actor.Company.ID, paymentID)
		if err != nil {
			return refunded, err
		}
		if err := hand.Problems.With(hand.refused(record, actor.Today(tx.Now()))).Err(); err != nil {
			return refunded, err
		}
		_, err = s.RefundTx(ctx, tx, Refund{
			PaymentID: paymentID,
			Amount:    hand.Amount.Value,
			RefundID:  "hand:" + id.NewCode(16),
			At:        paidTime(actor, tx.Now(), hand.On.Value),
			By:        actor.By(),
			Note:      hand.Note.Value,
			Effect:    hand.Effect,
			byHand:    true,
		})
		if err != nil {
			return refunded, err
		}
		return paymentRecord(ctx, tx, actor.Company.ID, paymentID)
	})
}

func (r RefundByHand) refused(record PaymentRecord, today civil.Date) (refused fault.Fields) {
	if r.Amount.HasValue() && r.Amount.Value == 0 {
		refused.Add("amount", "must be more than zero")
	}
	switch on := r.On.Or(today); {
	case on.After(today):
		refused.Add("refunded_on", "must not be in the future")
	case on.Before(record.PaidOn):
		refused.Add("refunded_on", "must not be before the payment, "+record.PaidOn.String())
	}
	return refused
}

// refusedByHand says why a person cannot give a payment back.
func (p Payment) refusedByHand() error {
	switch {
	case p.Status == PaymentDismissed:
		return fault.Field("payment", "does not count: it was undone or dismissed")
	case p.Provider == Credit:
		return fault.Field("payment", "is the customer's credit; undo it, and give back the money that made the credit")
	case p.left() == 0:
		return fault.Field("payment", "was given back already")
	}
	return nil
}
