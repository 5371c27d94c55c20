package panel

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// below makes a reseller of p's company with a password, and signs its owner in.
func (p *person) below(more ...string) *person {
	p.t.Helper()
	all, err := p.Accounts.Companies(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	email := fmt.Sprintf("dono%d@example.com", len(all)+1)
	made, err := p.Resellers.Create(p.t.Context(), p.actor, reseller.ReadNewReseller(values(append([]string{"name", "Loja do Beto", "email", email, "password", password}, more...)...)))
	if err != nil {
		p.t.Fatal(err)
	}
	other := p.visitor(p.t)
	other.signIn(email, password)
	other.refresh(made.ID)
	return other
}

// refresh makes the actor what the company is now.
func (p *person) refresh(id int64) {
	p.t.Helper()
	actor, err := p.Accounts.Actor(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	owner, err := p.Accounts.Owner(p.t.Context(), actor)
	if err != nil {
		p.t.Fatal(err)
	}
	p.actor = account.Actor{Company: actor.Company, UserID: owner.ID, Role: owner.Role, Name: owner.Name, From: "127.0.0.1"}
}

// become sets level and functions of a company, past every rule.
func (p *person) become(level account.Level, functions account.Functions) {
	p.t.Helper()
	err := p.DB.Write(p.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(p.t.Context(), `UPDATE companies SET level = ?, functions = ? WHERE id = ?`, string(level), functions.String(), p.actor.Company.ID)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.refresh(p.actor.Company.ID)
}

// try opens a route, with a form where it takes one.
func (p *person) try(route kit.Route, ids map[string]int64) answer {
	p.t.Helper()
	if route.Method == http.MethodPost {
		return p.post(filled(route, ids), forms[route.Pattern()]...)
	}
	return p.get(filled(route, ids))
}

// signsOut ends the session that tests still need, or changes who can sign in.
func signsOut(route kit.Route) bool { return route.Path == "/logout" || route.Role == public }

// For every function alone, and for none and all of them, each page opens where
// its own function is there, and says which one is missing where it is not.
func TestFunctionsOpenTheirPages(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com").below()
	sets := []account.Functions{0, account.EveryFunction}
	for _, entry := range account.FunctionCatalog {
		sets = append(sets, account.FunctionsOf(entry.Name))
	}
	for _, set := range sets {
		person.become(account.LevelMaster, set)
		for _, route := range office.table() {
			if signsOut(route) {
				continue
			}
			// No such ids: a permitted user finds nothing, and nothing is changed.
			answer := person.try(route, map[string]int64{"profile": 999999, "settings": 999999})
			barred := answer.status == http.StatusForbidden
			lacks := slices.IndexFunc(route.Functions(), func(function account.Function) bool { return function != basic && !set.Has(function) })
			if want := route.Role != self && lacks >= 0; barred != want {
				t.Errorf("%s with %s answered %d", route.Pattern(), set, answer.status)
			} else if want {
				answer.want(t, http.StatusForbidden, "Seu plano não inclui isto", string(route.Functions()[lacks]), "Rede ana@example.com")
			}
		}
	}
}

func TestLevelOpensThePagesOfResellers(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com").below()
	for _, level := range account.Levels {
		person.become(level, account.EveryFunction)
		for _, route := range office.table() {
			if route.Function != resellers {
				continue
			}
			answer := person.try(route, nil)
			if refused := answer.status == http.StatusForbidden; refused != (level == account.LevelUser) {
				t.Errorf("%s at %s answered %d", route.Pattern(), level, answer.status)
			} else if refused {
				answer.want(t, http.StatusForbidden, "Seu nível não inclui isto", "Rede ana@example.com")
			}
		}
		person.get("/credits").want(t, http.StatusOK) // its own, at every level
	}
}

// A company with an ended or suspended subscription opens every page that
// shows something, sends no form but those about the people themselves, and
// sees the reason on every page.
func TestEndedCompaniesOnlyRead(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, root, p *person){
		"expired": func(_ *testing.T, root, _ *person) { root.clock.Advance(2 * 24 * time.Hour) },
		"suspended": func(t *testing.T, root, person *person) {
			if _, err := root.Resellers.Suspend(t.Context(), root.actor, person.actor.Company.ID); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(t *testing.T, office *office) {
				root := office.owner(t, "ana@example.com")
				if _, err := office.Accounts.SetCompany(t.Context(), root.actor, account.ReadCompanyDraft(values("whatsapp", "11 98765-4321"))); err != nil {
					t.Fatal(err)
				}
				plan, err := office.Resellers.CreatePlan(t.Context(), root.actor, reseller.ReadNewPlan(values("name", "Curto", "value", "1", "credits", "0", "trial_days", "1")))
				if err != nil {
					t.Fatal(err)
				}
				person := root.below("plan_id", fmt.Sprint(plan.ID))
				person.become(account.LevelMaster, account.EveryFunction)
				_, err = office.Resellers.Grant(t.Context(), root.actor, reseller.ReadCreditRequest(values("amount", "50")))
				if err == nil {
					_, err = office.Resellers.Transfer(t.Context(), root.actor, person.actor.Company.ID, reseller.ReadCreditRequest(values("amount", "50")))
				}
				if err != nil {
					t.Fatal(err)
				}
				ids := person.fill()
				before := person.everything()
				end(t, root, person)
				for _, route := range office.table() {
					if signsOut(route) || route.Role == self || sendsFile(route) || kit.TakesAway[route.Pattern()] {
						continue
					}
					if strings.HasSuffix(route.Path, "/charge") { // leads to the invoice, there being nothing to charge with
						person.try(route, ids).want(t, http.StatusSeeOther)
						continue
					}
					answer := person.try(route, ids)
					want := http.StatusOK
					if route.Method == http.MethodPost {
						want = http.StatusForbidden
						answer.want(t, want, "Nada pode ser alterado no momento", "não foi salvo")
					}
					answer.want(t, want, "até a renovação", "Fale com Rede ana@example.com.", "https://wa.me/5511987654321")
				}
				if after := person.everything(); after != before {
					t.Errorf("something changed:\n%s\nthen\n%s", before, after)
				}
				person.post("/profile/proof", "proof", password, "next", "/")
				for pattern := range kit.TakesAway { // of another record, so that what comes next is still there
					method, path, _ := strings.Cut(pattern, " ")
					path = strings.Replace(path, "{id}", "999999", 1)
					if answer := person.try(kit.Route{Method: method, Path: path, Role: owner}, ids); answer.status == http.StatusForbidden {
						t.Errorf("%s is refused: %s", pattern, answer.body)
					}
				}
				person.get("/customers").want(t, http.StatusOK, "João").lacks(t, "/customers/new", `name="action"`)
				person.post("/profile/proof", "proof", password, "next", "/customers/export")
				person.get("/customers/export").want(t, http.StatusOK, "João")
				person.follow("/profile/password", "current_password", password, "password", "another horse").want(t, http.StatusOK)
				person.post("/preferences", "lang", "en", "back", "/")
				person.get("/").want(t, http.StatusOK, "until it is renewed")
				if answer := person.post("/logout"); answer.status != http.StatusSeeOther {
					t.Errorf("signing out answered %d", answer.status)
				}
				person.signIn(person.email(), "another horse")
			})
		})
	}
}

