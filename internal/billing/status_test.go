package billing

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// The states that an invoice can be found in. Paid has two: money that came
// through a gateway does not go back by a click.
const (
	byHand    = "Pago by hand"
	byGateway = "Pago through a gateway"
)

func (w *world) invoiceThatIs(t *testing.T, state string) Invoice {
	t.Helper()
	invoice := w.only(t, w.customer(t, 1, "2026-02-10").ID)
	switch state {
	case byHand:
		w.set(t, invoice.ID, Paid)
	case byGateway:
		_, err := w.payThrough(t, invoice.ID, "woovi")
		must(t, err)
	case Cancelled.String():
		w.set(t, invoice.ID, Cancelled)
	}
	return plainly(w.find(t, invoice.ID))
}

func TestEveryChangeOfStatusIsAllowedSameOrRefused(t *testing.T) {
	const (
		allowed = "allowed"
		same    = "the same again"
	)
	table := []struct {
		from string
		to   Status
		want string // allowed, same, or a part of the refusal
	}{
		{Open.String(), Open, same},
		{Open.String(), Paid, allowed},
		{Open.String(), Cancelled, allowed},
		{byHand, Open, allowed},
		{byHand, Paid, same},
		{byHand, Cancelled, "an invoice that is Pago can only become: Em aberto"},
		{byGateway, Open, "this invoice was paid through woovi and stays Pago"},
		{byGateway, Paid, same},
		{byGateway, Cancelled, "an invoice that is Pago can only become: Em aberto"},
		{Cancelled.String(), Open, allowed},
		{Cancelled.String(), Paid, "an invoice that is Cancelado can only become: Em aberto"},
		{Cancelled.String(), Cancelled, same},
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		for _, c := range table {
			before := world.invoiceThatIs(t, c.from)
			known := len(world.bodies(t))
			world.clock.Advance(time.Minute)
			out, err := world.SetStatus(t.Context(), world.actor, before.ID, ReadStatusChange(values("status", c.to.String(), "note", "n")))
			after := plainly(world.find(t, before.ID))
			switch c.want {
			case allowed:
				if err != nil || !out.Changed || out.Status != c.to || after.Status != c.to || after.Note != "n" || after != plainly(out.Invoice) {
					t.Errorf("%s to %s: %v, answered %+v, found %+v", c.from, c.to, err, out, after)
				}
			case same:
				if err != nil || out.Changed || out.Renewed || out.MovedBack || after != before || plainly(out.Invoice) != before {
					t.Errorf("%s to %s: %v, answered %+v, found %+v, was %+v", c.from, c.to, err, out, after, before)
				}
				world.wantEvents(t, known)
			default:
				wantField(t, err, "status")
				if !strings.Contains(fault.Public(err), c.want) || after != before {
					t.Errorf("%s to %s: %v, want %q; found %+v, was %+v", c.from, c.to, err, c.want, after, before)
				}
				world.wantEvents(t, known)
			}
		}
		world.wantTrueBooks(t)
	})
}

// documented is a row of the table of changes.
var documented = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\|")

func TestDocumentShowsTheStateMachineAndTheDefaults(t *testing.T) {
	document, err := os.ReadFile("../../docs/billing.md")
	must(t, err)
	told := map[Status][]Status{}
	for _, row := range documented.FindAllStringSubmatch(string(document), -1) {
		if from := statusOf(row[1]); from != "" {
			told[from] = append(told[from], statusOf(row[2]))
		}
	}
	if !maps.EqualFunc(told, transitions, slices.Equal) {
		t.Errorf("docs/billing.md tells of %v, the code has %v", told, transitions)
	}
	settings := account.DefaultSettings
	for _, row := range []string{
		fmt.Sprintf("| `--lead-days` | `%d` |", settings.LeadDays), fmt.Sprintf("| `--renew-on-payment` | `%t` |", settings.RenewOnPayment),
		fmt.Sprintf("| `--late-fee-percent` | `%s` |", settings.LateFeePercent), fmt.Sprintf("| `--late-interest-percent` | `%s` |", settings.LateInterestPercent),
		fmt.Sprintf("| `--discount-percent` | `%s` |", settings.DiscountPercent), fmt.Sprintf("| `--discount-amount` | `%s` |", settings.DiscountAmount),
		fmt.Sprintf("| `--renew-from` | `%s` |", settings.RenewFrom), fmt.Sprintf("| `--timezone` | `%s` |", account.DefaultTimezone),
	} {
		if !strings.Contains(string(document), row) {
			t.Errorf("docs/billing.md does not say %s", row)
		}
	}
}

