package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values, must = housetest.Form, housetest.Must

// noon is the morning of 31 January 2026 in São Paulo.
var noon = housetest.Morning

// world is a company and the rooms around its invoices, in one process.
type world struct {
	*Service
	url       string
	clock     *sqldbtest.Clock
	events    *event.Log
	accounts  *account.Service
	catalog   *catalog.Service
	customers *customer.Service
	actor     account.Actor
}

func newWorld(tb testing.TB, engine sqldb.Engine) *world {
	tb.Helper()
	world := openWorld(tb, sqldbtest.URL(tb, engine), sqldbtest.NewClock(noon))
	world.actor = world.newCompany(tb, account.DefaultTimezone)
	return world
}

func openWorld(tb testing.TB, url string, clock *sqldbtest.Clock) *world {
	tb.Helper()
	db := sqldbtest.Open(tb, url, sqldbtest.WithClock(clock))
	events := &event.Log{}
	customers := customer.New(db, events)
	return &world{New(db, events, customers), url, clock, events, account.New(db, account.Config{}), catalog.New(db), customers, account.Actor{}}
}

// process is one more process on the same database, with pools of its own.
func (w *world) process(t *testing.T) *world {
	t.Helper()
	other := openWorld(t, w.url, w.clock)
	other.actor = w.actor
	return other
}

func (w *world) newCompany(tb testing.TB, timezone string) account.Actor {
	tb.Helper()
	all, err := w.accounts.Companies(tb.Context())
	must(tb, err)
	company, _, err := w.accounts.CreateCompany(tb.Context(), account.ReadNewCompany(values(
		"name", "Rede Clara", "email", fmt.Sprintf("c%d@example.com", len(all)), "timezone", timezone)))
	must(tb, err)
	return account.System(company, "test")
}

// configure changes the settings of the company, and the actor with it.
func (w *world) configure(t *testing.T, pairs ...string) {
	t.Helper()
	company, err := w.accounts.SetCompany(t.Context(), account.Operator(w.actor.Company), account.ReadCompanyDraft(values(pairs...)))
	must(t, err)
	w.actor.Company = company
}

// plan makes a plan, of a product of its own. Both are numbered from 1.
func (w *world) plan(t *testing.T, period, value string) int64 {
	t.Helper()
	product, err := w.catalog.CreateProduct(t.Context(), w.actor, catalog.ReadNewProduct(values("name", "Produto "+period)))
	must(t, err)
	plan, err := w.catalog.CreatePlan(t.Context(), w.actor, catalog.ReadNewPlan(values(
		"name", "Plano "+period, "value", value, "period", period, "product_id", fmt.Sprint(product.ID))))
	must(t, err)
	return plan.ID
}

// customer makes a customer of a plan; dueOn may be "".
func (w *world) customer(t *testing.T, planID int64, dueOn string) customer.Customer {
	t.Helper()
	record, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values(
		"name", "Ana Lima", "plan_id", orEmpty(planID), "data_de_vencimento", dueOn)))
	must(t, err)
	return record
}

func orEmpty(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprint(id)
}

func (w *world) update(t *testing.T, id int64, pairs ...string) {
	t.Helper()
	_, err := w.customers.Update(t.Context(), w.actor, id, customer.ReadChanges(values(pairs...)))
	must(t, err)
}

// redate gives a customer a due date that the invoice of the one before does not
// follow to, so that there is a due date to bill.
func (w *world) redate(t *testing.T, id int64, dueOn string) {
	t.Helper()
	w.update(t, id, "data_de_vencimento", "")
	w.update(t, id, "data_de_vencimento", dueOn)
}

func (w *world) dueOn(t *testing.T, customerID int64) string {
	t.Helper()
	record, err := w.customers.Find(t.Context(), w.actor, customerID)
	must(t, err)
	return record.DueOn.String()
}

// set changes a status as the API would; pairs are further fields.
func (w *world) set(t *testing.T, id int64, status Status, pairs ...string) Outcome {
	t.Helper()
	out, err := w.SetStatus(t.Context(), w.actor, id, ReadStatusChange(values(append(pairs, "status", status.String())...)))
	must(t, err)
	return out
}

