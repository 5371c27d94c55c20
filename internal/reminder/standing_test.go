package reminder

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// subscribe changes how the company stands with the one above it.
func (h *house) subscribe(change func(*account.Subscription)) {
	h.t.Helper()
	h.changeCompany(func(c *account.Company) { change(&c.Subscription) })
}

var silences = map[string]struct {
	change, back func(*account.Subscription)
	reason       string
}{
	"plan without messages": {
		func(s *account.Subscription) { s.Functions = account.FunctionsOf(account.FunctionAPI) },
		func(s *account.Subscription) { s.Functions = account.EveryFunction }, "plan does not include messages",
	},
	"expired": {
		func(s *account.Subscription) { s.ExpiresOn = civil.Of(morning.AddDate(0, 0, -1)) },
		func(s *account.Subscription) { s.ExpiresOn = civil.Of(morning.AddDate(0, 1, 0)) }, "subscription has ended",
	},
	"suspended": {
		func(s *account.Subscription) { s.SuspendedAt = morning },
		func(s *account.Subscription) { s.SuspendedAt = time.Time{} }, "company is suspended",
	},
}

func TestSilentCompanySendsNothingThatWasPlanned(t *testing.T) {
	for name, silent := range silences {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				h.usual()
				h.customer("2026-01-23")
				h.work()
				h.want(h.only(), Scheduled, "")
				h.subscribe(silent.change)
				h.at("2026-01-20 09:00")
				h.work()
				h.want(h.only(), Skipped, silent.reason)
				_, err := h.Decide(t.Context(), h.actor, h.only().ID, Resend)
				must(t, err)
				h.work()
				h.want(h.only(), Skipped, silent.reason)
				if n := len(h.carrier.taken()); n != 0 {
					t.Errorf("%d messages left the house", n)
				}
			})
		})
	}
}

func TestSilentCompanyPlansNothingAndComesBackToWhatLiesAhead(t *testing.T) {
	for name, silent := range silences {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				h.subscribe(silent.change)
				h.usual()
				missed := h.customer("2026-01-24")
				for day := 20; day < 24; day++ { // a run a day, as ever
					h.at("2026-01-" + number(int64(day)) + " 12:00")
					h.customer("2026-01-26", "name", "Bia")
					h.work()
				}
				if list := h.log(); len(list) != 0 {
					t.Fatalf("planned for a silent company: %+v", list)
				}
				ahead := h.customer("2026-01-27", "name", "Caio") // three days before is tomorrow
				h.subscribe(silent.back)
				h.work()
				m := h.only()
				if h.want(m, Scheduled, ""); m.CustomerID != ahead.ID {
					t.Errorf("planned for %s; the message to %s was missed for good", m.Customer, missed.Name)
				}
				h.at("2026-01-24 09:00")
				h.work()
				h.want(h.only(), Sent, "")
			})
		})
	}
}

func TestCompanyThatEndsBetweenClaimAndSendingSendsNothing(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "09:00", h.template("Pague em {payment_link}"), h.channel("zap"))
		h.customer("2026-01-23", "plan_id", number(h.plan("10.00")))
		h.work()
		h.at("2026-01-20 09:00")
		// The link is asked for while the message is claimed and not yet begun.
		h.payments.asked = func() { h.subscribe(silences["suspended"].change) }
		h.work()
		h.want(h.only(), Skipped, "company is suspended")
		if n := len(h.carrier.taken()); n != 0 {
			t.Errorf("%d messages left the house", n)
		}
	})
}

func TestSilentCompanyTestsNoChannel(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		id := h.channel("mail")
		h.subscribe(silences["expired"].change)
		_, err := h.sendTest(h.actor, id, values("to", "ana@example.com"))
		wantKind(t, err, fault.KindConflict)
		if n := len(h.carrier.taken()); n != 0 {
			t.Errorf("%d messages left the house", n)
		}
	})
}

