package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/internal/reminder"
	"carteira/internal/webhook"
)

// trial is a sandbox with a company that has what time moves: customers, rules
// of messages, a gateway, a webhook.
type trial struct {
	t       *testing.T
	program *App
	actor   account.Actor
	got     *atomic.Int64 // deliveries that the receiver has accepted
	plans   []int64
}

var trialBegin = time.Date(2031, 1, 1, 3, 0, 0, 0, time.UTC) // midnight in São Paulo

func sandboxConfig(t *testing.T, url string) config.Config {
	t.Helper()
	return config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), DatabaseURL: url, Sandbox: true,
		SecretKeys: []secret.Key{secret.NewKey()}, WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 365, AuditDays: 400,
		WebhookAllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		WebhookRetryDelays:   []time.Duration{0, time.Hour, 2 * time.Hour},
	}
}

func openSandbox(t *testing.T, url string) *App {
	t.Helper()
	program, err := Open(t.Context(), sandboxConfig(t, url), slog.New(slog.DiscardHandler))
	housetest.Must(t, err)
	t.Cleanup(func() { housetest.Must(t, program.Close(context.WithoutCancel(t.Context()))) })
	return program
}

func newTrial(t *testing.T, engine sqldb.Engine, customers int) *trial {
	t.Helper()
	x := &trial{t: t, program: openSandbox(t, sqldbtest.URL(t, engine)), got: &atomic.Int64{}}
	x.setClock(trialBegin)
	company, _, err := x.program.Accounts.CreateCompany(t.Context(), account.NewCompany{Name: "Rede", Email: "a@example.com"})
	housetest.Must(t, err)
	x.actor = account.System(company, "test")
	_, err = x.program.Payments.ConfigureGateway(t.Context(), x.actor, payment.GatewayDraft{Provider: "sandbox"})
	housetest.Must(t, err)
	x.catalog()
	x.rules()
	for i := range customers {
		_, err := x.program.Customers.Create(t.Context(), x.actor, customer.Draft{
			Name: input.Some(fmt.Sprintf("Cliente %d", i)), Whatsapp: input.Some(fmt.Sprintf("55119%04d%04d", 8000+i, 1000+i)),
			PlanID: input.Some(x.plans[i%len(x.plans)]), DueOn: input.Some(x.actor.Today(trialBegin).AddDays(i % 29)),
		})
		housetest.Must(t, err)
	}
	return x
}

func (x *trial) catalog() {
	x.t.Helper()
	for _, period := range []civil.Period{{Unit: civil.Month, Count: 1}, {Unit: civil.Week, Count: 2}, {Unit: civil.Year, Count: 1}} {
		plan, err := x.program.Catalog.CreatePlan(x.t.Context(), x.actor, catalog.PlanDraft{
			Name: input.Some("Plano " + period.String()), Value: input.Some(money.Cents(9990)), Period: input.Some(period),
		})
		housetest.Must(x.t, err)
		x.plans = append(x.plans, plan.ID)
	}
}

func (x *trial) rules() {
	x.t.Helper()
	channel, _, err := x.program.Reminders.CreateChannel(x.t.Context(), x.actor, reminder.ChannelDraft{Kind: "log", Name: input.Some("Log")})
	housetest.Must(x.t, err)
	for _, days := range []int64{-3, 0, 1} {
		template, err := x.program.Reminders.CreateTemplate(x.t.Context(), x.actor, reminder.TemplateDraft{
			Name: input.Some(fmt.Sprint(days)), Text: input.Some("{primeiro_nome}, pague {pix}"),
		})
		housetest.Must(x.t, err)
		_, err = x.program.Reminders.CreateRule(x.t.Context(), x.actor, reminder.RuleDraft{
			Name: input.Some(fmt.Sprint(days)), Active: input.Some(true), OffsetDays: input.Some(days),
			Minute: input.Some(9 * 60), TemplateID: input.Some(template.ID), Channels: input.Some([]int64{channel.ID}),
		})
		housetest.Must(x.t, err)
	}
}

// webhook has the company send events to a receiver that refuses each expiry the
// first time.
func (x *trial) webhook() {
	x.t.Helper()
	var refused sync.Map
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, again := refused.LoadOrStore(r.Header.Get("X-Service-Delivery"), true); !again && r.Header.Get("X-Service-Event") == "customer.expired" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		x.got.Add(1)
	}))
	x.t.Cleanup(receiver.Close)
	_, _, err := x.program.Webhooks.Create(x.t.Context(), x.actor, webhook.Draft{
		URL: input.Some(receiver.URL), Events: input.Some([]string{"customer.expired", "invoice.created", "invoice.paid"}),
	})
	housetest.Must(x.t, err)
}

// pay has every other customer pay what is open.
func (x *trial) pay() {
	x.t.Helper()
	page := input.Page{Number: 1, Size: input.MaxPageSize}
	list, _, err := x.program.Billing.List(x.t.Context(), x.actor, billing.Filter{Status: billing.Open}, page)
	housetest.Must(x.t, err)
	for _, invoice := range list {
		if invoice.Customer.ID%2 == 0 {
			_, err := x.program.Billing.SetStatus(x.t.Context(), x.actor, invoice.ID, billing.StatusChange{Status: billing.Paid})
			housetest.Must(x.t, err)
		}
	}
}

