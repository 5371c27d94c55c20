package billing

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// life is a company's life, lived by the service and by the model.
type life struct {
	*model
	t         *testing.T
	w         *world
	processes []*world
	random    *rand.Rand
	offers    []*offer // nil: no plan
	known     int      // events that were compared
	done      map[string]int
	last      string // what was done last
	atOnce    bool   // what was done last was done by several processes at once
	shut      bool   // what was done last was refused, since it would change a closed day
	recent    int64  // the invoice that something was done to last
}

// crowd is how many customers there are at most, so that each has a history.
const crowd = 12

// lifeDays is how many days each life has, of more than a day each: a year, or two
// for `make year`.
func lifeDays() int {
	if os.Getenv("CARTEIRA_TEST_MONTHS") != "" {
		return 480
	}
	return 240
}

// lives are companies in several zones.
var lives = []struct {
	zone string
	from account.RenewFrom
}{
	{account.DefaultTimezone, account.FromDueDate},
	{"Pacific/Auckland", account.FromToday},
	{"America/Noronha", account.FromDueDate},
}

func TestLifeOfACompanyIsWhatTheModelSays(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many days")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, seed := range sqldbtest.Lives(engine, uint64(len(lives))) {
			begins := lives[seed]
			life := newLife(t, engine, seed, begins.zone)
			life.w.configure(t, "renew_from", string(begins.from))
			life.settings = life.w.actor.Company.Settings
			for _, process := range life.processes {
				process.actor = life.w.actor
			}
			for range lifeDays() {
				life.liveADay()
				if t.Failed() {
					t.Fatalf("seed %d: the service and the model have parted on %v", seed, life.today)
				}
			}
			life.w.wantTrueBooks(t)
			life.wantRenewals()
			life.wantRecounted()
			t.Logf("seed %d: %d customers, %d invoices, %d payments, %d events; %v",
				seed, len(life.people), len(life.bills), len(life.money), life.known, life.done)
		}
	})
}

func newLife(t *testing.T, engine sqldb.Engine, seed uint64, zone string) *life {
	t.Helper()
	w := openWorld(t, sqldbtest.URL(t, engine), sqldbtest.NewClock(noon))
	w.actor = w.newCompany(t, zone)
	l := &life{
		model: &model{
			settings: w.actor.Company.Settings, renewed: map[string]map[int64]int{}, received: map[civil.Date]money.Cents{},
		},
		t: t, w: w, random: rand.New(rand.NewPCG(seed, 7)), done: map[string]int{},
	}
	for i, o := range []offer{{months: 1, value: 3500}, {days: 7, value: 1234}, {months: 12, value: money.Max / 8}, {days: 1, value: 1}, {months: 1}} {
		o.id = w.plan(t, []string{"1month", "1week", "1year", "1day", "1month"}[i], o.value.String())
		l.offers = append(l.offers, &o)
	}
	l.offers = append(l.offers, nil)
	l.processes = []*world{w, w.process(t)}
	for _, process := range l.processes {
		process.catalog.WatchPlans(process.customers.PlansChanged)
	}
	return l
}

func (l *life) liveADay() {
	for range l.random.IntN(5) {
		l.w.clock.Advance(time.Duration(l.random.IntN(4*3600)) * time.Second)
		l.today = l.w.actor.Today(l.w.clock.Now())
		l.actor().act()
		l.compare()
		if l.t.Failed() {
			l.t.Fatalf("after %q the service and the model have parted on %v", l.last, l.today)
		}
	}
	l.w.clock.Advance(time.Duration(8+l.random.IntN(24)) * time.Hour)
	l.today = l.w.actor.Today(l.w.clock.Now())
	if l.random.IntN(10) > 0 { // else nothing runs for a day
		l.workOfTheDay()
	}
	if l.random.IntN(8) == 0 {
		l.compareLists()
	}
	if l.random.IntN(30) == 0 {
		l.wantMonths()
		l.wantForecast()
	}
	if l.random.IntN(4) == 0 {
		must(l.t, tally.Compact(l.t.Context(), l.w.db))
		l.w.wantTrueBooks(l.t)
	}
}

