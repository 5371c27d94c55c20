package program

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/civil"
)

// The model of billing knows what docs/billing.md says and nothing of the
// program, which it speaks to over HTTP alone.
type billingModel struct {
	t      *testing.T
	client *client
	random *rand.Rand
	plans  []modelPlan
	people map[int64]*modelCustomer
	today  civil.Date
	events map[string]int // that a webhook must have got
}

type modelPlan struct {
	id     int64
	period civil.Period
	value  string
}

type modelCustomer struct {
	plan    modelPlan
	due     civil.Date
	ownDay  int
	expired bool // and that was reported: a renewal into the past does not report it again
	bills   map[civil.Date]*modelBill
}

type modelBill struct {
	id      int64
	status  string
	renewed bool // its payment has renewed
}

const (
	modelLead  = 5
	openBill   = "Em aberto"
	paidBill   = "Pago"
	voidBill   = "Cancelado"
	modelCrowd = 14
)

// dawn is what the program does on each day of the company.
func (m *billingModel) dawn() {
	for _, person := range m.people {
		if person.due.Before(m.today) && !person.expired {
			person.expired = true
			m.events["customer.expired"]++
		}
		m.bill(person)
	}
}

func (m *billingModel) bill(person *modelCustomer) {
	if person.bills[person.due] == nil && !person.due.AddDays(-modelLead).After(m.today) {
		person.bills[person.due] = &modelBill{status: openBill}
		m.events["invoice.created"]++
	}
}

// advance moves both clocks to the beginning of a day.
func (m *billingModel) advance(to civil.Date) {
	m.t.Helper()
	m.dawn()
	for m.today.Before(to) {
		m.today = m.today.AddDays(1)
		m.dawn()
	}
	answer := m.client.want(200, "POST", "/sandbox/clock", map[string]any{"to": to.String()})
	if !strings.Contains(string(answer.Data), `"advancing":false`) {
		m.t.Fatalf("the clock did not arrive: %s", answer.Data)
	}
}

func (m *billingModel) create() {
	m.t.Helper()
	plan := m.plans[m.random.IntN(len(m.plans))]
	due := m.today.AddDays(m.random.IntN(25))
	answer := m.client.want(200, "POST", "/customers", map[string]any{
		"name": "Cliente " + strconv.Itoa(len(m.people)), "plan_id": plan.id, "data_de_vencimento": due.String(),
	})
	var made struct{ ID int64 }
	m.read(answer.Data, &made)
	person := &modelCustomer{plan: plan, due: due, ownDay: due.Day(), bills: map[civil.Date]*modelBill{}}
	person.bills[due] = &modelBill{status: openBill} // at once
	m.events["invoice.created"]++
	m.people[made.ID] = person
}

func (m *billingModel) read(data []byte, into any) {
	m.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		m.t.Fatalf("%v: %s", err, data)
	}
}

// meddle does something to a customer, if it can be done.
func (m *billingModel) meddle(id int64) {
	m.t.Helper()
	person := m.people[id]
	dues := slices.SortedFunc(maps.Keys(person.bills), civil.Date.Compare)
	due := dues[m.random.IntN(len(dues))]
	bill := person.bills[due]
	switch roll := m.random.IntN(20); {
	case roll < 12 && bill.status == openBill:
		m.setStatus(bill, paidBill)
		m.events["invoice.paid"]++
		if !bill.renewed && !person.due.After(due) {
			bill.renewed = true
			m.renew(person)
		}
	case roll < 14 && bill.status == openBill:
		m.setStatus(bill, voidBill)
	case roll < 15 && bill.status == voidBill:
		m.setStatus(bill, openBill)
	case roll < 17:
		m.client.want(200, "POST", fmt.Sprintf("/customers/%d/renew-due-date", id), nil)
		m.renew(person)
	case roll == 19 && len(m.people) > 4:
		m.client.want(200, "DELETE", fmt.Sprintf("/customers/%d", id), nil)
		delete(m.people, id)
	}
}

func (m *billingModel) setStatus(bill *modelBill, status string) {
	m.t.Helper()
	m.client.want(200, "POST", fmt.Sprintf("/invoices/%d/status", bill.id), map[string]any{"status": status})
	bill.status = status
}

func (m *billingModel) renew(person *modelCustomer) {
	m.t.Helper()
	next, err := person.plan.period.After(person.due, person.ownDay)
	if err != nil {
		m.t.Fatal(err)
	}
	person.due = next
	person.expired = person.expired && next.Before(m.today)
	m.events["customer.renewed"]++
}

type listedInvoice struct {
	ID          int64
	Status      string
	Overdue     bool
	DueDate     string `json:"due_date"`
	TotalAmount string `json:"total_amount"`
	Customer    struct{ ID int64 }
}

type listedCustomer struct {
	ID     int64
	Status string
	DueOn  string `json:"data_de_vencimento"`
}

func everyPage[T any](m *billingModel, path string) (all []T) {
	m.t.Helper()
	for page, last := 1, 1; page <= last; page++ {
		answer := m.client.want(200, "GET", fmt.Sprintf("%s?per_page=100&page=%d", path, page), nil)
		var list []T
		m.read(answer.Data, &list)
		all, last = append(all, list...), answer.Meta.LastPage
	}
	return all
}

