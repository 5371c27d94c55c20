package program

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// resold is what tests read of a reseller's record.
type resold struct {
	ID             int64
	Status         string
	Credits        int64
	ExpiresAt      string `json:"expires_at"`
	CreditsSpent   int64  `json:"credits_spent"`
	CreditsBalance int64  `json:"credits_balance"`
}

func (a answer) reseller(t *testing.T) (resold resold) {
	t.Helper()
	if err := json.Unmarshal(a.Data, &resold); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return resold
}

// sellUntilKilled makes and renews subscribers from many clients at once and
// kills the server when it has acknowledged n. It returns the periods that were
// acknowledged, by reseller.
func sellUntilKilled(server *server, client *client, plan string, n int) map[int64]int {
	var mu sync.Mutex
	periods, answers := map[int64]int{}, 0
	together(writers, func(i int) {
		var mine []int64
		for j := 0; ; j++ {
			method, path, body := "POST", "/resellers", map[string]any{
				"name": "Loja", "email": fmt.Sprintf("%s-%d-%d@example.com", strings.ReplaceAll(server.address, ":", "-"), i, j), "type": "subscriber", "plan_id": plan,
			}
			if len(mine) > 0 && j%3 != 0 {
				path, body = fmt.Sprintf("/resellers/%d/renew", mine[rand.IntN(len(mine))]), map[string]any{"periods": 1 + j%2}
			}
			answer, err := client.send(method, path, body)
			if err != nil {
				return
			}
			if answer.status != 200 {
				server.t.Errorf("%s: %d: %s", path, answer.status, answer.body)
				server.kill()
				return
			}
			resold := answer.reseller(server.t)
			mine = append(mine, resold.ID)
			mu.Lock()
			periods[resold.ID] += int(resold.CreditsSpent / 3)
			if answers++; answers == n {
				server.kill()
			}
			mu.Unlock()
		}
	})
	return periods
}

// Wherever a kill falls, a subscription and the credits that paid for it are
// both there, or neither is.
func TestKillLeavesSubscriptionAndCreditsBothOrNeither(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		const granted = 1_000_000
		company := in.company()
		token := in.token(company)
		in.run("credits", "grant", "--company", company, "--amount", strconv.Itoa(granted))
		plan := in.create("id", "subscription-plan", "create", "--company", company, "--name", "Diário", "--value", "1.00", "--credits", "3", "--period", "1day")
		acknowledged := map[int64]int{}
		for range 4 {
			server := in.serve()
			for id, n := range sellUntilKilled(server, server.client(token), plan, 1+rand.IntN(120)) {
				acknowledged[id] += n
			}
		}
		db := in.open()
		paid := paidPeriods(t, db)
		for id, n := range acknowledged {
			if paid[id] < n {
				t.Errorf("reseller %d: %d periods were acknowledged, %d are paid for", id, n, paid[id])
			}
		}
		wantPaidDays(t, db, paid)
		spent := 0
		for _, n := range paid {
			spent += 3 * n
		}
		balance, err := sqldb.Value[int](t.Context(), db, `SELECT balance FROM credit_balances WHERE company_id = ?`, company)
		if err != nil || balance != granted-spent {
			t.Errorf("%d credits are left of %d, with %d spent: %v", balance, granted, spent, err)
		}
	})
}

