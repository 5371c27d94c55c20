package reminder

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

func TestUnknownVariableIsRefusedWhenSaved(t *testing.T) {
	house := newHouse(t, sqldb.SQLite)
	for text, want := range map[string]string{
		"Olá {nmae}":               "did you mean {name}?",
		"Olá {Vencimentos}":        "did you mean {vencimento}?",
		"{zzz}":                    "{zzz} is no variable; there are {name}",
		"{}":                       "is no variable",
		"Olá {name":                "has a { that belongs to no variable",
		"Olá name}":                "has a } that belongs to no variable",
		strings.Repeat("x", 3e3+1): "at most 3000",
	} {
		_, err := house.CreateTemplate(t.Context(), house.actor, ReadNewTemplate(values("name", "x", "text", text)))
		wantField(t, err, "text", want)
	}
	_, err := house.CreateTemplate(t.Context(), house.actor, ReadNewTemplate(values("name", "x", "text", "ok", "subject", "{nomi}", "whatsapp_params", "{nomi}", "whatsapp_name", "Olá")))
	wantField(t, err, "subject", "did you mean {nome}?")
	wantField(t, err, "whatsapp_params", "did you mean {nome}?")
	wantField(t, err, "whatsapp_name", "small letters")
	house.options.Links = nil
	_, err = house.CreateTemplate(t.Context(), house.actor, ReadNewTemplate(values("name", "x", "text", "{pix}")))
	wantField(t, err, "text", "needs payments")
}

func TestMessageNamesWhatIsToPayOnItsDay(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		plan := number(house.plan("100.00"))
		customer, own := house.customer("2026-01-31", "plan_id", plan), house.customer("2026-01-31", "plan_id", plan, "price", "0.00")
		company, err := house.accounts.SetCompany(t.Context(), account.Operator(house.actor.Company), account.ReadCompanyDraft(values(
			"late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")))
		must(t, err)
		house.actor.Company = company
		const text = "{valor} = {valor_original} + {encargos} - {desconto}"
		says := func(customerID int64, want string) {
			t.Helper()
			preview, err := house.preview(house.actor, 0, customerID, values("text", text, "name", "x"))
			if err != nil || preview.Text != want {
				t.Errorf("%q, %v; want %q", preview.Text, err, want)
			}
		}
		says(customer.ID, "R$ 95,00 = R$ 100,00 + R$ 0,00 - R$ 5,00")
		says(own.ID, "R$ 0,00 = R$ 0,00 + R$ 0,00 - R$ 0,00") // the customer's own price, not the plan's
		house.clock.Set(time.Date(2026, 2, 10, 15, 0, 0, 0, time.UTC))
		says(customer.ID, "R$ 102,33 = R$ 100,00 + R$ 2,33 - R$ 0,00")
		_, err = house.billing.SetStatus(t.Context(), house.actor, 1, billing.ReadStatusChange(values("status", "Pago", "amount", "60.00", "difference", "partial")))
		must(t, err)
		says(customer.ID, "R$ 42,33 = R$ 100,00 + R$ 2,33 - R$ 0,00")
	})
}

