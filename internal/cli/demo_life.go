package cli

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/reseller"
)

// demoLife lives through the past of the demo's company, some days at a time: the sandbox
// does what time brings, and customers join, pay, pay late, stop paying and leave.
// Everything that people do follows from their number, so that two demos of one
// day look alike.
type demoLife struct {
	ctx     context.Context
	program *app.App
	actor   account.Actor
	plans   []int64
	until   time.Time
	joined  int
	sold    []reseller.Plan // what resellers subscribe to
	owed    []int64         // invoices that are not paid before the present
}

// The days before the present on which something of the demo begins.
const (
	joinedUntil = 30  // the last customers have joined
	resellersAt = 200 // the first resellers
	remindersAt = 45  // messages
	oddPayment  = 12  // the first payment that needs a person; another each five days
	leavesAfter = 20  // days without paying after which a customer is let go
	demoPayHour = 10 * time.Hour
	demoStep    = 5 // days between those on which people do something
	owedSince   = 9 // the first invoices that are still owed fell due; demoOwed of them
	demoOwed    = 3
)

func (l *demoLife) live() error {
	for range demoFirst {
		if err := l.join(); err != nil {
			return err
		}
	}
	last := l.actor.Today(l.until)
	for day := l.actor.Today(l.program.DB.Now()).AddDays(1); day.Before(last); day = day.AddDays(demoStep) {
		if err := l.program.Sandbox.Live(l.ctx, day.At(demoPayHour, l.actor.Company.Zone)); err != nil {
			return fmt.Errorf("live until %s: %w", day, err)
		}
		if err := l.spend(day, last.Sub(day)); err != nil {
			return fmt.Errorf("%s: %w", day, err)
		}
	}
	if err := l.program.Sandbox.Live(l.ctx, l.program.DB.Real()); err != nil {
		return err
	}
	return seedTrials(l.ctx, l.program, l.actor, l.sold)
}

// spend is what people do on a day, so many days before the present.
func (l *demoLife) spend(day civil.Date, before int) (err error) {
	for l.joined < l.expected(before) {
		if err := l.join(); err != nil {
			return err
		}
	}
	if err := l.payDay(day); err != nil {
		return err
	}
	switch {
	case reaches(before, resellersAt):
		l.sold, err = seedResellers(l.ctx, l.program, l.actor)
		return err
	case reaches(before, remindersAt):
		return seedReminders(l.ctx, l.program, l.actor)
	case before < resellersAt && before%30 < demoStep:
		return l.renewReseller()
	case reaches(before, oddPayment), reaches(before, oddPayment-5):
		return l.payOddly()
	}
	return nil
}

// reaches reports whether a day is the first on which people do something that
// lies at most so many days before the present.
func reaches(before, at int) bool { return before <= at && before+demoStep > at }

// expected is how many customers the company has had, so many days before the
// present: it grows evenly.
func (l *demoLife) expected(before int) int {
	whole := l.actor.Today(l.until).Sub(civil.Of(l.until.AddDate(0, -demoMonths, 0))) - joinedUntil
	gone := min(max(whole+joinedUntil-before, 0), whole)
	return demoFirst + (demoSize-demoFirst)*gone/whole
}

var (
	firstNames = []string{
		"Ana", "João", "Maria", "José", "Antônia", "Luís", "Conceição", "Sebastião", "Lívia",
		"Caio", "Íris", "Tomé",
	}
	lastNames = []string{
		"da Silva", "Souza", "Araújo", "Gonçalves", "Pereira", "Magalhães", "dos Santos",
		"Assunção", "Lima", "Brandão",
	}
)

// join makes the next customer. The number of one in fifteen does not exist.
func (l *demoLife) join() error {
	i := l.joined
	l.joined++
	surname, end := lastNames[i%len(lastNames)], 1000+7*i
	if i%15 == 7 {
		end = 0
	}
	_, err := l.program.Customers.Create(l.ctx, l.actor, customer.Draft{
		Name:     input.Some(firstNames[i%len(firstNames)] + " " + surname),
		Usuario:  input.Some(fmt.Sprintf("%s%d", strings.ToLower(surname[:2]), 100+i)),
		Email:    input.Some(fmt.Sprintf("cliente%d@example.com", i+1)),
		Whatsapp: input.Some(fmt.Sprintf("55119%04d%04d", 8000+i, end)), PlanID: input.Some(l.plans[demoPlanOf(i)]),
		DueOn: input.Some(l.actor.Today(l.program.DB.Now()).AddDays(1 + int(chance(i, 0)%28))),
	})
	return err
}