// payThrough pays as a gateway does.
func (w *world) payThrough(t *testing.T, id int64, gateway string) (out Outcome, err error) {
	t.Helper()
	err = w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		invoice, err := LockTx(t.Context(), w.actor.In(tx), id)
		if err != nil || invoice.Status == Paid { // what a gateway brings for a paid invoice is under review
			out.Invoice = invoice
			return err
		}
		out, err = w.ReceiveTx(t.Context(), w.actor.In(tx), gatewayReceipt(w, invoice, gateway))
		return err
	})
	return out, err
}

// gatewayReceipt is a payment of all that is to pay.
func gatewayReceipt(world *world, invoice Invoice, gateway string) Receipt {
	return Receipt{Renew: world.actor.Company.Settings.RenewOnPayment, Payment: Payment{
		InvoiceID: invoice.ID, Provider: gateway, Via: gateway, PaymentID: fmt.Sprint("p", invoice.ID, "-", world.clock.Now().UnixMicro()),
		Amount: invoice.PayableOn(world.actor.Company, world.actor.Today(world.clock.Now())).Rest, PaidAt: world.clock.Now(),
	}}
}

func (w *world) find(t *testing.T, id int64) Invoice {
	t.Helper()
	invoice, err := w.Find(t.Context(), w.actor, id)
	must(t, err)
	return invoice
}

// invoices are a customer's, oldest first.
func (w *world) invoices(t *testing.T, customerID int64) []Invoice {
	t.Helper()
	list, err := ofCustomer(t.Context(), w.db, w.actor.Company.ID, customerID)
	must(t, err)
	slices.Reverse(list)
	return list
}

// only is the one invoice of a customer.
func (w *world) only(t *testing.T, customerID int64) Invoice {
	t.Helper()
	list := w.invoices(t, customerID)
	if len(list) != 1 {
		t.Fatalf("customer %d has %d invoices, want one", customerID, len(list))
	}
	return list[0]
}

