package payment

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values, must = housetest.Form, housetest.Must

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

// unhurried is a time limit that no test comes near to, however slow the machine.
const unhurried = 2 * time.Minute

// world is a company with a gateway and the rooms around its charges, in one
// process.
type world struct {
	*Service
	url       string
	clock     *sqldbtest.Clock
	key       secret.Key
	bank      *bank
	events    *event.Log
	accounts  *account.Service
	catalog   *catalog.Service
	customers *customer.Service
	invoices  *billing.Service
	actor     account.Actor
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		test(t, newWorld(t, engine))
	})
}

func newWorld(t *testing.T, engine sqldb.Engine) *world {
	t.Helper()
	clock := sqldbtest.NewClock(noon)
	w := (&world{url: sqldbtest.URL(t, engine), clock: clock, key: secret.NewKey(), bank: newBank(clock)}).process(t)
	w.actor = w.newCompany(t)
	w.gateway(t, "provider", "fake", "secret", "s3cret-of-the-company")
	return w
}

// process is one more process on the same database.
func (w *world) process(t *testing.T, old ...secret.Key) *world {
	t.Helper()
	other := *w
	db := sqldbtest.Open(t, w.url, sqldbtest.WithClock(w.clock))
	other.events = &event.Log{}
	other.accounts, other.catalog = account.New(db, account.Config{}), catalog.New(db)
	other.customers = customer.New(db, other.events)
	other.invoices = billing.New(db, other.events, other.customers)
	other.Service = New(db, other.invoices, secret.NewBox(w.key, old...), Options{
		Providers: w.bank.providers(), PublicURL: "https://pay.example.com", Timeout: unhurried,
		Notify: func(ctx context.Context, tx account.Tx, invoiceID int64, address string) error {
			_, err := tx.Exec(ctx, `INSERT INTO invoice_notifications (company_id, invoice_id, url, created_at) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING`,
				tx.Company.ID, invoiceID, address)
			return err
		},
	})
	return &other
}

func (w *world) newCompany(t *testing.T) account.Actor {
	t.Helper()
	all, err := w.accounts.Companies(t.Context())
	must(t, err)
	company, _, err := w.accounts.CreateCompany(t.Context(), account.ReadNewCompany(values("name", "Rede Clara", "email", fmt.Sprintf("c%d@example.com", len(all)))))
	must(t, err)
	return account.System(company, "test")
}

func (w *world) gateway(t *testing.T, pairs ...string) Setup {
	t.Helper()
	setup, err := w.ConfigureGateway(t.Context(), w.actor, w.ReadGateway(values(pairs...)))
	must(t, err)
	return setup
}

// configure changes the settings of the company, and not the actor: its request
// may have begun before.
func (w *world) configure(t *testing.T, pairs ...string) {
	t.Helper()
	_, err := w.accounts.SetCompany(t.Context(), account.Operator(w.actor.Company), account.ReadCompanyDraft(values(pairs...)))
	must(t, err)
}

// invoice makes a customer with an open invoice of 35.00.
func (w *world) invoice(t *testing.T) billing.Invoice {
	t.Helper()
	plans, _, err := w.catalog.Plans(t.Context(), w.actor, catalog.Filter{}, input.Page{Number: 1, Size: 1})
	must(t, err)
	if len(plans) == 0 {
		_, err := w.catalog.CreatePlan(t.Context(), w.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00", "period", "1month")))
		must(t, err)
		return w.invoice(t)
	}
	record, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values(
		"name", "Ana Lima", "email", "ana@example.com", "plan_id", fmt.Sprint(plans[0].ID), "data_de_vencimento", "2026-01-31")))
	must(t, err)
	list, _, err := w.invoices.List(t.Context(), w.actor, billing.Filter{CustomerID: record.ID}, input.Page{Number: 1, Size: 1})
	must(t, err)
	return list[0]
}