func TestEveryVariableIsFilled(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		plan := number(house.plan("1234.50"))
		customer := house.customer("2026-01-24", "plan_id", plan, "usuario", "ana.s", "name", "Ana Paula Souza")
		var text, want strings.Builder
		for _, variable := range Variables {
			text.WriteString("{" + variable.Name + "}|{" + variable.Local + "}\n")
			filled := map[string]string{
				"name": "Ana Paula Souza", "first_name": "Ana", "plan": "Mensal", "value": "R$ 1.234,50", "original_value": "R$ 1.234,50", "late_charges": "R$ 0,00", "discount": "R$ 0,00", "due_date": "24/01/2026", "login": "ana.s",
				"company": "Rede Clara", "payment_link": "https://example.com/pay/1", "pix_code": "PIX1",
			}[variable.Name]
			want.WriteString(filled + "|" + filled + "\n")
		}
		id := house.template(text.String()+"{{name}}", "subject", "Vence {due_date}", "whatsapp_name", "lembrete", "whatsapp_params", "{name}\n{value}")
		preview, err := house.preview(house.actor, id, customer.ID, values())
		must(t, err)
		if preview.Text != want.String()+"{name}" || preview.Subject != "Vence 24/01/2026" || strings.Join(preview.Params, ",") != "Ana Paula Souza,R$ 1.234,50" || preview.Problem != "" {
			t.Errorf("preview %+v, want %q", preview, want.String())
		}
		preview, err = house.preview(house.actor, id, customer.ID, values("text", "Tchau {nome}"))
		must(t, err)
		if preview.Text != "Tchau Ana Paula Souza" {
			t.Errorf("preview of words that are not saved: %q", preview.Text)
		}
		preview, err = house.preview(house.actor, 0, house.customer("2026-01-24").ID, values("text", "{pix}", "name", "x"))
		must(t, err)
		if preview.Problem != "no open invoice for this due date" {
			t.Errorf("problem %q", preview.Problem)
		}
		_, err = house.preview(house.actor, id, 999, values())
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestWhatARuleUsesIsNotDeleted(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		wantKind(t, house.DeleteTemplate(t.Context(), house.actor, rule.TemplateID), fault.KindConflict)
		wantKind(t, house.DeleteChannel(t.Context(), house.actor, rule.Channels[1]), fault.KindConflict)
		must(t, house.DeleteRule(t.Context(), house.actor, rule.ID))
		must(t, house.DeleteTemplate(t.Context(), house.actor, rule.TemplateID))
		must(t, house.DeleteChannel(t.Context(), house.actor, rule.Channels[1]))
		for _, err := range []error{
			house.DeleteRule(t.Context(), house.actor, rule.ID), house.DeleteTemplate(t.Context(), house.actor, rule.TemplateID), house.DeleteChannel(t.Context(), house.actor, rule.Channels[1]),
		} {
			wantKind(t, err, fault.KindNotFound)
		}
	})
}

