package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// bill is what tests look at of an invoice.
type bill struct {
	ID          int64   `json:"id"`
	Status      string  `json:"status"`
	TotalAmount string  `json:"total_amount"`
	Description *string `json:"description"`
	DueDate     string  `json:"due_date"`
	Overdue     bool    `json:"overdue"`
	PaidAt      *string `json:"paid_at"`
	PaidVia     *string `json:"paid_via"`
	Customer    record  `json:"customer"`
	Renewed     bool    `json:"renewed"`
	MovedBack   bool    `json:"due_date_moved_back"`
}

// setStatus changes an invoice, which must be a success.
func (c *caller) setStatus(t *testing.T, id int64, body string) bill {
	t.Helper()
	return data[bill](t, c.call(t, http.MethodPost, fmt.Sprintf("/invoices/%d/status", id), body))
}

// business makes a company with invoices that every filter distinguishes.
// Today is 31 January 2026.
func (s *service) business(t *testing.T) *caller {
	t.Helper()
	caller := s.newCaller(t)
	_, err := s.Catalog.CreateProduct(t.Context(), caller.actor, catalog.ReadNewProduct(values("name", "TV")))
	must(t, err)
	_, err = s.Catalog.CreatePlan(t.Context(), caller.actor, catalog.ReadNewPlan(values("name", "Anual", "value", "300.00", "period", "1year")))
	must(t, err)
	s.clock.Set(noon.AddDate(0, 0, -20))
	caller.create(t, `{"name":"João","plan_id":1,"data_de_vencimento":"2026-01-20"}`)                 // invoice 1
	caller.create(t, `{"name":"Maria","plan_id":2,"product_id":2,"data_de_vencimento":"2026-03-10"}`) // invoice 2
	s.clock.Set(noon)
	caller.create(t, `{"name":"Ana","plan_id":1,"product_id":null,"data_de_vencimento":"2026-01-31"}`) // invoice 3
	_, err = s.Billing.CreateExtra(t.Context(), caller.actor, 1, billing.ReadExtra(values("amount", "7.00", "due", "2026-02-15")))
	must(t, err) // invoice 4
	caller.setStatus(t, 2, `{"status":"Pago","paid_at":"2026-01-15"}`)
	caller.setStatus(t, 4, `{"status":"Cancelado"}`)
	return caller
}

func TestInvoicesAreListedByEveryFilter(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).business(t)
		for query, want := range map[string][]int64{
			"":                                       {4, 3, 2, 1},
			"status=em_aberto":                       {3, 1},
			"status=PAGO":                            {2},
			"status=Cancelado":                       {4},
			"customer_id=1":                          {4, 1},
			"customer_id=99":                         {},
			"plan_id=2":                              {2},
			"product_id=1":                           {4, 1},
			"due_from=2026-01-31":                    {4, 3, 2},
			"due_to=2026-01-31":                      {3, 1},
			"due_from=2026-01-31&due_to=2026-01-31":  {3},
			"paid_from=2026-01-15":                   {2},
			"paid_from=2026-01-16":                   {},
			"paid_to=2026-01-15":                     {2},
			"created_from=2026-01-31":                {4, 3},
			"created_to=2026-01-30":                  {2, 1},
			"overdue=true":                           {1},
			"overdue=0":                              {4, 3, 2},
			"overdue=":                               {4, 3, 2, 1},
			"search=joao":                            {4, 1},
			"search=joao&status=Cancelado&plan_id=1": {4},
			"_=red":                                  {4, 3, 2, 1},
			"per_page=3":                             {4, 3, 2},
			"per_page=3&page=2":                      {1},
			"per_page=3&page=3":                      {},
			"status=em+aberto&page=abc":              {3, 1},
		} {
			caller.wantInvoices(t, "/invoices?"+query, want...)
		}
		caller.wantInvoices(t, "/customers/1/invoices", 4, 1)
		caller.wantInvoices(t, "/customers/1/invoices?overdue=1", 1)
		caller.wantInvoices(t, "/customers/1/invoices?customer_id=2", 4, 1)
		caller.wantInvoices(t, "/customers/1/invoices?per_page=1&page=2", 1)
	})
}

