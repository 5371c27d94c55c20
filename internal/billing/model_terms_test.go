package billing

import (
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// due is what an invoice costs more and less on a day.
type due struct{ fee, interest, discount money.Cents }

// of is what the invoice costs.
func (d due) of(bill *bill) money.Cents { return bill.amount + d.fee + d.interest - d.discount }

// due is what the company's terms of today make of an invoice on a day.
func (m *model) due(bill *bill, on civil.Date) (costs due) {
	if late := daysBetween(bill.dueOn, on); late > 0 {
		costs.fee = halfUp(int64(bill.amount)*int64(m.settings.LateFeePercent), 10_000)
		costs.interest = halfUp(int64(bill.amount)*int64(m.settings.LateInterestPercent)*late, 10_000*30)
		return costs
	}
	switch {
	case bill.own.Given:
		costs.discount = bill.own.Amount
	case m.settings.DiscountAmount > 0:
		costs.discount = m.settings.DiscountAmount
	default:
		costs.discount = halfUp(int64(bill.amount)*int64(m.settings.DiscountPercent), 10_000)
	}
	costs.discount = min(costs.discount, bill.amount-1)
	return costs
}

// rest is what is still to pay on a day.
func (m *model) rest(bill *bill, on civil.Date) money.Cents {
	return max(0, m.due(bill, on).of(bill)-bill.received)
}

func daysBetween(from, to civil.Date) int64 {
	midnight := func(date civil.Date) time.Time {
		return time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, time.UTC)
	}
	return int64(midnight(to).Sub(midnight(from)).Hours() / 24)
}

func halfUp(number, by int64) money.Cents { return money.Cents((2*number + by) / (2 * by)) }
