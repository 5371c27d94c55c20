package dashboard

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/tally"
)

// model is what lists do not show any more, or never did.
type model struct {
	renewals []renewal
	deleted  []customer.Customer
	left     map[int64]string  // the month in which they were
	settled  []billing.Invoice // paid ones of deleted customers
	history  map[int64][]valued
	seen     map[int64]civil.Date // the due date that a customer had when it was looked at last
}

// renewal is one that business brought about; invoiceID is 0 where no payment did.
type renewal struct {
	customerID, invoiceID int64
	on                    civil.Date
}

// valued is what a customer is worth from a day on.
type valued struct {
	from   civil.Date
	worth  money.Cents
	planID int64
}

// Months of business, and then every figure of seven months, of all plans and of
// each, is computed once more from what the lists show.
//
// Mutants that it kills: the edge of a bucket one day off, churn by those at the
// end, worth that stays after the expiry, a refund on the day of its payment, the
// sums of a deleted customer taken away.
func TestEveryNumberIsWhatTheListsAddUpTo(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many days")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		other := w.another(t, "Pacific/Auckland")
		random := rand.New(rand.NewPCG(8, 9))
		for range 110 {
			for _, p := range []*world{w, other} {
				p.business(t, random)
				p.observe(t)
			}
			w.Clock.Advance(22 * time.Hour)
			if random.IntN(9) == 0 {
				housetest.Must(t, tally.Compact(t.Context(), w.DB))
			}
		}
		for _, p := range []*world{w, other} {
			_, err := p.Customers.Create(t.Context(), p.Actor, customer.ReadNew(housetest.Form("name", "Ana", "plan_id", fmt.Sprint(p.plan(random)), "price", "12.00",
				"data_de_vencimento", p.Actor.Today(w.Clock.Now()).String())))
			housetest.Must(t, err)
			_, err = p.Customers.Expire(t.Context(), p.Actor)
			housetest.Must(t, err)
			p.observe(t)
			for _, month := range []string{"2025-12-01", "2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01", "2026-06-01"} {
				for _, planID := range []int64{0, 2*p.Actor.Company.ID - 1, 2 * p.Actor.Company.ID} {
					p.wantMonth(t, Question{First: civil.MustParse(month), PlanID: planID})
				}
			}
			now, err := p.Month(t.Context(), p.Actor, Question{})
			if today := p.Actor.Today(w.Clock.Now()); err != nil || now.Month != today.String()[:7] || !reflect.DeepEqual(now, p.month(t, now.Month+"-01")) {
				t.Errorf("the present month is %s on %v, %v", now.Month, today, err)
			}
		}
		wantNothingByChance(t, w, other)
	})
}

// wantNothingByChance looks for figures that are nothing in every month: those
// would be right by chance.
func wantNothingByChance(t *testing.T, worlds ...*world) {
	t.Helper()
	var moved Recurring
	numbers := make([]int64, 17)
	for _, first := range []string{"2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01"} {
		for _, w := range worlds {
			m := w.month(t, first)
			moved.plus(m.Recurring)
			for n, number := range []int64{
				m.Customers.New, *m.Customers.Renewed, m.Customers.Lost, m.Invoices.Overdue.Count, m.Invoices.Paid.Count,
				m.Invoices.Cancelled.Count, int64(m.Revenue.PreviousMonth), m.Invoices.Open.Count, m.Customers.DueToday, m.Customers.Active,
				m.Customers.Expired, m.Customers.NewDeleted, m.Overdue.ByAge[4].Customers, m.Overdue.ByAge[2].Customers,
				m.Punctuality.Late, m.Punctuality.OnTime, m.Customers.Cancelled,
			} {
				numbers[n] += number
			}
		}
	}
	for n, number := range append(numbers, moved.New.Customers, moved.Lost.Customers, moved.Lost.Deleted, moved.Up.Customers,
		moved.Down.Customers, moved.Start.Customers) {
		if number == 0 {
			t.Errorf("number %d is not put to the test", n)
		}
	}
}