func (c *caller) wantInvoices(t *testing.T, path string, want ...int64) {
	t.Helper()
	var got []int64
	for _, b := range data[[]bill](t, c.call(t, http.MethodGet, path, "")) {
		got = append(got, b.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: invoices %v, want %v", path, got, want)
	}
}

func TestInvoicesShowWhatPaysThemTodayAndWhy(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.business(t) // 35.00: number 1 is eleven days late, number 3 due today
		_, err := service.Accounts.SetCompany(t.Context(), caller.actor, account.ReadCompanyDraft(values(
			"late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")))
		must(t, err)
		type costs struct {
			ID       int64  `json:"id"`
			Received string `json:"amount_received"`
			Payable  string `json:"payable_amount"`
			Fee      string `json:"late_fee"`
			Interest string `json:"late_interest"`
			Discount string `json:"discount"`
		}
		want := []costs{
			{4, "0.00", "0.00", "0.00", "0.00", "0.00"},   // cancelled
			{3, "0.00", "33.25", "0.00", "0.00", "1.75"},  // due today
			{2, "300.00", "0.00", "0.00", "0.00", "0.00"}, // paid before there were terms
			{1, "0.00", "35.83", "0.70", "0.13", "0.00"},  // 0.1283
		}
		if got := data[[]costs](t, caller.call(t, http.MethodGet, "/invoices", "")); !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		paid := data[costs](t, caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Pago","amount":"20.00","difference":"discount"}`))
		if paid != (costs{1, "20.00", "0.00", "0.70", "0.13", "15.83"}) {
			t.Errorf("paid with a discount: %v", paid)
		}
		if read := data[costs](t, caller.call(t, http.MethodGet, "/invoices/1", "")); read != paid {
			t.Errorf("read %v", read)
		}
	})
}

func TestWrongFilterIsNamed(t *testing.T) {
	caller := newService(t, sqldb.SQLite).business(t)
	for filter, reason := range map[string]string{
		"status=xyz":                         "must be one of: Em aberto, Pago, Cancelado",
		"customer_id=0":                      "must be the id of a record, a positive whole number",
		"plan_id=a":                          "must be the id of a record, a positive whole number",
		"product_id=-1":                      "must be the id of a record, a positive whole number",
		"due_from=31/12":                     "must be a date in the form YYYY-MM-DD",
		"due_to=2026-02-30":                  "must be a date in the form YYYY-MM-DD",
		"paid_from=x":                        "must be a date in the form YYYY-MM-DD",
		"paid_to=x":                          "must be a date in the form YYYY-MM-DD",
		"created_from=x":                     "must be a date in the form YYYY-MM-DD",
		"created_to=x":                       "must be a date in the form YYYY-MM-DD",
		"overdue=maybe":                      "must be true or false",
		"search=" + strings.Repeat("x", 256): "must have at most 255 characters",
	} {
		name, _, _ := strings.Cut(filter, "=")
		for _, path := range []string{"/invoices?", "/customers/1/invoices?"} {
			caller.call(t, http.MethodGet, path+filter, "").want(t, 422, name+": "+reason)
		}
	}
	for _, month := range []string{"2026-13", "2026-1", "x", "2026-01-01"} {
		caller.call(t, http.MethodGet, "/dashboard?month="+month, "").want(t, 422, "month: must be a month in the form YYYY-MM")
	}
	for _, limit := range []string{"-1", "x", "1.5"} {
		if answer := caller.call(t, http.MethodGet, "/customers?invoices_limit="+limit, ""); answer.status != 422 || !strings.Contains(answer.body, `"invoices_limit: `) {
			t.Errorf("invoices_limit=%s: %d %s", limit, answer.status, answer.body)
		}
	}
}

