package panel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/reminder/evolution"
	"carteira/internal/reminder/logchannel"
	"carteira/internal/reminder/poster"
	"carteira/internal/reminder/smtp"
	"carteira/internal/reminder/whatsapp"
	"carteira/internal/web/panel/kit"
)

// pigeon is a channel that answers as its option says.
var pigeon = reminder.Kind{
	Name: "pigeon", Title: "Pigeon", Reach: reminder.ByWhatsapp,
	Options: []reminder.Option{{Name: "mood"}, {Name: "instance"}, {Name: "token", Secret: true}},
	Open: func(options map[string]string, _ reminder.Env) (reminder.Sender, error) {
		return flight(options["mood"]), nil
	},
	Phone: func(options map[string]string, _ reminder.Env) (reminder.PhoneLink, error) {
		return loft(options["mood"]), nil
	},
}

// loft is the pigeon's phone, in the state that its mood names.
type loft string

func (l loft) Look(context.Context) (reminder.Phone, error) {
	switch l {
	case "wild":
		return reminder.Phone{}, l.Connect(context.Background())
	case "hatching":
		return reminder.Phone{State: reminder.PhoneWaiting}, nil
	case "calling":
		return reminder.Phone{State: reminder.PhoneWaiting, Code: "2@<scan>"}, nil
	case "home":
		return reminder.Phone{State: reminder.PhoneConnected, Number: "5511987654321"}, nil
	case "empty":
		return reminder.Phone{State: reminder.PhoneMissing, Instances: []string{"a <b>"}}, nil
	}
	return reminder.Phone{State: reminder.PhoneAway}, nil
}

func (l loft) Connect(context.Context) error {
	if l == "wild" {
		return &reminder.Refusal{Reason: "the bridge answered 502"}
	}
	return nil
}

func (loft) Disconnect(context.Context) error { return nil }

type flight string

func (f flight) Send(context.Context, reminder.Letter) (string, error) {
	switch f {
	case "lost":
		return "", errors.New("it was seen no more")
	case "wild":
		return "", &reminder.Refusal{Reason: "the number is not on WhatsApp"}
	}
	return "feather", nil
}

// links stand for the payment room, which has a room of its own for tests.
type links struct{}

func (links) PaymentLink(_ context.Context, _ account.Actor, id int64) (string, error) {
	return fmt.Sprintf("https://carteira.example/pay/%d", id), nil
}

func (links) PixCode(context.Context, account.Actor, int64) (string, error) { return "00020126", nil }

func (links) DebitOn(context.Context, account.Actor, int64) (civil.Date, error) {
	return civil.Date{}, nil
}
func (links) Picture(string) ([]byte, error) { return nil, nil }

func newReminders(db *sqldb.DB, box *secret.Box, accounts *account.Service, customers *customer.Service) *reminder.Service {
	gate := outbound.NewGate(nil, nil)
	service := reminder.New(db, box, accounts, customers, reminder.Options{
		Kinds: []reminder.Kind{whatsapp.Kind, evolution.NewKind(), smtp.Kind, poster.Kind, logchannel.Kind, pigeon},
		Env:   reminder.Env{Gate: gate, WebhookGate: gate, Log: slog.New(slog.DiscardHandler)}, Links: links{},
	})
	accounts.Watch(service.CompanyChanged)
	return service
}

