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

// subscribe changes the subscription of the company.
func (h *house) subscribe(change func(*account.Subscription)) {
	h.t.Helper()
	h.changeCompany(func(company *account.Company) { change(&company.Subscription) })
}

var silences = map[string]struct {
	change, back func(*account.Subscription)
	reason       string
}{
	"plan without messages": {
		func(subscription *account.Subscription) {
			subscription.Functions = account.FunctionsOf(account.FunctionAPI)
		},
		func(subscription *account.Subscription) { subscription.Functions = account.EveryFunction }, "plan does not include messages",
	},
	"expired": {
		func(subscription *account.Subscription) { subscription.ExpiresOn = civil.Of(morning.AddDate(0, 0, -1)) },
		func(subscription *account.Subscription) { subscription.ExpiresOn = civil.Of(morning.AddDate(0, 1, 0)) }, "subscription has ended",
	},
	"suspended": {
		func(subscription *account.Subscription) { subscription.SuspendedAt = morning },
		func(subscription *account.Subscription) { subscription.SuspendedAt = time.Time{} }, "company is suspended",
	},
}

func TestSilentCompanySendsNothingThatWasPlanned(t *testing.T) {
	for name, silent := range silences {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.usual()
				house.customer("2026-01-23")
				house.work()
				house.want(house.only(), Scheduled, "")
				house.subscribe(silent.change)
				house.at("2026-01-20 09:00")
				house.work()
				house.want(house.only(), Skipped, silent.reason)
				_, err := house.Decide(t.Context(), house.actor, house.only().ID, Resend)
				must(t, err)
				house.work()
				house.want(house.only(), Skipped, silent.reason)
				if n := len(house.carrier.taken()); n != 0 {
					t.Errorf("%d messages left the house", n)
				}
			})
		})
	}
}

func TestSilentCompanyPlansNothingAndComesBackToWhatLiesAhead(t *testing.T) {
	for name, silent := range silences {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.subscribe(silent.change)
				house.usual()
				missed := house.customer("2026-01-24")
				for day := 20; day < 24; day++ { // a run a day, as usual
					house.at("2026-01-" + number(int64(day)) + " 12:00")
					house.customer("2026-01-26", "name", "Bia")
					house.work()
				}
				if list := house.log(); len(list) != 0 {
					t.Fatalf("planned for a silent company: %+v", list)
				}
				ahead := house.customer("2026-01-27", "name", "Caio") // three days before is tomorrow
				house.subscribe(silent.back)
				house.work()
				message := house.only()
				if house.want(message, Scheduled, ""); message.CustomerID != ahead.ID {
					t.Errorf("planned for %s; the message to %s was missed for good", message.Customer, missed.Name)
				}
				house.at("2026-01-24 09:00")
				house.work()
				house.want(house.only(), Sent, "")
			})
		})
	}
}

func TestCompanyThatEndsBetweenClaimAndSendingSendsNothing(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "09:00", house.template("Pague em {payment_link}"), house.channel("zap"))
		house.customer("2026-01-23", "plan_id", number(house.plan("10.00")))
		house.work()
		house.at("2026-01-20 09:00")
		// The link is asked for while the message is claimed and not yet begun.
		house.payments.asked = func() { house.subscribe(silences["suspended"].change) }
		house.work()
		house.want(house.only(), Skipped, "company is suspended")
		if n := len(house.carrier.taken()); n != 0 {
			t.Errorf("%d messages left the house", n)
		}
	})
}

func TestSilentCompanyTestsNoChannel(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		id := house.channel("mail")
		house.subscribe(silences["expired"].change)
		_, err := house.sendTest(house.actor, id, values("to", "ana@example.com"))
		wantKind(t, err, fault.KindConflict)
		if n := len(house.carrier.taken()); n != 0 {
			t.Errorf("%d messages left the house", n)
		}
	})
}

