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
	h := newHouse(t, sqldb.SQLite)
	for text, want := range map[string]string{
		"Olá {nmae}":               "did you mean {name}?",
		"Olá {Vencimentos}":        "did you mean {vencimento}?",
		"{zzz}":                    "{zzz} is no variable; there are {name}",
		"{}":                       "is no variable",
		"Olá {name":                "has a { that belongs to no variable",
		"Olá name}":                "has a } that belongs to no variable",
		strings.Repeat("x", 3e3+1): "at most 3000",
	} {
		_, err := h.CreateTemplate(t.Context(), h.actor, ReadNewTemplate(values("name", "x", "text", text)))
		wantField(t, err, "text", want)
	}
	_, err := h.CreateTemplate(t.Context(), h.actor, ReadNewTemplate(values("name", "x", "text", "ok", "subject", "{nomi}", "whatsapp_params", "{nomi}", "whatsapp_name", "Olá")))
	wantField(t, err, "subject", "did you mean {nome}?")
	wantField(t, err, "whatsapp_params", "did you mean {nome}?")
	wantField(t, err, "whatsapp_name", "small letters")
	h.options.Links = nil
	_, err = h.CreateTemplate(t.Context(), h.actor, ReadNewTemplate(values("name", "x", "text", "{pix}")))
	wantField(t, err, "text", "needs payments")
}

func TestMessageNamesWhatIsToPayOnItsDay(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		plan := number(h.plan("100.00"))
		c, own := h.customer("2026-01-31", "plan_id", plan), h.customer("2026-01-31", "plan_id", plan, "price", "0.00")
		company, err := h.accounts.SetCompany(t.Context(), account.Operator(h.actor.Company), account.ReadCompanyDraft(values(
			"late_fee_percent", "2", "late_interest_percent", "1", "discount_percent", "5")))
		must(t, err)
		h.actor.Company = company
		const text = "{valor} = {valor_original} + {encargos} - {desconto}"
		says := func(customerID int64, want string) {
			t.Helper()
			p, err := h.preview(h.actor, 0, customerID, values("text", text, "name", "x"))
			if err != nil || p.Text != want {
				t.Errorf("%q, %v; want %q", p.Text, err, want)
			}
		}
		says(c.ID, "R$ 95,00 = R$ 100,00 + R$ 0,00 - R$ 5,00")
		says(own.ID, "R$ 0,00 = R$ 0,00 + R$ 0,00 - R$ 0,00") // the customer's own price, not the plan's
		h.clock.Set(time.Date(2026, 2, 10, 15, 0, 0, 0, time.UTC))
		says(c.ID, "R$ 102,33 = R$ 100,00 + R$ 2,33 - R$ 0,00")
		_, err = h.billing.SetStatus(t.Context(), h.actor, 1, billing.ReadStatusChange(values("status", "Pago", "amount", "60.00", "difference", "partial")))
		must(t, err)
		says(c.ID, "R$ 42,33 = R$ 100,00 + R$ 2,33 - R$ 0,00")
	})
}

func TestEveryVariableIsFilled(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		plan := number(h.plan("1234.50"))
		c := h.customer("2026-01-24", "plan_id", plan, "usuario", "ana.s", "name", "Ana Paula Souza")
		var text, want strings.Builder
		for _, v := range Variables {
			text.WriteString("{" + v.Name + "}|{" + v.Local + "}\n")
			filled := map[string]string{
				"name": "Ana Paula Souza", "first_name": "Ana", "plan": "Mensal", "value": "R$ 1.234,50", "original_value": "R$ 1.234,50", "late_charges": "R$ 0,00", "discount": "R$ 0,00", "due_date": "24/01/2026", "login": "ana.s",
				"company": "Rede Clara", "payment_link": "https://example.com/pay/1", "pix_code": "PIX1",
			}[v.Name]
			want.WriteString(filled + "|" + filled + "\n")
		}
		id := h.template(text.String()+"{{name}}", "subject", "Vence {due_date}", "whatsapp_name", "lembrete", "whatsapp_params", "{name}\n{value}")
		p, err := h.preview(h.actor, id, c.ID, values())
		must(t, err)
		if p.Text != want.String()+"{name}" || p.Subject != "Vence 24/01/2026" || strings.Join(p.Params, ",") != "Ana Paula Souza,R$ 1.234,50" || p.Problem != "" {
			t.Errorf("preview %+v, want %q", p, want.String())
		}
		p, err = h.preview(h.actor, id, c.ID, values("text", "Tchau {nome}"))
		must(t, err)
		if p.Text != "Tchau Ana Paula Souza" {
			t.Errorf("preview of words that are not saved: %q", p.Text)
		}
		p, err = h.preview(h.actor, 0, h.customer("2026-01-24").ID, values("text", "{pix}", "name", "x"))
		must(t, err)
		if p.Problem != "no open invoice for this due date" {
			t.Errorf("problem %q", p.Problem)
		}
		_, err = h.preview(h.actor, id, 999, values())
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestWhatARuleUsesIsNotDeleted(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.usual()
		wantKind(t, h.DeleteTemplate(t.Context(), h.actor, r.TemplateID), fault.KindConflict)
		wantKind(t, h.DeleteChannel(t.Context(), h.actor, r.Channels[1]), fault.KindConflict)
		must(t, h.DeleteRule(t.Context(), h.actor, r.ID))
		must(t, h.DeleteTemplate(t.Context(), h.actor, r.TemplateID))
		must(t, h.DeleteChannel(t.Context(), h.actor, r.Channels[1]))
		for _, err := range []error{
			h.DeleteRule(t.Context(), h.actor, r.ID), h.DeleteTemplate(t.Context(), h.actor, r.TemplateID), h.DeleteChannel(t.Context(), h.actor, r.Channels[1]),
		} {
			wantKind(t, err, fault.KindNotFound)
		}
	})
}

