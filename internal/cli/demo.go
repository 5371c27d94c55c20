package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"carteira/internal/account"
	"carteira/internal/app"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/reminder"
	"carteira/internal/web/api"
)

func demoCommand() *cobra.Command {
	cmd := bare(command{
		use: "demo", short: "Serve a company with customers, to try things on",
		long: `Demo makes a company with plans, products, customers and resellers on the embedded
database, in a temporary folder that is deleted at the end, and serves it until
Ctrl-C. The company has lived through its last 14 months, and its clock can be
moved on: a demo is a sandbox. With --data the folder is kept, and used again the
next time.`,
		flags: "data folder to keep the demo in (default: a temporary one)",
	}, demo)
	addSettings(cmd.Flags(), true)
	return cmd
}

// demoSettings are the settings of the embedded database, of a sandbox.
func demoSettings(cmd *cobra.Command) (config.Config, error) {
	cfg, err := settings(cmd)
	if err != nil {
		return cfg, err
	}
	if !cfg.Embedded() {
		return cfg, errors.New("demo uses the embedded database; unset CARTEIRA_DATABASE_URL")
	}
	cfg.Sandbox = true // a demo reaches no real people, and its time can be moved
	return cfg, nil
}

func demo(cmd *cobra.Command, _ []string) (err error) {
	dir := text(cmd, "data")
	if dir == "" {
		if dir, err = os.MkdirTemp("", "carteira-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	must(cmd.Flags().Set("data-dir", dir))
	cfg, err := demoSettings(cmd)
	if err != nil {
		return err
	}
	port := takePort(cmd, &cfg)
	if port != nil {
		defer func() { _ = port.Close() }() // where it comes to be served, that closes it
	}
	chosen := cfg.LogLevel
	level := &slog.LevelVar{} // thousands of messages are sent while the demo lives through its past
	level.Set(max(chosen, slog.LevelWarn))
	program, err := app.OpenToServe(cmd.Context(), cfg, logger(cfg, cmd.ErrOrStderr(), level))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close(cmd.Context())) }()
	program.Listener = port
	actor, err := seed(cmd.Context(), program)
	if err != nil {
		return fmt.Errorf("seed the demo company: %w", err)
	}
	level.Set(chosen)
	_, token, err := program.Accounts.CreateToken(cmd.Context(), actor, account.NewToken{Name: "demo"})
	if err != nil {
		return err
	}
	pay, err := payableLink(cmd.Context(), program, actor)
	if err != nil {
		return err
	}
	return program.Serve(cmd.Context(), func(net.Addr) {
		fmt.Fprintf(cmd.OutOrStdout(), `
Carteira is running with a demo company. Ctrl-C stops it.

  Panel      %[1]s/
  Sign-in    %[3]s  /  %[4]s
  Reseller   %[7]s  /  %[4]s
  API page   %[1]s/docs
  Token      %[2]s
  Checkout   %[6]s

Paste this into another terminal:

  curl -H 'Authorization: Bearer %[2]s' '%[1]s%[5]s/customers?per_page=3'

`, program.Config.PublicURL, token, demoEmail, demoPassword, api.Prefix, pay, demoReseller)
	})
}

// takePort takes another port when the default one is in use: a user who tries
// the demo should not have to know why it does not start. Port 0 becomes the
// port that the system chooses, since the address is printed. It is nil where none
// can be had, which Serve explains.
func takePort(cmd *cobra.Command, cfg *config.Config) net.Listener {
	addresses := []string{cfg.Listen}
	if !cmd.Flags().Changed("listen") && os.Getenv("CARTEIRA_LISTEN") == "" {
		addresses = append(addresses, "127.0.0.1:0")
	}
	for _, addr := range addresses {
		listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", addr)
		if err != nil {
			continue
		}
		asked := cfg.Listen
		cfg.Listen = listener.Addr().String()
		if !cmd.Flags().Changed("public-url") && os.Getenv("CARTEIRA_PUBLIC_URL") == "" {
			cfg.PublicURL = strings.Replace(cfg.PublicURL, asked, cfg.Listen, 1)
		}
		return listener
	}
	return nil
}

const (
	demoEmail    = "demo@example.com"
	demoPassword = "demonstracao"
	demoMonths   = 14 // that the company has behind it
	demoSize     = 60
	demoFirst    = 24 // customers that it begins with
)

