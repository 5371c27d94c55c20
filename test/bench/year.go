//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
)

const (
	yearCustomers = 1000
	yearGoal      = time.Minute
)

func (b *bench) living() bool { return b.only.MatchString("a year in a sandbox") }

// year lives through a year of a company in a sandbox on SQLite: every customer
// is billed each month, charged and reminded three times. Half of them pay on the
// due date, day by day; the others never do.
func (b *bench) year(ctx context.Context, engine sqldb.Engine) error {
	if engine != sqldb.SQLite {
		return nil
	}
	dir, err := os.MkdirTemp(b.dir, "year-")
	if err != nil {
		return err
	}
	program, err := app.Open(ctx, config.Config{
		Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: dir, Sandbox: true,
		DatabaseURL: "sqlite:" + filepath.Join(dir, "carteira.db"), SecretKeys: []secret.Key{secret.NewKey()},
		WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 365, AuditDays: 400,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close(context.WithoutCancel(ctx))) }()
	actor, err := settle(ctx, program)
	if err != nil {
		return fmt.Errorf("seed the sandbox: %w", err)
	}
	began, used := time.Now(), cpuOf(os.Getpid())
	happened, err := liveYear(ctx, program, actor)
	if err != nil {
		return err
	}
	b.lived = time.Since(began)
	b.printYear(happened, cpuOf(os.Getpid())-used)
	return nil
}

func (b *bench) printYear(happened map[string]int64, cpu time.Duration) {
	var t table
	t.add(fmt.Sprintf("SQLite: a year in a sandbox, %s customers, half of whom pay", grouped(yearCustomers)), b.lived.Round(time.Millisecond).String())
	t.add("  CPU", cpu.String())
	for _, name := range slices.Sorted(maps.Keys(happened)) {
		t.add("  "+name, grouped(int(happened[name])))
	}
	t.print()
}

func (b *bench) judgeYear(table *table) {
	if b.lived == 0 {
		return
	}
	verdict := "met"
	if b.lived > yearGoal {
		verdict = "not met"
	}
	table.add("  SQLite: a year in a sandbox, 1,000 customers, half of whom pay", "≤ "+yearGoal.String(), b.lived.Round(time.Millisecond).String(), verdict)
}

// payHour is when those pay who pay.
const payHour = 10 * time.Hour

// liveYear returns how often each kind of thing has happened.
func liveYear(ctx context.Context, program *app.App, actor account.Actor) (map[string]int64, error) {
	happened := map[string]int64{}
	first := actor.Today(program.DB.Now())
	for day := first.AddDays(1); day.Sub(first) <= 365; day = day.AddDays(1) {
		if err := program.Sandbox.Live(ctx, day.At(payHour, actor.Company.Zone)); err != nil {
			return nil, err
		}
		if err := payDay(ctx, program, actor, day); err != nil {
			return nil, fmt.Errorf("payments of %s: %w", day, err)
		}
		state, err := program.Sandbox.State(ctx, 0)
		if err != nil {
			return nil, err
		}
		for _, kind := range state.Happened {
			happened[kind.Name] += kind.Amount
		}
	}
	return happened, nil
}

// payDay has every other customer pay what is due on a day.
func payDay(ctx context.Context, program *app.App, actor account.Actor, day civil.Date) error {
	due := billing.Filter{Status: billing.Open, DueFrom: day, DueTo: day}
	list, total, err := program.Billing.List(ctx, actor, due, input.Page{Number: 1, Size: input.MaxPageSize})
	if err != nil || total > input.MaxPageSize {
		return errors.Join(err, fmt.Errorf("%d invoices are due", total))
	}
	for _, invoice := range list {
		if invoice.Customer.ID%2 != 0 {
			continue
		}
		paid := billing.StatusChange{Status: billing.Paid, Via: input.Some("pix")}
		if _, err := program.Billing.SetStatus(ctx, actor, invoice.ID, paid); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the company whose year it is.
func settle(ctx context.Context, program *app.App) (account.Actor, error) {
	company, _, err := program.Accounts.CreateCompany(ctx, account.NewCompany{Name: "Rede", Email: "ana@example.com"})
	if err != nil {
		return account.Actor{}, err
	}
	actor := account.System(company, "bench")
	return actor, sell(ctx, program, actor)
}

// sell gives a company a plan, a gateway, reminders and customers.
func sell(ctx context.Context, program *app.App, actor account.Actor) error {
	plan, err := program.Catalog.CreatePlan(ctx, actor, catalog.PlanDraft{
		Name: input.Some("Mensal"), Value: input.Some(money.Cents(3500)),
		Period: input.Some(civil.Period{Unit: civil.Month, Count: 1}),
	})
	if err != nil {
		return err
	}
	if _, err := program.Payments.ConfigureGateway(ctx, actor, payment.GatewayDraft{Provider: "sandbox"}); err != nil {
		return err
	}
	if err := reminders(ctx, program, actor); err != nil {
		return err
	}
	for i := range yearCustomers {
		_, err := program.Customers.Create(ctx, actor, customer.Draft{
			Name: input.Some(fmt.Sprintf("Cliente %d", i)), Whatsapp: input.Some(fmt.Sprintf("55119%04d1%03d", 8000+i/1000, i%1000)),
			PlanID: input.Some(plan.ID), DueOn: input.Some(actor.Today(program.DB.Now()).AddDays(1 + i%28)),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func reminders(ctx context.Context, program *app.App, actor account.Actor) error {
	channel, _, err := program.Reminders.CreateChannel(ctx, actor, reminder.ChannelDraft{Kind: "log", Name: input.Some("Log")})
	if err != nil {
		return err
	}
	for _, days := range []int64{-3, 0, 1} {
		template, err := program.Reminders.CreateTemplate(ctx, actor, reminder.TemplateDraft{
			Name: input.Some(fmt.Sprint(days)), Text: input.Some("{primeiro_nome}, pague {pix}"),
		})
		if err != nil {
			return err
		}
		_, err = program.Reminders.CreateRule(ctx, actor, reminder.RuleDraft{
			Name: input.Some(fmt.Sprint(days)), Active: input.Some(true), OffsetDays: input.Some(days),
			Minute: input.Some(9 * 60), TemplateID: input.Some(template.ID), Channels: input.Some([]int64{channel.ID}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