func (r *Recurring) plus(other Recurring) {
	for place, worth := range map[*Worth]Worth{
		&r.Start: other.Start, &r.New: other.New, &r.Lost: other.Lost, &r.Up: other.Up, &r.Down: other.Down,
	} {
		place.Customers += worth.Customers
		place.Deleted += worth.Deleted
	}
}

func (w *world) wantMonth(t *testing.T, q Question) {
	t.Helper()
	got, err := w.Month(t.Context(), w.Actor, q)
	housetest.Must(t, err)
	want := w.addUp(t, q)
	want.Links = got.Links // another test follows them
	for n := range reflect.TypeFor[Month]().NumField() {
		part, wanted := reflect.ValueOf(got).Field(n).Interface(), reflect.ValueOf(want).Field(n).Interface()
		if !reflect.DeepEqual(part, wanted) {
			t.Errorf("%s of %s, plan %d:\ngot  %s\nwant %s",
				reflect.TypeFor[Month]().Field(n).Name, got.Month, q.PlanID, jsonOf(t, part), jsonOf(t, wanted))
		}
	}
}

// business is what happens in half a day.
func (w *world) business(t *testing.T, random *rand.Rand) {
	t.Helper()
	w.move(t, random)
	ctx, today := t.Context(), w.Actor.Today(w.Clock.Now())
	people := w.everybody(t)
	if len(people) < 40 && random.IntN(3) > 0 {
		_, err := w.Customers.Create(ctx, w.Actor, customer.ReadNew(housetest.Form("name", "Ana",
			"plan_id", fmt.Sprint(w.plan(random)), "data_de_vencimento", today.AddDays(random.IntN(30)-3).String())))
		housetest.Must(t, err)
	}
	if all := w.everything(t); len(all) > 0 {
		w.settle(t, random, all[random.IntN(len(all))])
	}
	if len(people) > 0 {
		w.meddle(t, random, people[random.IntN(len(people))])
	}
	_, err := w.Customers.Expire(ctx, w.Actor)
	housetest.Must(t, err)
	_, err = w.billing.Issue(ctx, w.Actor)
	housetest.Must(t, err)
}

// settle pays an invoice, in whole or in part, gives money back, undoes or
// cancels.
func (w *world) settle(t *testing.T, random *rand.Rand, i billing.Invoice) {
	t.Helper()
	today := w.Actor.Today(w.Clock.Now())
	if i.Status == billing.Paid && random.IntN(4) == 0 {
		w.refund(t, i)
		return
	}
	fields := []string{
		"status", []string{"Pago", "Pago", "Pago", "Em aberto", "Cancelado"}[random.IntN(5)],
		"paid_at", today.AddDays(-random.IntN(4) * random.IntN(15)).String(),
	}
	if random.IntN(4) == 0 && i.Amount > 100 {
		fields = append(fields, "amount", (i.Amount / 3).String(), "difference", []string{"partial", "discount"}[random.IntN(2)])
	}
	out, err := w.billing.SetStatus(t.Context(), w.Actor, i.ID, billing.ReadStatusChange(housetest.Form(fields...)))
	if fault.KindOf(err) != fault.KindInvalid {
		housetest.Must(t, err)
	}
	w.note(i, out)
}

// note remembers what became of the customer's due date.
func (w *world) note(i billing.Invoice, out billing.Outcome) {
	if out.Renewed {
		w.renewals = append(w.renewals, renewal{i.Customer.ID, i.ID, out.PaidOn})
	}
	if out.MovedBack {
		w.renewals = slices.DeleteFunc(w.renewals, func(r renewal) bool { return r.invoiceID == i.ID })
	}
}

// refund gives back all of the newest payment of an invoice.
func (w *world) refund(t *testing.T, i billing.Invoice) {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), w.DB, `
		SELECT COALESCE(MAX(id), 0) FROM payments WHERE company_id = ? AND invoice_id = ? AND status = 'applied'`, w.Actor.Company.ID, i.ID)
	housetest.Must(t, err)
	if id == 0 {
		return
	}
	var out billing.Outcome
	housetest.Must(t, w.DB.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		out, err = w.billing.RefundTx(t.Context(), tx, w.Actor, billing.Refund{PaymentID: id, RefundID: fmt.Sprint("r", id)})
		return err
	}))
	w.note(i, out)
}

