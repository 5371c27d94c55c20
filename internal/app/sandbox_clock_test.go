package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
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
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/sandbox"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
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
	return openSandboxWith(t, sandboxConfig(t, url))
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
	for _, days := range []int{-3, 0, 1} {
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

// crawl is a server with a clock that is moved in single hours: all its jobs run
// each time, and nothing chooses an instant for them.
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

// trialEnd is how long the two servers below live: until plans of a month and of two weeks
// were renewed more than once. A year takes minutes, and `make year` asks for it.
func trialEnd(t *testing.T) time.Time {
	t.Helper()
	asked := os.Getenv("CARTEIRA_TEST_MONTHS")
	if asked == "" {
		return trialBegin.AddDate(0, 0, 37)
	}
	months, err := strconv.Atoi(asked)
	housetest.Must(t, err)
	return trialBegin.AddDate(0, months, 0)
}

func TestAdvancingLeavesWhatAServerLeavesWhoseClockMovedByTheHour(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		leap, crawl := newTrial(t, engine, 12), newTrial(t, engine, 12)
		leap.webhook()
		crawl.webhook()
		end := trialEnd(t)
		for to := trialBegin.AddDate(0, 0, 18); to.Before(end); to = to.AddDate(0, 0, 18) {
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
		if strings.Count(got, "\n") < 40 {
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

func TestAdvanceOfAProcessThatDiedIsTakenUpByAnother(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		whole, broken := newTrial(t, engine, 6), newTrial(t, engine, 6)
		to := trialBegin.AddDate(0, 0, 40)
		whole.advance(to)

		housetest.Must(t, errOf(broken.exec(`UPDATE sandbox_clock SET to_at = ?, moves = moves + 1`, to.UnixMicro())))
		ctx, kill := context.WithCancel(t.Context())
		stop := broken.program.DriveSandbox(ctx)
		for broken.program.DB.Now().Before(trialBegin.AddDate(0, 0, 10)) {
			housetest.Must(t, broken.program.Sandbox.Clock.Refresh(t.Context()))
		}
		kill()
		stop()
		housetest.Must(t, errOf(broken.exec(`UPDATE sandbox_clock SET driver = 'dead', driver_until = 0`)))
		if !broken.program.Sandbox.Clock.Stands() {
			t.Skip("the advance had ended before it could be broken off")
		}
		second := *broken
		second.program = openSandboxWith(t, broken.program.Config)
		stop = second.program.DriveSandbox(t.Context())
		housetest.Must(t, second.program.Sandbox.Wait(t.Context(), time.Minute, nil))
		stop()
		sameRows(t, second.rows(), whole.rows())
	})
}

func errOf(_ int64, err error) error { return err }

func openSandboxWith(t *testing.T, cfg config.Config) *App {
	t.Helper()
	program, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	housetest.Must(t, err)
	t.Cleanup(func() { housetest.Must(t, program.Close(context.WithoutCancel(t.Context()))) })
	return program
}

func TestProcessThatHasNotHeardOfAMoveWritesTheNewTime(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		first := newTrial(t, engine, 0)
		second := openSandboxWith(t, first.program.Config)
		to := trialBegin.AddDate(1, 0, 0)
		first.setClock(to)
		if now := second.DB.Now(); !now.Equal(trialBegin) {
			t.Fatalf("the second process shows %s before it has asked", now)
		}
		made, err := second.Customers.Create(t.Context(), first.actor, customer.Draft{Name: input.Some("Ana")})
		housetest.Must(t, err)
		if !made.CreatedAt.Equal(to) || !second.DB.Now().Equal(to) {
			t.Errorf("written at %s, shows %s; want %s", made.CreatedAt, second.DB.Now(), to)
		}
	})
}