func TestCancelledInvoiceRefusesPayment(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		invoice := world.invoiceThatIs(t, Cancelled.String())
		known := len(world.bodies(t))
		_, err := world.payThrough(t, invoice.ID, "woovi")
		wantField(t, err, "status")
		world.wantEvents(t, known)
		if got := plainly(world.find(t, invoice.ID)); got != invoice {
			t.Errorf("found %+v, was %+v", got, invoice)
		}
	})
}

func TestGatewayPaymentOfAPaidInvoiceChangesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		for _, state := range []string{byHand, byGateway} {
			invoice := world.invoiceThatIs(t, state)
			due, known := world.dueOn(t, invoice.Customer.ID), len(world.bodies(t))
			world.clock.Advance(time.Hour)
			out, err := world.payThrough(t, invoice.ID, "asaas")
			if err != nil || out.Changed || out.Renewed || plainly(world.find(t, invoice.ID)) != invoice || world.dueOn(t, invoice.Customer.ID) != due {
				t.Errorf("%s: %+v, %v", state, out, err)
			}
			world.wantEvents(t, known)
		}
	})
}

func TestPaymentRenewsItsCustomerOnceAndTellsOfBoth(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		for _, pay := range []func(id int64) (Outcome, error){
			func(id int64) (Outcome, error) { return world.set(t, id, Paid), nil },
			func(id int64) (Outcome, error) { return world.payThrough(t, id, "woovi") },
		} {
			invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
			known := len(world.bodies(t))
			out, err := pay(invoice.ID)
			if err != nil || !out.Renewed || !out.Changed || !out.PaidAt.Equal(world.clock.Now()) || out.PaidOn != day("2026-01-31") {
				t.Errorf("paid: %+v, %v", out, err)
			}
			if got := world.dueOn(t, invoice.Customer.ID); got != "2026-02-28" {
				t.Errorf("due on %s, want a month later", got)
			}
			world.wantEvents(t, known, event.InvoicePaid, event.CustomerRenewed)
		}
		world.wantTrueBooks(t)
	})
}

// renewalCase is a payment on 31 January, the due date, and the due date after
// it.
type renewalCase struct {
	name    string
	company bool     // renews on payment
	before  func()   // done before the payment
	fields  []string // in addition to the status
	want    string
}

func TestWhatAPaymentRenews(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		var invoice Invoice
		renew := func() {
			_, err := world.customers.Renew(t.Context(), world.actor, invoice.Customer.ID)
			must(t, err)
		}
		to := func(pairs ...string) func() { return func() { world.update(t, invoice.Customer.ID, pairs...) } }
		for _, c := range []renewalCase{
			{"as a rule", true, nil, nil, "2026-02-28"},
			{"the request says no", true, nil, []string{"renew", "false"}, "2026-01-31"},
			{"the company says no", false, nil, nil, "2026-01-31"},
			{"the request overrules the company", false, nil, []string{"renew", "1"}, "2026-02-28"},
			{"the request leaves it to the company", false, nil, []string{"renew", ""}, "2026-01-31"},
			{"somebody renewed first", true, renew, nil, "2026-02-28"},
			{"the date was moved on", true, to("data_de_vencimento", "2026-02-01"), nil, "2026-03-01"},
			{"the date was moved back", true, to("data_de_vencimento", "2026-01-10"), nil, "2026-02-10"},
			{"the date was taken away", true, to("data_de_vencimento", ""), nil, "2026-02-28"}, // counted from today
			{"the plan was taken away", true, to("plan_id", ""), nil, "2026-02-28"},            // the invoice keeps its period
		} {
			invoice = world.only(t, world.customer(t, 1, "2026-01-31").ID)
			if c.before != nil {
				c.before()
			}
			was, known := world.dueOn(t, invoice.Customer.ID), len(world.bodies(t))
			world.configure(t, "renew_on_payment", fmt.Sprint(c.company))
			out, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values(append(c.fields, "status", "Pago")...)))
			if got := world.dueOn(t, invoice.Customer.ID); err != nil || out.Status != Paid || got != c.want || out.Renewed != (was != c.want) {
				t.Errorf("%s: %v, renewed %t, due on %s, want %s", c.name, err, out.Renewed, got, c.want)
			}
			want := []event.Name{event.InvoicePaid}
			if was != c.want {
				want = append(want, event.CustomerRenewed)
			}
			world.wantEvents(t, known, want...)
		}
		world.wantTrueBooks(t)
	})
}