// meddle does something to a customer.
func (w *world) meddle(t *testing.T, random *rand.Rand, c customer.Customer) {
	t.Helper()
	ctx := t.Context()
	update := func(fields ...string) {
		t.Helper()
		_, err := w.Customers.Update(ctx, w.Actor, c.ID, customer.ReadChanges(housetest.Form(fields...)))
		housetest.Must(t, err)
	}
	switch random.IntN(18) {
	case 0, 1:
		w.remember(t, c)
		housetest.Must(t, w.Customers.Delete(ctx, w.Actor, c.ID))
	case 2, 3:
		_, err := w.Customers.Renew(ctx, w.Actor, c.ID)
		housetest.Must(t, err)
		w.renewals = append(w.renewals, renewal{customerID: c.ID, on: w.Actor.Today(w.Clock.Now())})
	case 4:
		_, err := w.billing.CreateExtra(ctx, w.Actor, c.ID, billing.ReadExtra(housetest.Form("amount", money.Cents(1+random.Int64N(int64(money.Max))).String())))
		housetest.Must(t, err)
	case 5:
		update("data_de_vencimento", "")
	case 6, 7:
		update("plan_id", fmt.Sprint(w.plan(random)))
	case 8:
		update("price", []string{"", "0.00", "9.99", "80.00"}[random.IntN(4)])
	case 9:
		update("cancelled", fmt.Sprint(!c.IsCancelled()))
	case 10:
		_, err := w.Catalog.UpdatePlan(ctx, w.Actor, w.plan(random), catalog.ReadPlanChanges(housetest.Form(
			"value", []string{"35.10", "0.00", "40.00", "17.77"}[random.IntN(4)], "period", []string{"1month", "1week", "3month", "1year"}[random.IntN(4)])))
		housetest.Must(t, err)
	}
}

// remember keeps what the lists forget of a customer who is deleted.
func (w *world) remember(t *testing.T, c customer.Customer) {
	t.Helper()
	w.deleted = append(w.deleted, c)
	w.left[c.ID] = w.Actor.Today(w.Clock.Now()).String()[:7]
	for _, i := range w.everything(t) {
		if i.Customer.ID == c.ID && i.Status == billing.Paid {
			w.settled = append(w.settled, i)
		}
	}
}

// move takes the company to another time zone now and then.
func (w *world) move(t *testing.T, random *rand.Rand) {
	t.Helper()
	if random.IntN(15) > 0 {
		return
	}
	zone := []string{account.DefaultTimezone, "Pacific/Auckland", "Pacific/Honolulu", "Europe/Lisbon"}[random.IntN(4)]
	company, err := w.Accounts.SetCompany(t.Context(), w.Actor, account.ReadCompanyDraft(housetest.Form("timezone", zone)))
	housetest.Must(t, err)
	w.Actor.Company = company
}

// observe writes down what each customer is worth.
func (w *world) observe(t *testing.T) {
	t.Helper()
	if w.history == nil {
		w.history, w.seen, w.left = map[int64][]valued{}, map[int64]civil.Date{}, map[int64]string{}
	}
	today := w.Actor.Today(w.Clock.Now())
	for _, c := range w.everybody(t) {
		now := valued{from: today, planID: c.Plan.ID}
		status := c.Status(today)
		if c.Plan.ID != 0 && (status == customer.Active || status == customer.DueToday) {
			now.worth = figures.Monthly(c.Price(), c.Period())
		}
		if status == customer.Expired && w.seen[c.ID] == c.DueOn { // by the calendar
			now.from = c.DueOn.AddDays(1)
		}
		w.value(c.ID, now)
		w.seen[c.ID] = c.DueOn
	}
	for _, c := range w.deleted {
		w.value(c.ID, valued{from: today, planID: c.Plan.ID})
	}
}