func (w *world) charged(t *testing.T, invoiceID int64) Payable {
	t.Helper()
	payable, err := w.Charge(t.Context(), w.actor, invoiceID, "")
	must(t, err)
	return payable
}

func (w *world) find(t *testing.T, invoiceID int64) billing.Invoice {
	t.Helper()
	invoice, err := w.invoices.Find(t.Context(), w.actor, invoiceID)
	must(t, err)
	return invoice
}

// work lets the engine do all that is due now. The space between looks at one
// gateway is let pass.
func (w *world) work(t *testing.T) {
	t.Helper()
	for range 50 {
		n, err := w.Reconcile(t.Context())
		must(t, err)
		if n == 0 {
			w.exec(t, `UPDATE gateways SET resume_at = 0 WHERE failures < 5`)
			if n, err = w.Reconcile(t.Context()); n == 0 {
				must(t, err)
				return
			}
		}
	}
	t.Fatal("there is no end to the work")
}

// later moves the clock on and lets the engine work.
func (w *world) later(t *testing.T, span time.Duration) {
	t.Helper()
	w.clock.Advance(span)
	w.work(t)
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text, args...)
		return err
	}))
}

func (w *world) count(t *testing.T, text string, args ...any) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), w.db, text, args...)
	must(t, err)
	return n
}

// states are those of an invoice's charges, oldest first.
func (w *world) states(t *testing.T, invoiceID int64) []string {
	t.Helper()
	list, err := sqldb.All(t.Context(), w.db, func(row sqldb.Row) (s string, err error) {
		err = row.Scan(&s)
		return s, err
	}, `SELECT state FROM charges WHERE invoice_id = ? ORDER BY id`, invoiceID)
	must(t, err)
	return list
}

func (w *world) wantStates(t *testing.T, invoiceID int64, want ...string) {
	t.Helper()
	if got := w.states(t, invoiceID); !slices.Equal(got, want) {
		t.Errorf("the charges are %v, want %v", got, want)
	}
}

// wantPaid wants an invoice to have been paid once: one payment applied, one
// event, the customer renewed by one period.
func (w *world) wantPaid(t *testing.T, invoice billing.Invoice) {
	t.Helper()
	if got := w.find(t, invoice.ID); got.Status != billing.Paid || got.PaidVia != "fake" {
		t.Errorf("the invoice is %s, paid via %q", got.Status, got.PaidVia)
	}
	if n := w.count(t, `SELECT COUNT(*) FROM payments WHERE invoice_id = ? AND status = 'applied'`, invoice.ID); n != 1 {
		t.Errorf("%d payments applied, want one", n)
	}
	if n := w.count(t, `SELECT COUNT(*) FROM events WHERE name = 'invoice.paid' AND body LIKE ?`, fmt.Sprintf(`%%"invoice":{"id":%d,%%`, invoice.ID)); n != 1 {
		t.Errorf("%d events, want one", n)
	}
	if record, err := w.customers.Find(t.Context(), w.actor, invoice.Customer.ID); err != nil || record.DueOn.String() != "2026-02-28" {
		t.Errorf("the customer is due on %s, %v", record.DueOn, err)
	}
}

func (w *world) wantOpen(t *testing.T, invoice billing.Invoice) {
	t.Helper()
	if got := w.find(t, invoice.ID); got.Status != billing.Open {
		t.Errorf("the invoice is %s", got.Status)
	}
}

// wantReviews compares the reasons of all reviews, oldest first.
func (w *world) wantReviews(t *testing.T, want ...Reason) []Review {
	t.Helper()
	list, total, err := w.Reviews(t.Context(), w.actor, ReviewFilter{}, input.Page{Number: 1, Size: 50})
	must(t, err)
	slices.Reverse(list)
	var got []Reason
	for _, review := range list {
		got = append(got, review.Reason)
	}
	if !slices.Equal(got, want) || total != int64(len(want)) {
		t.Errorf("reviews %v (%d), want %v", got, total, want)
	}
	return list
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind {
		t.Errorf("%v, want %s", err, kind)
	}
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	if len(fault.FieldsOf(err).Get(field)) == 0 {
		t.Errorf("%v, want a fault of %s", err, field)
	}
}