// setClock puts the clock somewhere and leaves it standing, without living
// through the time between.
func (x *trial) setClock(at time.Time) {
	x.t.Helper()
	housetest.Must(x.t, x.program.DB.MoveClock(x.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(x.t.Context(), `UPDATE sandbox_clock SET stopped_at = ?, from_at = ?, to_at = ?, moves = moves + 1`,
			at.UnixMicro(), at.UnixMicro(), at.UnixMicro())
		return err
	}))
	housetest.Must(x.t, x.program.Sandbox.Clock.Refresh(x.t.Context()))
}

// advance lives through the time to an instant with the driver.
func (x *trial) advance(to time.Time) {
	x.t.Helper()
	_, err := x.exec(`UPDATE sandbox_clock SET to_at = ?, moves = moves + 1`, to.UnixMicro())
	housetest.Must(x.t, err)
	stop := x.program.DriveSandbox(x.t.Context())
	defer stop()
	housetest.Must(x.t, x.program.Sandbox.Wait(x.t.Context(), 5*time.Minute, nil))
	if now := x.program.DB.Now(); now.Before(to) {
		x.t.Fatalf("the clock shows %s and not %s", now, to)
	}
}

func (x *trial) exec(text string, args ...any) (changed int64, err error) {
	err = x.program.DB.MoveClock(x.t.Context(), func(tx *sqldb.Tx) (err error) {
		changed, err = tx.Exec(x.t.Context(), text, args...)
		return err
	})
	return changed, err
}

// crawl is what a server does whose clock is moved in single hours: all its jobs
// run each time, and nothing chooses an instant for them.
func (x *trial) crawl(to time.Time) {
	x.t.Helper()
	ctx, stop := context.WithCancel(x.t.Context())
	done := make(chan error, 1)
	go func() { done <- x.program.Webhooks.Run(ctx) }()
	defer func() { stop(); housetest.Must(x.t, <-done) }()
	for at := x.program.DB.Now(); !at.After(to); at = at.Add(time.Hour) {
		x.setClock(at)
		x.jobs(ctx)
	}
}

func (x *trial) jobs(ctx context.Context) {
	x.t.Helper()
	housetest.Must(x.t, x.program.DayWork(ctx))
	for n := 1; n > 0; {
		var err error
		n, err = x.program.Payments.Reconcile(ctx)
		housetest.Must(x.t, err)
	}
	_, err := x.program.Reminders.WorkDue(ctx)
	housetest.Must(x.t, err)
	for {
		next, err := x.program.Webhooks.NextDue(ctx)
		housetest.Must(x.t, err)
		if next.IsZero() || next.After(x.program.DB.Now()) {
			break
		}
		_, err = x.program.Webhooks.AwaitDue(ctx)
		housetest.Must(x.t, err)
	}
	for _, prune := range []func(context.Context) error{
		x.program.pruneAudit, x.program.Reminders.Prune, x.program.Webhooks.Prune, x.program.Payments.Prune,
	} {
		housetest.Must(x.t, prune(ctx))
	}
}

// rows are what is kept, without what chance has made: keys, references, codes.
func (x *trial) rows() string {
	x.t.Helper()
	var out strings.Builder
	for _, text := range []string{
		`SELECT 'customer', id, due_on, expired, updated_at, mrr_cents FROM customers ORDER BY 1, 2`,
		`SELECT 'invoice', customer_id, due_on, status, amount_cents, created_at FROM invoices ORDER BY 1, 2, 3`,
		`SELECT 'event', name, occurred_at, company_id, 0, 0 FROM events ORDER BY 3, 2`,
		`SELECT 'message', customer_id, due_on, status, sent_at, run_at FROM reminder_messages ORDER BY 2, 3, 5, 6, 4`,
		`SELECT 'charge', invoice_id, state, expires_at, created_at, COALESCE(closed_at, 0) FROM charges ORDER BY 2, 5`,
		`SELECT 'delivery', status, attempts, CASE WHEN attempts = 1 THEN delivered_at ELSE 0 END, 0, 0 FROM deliveries ORDER BY 4, 2, 3`,
	} {
		housetest.Must(x.t, sqldb.Each(x.t.Context(), x.program.DB, text, nil, func(row sqldb.Row) error {
			cells := make([]any, 6)
			for i := range cells {
				cells[i] = new(any)
			}
			err := row.Scan(cells...)
			for _, cell := range cells {
				fmt.Fprintf(&out, "%v ", *cell.(*any))
			}
			out.WriteByte('\n')
			return err
		}))
	}
	return out.String()
}

func TestAdvancingLeavesWhatAServerLeavesWhoseClockMovedByTheHour(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		leap, crawl := newTrial(t, engine, 12), newTrial(t, engine, 12)
		leap.webhook()
		crawl.webhook()
		to := trialBegin
		for range 3 {
			to = to.AddDate(0, 0, 18)
			leap.advance(to)
			crawl.crawl(to)
			leap.setClock(to)
			leap.pay()
			crawl.pay()
		}
		sameRows(t, leap.rows(), crawl.rows())
		if leap.got.Load() != crawl.got.Load() || leap.got.Load() == 0 {
			t.Errorf("%d and %d deliveries were accepted", leap.got.Load(), crawl.got.Load())
		}
	})
}

// sameRows shows the first lines in which two states differ.
func sameRows(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		if strings.Count(got, "\n") < 100 {
			t.Errorf("too little has happened to compare:\n%s", got)
		}
		return
	}
	one, other := strings.Split(got, "\n"), strings.Split(want, "\n")
	shown := 0
	for i := 0; i < max(len(one), len(other)) && shown < 5; i++ {
		a, b := lineAt(one, i), lineAt(other, i)
		if a != b {
			shown++
			t.Errorf("line %d of %d and %d:\n  leap  %s\n  crawl %s", i, len(one), len(other), a, b)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}