func (p *person) email() string {
	p.t.Helper()
	user, err := p.Accounts.Owner(p.t.Context(), p.actor)
	if err != nil {
		p.t.Fatal(err)
	}
	return user.Email
}

// everything counts what a company has, as far as pages can change it.
func (p *person) everything() (all string) {
	p.t.Helper()
	for _, table := range []string{"customers", "invoices", "customer_plans", "products", "webhooks", "api_tokens", "users", "subscription_plans", "credit_entries", "list_views"} {
		count, err := sqldb.Value[int64](p.t.Context(), p.DB, `SELECT count(*) FROM `+table)
		if err != nil {
			p.t.Fatal(err)
		}
		all += fmt.Sprintf("%s %d\n", table, count)
	}
	return all
}

func TestNoticeBeginsAWeekBeforeTheEnd(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	root := office.owner(t, "ana@example.com")
	root.get("/").want(t, http.StatusOK).lacks(t, "data-tone=\"warn\" role=\"status\"", "assinatura termina")
	plan, err := office.Resellers.CreatePlan(t.Context(), root.actor, reseller.ReadNewPlan(values("name", "Curto", "value", "1", "credits", "0", "trial_days", "8")))
	if err != nil {
		t.Fatal(err)
	}
	person := root.below("plan_id", fmt.Sprint(plan.ID))
	for _, want := range []string{
		"", "Seu teste termina em 08/02/2026, daqui a 7 dias.", "daqui a 6 dias", "daqui a 5 dias", "daqui a 4 dias", "daqui a 3 dias", "daqui a 2 dias",
		"Seu teste termina amanhã.", "Seu teste termina hoje.", "Seu teste terminou em 08/02/2026.",
	} {
		answer := person.get("/plans").want(t, http.StatusOK, want)
		if want == "" {
			answer.lacks(t, "Seu teste")
		} else {
			answer.want(t, http.StatusOK, "Fale com Rede ana@example.com.")
		}
		office.clock.Advance(24 * time.Hour)
	}
	if _, err := office.Resellers.Renew(t.Context(), root.actor, person.actor.Company.ID, reseller.ReadRenewRequest(values())); err != nil {
		t.Fatal(err)
	}
	person.get("/plans").want(t, http.StatusOK).lacks(t, "Seu teste", "Sua assinatura")
	office.clock.Advance(27 * 24 * time.Hour)
	person.signIn(person.email(), password) // the session has ended by itself
	person.get("/plans").want(t, http.StatusOK, "Sua assinatura termina ")
}

