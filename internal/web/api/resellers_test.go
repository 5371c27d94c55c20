package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/openapi"
	"carteira/test/kit/sqldbtest"
)

type accountRecord struct {
	Company struct {
		Status    account.Standing `json:"status"`
		ExpiresAt *string          `json:"expires_at"`
	} `json:"company"`
}

// resellerRecord is what tests look at of a reseller.
type resellerRecord struct {
	ID             int64         `json:"id"`
	Name           string        `json:"name"`
	Level          account.Level `json:"level"`
	Status         string        `json:"status"`
	Credits        int64         `json:"credits"`
	ExpiresAt      string        `json:"expires_at"`
	CustomersCount int64         `json:"customers_count"`
	CreditsSpent   int64         `json:"credits_spent"`
	CreditsBalance int64         `json:"credits_balance"`
	InvitationLink *string       `json:"invitation_link"`
}

// below makes a reseller over the API, lifts it to a level and returns it as a
// caller of its own, with half of the credits.
func (c *caller) below(t *testing.T, name string, level account.Level) *caller {
	t.Helper()
	record := data[resellerRecord](t, c.call(t, http.MethodPost, "/resellers", fmt.Sprintf(
		`{"name":%q,"email":"%s@example.com","type":"subscriber","plan_id":%d}`, name, name, c.planID(t))))
	if level != account.LevelUser {
		data[any](t, c.call(t, http.MethodPut, fmt.Sprintf("/resellers/%d/level", record.ID), fmt.Sprintf(`{"level":%q}`, level)))
	}
	actor, err := c.Accounts.Actor(t.Context(), record.ID)
	must(t, err)
	token, plain, err := c.Accounts.CreateToken(t.Context(), actor, account.ReadNewToken(values("name", name)))
	must(t, err)
	balance, err := c.Resellers.Balance(t.Context(), c.actor)
	must(t, err)
	_, err = c.Resellers.Transfer(t.Context(), c.actor, record.ID, reseller.ReadCreditRequest(values("amount", fmt.Sprint(balance/2))))
	must(t, err)
	made := &caller{c.service, actor, plain}
	made.actor.TokenID = token.ID
	return made
}

// planID is a subscription plan of the company, made at the first time.
func (c *caller) planID(t *testing.T) int64 {
	t.Helper()
	if list, _, err := c.Resellers.Plans(t.Context(), c.actor, reseller.PlanFilter{}, input.Page{Number: 1, Size: 1}); err != nil || len(list) > 0 {
		must(t, err)
		return list[0].ID
	}
	plan, err := c.Resellers.CreatePlan(t.Context(), c.actor, reseller.ReadNewPlan(values("name", "Revenda", "value", "49.90", "credits", "1")))
	must(t, err)
	return plan.ID
}

// everyRow is all that the room may change.
func (s *service) everyRow(t *testing.T) string {
	t.Helper()
	var all []string
	for _, text := range []string{
		`SELECT id || '|' || name || '|' || level || '|' || COALESCE(expires_on, '') || '|' || functions || '|' || whatsapp FROM companies ORDER BY id`,
		`SELECT id || '|' || email FROM users ORDER BY id`,
		`SELECT id || '|' || name || '|' || credits || '|' || functions FROM subscription_plans ORDER BY id`,
		`SELECT company_id || '|' || balance FROM credit_balances ORDER BY company_id`,
	} {
		rows, err := sqldb.Values[string](t.Context(), s.DB, text)
		must(t, err)
		all = append(all, rows...)
	}
	return strings.Join(all, "\n")
}

