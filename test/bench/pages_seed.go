//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/internal/webhook"
)

// desk is an owner who is signed in, and the pages that are opened.
type desk struct {
	session string
	paths   []string
}

func (d desk) get(path, header string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\nCookie: carteira_session=%s\r\n%s\r\n", path, d.session, header)
}

// furnish gives the company a year of invoices and payments, a webhook with its
// deliveries, and an owner who signs in. It has no reminders: to plan those of all
// customers would be most of what is measured.
func (b *bench) furnish(ctx context.Context, set *dataset) (desk desk, err error) {
	program, err := b.open(ctx, set)
	if err != nil {
		return desk, err
	}
	defer func() { err = errors.Join(err, program.Close(context.WithoutCancel(ctx))) }()
	actor := set.listed.Actor
	if err := makeMoney(ctx, program.DB, set); err != nil {
		return desk, err
	}
	hook, err := makeDeliveries(ctx, program, actor)
	if err != nil {
		return desk, err
	}
	if desk.session, err = signIn(ctx, program, actor); err != nil {
		return desk, err
	}
	desk.paths = set.panelPaths(hook)
	return desk, set.settle(ctx)
}

// open opens the program on a dataset, without serving it.
func (b *bench) open(ctx context.Context, set *dataset) (*app.App, error) {
	key, err := secret.ParseKey(strings.Repeat("00", 32))
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: b.dir, DatabaseURL: set.url, SecretKeys: []secret.Key{key},
		WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 365, AuditDays: 400,
		WebhookAllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}, slog.New(slog.DiscardHandler))
}

// openDesk has the owner of a dataset sign in, where a line is of the panel.
func (b *bench) openDesk(ctx context.Context, set *dataset) (err error) {
	if !slices.ContainsFunc(b.lines(), func(line line) bool { return line.desk }) {
		return nil
	}
	program, err := b.open(ctx, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close(context.WithoutCancel(ctx))) }()
	set.desk.session, err = signIn(ctx, program, set.listed.Actor)
	return err
}

// makeMoney gives every customer of a plan an invoice of the last year; one in
// sixteen has not paid it. What that comes to is counted as the product counts it
// anew at night.
func makeMoney(ctx context.Context, db *sqldb.DB, set *dataset) error {
	err := db.Write(sqldb.WithoutDeadline(ctx), func(tx *sqldb.Tx) error {
		for _, statement := range moneyRows(set) {
			if _, err := tx.Exec(sqldb.WithoutDeadline(ctx), statement, set.listed.Company.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, recount := range append(billing.Recounts(), customer.Recounts()...) {
		if _, err := recount.Correct(ctx, db, tally.Scope{CompanyID: set.listed.Company.ID, Today: set.today}); err != nil {
			return fmt.Errorf("count %s: %w", recount.Counter, err)
		}
	}
	return nil
}

func moneyRows(set *dataset) []string {
	day := func(days string) string { return "CAST(CURRENT_DATE - CAST(" + days + " AS INTEGER) AS TEXT)" }
	if set.engine == sqldb.SQLite {
		day = func(days string) string { return "date('now', '-' || (" + days + ") || ' days')" }
	}
	due, paid := day("1 + id % 360"), "id % 16 <> 0"
	return []string{
		`INSERT INTO invoices (company_id, customer_id, generated, amount_cents, description, due_on, plan_id, product_id, paid_at, paid_on,
				paid_via, note, renewed_day, created_at, created_on, created_offset, updated_at, status, received_cents, paid_offset)
			SELECT company_id, id, TRUE, 9990, 'Mensalidade', ` + due + `, plan_id, product_id, CASE WHEN ` + paid + ` THEN created_at END,
				CASE WHEN ` + paid + ` THEN ` + due + ` END, CASE WHEN ` + paid + ` THEN 'pix' ELSE '' END, '', 0, created_at, ` + due + `,
				0, created_at, CASE WHEN ` + paid + ` THEN 'paid' ELSE 'open' END, CASE WHEN ` + paid + ` THEN 9990 ELSE 0 END,
				CASE WHEN ` + paid + ` THEN 0 END
			FROM customers WHERE company_id = ? AND plan_id IS NOT NULL`,
		`INSERT INTO payments (company_id, provider, payment_id, paid_via, invoice_id, customer_id, customer_name, plan_id, product_id,
				amount_cents, currency, paid_at, paid_offset, paid_on, status, confirmed_by, note, created_at)
			SELECT i.company_id, 'hand', 'p' || i.id, 'pix', i.id, i.customer_id, c.name, COALESCE(i.plan_id, 0), COALESCE(i.product_id, 0),
				9990, 'BRL', i.paid_at, 0, i.paid_on, 'applied', '', '', i.created_at
			FROM invoices i JOIN customers c ON c.id = i.customer_id WHERE i.company_id = ? AND i.status = 'paid'`,
	}
}

// shownDeliveries are more than a page has.
const shownDeliveries = 60

func makeDeliveries(ctx context.Context, program *app.App, actor account.Actor) (int64, error) {
	form := input.FromStrings(map[string]string{"url": "https://127.0.0.1:9/", "events": "customer.created"})
	hook, _, err := program.Webhooks.Create(ctx, actor, webhook.ReadNew(form))
	if err != nil {
		return 0, err
	}
	for range shownDeliveries {
		if _, _, err := program.Webhooks.Test(ctx, actor, hook.ID); err != nil {
			return 0, err
		}
	}
	return hook.ID, nil
}

func signIn(ctx context.Context, program *app.App, actor account.Actor) (string, error) {
	const password = "correct horse battery staple"
	user, err := program.Accounts.Owner(ctx, actor)
	if err != nil {
		return "", err
	}
	_, link, err := program.Accounts.NewPasswordLink(ctx, actor, user.ID)
	if err != nil {
		return "", err
	}
	from := account.Visitor{Address: "127.0.0.1", Agent: "bench"}
	if _, err := program.Accounts.UsePasswordLink(ctx, link, account.NewPassword{Password: password}, from); err != nil {
		return "", err
	}
	in, err := program.Accounts.SignIn(ctx, account.Credentials{Email: user.Email, Password: password}, from)
	return in.Token, err
}

// panelPaths are the pages that show records of the company, lists in the orders
// and with the filters that cost most.
func (d *dataset) panelPaths(hook int64) []string {
	id, plan := strconv.Itoa(d.size/2), strconv.FormatInt(d.listed.plans[0].ID, 10)
	middle := "page=" + strconv.Itoa(d.pages()*7/20)
	return []string{
		"/", "/?plan_id=" + plan,
		"/customers", "/customers?page=" + strconv.Itoa(d.pages()/2), "/customers?status=Ativo&" + middle, "/customers?status=Vencido",
		"/customers?sort=name", "/customers?sort=due_date&" + middle, "/customers?plan_id=" + plan, "/customers?search=oliveira",
		"/customers/" + id, "/customers/" + id + "/edit", "/customers/new", "/search?q=oliveira",
		"/invoices", "/invoices?page=" + strconv.Itoa(d.pages()/2), "/invoices?overdue=true",
		"/invoices?status=paid&sort=due_date", "/invoices/" + id,
		"/payments", "/payments?page=" + strconv.Itoa(d.pages()/2), "/payments/gateway",
		"/plans", "/plans/" + plan, "/products", "/credits", "/resellers", "/subscription-plans",
		"/messages", "/messages/log", "/messages/templates", "/messages/channels",
		"/webhooks", fmt.Sprintf("/webhooks/%d", hook), "/api", "/imports", "/settings", "/settings/audit", "/settings/users", "/profile",
	}
}
