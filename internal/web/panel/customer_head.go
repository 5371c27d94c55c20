package panel

import (
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/web/page"
)

// renewStep is a button that renews a customer, with what comes of it.
type renewStep struct {
	Periods int
	Label   string
}

// renewSteps are the renewals that one click makes. A customer whose due date
// cannot be counted on has none.
func renewSteps(req *request, record customer.Customer) (steps []renewStep) {
	const most = 12
	offered := map[int]bool{1: true, 3: true, 6: true, most: true}
	period := record.Period()
	for n := 1; n <= most; n++ {
		renewal, err := renewalOf(req, record)
		if err != nil {
			return steps
		}
		record = renewal.Customer
		if !offered[n] {
			continue
		}
		long := civil.Period{Unit: period.Unit, Count: period.Count * n}
		label := req.lang.T("+%s (until %s)", lengthText(req.lang, long), page.FormatDate(record.DueOn))
		steps = append(steps, renewStep{n, label})
	}
	return steps
}

// lengthText is how long a period is, in words.
func lengthText(lang page.Lang, period civil.Period) string {
	texts := map[civil.Unit][2]string{
		civil.Day: {"1 day", "%d days"}, civil.Week: {"1 week", "%d weeks"},
		civil.Month: {"1 month", "%d months"}, civil.Year: {"1 year", "%d years"},
	}
	pair := texts[period.Unit]
	if period.Count == 1 {
		return lang.T(pair[0])
	}
	return lang.T(pair[1], period.Count)
}
