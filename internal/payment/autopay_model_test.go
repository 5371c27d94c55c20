package payment

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// life is a random history of one customer, seen by two processes, compared with
// a model of its results.
type life struct {
	t         *testing.T
	random    *rand.Rand
	processes []*world
	setup     Setup
	stranger  Setup // of another company
	customer  int64
	log       []string

	autopay customer.Autopay // the model
	askedAt time.Time
	byCode  bool   // a payer has a code that authorises: what becomes of it shows at the bank
	heard   []tell // callbacks that were sent, to be repeated
	off     bool   // the contract has no PIX Automático
	strange int    // callbacks of the other company that were sent
	stays   []stay
	backs   map[string][]time.Time // when the bank gave parts of a payment back
	over    map[int64]int          // the last debit of an invoice when it was known that one had ended, by the invoice
	given   map[string]money.Cents // what had gone back when a person last recorded a refund, with that
}

// Whatever happens to one customer in whatever order: the money of each invoice
// counts once, and what is too much waits for a person.
func TestRandomHistoriesOfOneCustomerPayEachInvoiceOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, seed := range sqldbtest.Lives(engine, 4) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { newLife(t, engine, seed).live(150) })
		}
	})
}

func newLife(t *testing.T, engine sqldb.Engine, seed uint64) *life {
	t.Helper()
	first := newWorld(t, engine)
	setup, err := first.Gateway(t.Context(), first.actor)
	must(t, err)
	l := &life{
		t: t, random: rand.New(rand.NewPCG(seed, 17)), setup: setup,
		processes: []*world{first, first.process(t)}, autopay: customer.AutopayNone,
		stays: []stay{{zone: first.actor.Company.Zone}}, backs: map[string][]time.Time{}, given: map[string]money.Cents{}, over: map[int64]int{},
	}
	l.customer = first.subscriber(t, dueOn).Customer.ID
	stranger := *first
	stranger.actor = first.newCompany(t)
	l.stranger = stranger.gateway(t, "provider", "fake", "secret", strangersSecret)
	return l
}

func (l *life) world() *world { return l.processes[l.random.IntN(len(l.processes))] }

// deeds are the actions that can happen, and how often: time passes and money comes, so
// that there is something to go wrong.
var deeds = []struct {
	name   string
	weight int
	do     func(l *life)
}{
	{"ask", 4, (*life).ask},
	{"authorise", 6, (*life).authorise},
	{"refuse", 1, (*life).refuse},
	{"payer ends", 1, (*life).payerEnds},
	{"company ends", 1, (*life).companyEnds},
	{"code", 1, (*life).code},
	{"code that authorises", 1, (*life).authorisingCode},
	{"pay a code", 4, (*life).payCode},
	{"pay by hand", 1, (*life).payByHand},
	{"reopen", 1, (*life).reopen},
	{"cost another amount", 1, (*life).edit},
	{"refund", 3, (*life).refund},
	{"refund by hand", 2, (*life).refundByHand},
	{"pay again", 2, (*life).payAgain},
	{"decide", 4, (*life).decide},
	{"move the due date", 2, (*life).moveDue},
	{"move an invoice", 1, (*life).moveInvoice},
	{"another time zone", 1, (*life).moveZone},
	{"bank moves a debit", 6, (*life).moveDebit},
	{"payer strikes a debit out", 1, func(l *life) { l.processes[0].bank.strikesOut() }},
	{"contract without debits", 1, func(l *life) { l.contract(false) }},
	{"contract with debits", 1, func(l *life) { l.contract(true) }},
	{"another company's callbacks", 1, (*life).strangersCallbacks},
	{"no money", 4, func(l *life) { l.processes[0].bank.withoutMoney(l.random.IntN(2) == 0) }},
	{"lose answers", 2, (*life).loseAnswers},
	{"callbacks", 2, (*life).callbacks},
	{"a day", 8, func(l *life) { l.pass(24 * time.Hour) }},
	{"two days", 6, func(l *life) { l.pass(48 * time.Hour) }},
	{"a week", 5, func(l *life) { l.pass(7 * 24 * time.Hour) }},
	{"hours", 3, func(l *life) { l.pass(7 * time.Hour) }},
}

// deed chooses one at random.
func (l *life) deed() (name string, do func(l *life)) {
	total := 0
	for _, deed := range deeds {
		total += deed.weight
	}
	at := l.random.IntN(total)
	for _, deed := range deeds {
		if at -= deed.weight; at < 0 {
			return deed.name, deed.do
		}
	}
	panic("there is no such deed")
}