func TestChannelThatFailsAgainAndAgainIsTold(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		zap := h.channel("zap")
		h.remind(0, "09:00", h.template("x"), zap)
		for range failingAfter {
			h.customer("2026-01-20")
		}
		h.carrier.answers(func(string, Letter) (string, error) { return "", &Refusal{"session lost"} })
		h.work()
		if out := attention(t, h); len(out.Failing) != 0 || out.Unknown != 0 {
			t.Errorf("told of %+v before anything was sent", out)
		}
		h.at("2026-01-20 09:00")
		h.work()
		out := attention(t, h)
		if len(out.Failing) != 1 || out.Failing[0].ID != zap || out.Failing[0].Failures != failingAfter || out.Failing[0].Problem != "session lost" ||
			!out.Failing[0].ProblemAt.Equal(h.clock.Now()) {
			t.Errorf("told of %+v", out)
		}
		h.carrier.answers(nil)
		_, err := h.sendTest(h.actor, zap, values("to", "11987654321"))
		must(t, err)
		if out := attention(t, h); len(out.Failing) != 0 {
			t.Errorf("a test that succeeds does not end it: %+v", out)
		}
	})
}

func TestDoubtIsToldUntilAPersonDecides(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.customer("2026-01-23")
		h.work()
		h.at("2026-01-20 09:00")
		h.carrier.answers(func(string, Letter) (string, error) { return "", &Doubt{"no answer"} })
		h.work()
		if out := attention(t, h); out.Unknown != 1 {
			t.Errorf("%+v", out)
		}
		_, err := h.Decide(t.Context(), h.actor, h.only().ID, Dismiss)
		must(t, err)
		if out := attention(t, h); out.Unknown != 0 {
			t.Errorf("%+v", out)
		}
	})
}

func attention(t *testing.T, h *house) Attention {
	t.Helper()
	out, err := h.Attention(t.Context(), h.actor)
	must(t, err)
	return out
}

func TestRuleNeedsAChannel(t *testing.T) {
	h := newHouse(t, sqldb.SQLite)
	in := valuesWithList("channels", "name", "x", "offset_days", "0", "hour", "09:00", "template_id", number(h.template("x")))
	_, err := h.CreateRule(t.Context(), h.actor, ReadNewRule(in))
	wantField(t, err, "channels", "is required")
	r := h.usual()
	_, err = h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(valuesWithList("channels")))
	wantField(t, err, "channels", "is required")
}

func TestDeedsAreWrittenDown(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.actor.UserID, h.actor.Name, h.actor.From, h.actor.Program = 1, "Ana", "127.0.0.1", ""
		r := h.usual()
		c := h.customer("2026-03-01")
		_, err := h.UpdateRule(t.Context(), h.actor, r.ID, ReadRuleChanges(values("active", "false")))
		must(t, err)
		_, err = h.UpdateTemplate(t.Context(), h.actor, r.TemplateID, ReadTemplateChanges(values("text", "Oi")))
		must(t, err)
		_, err = h.changeChannel(h.actor, r.Channels[0], values("token", "very-secret", "region", "sul"))
		must(t, err)
		_, err = h.SetSettings(t.Context(), h.actor, ReadSettings(values("quiet_from", "20:00")))
		must(t, err)
		must(t, h.SetOptOut(t.Context(), h.actor, c.ID, true))
		must(t, h.SetOptOut(t.Context(), h.actor, c.ID, true)) // nothing new
		must(t, h.DeleteRule(t.Context(), h.actor, r.ID))
		must(t, h.DeleteTemplate(t.Context(), h.actor, r.TemplateID))
		must(t, h.DeleteChannel(t.Context(), h.actor, r.Channels[0]))
		list, _, err := h.accounts.Audit(t.Context(), h.actor, account.AuditFilter{}, pageOf(100))
		must(t, err)
		said := map[string]int{}
		for _, e := range list {
			said[e.Action]++
			for _, change := range e.Changes {
				if strings.Contains(change.Before+change.After, "very-secret") {
					t.Errorf("%s tells a secret", e.Action)
				}
			}
		}
		for action, n := range map[string]int{
			"rule.created": 1, "rule.updated": 1, "rule.deleted": 1, "template.created": 1, "template.updated": 1, "template.deleted": 1,
			"channel.created": 2, "channel.updated": 1, "channel.deleted": 1, "quiet_hours.updated": 1, "customer.opted_out": 1,
		} {
			if said[action] != n {
				t.Errorf("%s is written down %d times, want %d", action, said[action], n)
			}
		}
	})
}
