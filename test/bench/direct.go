//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"carteira/internal/platform/id"
	"carteira/internal/platform/text"
)

// directVariable turns this program into plain SQL behind net/http, a server in a
// process of its own like the product: "ADDRESS FOLDER URL".
const directVariable = "CARTEIRA_BENCH_DIRECT"

// direct is the kind of that server. It runs plain SQL for the rows that the
// product reads and writes, one statement after the other, on database/sql and pgx,
// prepared, with as many connections. It reads every column and answers with the
// bytes that the product gave.
const direct = "sql"

// answers are the files with what the product answered.
var answers = []string{"list", "read", "create"}

// startDirect keeps what the product answers, and starts the server.
func (b *bench) startDirect(ctx context.Context, set *dataset) (*process, error) {
	if _, err := os.Stat(filepath.Join(b.dir, answers[0])); err != nil {
		if err := b.capture(ctx, set); err != nil {
			return nil, err
		}
	}
	return b.start(ctx, exec.Command("/proc/self/exe"), func(addr string) []string {
		return []string{directVariable + "=" + strings.Join([]string{addr, b.dir, set.url}, " ")}
	})
}

func (b *bench) capture(ctx context.Context, set *dataset) error {
	client, stop, err := called(ctx, b.startProduct, set)
	if err != nil {
		return err
	}
	defer stop()
	for i, requests := range []requests{firstPage(set, 0), readOne(set, 0), create(set, 0)} {
		body, err := client.do(requests())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.dir, answers[i]), body, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// serveDirect serves until it is stopped.
func serveDirect(settings string) error {
	parts := strings.SplitN(settings, " ", 3)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	driver, err := openDriver(ctx, parts[2])
	if err != nil {
		return err
	}
	defer driver.db.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	for i, work := range []func(*http.Request) error{driver.listCustomers, driver.readCustomer, driver.createCustomer} {
		body, err := os.ReadFile(filepath.Join(parts[1], answers[i]))
		if err != nil {
			return err
		}
		pattern := []string{"GET /api/v1/customers", "GET /api/v1/customers/{id}", "POST /api/v1/customers"}[i]
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := work(r); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
		})
	}
	server := &http.Server{Addr: parts[0], Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type driver struct {
	db       *sql.DB
	prepared map[string]*sql.Stmt // by text
}

func openDriver(ctx context.Context, databaseURL string) (*driver, error) {
	const conns = 16
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	d := &driver{db, map[string]*sql.Stmt{}}
	for _, text := range []string{
		tokenSQL, totalSQL, pageSQL, oneSQL, planSQL, insertSQL, textSQL, invoiceSQL, rulesSQL, auditSQL, eventsSQL, debtorSQL, linkSQL,
		deltasSQL, deliverySQL, queueSQL,
	} {
		d.prepared[text], err = db.PrepareContext(ctx, numbered(text))
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// numbered turns the placeholders of a statement into $1, $2, ….
func numbered(text string) string {
	parts := strings.Split(text, "?")
	for i := range parts[1:] {
		parts[i+1] = "$" + strconv.Itoa(i+1) + parts[i+1]
	}
	return strings.Join(parts, "")
}

func (d *driver) row(ctx context.Context, text string, args ...any) *sql.Row {
	return d.prepared[text].QueryRowContext(ctx, args...)
}

// slots are places for the columns of a row, by a letter each: i is a number, s
// a text, b a truth value, n a text or number that may be missing.
func slots(kinds string) []any {
	places := make([]any, len(kinds))
	for i, kind := range kinds {
		switch kind {
		case 'i':
			places[i] = new(int64)
		case 'b':
			places[i] = new(bool)
		case 'n':
			places[i] = new(sql.NullString)
		default:
			places[i] = new(string)
		}
	}
	return places
}

// caller is the company and the token of a call.
type caller struct{ companyID, tokenID int64 }

// admit looks the token up, as every call must.
func (d *driver) admit(r *http.Request) (caller, error) {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	places := slots(tokenKinds)
	err := d.row(r.Context(), tokenSQL, hash[:], time.Now().UnixMicro()).Scan(places...)
	return caller{*places[0].(*int64), *places[len(places)-2].(*int64)}, err
}

const pageSize = 50

func (d *driver) listCustomers(r *http.Request) error {
	who, err := d.admit(r)
	if err != nil {
		return err
	}
	var total int64
	if err := d.row(r.Context(), totalSQL, who.companyID, who.companyID).Scan(&total); err != nil {
		return err
	}
	number, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
	rows, err := d.prepared[pageSQL].QueryContext(r.Context(), who.companyID, pageSize, max(0, number-1)*pageSize, who.companyID)
	if err != nil {
		return err
	}
	defer rows.Close()
	read := 0
	for places := slots(columnKinds); rows.Next(); read++ {
		if err := rows.Scan(places...); err != nil {
			return err
		}
	}
	if read != pageSize {
		return errors.New("the page is not full")
	}
	return rows.Err()
}

func (d *driver) readCustomer(r *http.Request) error {
	who, err := d.admit(r)
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return err
	}
	return d.row(r.Context(), oneSQL, who.companyID, number).Scan(slots(columnKinds)...)
}

// newCustomer is the body of the create request.
type newCustomer struct {
	Name     string `json:"name"`
	Whatsapp string `json:"whatsapp"`
	Email    string `json:"email"`
	Usuario  string `json:"usuario"`
	Due      string `json:"data_de_vencimento"`
	PlanID   int64  `json:"plan_id"`
}

func (d *driver) createCustomer(r *http.Request) error {
	who, err := d.admit(r)
	if err != nil {
		return err
	}
	var in newCustomer
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return err
	}
	tx, err := d.db.BeginTx(r.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	c := creation{driver: d, ctx: r.Context(), tx: tx, who: who, in: in, now: time.Now()}
	c.run()
	if c.err != nil {
		return c.err
	}
	return tx.Commit()
}

// creation is one customer being created. The first error stays, and nothing runs
// after it.
type creation struct {
	driver *driver
	ctx    context.Context
	tx     *sql.Tx
	who    caller
	in     newCustomer
	now    time.Time
	err    error
}

// row runs a prepared statement in the transaction, which closes what it made.
func (c *creation) row(places []any, text string, args ...any) {
	if c.err == nil {
		prepared := c.tx.StmtContext(c.ctx, c.driver.prepared[text])
		c.err = prepared.QueryRowContext(c.ctx, args...).Scan(places...)
	}
}

func (c *creation) exec(text string, args ...any) {
	if c.err == nil {
		_, c.err = c.tx.StmtContext(c.ctx, c.driver.prepared[text]).ExecContext(c.ctx, args...)
	}
}

func (c *creation) run() {
	var planID, value, periods, productID, created, customerID, invoiceID int64
	var planName, unit, productName string
	var active bool
	in, company, micros, today := c.in, c.who.companyID, c.now.UnixMicro(), c.now.Format(time.DateOnly)
	c.row([]any{&planID, &planName, &value, &unit, &periods, &productID, &productName, &active, &created}, planSQL, company, in.PlanID)
	product := sql.NullInt64{Int64: productID, Valid: productID != 0}
	c.row([]any{&customerID}, insertSQL, company, id.NewUUID(), in.Name, in.Whatsapp, in.Email, in.Usuario, in.Due,
		1, in.Usuario, planID, product, text.Fold(in.Name), micros, today, -10800, micros, in.Due, false, value, today[:7])
	c.exec(textSQL, company, customerID, in.search())
	c.row([]any{&invoiceID}, invoiceSQL, company, customerID, value, planName, in.Due, in.Due, planID, product,
		unit, periods, micros, today, -10800, micros)
	c.exec(rulesSQL, company)
	changes, _ := json.Marshal(in)
	c.exec(auditSQL, company, micros, c.who.tokenID, company, c.who.tokenID, "127.0.0.1", "customer.created",
		"customer", customerID, in.Name, string(changes))
	c.exec(debtorSQL, company, customerID, in.Due, planID, productID)
	c.exec(linkSQL, company, invoiceID, id.NewLink(c.now), micros)
	c.exec(deltasSQL, company, "customers", in.Due, planID, productID, "", 1, 0, company, "created", today, planID,
		productID, "", 1, 0, company, "recurring", today[:7], planID, productID, "new", 1, value, company, "invoices",
		in.Due, planID, productID, "open", 1, value, company, "debtors", in.Due, planID, productID, "", 1, 0)
	c.record(map[string]any{"customer": in, "plan": planName, "product": productName}, "customer.created", "invoice.created")
}

// record writes events about as long as the product's, and their deliveries.
func (c *creation) record(data map[string]any, names ...string) {
	company, today := c.who.companyID, c.now.Format(time.DateOnly)
	var ids []string
	var values []any
	for _, name := range names {
		eventID := id.NewEvent(c.now)
		body, _ := json.Marshal(map[string]any{
			"event": name, "platform": "carteira", "id": eventID, "api_version": "v1", "occurred_at": c.now, "company_id": company, "data": data,
		})
		ids, values = append(ids, eventID), append(values, company, eventID, name, c.now.UnixMicro(), string(body))
	}
	c.exec(eventsSQL, values...)
	c.exec(deliverySQL, company, company, ids, today, today)
	c.exec(queueSQL, company, company, ids)
}

// search is the folded text that the product stores.
func (in newCustomer) search() string {
	phone := in.Whatsapp[:4] + in.Whatsapp[5:] // without its ninth digit
	return strings.Join([]string{text.Fold(in.Name), text.Fold(in.Email), text.Fold(in.Usuario), in.Whatsapp, phone}, "\n")
}

// The statements read and write the rows that the product does, as plain SQL that
// is run one statement after the other: internal/account, catalog, customer,
// tally, event, webhook, billing, payment and reminder. A page is joined to its
// plans and products. They are written anew when the product's change:
// PostgreSQL's own log of one request shows those.
const (
	tokenSQL = `SELECT c.id, COALESCE(c.parent_id, 0), c.name, c.whatsapp, c.level, c.timezone,
		c.renew_from, c.renew_on_payment, c.lead_days, c.renew_invoice, c.created_at, c.subscription, COALESCE(c.subscription_plan_id, 0),
		c.expires_on, c.expires_day, COALESCE(c.suspended_at, 0), c.functions,
		COALESCE(c.above_suspended_at, 0), c.above_expires_on, c.anonymous,
		c.late_fee_bp, c.late_interest_bp, c.discount_bp, c.discount_cents, c.color, c.logo, t.id, t.scope
		FROM api_tokens t JOIN companies c ON c.id = t.company_id
		WHERE t.hash = ? AND (t.expires_at IS NULL OR t.expires_at > ?)`
	tokenKinds = "iisssssbisisiniisinbiiiissis"

	totalSQL = `SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = 'customers'), 0)
		+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = 'customers'), 0)`

	columnsSQL = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.notes, c.external_id, c.cpf_cnpj, c.address,
		c.price_cents, c.custom, c.cancel_reason, c.own_day,
		COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
		COALESCE(p.period_unit, ''), COALESCE(p.period_count, 0),
		COALESCE(c.product_id, 0), COALESCE(r.name, ''), c.created_at, NULLIF(c.created_on, ''), c.created_offset, c.expiry_on, c.expired,
		COALESCE(c.cancelled_at, 0), c.updated_at, c.autopay, c.mrr_cents, c.mrr_month, c.mrr_start_cents, c.mrr_start_plan, c.mrr_start_product`
	columnKinds = "isssssnssssnssiisisiisinnnbiisisiii"

	joinsSQL = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
		LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`
	pageSQL = `WITH page AS MATERIALIZED (SELECT c.id FROM customers c WHERE c.company_id = ?
		ORDER BY c.id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT))
		SELECT ` + columnsSQL + ` FROM page CROSS JOIN customers c` + joinsSQL + `
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`
	oneSQL = `SELECT ` + columnsSQL + ` FROM customers c` + joinsSQL + ` WHERE c.company_id = ? AND c.id = ?`

	planSQL = `SELECT p.id, p.name, p.value_cents, p.period_unit, p.period_count, COALESCE(p.product_id, 0), COALESCE(r.name, ''),
		p.active, p.created_at FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id
		WHERE p.company_id = ? AND p.id = ? FOR KEY SHARE OF p`
	insertSQL = `INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, due_on, notes, external_id, cpf_cnpj,
		address, price_cents, custom, cancel_reason, own_day, usuario_key, plan_id, product_id, name_key, created_at, created_on,
		created_offset, updated_at, expiry_on, expired, cancelled_at, autopay, mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan,
		mrr_start_product)
		VALUES (?, ?, ?, ?, ?, ?, ?, '', '', '', '', NULL, '', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 'none', ?, ?, 0, 0, 0)
		ON CONFLICT DO NOTHING RETURNING id`
	textSQL   = `INSERT INTO customer_texts (company_id, id, text) VALUES (?, ?, ?)`
	deltasSQL = `INSERT INTO tally_deltas (company_id, book, day, plan_id, product_id, state, n, cents) VALUES ` + deltaValues +
		`, ` + deltaValues + `, ` + deltaValues + `, ` + deltaValues + `, ` + deltaValues
	deltaValues = `(?, ?, ?, ?, ?, ?, ?, ?)`
	auditSQL    = `INSERT INTO audit_log (company_id, at, user_id, token_id, who, address, action, record, record_id, name, changes, batch)
		VALUES (?, ?, NULL, ?, COALESCE((SELECT name FROM api_tokens WHERE company_id = ? AND id = ?), ''), ?, ?, ?, ?, ?, ?, '')`
	eventsSQL   = `INSERT INTO events (company_id, event_id, name, occurred_at, body) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)`
	deliverySQL = `INSERT INTO deliveries (company_id, webhook_id, event_id, event, url, lane, status, test, attempts, created_at)
		SELECT w.company_id, w.id, e.id, e.name, '', w.id, 'pending', FALSE, 0, e.occurred_at
		FROM webhooks w CROSS JOIN events e
		WHERE w.company_id = ? AND w.active = TRUE AND e.company_id = ? AND e.event_id = ANY(?)
			AND w.events LIKE '%,' || e.name || ',%' AND EXISTS (
			SELECT 1 FROM companies c WHERE c.id = w.company_id AND c.suspended_at IS NULL AND c.above_suspended_at IS NULL
				AND (c.expires_on IS NULL OR c.expires_on >= ?) AND (c.above_expires_on IS NULL OR c.above_expires_on >= ?)
				AND (c.functions = '*' OR c.functions LIKE '%,webhooks,%'))
		ORDER BY e.id, w.id FOR KEY SHARE OF w RETURNING lane`
	queueSQL = `INSERT INTO delivery_queue
		(delivery_id, company_id, event_id, lane, url, test, line, step, attempts, panics, run_at, claim)
		SELECT id, company_id, event_id, lane, url, test, 0, 0, attempts, 0,
			CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT), ''
		FROM deliveries WHERE company_id = ?
			AND event_id IN (SELECT id FROM events WHERE company_id = ? AND event_id = ANY(?)) ORDER BY id`
	invoiceSQL = `INSERT INTO invoices (company_id, customer_id, generated, status, amount_cents, description, due_on, issued_for,
		paid_on, paid_via, received_cents, late_fee_cents, late_interest_cents, discount_cents, forgiven_cents, settled_cents, given_cents,
		taken_off_cents, written_off_cents, written_off_on, own_discount_cents, edited, superseded, withdrawn, note,
		plan_id, product_id, paid_at, paid_offset, renewed_from, renewed_to, renewed_day, renewed_on, period_unit, period_count,
		created_at, created_on, created_offset, updated_at)
		VALUES (?, ?, TRUE, 'open', ?, ?, ?, ?, NULL, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, FALSE, FALSE, '', '',
		?, ?, NULL, NULL, NULL, NULL, 0, NULL, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`
	debtorSQL = `INSERT INTO debtors (company_id, customer_id, since, plan_id, product_id) VALUES (?, ?, ?, ?, ?)`
	linkSQL   = `INSERT INTO pay_links (company_id, invoice_id, code, created_at) VALUES (?, ?, ?, ?)`
	rulesSQL  = `SELECT id, name, active, offset_days, minute, COALESCE(plan_id, 0), COALESCE(product_id, 0), status, channels,
		template_id, cursor_on, cursor_id, plan_at, created_at, updated_at, round, occasion FROM reminder_rules
		WHERE company_id = ? AND active = TRUE AND occasion = 'due' ORDER BY id FOR KEY SHARE`
)