// wantMonths compares the months for the accountant with their rows and with the model.
func (l *life) wantMonths() {
	nets := map[civil.Date]money.Cents{firstOf(l.today): 0}
	for on, amount := range l.received {
		nets[firstOf(on)] += amount
	}
	for first, net := range nets {
		if month := l.w.wantMonth(l.t, first); month.Net() != net {
			l.t.Errorf("the month of %v received %s, want %s", first, month.Net(), net)
		}
	}
	var open money.Cents
	for _, bill := range l.bills {
		if bill.status == Open {
			open += max(0, bill.amount-bill.received)
		}
	}
	if month := l.w.wantMonth(l.t, firstOf(l.today)); month.Parts[MonthOpen].Amount != open {
		l.t.Errorf("open at the end of the month: %s, want %s", month.Parts[MonthOpen].Amount, open)
	}
}

// workOfTheDay is done by one process, or by all of them at once.
func (l *life) workOfTheDay() {
	l.last = "the day's work"
	credit := slices.ContainsFunc(l.people, func(p *person) bool { return p.credit > 0 }) // what it pays has an order
	if l.atOnce = l.random.IntN(2) == 0 && !credit; l.atOnce {
		l.last = "the day's work of all processes at once"
		l.workAtOnce()
	} else {
		l.actor().w.dayWork(l.t)
	}
	l.dayWork()
	l.compare()
	l.atOnce = false
}

func (l *life) workAtOnce() {
	errs := make([]error, 2*len(l.processes))
	var all sync.WaitGroup
	for n := range errs {
		process := l.processes[n%len(l.processes)]
		all.Go(func() {
			_, expired := process.customers.Expire(l.t.Context(), process.actor)
			_, issued := process.Issue(l.t.Context(), process.actor)
			errs[n] = errors.Join(expired, issued)
		})
	}
	all.Wait()
	must(l.t, errors.Join(errs...))
	l.actor().w.dayWork(l.t) // what each left to the others
}

// actor is the life in one of its processes.
func (l *life) actor() *life {
	l.w = l.processes[l.random.IntN(len(l.processes))]
	return l
}

// deed is an action of people, in the service and in the model.
type deed struct {
	name   string
	weight int
	do     func(l *life, p *person)
}

var deeds = []deed{
	{"create", 12, func(life *life, _ *person) { life.createSomebody() }},
	{"renew", 5, (*life).renewByHand},
	{"date", 9, (*life).changeDate},
	{"plan", 6, (*life).changePlan},
	{"price", 5, (*life).changePrice},
	{"date and price", 2, (*life).changeDateAndPrice},
	{"cancel or restore", 5, (*life).cancelOrRestore},
	{"delete", 2, (*life).delete},
	{"extra", 4, (*life).billExtra},
	{"edit", 8, func(life *life, _ *person) { life.editSome() }},
	{"reissue", 6, (*life).issueAgain},
	{"status", 32, func(life *life, _ *person) { life.changeStatus() }},
	{"gateway", 5, func(life *life, _ *person) { life.payByGateway() }},
	{"refund", 6, func(life *life, _ *person) { life.refundSome() }},
	{"again", 5, func(life *life, _ *person) { life.payAgain() }},
	{"credit", 4, func(life *life, _ *person) { life.useCredit() }},
	{"undo payment", 5, func(life *life, _ *person) { life.undoPayment() }},
	{"wait", 4, func(life *life, _ *person) { life.keepForDecision() }},
	{"decide", 5, func(life *life, _ *person) { life.decide() }},
	{"close", 4, func(life *life, _ *person) { life.closeBooks() }},
	{"settings", 5, func(life *life, _ *person) { life.changeSettings() }},
	{"plan's value", 3, func(life *life, _ *person) { life.repricePlan() }},
}