// Another company's records are as if they were not there.
func TestCompaniesAreApart(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		customer := house.customer("2026-01-24")
		other := house.company("UTC")
		for name, err := range map[string]error{
			"rule":     house.DeleteRule(t.Context(), other, rule.ID),
			"template": house.DeleteTemplate(t.Context(), other, rule.TemplateID),
			"channel":  house.DeleteChannel(t.Context(), other, rule.Channels[0]),
			"opt-out":  house.SetOptOut(t.Context(), other, customer.ID, true),
			"test":     second(house.sendTest(other, rule.Channels[0], values("to", "11987654321"))),
			"preview":  second(house.preview(other, rule.TemplateID, customer.ID, values())),
			"update":   second(house.UpdateRule(t.Context(), other, rule.ID, ReadRuleChanges(values("name", "x")))),
			"words":    second(house.UpdateTemplate(t.Context(), other, rule.TemplateID, ReadTemplateChanges(values("name", "x")))),
			"options":  second(house.changeChannel(other, rule.Channels[0], values("name", "x"))),
		} {
			if fault.KindOf(err) != fault.KindNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := house.CreateRule(t.Context(), other, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9", "template_id", number(rule.TemplateID), "channels", number(rule.Channels[0]))))
		wantField(t, err, "template_id", "not a template")
		wantField(t, err, "channels", "not a channel")
		for _, list := range []func() (int, error){
			func() (int, error) { l, err := house.Rules(t.Context(), other); return len(l), err },
			func() (int, error) { l, err := house.Templates(t.Context(), other); return len(l), err },
			func() (int, error) { l, err := house.Channels(t.Context(), other); return len(l), err },
			func() (int, error) {
				l, _, err := house.Messages(t.Context(), other, Filter{}, input.Page{Number: 1, Size: 50})
				return len(l), err
			},
		} {
			if n, err := list(); n != 0 || err != nil {
				t.Errorf("it sees %d, %v", n, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestSecretsOfChannelsAreSealed(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		id := house.channel("zap", "token", "hunter2-hunter2", "region", "br")
		channel, err := house.FindChannel(t.Context(), house.actor, id)
		must(t, err)
		if channel.Options["token"] != "" || channel.Options["region"] != "br" || strings.Contains(channel.sealed, "hunter2") {
			t.Errorf("options %v, sealed %s", channel.Options, channel.sealed)
		}
		_, err = house.changeChannel(house.actor, id, values("region", "", "token", "", "name", "Novo", "per_minute", "7", "active", "false"))
		must(t, err)
		channel, err = house.FindChannel(t.Context(), house.actor, id)
		must(t, err)
		secrets, err := house.open(channel)
		must(t, err)
		if secrets["token"] != "hunter2-hunter2" || len(channel.Options) != 0 || channel.Name != "Novo" || channel.PerMinute != 7 || channel.Active {
			t.Errorf("%+v with %v: a secret that is not given stays, an option that is emptied goes", channel, secrets)
		}
		newKey := secret.NewKey()
		house.Service.box = secret.NewBox(newKey, house.oldKey(t))
		must(t, house.Reseal(t.Context()))
		house.Service.box = secret.NewBox(newKey)
		channel, err = house.FindChannel(t.Context(), house.actor, id)
		must(t, err)
		if secrets, err := house.open(channel); err != nil || secrets["token"] != "hunter2-hunter2" {
			t.Errorf("after a change of key: %v, %v", secrets, err)
		}
		_, _, err = house.CreateChannel(t.Context(), house.actor, house.ReadNewChannel(values("kind", "pigeon")))
		wantField(t, err, "kind", "must be one of: zap, mail, own")
	})
}

// oldKey seals all channels with a key that the test knows.
func (h *house) oldKey(t *testing.T) secret.Key {
	t.Helper()
	key := secret.NewKey()
	list, err := h.Channels(t.Context(), h.actor)
	must(t, err)
	for _, channel := range list {
		secrets, err := h.open(channel)
		must(t, err)
		h.Service.box = secret.NewBox(key)
		h.exec(`UPDATE reminder_channels SET secrets = ? WHERE id = ?`, h.seal(channel.ID, secrets), channel.ID)
	}
	return key
}

func TestTestOfAChannel(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		zap := house.channel("zap", "active", "false")
		result, err := house.sendTest(house.actor, zap, values("to", "(11) 98765-4321"))
		must(t, err)
		if got := house.carrier.taken(); !result.Sent || len(got) != 1 || got[0].To != "5511987654321" || !strings.Contains(got[0].Text, "Rede Clara") || !got[0].Test {
			t.Errorf("%+v, sent %+v", result, got)
		}
		house.carrier.answers(refusing)
		result, err = house.sendTest(house.actor, zap, values("to", "11987654321", "template_id", number(house.template("Olá {nome} {vencimento}"))))
		must(t, err)
		if result.Sent || result.Problem != "not a number of ours" {
			t.Errorf("%+v", result)
		}
		_, err = house.sendTest(house.actor, zap, values("to", "nobody"))
		wantField(t, err, "to", "phone number")
		if n := len(house.log()); n != 0 {
			t.Errorf("a test left %d messages", n)
		}
	})
}

func TestLogIsFilteredAndPaged(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		rule := house.usual()
		var last int64
		for range 5 {
			last = house.customer("2026-01-24").ID
		}
		house.customer("2026-01-24", "whatsapp", "", "email", "")
		house.work()
		house.at("2026-01-21 09:00")
		house.work()
		house.customer("2026-01-25")
		for name, tt := range map[string]struct {
			f    *input.Form
			want int64
		}{
			"all": {values(), 7}, "sent": {values("status", "sent"), 5}, "skipped": {values("status", "skipped"), 1}, "scheduled": {values("status", "scheduled"), 1},
			"of a customer": {values("customer_id", number(last)), 1}, "of a rule": {values("rule_id", number(rule.ID)), 7}, "of a channel": {values("channel_id", "999"), 0},
			"by date": {values("due_from", "2026-01-25", "due_to", "2026-01-25"), 1},
		} {
			list, n, err := house.Messages(t.Context(), house.actor, ReadFilter(tt.f), input.Page{Number: 1, Size: 3})
			must(t, err)
			if n != tt.want || int64(len(list)) != min(3, tt.want) {
				t.Errorf("%s: %d of %d, want %d", name, len(list), n, tt.want)
			}
		}
		house.clock.Advance(366 * 24 * time.Hour)
		must(t, house.Prune(t.Context()))
		if list := house.log(); len(list) != 1 || list[0].Status != Scheduled {
			t.Errorf("after a year there are %+v", list)
		}
	})
}

