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
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
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
		for day := range 110 {
			for _, p := range []*world{w, other} {
				p.business(t, random)
				p.observe(t)
				if day%6 == 0 {
					p.wantRecounted(t)
				}
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
		for _, world := range worlds {
			month := world.month(t, first)
			moved.plus(month.Recurring)
			for n, number := range []int64{
				month.Customers.New, *month.Customers.Renewed, month.Customers.Lost, month.Invoices.Overdue.Count, month.Invoices.Paid.Count,
				month.Invoices.Cancelled.Count, int64(month.Revenue.PreviousMonth), month.Invoices.Open.Count, month.Customers.DueToday, month.Customers.Active,
				month.Customers.Expired, month.Customers.NewDeleted, month.Overdue.ByAge[4].Customers, month.Overdue.ByAge[2].Customers,
				month.Punctuality.Late, month.Punctuality.OnTime, month.Customers.Cancelled,
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

func (w *world) wantMonth(t *testing.T, question Question) {
	t.Helper()
	got, err := w.Month(t.Context(), w.Actor, question)
	housetest.Must(t, err)
	want := w.addUp(t, question)
	want.Links = got.Links                                 // another test follows them
	want.Revenue.PreviousByDay = got.Revenue.PreviousByDay // ByDay of the month before
	w.wantBefore(t, question, got)
	for n := range reflect.TypeFor[Month]().NumField() {
		part, wanted := reflect.ValueOf(got).Field(n).Interface(), reflect.ValueOf(want).Field(n).Interface()
		if !reflect.DeepEqual(part, wanted) {
			t.Errorf("%s of %s, plan %d:\ngot  %s\nwant %s",
				reflect.TypeFor[Month]().Field(n).Name, got.Month, question.PlanID, jsonOf(t, part), jsonOf(t, wanted))
		}
	}
}

// wantBefore wants the days before a month to be those of that month.
func (w *world) wantBefore(t *testing.T, question Question, got Month) {
	t.Helper()
	question.First = firstOf(question.First.AddDays(-1))
	if before := w.addUp(t, question).Revenue.ByDay; !reflect.DeepEqual(got.Revenue.PreviousByDay, before) {
		t.Errorf("before %s, plan %d:\ngot  %s\nwant %s", got.Month, question.PlanID, jsonOf(t, got.Revenue.PreviousByDay), jsonOf(t, before))
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
func (w *world) settle(t *testing.T, random *rand.Rand, invoice billing.Invoice) {
	t.Helper()
	today := w.Actor.Today(w.Clock.Now())
	if invoice.Status == billing.Paid && random.IntN(4) == 0 {
		w.refund(t, invoice)
		return
	}
	fields := []string{
		"status", []string{"Pago", "Pago", "Pago", "Em aberto", "Cancelado"}[random.IntN(5)],
		"paid_at", today.AddDays(-random.IntN(4) * random.IntN(15)).String(),
	}
	if random.IntN(4) == 0 && invoice.Amount > 100 {
		fields = append(fields, "amount", (invoice.Amount / 3).String(), "difference", []string{"partial", "discount"}[random.IntN(2)])
	}
	out, err := w.billing.SetStatus(t.Context(), w.Actor, invoice.ID, billing.ReadStatusChange(housetest.Form(fields...)))
	if fault.KindOf(err) != fault.KindInvalid {
		housetest.Must(t, err)
	}
	w.note(invoice, out)
}

// note remembers what became of the customer's due date.
func (w *world) note(invoice billing.Invoice, out billing.Outcome) {
	if out.Renewed {
		w.renewals = append(w.renewals, renewal{invoice.Customer.ID, invoice.ID, out.PaidOn})
	}
	if out.MovedBack {
		w.renewals = slices.DeleteFunc(w.renewals, func(renewal renewal) bool { return renewal.invoiceID == invoice.ID })
	}
}

// refund gives back all of the newest payment of an invoice.
func (w *world) refund(t *testing.T, invoice billing.Invoice) {
	t.Helper()
	id, err := sqldb.Value[int64](t.Context(), w.DB, `
		SELECT COALESCE(MAX(id), 0) FROM payments WHERE company_id = ? AND invoice_id = ? AND status = 'applied'`, w.Actor.Company.ID, invoice.ID)
	housetest.Must(t, err)
	if id == 0 {
		return
	}
	var out billing.Outcome
	housetest.Must(t, w.DB.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		out, err = w.billing.RefundTx(t.Context(), w.Actor.In(tx), billing.Refund{PaymentID: id, RefundID: fmt.Sprint("r", id)})
		return err
	}))
	w.note(invoice, out)
}

// meddle does something to a customer.
func (w *world) meddle(t *testing.T, random *rand.Rand, record customer.Customer) {
	t.Helper()
	ctx := t.Context()
	update := func(fields ...string) {
		t.Helper()
		_, err := w.Customers.Update(ctx, w.Actor, record.ID, customer.ReadChanges(housetest.Form(fields...)))
		housetest.Must(t, err)
	}
	switch random.IntN(18) {
	case 0, 1:
		w.remember(t, record)
		housetest.Must(t, w.Customers.Delete(ctx, w.Actor, record.ID))
	case 2, 3:
		if record.IsCancelled() { // it is not renewed before it is taken back
			update("cancelled", "false")
		}
		_, err := w.Customers.Renew(ctx, w.Actor, record.ID)
		housetest.Must(t, err)
		w.renewals = append(w.renewals, renewal{customerID: record.ID, on: w.Actor.Today(w.Clock.Now())})
	case 4:
		_, err := w.billing.CreateExtra(ctx, w.Actor, record.ID, billing.ReadExtra(housetest.Form("amount", money.Cents(1+random.Int64N(int64(money.Max))).String())))
		housetest.Must(t, err)
	case 5:
		update("data_de_vencimento", "")
	case 6, 7:
		update("plan_id", fmt.Sprint(w.plan(random)))
	case 8:
		update("price", []string{"", "0.00", "9.99", "80.00"}[random.IntN(4)])
	case 9:
		_, err := w.Customers.Update(ctx, w.Actor, record.ID, customer.ReadChanges(housetest.Form("cancelled", fmt.Sprint(!record.IsCancelled()))))
		if fault.KindOf(err) != fault.KindInvalid { // money came for an open invoice
			housetest.Must(t, err)
		}
	case 10:
		_, err := w.Catalog.UpdatePlan(ctx, w.Actor, w.plan(random), catalog.ReadPlanChanges(housetest.Form(
			"value", []string{"35.10", "0.00", "40.00", "17.77"}[random.IntN(4)], "period", []string{"1month", "1week", "3month", "1year"}[random.IntN(4)])))
		housetest.Must(t, err)
	}
}

// remember keeps what the lists forget of a customer who is deleted.
func (w *world) remember(t *testing.T, record customer.Customer) {
	t.Helper()
	w.deleted = append(w.deleted, record)
	w.left[record.ID] = w.Actor.Today(w.Clock.Now()).String()[:7]
	for _, invoice := range w.everything(t) {
		if invoice.Customer.ID == record.ID && invoice.Status == billing.Paid {
			w.settled = append(w.settled, invoice)
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
	for _, record := range w.everybody(t) {
		now := valued{from: today, planID: record.Plan.ID}
		status := record.Status(today)
		if record.Plan.ID != 0 && (status == customer.Active || status == customer.DueToday) {
			now.worth = figures.Monthly(record.Price(), record.Period())
		}
		if status == customer.Expired && w.seen[record.ID] == record.DueOn { // by the calendar
			now.from = record.DueOn.AddDays(1)
		}
		w.value(record.ID, now)
		w.seen[record.ID] = record.DueOn
	}
	for _, record := range w.deleted {
		w.value(record.ID, valued{from: today, planID: record.Plan.ID})
	}
}

// value adds the news of a customer to its history. Days do not go back,
// though a company that moves to the west lives one twice; a customer that has
// expired by then stays so until something is done.
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
	return pages(t, func(page input.Page) ([]customer.Customer, int64, error) {
		return w.Customers.List(t.Context(), w.Actor, customer.Filter{}, page)
	})
}

func (w *world) everything(t *testing.T) []billing.Invoice {
	t.Helper()
	return pages(t, func(page input.Page) ([]billing.Invoice, int64, error) {
		return w.billing.List(t.Context(), w.Actor, billing.Filter{}, page)
	})
}

func pages[T any](t *testing.T, list func(input.Page) ([]T, int64, error)) (all []T) {
	t.Helper()
	for page := (input.Page{Number: 1, Size: 200}); ; page.Number++ {
		some, total, err := list(page)
		housetest.Must(t, err)
		if all = append(all, some...); page.Number >= page.Last(total) {
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

func (s *sums) in(day civil.Date) bool { return !day.IsZero() && day.String()[:7] == s.Month.Month }

func (s *sums) of(planID int64) bool { return s.question.PlanID == 0 || s.question.PlanID == planID }

// addUp computes a month from the lists, and the rest from what was done.
func (w *world) addUp(t *testing.T, question Question) Month {
	t.Helper()
	s := &sums{world: w, Month: Month{Month: question.First.String()[:7]}, question: question, today: w.Actor.Today(w.Clock.Now())}
	people := map[int64]customer.Customer{}
	for _, record := range w.everybody(t) {
		people[record.ID] = record
		if s.of(record.Plan.ID) {
			s.addCustomer(record)
		}
	}
	for _, record := range w.deleted {
		if s.of(record.Plan.ID) && s.in(record.CreatedOn()) {
			s.Customers.New++
			s.Customers.NewDeleted++
		}
	}
	if question.PlanID == 0 {
		renewed := int64(len(w.renewed(s.in)))
		s.Customers.Renewed = &renewed
	}
	s.addMonths(t)
	s.addInvoices(w.everything(t), people)
	s.addMoney(t)
	s.addMovement()
	return s.Month
}

func (s *sums) addCustomer(record customer.Customer) {
	s.Customers.Total++
	switch record.Status(s.today) {
	case customer.Active:
		s.Customers.Active++
	case customer.DueToday:
		s.Customers.DueToday++
	case customer.Expired:
		s.Customers.Expired++
		if s.in(record.DueOn) {
			s.Customers.Lost++
		}
	case customer.Cancelled:
		s.Customers.Cancelled++
	}
	if s.in(record.CreatedOn()) {
		s.Customers.New++
	}
}

// addInvoices adds up invoices by month and by age.
func (s *sums) addInvoices(all []billing.Invoice, people map[int64]customer.Customer) {
	var owed []owedItem
	var oldest []owedItem
	for _, invoice := range all {
		if invoice.Status == billing.Open && s.of(people[invoice.Customer.ID].Plan.ID) {
			oldest = append(oldest, owedItem{CustomerID: invoice.Customer.ID, DueOn: invoice.DueOn})
		}
		if !s.of(invoice.Plan.ID) {
			continue
		}
		rest := max(0, invoice.Amount-invoice.Received)
		switch {
		case invoice.Status == billing.Paid:
			if s.in(invoice.PaidOn) {
				s.Invoices.Paid.one(invoice.Settled)
			}
			s.addPunctual(invoice)
		case invoice.Status == billing.Cancelled:
			if s.in(invoice.DueOn) {
				s.Invoices.Cancelled.one(invoice.Amount)
			}
		case invoice.Overdue(s.today):
			owed = append(owed, owedItem{DueOn: invoice.DueOn, Invoices: 1, Amount: rest})
			s.monthOf(invoice.DueOn).Overdue += rest
			if s.in(invoice.DueOn) {
				s.Invoices.Overdue.one(rest)
			}
		default:
			s.monthOf(invoice.DueOn).Open += rest
			if s.in(invoice.DueOn) {
				s.Invoices.Open.one(rest)
			}
		}
	}
	for _, invoice := range s.settled {
		if !s.of(invoice.Plan.ID) {
			continue
		}
		if s.in(invoice.PaidOn) {
			s.Invoices.Paid.one(invoice.Settled)
		}
		s.addPunctual(invoice)
	}
	s.addAges(ageOf(owed, s.today), ageOf(oldest, s.today))
	if n := s.Punctuality.OnTime + s.Punctuality.Late; n > 0 {
		share := float64((s.Punctuality.OnTime*20000+n)/(2*n)) / 100
		s.Punctuality.OnTimePercent = &share
	}
}

func (s *sums) addPunctual(invoice billing.Invoice) {
	switch {
	case !s.in(invoice.PaidOn):
	case invoice.PaidOn.After(invoice.DueOn):
		s.Punctuality.Late++
	default:
		s.Punctuality.OnTime++
	}
}

func (s *sums) addAges(invoices, customers []ageBucket) {
	for n, invoice := range invoices {
		age := Age{FromDays: invoice.Span.From, Customers: customers[n].Customers, Invoices: invoice.Invoices, Amount: invoice.Amount}
		if invoice.Span.To > 0 {
			age.ToDays = &invoice.Span.To
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

func (s *sums) monthOf(day civil.Date) *Period {
	for n := range s.Months {
		if s.Months[n].Month == day.String()[:7] {
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
			day := byDay[came.Date]
			byDay[came.Date] = Day{came.Date, day.Amount + came.Amount, day.Count + came.Count}
		}
		if came.Date.String()[:7] == before {
			s.Revenue.PreviousMonth += came.Amount
		}
	}
	for day := s.question.First; s.in(day); day = day.AddDays(1) {
		s.Revenue.ByDay = append(s.Revenue.ByDay, Day{day, byDay[day].Amount, byDay[day].Count})
	}
	for n := range s.Months {
		period := &s.Months[n]
		period.Expected = period.Received + period.Open + period.Overdue
	}
	if amount := money.Cents(s.Revenue.Payments); amount > 0 && s.Revenue.Received > 0 {
		ticket := (2*s.Revenue.Received + amount) / (2 * amount)
		s.Revenue.AverageTicket = &ticket
	}
	s.Revenue.Expected = s.Revenue.Received + s.Invoices.Open.Amount + s.Invoices.Overdue.Amount
	s.Revenue.ChangePercent = changeOf(s.Revenue.Received, s.Revenue.PreviousMonth)
}

// money is every payment that counts and every refund, as a minus.
func (s *sums) money(t *testing.T) []Day {
	t.Helper()
	list, err := sqldb.All(t.Context(), s.DB, func(row sqldb.Row) (day Day, err error) {
		err = row.Scan(&day.Date, (*int64)(&day.Amount), &day.Count)
		return day, err
	}, `SELECT paid_on, amount_cents, 1 FROM payments WHERE company_id = ? AND (? = 0 OR plan_id = ?) AND status IN ('applied', 'partial', 'refunded')
		UNION ALL SELECT r.refunded_on, -r.amount_cents, 0 FROM payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
		WHERE p.company_id = ? AND (? = 0 OR p.plan_id = ?)`,
		s.Actor.Company.ID, s.question.PlanID, s.question.PlanID, s.Actor.Company.ID, s.question.PlanID, s.question.PlanID)
	housetest.Must(t, err)
	return list
}

// addMovement compares the two ends of the month, customer by customer.
func (s *sums) addMovement() {
	first, recurring := s.question.First, &s.Month.Recurring
	for id, list := range s.history {
		start, end := lastOn(list, first.AddDays(-1)), lastOn(list, lastOf(first))
		left := s.left[id]
		if left != "" {
			left = max(left, list[len(list)-1].from.String()[:7])
		}
		s.addMoved(start, end, left == s.Month.Month)
	}
	recurring.Customers, recurring.Amount = recurring.Start.Customers+recurring.New.Customers-recurring.Lost.Customers, recurring.Start.Amount+recurring.New.Amount-recurring.Lost.Amount+recurring.Up.Amount-recurring.Down.Amount
	recurring.Customers += recurring.In.Customers - recurring.Out.Customers
	recurring.Amount += recurring.In.Amount - recurring.Out.Amount
	if n := recurring.Start.Customers; n > 0 {
		churn := float64((recurring.Lost.Customers*20000+n)/(2*n)) / 100
		recurring.Churn = &churn
	}
	if n := int64(recurring.Start.Amount); n > 0 {
		churn := float64((int64(recurring.Lost.Amount+recurring.Down.Amount)*20000+n)/(2*n)) / 100
		recurring.Revenue = &churn
	}
}

func (s *sums) addMoved(start, end valued, isGone bool) {
	recurring := &s.Month.Recurring
	add := func(to *Worth, planID int64, amount money.Cents) {
		if s.of(planID) && amount > 0 {
			to.Customers++
			to.Amount += amount
		}
	}
	add(&recurring.Start, start.planID, start.worth)
	if s.question.PlanID != 0 && start.planID != end.planID && start.worth > 0 && end.worth > 0 {
		add(&recurring.Out, start.planID, start.worth)
		add(&recurring.In, end.planID, start.worth)
	}
	switch {
	case start.worth == 0:
		add(&recurring.New, end.planID, end.worth)
	case end.worth == 0:
		add(&recurring.Lost, start.planID, start.worth)
		if isGone && s.of(start.planID) {
			recurring.Lost.Deleted++
		}
	case end.worth > start.worth:
		add(&recurring.Up, end.planID, end.worth-start.worth)
	default:
		add(&recurring.Down, end.planID, start.worth-end.worth)
	}
}

func lastOn(list []valued, on civil.Date) (found valued) {
	for _, valued := range list {
		if !valued.from.After(on) {
			found = valued
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
	for _, renewal := range w.renewals {
		if in(renewal.on) {
			found[renewal.customerID] = true
		}
	}
	return found
}

// owedItem is what is still to come for a due date: of one invoice, or of all open ones of a customer or a day.
type owedItem struct {
	CustomerID int64 // 0: not by customer
	DueOn      civil.Date
	Invoices   int64
	Amount     money.Cents // the face amounts, less what was received; without fee and interest
}

// ageBucket is what is overdue in a span of days.
type ageBucket struct {
	Span      figures.Span
	Customers int64 // each counts once, in the span of its oldest
	Invoices  int64
	Amount    money.Cents
}

// ageOf sorts what is owed into the buckets of figures.Spans. What is due today or later is in none.
func ageOf(owed []owedItem, today civil.Date) []ageBucket {
	buckets := make([]ageBucket, len(figures.Spans))
	for i, span := range figures.Spans {
		buckets[i].Span = span
	}
	oldest := map[int64]int{}
	for _, o := range owed {
		days := today.Sub(o.DueOn)
		i := bucketOf(days)
		if i < 0 {
			continue
		}
		buckets[i].Invoices += o.Invoices
		buckets[i].Amount += o.Amount
		if o.CustomerID != 0 {
			oldest[o.CustomerID] = max(oldest[o.CustomerID], days)
		}
	}
	for _, days := range oldest {
		buckets[bucketOf(days)].Customers++
	}
	return buckets
}

func bucketOf(days int) int {
	for i, span := range figures.Spans {
		if days >= span.From && (span.To == 0 || days <= span.To) {
			return i
		}
	}
	return -1
}