// value adds to the history of a customer what is new. Days do not go back,
// though a company that moves to the west lives one twice; and who has expired
// by then stays so until something is done.
func (w *world) value(id int64, now valued) {
	list := w.history[id]
	if len(list) > 0 {
		last := list[len(list)-1]
		if last.worth == now.worth && last.planID == now.planID {
			return
		}
		if now.from.Before(last.from) {
			now.from = last.from
		}
	}
	w.history[id] = append(list, now)
}

func (w *world) plan(random *rand.Rand) int64 { return 2*w.Actor.Company.ID - random.Int64N(2) }

// everybody and everything are the lists from their first page to their last.
func (w *world) everybody(t *testing.T) []customer.Customer {
	t.Helper()
	return pages(t, func(p input.Page) ([]customer.Customer, int64, error) {
		return w.Customers.List(t.Context(), w.Actor, customer.Filter{}, p)
	})
}

func (w *world) everything(t *testing.T) []billing.Invoice {
	t.Helper()
	return pages(t, func(p input.Page) ([]billing.Invoice, int64, error) {
		return w.billing.List(t.Context(), w.Actor, billing.Filter{}, p)
	})
}

func pages[T any](t *testing.T, list func(input.Page) ([]T, int64, error)) (all []T) {
	t.Helper()
	for p := (input.Page{Number: 1, Size: 200}); ; p.Number++ {
		some, total, err := list(p)
		housetest.Must(t, err)
		if all = append(all, some...); p.Number >= p.Last(total) {
			return all
		}
	}
}

// sums is one computation from the lists.
type sums struct {
	*world
	Month
	question Question
	today    civil.Date
}

func (s *sums) in(d civil.Date) bool { return !d.IsZero() && d.String()[:7] == s.Month.Month }

func (s *sums) of(planID int64) bool { return s.question.PlanID == 0 || s.question.PlanID == planID }

// addUp computes a month from the lists, and the rest from what was done.
func (w *world) addUp(t *testing.T, q Question) Month {
	t.Helper()
	s := &sums{world: w, Month: Month{Month: q.First.String()[:7]}, question: q, today: w.Actor.Today(w.Clock.Now())}
	people := map[int64]customer.Customer{}
	for _, c := range w.everybody(t) {
		people[c.ID] = c
		if s.of(c.Plan.ID) {
			s.addCustomer(c)
		}
	}
	for _, c := range w.deleted {
		if s.of(c.Plan.ID) && s.in(c.CreatedOn) {
			s.Customers.New++
			s.Customers.NewDeleted++
		}
	}
	if q.PlanID == 0 {
		renewed := int64(len(w.renewed(s.in)))
		s.Customers.Renewed = &renewed
	}
	s.addMonths(t)
	s.addInvoices(w.everything(t), people)
	s.addMoney(t)
	s.addMovement()
	return s.Month
}

func (s *sums) addCustomer(c customer.Customer) {
	s.Customers.Total++
	switch c.Status(s.today) {
	case customer.Active:
		s.Customers.Active++
	case customer.DueToday:
		s.Customers.DueToday++
	case customer.Expired:
		s.Customers.Expired++
		if s.in(c.DueOn) {
			s.Customers.Lost++
		}
	case customer.Cancelled:
		s.Customers.Cancelled++
	}
	if s.in(c.CreatedOn) {
		s.Customers.New++
	}
}