// demoPlanOf has most customers pay by the month.
func demoPlanOf(i int) int {
	product, plan := i%2, 0
	switch i % 9 {
	case 4, 6:
		plan = 1
	case 8:
		plan = 2
	}
	return product*len(demoPlans) + plan
}

// chance is a number that looks like one, and is always the same.
func chance(who, when int) uint32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprintf(hash, "%d/%d", who, when)
	return hash.Sum32()
}

// payDay lets all customers pay on their days.
func (l *demoLife) payDay(day civil.Date) error {
	page := input.Page{Number: 1, Size: input.MaxPageSize}
	open, _, err := l.program.Billing.List(l.ctx, l.actor, billing.Filter{Status: billing.Open}, page)
	if err != nil {
		return err
	}
	for _, invoice := range open {
		late, pays := habit(int(invoice.Customer.ID), int(invoice.ID))
		switch {
		case l.owes(invoice):
		case !pays && day.Sub(invoice.DueOn) >= leavesAfter:
			err = l.leave(invoice.Customer.ID)
		case pays && day.Sub(invoice.DueOn) >= late:
			err = l.pay(invoice, day)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// owes keeps some invoices of the last days open, so that a demo has customers who are
// late on whatever day it is made.
func (l *demoLife) owes(invoice billing.Invoice) bool {
	ago := l.actor.Today(l.until).Sub(invoice.DueOn)
	if len(l.owed) < demoOwed && ago > 0 && ago <= owedSince && invoice.Customer.ID > faithful {
		l.owed = append(l.owed, invoice.ID)
	}
	return slices.Contains(l.owed, invoice.ID)
}

// faithful is up to which id customers always pay. On whatever day a demo is made, its
// first ones are still there for a reader who follows a link to them.
const faithful = 5

// habit is how many days after the due date a customer pays an invoice, most
// of them before it, and whether at all.
func habit(customerID, invoiceID int) (late int, pays bool) {
	roll := chance(customerID, invoiceID) % 100
	switch {
	case roll < 4 && customerID > faithful:
		return 0, false
	case roll < 16:
		return 1 + int(roll%8), true
	}
	return -int(roll % 7), true
}

var demoMeans = []string{"pix", "cash", "transfer"}

func (l *demoLife) pay(invoice billing.Invoice, day civil.Date) error {
	means := demoMeans[int(chance(int(invoice.ID), 1))%len(demoMeans)]
	_, err := l.program.Billing.SetStatus(l.ctx, l.actor, invoice.ID, billing.StatusChange{
		Status: billing.Paid, Via: input.Some(means),
		PaidOn: input.Some(day.AddDays(-int(chance(int(invoice.ID), 3) % demoStep))),
	})
	return err
}

var demoReasons = []string{"Mudou de cidade", "Preço", "Foi para outro provedor"}

func (l *demoLife) leave(customerID int64) error {
	reason := demoReasons[int(chance(int(customerID), 2))%len(demoReasons)]
	_, err := l.program.Customers.Update(l.ctx, l.actor, customerID, customer.Draft{
		Cancelled: input.Some(true), CancelReason: input.Some(reason),
	})
	return err
}

// payOddly sends another amount than was asked for, about which only a person
// can decide.
func (l *demoLife) payOddly() error {
	page := input.Page{Number: 1, Size: 1}
	open, _, err := l.program.Billing.List(l.ctx, l.actor, billing.Filter{Status: billing.Open}, page)
	if err != nil || len(open) == 0 {
		return err
	}
	payable, err := l.program.Payments.Charge(l.ctx, l.actor, open[0].ID, "")
	if err != nil {
		return err
	}
	return l.program.ReceiveSimulated(l.ctx, payable.Reference, payable.Amount-money.Cents(990))
}

// renewReseller keeps the first reseller going, month by month.
func (l *demoLife) renewReseller() error {
	list, _, err := l.program.Resellers.List(l.ctx, l.actor, reseller.Filter{Search: "Rede Norte"}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = l.program.Resellers.Renew(l.ctx, l.actor, list[0].ID, reseller.RenewRequest{})
	return err
}

// demoReseller signs in to a reseller of the demo's company, which has resellers
// of its own. The password is the demo's.
const demoReseller = "revenda@example.com"

// seedResellers makes a small tree under the demo company, two levels deep, with
// credits on their way down, and returns the plans that it sells.
func seedResellers(ctx context.Context, program *app.App, root account.Actor) ([]reseller.Plan, error) {
	if _, err := program.Accounts.SetCompany(ctx, root, account.CompanyDraft{Whatsapp: input.Some("5511987654321")}); err != nil {
		return nil, err
	}
	grant := reseller.CreditRequest{Amount: 500, Note: "Crédito inicial da demonstração"}
	if _, err := program.Resellers.Grant(ctx, root, grant); err != nil {
		return nil, err
	}
	plans, err := seedSubscriptionPlans(ctx, program, root)
	if err != nil {
		return nil, err
	}
	start, pro := plans[0].ID, plans[1].ID
	if err := seedNorte(ctx, program, root, pro); err != nil {
		return nil, err
	}
	_, err = program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Sul Conecta", Email: "sul@example.com", Whatsapp: "5551992345678",
		Kind: account.Subscriber, PlanID: start, Periods: 12,
	})
	if err != nil {
		return nil, err
	}
	stopped, err := program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Vale Telecom", Email: "vale@example.com", Kind: account.Subscriber, PlanID: start,
	})
	if err != nil {
		return nil, err
	}
	_, err = program.Resellers.Suspend(ctx, root, stopped.ID)
	return plans, err
}

