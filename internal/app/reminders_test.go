package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

var payPage = regexp.MustCompile(`https://carteira\.example(/pay/\w+)`)

// A message carries what the payment room makes through the gateway of the
// company: the page on which the invoice is paid, and the PIX code of its one
// charge. Charging writes to the database by itself, which on SQLite has one
// writer: it could not end inside a transaction of the message.
func TestMessageCarriesWhatOnePaysWith(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		ctx := t.Context()
		program, actor, clock, who := newPayingProgram(t, engine)
		text := "{valor} em {link_pagamento} ou {pix}"
		rule := program.remind(t, actor, text)
		preview, err := program.Reminders.Preview(ctx, actor, reminder.PreviewRequest{TemplateID: rule.TemplateID, CustomerID: who.ID})
		housetest.Must(t, err)
		housetest.Must(t, program.planMessages(ctx))
		clock.Set(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		message := program.sent(t, actor)
		if message.Text != preview.Text || !strings.HasPrefix(message.Text, "R$ 35,00 em https://carteira.example/pay/") {
			t.Errorf("sent %q, previewed %q", message.Text, preview.Text)
		}
		invoices, _, err := program.Billing.List(ctx, actor, billing.Filter{}, input.Page{Number: 1, Size: 10})
		housetest.Must(t, err)
		charge, err := program.Payments.Charge(ctx, actor, invoices[0].ID, "")
		housetest.Must(t, err)
		if charge.PixCode == "" || !strings.HasSuffix(message.Text, " ou "+charge.PixCode) {
			t.Errorf("the message has %q, the charge %q", message.Text, charge.PixCode)
		}
		if n := program.count(t, `SELECT count(*) FROM charges`); n != 1 {
			t.Errorf("preview, message and call made %d charges", n)
		}
		link := payPage.FindStringSubmatch(message.Text)
		if link == nil {
			t.Fatalf("no page to pay on in %q", message.Text)
		}
		shown := httptest.NewRecorder()
		program.Handler().ServeHTTP(shown, httptest.NewRequestWithContext(ctx, http.MethodGet, link[1], nil))
		if shown.Code != http.StatusOK || !strings.Contains(shown.Body.String(), "35,00") {
			t.Errorf("the page answers %d", shown.Code)
		}
	})
}

// newPayingProgram is a program with a company on the sandbox gateway, and a
// customer who owes it R$ 35,00.
func newPayingProgram(t *testing.T, engine sqldb.Engine) (*App, account.Actor, *sqldbtest.Clock, customer.Customer) {
	t.Helper()
	ctx := t.Context()
	clock := sqldbtest.NewClock(time.Date(2026, 1, 20, 11, 30, 0, 0, time.UTC)) // 8:30 in São Paulo
	set := map[string]string{"CARTEIRA_DATA_DIR": t.TempDir(), "CARTEIRA_PUBLIC_URL": "https://carteira.example", "CARTEIRA_SANDBOX_GATEWAY": "on"}
	cfg, err := config.Load(func(string) (string, bool) { return "", false }, func(name string) (string, bool) { return set[name], set[name] != "" })
	housetest.Must(t, err)
	log := slog.New(slog.DiscardHandler)
	program, err := raise(ctx, cfg, log, sqldbtest.New(t, engine, sqldbtest.WithClock(clock)))
	housetest.Must(t, err)
	company, _, err := program.Accounts.CreateCompany(ctx, account.ReadNewCompany(housetest.Form("name", "Rede Clara", "email", "ana@example.com")))
	housetest.Must(t, err)
	actor := account.System(company, "test")
	_, err = program.Payments.ConfigureGateway(ctx, actor, program.Payments.ReadGateway(housetest.Form("provider", "sandbox")))
	housetest.Must(t, err)
	plan, err := program.Catalog.CreatePlan(ctx, actor, catalog.ReadNewPlan(housetest.Form("name", "Mensal", "value", "35.00", "period", "1month")))
	housetest.Must(t, err)
	who, err := program.Customers.Create(ctx, actor, customer.ReadNew(housetest.Form("name", "Ana", "whatsapp", "11987654321", "data_de_vencimento", "2026-01-23", "plan_id", number(plan.ID))))
	housetest.Must(t, err)
	return program, actor, clock, who
}