// seed fills an empty database with a company; one that has been filled stays.
func seed(ctx context.Context, program *app.App) (account.Actor, error) {
	companies, err := program.Accounts.Companies(ctx)
	if err != nil {
		return account.Actor{}, err
	}
	if len(companies) > 0 {
		return account.Operator(companies[0]), nil
	}
	now := program.DB.Real()
	if err := program.Sandbox.SetBack(ctx, now.AddDate(0, -demoMonths, 0)); err != nil {
		return account.Actor{}, err
	}
	company, _, err := program.Accounts.CreateCompany(ctx, account.NewCompany{
		Name: "Demo Internet", OwnerName: "Dona Demo", Email: demoEmail, Password: demoPassword,
	})
	if err != nil {
		return account.Actor{}, err
	}
	actor := account.System(company, "demo")
	plans, err := seedCatalog(ctx, program, actor)
	if err != nil {
		return actor, err
	}
	_, err = program.Payments.ConfigureGateway(ctx, actor, payment.GatewayDraft{Provider: "sandbox"})
	if err != nil {
		return actor, err
	}
	life := demoLife{ctx: ctx, program: program, actor: actor, plans: plans, until: now}
	return actor, life.live()
}

// payableLink is the page of the newest invoice that is open, to try paying on.
func payableLink(ctx context.Context, program *app.App, actor account.Actor) (string, error) {
	open, _, err := program.Billing.List(ctx, actor, billing.Filter{Status: billing.Open}, input.Page{
		Number: 1,
		Size:   1,
	})
	if err != nil || len(open) == 0 {
		return "none: every invoice is paid", err
	}
	link, err := program.Payments.PaymentLink(ctx, actor, open[0].ID)
	return link.URL, err
}

// seedReminders makes the usual rules, through a channel that sends nothing.
func seedReminders(ctx context.Context, program *app.App, actor account.Actor) error {
	channel, _, err := program.Reminders.CreateChannel(ctx, actor, reminder.ChannelDraft{
		Kind: "log",
		Name: input.Some("Demonstração"),
	})
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name          string
		days          int
		hour          int
		subject, text string
	}{
		{
			"3 dias antes", -3, 9, "Seu plano vence em {vencimento}",
			"Olá, {primeiro_nome}! Seu plano {plano}, de {valor}, vence em {vencimento}.\n\nPague por PIX em {link_pagamento}\n\n{empresa}",
		},
		{
			"No dia", 0, 9, "Seu plano vence hoje",
			"Bom dia, {primeiro_nome}! Seu plano {plano}, de {valor}, vence hoje.\n\nPague por PIX em {link_pagamento} ou " +
				"copie o código:\n{pix}\n\nJá pagou? Desconsidere esta mensagem. {empresa}",
		},
		{
			"1 dia depois", 1, 10, "Seu plano venceu em {vencimento}",
			"Olá, {primeiro_nome}. Seu plano {plano} venceu em {vencimento}. Para continuar conectado, pague em {link_pagamento}\n\n{empresa}",
		},
	} {
		template, err := program.Reminders.CreateTemplate(ctx, actor, reminder.TemplateDraft{
			Name: input.Some(r.name), Subject: input.Some(r.subject), Text: input.Some(r.text),
		})
		if err != nil {
			return err
		}
		_, err = program.Reminders.CreateRule(ctx, actor, reminder.RuleDraft{
			Name: input.Some(r.name), Active: input.Some(true), OffsetDays: input.Some(r.days),
			Minute: input.Some(r.hour * 60), TemplateID: input.Some(template.ID), Channels: input.Some([]int64{channel.ID}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// demoPlans are what each product of the demo is sold for.
var demoPlans = []struct {
	name   string
	value  money.Cents
	period civil.Period
}{
	{"mensal", 9990, civil.Period{Unit: civil.Month, Count: 1}},
	{"trimestral", 27900, civil.Period{Unit: civil.Month, Count: 3}},
	{"anual", 99000, civil.Period{Unit: civil.Year, Count: 1}},
}

func seedCatalog(ctx context.Context, program *app.App, actor account.Actor) (plans []int64, err error) {
	for _, p := range []struct{ name, description string }{{"Fibra", "Internet por fibra"}, {"Rádio", "Internet por rádio"}} {
		product, err := program.Catalog.CreateProduct(ctx, actor, catalog.ProductDraft{
			Name: input.Some(p.name), Description: input.Some(p.description),
		})
		if err != nil {
			return nil, err
		}
		for _, offer := range demoPlans {
			plan, err := program.Catalog.CreatePlan(ctx, actor, catalog.PlanDraft{
				Name: input.Some(p.name + " " + offer.name), Value: input.Some(offer.value),
				Period: input.Some(offer.period), ProductID: input.Some(product.ID),
			})
			if err != nil {
				return nil, err
			}
			plans = append(plans, plan.ID)
		}
	}
	return plans, nil
}