func TestTemplateOfMetaHasNamesHeaderAndButton(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.options.Kinds[0].Approved = true
		zap := house.channel("zap")
		id := house.template("Olá", "whatsapp_name", "vencimento", "whatsapp_params", "{{nome}} = {first_name}\n{{quanto}}={value}", "whatsapp_header", "{company}", "whatsapp_button", "{login}")
		kept, err := house.FindTemplate(t.Context(), house.actor, id)
		if err != nil || kept.Approved.Header != "{company}" || kept.Approved.Button != "{login}" || len(kept.Approved.Params) != 2 {
			t.Errorf("%+v, %v", kept.Approved, err)
		}
		house.remind(-3, "09:00", id, zap)
		house.customer("2026-01-24", "name", "Ana Maria", "login", "ana.m")
		house.work()
		house.at("2026-01-21 09:00")
		house.work()
		got := house.carrier.taken()
		if len(got) != 1 || strings.Join(got[0].Template.Names, ",") != "nome,quanto" || got[0].Template.Params[0] != "Ana" ||
			got[0].Template.Header != house.actor.Company.Name || got[0].Template.Button == "" {
			t.Errorf("%+v", got)
		}
		_, err = house.UpdateTemplate(t.Context(), house.actor, id, ReadTemplateChanges(values("whatsapp_params", "{{nome}} = {name}\n{value}", "whatsapp_button", "{nomi}")))
		wantField(t, err, "whatsapp_params", "must all have a name, or none")
		wantField(t, err, "whatsapp_button", "did you mean {nome}?")
		changed, err := house.UpdateTemplate(t.Context(), house.actor, id, ReadTemplateChanges(values("whatsapp_header", "", "whatsapp_button", "")))
		if err != nil || changed.Approved.Header != "" || len(changed.Approved.Params) != 2 {
			t.Errorf("%+v, %v", changed.Approved, err)
		}
	})
}

func TestTemplateOfMetaKeepsItsName(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.options.Kinds[0].Approved = true
		zap, plain := house.channel("zap"), house.template("Olá")
		_, err := house.CreateRule(t.Context(), house.actor, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9", "template_id", number(plain), "channels", number(zap))))
		wantField(t, err, "template_id", "zap sends only templates that Meta has approved")
		approved := house.template("Olá", "whatsapp_name", "vencimento", "whatsapp_params", "{first_name}")
		house.remind(-3, "09:00", approved, zap)
		_, err = house.UpdateTemplate(t.Context(), house.actor, approved, ReadTemplateChanges(values("whatsapp_name", "")))
		wantField(t, err, "whatsapp_name", "must stay")
		house.customer("2026-01-24", "name", "Ana\u00a0Maria")
		house.work()
		house.at("2026-01-21 09:00")
		house.work()
		got := house.carrier.taken()
		if len(got) != 1 || got[0].Template.Name != "vencimento" || got[0].Template.Language != "pt_BR" || len(got[0].Template.Params) != 1 {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestMomentFollowsTheCompanysClock(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		for _, tt := range []struct{ zone, due, want string }{
			{"America/New_York", "2026-03-11", "2026-03-08T13:00:00Z"}, // the day on which clocks go forward
			{"America/New_York", "2026-03-10", "2026-03-07T14:00:00Z"},
			{"Pacific/Auckland", "2026-03-11", "2026-03-07T20:00:00Z"},
			{"America/Sao_Paulo", "2026-03-11", "2026-03-08T12:00:00Z"},
		} {
			actor := house.company(tt.zone)
			here := *house
			here.actor = actor
			here.usual()
			here.customer(tt.due)
			house.clock.Set(time.Date(2026, 3, 7, 3, 0, 0, 0, time.UTC))
			_, err := house.Plan(t.Context())
			must(t, err)
			if at := here.only().RunAt.UTC().Format(time.RFC3339); at != tt.want {
				t.Errorf("%s, due %s: %s, want %s", tt.zone, tt.due, at, tt.want)
			}
			house.clock.Set(morning)
		}
	})
}