func (l *life) live(steps int) {
	l.t.Helper()
	l.ask()
	l.authorise()
	for range steps {
		name, do := l.deed()
		l.log = append(l.log, name)
		do(l)
		l.wantOneWayToPay()
		if l.random.IntN(2) == 0 {
			l.settle()
		}
		if l.t.Failed() {
			l.t.Fatalf("after %v", l.log)
		}
	}
	l.processes[0].bank.loseAnswers("", nil)
	l.contract(true)
	l.askAll()
	l.wantBooks()
	l.wantLedger()
	l.wantDebits()
	l.wantSums()
	l.wantFailuresOfOthers()
	if l.t.Failed() {
		l.t.Fatalf("after %v", l.log)
	}
}

// settle lets all that is due be done, and asks after everything.
func (l *life) settle() {
	l.t.Helper()
	world := l.world()
	world.bank.loseAnswers("", nil)
	l.contract(true)
	for range 3 {
		world.later(l.t, 31*time.Minute) // past every wait for a gateway that failed
		world.exec(l.t, `UPDATE authorisations SET next_check_at = 1 WHERE next_check_at IS NOT NULL`)
		world.work(l.t)
	}
	l.expire(world)
	if l.byCode {
		l.followCode(world)
	}
	world.wantAutopay(l.t, l.customer, l.autopay)
	l.wantOneWayToPay()
	world.exec(l.t, `UPDATE charges SET next_check_at = 1 WHERE claim = '' AND state = 'pending' AND debit_on <> ''`)
	world.work(l.t)
	l.wantFollowed()
}

// contract changes whether the company's contract has PIX Automático.
func (l *life) contract(debited bool) {
	if debited == l.off {
		l.world().contract(l.t, debited)
		l.off = !debited
	}
}

// strangersCallbacks sends another company's genuine callbacks that name what is of
// this one.
func (l *life) strangersCallbacks() {
	world := l.world()
	before := world.count(l.t, hintedRows)
	bank := l.processes[0].bank
	var named []string
	bank.set(func(accounts *debits) {
		for _, known := range accounts.mandates {
			named = append(named, known.ID)
		}
		for _, known := range accounts.debits {
			named = append(named, known.ID)
		}
	})
	for _, id := range named {
		l.strange++
		must(l.t, world.callBack(l.t, l.stranger, tell{fmt.Sprint("s", l.strange), strangersSecret, id, ""}))
	}
	if after := world.count(l.t, hintedRows); after != before {
		l.t.Errorf("%d rows are to be looked at for another company's callbacks", after-before)
	}
}

const (
	strangersSecret = "another-secret-of-another"
	hintedRows      = `SELECT (SELECT COUNT(*) FROM charges WHERE hinted_at > 0) + (SELECT COUNT(*) FROM authorisations WHERE hinted_at > 0)`
)

func (l *life) pass(span time.Duration) {
	l.t.Helper()
	world := l.world()
	for ; span > 0; span -= 6 * time.Hour {
		world.clock.Advance(min(span, 6*time.Hour))
		_, err := world.invoices.Issue(l.t.Context(), world.actor)
		must(l.t, err)
		world.work(l.t)
	}
	l.expire(world)
}

func (l *life) expire(world *world) {
	if l.autopay == customer.AutopayAsked && !l.byCode && !world.clock.Now().Before(l.askedAt.Add(requestLife)) {
		l.autopay = customer.AutopayEnded
	}
}

// followCode takes the state of an authorisation by a paid code from the bank.
func (l *life) followCode(world *world) {
	l.t.Helper()
	known, err := world.Autopay(l.t.Context(), world.actor, l.customer)
	must(l.t, err)
	at := map[AuthorisationState]int{}
	for _, state := range []AuthorisationState{AuthorisationAsked, AuthorisationActive} {
		world.bank.mandatesIn(state, func(*mandated) { at[state]++ })
	}
	switch want := 0; known.State {
	case customer.AutopayActive:
		want = 1
		fallthrough
	case customer.AutopayNone, customer.AutopayEnded:
		l.byCode = false
		if at[AuthorisationActive] != want || at[AuthorisationAsked] != 0 {
			l.t.Errorf("autopay is %s, and at the bank %v", known.State, at)
		}
	case customer.AutopayAsked:
		if at[AuthorisationActive] != 0 {
			l.t.Error("the payer has authorised, and nobody has heard of it")
		}
	}
	l.autopay = known.State
}

// authorisingCode is a payer who wants to pay and authorise.
func (l *life) authorisingCode() {
	world := l.world()
	invoice, found := l.one(billing.Open)
	if !found || l.autopay == customer.AutopayActive {
		return
	}
	_, _ = world.ChargeAuthorising(l.t.Context(), world.actor, invoice.ID) // refused or failed: there is no code
	l.byCode = true
}