// Another company's records are as if they were not there.
func TestCompaniesAreApart(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.usual()
		c := h.customer("2026-01-24")
		other := h.company("UTC")
		for name, err := range map[string]error{
			"rule":     h.DeleteRule(t.Context(), other, r.ID),
			"template": h.DeleteTemplate(t.Context(), other, r.TemplateID),
			"channel":  h.DeleteChannel(t.Context(), other, r.Channels[0]),
			"opt-out":  h.SetOptOut(t.Context(), other, c.ID, true),
			"test":     second(h.sendTest(other, r.Channels[0], values("to", "11987654321"))),
			"preview":  second(h.preview(other, r.TemplateID, c.ID, values())),
			"update":   second(h.UpdateRule(t.Context(), other, r.ID, ReadRuleChanges(values("name", "x")))),
			"words":    second(h.UpdateTemplate(t.Context(), other, r.TemplateID, ReadTemplateChanges(values("name", "x")))),
			"options":  second(h.changeChannel(other, r.Channels[0], values("name", "x"))),
		} {
			if fault.KindOf(err) != fault.KindNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := h.CreateRule(t.Context(), other, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9", "template_id", number(r.TemplateID), "channels", number(r.Channels[0]))))
		wantField(t, err, "template_id", "not a template")
		wantField(t, err, "channels", "not a channel")
		for _, list := range []func() (int, error){
			func() (int, error) { l, err := h.Rules(t.Context(), other); return len(l), err },
			func() (int, error) { l, err := h.Templates(t.Context(), other); return len(l), err },
			func() (int, error) { l, err := h.Channels(t.Context(), other); return len(l), err },
			func() (int, error) {
				l, _, err := h.Messages(t.Context(), other, Filter{}, input.Page{Number: 1, Size: 50})
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
	each(t, func(t *testing.T, h *house) {
		id := h.channel("zap", "token", "hunter2-hunter2", "region", "br")
		c, err := h.FindChannel(t.Context(), h.actor, id)
		must(t, err)
		if c.Options["token"] != "" || c.Options["region"] != "br" || strings.Contains(c.sealed, "hunter2") {
			t.Errorf("options %v, sealed %s", c.Options, c.sealed)
		}
		_, err = h.changeChannel(h.actor, id, values("region", "", "token", "", "name", "Novo", "per_minute", "7", "active", "false"))
		must(t, err)
		c, err = h.FindChannel(t.Context(), h.actor, id)
		must(t, err)
		secrets, err := h.open(c)
		must(t, err)
		if secrets["token"] != "hunter2-hunter2" || len(c.Options) != 0 || c.Name != "Novo" || c.PerMinute != 7 || c.Active {
			t.Errorf("%+v with %v: a secret that is not given stays, an option that is emptied goes", c, secrets)
		}
		newKey := secret.NewKey()
		h.Service.box = secret.NewBox(newKey, h.oldKey(t))
		must(t, h.Reseal(t.Context()))
		h.Service.box = secret.NewBox(newKey)
		c, err = h.FindChannel(t.Context(), h.actor, id)
		must(t, err)
		if secrets, err := h.open(c); err != nil || secrets["token"] != "hunter2-hunter2" {
			t.Errorf("after a change of key: %v, %v", secrets, err)
		}
		_, _, err = h.CreateChannel(t.Context(), h.actor, h.ReadNewChannel(values("kind", "pigeon")))
		wantField(t, err, "kind", "must be one of: zap, mail, own")
	})
}

// oldKey seals all channels with a key that the test knows.
func (h *house) oldKey(t *testing.T) secret.Key {
	t.Helper()
	key := secret.NewKey()
	list, err := h.Channels(t.Context(), h.actor)
	must(t, err)
	for _, c := range list {
		secrets, err := h.open(c)
		must(t, err)
		h.Service.box = secret.NewBox(key)
		h.exec(`UPDATE reminder_channels SET secrets = ? WHERE id = ?`, h.seal(c.ID, secrets), c.ID)
	}
	return key
}

func TestTestOfAChannel(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		zap := h.channel("zap", "active", "false")
		r, err := h.sendTest(h.actor, zap, values("to", "(11) 98765-4321"))
		must(t, err)
		if got := h.carrier.taken(); !r.Sent || len(got) != 1 || got[0].To != "5511987654321" || !strings.Contains(got[0].Text, "Rede Clara") || !got[0].Test {
			t.Errorf("%+v, sent %+v", r, got)
		}
		h.carrier.answers(refusing)
		r, err = h.sendTest(h.actor, zap, values("to", "11987654321", "template_id", number(h.template("Olá {nome} {vencimento}"))))
		must(t, err)
		if r.Sent || r.Problem != "not a number of ours" {
			t.Errorf("%+v", r)
		}
		_, err = h.sendTest(h.actor, zap, values("to", "nobody"))
		wantField(t, err, "to", "phone number")
		if n := len(h.log()); n != 0 {
			t.Errorf("a test left %d messages", n)
		}
	})
}

func TestLogIsFilteredAndPaged(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.usual()
		var last int64
		for range 5 {
			last = h.customer("2026-01-24").ID
		}
		h.customer("2026-01-24", "whatsapp", "", "email", "")
		h.work()
		h.at("2026-01-21 09:00")
		h.work()
		h.customer("2026-01-25")
		for name, tt := range map[string]struct {
			f    *input.Form
			want int64
		}{
			"all": {values(), 7}, "sent": {values("status", "sent"), 5}, "skipped": {values("status", "skipped"), 1}, "scheduled": {values("status", "scheduled"), 1},
			"of a customer": {values("customer_id", number(last)), 1}, "of a rule": {values("rule_id", number(r.ID)), 7}, "of a channel": {values("channel_id", "999"), 0},
			"by date": {values("due_from", "2026-01-25", "due_to", "2026-01-25"), 1},
		} {
			list, n, err := h.Messages(t.Context(), h.actor, ReadFilter(tt.f), input.Page{Number: 1, Size: 3})
			must(t, err)
			if n != tt.want || int64(len(list)) != min(3, tt.want) {
				t.Errorf("%s: %d of %d, want %d", name, len(list), n, tt.want)
			}
		}
		counts, err := h.Counts(t.Context(), h.actor)
		must(t, err)
		if counts[Sent] != 5 || counts[Skipped] != 1 || counts[Scheduled] != 1 {
			t.Errorf("counts %v", counts)
		}
		h.clock.Advance(366 * 24 * time.Hour)
		must(t, h.Prune(t.Context()))
		if list := h.log(); len(list) != 1 || list[0].Status != Scheduled {
			t.Errorf("after a year there are %+v", list)
		}
	})
}