// Three levels below a root, a sibling and a stranger: every company tries
// every operation on every other, and on itself.
func TestNobodyReachesPastDirectResellers(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		root, stranger := service.newCaller(t), service.newCaller(t)
		master := root.below(t, "master", account.LevelMaster)
		low := master.below(t, "low", account.LevelReseller)
		leaf, beside := low.below(t, "leaf", account.LevelUser), root.below(t, "beside", account.LevelReseller)
		parents := map[*caller]*caller{master: root, low: master, leaf: low, beside: root}
		levels := map[*caller]account.Level{
			root: account.LevelUltraMaster, stranger: account.LevelUltraMaster, master: account.LevelMaster,
			low: account.LevelReseller, leaf: account.LevelUser, beside: account.LevelReseller,
		}
		all := []*caller{root, stranger, master, low, leaf, beside}
		plans := map[*caller]int64{}
		for _, caller := range all {
			plans[caller] = caller.planID(t)
		}
		tried, allowed := 0, 0
		try := func(who *caller, method, path, body string, want int) {
			t.Helper()
			before := service.everyRow(t)
			answer := who.call(t, method, path, body)
			tried++
			if answer.status == http.StatusOK {
				allowed++
			}
			if answer.status != want {
				t.Errorf("company %d (%s) %s %s: %d %s, want %d", who.actor.Company.ID, levels[who], method, path, answer.status, answer.body, want)
			}
			if answer.status != http.StatusOK && service.everyRow(t) != before {
				t.Errorf("company %d %s %s was refused and changed something", who.actor.Company.ID, method, path)
			}
		}
		for _, who := range all {
			reaches := func(mine bool) int {
				switch {
				case levels[who] == account.LevelUser:
					return http.StatusForbidden
				case !mine:
					return http.StatusNotFound
				}
				return http.StatusOK
			}
			try(who, http.MethodGet, "/resellers", "", reaches(true))
			try(who, http.MethodGet, "/plans", "", reaches(true))
			for _, whom := range all {
				path := fmt.Sprintf("/resellers/%d", whom.actor.Company.ID)
				reach := reaches(parents[whom] == who)
				try(who, http.MethodGet, path, "", reach)
				try(who, http.MethodPut, path, `{"whatsapp":"11987654321"}`, reach)
				try(who, http.MethodPost, path+"/renew", `{}`, reach)
				promote := reach
				if reach == http.StatusOK && levels[who] == account.LevelReseller {
					promote = http.StatusForbidden
				}
				try(who, http.MethodPut, path+"/level", fmt.Sprintf(`{"level":%q}`, levels[whom]), promote)
				plan := fmt.Sprintf("/plans/%d", plans[whom])
				try(who, http.MethodGet, plan, "", reaches(whom == who))
				try(who, http.MethodPut, plan, `{"value":"59.90"}`, reaches(whom == who))
			}
		}
		if tried != len(all)*(2+6*len(all)) || allowed != 10+10+4*3+3 {
			t.Errorf("%d tried, %d of them allowed", tried, allowed)
		}
		for who, want := range map[*caller][]string{root: {"beside", "master"}, master: {"low"}, low: {"leaf"}, beside: {}, stranger: {}} {
			var names []string
			for _, record := range data[[]resellerRecord](t, who.call(t, http.MethodGet, "/resellers", "")) {
				names = append(names, record.Name)
			}
			if !slices.Equal(names, want) && len(names)+len(want) > 0 {
				t.Errorf("company %d sees %v, want %v", who.actor.Company.ID, names, want)
			}
		}
	})
}

func TestResellerIsACompanyOfItsOwn(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		root := service.newCaller(t)
		caller := root.below(t, "beto", account.LevelUser)
		mine := caller.create(t, `{"name":"Ana"}`)
		if answer := root.call(t, http.MethodGet, fmt.Sprintf("/customers/%d", mine.ID), ""); answer.status != 404 {
			t.Errorf("the company above reads its reseller's customer: %d %s", answer.status, answer.body)
		}
		got := data[resellerRecord](t, root.call(t, http.MethodGet, fmt.Sprintf("/resellers/%d", caller.actor.Company.ID), ""))
		if got.CustomersCount != 1 || got.Credits != 49 || got.Status != "active" || got.ExpiresAt != "2026-02-28" {
			t.Errorf("%+v", got)
		}
		root.call(t, http.MethodGet, "/resellers?status=xyz&level=king&plan_id=0&expires_from=31/12", "").want(t, 422, "level: must be one of: user, reseller, master, ultra_master")
		if list := data[[]resellerRecord](t, root.call(t, http.MethodGet, "/resellers?status=Active&search=BETO&expires_to=2026-02-28", "")); len(list) != 1 {
			t.Errorf("%+v", list)
		}
		made := data[resellerRecord](t, root.call(t, http.MethodPost, "/resellers", `{"name":"Lia","email":"lia@example.com","plan_id":""}`))
		if made.InvitationLink == nil || !strings.HasPrefix(*made.InvitationLink, "https://clientes.example.com/password/") || made.Status != "trial" {
			t.Errorf("%+v", made)
		}
		root.call(t, http.MethodPost, fmt.Sprintf("/resellers/%d/renew", made.ID), "").want(t, 200, "")
		root.call(t, http.MethodPost, fmt.Sprintf("/resellers/%d/renew", made.ID), `{"periods":99}`).want(t, 422, "credits: too few: 99 are needed, and there are 49")
		root.call(t, http.MethodPut, fmt.Sprintf("/resellers/%d/level", made.ID), `{"level":"ultra_master"}`).
			want(t, 403, "level: a company of the level ultra_master changes levels up to master, not ultra_master")
		root.call(t, http.MethodGet, "/plans?active=maybe", "").want(t, 422, "active: must be one of: true, false, 1, 0")
		root.call(t, http.MethodPost, "/plans", `{"name":"X","value":"1.00","credits":1,"functions":["fly"]}`).
			want(t, 422, `functions: "fly" is not a function; there are api, webhooks, payments, reminders, resellers, import, export`)
	})
}