func (l *life) ask() {
	world := l.world()
	if l.autopay == customer.AutopayActive || l.autopay == customer.AutopayAsked || l.byCode {
		return
	}
	at := world.clock.Now()
	_, err := world.AskAutopay(l.t.Context(), world.actor, l.customer, AutopayRequestDraft{Journey: JourneyCode})
	known, readErr := world.Autopay(l.t.Context(), world.actor, l.customer)
	must(l.t, readErr)
	if known.State == customer.AutopayAsked { // also when the answer was lost
		l.autopay, l.askedAt = customer.AutopayAsked, at
	} else if err == nil {
		l.t.Error("the customer was not asked")
	}
}

func (l *life) authorise() {
	if l.autopay != customer.AutopayAsked || !l.asked() || l.byCode {
		return
	}
	l.processes[0].bank.authorises()
	l.autopay = customer.AutopayActive
}

func (l *life) refuse() {
	if l.autopay != customer.AutopayAsked || !l.asked() || l.byCode {
		return
	}
	l.processes[0].bank.refuses()
	l.autopay = customer.AutopayEnded
}

// asked reports whether the bank knows of the request that is open.
func (l *life) asked() (known bool) {
	l.settle()
	l.processes[0].bank.mandatesIn(AuthorisationAsked, func(*mandated) { known = true })
	return known && l.autopay == customer.AutopayAsked
}

func (l *life) payerEnds() {
	if l.autopay != customer.AutopayActive {
		return
	}
	l.processes[0].bank.endsThem(ByPayer)
	l.autopay = customer.AutopayEnded
}

func (l *life) companyEnds() {
	world := l.world()
	_, err := world.EndAutopay(l.t.Context(), world.actor, l.customer)
	must(l.t, err)
	if l.autopay != customer.AutopayNone && !l.byCode {
		l.autopay = customer.AutopayEnded
	}
}

func (l *life) invoices(status billing.Status) []billing.Invoice {
	world := l.processes[0]
	list, _, err := world.invoices.List(l.t.Context(), world.actor,
		billing.Filter{CustomerID: l.customer, Status: status}, input.Page{Number: 1, Size: 50})
	must(l.t, err)
	return list
}

// one chooses an invoice; false: there is none.
func (l *life) one(status billing.Status) (billing.Invoice, bool) {
	list := l.invoices(status)
	if len(list) == 0 {
		return billing.Invoice{}, false
	}
	return list[l.random.IntN(len(list))], true
}

func (l *life) code() {
	world := l.world()
	if invoice, found := l.one(billing.Open); found {
		_, _ = world.Charge(l.t.Context(), world.actor, invoice.ID, "") // refused or failed: there is no code
	}
}

func (l *life) payByHand() {
	world := l.world()
	if invoice, found := l.one(billing.Open); found {
		_, err := world.invoices.SetStatus(l.t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
		must(l.t, err)
	}
}

func (l *life) reopen() {
	world := l.world()
	if invoice, found := l.one(billing.Paid); found {
		_, _ = world.invoices.SetStatus(l.t.Context(), world.actor, invoice.ID, billing.ReadStatusChange(values("status", "Em aberto")))
	}
}

func (l *life) edit() {
	world := l.world()
	if invoice, found := l.one(billing.Open); found && invoice.Received == 0 {
		_, err := world.invoices.Edit(l.t.Context(), world.actor, invoice.ID,
			billing.ReadEdit(values("total_amount", fmt.Sprintf("%d.00", 20+l.random.IntN(20)))))
		must(l.t, err)
	}
}

// loseAnswers makes a call happen and loses its answer, as when a process is
// killed between the two.
func (l *life) loseAnswers() {
	lost := []string{"announce", "authorise", "cancel debit", "retry debit", "create", "end authorisation", "look at debit"}
	l.processes[0].bank.loseAnswers(lost[l.random.IntN(len(lost))], errBank)
}

// callbacks sends what is true, what is forged and what was sent before, in any
// order.
func (l *life) callbacks() {
	bank := l.processes[0].bank
	bank.mu.Lock()
	for _, known := range bank.accounts.mandates {
		l.heard = append(l.heard, tell{fmt.Sprint("m", len(l.heard)), "s3cret-of-the-company", known.ID, ""})
	}
	for _, known := range bank.accounts.debits {
		l.heard = append(l.heard, tell{fmt.Sprint("d", len(l.heard)), "s3cret-of-the-company", known.ID, ""})
		l.heard = append(l.heard, tell{fmt.Sprint("f", len(l.heard)), "forged", known.ID, ""})
	}
	bank.mu.Unlock()
	for range min(len(l.heard), 6) {
		body := l.heard[l.random.IntN(len(l.heard))]
		err := l.world().callBack(l.t, l.setup, body)
		if (err == nil) != (body.Secret != "forged") {
			l.t.Errorf("%v: %v", body, err)
		}
	}
}