// No transaction has one time and commits after the clock was moved to a later one:
// once a move is committed, what has an earlier time is all there and stays so.
func TestTimesAreWrittenInTheOrderOfTheMoves(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		first := newTrial(t, engine, 0)
		second := openSandboxWith(t, first.program.Config)
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for _, program := range []*App{first.program, second} {
			for i := range 3 {
				writers.Go(func() {
					for n := 0; ctx.Err() == nil; n++ {
						_, err := program.Customers.Create(t.Context(), first.actor, customer.Draft{Name: input.Some(fmt.Sprint(i, n))})
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}
		written := map[time.Time]int64{}
		for day := range 30 {
			at := trialBegin.AddDate(0, 0, day)
			first.setClock(at)
			written[at] = first.writtenBefore(at)
			for first.writtenBefore(at.Add(time.Hour)) == written[at] { // until there is a write at this time
				if t.Failed() {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		stop()
		writers.Wait()
		for at, count := range written {
			if now := first.writtenBefore(at); now != count {
				t.Errorf("%d were written before %s when the clock was moved there, and %d are now", count, at, now)
			}
		}
	})
}

// writtenBefore counts the customers who have a time from before an instant.
func (x *trial) writtenBefore(at time.Time) int64 {
	x.t.Helper()
	count, err := sqldb.Value[int64](x.t.Context(), x.program.DB, `SELECT count(*) FROM customers WHERE created_at < ?`, at.UnixMicro())
	housetest.Must(x.t, err)
	return count
}

func TestInstallationStaysWhatItWasMadeAs(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		log := slog.New(slog.DiscardHandler)
		made := newTrial(t, engine, 0)
		cfg := made.program.Config
		cfg.Sandbox = false
		plain := openSandboxWith(t, cfg) // as a command does while the server runs
		if plain.Sandbox == nil {
			t.Error("a command does not see that it is a sandbox")
		}
		if err := plain.Serve(t.Context(), nil); !errors.Is(err, sandbox.ErrSandbox) {
			t.Errorf("a sandbox was served without --sandbox: %v", err)
		}

		cfg = newApp(t, engine).Config
		actual := openSandboxWith(t, cfg)
		housetest.Must(t, errOf2(actual.Accounts.CreateCompany(t.Context(), account.NewCompany{Name: "Rede", Email: "b@example.com"})))
		cfg.Sandbox = true
		if _, err := Open(t.Context(), cfg, log); !errors.Is(err, sandbox.ErrReal) {
			t.Errorf("a real installation was opened as a sandbox: %v", err)
		}
	})
}

func errOf2[A, B any](_ A, _ B, err error) error { return err }

func TestSandboxReachesNobodyReal(t *testing.T) {
	x := newTrial(t, sqldb.SQLite, 0)
	var names []string
	for _, provider := range x.program.Payments.Providers() {
		names = append(names, provider.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"pixkey", "sandbox"}) {
		t.Errorf("gateways: %v", names)
	}
	for _, provider := range []string{"mercadopago", "asaas", "asaas_checkout", "efi", "bacen", "woovi"} {
		_, err := x.program.Payments.ConfigureGateway(t.Context(), x.actor, payment.GatewayDraft{Provider: provider})
		if fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("%s can be chosen: %v", provider, err)
		}
	}
	for _, kind := range []string{"whatsapp", "evolution", "smtp", "webhook"} {
		_, _, err := x.program.Reminders.CreateChannel(t.Context(), x.actor, reminder.ChannelDraft{Kind: kind, Name: input.Some("x")})
		if fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("%s can be chosen: %v", kind, err)
		}
	}
	cfg := sandboxConfig(t, sqldbtest.URL(t, sqldb.SQLite))
	cfg.TLSDomains = []string{"clientes.example.com"}
	cfg.Mail = &url.URL{Scheme: "smtp", Host: "mail.example.com"}
	_, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "no certificates") || !strings.Contains(err.Error(), "no mail") {
		t.Errorf("ACME and mail: %v", err)
	}
}

func TestEveryAnswerOfASandboxSaysWhatItIs(t *testing.T) {
	x := newTrial(t, sqldb.SQLite, 0)
	for path, page := range map[string]bool{
		"/login": true, "/nowhere": true, "/healthz": false, "/api/v1/account": false, "/docs": false, "/pay/none": true,
	} {
		answer := httptest.NewRecorder()
		x.program.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if answer.Header().Get("X-Sandbox") != "true" {
			t.Errorf("%s: no header", path)
		}
		if band := strings.Contains(answer.Body.String(), `class="band"`); band != page {
			t.Errorf("%s: band %t", path, band)
		}
	}
	answer := httptest.NewRecorder()
	newApp(t, sqldb.SQLite).Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login", nil))
	if answer.Header().Get("X-Sandbox") != "" || strings.Contains(answer.Body.String(), `class="band"`) {
		t.Error("a real installation says that it is a sandbox")
	}
}
