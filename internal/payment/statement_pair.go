package payment

import (
	"slices"
	"strings"

	"carteira/internal/payment/statement"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
)

// bookedLine is a line of a statement that was booked as a payment.
type bookedLine struct {
	on        civil.Date
	amount    money.Cents
	account   string
	bankID    string
	paymentID string // the payment's: the end-to-end id where the bank gave one
	note      string // what the bank wrote
}

// moment is what a line has in each format of a bank: day and amount. Ids and words
// differ between formats.
type moment struct {
	on     civil.Date
	amount money.Cents
}

// pairBooked finds, of the lines of a file, those that were booked: of several with
// the same day and amount each booked one is the line that is most like it. What a
// bank says of one movement differs between its formats and downloads, so that
// likeness only chooses among them: two lines of a file and one booked leave one.
func pairBooked(lines []statement.Line, booked []bookedLine) map[int]bool {
	byMoment := map[moment][]int{}
	for at, line := range lines {
		key := moment{line.On, line.Amount}
		byMoment[key] = append(byMoment[key], at)
	}
	type pair struct{ booked, line, likeness int }
	var pairs []pair
	for n, one := range booked {
		for _, at := range byMoment[moment{one.on, one.amount}] {
			if likeness := one.likeness(lines[at]); likeness >= 0 {
				pairs = append(pairs, pair{n, at, likeness})
			}
		}
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return y.likeness - x.likeness })
	paired, used := map[int]bool{}, map[int]bool{}
	for _, pair := range pairs {
		if !paired[pair.line] && !used[pair.booked] {
			paired[pair.line], used[pair.booked] = true, true
		}
	}
	return paired
}

// How much two lines have in common; each is more than all below it can be.
const (
	sameEndToEnd = 4_000_000
	sameBankID   = 3_000_000
	sameWords    = 2_000_000
	samePayer    = 1_000_000
)

// likeness is how much a line has in common with a booked one of the same day and
// amount; negative when it is certainly another.
func (b bookedLine) likeness(line statement.Line) int {
	bookedID := statement.Line{ID: b.paymentID}.EndToEnd()
	switch id := line.EndToEnd(); {
	case id != "" && bookedID != "" && strings.EqualFold(id, bookedID):
		return sameEndToEnd
	case id != "" && bookedID != "", b.account != "" && line.Account != "" && b.account != line.Account:
		return -1
	case b.bankID != "" && b.bankID == line.ID:
		return sameBankID
	case text.Fold(b.note) == text.Fold(line.Description):
		return sameWords
	}
	was := statement.Line{Description: b.note}
	if meet(was.TaxIDs(), line.TaxIDs()) || meet(was.Names(), line.Names()) {
		return samePayer
	}
	words, common := strings.Fields(text.Fold(b.note)), 0
	for word := range strings.FieldsSeq(text.Fold(line.Description)) {
		if slices.Contains(words, word) {
			common++
		}
	}
	return common
}

// meet reports whether two lists have something in common.
func meet(one, other []string) bool {
	return slices.ContainsFunc(one, func(value string) bool { return slices.Contains(other, value) })
}
