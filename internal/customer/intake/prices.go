package intake

import (
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
)

// planPrices is how often rows give each price for a plan, by its folded name.
type planPrices map[string]*pricesOfPlan

type pricesOfPlan struct {
	times map[money.Cents]int
	usual money.Cents // given most often; of those given as often, the one that was so first
}

// usualPrices reads what the rows of a file pay for their plans. The price of the
// first row would be wrong for all others when that row is an exception. Where the
// file cannot be read further, its rows say so when they are imported.
func usualPrices(rows Rows) planPrices {
	prices := planPrices{}
	for row, err := range rows() {
		if err != nil {
			break
		}
		for _, field := range []string{"value", "price"} {
			amount, err := money.Parse(row.Values[field])
			if err == nil && row.Values["plan"] != "" {
				prices.add(row.Values["plan"], amount)
				break
			}
		}
	}
	return prices
}

func (p planPrices) add(plan string, amount money.Cents) {
	key := text.Fold(plan)
	if p[key] == nil {
		p[key] = &pricesOfPlan{times: map[money.Cents]int{}, usual: amount}
	}
	of := p[key]
	if of.times[amount]++; of.times[amount] > of.times[of.usual] {
		of.usual = amount
	}
}

// of returns what a plan usually costs.
func (p planPrices) of(plan string) (money.Cents, bool) {
	if of := p[text.Fold(plan)]; of != nil {
		return of.usual, true
	}
	return 0, false
}