func TestCompanySettingHoldsForGatewaysToo(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	world.configure(t, "renew_on_payment", "false")
	invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
	if out, err := world.payThrough(t, invoice.ID, "woovi"); err != nil || out.Renewed || world.dueOn(t, invoice.Customer.ID) != "2026-01-31" {
		t.Errorf("renewed %t, %v", out.Renewed, err)
	}
}

func TestLatePaymentRenewsFromTodayWhereTheCompanyChoseSo(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	for from, want := range map[account.RenewFrom]string{account.FromDueDate: "2026-01-15", account.FromToday: "2026-02-28"} {
		world.configure(t, "renew_from", string(from))
		invoice := world.only(t, world.customer(t, 1, "2025-12-15").ID)
		world.set(t, invoice.ID, Paid)
		if got := world.dueOn(t, invoice.Customer.ID); got != want {
			t.Errorf("%s: due on %s, want %s", from, got, want)
		}
	}
}

func TestExtraInvoiceNeverRenews(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		customer := world.customer(t, 1, "2026-01-31")
		extra, err := world.CreateExtra(t.Context(), world.actor, customer.ID, ReadExtra(values("due", "2026-01-31")))
		must(t, err)
		out := world.set(t, extra.ID, Paid, "renew", "true")
		if out.Renewed || world.dueOn(t, customer.ID) != "2026-01-31" {
			t.Errorf("an extra invoice renewed: %+v", out)
		}
		if out = world.set(t, extra.ID, Open); out.MovedBack {
			t.Error("an extra invoice moved the due date back")
		}
		world.wantEvents(t, 0, event.CustomerCreated, event.InvoiceCreated, event.InvoiceCreated, event.InvoicePaid)
		world.wantTrueBooks(t)
	})
}

func TestReopeningMovesTheDueDateBackWhereThePaymentPutIt(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
		for range 2 { // and once more: nothing of the first round is left
			if out := world.set(t, invoice.ID, Paid); !out.Renewed || world.dueOn(t, invoice.Customer.ID) != "2026-02-28" {
				t.Fatalf("paid: %+v, due on %s", out, world.dueOn(t, invoice.Customer.ID))
			}
			known := len(world.bodies(t))
			out := world.set(t, invoice.ID, Open)
			if !out.MovedBack || out.Renewed || !out.PaidAt.IsZero() || !out.PaidOn.IsZero() || out.PaidVia != "" || world.dueOn(t, invoice.Customer.ID) != "2026-01-31" {
				t.Fatalf("reopened: %+v, due on %s", out, world.dueOn(t, invoice.Customer.ID))
			}
			world.wantEvents(t, known, event.CustomerUpdated)
			if last := world.bodies(t)[known]; !strings.Contains(last, `"changed":["data_de_vencimento"]`) {
				t.Errorf("told %s", last)
			}
		}
		world.wantTrueBooks(t)
		world.set(t, invoice.ID, Paid)
		world.clock.Set(noon.AddDate(0, 0, 25))
		world.dayWork(t)
		february := world.invoices(t, invoice.Customer.ID)[1]
		for range 2 { // the own day survives: 28 February means the 31st
			world.set(t, february.ID, Paid)
			if got := world.dueOn(t, invoice.Customer.ID); got != "2026-03-31" {
				t.Errorf("renewed until %s", got)
			}
			world.set(t, february.ID, Open)
		}
	})
}