// paidPeriods counts, by reseller, the periods that the ledger has.
func paidPeriods(t *testing.T, db *sqldb.DB) map[int64]int {
	t.Helper()
	paid := map[int64]int{}
	err := sqldb.Each(t.Context(), db, `SELECT reseller_id, periods, amount FROM credit_entries WHERE kind IN ('create', 'renew')`, nil, func(row sqldb.Row) error {
		var id int64
		var periods, amount int
		err := row.Scan(&id, &periods, &amount)
		if amount != -3*periods {
			t.Errorf("%d credits for %d periods", amount, periods)
		}
		paid[id] += periods
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paid
}

// wantPaidDays wants every reseller, and only those in the ledger, to last as
// many days as were paid for.
func wantPaidDays(t *testing.T, db *sqldb.DB, paid map[int64]int) {
	t.Helper()
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	err = sqldb.Each(t.Context(), db, `SELECT id, expires_on, created_at FROM companies WHERE parent_id IS NOT NULL`, nil, func(row sqldb.Row) error {
		var id, created int64
		var ends civil.Date
		err := row.Scan(&id, &ends, &created)
		made++
		if days := ends.Sub(civil.Of(time.UnixMicro(created).In(zone))); days != paid[id] {
			t.Errorf("reseller %d lasts %d days, and %d are paid for", id, days, paid[id])
		}
		return err
	})
	if err != nil || made != len(paid) || made == 0 {
		t.Errorf("%d resellers, %d of them paid for: %v", made, len(paid), err)
	}
}

func TestResellerCommandsTakeEffectOnTheRunningServer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		server := in.serve()
		company := in.company()
		in.run("credits", "grant", "--company", company, "--amount", "10", "--note", "PIX")
		plan := in.create("id", "subscription-plan", "create", "--company", company, "--name", "Revenda", "--value", "49.90", "--credits", "2",
			"--period", "1month", "--functions", "api")
		child := in.create("id", "reseller", "create", "--company", company, "--name", "Loja", "--email", "loja@example.com", "--type", "subscriber", "--plan-id", plan)
		client := server.client(in.token(child))
		client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
		client.want(403, "GET", "/webhooks", nil)
		in.run("subscription-plan", "set", "--company", company, "--id", plan, "--functions", "webhooks,resellers")
		client.want(200, "GET", "/webhooks", nil)
		client.want(403, "GET", "/resellers", nil)
		in.run("reseller", "level", "--company", company, "--id", child, "--level", "reseller")
		client.want(200, "GET", "/resellers", nil)
		in.run("reseller", "suspend", "--company", company, "--id", child)
		client.want(403, "POST", "/customers", map[string]any{"name": "Bia"})
		client.want(200, "GET", "/customers", nil)
		in.run("reseller", "resume", "--company", company, "--id", child)
		client.want(200, "POST", "/customers", map[string]any{"name": "Bia"})
		if got := in.create("credits_balance", "reseller", "renew", "--company", company, "--id", child); got != "6" {
			t.Errorf("%s credits are left after a renewal", got)
		}
		if got := in.create("reseller_balance", "credits", "transfer", "--company", company, "--to", child, "--amount", "4"); got != "4" {
			t.Errorf("the reseller has %s credits", got)
		}
		if got := in.create("balance", "credits", "take-back", "--company", company, "--from", child, "--amount", "1"); got != "3" {
			t.Errorf("the company has %s credits", got)
		}
		var entries []map[string]any
		if err := json.Unmarshal([]byte(in.run("credits", "statement", "--company", company, "--json")), &entries); err != nil || len(entries) != 5 {
			t.Errorf("statement %v, %v", entries, err)
		}
		if last := entries[0]; last["kind"] != "taken_back" || last["balance"] != 3.0 || entries[4]["note"] != "PIX" {
			t.Errorf("statement %v", entries)
		}
	})
}

// A reseller signs up at the link of the API, and what its maker sees follows.
func TestResellerSignsUpAtTheLinkOfThePlan(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		const public = "https://clientes.example.com"
		server := in.serve("CARTEIRA_PUBLIC_URL=" + public)
		client := server.client(in.token(in.company()))
		made := client.want(200, "POST", "/plans", map[string]any{"name": "Revenda", "value": "49.90", "credits": 1, "trial_days": 5})
		var plan struct {
			Link string `json:"signup_link"`
		}
		if err := json.Unmarshal(made.Data, &plan); err != nil || !strings.HasPrefix(plan.Link, public+"/signup/") {
			t.Fatalf("%v: %s", err, made.body)
		}
		path := strings.TrimPrefix(plan.Link, public)
		if page := server.get(path); page.status != 200 || !strings.Contains(page.body, "5 dias") {
			t.Errorf("%d %s", page.status, page.body)
		}
		resp, err := http.PostForm("http://"+server.address+path, url.Values{"name": {"Loja"}, "email": {"loja@example.com"}, "password": {"correct horse"}})
		if err != nil || resp.StatusCode != http.StatusOK || !strings.HasSuffix(resp.Request.URL.String(), "?done") {
			t.Fatalf("%v, %v", resp, err)
		}
		_ = resp.Body.Close()
		list := client.want(200, "GET", "/resellers?status=trial", nil)
		if list.Meta.Total != 1 {
			t.Errorf("%s", list.body)
		}
	})
}