// act does one thing at random.
func (l *life) act() {
	total := 0
	for _, deed := range deeds {
		total += deed.weight
	}
	at := l.random.IntN(total)
	for _, deed := range deeds {
		if at -= deed.weight; at >= 0 && len(l.people) > 0 {
			continue
		}
		l.done[deed.name]++
		l.last = deed.name
		var p *person
		if len(l.people) > 0 {
			p = pick(l.random, l.people)
		}
		l.keptOut(func() { deed.do(l, p) })
		return
	}
}

// choices are settings of a company, of which one is chosen at a time.
var choices = [][]string{
	{"late_fee_percent", "2.00"},
	{"late_fee_percent", "0.00"},
	{"late_fee_percent", "10.00"},
	{"late_interest_percent", "1.00"},
	{"late_interest_percent", "0.00"},
	{"late_interest_percent", "3.33"},
	{"discount_percent", "5.00"},
	{"discount_percent", "0.00", "discount_amount", "0.00"},
	{"discount_amount", "1.50"},
	{"discount_percent", "100.00"},
	{"lead_days", "5"},
	{"lead_days", "0"},
	{"lead_days", "20"},
	{"timezone", account.DefaultTimezone},
	{"timezone", "Pacific/Auckland"},
	{"timezone", "America/Noronha"},
	{"timezone", "Pacific/Honolulu"},
	{"renew_from", string(account.FromDueDate)},
	{"renew_from", string(account.FromToday), "overdue_invoices", "0"},
	{"overdue_invoices", "1", "renew_from", string(account.FromDueDate)},
	{"overdue_invoices", "3", "renew_from", string(account.FromDueDate)},
}

func (l *life) changeSettings() { l.set(pick(l.random, choices)...) }

// set changes settings of the company.
func (l *life) set(chosen ...string) {
	l.last = fmt.Sprint("settings ", chosen)
	l.w.configure(l.t, chosen...)
	for _, process := range l.processes {
		process.actor = l.w.actor
	}
	l.settings = l.w.actor.Company.Settings
	l.today = l.w.actor.Today(l.w.clock.Now())
}

// repricePlan changes what a plan costs. Invoices that were issued keep their
// amount.
func (l *life) repricePlan() {
	offer := pick(l.random, l.offers[:len(l.offers)-1])
	offer.value = pick(l.random, []money.Cents{0, 1, 2990, 3500, 123456})
	_, err := l.w.catalog.UpdatePlan(l.t.Context(), l.w.actor, offer.id, catalog.ReadPlanChanges(values("value", offer.value.String())))
	must(l.t, err)
}

func (l *life) createSomebody() {
	if len(l.people) > crowd {
		return
	}
	plan, dueOn := pick(l.random, l.offers), l.date()
	l.create(l.w.customer(l.t, plan.number(), dueOn.String()).ID, plan, dueOn)
}

func (l *life) renewByHand(person *person) {
	invoice, periods := pick(l.random, account.RenewInvoices), max(1, l.random.IntN(5)-1)
	_, err := l.w.Renew(l.t.Context(), l.w.actor, person.id, ReadRenewal(values("invoice", string(invoice), "periods", fmt.Sprint(periods))))
	before, refused := l.copied(), ""
	for n := 0; n < periods && refused == ""; n++ {
		refused = l.renewWith(person, invoice)
	}
	if refused != "" { // all of them or none
		l.model = before
	}
	l.wantRefused(refused, err)
}

func (l *life) changeDate(person *person) {
	to := *person
	to.dueOn = l.date()
	to.ownDay = to.dueOn.Day()
	draft := customer.ReadChanges(values("data_de_vencimento", to.dueOn.String()))
	draft.LeaveOverdue = l.random.IntN(3) == 0
	_, err := l.w.customers.Update(l.t.Context(), l.w.actor, person.id, draft)
	must(l.t, err)
	l.leaves = draft.LeaveOverdue
	l.change(person, to)
	l.leaves = false
}

func (l *life) changePlan(person *person) {
	to := *person
	to.plan = pick(l.random, l.offers)
	l.w.update(l.t, person.id, "plan_id", orEmpty(to.plan.number()))
	l.change(person, to)
}