func TestChannelThatFailsAgainAndAgainIsTold(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		zap := house.channel("zap")
		house.remind(0, "09:00", house.template("x"), zap)
		for range failingAfter {
			house.customer("2026-01-20")
		}
		house.carrier.answers(func(string, Letter) (string, error) { return "", &Refusal{"session lost"} })
		house.work()
		if out := attention(t, house); len(out.Failing) != 0 || out.Unknown != 0 {
			t.Errorf("told of %+v before anything was sent", out)
		}
		house.at("2026-01-20 09:00")
		house.work()
		out := attention(t, house)
		if len(out.Failing) != 1 || out.Failing[0].ID != zap || out.Failing[0].Failures != failingAfter || out.Failing[0].Problem != "session lost" ||
			!out.Failing[0].ProblemAt.Equal(house.clock.Now()) {
			t.Errorf("told of %+v", out)
		}
		house.carrier.answers(nil)
		_, err := house.sendTest(house.actor, zap, values("to", "11987654321"))
		must(t, err)
		if out := attention(t, house); len(out.Failing) != 0 {
			t.Errorf("a test that succeeds does not end it: %+v", out)
		}
	})
}

func TestDoubtIsToldUntilAPersonDecides(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.customer("2026-01-23")
		house.work()
		house.at("2026-01-20 09:00")
		house.carrier.answers(func(string, Letter) (string, error) { return "", &Doubt{"no answer"} })
		house.work()
		if out := attention(t, house); out.Unknown != 1 {
			t.Errorf("%+v", out)
		}
		_, err := house.Decide(t.Context(), house.actor, house.only().ID, Dismiss)
		must(t, err)
		if out := attention(t, house); out.Unknown != 0 {
			t.Errorf("%+v", out)
		}
	})
}

func attention(t *testing.T, house *house) Attention {
	t.Helper()
	out, err := house.Attention(t.Context(), house.actor)
	must(t, err)
	return out
}

func TestRuleNeedsAChannel(t *testing.T) {
	house := newHouse(t, sqldb.SQLite)
	in := valuesWithList("channels", "name", "x", "offset_days", "0", "hour", "09:00", "template_id", number(house.template("x")))
	_, err := house.CreateRule(t.Context(), house.actor, ReadNewRule(in))
	wantField(t, err, "channels", "is required")
	rule := house.usual()
	_, err = house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(valuesWithList("channels")))
	wantField(t, err, "channels", "is required")
}

func TestDeedsAreWrittenDown(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.actor.UserID, house.actor.Name, house.actor.From, house.actor.Program = 1, "Ana", "127.0.0.1", ""
		rule := house.usual()
		customer := house.customer("2026-03-01")
		_, err := house.UpdateRule(t.Context(), house.actor, rule.ID, ReadRuleChanges(values("active", "false")))
		must(t, err)
		_, err = house.UpdateTemplate(t.Context(), house.actor, rule.TemplateID, ReadTemplateChanges(values("text", "Oi")))
		must(t, err)
		_, err = house.changeChannel(house.actor, rule.Channels[0], values("token", "very-secret", "region", "sul"))
		must(t, err)
		_, err = house.SetSettings(t.Context(), house.actor, ReadSettings(values("quiet_from", "20:00")))
		must(t, err)
		must(t, house.SetOptOut(t.Context(), house.actor, customer.ID, true))
		must(t, house.SetOptOut(t.Context(), house.actor, customer.ID, true)) // nothing new
		must(t, house.DeleteRule(t.Context(), house.actor, rule.ID))
		must(t, house.DeleteTemplate(t.Context(), house.actor, rule.TemplateID))
		must(t, house.DeleteChannel(t.Context(), house.actor, rule.Channels[0]))
		list, _, err := house.accounts.Audit(t.Context(), house.actor, account.AuditFilter{}, pageOf(100))
		must(t, err)
		said := map[string]int{}
		for _, line := range list {
			said[line.Action]++
			for _, change := range line.Changes {
				if strings.Contains(change.Before+change.After, "very-secret") {
					t.Errorf("%s tells a secret", line.Action)
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