// In the panel the same rules hold as in the API: what the plan lacks and, once
// the company is stopped, every change are refused; reading goes on.
func TestPanelHoldsAResellerToItsPlanAndStanding(t *testing.T) {
	in := install(t, sqldb.SQLite)
	server := in.serve()
	company := in.company()
	in.run("credits", "grant", "--company", company, "--amount", "10")
	plan := in.create("id", "subscription-plan", "create", "--company", company, "--name", "Revenda", "--value", "49.90", "--credits", "1", "--functions", "api")
	child := in.create("id", "reseller", "create", "--company", company, "--name", "Loja", "--email", "loja@example.com", "--password", "correct horse",
		"--plan-id", plan)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(want int, path string, fields ...string) {
		t.Helper()
		var resp *http.Response
		if len(fields) == 0 {
			resp, err = browser.Get("http://" + server.address + path)
		} else {
			resp, err = browser.PostForm("http://"+server.address+path, url.Values{fields[0]: {fields[1]}, fields[2]: {fields[3]}})
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != want {
			body, _ := io.ReadAll(resp.Body)
			t.Errorf("%s %v: %d, want %d\n%s", path, fields, resp.StatusCode, want, body)
		}
	}
	visit(303, "/login", "email", "loja@example.com", "password", "correct horse")
	visit(200, "/")
	visit(200, "/api")
	visit(403, "/webhooks")
	visit(403, "/customers/export")
	visit(303, "/customers/new", "name", "Ana", "notes", "")
	in.run("reseller", "suspend", "--company", company, "--id", child)
	visit(200, "/customers")
	visit(403, "/customers/new", "name", "Bia", "notes", "")
	visit(403, "/settings", "name", "Outra", "lead_days", "3")
	in.run("reseller", "renew", "--company", company, "--id", child)
	visit(303, "/customers/new", "name", "Bia", "notes", "")
	in.run("subscription-plan", "set", "--company", company, "--id", plan, "--functions", "webhooks")
	visit(200, "/webhooks")
}

// The owner of a reseller made without a password follows the invitation, sets
// one and signs in with it.
func TestInvitedOwnerSetsAPassword(t *testing.T) {
	in := install(t, sqldb.SQLite)
	server := in.serve()
	company := in.company()
	var made struct {
		Link string `json:"invitation_link"`
	}
	printed := in.run("reseller", "create", "--company", company, "--name", "Loja", "--email", "loja@example.com")
	if err := json.Unmarshal([]byte(printed), &made); err != nil || !strings.Contains(made.Link, "/password/") {
		t.Fatalf("%v: %s", err, printed)
	}
	_, code, _ := strings.Cut(made.Link, "/password/")
	if page := server.get("/password/" + code); page.status != 200 {
		t.Fatalf("%d %s", page.status, page.body)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	for _, form := range []url.Values{
		{"": {"/password/" + code}, "password": {"correct horse"}},
		{"": {"/login"}, "email": {"loja@example.com"}, "password": {"correct horse"}},
	} {
		path := form.Get("")
		form.Del("")
		resp, err := browser.PostForm("http://"+server.address+path, form)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", path, resp, err)
		}
		_ = resp.Body.Close()
		if path == "/login" && resp.Request.URL.Path != "/" {
			t.Errorf("the sign-in leads to %s", resp.Request.URL)
		}
	}
	if page := server.get("/password/" + code); page.status != 404 {
		t.Errorf("the link works again: %d", page.status)
	}
}