func TestReopeningMovesAMissingDateBackToNone(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
	world.update(t, invoice.Customer.ID, "data_de_vencimento", "")
	world.set(t, invoice.ID, Paid)
	if out := world.set(t, invoice.ID, Open); !out.MovedBack || world.dueOn(t, invoice.Customer.ID) != "" {
		t.Errorf("moved back %t, due on %q", out.MovedBack, world.dueOn(t, invoice.Customer.ID))
	}
}

// If the date was changed since, a person relies on it: it stays, and the
// period that was given is not given again.
func TestReopeningLeavesADateThatHasChangedSince(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		for _, c := range []struct {
			name  string
			since func(id int64)
			want  string
		}{
			{"renewed by hand", func(id int64) {
				_, err := world.customers.Renew(t.Context(), world.actor, id)
				must(t, err)
			}, "2026-03-31"},
			{"another date", func(id int64) { world.update(t, id, "data_de_vencimento", "2026-01-05") }, "2026-01-05"},
			{"no date", func(id int64) { world.update(t, id, "data_de_vencimento", "") }, ""},
		} {
			invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
			world.set(t, invoice.ID, Paid)
			c.since(invoice.Customer.ID)
			known := len(world.bodies(t))
			if out := world.set(t, invoice.ID, Open); out.MovedBack || world.dueOn(t, invoice.Customer.ID) != c.want {
				t.Errorf("%s: moved back %t, due on %s", c.name, out.MovedBack, world.dueOn(t, invoice.Customer.ID))
			}
			world.wantEvents(t, known)
			if out := world.set(t, invoice.ID, Paid); out.Renewed || world.dueOn(t, invoice.Customer.ID) != c.want {
				t.Errorf("%s: paid again: renewed %t, due on %s", c.name, out.Renewed, world.dueOn(t, invoice.Customer.ID))
			}
			world.wantEvents(t, known, event.InvoicePaid)
		}
		world.wantTrueBooks(t)
	})
}

func TestPaymentThatDidNotRenewMayDoSoLater(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.only(t, world.customer(t, 1, "2026-01-31").ID)
	world.set(t, invoice.ID, Paid, "renew", "false")
	if out := world.set(t, invoice.ID, Open); out.MovedBack {
		t.Error("moved back what was not moved on")
	}
	if out := world.set(t, invoice.ID, Paid); !out.Renewed || world.dueOn(t, invoice.Customer.ID) != "2026-02-28" {
		t.Errorf("renewed %t, due on %s", out.Renewed, world.dueOn(t, invoice.Customer.ID))
	}
}

func TestDayOfPaymentMayBePastButNotToCome(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		world.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC)) // a second to midnight in São Paulo
		for given, want := range map[string]time.Time{
			"":           world.clock.Now(),
			"2026-01-31": world.clock.Now(),
			"2026-01-30": time.Date(2026, 1, 30, 3, 0, 0, 0, time.UTC),
			"2018-11-04": time.Date(2018, 11, 4, 3, 0, 0, 0, time.UTC), // a day that began at one o'clock
		} {
			invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
			world.set(t, invoice.ID, Paid, "paid_at", given)
			got := world.find(t, invoice.ID)
			if !got.PaidAt.Equal(want) || got.PaidOn != civil.Of(want.In(world.actor.Company.Zone)) || got.PaidVia != Manual {
				t.Errorf("%q: paid at %v, on %v, via %q", given, got.PaidAt.UTC(), got.PaidOn, got.PaidVia)
			}
		}
		invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
		for _, wrong := range []string{"2026-02-01", "2027-01-01", "31/01/2026", "2026-01-31T10:00:00"} {
			_, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(values("status", "Pago", "paid_at", wrong)))
			wantField(t, err, "paid_at")
		}
		if got := world.find(t, invoice.ID); got.Status != Open {
			t.Errorf("paid on a day that is wrong: %+v", got)
		}
		world.wantTrueBooks(t)
	})
}