func TestMenuLocksWhatThePlanLacks(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com").below()
	person.become(account.LevelUser, account.FunctionsOf(account.FunctionAPI))
	answer := person.get("/").want(t, http.StatusOK, `href="/webhooks"`, `href="/api"`, `href="/credits"`, "não está no seu plano")
	answer.lacks(t, `href="/resellers"`, `href="/subscription-plans"`)
	locked := 0
	for _, group := range kit.Menu {
		for _, entry := range group.Entries {
			if entry.Function != basic && entry.Function != api && entry.Function != resellers {
				locked++
			}
		}
	}
	if n := strings.Count(answer.body, "não está no seu plano"); n != locked {
		t.Errorf("%d entries are locked, want %d", n, locked)
	}
	person.get("/customers").want(t, http.StatusOK).lacks(t, "/customers/export", `href="/imports"`)
}

// Texts of tables that no literal in a call or template shows to the test of the
// catalog.
func TestTextsOfResaleHavePortuguese(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	var texts []string
	for _, level := range account.Levels {
		texts = append(texts, kit.LevelWords[level], levelHelp[level])
	}
	for _, standing := range account.Standings {
		texts = append(texts, standingWords[standing])
	}
	for _, entry := range account.FunctionCatalog {
		texts = append(texts, functionWords[entry.Name], entry.Description)
	}
	for _, w := range entryWords {
		texts = append(texts, w)
	}
	for _, title := range kit.BarTitles {
		texts = append(texts, title)
	}
	for _, path := range []string{"/send", "/take-back"} {
		c := office.course(&kit.Request{Request: httptest.NewRequest(http.MethodGet, path, nil)})
		texts = append(texts, c.Title, c.Button, c.done)
	}
	for _, text := range texts {
		if !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%q | ", text)
		}
	}
}