// wantDue compares the due dates of a customer's invoices, in order of issue.
func (w *world) wantDue(t *testing.T, customerID int64, want ...string) {
	t.Helper()
	var got []string
	for _, invoice := range w.invoices(t, customerID) {
		got = append(got, invoice.DueOn.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("invoices due %v, want %v", got, want)
	}
}

// dayWork does what a server does by itself, and returns how many invoices it
// issued.
func (w *world) dayWork(t *testing.T) int {
	t.Helper()
	_, err := w.customers.Expire(t.Context(), w.actor)
	must(t, err)
	n, err := w.Issue(t.Context(), w.actor)
	must(t, err)
	return n
}

// recorded lists the names of the events after the first known, in the order
// of their recording.
func (w *world) recorded(t *testing.T, known int) []event.Name {
	t.Helper()
	list := w.bodies(t)[known:]
	names := make([]event.Name, len(list))
	for i, body := range list {
		_, rest, _ := strings.Cut(body, `{"event":"`)
		name, _, _ := strings.Cut(rest, `"`)
		names[i] = event.Name(name)
	}
	return names
}

// bodies are those of all events, in the order of their recording.
// bodies are the events of what befell customers and invoices. Those that are for
// bookkeeping have their own tests, and wantTrueBooks adds them up.
func (w *world) bodies(t *testing.T) []string {
	t.Helper()
	return texts(t, w.db, `SELECT body FROM events WHERE name NOT IN ('invoice.updated', 'invoice.cancelled')
		AND name NOT LIKE 'payment.%' ORDER BY id`)
}

func (w *world) wantEvents(t *testing.T, known int, want ...event.Name) {
	t.Helper()
	if got := w.recorded(t, known); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func texts(t *testing.T, querier sqldb.Querier, statement string, args ...any) []string {
	t.Helper()
	list, err := sqldb.Values[string](t.Context(), querier, statement, args...)
	must(t, err)
	return list
}

// wantTrueBooks counts and adds up the rows, and wants the books to say the
// same.
func (w *world) wantTrueBooks(t *testing.T) {
	t.Helper()
	all, err := counter.Total(t.Context(), w.db, w.actor.Company.ID)
	must(t, err)
	rows := w.sums(t, `''`, "")
	if all != rows[""].N {
		t.Errorf("the book has %d invoices, the table %d", all, rows[""].N)
	}
	for column, of := range map[string]string{
		"state": "status", "day": "due_on",
		"plan_id": "COALESCE(plan_id, 0)", "product_id": "COALESCE(product_id, 0)",
	} {
		w.wantSums(t, counter, column, w.sums(t, of, ""))
	}
	w.wantTrueLedger(t)
	w.wantTruePayments(t)
	for _, check := range []func(context.Context) (checkup.Finding, error){w.CheckLedger, w.CheckCredit} {
		if finding, err := check(t.Context()); err != nil || finding.Verdict != checkup.OK {
			t.Errorf("%+v: %v", finding, err)
		}
	}
	w.wantTrueEvents(t)
	if odd := texts(t, w.db, `SELECT status FROM invoices WHERE (status = 'paid') <> (paid_on IS NOT NULL AND paid_at IS NOT NULL AND paid_via <> '')`); len(odd) > 0 {
		t.Errorf("statuses %v do not agree with the payments", odd)
	}
}

// wantTrueEvents wants the events of payments to add up to what was received.
func (w *world) wantTrueEvents(t *testing.T) {
	t.Helper()
	_, received, err := receipts.Sum(t.Context(), w.db, w.actor.Company.ID, tally.Filter{Days: []tally.Days{{}}})
	must(t, err)
	var told int64
	for _, body := range texts(t, w.db, `SELECT body FROM events WHERE company_id = ? AND name LIKE 'payment.%'`, w.actor.Company.ID) {
		var e struct {
			Data struct {
				Payment struct{ Amount json.Number }
			}
		}
		must(t, json.Unmarshal([]byte(body), &e))
		cents, err := strconv.ParseInt(strings.Replace(e.Data.Payment.Amount.String(), ".", "", 1), 10, 64)
		must(t, err)
		told += cents
	}
	if told != received {
		t.Errorf("events say that %d cents came, %d did", told, received)
	}
}

// wantTrueLedger compares invoices, ledger and counters of money with each other.
func (w *world) wantTrueLedger(t *testing.T) {
	t.Helper()
	for column, of := range map[string]string{
		"day": "day", "state": "paid_via", "plan_id": "plan_id", "product_id": "product_id",
	} {
		w.wantSums(t, receipts, column, w.read(t, `
			SELECT CAST(`+of+` AS TEXT), CAST(SUM(n) AS BIGINT), CAST(SUM(cents) AS BIGINT) FROM (
				SELECT paid_on AS day, paid_via, plan_id, product_id, 1 AS n, amount_cents AS cents FROM payments
				WHERE company_id = ? AND status IN ('applied', 'partial', 'refunded', 'credit') AND provider <> 'credit'
				UNION ALL
				SELECT r.refunded_on, p.paid_via, p.plan_id, p.product_id, 0, -r.amount_cents
				FROM payment_refunds r JOIN payments p ON p.id = r.payment_id
				WHERE r.company_id = ? AND p.status NOT IN ('review', 'dismissed')
			) AS moved GROUP BY 1`, w.actor.Company.ID, w.actor.Company.ID))
	}
	var here tally.Filter
	here.And("state IN (?, ?)", onTime, late)
	got, err := tally.By[string](t.Context(), w.db, paid, w.actor.Company.ID, "day", here)
	must(t, err)
	want := w.read(t, `SELECT paid_on, count(*), CAST(SUM(settled_cents) AS BIGINT) FROM invoices
		WHERE company_id = ? AND status = 'paid' GROUP BY 1`, w.actor.Company.ID)
	wantSameSums(t, "paid invoices", got, want)
	for _, odd := range texts(t, w.db, `
		SELECT 'invoice ' || i.id || ' received ' || i.received_cents || ', its payments ' || COALESCE(SUM(p.amount_cents - p.refunded_cents), 0)
		FROM invoices i LEFT JOIN payments p ON p.company_id = i.company_id AND p.invoice_id = i.id AND p.status IN ('applied', 'partial', 'refunded')
		GROUP BY i.id, i.received_cents HAVING i.received_cents <> COALESCE(SUM(p.amount_cents - p.refunded_cents), 0)`) {
		t.Error(odd)
	}
	for _, odd := range texts(t, w.db, `SELECT 'invoice ' || id || ' is ' || status || ' with ' || received_cents FROM invoices
		WHERE status = 'paid' AND received_cents < amount_cents + late_fee_cents + late_interest_cents - discount_cents - forgiven_cents
			OR status <> 'paid' AND (late_fee_cents <> 0 OR late_interest_cents <> 0 OR discount_cents <> 0 OR forgiven_cents <> 0 OR settled_cents <> 0)
			OR status = 'paid' AND settled_cents < received_cents`) {
		t.Error(odd)
	}
}

// wantSameSums compares sums; one of nothing is none.
func wantSameSums(t *testing.T, what string, got, want map[string]tally.Sums) {
	t.Helper()
	for _, sums := range []map[string]tally.Sums{got, want} {
		for k, s := range sums {
			if s == (tally.Sums{}) {
				delete(sums, k)
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: the book has %v, the tables %v", what, got, want)
	}
}

// read reads a key and its sums from each row.
func (w *world) read(t *testing.T, query string, args ...any) map[string]tally.Sums {
	t.Helper()
	found := map[string]tally.Sums{}
	must(t, sqldb.Each(t.Context(), w.db, query, args, func(row sqldb.Row) error {
		var key string
		var sums tally.Sums
		err := row.Scan(&key, &sums.N, &sums.Cents)
		found[key] = sums
		return err
	}))
	return found
}

// sums counts rows by a column, read as text.
func (w *world) sums(t *testing.T, column, and string) map[string]tally.Sums {
	t.Helper()
	found := map[string]tally.Sums{}
	must(t, sqldb.Each(t.Context(), w.db, `
		SELECT CAST(`+column+` AS TEXT), count(*),
			CAST(SUM(CASE WHEN status <> 'open' THEN amount_cents WHEN received_cents > amount_cents THEN 0
				ELSE amount_cents - received_cents END) AS BIGINT) FROM invoices
		WHERE company_id = ? `+and+` GROUP BY 1`, []any{w.actor.Company.ID}, func(row sqldb.Row) error {
		var key string
		var sums tally.Sums
		err := row.Scan(&key, &sums.N, &sums.Cents)
		found[key] = sums
		return err
	}))
	return found
}

func (w *world) wantSums(t *testing.T, b tally.Counter, column string, want map[string]tally.Sums) {
	t.Helper()
	got := map[string]tally.Sums{}
	if column == "plan_id" || column == "product_id" {
		by, err := tally.By[int64](t.Context(), w.db, b, w.actor.Company.ID, column, tally.Filter{})
		must(t, err)
		for k, sums := range by {
			got[fmt.Sprint(k)] = sums
		}
	} else {
		by, err := tally.By[string](t.Context(), w.db, b, w.actor.Company.ID, column, tally.Filter{})
		must(t, err)
		got = by
	}
	for k, sums := range got {
		if sums != want[k] {
			t.Errorf("%s by %s: %q has %+v, the rows %+v", b, column, k, sums, want[k])
		}
	}
	for k, sums := range want {
		if got[k] != sums {
			t.Errorf("%s by %s: %q has %+v, the rows %+v", b, column, k, got[k], sums)
		}
	}
}

// atOnce calls f n times in parallel, in turn on the processes.
func atOnce(n int, processes []*world, fn func(p *world, i int) error) (failed []error) {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(processes[i%len(processes)], i)
		})
	}
	close(start)
	wg.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// values makes a form of names and values in turn.

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	if got, _ := fault.FieldsOf(err).First(); got != field {
		t.Errorf("refused %q (%v), want %q", got, err, field)
	}
}

func wantNotFound(t *testing.T, err error) {
	t.Helper()
	if fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("got %v, want not found", err)
	}
}

func day(s string) civil.Date { return civil.MustParse(s) }

// plainly is an invoice with its times in one zone, so that two can be compared.
func plainly(invoice Invoice) Invoice {
	invoice.CreatedAt, invoice.PaidAt = invoice.CreatedAt.UTC(), invoice.PaidAt.UTC()
	invoice.UpdatedAt = invoice.UpdatedAt.UTC()
	return invoice
}