func TestTemplateOfMetaKeepsItsName(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.options.Kinds[0].Approved = true
		zap, plain := h.channel("zap"), h.template("Olá")
		_, err := h.CreateRule(t.Context(), h.actor, ReadNewRule(values("name", "x", "offset_days", "0", "hour", "9", "template_id", number(plain), "channels", number(zap))))
		wantField(t, err, "template_id", "zap sends only templates that Meta has approved")
		approved := h.template("Olá", "whatsapp_name", "vencimento", "whatsapp_params", "{first_name}")
		h.remind(-3, "09:00", approved, zap)
		_, err = h.UpdateTemplate(t.Context(), h.actor, approved, ReadTemplateChanges(values("whatsapp_name", "")))
		wantField(t, err, "whatsapp_name", "must stay")
		h.customer("2026-01-24", "name", "Ana\u00a0Maria")
		h.work()
		h.at("2026-01-21 09:00")
		h.work()
		got := h.carrier.taken()
		if len(got) != 1 || got[0].Template.Name != "vencimento" || got[0].Template.Language != "pt_BR" || len(got[0].Template.Params) != 1 {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestMomentFollowsTheCompanysClock(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for _, tt := range []struct{ zone, due, want string }{
			{"America/New_York", "2026-03-11", "2026-03-08T13:00:00Z"}, // the day on which clocks go forward
			{"America/New_York", "2026-03-10", "2026-03-07T14:00:00Z"},
			{"Pacific/Auckland", "2026-03-11", "2026-03-07T20:00:00Z"},
			{"America/Sao_Paulo", "2026-03-11", "2026-03-08T12:00:00Z"},
		} {
			a := h.company(tt.zone)
			here := *h
			here.actor = a
			here.usual()
			here.customer(tt.due)
			h.clock.Set(time.Date(2026, 3, 7, 3, 0, 0, 0, time.UTC))
			_, err := h.Plan(t.Context())
			must(t, err)
			if at := here.only().RunAt.UTC().Format(time.RFC3339); at != tt.want {
				t.Errorf("%s, due %s: %s, want %s", tt.zone, tt.due, at, tt.want)
			}
			h.clock.Set(morning)
		}
	})
}