func TestStatusChangeSaysWhatItDidToTheDueDate(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
		paid := caller.setStatus(t, 1, `{"status":"pago"}`)
		if !paid.Renewed || paid.MovedBack || paid.Status != "Pago" || *paid.PaidAt != "2026-01-31T09:00:00-03:00" || *paid.PaidVia != "manual" || *paid.Customer.DueDate != "2026-02-28" {
			t.Errorf("paid: %+v, customer due on %s", paid, *paid.Customer.DueDate)
		}
		again := caller.setStatus(t, 1, `{"status":"Pago","paid_at":"2026-01-01","renew":true}`)
		if again.Renewed || *again.PaidAt != *paid.PaidAt || *again.Customer.DueDate != "2026-02-28" {
			t.Errorf("paid again: %+v", again)
		}
		caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Cancelado"}`).want(t, 422, "status: an invoice that is Pago can only become: Em aberto")
		reopened := caller.setStatus(t, 1, `{"status":"Em aberto"}`)
		if !reopened.MovedBack || reopened.Renewed || reopened.PaidAt != nil || reopened.PaidVia != nil || *reopened.Customer.DueDate != "2026-01-31" {
			t.Errorf("reopened: %+v, customer due on %s", reopened, *reopened.Customer.DueDate)
		}
		if kept := caller.setStatus(t, 1, `{"status":"Pago","renew":false,"note":"em dinheiro"}`); kept.Renewed || *kept.Customer.DueDate != "2026-01-31" {
			t.Errorf("paid without renewing: %+v", kept)
		}
		caller.setStatus(t, 1, `{"status":"Em aberto"}`)
		caller.setStatus(t, 1, `{"status":"Cancelado"}`)
		caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Pago"}`).want(t, 422, "status: an invoice that is Cancelado can only become: Em aberto")
		if n := caller.count(t, `SELECT count(*) FROM events WHERE name = 'invoice.paid'`); n != 2 {
			t.Errorf("%d payments were told of, want 2", n)
		}
	})
}

func TestRepeatedKeyPaysOnce(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
		pay := func() answer {
			return caller.call(t, http.MethodPost, "/invoices/1/status", `{"status":"Pago"}`, "Idempotency-Key", "k1")
		}
		first := pay()
		caller.setStatus(t, 1, `{"status":"Em aberto"}`)
		if second := pay(); second.body != first.body || second.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("repeated: %d %s", second.status, second.body)
		}
		if b := data[bill](t, caller.call(t, http.MethodGet, "/invoices/1", "")); b.Status != "Em aberto" {
			t.Errorf("the repeated call changed it to %s", b.Status)
		}
	})
}

func TestInvoicesOfAnotherCompanyDoNotExist(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		service.business(t)
		stranger := service.newCaller(t)
		for _, call := range []struct{ method, path, body, missing, message string }{
			{http.MethodGet, "/invoices/1", "", "/invoices/99", "invoice not found"},
			{http.MethodPost, "/invoices/1/status", `{"status":"Pago"}`, "/invoices/99/status", "invoice not found"},
			{http.MethodGet, "/customers/1/invoices", "", "/customers/99/invoices", "customer not found"},
		} {
			theirs := stranger.call(t, call.method, call.path, call.body).want(t, 404, call.message)
			if none := stranger.call(t, call.method, call.missing, call.body); none.body != theirs.body {
				t.Errorf("%s: %s, but %s of one that does not exist", call.path, theirs.body, none.body)
			}
		}
		stranger.wantInvoices(t, "/invoices?customer_id=1")
		if m := data[month](t, stranger.call(t, http.MethodGet, "/dashboard", "")); m.Customers.Total != 0 || m.Revenue.Expected != "0.00" {
			t.Errorf("a stranger's dashboard: %+v", m)
		}
	})
}

