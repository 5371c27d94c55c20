package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/dashboard"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// landed is the version of the last state before the books.
const landed = 13

// at is an instant of 2026 in São Paulo.
func at(month time.Month, day, hour int) int64 {
	return time.Date(2026, month, day, hour, 0, 0, 0, time.FixedZone("", -3*3600)).UnixMicro()
}

// old is a database of the last landed state, written row by row.
type old struct {
	*sqldb.DB
	t       *testing.T
	columns map[string]map[string]string // by table and name, the value that it has where none is given
}

var columnsOf = map[sqldb.Engine]string{
	sqldb.SQLite: `SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND (c."notnull" AND c.dflt_value IS NULL) AND c.pk = 0`,
	sqldb.Postgres: `SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = current_schema() AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'`,
}

func openOld(t *testing.T, url string) *old {
	t.Helper()
	db, err := sqldb.Open(t.Context(), url, sqldb.Options{})
	housetest.Must(t, err)
	housetest.Must(t, db.MigrateTo(t.Context(), landed))
	o := &old{db, t, map[string]map[string]string{}}
	housetest.Must(t, sqldb.Each(t.Context(), db, columnsOf[db.Engine()], nil, func(row sqldb.Row) error {
		var table, column, kind string
		err := row.Scan(&table, &column, &kind)
		if o.columns[table] == nil {
			o.columns[table] = map[string]string{}
		}
		o.columns[table][column] = kind
		return err
	}))
	return o
}

// put inserts a row; what is not given is nothing.
func (o *old) put(table string, pairs ...any) {
	o.t.Helper()
	given := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		given[pairs[i].(string)] = pairs[i+1]
	}
	for column, kind := range o.columns[table] {
		if _, named := given[column]; named {
			continue
		}
		switch strings.ToLower(kind) {
		case "text":
			given[column] = ""
		case "boolean":
			given[column] = false
		default:
			given[column] = 0
		}
	}
	var names []string
	var args []any
	for name, value := range given {
		names, args = append(names, name), append(args, value)
	}
	o.exec(`INSERT INTO `+table+` (`+strings.Join(names, ", ")+`) VALUES `+sqldb.Tuples(1, len(args)), args...)
}

func (o *old) exec(statement string, args ...any) {
	o.t.Helper()
	err := o.Write(o.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(o.t.Context(), statement, args...)
		return err
	})
	if err != nil {
		o.t.Fatalf("%s: %v", statement, err)
	}
}

// fill is a company with customers of every kind, its reseller, and what the
// program of that time had counted.
func (o *old) fill() {
	o.t.Helper()
	o.put("companies", "name", "Rede Clara", "timezone", "America/Sao_Paulo", "level", "ultra_master", "renew_from", "due_date", "renew_on_payment", true, "lead_days", 5)
	o.put("companies", "name", "Loja", "timezone", "America/Sao_Paulo", "level", "reseller", "parent_id", 1, "renew_from", "due_date",
		"renew_on_payment", true, "lead_days", 5, "subscription", "subscriber", "subscription_plan_id", 1, "expires_on", "2026-12-31", "search", "loja")
	o.put("subscription_plans", "company_id", 1, "name", "Revenda", "credits", 1, "period_unit", "month", "period_count", 1, "active", true, "signup_code", "s")
	o.put("credit_balances", "company_id", 2, "balance", 7)
	o.put("credit_entries", "company_id", 2, "kind", "received", "amount", 7, "balance", 7)
	o.put("products", "company_id", 1, "name", "Fibra", "active", true)
	o.put("customer_plans", "company_id", 1, "name", "Mensal", "value_cents", 3500, "period_unit", "month", "period_count", 1, "product_id", 1, "active", true)
	o.put("customer_plans", "company_id", 1, "name", "Anual", "value_cents", 36000, "period_unit", "year", "period_count", 1, "active", true)
	o.customer("Ana", "plan_id", 1, "product_id", 1, "due_on", "2026-04-10", "expiry_on", "2026-04-10", "own_day", 10, "whatsapp", "5511987654321")
	o.customer("Bia", "plan_id", 2, "due_on", "2026-12-01", "expiry_on", "2026-12-01", "own_day", 1, "price_cents", 30000)
	o.customer("Caio", "plan_id", 1, "product_id", 1, "due_on", "2026-03-05", "own_day", 5, "expired", true)
	o.customer("Davi", "plan_id", 1, "due_on", "2026-02-10", "own_day", 10, "cancelled_at", at(2, 12, 10))
	o.customer("Eva")
	o.customer("Fabi", "plan_id", 1, "due_on", "2026-03-15", "expiry_on", "2026-03-15", "own_day", 15)
	o.put("customer_expiries", "company_id", 1, "customer_id", 3, "due_on", "2026-03-05")
	o.put("customer_renewals", "company_id", 1, "customer_id", 1, "month", "2026-03", "n", 1)
	o.put("invoice_schedule", "company_id", 1, "customer_id", 6, "due_on", "2026-03-15")
	o.fillInvoices()
	o.fillMessages()
	o.count()
}