func TestNoteIsKeptUntilAnotherIsGiven(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
	for _, step := range []struct {
		to     Status
		fields []string
		want   string
	}{
		{Paid, []string{"note", "em dinheiro\nna loja"}, "em dinheiro\nna loja"},
		{Open, nil, "em dinheiro\nna loja"},
		{Cancelled, []string{"note", "mudou-se"}, "mudou-se"},
		{Open, []string{"note", ""}, ""},
	} {
		world.set(t, invoice.ID, step.to, step.fields...)
		if got := world.find(t, invoice.ID).Note; got != step.want {
			t.Errorf("%s %v: note %q, want %q", step.to, step.fields, got, step.want)
		}
	}
}

func TestStatusRefusesEveryWrongFieldAtOnce(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
	for body, want := range map[string][]string{
		`{}`:                {"status"},
		`{"status":null}`:   {"status"},
		`{"status":"Paid"}`: {"status"},
		`{"status":7,"paid_at":"soon","note":[],"renew":"yes","stauts":"Pago"}`: {"status", "paid_at", "note", "renew", "stauts"},
		`{"status":"Pago","note":"` + strings.Repeat("é", 2001) + `"}`:          {"note"},
		`{"status":"Cancelado","cor":1}`:                                        {"cor"},
	} {
		form, err := input.FromJSON([]byte(body))
		must(t, err)
		_, err = world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(form))
		var got []string
		for field := range fault.FieldsOf(err).All() {
			got = append(got, field)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.60s: refused %v (%v), want %v", body, got, err, want)
		}
	}
	world.wantEvents(t, 0, event.CustomerCreated, event.InvoiceCreated)
}

// Automation platforms send a record back as they read it, with one change.
func TestRecordMayBeSentBackWithAnotherStatus(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.plan(t, "1month", "35.00")
	invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
	for _, step := range []struct {
		to     Status
		paidAt string
	}{
		{Paid, `null`}, {Open, `"2026-01-31T09:00:00-03:00"`}, {Cancelled, `null`}, {Open, `null`},
	} {
		form, err := input.FromJSON(fmt.Appendf(nil, `{"id":9,"status":%q,"total_amount":"1.00","description":null,"due_date":"2030-01-01",
			"overdue":true,"paid_at":%s,"paid_via":null,"amount_received":"1.00","created_at":"x","customer":{},"plan":null,"product":{},"renewed":true,"due_date_moved_back":1}`,
			step.to, step.paidAt))
		must(t, err)
		out, err := world.SetStatus(t.Context(), world.actor, invoice.ID, ReadStatusChange(form))
		if err != nil || out.Status != step.to || out.ID != invoice.ID || out.Amount != 3500 || out.DueOn != day("2026-02-10") {
			t.Errorf("%s: %+v, %v", step.to, out, err)
		}
	}
}

func TestInvoicesOfOthersAreNotFound(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		invoice := world.only(t, world.customer(t, 1, "2026-02-10").ID)
		stranger := world.newCompany(t, "UTC")
		_, err := world.Find(t.Context(), stranger, invoice.ID)
		wantNotFound(t, err)
		_, err = world.SetStatus(t.Context(), stranger, invoice.ID, ReadStatusChange(values("status", "Pago")))
		wantNotFound(t, err)
		_, err = world.CreateExtra(t.Context(), stranger, invoice.Customer.ID, ReadExtra(values("amount", "1")))
		wantNotFound(t, err)
		_, err = world.SetStatus(t.Context(), world.actor, invoice.ID+1, ReadStatusChange(values("status", "Pago")))
		wantNotFound(t, err)
		if found, err := world.Latest(t.Context(), stranger, []int64{invoice.Customer.ID}, 0); err != nil || len(found) != 0 {
			t.Errorf("a stranger sees %v, %v", found, err)
		}
		if list, total, err := world.List(t.Context(), stranger, Filter{CustomerID: invoice.Customer.ID}, firstPage); err != nil || total != 0 || len(list) != 0 {
			t.Errorf("a stranger lists %v of %d, %v", list, total, err)
		}
		world.wantEvents(t, 0, event.CustomerCreated, event.InvoiceCreated)
	})
}