// bank is a gateway in memory, the same for all processes, that a test can make
// misbehave.
type bank struct {
	taken string // another system that is called in our place
	clock *sqldbtest.Clock

	mu       sync.Mutex
	charges  map[string]*held // by reference
	made     int              // charges, not calls
	calls    map[string]int
	terse    bool          // a fetched charge has no code
	shortest time.Duration // life of a charge
	accounts debits
	// misbehave runs before and after an operation; what it returns is what the
	// caller sees.
	before func(ctx context.Context, operation string) error
	after  func(operation string) error
}

type held struct {
	Charge
	reference string
	amount    money.Cents
	state     State
	payments  []Received
	lie       string // the reference it reports instead
	payer     Payer
	due       *Due
}

func newBank(clock *sqldbtest.Clock) *bank {
	return &bank{
		clock: clock, charges: map[string]*held{}, calls: map[string]int{},
		accounts: debits{mandates: map[string]*mandated{}, debits: map[string]*debited{}},
	}
}

// providers are one that works by itself, a second one, and one that a person
// confirms.
func (b *bank) providers() []Provider {
	options := []Option{
		{Name: "secret", Title: "Segredo", Secret: true, Required: true},
		{Name: "color", Title: "Cor", Choices: []string{"red", "green"}},
	}
	open := func(name string) func(map[string]string, Env) (Gateway, error) {
		return func(o map[string]string, env Env) (Gateway, error) {
			if o["secret"] == "bad" {
				return nil, fault.Field("secret", "is no secret")
			}
			if o["color"] == "red" {
				return undebiting{&fake{b, name, o["secret"], env}}, nil
			}
			return &fake{b, name, o["secret"], env}, nil
		}
	}
	return []Provider{
		{Name: "fake", Title: "Fake", Flow: FlowPix, Options: options, Open: open("fake"), Computes: func(options map[string]string) bool {
			return options["color"] == "green"
		}},
		{Name: "other", Title: "Other", Flow: FlowRedirect, Options: options, Open: open("other")},
		{Name: "hand", Title: "Hand", Flow: FlowPix, Manual: true, Open: open("hand")},
	}
}

// fail makes an operation fail from now on; nil ends that.
func (b *bank) fail(operation string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before = func(_ context.Context, o string) error {
		if o == operation || operation == "" {
			return err
		}
		return nil
	}
}

// loseAnswers makes an operation happen and its answer get lost.
func (b *bank) loseAnswers(operation string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after = func(o string) error {
		if o == operation {
			return err
		}
		return nil
	}
}

func (b *bank) begin(ctx context.Context, operation string) error {
	b.mu.Lock()
	b.calls[operation]++
	before := b.before
	b.mu.Unlock()
	if before != nil {
		return before(ctx, operation)
	}
	return nil
}

func (b *bank) end(operation string) error {
	if b.after != nil {
		return b.after(operation)
	}
	return nil
}

// pay pays the charges of an amount, or more or less; all that are there.
func (b *bank) pay(t *testing.T, code string, amount money.Cents) {
	t.Helper()
	b.payAt(t, code, amount, b.clock.Now())
}

func (b *bank) payAt(t *testing.T, code string, amount money.Cents, at time.Time) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, charge := range b.charges {
		if charge.PixCode == code || charge.reference == code {
			charge.state = StatePaid
			charge.payments = append(charge.payments, Received{ID: fmt.Sprintf("E2E-%s-%d", charge.reference, len(charge.payments)), Amount: amount, Currency: "BRL", At: at})
			b.authorisePaid()
			return
		}
	}
	t.Fatalf("there is no charge %s", code)
}