// fillMessages gives a company a channel, a template, a rule and a message that
// is scheduled for a customer.
func (p *person) fillMessages(customerID int64) map[string]int64 {
	p.t.Helper()
	ctx, actor := p.t.Context(), p.actor
	channel, _, err := p.Reminders.CreateChannel(ctx, actor, p.Reminders.ReadNewChannel(values("kind", "pigeon", "name", "Pombo", "token", "very-secret")))
	if err != nil {
		p.t.Fatal(err)
	}
	template, err := p.Reminders.CreateTemplate(ctx, actor, reminder.ReadNewTemplate(values("name", "Lembrete", "text", "Olá {nome}: {link_pagamento}")))
	if err != nil {
		p.t.Fatal(err)
	}
	rule, err := p.Reminders.CreateRule(ctx, actor, reminder.ReadNewRule(values("name", "No dia", "active", "true", "offset_days", "0", "hour", "10:00",
		"template_id", kit.IDText(template.ID), "channels", kit.IDText(channel.ID))))
	if err == nil {
		_, err = p.Reminders.Plan(ctx)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	list, _, err := p.Reminders.Messages(ctx, actor, reminder.Filter{CustomerID: customerID}, input.Page{Number: 1, Size: 1})
	if err != nil || len(list) != 1 {
		p.t.Fatalf("%v, %v: nothing is scheduled", list, err)
	}
	round, err := p.Reminders.SendRound(ctx, actor, reminder.RoundDraft{Customers: []int64{customerID}, Channels: []int64{channel.ID}})
	if err == nil { // the tests of messages send what the rule planned
		err = p.DB.Write(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE reminder_messages SET status = 'skipped', updated_at = 0 WHERE company_id = ? AND rule_id = ?`, actor.Company.ID, round.ID)
			return err
		})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return map[string]int64{"messages/rounds": round.ID, "messages/channels": channel.ID, "messages/templates": template.ID, "messages/rules": rule.ID, "messages/log": list[0].ID}
}

// send lets the engine work until a message is out of its hands.
func (p *person) send(messageID int64) reminder.Message {
	p.t.Helper()
	p.clock.Set(noon.Add(70 * time.Minute)) // 10:10 in São Paulo
	ctx, stop := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Reminders.Run(ctx, slog.New(slog.DiscardHandler))
	}()
	defer func() { stop(); <-done }()
	for {
		m, _, err := p.Reminders.FindMessage(p.t.Context(), p.actor, messageID)
		if err != nil {
			p.t.Fatal(err)
		}
		if m.Status != reminder.Scheduled && m.Status != reminder.Sending {
			return m
		}
	}
}

func TestTemplateIsWrittenPreviewedAndSaved(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/messages/templates").want(t, 200, "Nenhum modelo ainda")
		person.get("/messages/templates/new").want(t, 200, `data-insert="{primeiro_nome}"`, `data-insert="{link_pagamento}"`)
		words := []string{"name", "Aviso", "subject", "Vence {vencimento}", "text", "Oi {primeiro_nome}, pague {valor} em {link_pagamento}"}
		person.post("/messages/templates/preview", words...).want(t, 200, "Ninguém encontrado", "Oi {primeiro_nome}")
		ids := person.fill()
		_, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Zélia Prado", "data_de_vencimento", "2026-05-01")))
		if err != nil {
			t.Fatal(err)
		}
		person.post("/messages/templates/preview", append(words, "preview_search", "silva")...).want(t, 200,
			"Vence 31/01/2026", "Oi João, pague R$ 35,00 em https://carteira.example/pay/"+fmt.Sprint(ids["invoices"]), "Para João &lt;Silva&gt;", `value="Aviso"`)
		person.post("/messages/templates/preview", append(words, "preview_search", "zélia")...).want(t, 200,
			"não há fatura em aberto", "Uma mensagem assim não seria enviada")
		person.post("/messages/templates/preview", append(words, "preview_customer", fmt.Sprint(ids["customers"]))...).want(t, 200, "Oi João")
		bad := []string{"name", "Aviso", "text", "Oi {primero_nome}"}
		person.post("/messages/templates/preview", bad...).want(t, 422, "{primero_nome} não é uma variável; você quis dizer {primeiro_nome}?", "Corrija primeiro")
		person.post("/messages/templates/new", bad...).want(t, 422, "você quis dizer {primeiro_nome}?", `value="Aviso"`, "Oi {primero_nome}")
		person.follow("/messages/templates/new", words...).want(t, 200, "O modelo Aviso foi salvo", "Nenhuma regra o envia")
		path := templatePath(ids["messages/templates"])
		person.post("/messages/templates/preview", "template_id", kit.IDText(ids["messages/templates"]), "name", "Lembrete", "text", "Novo").want(t, 200, `action="`+path+`"`)
		person.follow(path, "name", "Lembrete", "text", "Novo texto", "whatsapp_params", "{nome}\r\n{valor}").want(t, 200, "O modelo Lembrete foi salvo", "Novo texto")
		person.get(path).want(t, 200, "{nome}\n{valor}")
		person.follow(path+"/delete").want(t, 200, "usa este modelo")
		office.owner(t, "other@example.com").post("/messages/templates/preview", "template_id", kit.IDText(ids["messages/templates"]), "text", "x").want(t, 404)
	})
}

func TestRuleIsMadeSwitchedAndDeleted(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/messages").want(t, 200, "Conecte um canal", "Escreva um modelo")
		person.get("/messages/rules/new").want(t, 200, "Ainda não há canal")
		ids := person.fill()
		second, _, err := person.Reminders.CreateChannel(t.Context(), person.actor, person.Reminders.ReadNewChannel(values("kind", "log", "name", "Reserva")))
		if err != nil {
			t.Fatal(err)
		}
		rule := func(pairs ...string) []string {
			return append([]string{
				"name", "Três dias", "offset_days", "3", "side", "before", "hour", "07:00", "template_id", kit.IDText(ids["messages/templates"]),
				"channel_1", kit.IDText(ids["messages/channels"]), "channel_2", kit.IDText(second.ID), "active", "false", "active", "true", "plan_id", kit.IDText(ids["plans"]),
			}, pairs...)
		}
		person.follow("/messages/rules/new", rule()...).want(t, 200, "A regra Três dias está ligada",
			"3 dias antes do vencimento, às 07:00, por Pombo (se não der, Reserva), para clientes do plano Mensal.", "a mensagem sai às 08:00")
		for _, c := range []struct{ pairs, want []string }{
			{[]string{"offset_days", "90"}, []string{"entre -60 e 60"}},
			{[]string{"hour", "25:99"}, []string{"hora do dia"}},
			{[]string{"status", "Vencido"}, []string{"nunca acontece: no dia desta regra o cliente está como Ativo"}},
			{[]string{"channel_1", "", "channel_2", ""}, []string{"é obrigatório"}},
			{[]string{"template_id", "999999"}, []string{"não é um modelo da empresa"}},
			{[]string{"channel_1", "999999"}, []string{"999999 não é um canal da empresa"}},
		} {
			answer := person.post("/messages/rules/new", overwrite(rule("name", "Quatro"), c.pairs...)...)
			answer.want(t, 422, append(c.want, `value="Quatro"`)...)
		}
		path := rulePath(ids["messages/rules"])
		person.get(path).want(t, 200, `value="No dia"`, `value="10:00"`)
		person.follow(path, "name", "Na véspera", "offset_days", "1", "side", "before", "hour", "10:00", "plan_id", "", "product_id", "", "status", "",
			"template_id", kit.IDText(ids["messages/templates"]), "channel_1", kit.IDText(second.ID), "active", "true").
			want(t, 200, "A regra Na véspera foi salva", "1 dia antes do vencimento, às 10:00, por Reserva, para todos os clientes.")
		person.follow(path+"/active", "active", "false").want(t, 200, "A regra Na véspera está desligada")
		person.follow(path+"/active", "active", "true").want(t, 200, "A regra Na véspera está ligada")
		person.get(path+"/delete").want(t, 200, "Excluir a regra Na véspera?", "não será enviado")
		person.follow(path+"/delete").want(t, 200, "A regra foi excluída")
		person.get(path).want(t, 404)
		person.get("/settings/audit").want(t, 200, "Regra de mensagens excluída", "Regra de mensagens criada")
	})
}

func TestRuleForReceiptsIsMadeWithoutADay(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.get("/messages/rules/new").want(t, 200, `href="/messages/rules/new?on=paid"`, `name="offset_days"`).lacks(t, `name="on"`)
		person.get("/messages/rules/new?on=paid").want(t, 200, "dez minutos depois", `name="on" value="paid"`, "Faturas pagas hoje: 0.").
			lacks(t, `name="offset_days"`, `name="status"`, `name="hour"`)
		rule := []string{
			"name", "Recibo", "on", "paid", "template_id", kit.IDText(ids["messages/templates"]),
			"channel_1", kit.IDText(ids["messages/channels"]), "active", "true",
		}
		person.post("/messages/rules/new", overwrite(rule, "template_id", "999999")...).want(t, 422, "não é um modelo da empresa", `value="Recibo"`, `value="paid"`)
		person.follow("/messages/rules/new", rule...).want(t, 200, "envia um recibo para cada fatura paga",
			"Quando uma fatura é paga, por Pombo, para todos os clientes.").lacks(t, "a mensagem sai às")
		list, err := person.Reminders.Rules(t.Context(), person.actor)
		if err != nil {
			t.Fatal(err)
		}
		path := rulePath(list[len(list)-1].ID)
		person.get(path).want(t, 200, `value="Recibo"`, `name="on" value="paid"`).lacks(t, `name="offset_days"`)
		person.follow(path, overwrite(rule, "name", "Comprovante")...).want(t, 200, "A regra Comprovante foi salva")
		person.follow(path+"/active", "active", "false").want(t, 200, "A regra Comprovante está desligada")
		person.follow(path+"/active", "active", "true").want(t, 200, "envia um recibo para cada fatura paga")
		person.post(rulePath(ids["messages/rules"]), rule...).want(t, 422, "crie outra regra")
	})
}

// overwrite replaces values of names that are there.
func overwrite(pairs []string, with ...string) []string {
	out := append([]string{}, pairs...)
	for i := 0; i < len(with); i += 2 {
		for j := 0; j < len(out); j += 2 {
			if out[j] == with[i] {
				out[j+1] = with[i+1]
			}
		}
		if !strings.Contains(strings.Join(pairs, " ")+" ", with[i]+" ") {
			out = append(out, with[i], with[i+1])
		}
	}
	return out
}

func TestChannelIsMadeTriedAndItsSecretNeverShown(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/messages/channels").want(t, 200, "Nenhum canal ainda")
		person.get("/messages/channels/new").want(t, 200, "WhatsApp (Meta)", "caminho oficial", "Evolution", "E-mail (SMTP)", "HTTP")
		person.get("/messages/channels/new?kind=nothing").want(t, 404)
		for _, kind := range person.Reminders.Kinds() {
			person.get("/messages/channels/new?kind="+kind.Name).want(t, 200, `value="`+kind.Name+`"`)
		}
		person.get("/messages/channels/new?kind=smtp").want(t, 200, `value="587"`, "Endereço do remetente")
		person.post("/messages/channels/new", "kind", "smtp", "name", "Correio", "host", "127.0.0.1", "port", "x", "username", "ana", "password", "very-secret", "from", "ana@example.com").
			want(t, 422, "deve ser uma porta como 587", `value="Correio"`, `value="ana"`).lacks(t, "very-secret")
		person.post("/messages/channels/new", "kind", "nothing").want(t, 422)
		made := person.post("/messages/channels/new", "kind", "pigeon", "name", "Pombo", "token", "very-secret", "mood", "wild", "per_minute", "5", "active", "true")
		person.get(made.location).want(t, 200, "O canal Pombo foi salvo. Agora conecte o celular")
		path := strings.TrimSuffix(made.location, "/phone")
		person.get(path).want(t, 200, "guardado com criptografia", "wild").lacks(t, "very-secret")
		person.post(path+"/test", "to", "x").want(t, 422, "deve ser um telefone")
		person.post(path+"/test", "to", "11987654321").want(t, 200, "O teste não foi aceito", "o número não está no WhatsApp")
		person.get(path+"/edit").want(t, 200, "continua como está", `value="wild"`).lacks(t, "very-secret")
		person.follow(path+"/edit", "name", "Pombo manso", "mood", "tame", "token", "", "per_minute", "0").want(t, 200, "Pombo manso", "o mais rápido possível")
		person.post(path+"/test", "to", "11987654321").want(t, 200, "O teste foi aceito", "feather")
		person.follow(path+"/active", "active", "false").want(t, 200, "está desligado")
		person.get(path+"/delete").want(t, 200, "Excluir o canal Pombo manso?", "As credenciais dele são apagadas")
		person.follow(path+"/delete").want(t, 200, "O canal foi excluído")
		person.get("/settings/audit").want(t, 200, "Canal alterado").lacks(t, "very-secret")
	})
}

func TestSecretThatIsMadeIsShownOnce(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	person.post("/messages/channels/new", "kind", "http", "name", "Nosso", "url", "https://127.0.0.1/x").want(t, 422, "name=\"url\"")
	person.post("/messages/channels/new", "kind", "http", "name", "Nosso", "url", "https://203.0.114.7/x").want(t, 200, "O canal está pronto", "whsec_", "não será mostrado de novo")
	person.get("/messages/channels").want(t, 200, "Nosso").lacks(t, "whsec_")
	person.get(channelPath(1)).want(t, 200).lacks(t, "whsec_")
}

func TestMessageInDoubtIsDecided(t *testing.T) {
	for decision, said := range map[string]string{"sent": "conta como enviada", "dismiss": "foi dispensada", "resend": "enviada de novo em instantes"} {
		t.Run(decision, func(t *testing.T) {
			inOffice(t, func(t *testing.T, office *office) {
				person := office.owner(t, "ana@example.com")
				ids := person.fill()
				id := ids["messages/log"]
				path := "/messages/log/" + kit.IDText(id)
				person.get(path).want(t, 200, "Agendada", "para 31/01/2026 10:00", "O que seria enviado agora", "https://carteira.example/pay/", "O texto é feito na hora do envio")
				person.post(path+"/decide", "as", decision) // not yet
				person.get("/").want(t, 200, "não pode ser decidida assim").lacks(t, "pode ou não ter sido enviada")
				person.mood(ids["messages/channels"], "lost")
				if m := person.send(id); m.Status != reminder.Unknown {
					t.Fatalf("it is %s", m.Status)
				}
				person.get("/").want(t, 200, "1 mensagem pode ou não ter sido enviada", "/messages/log?status=unknown")
				person.get("/messages/log?status=unknown").want(t, 200, "Em dúvida", "Decidir", "João")
				person.get(path).want(t, 200, "Foi enviada?", "Marcar como enviada", "Enviar de novo", "Deixar de lado", "https://carteira.example/pay/")
				person.follow(path+"/decide", "as", decision).want(t, 200, said)
				person.get("/").want(t, 200).lacks(t, "pode ou não ter sido enviada")
				person.get("/settings/audit").want(t, 200, "Decisão sobre uma mensagem")
				person.follow(path+"/decide", "as", "nonsense").want(t, 200, "não pode ser decidida assim")
			})
		})
	}
}

// mood has the channel answer in another way.
func (p *person) mood(channelID int64, mood string) {
	p.t.Helper()
	draft := reminder.ChannelDraft{Options: map[string]input.Opt[string]{"mood": input.Some(mood)}}
	if _, err := p.Reminders.UpdateChannel(p.t.Context(), p.actor, channelID, draft); err != nil {
		p.t.Fatal(err)
	}
}

func TestWhatFailedIsTriedAgainAndAFailingChannelIsTold(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.mood(ids["messages/channels"], "wild")
		id := ids["messages/log"]
		path := "/messages/log/" + kit.IDText(id)
		for range 3 {
			if m := person.send(id); m.Status != reminder.Failed {
				t.Fatalf("it is %s", m.Status)
			}
			person.follow(path+"/decide", "as", "resend", "back", "/messages/log?status=failed").want(t, 200, "enviada de novo em instantes")
		}
		person.send(id)
		person.get("/messages/log?status=failed").want(t, 200, "Não enviada", "o canal recusou: o número não está no WhatsApp", "Tentar de novo")
		person.get(path).want(t, 200, "Recusada", "Tentar de novo")
		person.get("/").want(t, 200, "As mensagens não estão saindo por Pombo", channelPath(ids["messages/channels"]))
		person.get("/messages/channels").want(t, 200, "Falhando", "o número não está no WhatsApp")
		person.get(channelPath(ids["messages/channels"])).want(t, 200, "As últimas 4 tentativas falharam")
		staff, reader := person.colleague(account.RoleStaff), person.colleague(account.RoleReadOnly)
		staff.get("/").want(t, 200, "As mensagens não estão saindo por Pombo").lacks(t, channelPath(ids["messages/channels"]))
		reader.get("/").want(t, 200).lacks(t, "As mensagens não estão saindo")
		for _, page := range []string{"/messages", "/messages/templates", "/messages/log", path} {
			reader.get(page).want(t, 200)
			if strings.Contains(unarranged(reader.get(page).body), `method="post"`) {
				t.Errorf("%s offers forms to those who only read", page)
			}
		}
		person.mood(ids["messages/channels"], "tame")
		person.get("/").want(t, 200).lacks(t, "As mensagens não estão saindo")
	})
}

func TestCustomersPageHasItsMessagesAndStopsThem(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		path := customerPath(ids["customers"])
		person.get(path).want(t, 200, "No dia", "Agendada", "para 31/01/2026 10:00", "Parar as mensagens")
		person.follow(path+"/messages", "opted_out", "true").want(t, 200, "não recebe mais mensagens", "Este cliente não quer mensagens", "Voltar a enviar")
		if m := person.send(ids["messages/log"]); m.Status != reminder.Skipped {
			t.Errorf("it is %s", m.Status)
		}
		person.get(path).want(t, 200, "Pulada", "não quer mensagens")
		person.get(fmt.Sprintf("/messages/log?customer_id=%d", ids["customers"])).want(t, 200, "Para João", "Pulada")
		person.get("/messages/log?customer_id=999999").want(t, 404)
		person.get("/messages/log?status=nonsense&due_from=x").want(t, 200, "João")
		person.get("/messages/log?status=sent").want(t, 200, "Nenhuma corresponde")
		person.follow(path+"/messages", "opted_out", "false").want(t, 200, "volta a receber")
		person.get(path).want(t, 200, "Mensagens a um cliente")
	})
}

func TestQuietHoursAreSet(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/messages/quiet").want(t, 200, `value="21:00"`, `value="08:00"`)
		person.post("/messages/quiet", "quiet_from", "", "quiet_to", "x").want(t, 422, "não pode ficar vazio", "hora do dia", `value="x"`)
		person.follow("/messages/quiet", "quiet_from", "20:00", "quiet_to", "09:30").want(t, 200, "Das 20:00 às 09:30 nada é enviado", `value="09:30"`)
		person.follow("/messages/quiet", "quiet_from", "09:00", "quiet_to", "09:00").want(t, 200, "Não há horário de silêncio")
	})
}

func TestCompanyWithoutMessagesHasNoPagesOfThem(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		lacking := func(subscription *account.Subscription) {
			subscription.Functions = account.FunctionsOf(account.FunctionAPI)
		}
		person.subscribe(lacking)
		for _, route := range office.table() {
			if !strings.HasPrefix(route.Path, "/messages") && route.Path != "/customers/{id}/messages" {
				continue
			}
			if route.Function != reminders {
				t.Errorf("%s does not ask for the function", route.Pattern())
			}
			answer := person.get(filled(route, ids))
			if route.Method == http.MethodPost {
				answer = person.post(filled(route, ids), forms[route.Pattern()]...)
			}
			answer.want(t, 403)
		}
		person.get("/").want(t, 200, "não está no seu plano").lacks(t, "/messages/log")
		person.get(customerPath(ids["customers"])).want(t, 200).lacks(t, `id="messages"`)
		if m := person.send(ids["messages/log"]); m.Status != reminder.Skipped || !strings.Contains(m.Reason, "does not include messages") {
			t.Errorf("it is %s: %s", m.Status, m.Reason)
		}
		person.subscribe(func(subscription *account.Subscription) {
			subscription.Functions, subscription.ExpiresOn = account.EveryFunction, civil.Of(noon.AddDate(0, 0, -2))
		})
		person.get("/messages").want(t, 200)
		person.post(rulePath(ids["messages/rules"])+"/active", "active", "true").want(t, 403)
	})
}

// subscribe changes the company's subscription.
func (p *person) subscribe(change func(*account.Subscription)) {
	p.t.Helper()
	err := p.DB.Write(p.t.Context(), func(tx *sqldb.Tx) error {
		before, err := account.FindCompany(p.t.Context(), tx, p.actor.Company.ID)
		if err != nil {
			return err
		}
		after := before
		change(&after.Subscription)
		return p.Accounts.SaveTx(p.t.Context(), account.System(before, "test").In(tx), &account.Change{
			Action: account.CompanyUpdated, Before: account.Profile{Company: before}, After: account.Profile{Company: after},
		})
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func rulePath(id int64) string { return "/messages/rules/" + kit.IDText(id) }