// compare holds every list against the model, and learns the ids of invoices.
func (m *billingModel) compare() {
	m.t.Helper()
	m.compareCustomers()
	want := map[string]string{}
	for id, person := range m.people {
		for due, bill := range person.bills {
			late := bill.status == openBill && due.Before(m.today)
			want[fmt.Sprint(id, " ", due)] = fmt.Sprint(bill.status, " ", late, " ", person.plan.value)
		}
	}
	got := map[string]string{}
	for _, invoice := range everyPage[listedInvoice](m, "/invoices") {
		due, err := civil.Parse(invoice.DueDate)
		if err != nil {
			m.t.Fatal(err)
		}
		got[fmt.Sprint(invoice.Customer.ID, " ", due)] = fmt.Sprint(invoice.Status, " ", invoice.Overdue, " ", invoice.TotalAmount)
		if person := m.people[invoice.Customer.ID]; person != nil && person.bills[due] != nil {
			person.bills[due].id = invoice.ID
		}
	}
	m.wantEqual("invoices", got, want)
}

func (m *billingModel) compareCustomers() {
	m.t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for id, person := range m.people {
		status := "Ativo"
		switch person.due.Compare(m.today) {
		case 0:
			status = "Vence hoje"
		case -1:
			status = "Vencido"
		}
		want[fmt.Sprint(id)] = person.due.String() + " " + status
	}
	for _, customer := range everyPage[listedCustomer](m, "/customers") {
		got[fmt.Sprint(customer.ID)] = customer.DueOn + " " + customer.Status
	}
	m.wantEqual("customers", got, want)
}

func (m *billingModel) wantEqual(what string, got, want map[string]string) {
	m.t.Helper()
	for key := range want {
		if got[key] != want[key] {
			m.t.Errorf("%s on %s: %s is %q, the model says %q", what, m.today, key, got[key], want[key])
		}
	}
	for key := range got {
		if _, known := want[key]; !known {
			m.t.Errorf("%s on %s: %s is %q, and the model has none", what, m.today, key, got[key])
		}
	}
	if m.t.Failed() {
		m.t.FailNow()
	}
}

// modelMonths is how long the model lives. Two years take minutes, and `make year`
// asks for them.
func modelMonths(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("CARTEIRA_TEST_MONTHS")
	if asked == "" {
		return 5
	}
	months, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return months
}

func TestYearsInASandboxAreWhatTheModelSays(t *testing.T) {
	months := modelMonths(t)
	eachBare(t, func(t *testing.T, in *installation) {
		in.sandboxed()
		company := in.company()
		m := &billingModel{t: t, random: rand.New(rand.NewPCG(24, 7)), people: map[int64]*modelCustomer{}, events: map[string]int{}}
		for _, period := range []civil.Period{{Unit: civil.Month, Count: 1}, {Unit: civil.Week, Count: 2}, {Unit: civil.Month, Count: 3}, {Unit: civil.Day, Count: 10}} {
			id := in.create("id", "plan", "create", "--company", company, "--name", period.String(), "--value", "35.00", "--period", period.String())
			number, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			m.plans = append(m.plans, modelPlan{number, period, "35.00"})
		}
		servers, hook := in.serveAll(), newHook(t)
		m.client = servers[0].client(in.token(company))
		m.client.want(200, "POST", "/webhooks", map[string]any{
			"url": hook.URL, "events": []string{"invoice.created", "invoice.paid", "customer.expired", "customer.renewed"},
		})
		m.begin()
		for end := m.today.AddDays(30 * months); m.today.Before(end); {
			m.step(servers)
		}
		m.wantEvents(hook)
	})
}

// begin moves the clock to the beginning of the company's next day.
func (m *billingModel) begin() {
	m.t.Helper()
	var account struct{ Company struct{ Timezone string } }
	m.read(m.client.want(200, "GET", "/account", nil).Data, &account)
	var clock struct{ Now time.Time }
	m.read(m.client.want(200, "GET", "/sandbox/clock", nil).Data, &clock)
	zone, err := time.LoadLocation(account.Company.Timezone)
	if err != nil {
		m.t.Fatal(err)
	}
	m.today = civil.Of(clock.Now.In(zone))
	m.advance(m.today.AddDays(1))
}

// step is some days, a look at every list through one of the processes, and what
// people do then: one thing to one customer, so that nothing depends on when the
// program looks in between.
func (m *billingModel) step(servers []*server) {
	m.t.Helper()
	m.advance(m.today.AddDays(1 + m.random.IntN(15)))
	token := m.client.token
	m.client = servers[m.random.IntN(len(servers))].client(token)
	m.compare()
	for _, id := range slices.Sorted(maps.Keys(m.people)) {
		m.meddle(id)
	}
	for len(m.people) < modelCrowd && m.random.IntN(2) == 0 {
		m.create()
	}
}

// wantEvents compares what a webhook has got, all of it delivered by the time
// that the last advance had ended.
func (m *billingModel) wantEvents(hook *hook) {
	m.t.Helper()
	m.advance(m.today.AddDays(1))
	got := map[string]int{}
	for _, event := range hook.all() {
		got[event.Event]++
	}
	if !maps.Equal(got, m.events) {
		m.t.Errorf("the webhook got %v, the model says %v", got, m.events)
	}
	if m.events["invoice.paid"] < 5 {
		m.t.Errorf("too little has happened: %v", m.events)
	}
}
