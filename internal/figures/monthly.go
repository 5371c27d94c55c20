// Package figures owns what the numbers of a portfolio mean: what a customer is worth a month, what came and went of
// that in a month, how many were lost, and how old debts are. It is arithmetic on rows that somebody else has read.
//
// It does not own the rows, how they are counted cheaply, or how a figure is shown.
//
// # Worked example
//
// On 1 March three customers are in force: Ana pays R$ 35,00 a month, Bia R$ 360,00 a year (30,00 a month), Caio
// R$ 10,00 a week (10,00 × 365 ÷ 84 = 43,45 a month). Monthly recurring revenue: R$ 108,45. During March Ana goes to a
// plan of R$ 50,00, Bia's year ends and she does not renew, and Davi comes with R$ 35,00 a month. Caio is late, lapses
// on the 10th and pays on the 12th. At the end of March:
//
//	new    Davi   1 customer    35,00
//	lost   Bia    1 customer    30,00
//	up     Ana    1 customer    15,00
//	down          0 customers    0,00
//	revenue at the end: 108,45 + 35,00 − 30,00 + 15,00 − 0,00 = 128,45
//	churn: 1 lost of the 3 who were there at the beginning = 33.3 %
//
// Caio is neither lost nor new: the month is compared by its two ends.
package figures

import (
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// Monthly is what a price for a period is worth a month, rounded once, half up to the cent. A year has twelve months,
// 365 days and 365 ÷ 7 weeks, so that a price by the day, the week and the month that cost the same in a year are worth
// the same in a month. The rule is exact: it is one fraction of whole numbers.
//
//	month: price ÷ count        week: price × 365 ÷ (84 × count)
//	year:  price ÷ (12 × count) day:  price × 365 ÷ (12 × count)
//
// A customer is worth its own rounded amount, and the revenue of many is the sum of those: what the list of customers
// adds up to, to the cent. A period that is none is worth nothing.
func Monthly(price money.Cents, period civil.Period) money.Cents {
	count := int64(period.Count)
	if count < 1 {
		return 0
	}
	switch period.Unit {
	case civil.Day:
		return money.Share(price, daysInYear, monthsInYear*count)
	case civil.Week:
		return money.Share(price, daysInYear, monthsInYear*daysInWeek*count)
	case civil.Month:
		return money.Share(price, 1, count)
	case civil.Year:
		return money.Share(price, 1, monthsInYear*count)
	}
	return 0
}

const (
	daysInYear   = 365
	daysInWeek   = 7
	monthsInYear = 12
)