// seedTrials makes resellers that try the plans today.
func seedTrials(ctx context.Context, program *app.App, root account.Actor, plans []reseller.Plan) error {
	for _, newReseller := range []reseller.NewReseller{
		{Name: "Casa da Fibra", Email: "fibra@example.com", Password: demoPassword, PlanID: plans[0].ID},
		{Name: "Litoral Net", Email: "litoral@example.com", Whatsapp: "5548993456789", PlanID: plans[1].ID},
	} {
		if _, err := program.Resellers.Create(ctx, root, newReseller); err != nil {
			return err
		}
	}
	return nil
}

// seedNorte makes the reseller that has resellers of its own.
func seedNorte(ctx context.Context, program *app.App, root account.Actor, planID int64) error {
	norte, err := program.Resellers.Create(ctx, root, reseller.NewReseller{
		Name: "Rede Norte", Email: demoReseller, Password: demoPassword, Whatsapp: "5592981234567",
		Kind: account.Subscriber, PlanID: planID, Periods: 3,
	})
	if err != nil {
		return err
	}
	_, err = program.Resellers.SetLevel(ctx, root, norte.ID, reseller.LevelRequest{Level: account.LevelMaster})
	if err != nil {
		return err
	}
	_, err = program.Resellers.Transfer(ctx, root, norte.ID, reseller.CreditRequest{Amount: 120, Note: "PIX recebido"})
	if err != nil {
		return err
	}
	return seedChildren(ctx, program, norte.ID)
}

// seedChildren gives a reseller a plan and resellers of its own.
func seedChildren(ctx context.Context, program *app.App, id int64) error {
	actor, err := program.Accounts.Actor(ctx, id)
	if err != nil {
		return err
	}
	plan, err := program.Resellers.CreatePlan(ctx, actor, monthly("Parceiro", 3990, 2))
	if err != nil {
		return err
	}
	for _, name := range []string{"Manaus Wi-Fi", "Belém Online"} {
		_, err := program.Resellers.Create(ctx, actor, reseller.NewReseller{
			Name: name, Email: fmt.Sprintf("%dparceiro@example.com", len(name)), Kind: account.Subscriber, PlanID: plan.ID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// monthly is a plan of one month.
func monthly(name string, value money.Cents, credits int64) reseller.PlanDraft {
	return reseller.PlanDraft{
		Name: input.Some(name), Value: input.Some(value), Credits: input.Some(credits),
		Period: input.Some(civil.Period{Unit: civil.Month, Count: 1}),
	}
}

func seedSubscriptionPlans(ctx context.Context, program *app.App, root account.Actor) (plans []reseller.Plan, err error) {
	start, pro := monthly("Revenda Início", 2990, 1), monthly("Revenda Pro", 7990, 3)
	start.TrialDays, start.Functions = input.Some(5), input.Some([]string{"payments", "reminders", "import"})
	pro.TrialDays = input.Some(15)
	for _, draft := range []reseller.PlanDraft{start, pro} {
		plan, err := program.Resellers.CreatePlan(ctx, root, draft)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}
