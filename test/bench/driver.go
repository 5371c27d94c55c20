//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"carteira/internal/platform/id"
)

// driver answers with the product's statements run straight on database/sql,
// prepared, with the product's pools and pragmas. It reads every column and
// answers with the bytes that the product gave.
type driver struct {
	kind          string
	reader        *sql.DB
	writer        *sql.DB
	token         *sql.Stmt
	total         *sql.Stmt
	counted       *sql.Stmt
	skip          *sql.Stmt
	page          *sql.Stmt
	pageBelow     *sql.Stmt
	one           *sql.Stmt
	plan          *sql.Stmt
	insert        *sql.Stmt
	insertDelta   *sql.Stmt
	insertEvent   *sql.Stmt
	numberedMarks bool
}

// The statements are copies of the product's: internal/account/sql.go,
// internal/catalog/sql.go, internal/customer/sql.go, internal/platform/tally
// and internal/platform/event.
const (
	tokenSQL = `SELECT c.id, COALESCE(c.parent_id, 0), c.name, c.level, c.timezone, c.renew_from, c.renew_on_payment,
		c.lead_days, c.created_at, t.id FROM api_tokens t JOIN companies c ON c.id = t.company_id WHERE t.hash = ?`
	totalSQL = `SELECT COALESCE((SELECT n FROM tally_totals WHERE company_id = ? AND book = 'customers'), 0)
		+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM tally_deltas WHERE company_id = ? AND book = 'customers'), 0)`
	countSQL = `SELECT count(*) FROM customers WHERE company_id = ?`
	skipSQL  = `SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM tally_buckets WHERE company_id = ? AND book = 'customers'
			UNION ALL SELECT bucket, n FROM tally_deltas WHERE company_id = ? AND book = 'customers'
		) AS counted GROUP BY bucket ORDER BY bucket DESC`
	columnsSQL = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.own_day,
		COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
		COALESCE(c.product_id, 0), COALESCE(r.name, ''), c.notes, c.external_id, c.created_at, c.updated_at`
	joinsSQL = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
		LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`
	pageStartSQL = `WITH page AS MATERIALIZED (SELECT c.id FROM customers c WHERE c.company_id = ?`
	pageEndSQL   = ` ORDER BY c.id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT))
		SELECT ` + columnsSQL + ` FROM page CROSS JOIN customers c` + joinsSQL + `
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`
	oneSQL  = `SELECT ` + columnsSQL + ` FROM customers c` + joinsSQL + ` WHERE c.company_id = ? AND c.id = ?`
	planSQL = `SELECT p.id, p.name, p.value_cents, p.period_unit, p.period_count, COALESCE(p.product_id, 0), COALESCE(r.name, ''),
		p.active, p.created_at FROM customer_plans p LEFT JOIN products r ON r.company_id = p.company_id AND r.id = p.product_id
		WHERE p.company_id = ? AND p.id = ?`
	insertSQL = `INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id,
		due_on, own_day, plan_id, product_id, notes, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`
	deltaSQL = `INSERT INTO tally_deltas (company_id, book, bucket, day, plan_id, product_id, state, n, cents)
		VALUES (?, 'customers', ?, ?, ?, ?, '', 1, 0)`
	eventSQL = `INSERT INTO events (company_id, event_id, name, occurred_at, body) VALUES (?, ?, 'customer.created', ?, ?) RETURNING id`
)

func openDriver(ctx context.Context, kind, databaseURL string) (*driver, error) {
	d := &driver{kind: kind}
	var err error
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		err = d.openSQLite(path)
	} else {
		err = d.openPostgres(databaseURL)
	}
	if err != nil {
		return nil, err
	}
	return d, d.prepare(ctx)
}

func (d *driver) openSQLite(path string) (err error) {
	pragmas := func(more ...string) string {
		return "file:" + path + "?" + url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"temp_store(MEMORY)", "journal_size_limit(67108864)",
		}, more...)}.Encode()
	}
	if d.writer, err = sql.Open("sqlite", pragmas("cache_size(-16000)")); err != nil {
		return err
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = sql.Open("sqlite", pragmas("cache_size(-4000)", "query_only(1)")); err != nil {
		return err
	}
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	d.reader.SetMaxOpenConns(readers)
	d.reader.SetMaxIdleConns(readers)
	return nil
}

func (d *driver) openPostgres(databaseURL string) (err error) {
	const conns = 16
	if d.reader, err = sql.Open("pgx", databaseURL); err != nil {
		return err
	}
	d.reader.SetMaxOpenConns(conns)
	d.reader.SetMaxIdleConns(conns)
	d.writer, d.numberedMarks = d.reader, true
	return nil
}

func (d *driver) prepare(ctx context.Context) error {
	type preparation struct {
		to   **sql.Stmt
		on   *sql.DB
		text string
	}
	for _, p := range []preparation{
		{&d.token, d.reader, tokenSQL}, {&d.total, d.reader, totalSQL}, {&d.counted, d.reader, countSQL},
		{&d.skip, d.reader, skipSQL}, {&d.one, d.reader, oneSQL},
		{&d.page, d.reader, pageStartSQL + pageEndSQL}, {&d.pageBelow, d.reader, pageStartSQL + ` AND c.id < ?` + pageEndSQL},
		{&d.plan, d.writer, planSQL}, {&d.insert, d.writer, insertSQL}, {&d.insertDelta, d.writer, deltaSQL}, {&d.insertEvent, d.writer, eventSQL},
	} {
		var err error
		if *p.to, err = p.on.PrepareContext(ctx, d.marked(p.text)); err != nil {
			return err
		}
	}
	return nil
}