func (o *old) customer(name string, pairs ...any) {
	o.t.Helper()
	search := strings.ToLower(name) + "\n\n\n"
	o.put("customers", append([]any{
		"company_id", 1, "uuid", "uuid of " + name, "name", name, "search", search, "created_at", at(1, 31, 22), "created_on", "",
	}, pairs...)...)
}

func (o *old) fillInvoices() {
	o.t.Helper()
	invoice := func(customerID int, status, dueOn string, pairs ...any) {
		o.put("invoices", append([]any{
			"company_id", 1, "customer_id", customerID, "generated", true, "status", status, "amount_cents", 3500, "due_on", dueOn,
			"plan_id", 1, "product_id", 1, "created_at", at(2, 1, 9), "created_on", "2026-02-01",
		}, pairs...)...)
	}
	invoice(1, "paid", "2026-03-10", "paid_at", at(3, 2, 9), "paid_on", "2026-03-02", "paid_via", "manual", "renewed_from", "2026-03-10", "renewed_to", "2026-04-10", "renewed_day", 10)
	invoice(1, "open", "2026-04-10")
	invoice(3, "open", "2026-02-05")
	invoice(3, "open", "2026-03-05")
	invoice(2, "paid", "2025-12-01", "amount_cents", 30000, "plan_id", 2, "product_id", nil, "paid_at", at(1, 15, 9), "paid_on", "2026-01-15", "paid_via", "woovi")
	invoice(4, "cancelled", "2026-02-10", "product_id", nil)
	invoice(5, "open", "2026-03-25", "generated", false, "plan_id", nil, "product_id", nil)
	o.put("gateways", "company_id", 1, "provider", "woovi", "active", true, "callback_key", "k")
	for n, state := range []string{"paid", "pending", "cancelled"} {
		o.put("charges", "company_id", 1, "gateway_id", 1, "provider", "woovi", "invoice_id", []int{5, 7, 6}[n], "customer_id", []int{2, 5, 4}[n],
			"reference", state, "gateway_ref", state, "amount_cents", 3500, "state", state, "expires_at", at(3, 21, 0), "created_at", at(1, 10, 9))
	}
	o.put("payments", "company_id", 1, "charge_id", 1, "provider", "woovi", "payment_id", "a", "invoice_id", 5, "customer_id", 2, "customer_name", "Bia",
		"amount_cents", 30000, "currency", "BRL", "paid_at", at(1, 15, 9), "applied", true)
	o.put("payments", "company_id", 1, "charge_id", 3, "provider", "woovi", "payment_id", "b", "invoice_id", 6, "customer_id", 4, "customer_name", "Davi",
		"amount_cents", 3500, "currency", "BRL", "paid_at", at(2, 20, 9), "applied", false)
	o.put("payment_reviews", "company_id", 1, "payment_id", 2, "reason", "late", "created_at", at(2, 20, 9))
}

func (o *old) fillMessages() {
	o.t.Helper()
	o.put("reminder_channels", "company_id", 1, "kind", "webhook", "name", "CRM", "active", true, "options", "{}")
	o.put("reminder_templates", "company_id", 1, "name", "Lembrete", "body", "Oi", "whatsapp_params", "[]")
	o.put("reminder_rules", "company_id", 1, "name", "Antes", "active", true, "offset_days", -3, "template_id", 1, "channels", ",1,", "cursor_on", "2026-03-20")
	o.put("reminder_messages", "company_id", 1, "key", "m", "rule_id", 1, "customer_id", 1, "due_on", "2026-04-10", "status", "scheduled", "channel_id", 1, "run_at", at(4, 7, 9))
}