// What was read can be sent back.
func TestResellerAndPlanCanBeSentBack(t *testing.T) {
	service := newService(t, sqldb.SQLite)
	root := service.newCaller(t)
	caller := root.below(t, "beto", account.LevelUser)
	for _, path := range []string{fmt.Sprintf("/resellers/%d", caller.actor.Company.ID), fmt.Sprintf("/plans/%d", root.planID(t))} {
		read := root.call(t, http.MethodGet, path, "")
		record := strings.TrimSuffix(strings.TrimPrefix(read.body, `{"success":true,"data":`), "}")
		if sent := root.call(t, http.MethodPut, path, record); sent.status != 200 || sent.body != read.body {
			t.Errorf("%s: read\n%s\nsent back %d\n%s", path, read.body, sent.status, sent.body)
		}
	}
}

func (c *caller) setFunctions(t *testing.T, functions account.Functions) {
	t.Helper()
	c.exec(t, `UPDATE companies SET functions = ? WHERE id = ?`, functions.String(), c.actor.Company.ID)
}

func TestWithoutTheFunctionAPINothingIsServed(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.setFunctions(t, account.EveryFunction&^account.FunctionsOf(account.FunctionAPI))
		for _, op := range operations() {
			caller.call(t, op.Method, op.Path, string(op.Body)).want(t, 403, "functions: the company's subscription plan does not include api")
		}
	})
}

// Each operation that needs a function is refused without it, and only then.
func TestFunctionsOpenTheirOperations(t *testing.T) {
	caller := newService(t, sqldb.SQLite).newCaller(t)
	needed := map[account.Function]int{}
	for _, op := range operations() {
		route := caller.routeOf(t, op.Method, op.Path)
		for _, entry := range account.FunctionCatalog[1:] {
			caller.setFunctions(t, account.EveryFunction&^account.FunctionsOf(entry.Name))
			answer := caller.call(t, op.Method, op.Path, string(op.Body))
			refused := answer.status == 403 && strings.HasSuffix(answer.body, `does not include `+string(entry.Name)+`"}`)
			if refused != (route.function == entry.Name) {
				t.Errorf("%s without %s: %d %s", op.OperationID, entry.Name, answer.status, answer.body)
			}
			if refused {
				needed[entry.Name]++
			}
		}
	}
	if needed[account.FunctionResellers] != 10 || needed[account.FunctionWebhooks] != 13 {
		t.Errorf("operations by function: %v", needed)
	}
}

func (c *caller) routeOf(t *testing.T, method, path string) route {
	t.Helper()
	for _, route := range c.routes() {
		named := route.path == externalPath && strings.HasPrefix(path, "/customers/external/")
		if route.method == method && (named || firstID.ReplaceAllString(path, "/{id}") == route.path) {
			return route
		}
	}
	t.Fatalf("no route for %s %s", method, path)
	return route{}
}