func (l *life) changePrice(person *person) {
	to := *person
	to.price = l.price()
	l.w.update(l.t, person.id, "price", priceText(to.price))
	l.change(person, to)
}

// price is one of a person's own; 0: none.
func (l *life) price() money.Cents { return pick(l.random, []money.Cents{0, 0, 1, 2990, 5001}) }

func priceText(price money.Cents) string {
	if price == 0 {
		return ""
	}
	return price.String()
}

func (l *life) changeDateAndPrice(person *person) {
	to := *person
	to.price, to.dueOn = l.price(), l.date()
	to.ownDay = to.dueOn.Day()
	l.w.update(l.t, person.id, "price", priceText(to.price), "data_de_vencimento", to.dueOn.String())
	l.change(person, to)
}

func (l *life) cancelOrRestore(person *person) {
	if person.cancelled {
		l.w.update(l.t, person.id, "cancelled", "false")
		l.restore(person)
		return
	}
	keep := l.random.IntN(3) == 0
	_, err := l.w.customers.Update(l.t.Context(), l.w.actor, person.id,
		customer.ReadChanges(values("cancelled", "true", "keep_invoices", fmt.Sprint(keep))))
	l.wantRefused(l.cancel(person, keep), err)
}

func (l *life) delete(person *person) {
	must(l.t, l.w.customers.Delete(l.t.Context(), l.w.actor, person.id))
	l.remove(person)
}

func (l *life) billExtra(person *person) {
	b := &bill{of: person, amount: money.Cents(1 + l.random.Int64N(int64(money.Max/8))), dueOn: l.today.AddDays(l.random.IntN(9) - 4)}
	_, err := l.w.CreateExtra(l.t.Context(), l.w.actor, person.id, ReadExtra(values("amount", b.amount.String(), "due", b.dueOn.String())))
	must(l.t, err)
	l.add(b)
}

// editSome changes an invoice by hand, or tries to.
func (l *life) editSome() {
	if len(l.bills) == 0 {
		return
	}
	bill := l.oneBill()
	if l.random.IntN(6) == 0 {
		off := 1 + money.Cents(l.random.Int64N(int64(bill.amount)))
		_, err := l.w.Edit(l.t.Context(), l.w.actor, bill.id, ReadEditOff(values("off", off.String(), "off_reason", "atraso")))
		l.wantRefused(l.takeOff(bill, off), err)
		return
	}
	to, pairs := change{amount: bill.amount, dueOn: bill.dueOn}, []string{"description", fmt.Sprint("d", l.random.IntN(3))}
	if l.random.IntN(2) == 0 {
		to.amount = 1 + money.Cents(l.random.IntN(9000))
		pairs = append(pairs, "total_amount", to.amount.String())
	}
	if l.random.IntN(2) == 0 {
		to.dueOn = l.today.AddDays(l.random.IntN(20) - 4)
		pairs = append(pairs, "due_date", to.dueOn.String())
	}
	if l.random.IntN(3) == 0 {
		discount := pick(l.random, []OwnDiscount{{}, {0, true}, {1, true}, {150, true}, {l.due(bill, l.today).discount, true}})
		to.discount = &discount
		pairs = append(pairs, "discount", discount.String())
	}
	_, err := l.w.Edit(l.t.Context(), l.w.actor, bill.id, ReadEdit(values(pairs...)))
	l.wantRefused(l.edit(bill, to), err)
}

// wantRefused wants the error to name a field; "": none.
func (l *life) wantRefused(field string, err error) {
	l.t.Helper()
	if l.onClosedDay(err) {
		return
	}
	if field == "" {
		must(l.t, err)
		return
	}
	wantField(l.t, err, field)
}

func (l *life) issueAgain(person *person) {
	_, err := l.w.Create(l.t.Context(), l.w.actor, person.id, ReadExtra(values("renews", "true")))
	l.wantRefused(l.reissue(person), err)
}

func (l *life) date() civil.Date {
	if l.random.IntN(6) == 0 {
		return civil.Date{}
	}
	return l.today.AddDays(l.random.IntN(24) - 4)
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }
