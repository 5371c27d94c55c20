package account_test

import (
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
)

func TestFunctionsAreStoredByName(t *testing.T) {
	names := account.EveryFunction.Names()
	if len(names) != len(account.FunctionCatalog) || account.EveryFunction.String() != "*" {
		t.Errorf("every function: %v, stored as %s", names, account.EveryFunction)
	}
	for set := range account.Functions(1 << len(names)) {
		if got := account.ParseFunctions(set.String()); got != set || account.FunctionsOf(set.Names()...) != set {
			t.Errorf("%v was stored as %q and read as %v", set.Names(), set, got)
		}
	}
	if got := account.ParseFunctions(",webhooks,of_tomorrow,api,"); got.String() != ",api,webhooks," {
		t.Errorf("a function that this version does not know: %s", got)
	}
	if account.ParseFunctions("*") != account.EveryFunction || account.ParseFunctions("") != 0 || account.FunctionsOf("teleport") != 0 {
		t.Error("all, none or an unknown one is read wrongly")
	}
}

func TestStandingFollowsFromTheDay(t *testing.T) {
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	ends := civil.MustParse("2026-01-31")
	lastMoment := time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC)
	for _, c := range []struct {
		name         string
		subscription account.Subscription
		at           time.Time
		want         account.Standing
		refused      string
	}{
		{"at the top", account.Subscription{}, lastMoment, account.StandingActive, ""},
		{"a trial on its last day", account.Subscription{Kind: account.Trial, ExpiresOn: ends}, lastMoment, account.StandingTrial, ""},
		{"a subscriber on its last day", account.Subscription{Kind: account.Subscriber, ExpiresOn: ends}, lastMoment, account.StandingActive, ""},
		{"a trial after it", account.Subscription{Kind: account.Trial, ExpiresOn: ends}, lastMoment.Add(time.Second), account.StandingExpired, "status: the subscription expired on 2026-01-31"},
		{"a subscriber after it", account.Subscription{Kind: account.Subscriber, ExpiresOn: ends}, lastMoment.Add(time.Second), account.StandingExpired, "status: the subscription expired on 2026-01-31"},
		{"a suspended one", account.Subscription{Kind: account.Trial, ExpiresOn: ends, SuspendedAt: noon}, lastMoment, account.StandingSuspended, "status: the company is suspended"},
		{"a suspended one after it", account.Subscription{ExpiresOn: ends, SuspendedAt: noon}, lastMoment.Add(time.Hour), account.StandingSuspended, "status: the company is suspended"},
	} {
		company := account.Company{Zone: zone, Subscription: c.subscription}
		actor := account.System(company, "test")
		err := actor.Writable(actor.Today(c.at))
		if got := company.Standing(c.at); got != c.want || (err == nil) != (c.refused == "") {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
		if err != nil && (fault.KindOf(err) != fault.KindForbidden || !strings.HasPrefix(fault.Public(err), c.refused)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if company.TellsWebhooks(c.at) {
			t.Errorf("%s: webhooks are told without the function", c.name)
		}
		company.Subscription.Functions = account.EveryFunction
		if company.TellsWebhooks(c.at) != (c.refused == "") {
			t.Errorf("%s: webhooks are told: %v", c.name, company.TellsWebhooks(c.at))
		}
	}
}

func TestActorMayWhatItsPlanHas(t *testing.T) {
	actor := account.Actor{Company: account.Company{Subscription: account.Subscription{Functions: account.FunctionsOf(account.FunctionAPI)}}}
	if err := actor.Allow(account.FunctionAPI); err != nil || actor.Allow("") != nil {
		t.Errorf("refused what it has: %v", err)
	}
	err := actor.Allow(account.FunctionPayments)
	if fault.KindOf(err) != fault.KindForbidden || fault.Public(err) != "functions: the company's subscription plan does not include payments" {
		t.Errorf("got %v", err)
	}
}

func TestByNamesWhoActs(t *testing.T) {
	for want, actor := range map[string]account.Actor{
		"user:4": {UserID: 4, TokenID: 0, From: "203.0.113.9"}, "token:3": {TokenID: 3}, "command line": {}, "203.0.113.9": {From: "203.0.113.9"},
	} {
		if got := actor.By(); got != want {
			t.Errorf("%+v is %q, want %q", actor, got, want)
		}
	}
}