// count is what the program of that time had counted.
func (o *old) count() {
	o.t.Helper()
	for _, statement := range []string{
		`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
			SELECT company_id, 'customers', COALESCE(due_on, ''), COALESCE(plan_id, 0), COALESCE(product_id, 0),
			CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN price_cents IS NOT NULL THEN 'own' ELSE '' END, COUNT(*), 0 FROM customers GROUP BY 1, 3, 4, 5, 6`,
		`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
			SELECT company_id, 'invoices', due_on, COALESCE(plan_id, 0), COALESCE(product_id, 0), status, COUNT(*), CAST(SUM(amount_cents) AS BIGINT) FROM invoices GROUP BY 1, 3, 4, 5, 6`,
		`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
			SELECT company_id, 'receipts', paid_on, COALESCE(plan_id, 0), COALESCE(product_id, 0), '', COUNT(*), CAST(SUM(amount_cents) AS BIGINT)
			FROM invoices WHERE status = 'paid' GROUP BY 1, 3, 4, 5`,
		`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents) VALUES (1, 'renewals', '2026-03', 0, 0, '', 1, 0)`,
		`INSERT INTO tally_sums (company_id, book, day, plan_id, product_id, state, n, cents)
			VALUES (1, 'resellers', '2026-12-31', 1, 0, 'reseller/subscriber//America/Sao_Paulo', 1, 0)`,
		`INSERT INTO tally_totals (company_id, book, n, folds) SELECT company_id, book, CAST(SUM(n) AS BIGINT), 1 FROM tally_sums GROUP BY company_id, book`,
		`INSERT INTO tally_buckets (company_id, book, bucket, n) SELECT company_id, book, 0, CAST(SUM(n) AS BIGINT) FROM tally_sums GROUP BY company_id, book`,
	} {
		o.exec(statement)
	}
}

// migrated opens the program on the old database: it migrates by itself.
func migrated(t *testing.T, engine sqldb.Engine) *App {
	t.Helper()
	url := sqldbtest.Empty(t, engine)
	before := openOld(t, url)
	before.fill()
	housetest.Must(t, before.Close())
	now := func() time.Time { return time.UnixMicro(at(3, 20, 12)) }
	db, err := sqldb.Open(t.Context(), url, sqldb.Options{Now: now, ServerNow: now})
	housetest.Must(t, err)
	program, err := build(t.Context(), config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), DatabaseURL: url,
		SecretKeys: []secret.Key{secret.NewKey()}, WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 30, AuditDays: 30,
	}, slog.New(slog.DiscardHandler), db)
	housetest.Must(t, err)
	t.Cleanup(func() { housetest.Must(t, program.Close(context.WithoutCancel(t.Context()))) })
	return program
}

func wantRows(t *testing.T, db *sqldb.DB, statement string, want ...string) {
	t.Helper()
	got, err := sqldb.Values[string](t.Context(), db, statement)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q, %v", statement, got, want, err)
	}
}

func TestDatabaseOfTheLastLandedStateIsMigratedWithItsData(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := migrated(t, engine)
		company, err := account.FindCompany(t.Context(), program.DB, 1)
		housetest.Must(t, err)
		actor := account.System(company, "test")
		wantRows(t, program.DB, `SELECT id || ' ' || status || ' ' || due_on || ' ' || amount_cents || ' ' || received_cents || ' ' || COALESCE(issued_for, '-')
			|| ' ' || COALESCE(period_unit || period_count, '-') || ' ' || created_offset || ' ' || COALESCE(CAST(paid_offset AS TEXT), '-') FROM invoices ORDER BY id`,
			"1 paid 2026-03-10 3500 3500 2026-03-10 month1 -10800 -10800", "2 open 2026-04-10 3500 0 2026-04-10 month1 -10800 -",
			"3 open 2026-02-05 3500 0 2026-02-05 month1 -10800 -", "4 open 2026-03-05 3500 0 2026-03-05 month1 -10800 -",
			"5 paid 2025-12-01 30000 30000 2025-12-01 year1 -10800 -10800", "6 cancelled 2026-02-10 3500 0 2026-02-10 month1 -10800 -",
			"7 open 2026-03-25 3500 0 - - -10800 -")
		wantRows(t, program.DB, `SELECT invoice_id || ' ' || paid_via || ' ' || status || ' ' || paid_on || ' ' || amount_cents FROM payments ORDER BY invoice_id`,
			"1 manual applied 2026-03-02 3500", "5 woovi applied 2026-01-15 30000", "6 woovi review 2026-02-20 3500")
		wantRows(t, program.DB, `SELECT name || ' ' || created_on || ' ' || mrr_cents FROM customers ORDER BY id`,
			"Ana 2026-01-31 3500", "Bia 2026-01-31 2500", "Caio 2026-01-31 0", "Davi 2026-01-31 0", "Eva 2026-01-31 0", "Fabi 2026-01-31 3500")
		wantRows(t, program.DB, `SELECT state || ' ' || invoice_id FROM charges ORDER BY id`, "paid 5", "pending 7", "cancelled 6")
		wantRows(t, program.DB, `SELECT status || ' ' || run_at FROM reminder_messages`, "scheduled 1775563200000000")
		wantRows(t, program.DB, `SELECT CAST(balance AS TEXT) FROM credit_balances WHERE company_id = 2`, "7")
		program.wantSound(t)
		program.wantOldFigures(t, actor)
		program.wantItGoesOn(t, actor)
		program.wantSound(t)
	})
}