func TestInvoicesLimitAttachesTheNewest(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).business(t)
		for query, want := range map[string]string{
			"invoices_limit=0":             "[3] [2] [4 1]",
			"invoices_limit=1":             "[3] [2] [4]",
			"invoices_limit=2":             "[3] [2] [4 1]",
			"invoices_limit=1&search=joao": "[4]",
		} {
			var got []string
			for _, r := range data[[]struct{ Invoices []bill }](t, caller.call(t, http.MethodGet, "/customers?"+query, "")) {
				var ids []int64
				for _, invoice := range r.Invoices {
					ids = append(ids, invoice.ID)
				}
				got = append(got, fmt.Sprint(ids))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", query, got, want)
			}
		}
		for _, query := range []string{"", "invoices_limit="} {
			if answer := caller.call(t, http.MethodGet, "/customers?"+query, ""); answer.status != 200 || strings.Contains(answer.body, `"invoices"`) {
				t.Errorf("%q: %d, invoices without being asked for: %s", query, answer.status, answer.body)
			}
		}
	})
}

func TestTimesOfInvoicesAreTheCompanys(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t, "timezone", "Pacific/Auckland")
	caller.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
	_, err := caller.Billing.CreateExtra(t.Context(), caller.actor, 1, billing.ReadExtra(values("amount", "1.00")))
	must(t, err)
	overdue := data[bill](t, caller.call(t, http.MethodGet, "/invoices/1", ""))
	if !overdue.Overdue { // it is one in the morning of 1 February
		t.Errorf("not overdue: %+v", overdue)
	}
	if paid := caller.setStatus(t, 1, `{"status":"Pago"}`); *paid.PaidAt != "2026-02-01T01:00:00+13:00" || paid.Overdue {
		t.Errorf("paid: %+v at %s", paid, *paid.PaidAt)
	}
	if past := caller.setStatus(t, 2, `{"status":"Pago","paid_at":"2026-01-30"}`); *past.PaidAt != "2026-01-30T00:00:00+13:00" || past.Description != nil || past.DueDate != "2026-02-01" {
		t.Errorf("paid in the past: %+v at %s", past, *past.PaidAt)
	}
	caller.call(t, http.MethodPost, "/invoices/2/status", `{"status":"Em aberto"}`)
	caller.call(t, http.MethodPost, "/invoices/2/status", `{"status":"Pago","paid_at":"2026-02-02"}`).want(t, 422, "paid_at: must not be in the future")
}

// month is what tests look at of the dashboard.
type month struct {
	Month     string
	Customers struct {
		Total, Active               int64
		DueToday                    int64 `json:"due_today"`
		Expired, New, Renewed, Lost int64
	}
	Invoices map[string]struct {
		Count  int64
		Amount string
	}
	Revenue struct {
		Received, Expected string
		Previous           string   `json:"previous_month"`
		Change             *float64 `json:"change_percent"`
		ByDay              []struct {
			Date, Amount string
			Count        int64
		} `json:"by_day"`
	}
}

func TestDashboardOfAMonth(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).business(t)
		now := caller.call(t, http.MethodGet, "/dashboard", "")
		if same := caller.call(t, http.MethodGet, "/dashboard?month=2026-01", ""); same.body != now.body {
			t.Errorf("this month is not the default:\n%s\n%s", now.body, same.body)
		}
		m := data[month](t, now)
		want := `{2026-01 {3 1 1 1 3 1 1} map[cancelled:{0 0.00} open:{1 35.00} overdue:{1 35.00} paid:{1 300.00}]`
		if got := fmt.Sprint(m); !strings.HasPrefix(got, want) || m.Revenue.Received != "300.00" || m.Revenue.Expected != "370.00" || m.Revenue.Change != nil {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if len(m.Revenue.ByDay) != 31 || m.Revenue.ByDay[14].Amount != "300.00" || m.Revenue.ByDay[14].Date != "2026-01-15" {
			t.Errorf("by day %+v", m.Revenue.ByDay)
		}
		caller.clock.Advance(24 * time.Hour)
		next := data[month](t, caller.call(t, http.MethodGet, "/dashboard", ""))
		if next.Month != "2026-02" || next.Revenue.Previous != "300.00" || next.Revenue.Change == nil || *next.Revenue.Change != -100 || next.Invoices["cancelled"].Count != 1 {
			t.Errorf("the next month %+v", next)
		}
	})
}