// marked numbers the placeholders for PostgreSQL.
func (d *driver) marked(text string) string {
	if !d.numberedMarks {
		return text
	}
	parts := strings.Split(text, "?")
	for i := range parts[1:] {
		parts[i+1] = "$" + strconv.Itoa(i+1) + parts[i+1]
	}
	return strings.Join(parts, "")
}

func (d *driver) close() {
	_ = d.reader.Close()
	_ = d.writer.Close()
}

func (d *driver) handler(a answers) http.Handler {
	serve := func(work func(*http.Request) error, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if err := work(r); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			write(w, body)
		}
	}
	return routes(serve(d.listCustomers, a.list), serve(d.readCustomer, a.read), serve(d.createCustomer, a.create))
}

// admit looks the token up, as every call must.
func (d *driver) admit(r *http.Request) (companyID int64, err error) {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	var parent, lead, created, tokenID int64
	var name, level, zone, from string
	var onPayment bool
	err = d.token.QueryRowContext(r.Context(), hash[:]).Scan(
		&companyID, &parent, &name, &level, &zone, &from, &onPayment, &lead, &created, &tokenID)
	return companyID, err
}

const (
	pageSize  = 50
	deepPages = 4096 // from this offset on the product finds the page through its buckets
)

func (d *driver) listCustomers(r *http.Request) error {
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	var total int64
	if d.kind == counts {
		err = d.counted.QueryRowContext(ctx, companyID).Scan(&total)
	} else {
		err = d.total.QueryRowContext(ctx, companyID, companyID).Scan(&total)
	}
	if err != nil {
		return err
	}
	number, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
	from := max(0, number-1) * pageSize
	if from <= deepPages || d.kind == offset {
		return readRows(d.page.QueryContext(ctx, companyID, pageSize, from, companyID))
	}
	below, skipped, err := d.skipTo(ctx, companyID, from)
	if err != nil {
		return err
	}
	return readRows(d.pageBelow.QueryContext(ctx, companyID, below, pageSize, from-skipped, companyID))
}

func (d *driver) skipTo(ctx context.Context, companyID, from int64) (below, skipped int64, err error) {
	rows, err := d.skip.QueryContext(ctx, companyID, companyID)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells what matters
	for rows.Next() {
		var bucket, n int64
		if err := rows.Scan(&bucket, &n); err != nil {
			return 0, 0, err
		}
		switch {
		case below != 0:
		case skipped+n > from:
			below = (bucket + 1) * deepPages
		default:
			skipped += n
		}
	}
	return below, skipped, rows.Err()
}

// record is all columns of a customer.
type record struct {
	id, ownDay, planID, value, productID, created, updated                       int64
	uuid, name, whatsapp, email, usuario, planName, productName, notes, external string
	dueOn                                                                        sql.NullString
}

func (c *record) columns() []any {
	return []any{
		&c.id, &c.uuid, &c.name, &c.whatsapp, &c.email, &c.usuario, &c.dueOn, &c.ownDay, &c.planID, &c.planName, &c.value,
		&c.productID, &c.productName, &c.notes, &c.external, &c.created, &c.updated,
	}
}

func readRows(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells what matters
	list := make([]record, 0, pageSize)
	for rows.Next() {
		list = append(list, record{})
		if err := rows.Scan(list[len(list)-1].columns()...); err != nil {
			return err
		}
	}
	if len(list) != pageSize {
		return errors.New("the page is not full")
	}
	return rows.Err()
}

func (d *driver) readCustomer(r *http.Request) error {
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return err
	}
	var c record
	return d.one.QueryRowContext(r.Context(), companyID, id).Scan(c.columns()...)
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
	companyID, err := d.admit(r)
	if err != nil {
		return err
	}
	var in newCustomer
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return err
	}
	tx, err := d.writer.BeginTx(r.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it does nothing
	if err := d.createTx(r.Context(), tx, companyID, in); err != nil {
		return err
	}
	return tx.Commit()
}

func (d *driver) createTx(ctx context.Context, tx *sql.Tx, companyID int64, in newCustomer) error {
	var planID, value, periods, productID, created, customerID, eventID int64
	var planName, unit, productName string
	var active bool
	if err := tx.StmtContext(ctx, d.plan).QueryRowContext(ctx, companyID, in.PlanID).Scan(
		&planID, &planName, &value, &unit, &periods, &productID, &productName, &active, &created); err != nil {
		return err
	}
	now := time.Now()
	search := person{name: in.Name, phone: in.Whatsapp, email: in.Email, usuario: in.Usuario}.search()
	if err := tx.StmtContext(ctx, d.insert).QueryRowContext(ctx, companyID, id.NewUUID(), in.Name, in.Whatsapp, in.Email,
		in.Usuario, in.Usuario, "", in.Due, 1, planID, productID, "", search, now.UnixMicro(), now.UnixMicro()).Scan(&customerID); err != nil {
		return err
	}
	if _, err := tx.StmtContext(ctx, d.insertDelta).ExecContext(ctx, companyID, customerID/deepPages, in.Due, planID, productID); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"event": "customer.created", "platform": "carteira", "data": in, "search": search})
	if err != nil {
		return err
	}
	return tx.StmtContext(ctx, d.insertEvent).QueryRowContext(ctx, companyID, id.NewEvent(now), now.UnixMicro(), string(body)).Scan(&eventID)
}