// What a gateway reports is confirmed at once, with the page that shows the
// receipt.
func TestReceiptFollowsWhatAGatewayReports(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		ctx := t.Context()
		program, actor, _, _ := newPayingProgram(t, engine)
		_, err := program.Reminders.CreateRule(ctx, actor, reminder.ReadNewRule(program.words(t, actor, "Recebemos {valor}: {link_pagamento}",
			"name", "Recibo", "active", "true", "on", "paid")))
		housetest.Must(t, err)
		invoices, _, err := program.Billing.List(ctx, actor, billing.Filter{}, input.Page{Number: 1, Size: 10})
		housetest.Must(t, err)
		_, err = program.Payments.Charge(ctx, actor, invoices[0].ID, "")
		housetest.Must(t, err)
		link, err := program.Payments.PaymentLink(ctx, actor, invoices[0].ID)
		housetest.Must(t, err)
		housetest.Must(t, program.Payments.Simulate(ctx, link.URL[strings.LastIndex(link.URL, "/")+1:]))
		if message := program.sent(t, actor); message.Text != "Recebemos R$ 35,00: "+link.URL {
			t.Errorf("sent %q", message.Text)
		}
		shown := httptest.NewRecorder()
		program.Handler().ServeHTTP(shown, httptest.NewRequestWithContext(ctx, http.MethodGet, payPage.FindStringSubmatch(link.URL)[1], nil))
		if shown.Code != http.StatusOK || !strings.Contains(shown.Body.String(), "Pagamento recebido") {
			t.Errorf("the page answers %d", shown.Code)
		}
	})
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// remind makes a rule of three days before, through the channel for trials.
func (a *App) remind(t *testing.T, actor account.Actor, text string) reminder.Rule {
	t.Helper()
	rule, err := a.Reminders.CreateRule(t.Context(), actor, reminder.ReadNewRule(a.words(t, actor, text,
		"name", "3 dias antes", "active", "true", "offset_days", "-3", "hour", "09:00")))
	housetest.Must(t, err)
	return rule
}

// words is the form of a rule with a template and the channel for trials.
func (a *App) words(t *testing.T, actor account.Actor, text string, pairs ...string) *input.Form {
	t.Helper()
	channel, _, err := a.Reminders.CreateChannel(t.Context(), actor, a.Reminders.ReadNewChannel(housetest.Form("kind", "log")))
	housetest.Must(t, err)
	template, err := a.Reminders.CreateTemplate(t.Context(), actor, reminder.ReadNewTemplate(housetest.Form("name", "Lembrete", "text", text)))
	housetest.Must(t, err)
	return housetest.Form(append(pairs, "template_id", number(template.ID), "channels", number(channel.ID))...)
}

// sent lets the engine send the one message there is.
func (a *App) sent(t *testing.T, actor account.Actor) reminder.Message {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Reminders.Run(ctx, a.Log)
	}()
	defer func() { stop(); <-done }()
	for ctx.Err() == nil {
		list, _, err := a.Reminders.Messages(ctx, actor, reminder.Filter{}, input.Page{Number: 1, Size: 10})
		housetest.Must(t, err)
		if len(list) == 1 && list[0].Status == reminder.Sent {
			return list[0]
		}
		if len(list) == 1 && list[0].Status != reminder.Scheduled && list[0].Status != reminder.Sending {
			t.Fatalf("it is %s: %s", list[0].Status, list[0].Reason)
		}
	}
	t.Fatal("it is never sent")
	return reminder.Message{}
}

func (a *App) count(t *testing.T, text string) int64 {
	t.Helper()
	n, err := sqldb.Value[int64](t.Context(), a.DB, text)
	housetest.Must(t, err)
	return n
}