// wantSound wants doctor to find nothing wrong with the tables.
func (a *App) wantSound(t *testing.T) {
	t.Helper()
	for _, check := range a.dataChecks() {
		if finding := check.Do(t.Context()); finding.Verdict == checkup.Wrong {
			t.Errorf("%s: %+v", check.Name, finding)
		}
	}
}

// wantOldFigures wants the figures of the data that was there before they were,
// computed by hand.
func (a *App) wantOldFigures(t *testing.T, actor account.Actor) {
	t.Helper()
	_, err := a.Customers.Expire(t.Context(), actor) // Fabi, with a date that has passed
	housetest.Must(t, err)
	march, err := a.Dashboard.Month(t.Context(), actor, dashboard.Question{First: civil.MustParse("2026-03-01")})
	housetest.Must(t, err)
	if got := march.Recurring; got.Start.Customers != 3 || got.Start.Amount != 9500 || got.Lost.Customers != 1 || got.Lost.Amount != 3500 ||
		got.Customers != 2 || got.Amount != 6000 {
		t.Errorf("recurring %+v", got)
	}
	if got := march.Overdue; got.Customers != 1 || got.Invoices != 2 || got.Amount != 7000 ||
		got.ByAge[1].Invoices != 1 || got.ByAge[3].Invoices != 1 || got.ByAge[3].Customers != 1 {
		t.Errorf("overdue %+v", got)
	}
	if march.Revenue.Received != 3500 || march.Invoices.Paid.Count != 1 || march.Punctuality.OnTime != 1 || *march.Customers.Renewed != 1 {
		t.Errorf("March: %+v, %+v, %+v, %+v", march.Revenue, march.Invoices, march.Punctuality, march.Customers)
	}
	january, err := a.Dashboard.Month(t.Context(), actor, dashboard.Question{First: civil.MustParse("2026-01-01")})
	if err != nil || january.Revenue.Received != 30000 || january.Punctuality.Late != 1 || january.Customers.New != 6 {
		t.Errorf("January: %+v, %+v, %+v, %v", january.Revenue, january.Punctuality, january.Customers, err)
	}
	_, total, err := a.Billing.Payments(t.Context(), actor, billing.PaymentFilter{}, input.Page{Number: 1, Size: 10})
	if err != nil || total != 3 {
		t.Errorf("%d payments, %v", total, err)
	}
}

// wantItGoesOn wants the old records to take part in business: one is billed,
// one pays and is renewed by what was billed, one payment is undone.
func (a *App) wantItGoesOn(t *testing.T, actor account.Actor) {
	t.Helper()
	issued, err := a.Billing.Issue(t.Context(), actor)
	if err != nil || issued != 1 {
		t.Errorf("%d issued, %v", issued, err)
	}
	for _, id := range []int64{3, 4} {
		_, err = a.Billing.SetStatus(t.Context(), actor, id, billing.ReadStatusChange(housetest.Form("status", "Pago")))
		housetest.Must(t, err)
	}
	out, err := a.Billing.SetStatus(t.Context(), actor, 1, billing.ReadStatusChange(housetest.Form("status", "Em aberto")))
	if err != nil || !out.MovedBack {
		t.Errorf("undone: %+v, %v", out, err)
	}
	wantRows(t, a.DB, `SELECT name || ' ' || due_on FROM customers WHERE id IN (1, 3, 6) ORDER BY id`,
		"Ana 2026-03-10", "Caio 2026-04-05", "Fabi 2026-03-15")
	wantRows(t, a.DB, `SELECT customer_id || ' ' || status || ' ' || withdrawn FROM invoices WHERE id = 2`, "1 cancelled undone")
}