// addInvoices adds up invoices by month and by age.
func (s *sums) addInvoices(all []billing.Invoice, people map[int64]customer.Customer) {
	var owed []figures.Owed
	var oldest []figures.Owed
	for _, i := range all {
		if i.Status == billing.Open && s.of(people[i.Customer.ID].Plan.ID) {
			oldest = append(oldest, figures.Owed{CustomerID: i.Customer.ID, DueOn: i.DueOn})
		}
		if !s.of(i.Plan.ID) {
			continue
		}
		rest := max(0, i.Amount-i.Received)
		switch {
		case i.Status == billing.Paid:
			if s.in(i.PaidOn) {
				s.Invoices.Paid.one(i.Received)
			}
			s.addPunctual(i)
		case i.Status == billing.Cancelled:
			if s.in(i.DueOn) {
				s.Invoices.Cancelled.one(i.Amount)
			}
		case i.Overdue(s.today):
			owed = append(owed, figures.Owed{DueOn: i.DueOn, Invoices: 1, Amount: rest})
			s.monthOf(i.DueOn).Overdue += rest
			if s.in(i.DueOn) {
				s.Invoices.Overdue.one(rest)
			}
		default:
			s.monthOf(i.DueOn).Open += rest
			if s.in(i.DueOn) {
				s.Invoices.Open.one(rest)
			}
		}
	}
	for _, i := range s.settled {
		if s.of(i.Plan.ID) {
			s.addPunctual(i)
		}
	}
	s.addAges(figures.Age(owed, s.today), figures.Age(oldest, s.today))
	if n := s.Punctuality.OnTime + s.Punctuality.Late; n > 0 {
		share := float64((s.Punctuality.OnTime*20000+n)/(2*n)) / 100
		s.Punctuality.OnTimePercent = &share
	}
}

func (s *sums) addPunctual(i billing.Invoice) {
	switch {
	case !s.in(i.PaidOn):
	case i.PaidOn.After(i.DueOn):
		s.Punctuality.Late++
	default:
		s.Punctuality.OnTime++
	}
}

func (s *sums) addAges(invoices, customers []figures.Bucket) {
	for n, b := range invoices {
		age := Age{FromDays: b.Span.From, Customers: customers[n].Customers, Invoices: b.Invoices, Amount: b.Amount}
		if b.Span.To > 0 {
			age.ToDays = &b.Span.To
		}
		s.Month.Overdue.ByAge = append(s.Month.Overdue.ByAge, age)
		s.Month.Overdue.Customers += age.Customers
		s.Month.Overdue.Invoices += age.Invoices
		s.Month.Overdue.Amount += age.Amount
	}
}

func (s *Sum) one(amount money.Cents) {
	s.Count++
	s.Amount += amount
}

// addMonths makes the twelve months that end with the one asked for.
func (s *sums) addMonths(t *testing.T) {
	t.Helper()
	first, err := time.Parse("2006-01", s.Month.Month)
	housetest.Must(t, err)
	for n := -11; n <= 0; n++ {
		s.Months = append(s.Months, Period{Month: first.AddDate(0, n, 0).Format("2006-01")})
	}
}

func (s *sums) monthOf(d civil.Date) *Period {
	for n := range s.Months {
		if s.Months[n].Month == d.String()[:7] {
			return &s.Months[n]
		}
	}
	return &Period{}
}

// addMoney adds up the ledger, where money of deleted customers stays.
func (s *sums) addMoney(t *testing.T) {
	t.Helper()
	byDay := map[civil.Date]Day{}
	before := s.question.First.AddDays(-1).String()[:7]
	for _, came := range s.money(t) {
		s.monthOf(came.Date).Received += came.Amount
		if s.in(came.Date) {
			s.Revenue.Received += came.Amount
			s.Revenue.Payments += came.Count
			d := byDay[came.Date]
			byDay[came.Date] = Day{came.Date, d.Amount + came.Amount, d.Count + came.Count}
		}
		if came.Date.String()[:7] == before {
			s.Revenue.PreviousMonth += came.Amount
		}
	}
	for d := s.question.First; s.in(d); d = d.AddDays(1) {
		s.Revenue.ByDay = append(s.Revenue.ByDay, Day{d, byDay[d].Amount, byDay[d].Count})
	}
	for n := range s.Months {
		p := &s.Months[n]
		p.Expected = p.Received + p.Open + p.Overdue
	}
	if n := money.Cents(s.Revenue.Payments); n > 0 && s.Revenue.Received > 0 {
		ticket := (2*s.Revenue.Received + n) / (2 * n)
		s.Revenue.AverageTicket = &ticket
	}
	s.Revenue.Expected = s.Revenue.Received + s.Invoices.Open.Amount + s.Invoices.Overdue.Amount
	s.Revenue.ChangePercent = changeOf(s.Revenue.Received, s.Revenue.PreviousMonth)
}