func (b *bank) change(change func(order *held)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, charge := range b.charges {
		change(charge)
	}
}

// payableNow counts the charges that can be paid.
func (b *bank) payableNow() (n int) {
	b.change(func(order *held) {
		if order.state == StatePending {
			n++
		}
	})
	return n
}

func (b *bank) called(operation string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[operation]
}

// fake is the bank's gateway for one company.
type fake struct {
	*bank
	name, secret string
	env          Env
}

func (f *fake) Register(context.Context) error { return f.Replace(context.Background(), "") }

func (f *fake) Replace(_ context.Context, agreed string) error {
	if f.taken != "" && f.taken != agreed {
		return &WebhookTaken{URL: f.taken}
	}
	f.taken = ""
	return nil
}

func (f *fake) Create(ctx context.Context, order Order) (Charge, error) {
	if err := f.begin(ctx, "create"); err != nil {
		return Charge{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.charge(order), f.end("create")
}

// charge makes a charge, or finds it.
func (f *fake) charge(order Order) Charge {
	c, known := f.charges[order.Reference]
	if !known {
		f.made++
		c = &held{reference: order.Reference, amount: order.Amount, state: StatePending, payer: order.Payer, due: order.Due}
		c.Charge = Charge{ID: fmt.Sprintf("ch_%d", f.made), PixCode: "pix-" + order.Reference, ExpiresAt: order.ExpiresAt}
		if soonest := f.clock.Now().Add(f.shortest); c.ExpiresAt.Before(soonest) {
			c.ExpiresAt = soonest
		}
		if f.name == "other" {
			c.PixCode, c.CheckoutURL = "", "https://other.example/"+order.Reference
		}
		f.charges[order.Reference] = c
	}
	return c.Charge
}

func (f *fake) locate(ref Ref) *held {
	for _, charge := range f.charges {
		if ref.ID != "" && charge.ID == ref.ID || ref.Reference != "" && charge.reference == ref.Reference {
			return charge
		}
	}
	return nil
}

func (f *fake) Fetch(ctx context.Context, ref Ref) (Report, error) {
	if err := f.begin(ctx, "look"); err != nil {
		return Report{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	order := f.locate(ref)
	if order == nil {
		return Report{}, ErrNoCharge
	}
	report := Report{Charge: order.Charge, Reference: order.reference, State: order.state, Payments: slices.Clone(order.payments)}
	if order.lie != "" {
		report.Reference = order.lie
	}
	if f.terse {
		report.PixCode, report.CheckoutURL, report.ExpiresAt = "", "", time.Time{}
	}
	return report, f.end("look")
}

func (f *fake) Cancel(ctx context.Context, ref Ref) error {
	if err := f.begin(ctx, "cancel"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	order := f.locate(ref)
	switch {
	case order == nil:
	case len(order.payments) > 0:
		return ErrPaid
	default:
		order.state = StateCancelled
	}
	return f.end("cancel")
}

func (f *fake) Check(ctx context.Context) error { return f.begin(ctx, "check") }

// accountEvent is a callback about what the bank lets the company do.
const accountEvent = "account-changed"

// tell is the body of a callback of the bank.
type tell struct{ Event, Secret, ID, Reference string }

func (f *fake) VerifyCallback(_ context.Context, callback Callback) ([]Hint, error) {
	var body tell
	if err := json.Unmarshal(callback.Body, &body); err != nil || subtle.ConstantTimeCompare([]byte(body.Secret), []byte(f.secret)) != 1 {
		return nil, ErrForged
	}
	if body.Event == accountEvent {
		return []Hint{{EventID: body.Event, Kind: HintAccount}}, nil
	}
	if body.ID == "" && body.Reference == "" {
		return nil, nil
	}
	return []Hint{{EventID: body.Event, Ref: Ref{ID: body.ID, Reference: body.Reference}, Kind: kindOf(body.ID)}}, nil
}

var errBank = errors.New("the bank has a power cut")