// An expired or suspended company reads everything and changes nothing, until
// it is renewed.
func TestExpiredAndSuspendedOnlyRead(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		root := service.newCaller(t)
		caller := root.below(t, "beto", account.LevelReseller) // until 28 February
		for _, step := range []struct {
			name, message string
			begin         func() error
		}{
			{"expired", "status: the subscription expired on 2026-02-28; nothing can be changed until it is renewed", func() error {
				service.clock.Set(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)) // midnight in São Paulo
				return nil
			}},
			{"suspended", "status: the company is suspended; nothing can be changed until it is renewed", func() error {
				_, err := service.Resellers.Suspend(t.Context(), root.actor, caller.actor.Company.ID)
				return err
			}},
		} {
			if answer := caller.call(t, http.MethodPost, "/customers", `{"name":"Ana"}`); answer.status != 200 {
				t.Fatalf("before it is %s: %d %s", step.name, answer.status, answer.body)
			}
			must(t, step.begin())
			before := service.everyRow(t)
			for _, op := range operations() {
				answer := caller.call(t, op.Method, op.Path, string(op.Body))
				if op.Method == http.MethodGet {
					if answer.status == 403 {
						t.Errorf("%s: %s is %s", step.name, op.OperationID, answer.body)
					}
					continue
				}
				answer.want(t, 403, step.message)
			}
			if got := data[accountRecord](t, caller.call(t, http.MethodGet, "/account", "")); string(got.Company.Status) != step.name {
				t.Errorf("the account says %s", got.Company.Status)
			}
			if service.everyRow(t) != before || service.count(t, `SELECT count(*) FROM customers`) == 0 {
				t.Errorf("%s, and something was changed", step.name)
			}
			data[any](t, root.call(t, http.MethodPost, fmt.Sprintf("/resellers/%d/renew", caller.actor.Company.ID), `{}`))
		}
		if answer := caller.call(t, http.MethodPost, "/customers", `{"name":"Ana"}`); answer.status != 200 {
			t.Errorf("after the renewal: %d %s", answer.status, answer.body)
		}
	})
}

// The document's enum and the page for people name the functions that there
// are, and no others.
func TestFunctionsAreDocumented(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas struct {
				Function struct{ Enum []account.Function }
			}
		}
	}
	must(t, json.Unmarshal(openapi.JSON(), &doc))
	page, err := os.ReadFile("../../../docs/resellers.md")
	must(t, err)
	var names []account.Function
	for _, entry := range account.FunctionCatalog {
		names = append(names, entry.Name)
		if !strings.Contains(string(page), "`"+string(entry.Name)+"`") {
			t.Errorf("docs/resellers.md does not tell of %s", entry.Name)
		}
	}
	if !slices.Equal(names, doc.Components.Schemas.Function.Enum) {
		t.Errorf("the document has %v, want %v", doc.Components.Schemas.Function.Enum, names)
	}
}

// The account shows the standing of the company itself, and nothing of the
// company above it, of the plan that one sells, or of credits.
func TestAccountTellsOnlyItsOwnStanding(t *testing.T) {
	service := newService(t, sqldb.SQLite)
	root := service.newCaller(t)
	_, err := service.Accounts.SetCompany(t.Context(), account.System(root.actor.Company, "test"), account.ReadCompanyDraft(values("whatsapp", "11 98765-4321")))
	must(t, err)
	caller := root.below(t, "beto", account.LevelReseller)
	answer := caller.call(t, http.MethodGet, "/account", "")
	got := data[map[string]map[string]any](t, answer)
	want := []string{"books_closed_through", "created_at", "expires_at", "functions", "id", "level", "name", "status", "timezone"}
	if fields := slices.Sorted(maps.Keys(got["company"])); !slices.Equal(fields, want) || got["company"]["id"] != float64(caller.actor.Company.ID) {
		t.Errorf("the company has %v: %s", fields, answer.body)
	}
	for _, secret := range []string{root.actor.Company.Name, "paula", "5511987654321", "Revenda", "credits", "plan", "parent"} {
		if strings.Contains(answer.body, secret) {
			t.Errorf("the account of a reseller tells %q: %s", secret, answer.body)
		}
	}
	if top := data[accountRecord](t, root.call(t, http.MethodGet, "/account", "")); top.Company.ExpiresAt != nil || top.Company.Status != account.StandingActive {
		t.Errorf("at the top: %+v", top.Company)
	}
}
