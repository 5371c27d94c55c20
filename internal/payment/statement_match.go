package payment

import (
	"cmp"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment/statement"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
)

// Match is how well a line of a statement fits an invoice.
type Match string

// The matches.
const (
	MatchSure       Match = "sure"       // it is the invoice's money
	MatchDoubtful   Match = "doubtful"   // a person has to look
	MatchNone       Match = "none"       // no open invoice fits
	MatchRegistered Match = "registered" // a payment like it was registered by other means
	MatchBooked     Match = "booked"     // it was booked before
)

// Evidence is what a match goes by.
type Evidence string

// The kinds of evidence.
const (
	ByCode   Evidence = "code"   // the txid of a charge
	ByTaxID  Evidence = "tax_id" // the payer's CPF or CNPJ
	ByName   Evidence = "name"   // the payer's whole name
	ByAmount Evidence = "amount" // the amount alone
)

// Proposal is a credit of a statement, and what it seems to pay.
type Proposal struct {
	Number  int // of the line, by which it is booked
	Line    statement.Line
	Match   Match
	By      Evidence        // empty: none
	Invoice billing.Invoice // zero: none
	Fits    int             // how many invoices fit as well as this one
}

// matching is what the lines of a statement are held against.
type matching struct {
	company   account.Company
	open      []billing.Invoice // oldest due date first
	byName    map[string][]int64
	byTaxID   map[string][]int64
	charges   map[string]statementCharge // by txid, in small letters
	payments  []statementPayment         // those that no line was booked as
	taken     map[int64]bool             // invoices that another line pays
	explained map[int]bool               // payments that another line explains
}

// statementCharge is what is known of a charge that a line names by txid.
type statementCharge struct {
	txid      string // the beginning of the reference, of a static code
	reference string
	invoiceID int64
	amount    money.Cents
}

// statementPayment is a payment that may be a line which was registered by hand.
type statementPayment struct {
	id         int64
	customerID int64
	amount     money.Cents
	paidOn     civil.Date

	customerName string
}

// nearDays is how far the day that a person typed may be from the bank's.
const nearDays = 4

// propose says what a credit seems to pay. Lines are looked at in the order of their
// days: what one surely pays is not proposed to the next.
func (m *matching) propose(line statement.Line) Proposal {
	p := Proposal{Line: line, Match: MatchNone}
	if found, ok := m.byCode(line); ok {
		p.By = ByCode
		m.proposeCharged(&p, found)
		return p
	}
	people, by := m.payers(line)
	if len(people) > 0 && m.registered(line, people) {
		p.Match, p.By = MatchRegistered, by
		return p
	}
	if len(people) > 0 {
		p.By = by
		m.proposeAmong(&p, m.owedBy(people), MatchSure)
	}
	if p.Match == MatchNone {
		p.By = ByAmount
		m.proposeAmong(&p, m.open, MatchDoubtful)
	}
	if p.Match == MatchNone {
		p.By = ""
	}
	return p
}

func (m *matching) byCode(line statement.Line) (statementCharge, bool) {
	for _, token := range line.Tokens() {
		if charge, found := m.charges[token]; found {
			return charge, true
		}
	}
	return statementCharge{}, false
}

// proposeCharged is for a line that has the txid of a charge of ours.
func (m *matching) proposeCharged(p *Proposal, charge statementCharge) {
	for _, invoice := range m.open {
		if invoice.ID != charge.invoiceID || m.taken[invoice.ID] {
			continue
		}
		p.Invoice, p.Fits, p.Match = invoice, 1, MatchDoubtful
		if p.Line.Amount == charge.amount || p.Line.Amount == m.rest(invoice, p.Line) {
			p.Match, m.taken[invoice.ID] = MatchSure, true
		}
		return
	}
	p.Match = MatchRegistered // the charge is ours, and its invoice is not open
}

// payers are the customers that the line names: by CPF or CNPJ, else by whole name.
func (m *matching) payers(line statement.Line) ([]int64, Evidence) {
	for _, number := range line.TaxIDs() {
		if people := m.byTaxID[number]; len(people) > 0 {
			return people, ByTaxID
		}
	}
	for _, name := range line.Names() {
		if people := m.byName[name]; len(people) > 0 {
			return people, ByName
		}
	}
	return nil, ""
}

// registered finds a payment of the same people, amount and days that no line
// explains yet: a person registered it before the statement came.
func (m *matching) registered(line statement.Line, people []int64) bool {
	for at, paid := range m.payments {
		near := max(line.On.Sub(paid.paidOn), paid.paidOn.Sub(line.On)) <= nearDays
		if near && !m.explained[at] && paid.amount == line.Amount && slices.Contains(people, paid.customerID) {
			m.explained[at] = true
			return true
		}
	}
	return false
}

func (m *matching) owedBy(people []int64) (list []billing.Invoice) {
	for _, invoice := range m.open {
		if slices.Contains(people, invoice.Customer.ID) {
			list = append(list, invoice)
		}
	}
	return list
}

// proposeAmong proposes the oldest of the invoices that cost what came. One alone
// that was issued or due by then is as sure as the evidence; a payer who owes other amounts
// leaves the choice to a person.
func (m *matching) proposeAmong(p *Proposal, among []billing.Invoice, alone Match) {
	var fits []billing.Invoice
	for _, invoice := range among {
		if !m.taken[invoice.ID] && m.rest(invoice, p.Line) == p.Line.Amount {
			fits = append(fits, invoice)
		}
	}
	switch {
	case len(fits) == 1:
		p.Match, p.Invoice, p.Fits = alone, fits[0], 1
		if fits[0].DueOn.After(p.Line.On) && civil.Of(fits[0].CreatedAt.In(m.company.Zone)).After(p.Line.On) {
			p.Match = MatchDoubtful
		}
		m.taken[fits[0].ID] = p.Match == MatchSure
	case len(fits) > 1:
		p.Match, p.Fits = MatchDoubtful, len(fits)
		if p.By != ByAmount {
			p.Invoice = fits[0]
		}
	case p.By != ByAmount && len(among) > 0 && !m.taken[among[0].ID]:
		p.Match, p.Invoice, p.Fits = MatchDoubtful, among[0], len(among)
	}
}

// rest is what an invoice cost on the day of a line.
func (m *matching) rest(invoice billing.Invoice, line statement.Line) money.Cents {
	return invoice.PayableOn(m.company, line.On).Rest
}

// byDue sorts invoices as they are to be paid.
func byDue(x, y billing.Invoice) int {
	return cmp.Or(x.DueOn.Compare(y.DueOn), cmp.Compare(x.ID, y.ID))
}

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