// money is every payment that counts and every refund, as a minus.
func (s *sums) money(t *testing.T) []Day {
	t.Helper()
	list, err := sqldb.All(t.Context(), s.DB, func(r sqldb.Row) (d Day, err error) {
		err = r.Scan(&d.Date, (*int64)(&d.Amount), &d.Count)
		return d, err
	}, `SELECT paid_on, amount_cents, 1 FROM payments WHERE company_id = ? AND (? = 0 OR plan_id = ?) AND status IN ('applied', 'partial', 'refunded')
		UNION ALL SELECT r.refunded_on, -r.amount_cents, 0 FROM payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE p.company_id = ? AND (? = 0 OR p.plan_id = ?)`,
		s.Actor.Company.ID, s.question.PlanID, s.question.PlanID, s.Actor.Company.ID, s.question.PlanID, s.question.PlanID)
	housetest.Must(t, err)
	return list
}

// addMovement compares the two ends of the month, customer by customer.
func (s *sums) addMovement() {
	first, r := s.question.First, &s.Month.Recurring
	for id, list := range s.history {
		start, end := lastOn(list, first.AddDays(-1)), lastOn(list, lastOf(first))
		left := s.left[id]
		if left != "" {
			left = max(left, list[len(list)-1].from.String()[:7])
		}
		s.addMoved(start, end, left == s.Month.Month)
	}
	r.Customers, r.Amount = r.Start.Customers+r.New.Customers-r.Lost.Customers, r.Start.Amount+r.New.Amount-r.Lost.Amount+r.Up.Amount-r.Down.Amount
	r.Customers += r.In.Customers - r.Out.Customers
	r.Amount += r.In.Amount - r.Out.Amount
	if n := r.Start.Customers; n > 0 {
		churn := float64((r.Lost.Customers*20000+n)/(2*n)) / 100
		r.Churn = &churn
	}
	if n := int64(r.Start.Amount); n > 0 {
		churn := float64((int64(r.Lost.Amount+r.Down.Amount)*20000+n)/(2*n)) / 100
		r.Revenue = &churn
	}
}

func (s *sums) addMoved(start, end valued, isGone bool) {
	r := &s.Month.Recurring
	add := func(to *Worth, planID int64, amount money.Cents) {
		if s.of(planID) && amount > 0 {
			to.Customers++
			to.Amount += amount
		}
	}
	add(&r.Start, start.planID, start.worth)
	if s.question.PlanID != 0 && start.planID != end.planID && start.worth > 0 && end.worth > 0 {
		add(&r.Out, start.planID, start.worth)
		add(&r.In, end.planID, start.worth)
	}
	switch {
	case start.worth == 0:
		add(&r.New, end.planID, end.worth)
	case end.worth == 0:
		add(&r.Lost, start.planID, start.worth)
		if isGone && s.of(start.planID) {
			r.Lost.Deleted++
		}
	case end.worth > start.worth:
		add(&r.Up, end.planID, end.worth-start.worth)
	default:
		add(&r.Down, end.planID, start.worth-end.worth)
	}
}

func lastOn(list []valued, on civil.Date) (found valued) {
	for _, v := range list {
		if !v.from.After(on) {
			found = v
		}
	}
	return found
}

// changeOf is the change in tenths of a percent, rounded in whole numbers.
func changeOf(now, before money.Cents) *float64 {
	if before <= 0 {
		return nil
	}
	tenths := ((now-before)*2000 + before) / (2 * before)
	if now < before {
		tenths = -(((before-now)*2000 + before) / (2 * before))
	}
	p := float64(tenths) / 10
	return &p
}

// renewed are the customers that were renewed in a month, deleted ones too.
func (w *world) renewed(in func(civil.Date) bool) map[int64]bool {
	found := map[int64]bool{}
	for _, r := range w.renewals {
		if in(r.on) {
			found[r.customerID] = true
		}
	}
	return found
}
